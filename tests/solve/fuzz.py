"""Calls of `movers.solve` with arrays and options that nobody should pass, each from one seed.

    python tests/solve/fuzz.py FIRST LAST

makes the calls of these seeds in one process: each must return finite numbers and a plan of the
right marginals, or raise an error of movers'. The seed is written before its call, so that a
crash leaves it behind, and a call that takes ten seconds of processor time ends the process.
"""

import signal
import sys
import warnings
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import torch

from movers.arrays import Ragged
from movers.errors import MoversError
from movers.solve import Problems, emd, emd_batch, fgw, fgw_batch, gw
from movers.solve.batch import broken_batch, price_batch
from movers.solve.bounds import word_bounds

SECONDS = 10
MOST = 200
"""Tokens that no side has."""
WIDTH = 1e-7
"""How far the sums of a plan may be from the weights, beside the whole."""


def pick(rng, *choices):
    return choices[rng.integers(len(choices))]


def size(rng):
    """Mostly a few tokens, now and then many."""
    most = rng.choice([6, 14, 60, MOST], p=[0.6, 0.34, 0.05, 0.01])
    return int(rng.integers(1, most))


NUMBERS = {
    "plain": lambda rng, shape: rng.random(shape),
    "signed": lambda rng, shape: rng.normal(size=shape),
    "few": lambda rng, shape: rng.integers(0, 3, shape).astype(float),
    "zeros": lambda rng, shape: np.zeros(shape),
    "equal": lambda rng, shape: np.full(shape, rng.choice([1.0, 1e-300, 1e74])),
    "decades": lambda rng, shape: 10.0 ** rng.uniform(-12, 12, shape),
    "all decades": lambda rng, shape: 10.0 ** rng.uniform(-320, 75, shape),
    "signed decades": lambda rng, shape: (
        rng.choice([-1.0, 1.0], shape) * 10.0 ** rng.uniform(-30, 30, shape)
    ),
    "ties": lambda rng, shape: 1.0 + 1e-15 * rng.integers(0, 4, shape),
    "outliers": lambda rng, shape: rng.random(shape) * np.where(rng.random(shape) < 0.1, 1e30, 1),
    "low rank": lambda rng, shape: np.add.outer(*(rng.random(side) for side in shape)),
    "subnormal": lambda rng, shape: rng.random(shape) * 1e-310,
    "huge": lambda rng, shape: rng.random(shape) * 1.7e308,
    "at the limit": lambda rng, shape: rng.choice([-1e75, 0.0, 1e75], shape),
    "nan": lambda rng, shape: np.where(rng.random(shape) < 0.2, np.nan, 1.0),
    "infinite": lambda rng, shape: np.where(rng.random(shape) < 0.2, np.inf, 1.0),
}
HARMLESS = ("plain", "few", "decades", "ties")


def masked(array):
    return np.ma.masked_less(array, np.median(array))


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def between_bytes(array):
    """An array of which no number begins where a processor likes it to."""
    return np.frombuffer(b"." + array.tobytes(), "u1")[1:].view(float).reshape(array.shape)


WRAPPED = {
    "list": lambda array: array.tolist(),
    "fortran": np.asfortranarray,
    "backwards": lambda array: array[::-1],
    "swapped": lambda array: array.astype(">f8"),
    "read-only": read_only,
    "between bytes": between_bytes,
    "single": lambda array: array.astype(np.float32),
    "half": lambda array: array.astype(np.float16),
    "long": lambda array: array.astype(np.longdouble) * np.longdouble(10) ** 5,
    "integers": lambda array: np.nan_to_num(array).clip(-9, 9).astype(np.int8),
    "bools": lambda array: array > 0.5,
    "objects": lambda array: array.astype(object),
    "complex": lambda array: array + 1j,
    "strings": lambda array: array.astype(str),
    "times": lambda array: np.nan_to_num(array).clip(0, 9).astype("m8[s]"),
    "masked": masked,
    "masked rows": lambda array: [masked(row) for row in np.atleast_2d(array)],
    "tensor": lambda array: torch.from_numpy(np.ascontiguousarray(array)),
    "tensor with grad": lambda array: torch.tensor(array.tolist(), requires_grad=True),
    "deeper": lambda array: array[None],
    "empty": lambda array: array[:0],
    "scalar": lambda array: float(array.flat[0]),
    "longer": lambda array: np.concatenate([array, array]),
    "ragged": lambda array: [[1.0, 2.0], [3.0]],
    "too large": lambda array: [[10**400]],
    "none": lambda array: None,
    "text": lambda array: "cost",
    "mapping": lambda array: {"cost": array},
    "memory": lambda array: memoryview(np.ascontiguousarray(array)),
    "every third": lambda array: np.repeat(array, 3, axis=-1)[..., ::3],
    "one for all": lambda array: np.broadcast_to(array.flat[0], array.shape),
    "fractions": lambda array: [[Fraction(1, 3)] * 3] * 3,
    "no decimals": lambda array: [[Decimal("sNaN")] * 3] * 3,
    "large integers": lambda array: np.full(array.shape, 2**64 - 1, np.uint64),
    "records": lambda array: np.zeros(3, [("a", float)]),
    "without dimensions": lambda array: np.array(1.0),
    "generator": iter,
    "type": lambda array: float,
}


