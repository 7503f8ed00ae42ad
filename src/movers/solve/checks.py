"""The border between arrays of users and the kernels: everything is checked here."""

from collections.abc import Sequence
from typing import Any, SupportsFloat

import numpy as np
from numpy.typing import ArrayLike

from movers.arrays import Floats, Ragged
from movers.errors import Choose, InputError
from movers.solve.kernels.batch_arrays import HEAVIEST, LARGEST
from movers.solve.problems import Problems

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
    total = _total(array)
    if null is not None and abs(total - 1.0) > ONE:
        return _masses(name, array, total)
    if total <= 0:
        raise InputError(f"{name} sums to {total:g}; at least one weight must be positive")
    if total == np.inf:  # their shares are finite all the same
        array = array / array.max()
        total = _total(array)
    shares: Floats = array / total
    return shares


def _total(array: Floats) -> float:
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


def is_list(given: object) -> bool:
    """Tell whether `given` is a list of problems: a list or tuple of two-dimensional arrays."""
    if not isinstance(given, list | tuple):
        return False
    try:
        return not given or np.ndim(given[0]) == 2
    except ValueError:  # rows of unequal length
        return False


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
    """Return the arrays, row-major, one after another."""
    return Ragged.from_rows([array.ravel() for array in arrays], np.float64)


def refusal(problems: Problems, pair: int, structured: bool) -> InputError:
    """Say what is wrong with a problem that a kernel refused."""
    n, m = problems.shapes[pair].tolist()
    u, v = problems.u[problems.u_start[pair] :][:n], problems.v[problems.v_start[pair] :][:m]
    blocks = [("cost", problems.costs[pair].reshape(n, m))]
    if structured:
        for name, start, size in (("A", problems.a_start, n), ("B", problems.b_start, m)):
            heads = problems.structure[start[pair] :][: problems.heads * size * size]
            blocks.append((name, heads.reshape(-1, size)))
    try:
        weights("u", u, n, "cost")
        weights("v", v, m, "cost")
        for name, block in blocks:
            matrix(name, block)
    except InputError as error:
        return error.about(f"pair {pair}")
    return InputError(
        f"pair {pair}: u sums to {_total(u):g} and v to {_total(v):g}; divide them, so that "
        f"neither is above {HEAVIEST / 2:g}"
    )


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
