"""Filters by metadata: values that documents must have, or conditions on them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from movers.errors import InputError, no_such

Condition = tuple[str, str, Any]
"""A key of the metadata, an operator, and what its value is held against."""

OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$in": lambda value, several: value in several,
    "$nin": lambda value, several: value not in several,
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
HOLD_OF_NOTHING = ("$ne", "$nin")
"""Operators that let through what does not have the key."""
OF_SEVERAL = ("$in", "$nin")


def read_filter(wanted: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], bool]:
    """Return what says of metadata whether a filter lets it through.

    A key stands with the value it must have, whatever that is, or with operators, all of which must
    hold. Values that have no order are neither greater nor less.

    Examples
    --------
    >>> keep = read_filter({"page": {"$gte": 2, "$ne": 5}, "kind": "news"})
    >>> [keep({"page": page, "kind": "news"}) for page in (1, 2, 5)]
    [False, True, False]
    """
    conditions = [*_conditions(wanted)]
    return lambda metadata: all(_holds(metadata, *condition) for condition in conditions)


def _conditions(wanted: Mapping[str, Any]) -> Iterator[Condition]:
    """Yield the conditions of a filter; refuse an operator that there is not."""
    for key, value in wanted.items():
        if str(key).startswith("$"):
            raise InputError(f"a filter begins with keys of metadata, not {key!r}; pass a function")
        named = isinstance(value, Mapping) and any(str(name).startswith("$") for name in value)
        for name, one in value.items() if named else [("$eq", value)]:
            if name not in OPERATORS:
                raise InputError(f"filter of {key!r}: {no_such('operator', str(name), OPERATORS)}")
            if name in OF_SEVERAL and not isinstance(one, list | tuple | set | frozenset):
                raise InputError(f"filter of {key!r}: {name} takes a list, got {one!r}")
            yield key, name, one


def _holds(metadata: Mapping[str, Any], key: str, name: str, wanted: Any) -> bool:
    if key not in metadata:
        return name in HOLD_OF_NOTHING
    try:
        return bool(OPERATORS[name](metadata[key], wanted))
    except TypeError:  # no order between them, or a list in a set
        return name in HOLD_OF_NOTHING
