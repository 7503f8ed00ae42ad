"""What the command line says: results on standard output, everything else beside it."""

from __future__ import annotations

import json as jsonlib
import logging
import shlex
import sys
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import Any, ClassVar

from movers.errors import Advised, Choose, UnreadError, Wording


class CommandLine(Wording):
    """Remedies as options of the command at hand, or of the one that built what it reads."""

    acts: ClassVar = {
        "add": (Choose("add", True),),
        "fit": (Choose("fit", True), Choose("statistics", then="with a file made by movers fit")),
        "learn": "make one with movers learn",
        "pick candidates": (),
        "rank": (),
    }

    def __init__(
        self,
        options: Callable[[], Collection[str]] = tuple,
        built: Callable[[], Collection[str]] = tuple,
    ) -> None:
        self._options, self._built = options, built

    @cached_property
    def options(self) -> Collection[str]:
        """Options of the command at hand, looked up when there is something to say."""
        return self._options()

    @cached_property
    def built(self) -> Collection[str]:
        """Options of the command that built what it reads."""
        return self._built()

    def choose(self, remedy: Choose) -> tuple[str, str] | None:
        """Return an option, if there is one of this name."""
        from movers.settings import table

        facts = table().get(remedy.name)
        name = facts.option if facts is not None and facts.option else remedy.name
        option = f"--{name.replace('_', '-')}"
        value = "none" if remedy.value is None else remedy.value
        said = option if value in (..., True) else f"{option} {value}"
        if option in self.options:
            return "pass", said
        return ("build the index with", said) if option in self.built else None


WORDING: ContextVar[Wording] = ContextVar("wording", default=CommandLine())  # noqa: B039 (fixed)


def worded(error: Advised) -> str:
    """Return an error in the words of the command at hand."""
    return error.worded(WORDING.get())


def say(message: str) -> None:
    """Print a message on standard error."""
    print(f"movers: {message}", file=sys.stderr)


@contextmanager
def plain_messages(wording: Wording) -> Iterator[None]:
    """Show warnings and log messages of the library as plain lines on standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("movers: %(message)s"))
    logger = logging.getLogger("movers")
    logger.addHandler(handler)
    shown = warnings.showwarning

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        say(message.worded(wording) if isinstance(message, Advised) else str(message))

    warnings.showwarning = show
    token = WORDING.set(wording)
    try:
        yield
    finally:
        WORDING.reset(token)
        warnings.showwarning = shown
        logger.removeHandler(handler)


def refuse_unread(count: int, strict: bool) -> None:
    """End with a status of its own if some texts were not read to their end."""
    if strict and count:
        raise UnreadError(
            f"the model did not read {count} text{'s' * (count > 1)} to the end",
            Choose("texts", "auto", "with the default measure, which reads all of them"),
        )


def command_line() -> str:
    """Return the command at hand, as a shell reads it."""
    return shlex.join(["movers", *sys.argv[1:]])


def show(result: Any, draw: Callable[[Any], None], *, json: bool) -> None:
    """Print a result as JSON, or have it drawn."""
    if json:
        print_json(result.to_dict())
    else:
        draw(result)


def print_json(value: Any) -> None:
    """Print a value as JSON on standard output."""
    print(jsonlib.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))
