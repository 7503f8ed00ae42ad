"""``movers`` and ``python -m movers`` are the command line."""

from __future__ import annotations

import os
import signal
import sys


def _stop(number: int, _: object) -> None:
    """Leave at once: nothing has begun yet, and half-imported packages clean up badly."""
    os.write(2, b"movers: interrupted\n")
    os._exit(128 + number)


def run() -> int:
    """Run the command line; Ctrl-C leaves no traceback, however early it comes."""
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:  # as in the background of a script
        signal.signal(signal.SIGINT, _stop)
    from movers.cli import main

    try:
        return main()
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    sys.exit(run())