def array(rng, *shape, careful=0.7):
    """An array of some kind; `careful` of them, one that a solver should take."""
    flat = [kind for kind in NUMBERS if kind != "low rank"]
    kinds = HARMLESS if rng.random() < careful else flat if len(shape) == 1 else NUMBERS
    with np.errstate(all="ignore"):
        found = NUMBERS[pick(rng, *kinds)](rng, shape)
        if rng.random() > careful + 0.2:
            found = WRAPPED[pick(rng, *WRAPPED)](found)
    return found


def weights(rng, count):
    if rng.random() < 0.4:
        return None
    found = array(rng, count)
    if isinstance(found, np.ndarray) and found.dtype == float and found.ndim and found.size:
        found = np.abs(found) if rng.random() < 0.9 else found.copy()
        if rng.random() < 0.2:
            found[rng.random(found.shape) < 0.5] = 0.0
        if rng.random() < 0.1:
            found = found * 10.0 ** rng.uniform(-300, 300)
    return found


ODD = (
    *(None, np.nan, np.inf, -np.inf, -1.0, "0.5", "x", 1e75, 1e300, True, 1 + 2j, [0.5], b"1"),
    *(np.zeros(2), np.array(0.5), np.array(1j), np.ma.masked, np.longdouble("1e400"), 10**400),
    *(Fraction(1, 2), Decimal("NaN"), np.datetime64("2020"), float, {1}, np.array(["x"])),
)


def options(rng, *names):
    usual = {
        "mix": (0.0, 0.5, 1.0, 1e-9, np.float32(0.25), 1),
        "scale": (0.0, 1.0, 1e-12, 1e12, 1e75, 3),
        "null": (None, 0.0, 0.3, 1e3, np.inf, 1e75),
        "threads": (None, 1, 2, np.int64(3), 10**9),
    }
    odd = {"threads": (0, -1, "2", 1.5, None, True, [1])}
    found = {}
    for name in names:
        if rng.random() < 0.5:
            choices = odd.get(name, ODD) if rng.random() < 0.1 else usual[name]
            found[name] = pick(rng, *choices)
    return found


def call_emd(rng):
    n, m = size(rng), size(rng)
    m = n if rng.random() < 0.4 else m
    given = array(rng, n, m), weights(rng, n), weights(rng, m)
    return emd, given, options(rng, "null")


def call_gw(rng):
    n, m = size(rng), size(rng)
    given = array(rng, n, n), array(rng, m, m), weights(rng, n), weights(rng, m)
    return gw, given, options(rng, "scale", "null")


def call_fgw(rng):
    n, m = size(rng), size(rng)
    m = n if rng.random() < 0.4 else m
    given = array(rng, n, m), array(rng, n, n), array(rng, m, m), weights(rng, n), weights(rng, m)
    return fgw, given, options(rng, "mix", "scale", "null")


def flat(rng):
    """A batch as it should be, with or without structures."""
    pairs, heads = int(rng.integers(0, 6)), int(rng.integers(0, 4))
    shapes = rng.integers(1, pick(rng, 4, 12), (pairs, 2))
    lengths = shapes.ravel()
    u = Ragged.from_rows([rng.random(n) + 1e-3 for n in lengths], float)
    structure = Ragged.from_rows(
        [rng.random(heads * n * n) for n in lengths], pick(rng, np.float32, np.float64)
    )
    rows = np.arange(2 * pairs).reshape(pairs, 2)
    costs = Ragged.from_rows([rng.random(n * m) for n, m in shapes], float)
    if rng.random() < 0.3:
        return Problems.between(u, rows, costs)
    return Problems.between(u, rows, costs, structure, rng.random((pairs, heads)))


def spoiled(rng, problems):
    """The same with one array changed, and checked once more."""
    name = pick(rng, "shapes", "cost", "u", "v", "u_start", "v_start", "a_start", "b_start",
                "structure", "scale")  # fmt: skip
    found = getattr(problems, name).copy()
    ways = {
        "shorter": lambda: found[:-1],
        "empty": lambda: found[:0],
        "deeper": lambda: found[None],
        "shifted": lambda: found + pick(rng, 1, -1, 2**40, -(2**62)),
        "zeros": lambda: found * 0,
        "negative": lambda: -found,
        "other kind": lambda: found.astype(pick(rng, np.float32, np.int32, complex, object, str)),
        "list": found.tolist,
        "every second": lambda: np.repeat(found, 2, axis=0)[::2],
        "read-only": lambda: read_only(found),
        "swapped": lambda: found.astype(found.dtype.newbyteorder()),
        "masked": lambda: np.ma.masked_equal(found, found.flat[0] if found.size else 0),
    }
    if found.dtype.kind == "f" and found.size:
        value = pick(rng, np.nan, np.inf, -np.inf, 1e308, -1.0, 5e-324, 1e80, 0.0)

        def put():
            found.flat[rng.integers(found.size)] = value
            return found

        ways |= {"entry": put, "all": lambda: np.full_like(found, value)}
    elif found.size:

        def put():
            found.flat[rng.integers(found.size)] = pick(rng, -1, 0, 1, 2**31, 2**62, -(2**63))
            return found

        ways |= {"entry": put}
    with np.errstate(all="ignore"):
        return replace(problems, **{name: ways[pick(rng, *ways)]()})


