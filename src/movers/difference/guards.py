"""Guards: differences that keep two texts apart, however near they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from movers.difference.finder import differences
from movers.difference.kinds import Kind
from movers.difference.plain_words import Part, read
from movers.errors import InputError, no_such

Guard = Callable[[str, str], str | None]
"""What says why two texts are kept apart; None if nothing does."""


@lru_cache(maxsize=1 << 18)
def _keys(text: str, *parts: Part) -> tuple[str, ...]:
    """Return the words of some parts, sorted; an article counts as one."""
    words = (word for word in read(text) if word.part in parts)
    return tuple(sorted(word.key for word in words if word.key != "1"))


def _numbers(source: str, target: str) -> str | None:
    first, second = (_keys(text, "number", "date", "unit") for text in (source, target))
    if first == second:
        return None
    lacking = (", ".join(word for word in one if word not in other) for one, other in
            ((first, second), (second, first)))  # fmt: skip
    return "another number: {} / {}".format(*(one or "none" for one in lacking))


def _names(source: str, target: str) -> str | None:
    first, second = _keys(source, "name"), _keys(target, "name")
    return None if first == second else f"another name: {', '.join(sorted({*first} ^ {*second}))}"


def _of_kind(*kinds: Kind) -> Guard:
    """Guard against differences of some kinds."""

    def guard(source: str, target: str) -> str | None:
        reasons = (one for one in differences(source, target) if one.kind in kinds)
        return next((f"{one.kind}: {one.text}" for one in reasons), None)

    return guard


GUARDS: dict[str, Guard] = {
    "numbers": _numbers,
    "names": _names,
    "renamed": _of_kind("name"),
    "negation": _of_kind("negation"),
    "opposites": _of_kind("opposite"),
    "roles": _of_kind("roles"),
}
"""What may keep two texts apart, by name."""
UNREAD = "unread"
"""The guard against text that the model does not read, which takes the model to know."""
DEFAULT = ("numbers", "negation", UNREAD)
"""What keeps sentences apart that would be dropped, unless told otherwise."""


def check_guards(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of guards, or an error for one that there is not."""
    known = [*GUARDS, UNREAD]
    for name in names:
        if name not in known:
            raise InputError(no_such("guard", name, known))
    return tuple(dict.fromkeys(names))


def guarded(names: Iterable[str], source: str, target: str) -> str | None:
    """Return why two texts are kept apart by some guards; None if none of them objects.

    Examples
    --------
    >>> guarded(["numbers"], "order 8291 is late", "order 8194 is late")
    'another number: 8291 / 8194'
    """
    reasons = (GUARDS[name](source, target) for name in names if name in GUARDS)
    return next((reason for reason in reasons if reason is not None), None)
