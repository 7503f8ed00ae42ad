"""What the command line says: results on standard output, everything else beside it."""

from __future__ import annotations

import json as jsonlib
import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SPOKEN = {
    "stopwords=None": "--stopwords none",
    "empty='keep'": "--empty keep",
    "whitening='none'": "--whitening none",
    "device='auto'": "--device auto",
    "dev=…": "--dev",
    "resume=True": "--resume",
    "parser='": "--parser '",
    "method='wsmd'": "--method wsmd",
    "call fit(sentences)": "pass --fit, or --statistics with a file made by movers fit",
    " (on the command line --parser)": "",
    "open it and add to it, or pass replace=True": "pass --add or --replace",
}
"""Advice of the library in the words of the command line."""


def say(message: str) -> None:
    """Print a message on standard error."""
    for python, spoken in SPOKEN.items():
        message = message.replace(python, spoken)
    print(f"movers: {message}", file=sys.stderr)


@contextmanager
def plain_messages() -> Iterator[None]:
    """Show warnings and log messages of the library as plain lines on standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("movers: %(message)s"))
    logger = logging.getLogger("movers")
    logger.addHandler(handler)
    shown = warnings.showwarning

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        say(str(message))

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = shown
        logger.removeHandler(handler)


def print_json(value: Any) -> None:
    """Print a value as JSON on standard output."""
    print(jsonlib.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))
