"""The border between arrays of users and the kernels: everything is checked here."""

from typing import Any, SupportsFloat

import numpy as np
from numpy.typing import ArrayLike

from movers.arrays import Floats
from movers.errors import Choose, InputError
from movers.solve.kernels.workspace import HEAVIEST, LARGEST

NUMBERS = "biufO"
"""Kinds of arrays that can be real numbers; objects are tried one by one."""
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
    total = total_of(array)
    if null is not None and abs(total - 1.0) > ONE:
        return _masses(name, array, total)
    if total <= 0:
        raise InputError(f"{name} sums to {total:g}; at least one weight must be positive")
    if total == np.inf:  # their shares are finite all the same
        array = array / array.max()
        total = total_of(array)
    shares: Floats = array / total
    return shares


def total_of(array: Floats) -> float:
    """Return the sum of weights, which may be infinite."""
    with np.errstate(over="ignore"):
        return float(array.sum())


def _masses(name: str, array: Floats, total: float) -> Floats:
    """Check masses that are not scaled."""
    if total > HEAVIEST / 2:
        raise InputError(
            f"{name} weighs {total:g} in all; divide it, so that it is at most {HEAVIEST / 2:g}, "
            f"or let all mass move",
            Choose("null", None),
        )
    return array


def factor(name: str, given: float) -> float:
    """Check a number that is not negative, nor as large as to overflow."""
    number = _number(name, given)
    if not 0.0 <= number <= LARGEST:
        raise InputError(f"{name} == {number:g}; it must be >= 0 and at most {LARGEST:g}")
    return number


def _number(name: str, given: object) -> float:
    number: Any = given
    try:
        if np.ndim(number) or np.iscomplexobj(number) or not isinstance(number, SupportsFloat):
            raise TypeError
        return float(number)
    except (TypeError, ValueError):  # as of a type
        raise InputError(f"{name} == {given!r} is not a number") from None
    except OverflowError:
        raise InputError(f"{name} is larger than any number of double precision") from None


def price(given: float | None) -> float | None:
    """Check the price of staying at home; None and an infinite one both forbid it."""
    if given is None or _number("null", given) == np.inf:
        return None
    return factor("null", given)


def prices(given: float | Floats, shape: tuple[int, ...]) -> Floats:
    """Check prices of staying at home for every pair and head, of which kernels want a copy."""
    array = _finite("null", given)
    try:
        every = np.array(np.broadcast_to(array, shape), order="C")
    except ValueError:
        raise InputError(f"null.shape == {array.shape} while pairs and heads are {shape}") from None
    if every.size and not 0.0 <= every.min() <= every.max() <= LARGEST:
        factor("null", every.min())  # which says what is wrong
        factor("null", every.max())
    return every


def _finite(name: str, given: ArrayLike) -> Floats:
    """Check an array of finite numbers, none of them masked or cut off."""
    if np.ma.is_masked(given) or (
        isinstance(given, list | tuple) and any(np.ma.is_masked(row) for row in given)
    ):
        raise InputError(f"{name} has masked entries; fill them, or drop their rows and columns")
    try:
        array = np.asarray(given)
        if array.dtype.kind not in NUMBERS:
            raise TypeError(f"its entries are {array.dtype}")
        with np.errstate(over="ignore"):  # to infinity, which is refused below
            array = np.asarray(array, np.float64, order="C")
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise InputError(f"{name} is not an array of numbers: {error}") from error
    bad = array.size - int(np.isfinite(array).sum())
    if bad:
        raise InputError(f"{name} has {bad} entries that are NaN or infinite; they must be finite")
    return array
