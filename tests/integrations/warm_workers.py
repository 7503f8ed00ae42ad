"""Workers of Ray that need not import everything again: forks of a process that has.

Ray runs this file in place of its own that sets a worker up. All it does is to ask for a fork
that goes on as the worker, and to wait until that has ended.
"""

import argparse
import json
import os
import runpy
import signal
import socket
import sys

ADDRESS = "MOVERS_WARM_WORKERS"
"""The variable that holds where to ask."""


def ask():
    """Have a fork become the worker that Ray wants here."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--serialized-runtime-env-context")
    parser.add_argument("--language")
    command = parser.parse_known_args()[1]
    with socket.socket(socket.AF_UNIX) as asking:
        asking.connect(os.environ[ADDRESS])
        asking.sendall(json.dumps([command, dict(os.environ), os.getcwd()]).encode())
        asking.shutdown(socket.SHUT_WR)
        asking.recv(1)  # nothing comes, until the fork ends and lets go


def become(command, environment, folder):
    """Go on as a worker of Ray."""
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = command
    runpy.run_path(command[0], run_name="__main__")


def fork_on_demand(listener):
    """Fork for everyone who asks. Ray itself is not imported: it remembers whose child it is."""
    import movers.bulk.score_files
    import movers.search.mining  # noqa: F401

    assert "ray" not in sys.modules
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    while True:
        asked, _ = listener.accept()
        with asked, asked.makefile("rb") as stream:
            order = json.load(stream)
            if not os.fork():
                listener.close()
                become(*order)
                os._exit(0)


if __name__ == "__main__":
    ask()
