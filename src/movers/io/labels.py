"""Labels and grades as people write them: numbers, yes and no, true and false."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Real
from typing import Any

from movers.errors import InputError

WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
"""Labels people write out."""


def read_labels(labels: Iterable[Any]) -> list[float]:
    """Return labels as numbers, given as such or written out.

    Examples
    --------
    >>> read_labels(["yes", "No", True, 0.5])
    [1.0, 0.0, 1.0, 0.5]
    """
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise InputError(f"labels must be a list with a label for every pair, got {labels!r}")
    return [
        float(label) if isinstance(label, Real) else label_in(label, f"label {number}")
        for number, label in enumerate(labels, 1)
    ]


def label_in(value: Any, where: str) -> float:
    """Return the label that a cell holds: yes and true are 1, no and false 0."""
    text = "" if value is None else str(value).strip().lower()
    if not text:
        raise InputError(f"{where}: the label is blank; fill it in, or leave the pair out")
    also = ", and not yes, no, true or false" if isinstance(value, str) else ""
    return WORDS[text] if text in WORDS else number_in(value, where, also)


def number_in(value: Any, where: str, also: str = "") -> float:
    """Return the number that a cell holds; ``also`` goes into the message for any other."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{where}: {value!r} is not a number{also}") from None
    if not math.isfinite(number):
        raise InputError(f"{where}: {value!r} is not a finite number")
    return number
