"""The exceptions movers raises on purpose; everything else is a bug.

An error says what happened, and carries what can be done about it as data: Python, the command
line and the HTTP API each word that in their own way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from types import EllipsisType
from typing import Any, ClassVar, Self


@dataclass(frozen=True)
class Choose:
    """A remedy: choose a value of a setting, or of another argument.

    ``name`` is the argument as Python calls it, ``value`` what to choose, ``...`` if that is for
    users to find out, and ``then`` what follows from it or goes with it.
    """

    name: str
    value: Any | EllipsisType = ...
    then: str = ""


@dataclass(frozen=True)
class Do:
    """A remedy: do something else.

    ``act`` is a name that the `Wording` of a surface knows, or words that hold everywhere, and
    ``then`` what follows from it or goes with it.
    """

    act: str
    then: str = ""


Remedy = Choose | Do


class Wording:
    """Remedies worded for those who write Python; other surfaces have subclasses."""

    acts: ClassVar[Mapping[str, str | tuple[Choose, ...]]] = {
        "add": "open it and add to it",
        "fit": "call fit(sentences)",
        "learn": "call learn(pairs, labels)",
        "pick candidates": "pass their numbers",
        "rank": "use Scorer.rank, which compares every sentence",
    }
    """Acts in words, or what to choose to the same end: nothing, if it cannot be done here."""

    def choose(self, remedy: Choose) -> tuple[str, str] | None:
        """Return the verb and what is chosen; None if there is no such choice here."""
        value = "…" if remedy.value is ... else repr(remedy.value)
        return "pass", f"{remedy.name}={value}"

    def advise(self, remedies: Iterable[Remedy]) -> str:
        """Return all remedies there are here, in one clause."""
        said, last = "", ("", "")
        for remedy in self._known(tuple(remedies)):
            if isinstance(remedy, Choose):
                verb, what = self.choose(remedy) or ("", "")
            else:
                verb, what = "", str(self.acts.get(remedy.act, remedy.act))
            if what:
                again = verb != "" and verb == last[0]
                joint = " or " if again and not last[1] else ", or "
                said += (joint if said else "") + (what if again else f"{verb} {what}".strip())
                said += remedy.then if remedy.then.startswith(",") else f" {remedy.then}".rstrip()
                last = verb, remedy.then
        return said

    def _known(self, remedies: tuple[Remedy, ...]) -> Iterator[Remedy]:
        """Yield the remedies, with choices in place of acts that come down to these."""
        chosen = {remedy.name for remedy in remedies if isinstance(remedy, Choose)}
        for remedy in remedies:
            choices = self.acts.get(remedy.act) if isinstance(remedy, Do) else None
            if not isinstance(choices, tuple):
                yield remedy
                continue
            then = remedy.then
            for choice in choices:
                if choice.name not in chosen and self.choose(choice) is not None:
                    yield replace(choice, then=f"{choice.then} {then}".strip())
                    then = ""


PYTHON = Wording()


class Advised(Exception):  # noqa: N818 (warnings are, too)
    """A message with remedies.

    The message says what happened, with the observed values; the best remedy comes first.
    """

    def __init__(self, message: str = "", *remedies: Remedy) -> None:
        super().__init__(message)
        self.message, self.remedies = message, remedies

    def __str__(self) -> str:
        return self.worded(PYTHON)

    def worded(self, wording: Wording) -> str:
        """Return what happened and what to do, as one surface words it."""
        advice = wording.advise(self.remedies)
        if not advice:
            return self.message.rstrip(":")
        return f"{self.message}{'' if self.message.endswith(':') else ';'} {advice}"

    def about(self, what: str) -> Self:
        """Return the same, with what it is about in front."""
        return type(self)(f"{what}: {self.message}", *self.remedies)


def no_such(what: str, name: str, known: Collection[str]) -> str:
    """Say that a name is unknown, which one may be meant, and all there are."""
    close = get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"no {what} {name!r}; {hint}there are: {', '.join(known)}"


class MoversError(Advised):
    """Base of every error that movers raises on purpose; commands end with its ``exit_status``."""

    exit_status: ClassVar[int] = 1


class InputError(MoversError, ValueError):
    """Something the caller passed cannot be used; the message says what and what to do."""


class ModelError(MoversError):
    """A model cannot be found, loaded or used for these measures."""


class DependencyError(MoversError, ImportError):
    """An optional package is needed; the message names the extra to install."""


class UnreadError(MoversError):
    """Something was not read to its end, where only whole texts are allowed."""

    exit_status = 3


class StorageError(MoversError, OSError):
    """A file cannot be written; the message says which, why, and what is left."""


EXTRAS = {
    **dict.fromkeys(("torch", "transformers", "tokenizers", "huggingface_hub"), "torch"),
    **dict.fromkeys(("numba", "llvmlite"), "compile"),
    "pyarrow": "tables",
    "narwhals": "frames",
    **dict.fromkeys(("wordfreq", "rapidfuzz"), "frequencies"),
    "sklearn": "judge",
    "matplotlib": "plot",
    **dict.fromkeys(("fastapi", "fastapi_offline", "uvicorn", "prometheus_client"), "web"),
    "httpx": "client",
    "ray": "ray",
    "langchain_core": "langchain",
    "llama_index": "llama-index",
    **dict.fromkeys(("mteb", "scikit-learn", "sentence-transformers", "torchmetrics"), "plugins"),
}
"""The extra that brings each package that the base installation does without."""


def missing(package: str, what: str = "this") -> DependencyError:
    """Say that something needs a package that is not installed, and which extra brings it."""
    extra = f"movers[{EXTRAS[package]}]" if package in EXTRAS else "movers"
    return DependencyError(f"{what} needs {package}, which is not installed: pip install {extra}")