def call_flat(rng):
    problems = flat(rng)
    if rng.random() < 0.8:
        problems = spoiled(rng, problems)
    null = options(rng, "null", "threads")
    if rng.random() < 0.1:
        null["null"] = rng.random((len(problems), 1))
    kind = rng.integers(6)
    if kind <= 1:
        return emd_batch, (problems,), {**null, "plans": bool(rng.integers(2))}
    if kind <= 3:
        mix = {"mix": 0.5} | options(rng, "mix")
        return fgw_batch, (problems,), {**null, **mix}
    plans = rng.random(problems.cost.size)
    if plans.size and rng.random() < 0.3:
        plans.flat[rng.integers(plans.size)] = pick(rng, np.nan, np.inf, -1.0, 1e308, 5e-324, 0.0)
    solver = price_batch if kind == 4 else broken_batch
    return solver, (problems, plans), options(rng, "threads")


def call_bounds(rng):
    """Costs of words of some targets; now and then the targets are not where they should be."""
    lengths = rng.integers(1, 9, rng.integers(1, 6))
    n, starts = int(rng.integers(1, 9)), np.append(0, np.cumsum(lengths))
    u, v = (rng.random(count).astype(np.float32) for count in (n, starts[-1]))
    cost = rng.random((n, starts[-1])).astype(np.float32)
    if rng.random() < 0.5:
        starts[rng.integers(len(starts))] = pick(rng, -1, 0, 3, starts[-1] + 1, 2**40, -(2**62))
    given = [cost, starts, u, v]
    if rng.random() < 0.3:
        one = pick(rng, 0, 2, 3)
        given[one] = given[one][:-1]
    return word_bounds, tuple(given), options(rng, "threads")


CALLS = (call_emd, call_emd, call_gw, call_fgw, call_fgw, *(call_flat,) * 3, call_bounds)


def check(solver, given, named, found):
    """Hold what came back to what every solution has."""
    if solver in (price_batch, broken_batch, word_bounds):
        nowhere = solver is word_bounds and np.diff(given[1]) == 0  # to move words to
        assert (np.isfinite(found) | nowhere).all(), found
        return
    numbers = found.value, found.linear, found.structural, found.gap, found.home, found.plan
    assert all(np.isfinite(number).all() for number in numbers), numbers
    assert (found.plan >= 0).all()
    if solver in (emd, gw, fgw) and named.get("null") is None:
        for side, sums in zip(given[-2:], (found.plan.sum(1), found.plan.sum(0)), strict=True):
            shares = np.ones(len(sums)) if side is None else np.asarray(side, float)
            shares = shares / shares.max()
            np.testing.assert_allclose(sums, shares / shares.sum(), rtol=0, atol=WIDTH)


def call(seed):
    """Make the call of a seed; what is no error of movers' goes up."""
    rng = np.random.default_rng(seed)
    try:
        solver, given, named = pick(rng, *CALLS)(rng)
        found = solver(*given, **named)
    except MoversError:
        return "refused"
    check(solver, given, named, found)
    return "solved"


def prepare():
    """Have kernels compiled, or loaded, before the clock runs."""
    for cost in (np.eye(3), np.ones((3, 4))):
        for null in (None, 1.0):
            emd(cost, null=null)
            fgw(cost, np.eye(3), np.eye(cost.shape[1]), null=null)
    weights, costs = Ragged.from_rows([np.ones(2)] * 2), Ragged.from_rows([np.ones(4)])
    structure = Ragged.from_rows([np.zeros(4)] * 2)
    one = Problems.between(weights, np.array([[0, 1]]), costs, structure, np.ones((1, 1)))
    price_batch(one, np.ones(4))
    broken_batch(one, np.ones(4))
    word_bounds(np.ones((2, 2), np.float32), np.array([0, 2]), *np.ones((2, 2), np.float32))


def main(first, last):
    warnings.simplefilter("ignore")
    counts = {"solved": 0, "refused": 0}
    prepare()
    for seed in range(first, last):
        print(seed, flush=True)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)  # its signal ends the process
        counts[call(seed)] += 1
    signal.setitimer(signal.ITIMER_PROF, 0)
    print(*counts.values(), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
