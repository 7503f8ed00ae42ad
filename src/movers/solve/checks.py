"""The border between arrays of users and the kernels: everything is checked here."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from movers.arrays import Floats, Ragged
from movers.errors import InputError
from movers.solve.problems import Problems

LARGEST = 1e75
"""Entries up to it can be squared and multiplied without overflow."""
ONE = 1e-12
"""How far from one a sum of weights may be that were meant to sum to one."""


def matrix(name: str, given: ArrayLike) -> Floats:
    """Check a finite, non-empty, two-dimensional array."""
    array = _finite(name, given)
    if array.ndim != 2 or 0 in array.shape:
        raise InputError(f"{name}.shape == {array.shape}; pass a non-empty two-dimensional array")
    largest = float(np.abs(array).max())
    if largest > LARGEST:
        raise InputError(
            f"{name} has an entry of size {largest:g}; divide it, so that none is above {LARGEST:g}"
        )
    return array


def structure(name: str, given: ArrayLike) -> Floats:
    """Check a square matrix."""
    array = matrix(name, given)
    if array.shape[0] != array.shape[1]:
        raise InputError(f"{name}.shape == {array.shape}; a structure must be square")
    return array


def weights(
    name: str, given: ArrayLike | None, count: int, of: str, null: float | None = None
) -> Floats:
    """Check weights of `count` tokens; None means uniform.

    They are made to sum to one, unless they are masses of which some may stay at home.
    """
    if given is None:
        return np.full(count, 1.0 / count)
    array = _finite(name, given)
    if array.shape != (count,):
        raise InputError(
            f"{name}.shape == {array.shape} while {of} has {count} tokens on this side"
        )
    if array.min() < 0:
        raise InputError(f"{name} has a negative weight ({array.min():g}); weights must be >= 0")
    total = array.sum()
    if null is not None and abs(total - 1.0) > ONE:
        return array
    if total <= 0:
        raise InputError(f"{name} sums to {total:g}; at least one weight must be positive")
    shares: Floats = array / total
    return shares


def fraction(name: str, given: float) -> float:
    """Check a number between 0 and 1."""
    number = float(given)
    if not 0.0 <= number <= 1.0:
        raise InputError(f"{name} == {number:g}; it must lie between 0 and 1")
    return number


def factor(name: str, given: float) -> float:
    """Check a number that is not negative, nor as large as to overflow."""
    number = float(given)
    if not 0.0 <= number <= LARGEST:
        raise InputError(f"{name} == {number:g}; it must be >= 0 and at most {LARGEST:g}")
    return number


def price(given: float | None) -> float | None:
    """Check the price of staying at home; None and an infinite one both forbid it."""
    if given is None or float(given) == np.inf:
        return None
    return factor("null", given)


def thread_count(threads: int | None) -> int | None:
    """Check a number of threads."""
    if threads is not None and threads < 1:
        raise InputError(f"threads == {threads}; pass at least 1, or None for all processors")
    return threads


def is_list(given: object) -> bool:
    """Whether `given` is a list of problems: a list or tuple of two-dimensional arrays."""
    return isinstance(given, list | tuple) and (not given or np.ndim(given[0]) == 2)


def lists(count: int, **given: Any) -> list[Sequence[Any]]:
    """Check lists of one item per problem; None stands for all of them."""
    for name, one in given.items():
        if one is not None and not isinstance(one, list | tuple):
            raise InputError(f"{name} must be a list of {count} arrays, one per problem")
        if one is not None and len(one) != count:
            raise InputError(f"len({name}) == {len(one)} while there are {count} problems")
    return [[None] * count if one is None else one for one in given.values()]


def pose(
    cost: Sequence[Floats],
    u: Sequence[ArrayLike | None],
    v: Sequence[ArrayLike | None],
    of: tuple[str, str],
    null: float | None,
) -> Problems:
    """Check the weights of problems, named by what each side is ``of``, and lay all of it flat."""
    flat_u = flat([weights("u", x, len(c), of[0], null) for x, c in zip(u, cost, strict=True)])
    flat_v = flat([weights("v", x, c.shape[1], of[1], null) for x, c in zip(v, cost, strict=True)])
    shapes = np.array([c.shape for c in cost], np.int64).reshape(-1, 2)
    starts = flat_u.starts[:-1], flat_v.starts[:-1]
    return Problems(shapes, flat(cost).data, flat_u.data, flat_v.data, *starts)


def flat(arrays: Sequence[Floats]) -> Ragged:
    """The arrays, row-major, one after another."""
    return Ragged.from_rows([array.ravel() for array in arrays], np.float64)


def _finite(name: str, given: ArrayLike) -> Floats:
    try:
        array = np.ascontiguousarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} is not an array of numbers: {error}") from error
    bad = array.size - int(np.isfinite(array).sum())
    if bad:
        raise InputError(f"{name} has {bad} entries that are NaN or infinite; they must be finite")
    return array.reshape(np.shape(given))
