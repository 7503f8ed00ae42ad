"""Flat batches: any number of threads, callers and heads gives the same bits."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from problems import mixed_problems, random_problem, taken

from movers.errors import InputError
from movers.runtime import threads as parallel
from movers.runtime.compiling import entries
from movers.solve import Problems, emd_batch, fgw, fgw_batch
from movers.solve.batch import KINDS, price_batch


def flat_batch(seed=0, pairs=40, heads=3, dtype=np.float64):
    """A batch where every sentence has its own place in the stores, and `heads` structures."""
    rng = np.random.default_rng(seed)
    problems = mixed_problems(seed, pairs)
    shapes = np.array([p.cost.shape for p in problems])
    structures, starts, at = [], [], 0
    for n in shapes.T.ravel():
        structures.append(rng.dirichlet(np.full(n, 0.3), (heads, n)).astype(dtype))
        starts.append(at)
        at += structures[-1].size
    weights = [p.u for p in problems] + [p.v for p in problems]
    sizes = np.array([w.size for w in weights])
    weight_start = np.cumsum(sizes) - sizes
    flat = np.concatenate(weights)
    return Problems(
        shapes=shapes,
        cost=np.concatenate([p.cost.ravel() for p in problems]),
        u=flat,
        v=flat,
        u_start=weight_start[:pairs],
        v_start=weight_start[pairs:],
        structure=np.concatenate([s.ravel() for s in structures]),
        a_start=np.array(starts[:pairs]),
        b_start=np.array(starts[pairs:]),
        scale=rng.uniform(0.1, 5, (pairs, heads)),
    )


def same(left, right):
    for name in ("value", "linear", "structural", "iterations", "gap", "plan"):
        assert np.array_equal(getattr(left, name), getattr(right, name)), name


@pytest.fixture
def threads_for_all(monkeypatch):
    monkeypatch.setattr(parallel, "WORTH_A_THREAD", 1.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_heads_are_independent_problems(dtype):
    given = flat_batch(dtype=dtype)
    found = fgw_batch(given, mix=0.4, plans=True)
    at = 0
    for p, (n, m) in enumerate(given.shapes):
        for h in range(3):
            a = given.structure[given.a_start[p] + h * n * n :][: n * n]
            b = given.structure[given.b_start[p] + h * m * m :][: m * m]
            alone = fgw(
                given.costs[p].reshape(n, m),
                a.reshape(n, n),
                b.reshape(m, m),
                given.u[given.u_start[p] :][:n],
                given.v[given.v_start[p] :][:m],
                mix=0.4,
                scale=given.scale[p, h],
            )
            assert found.value[p, h] == pytest.approx(alone.value, rel=1e-12)
            plan = found.plan[at : at + n * m].reshape(n, m)
            np.testing.assert_allclose(plan, alone.plan, rtol=0, atol=1e-12)
            at += n * m


def test_threads_do_not_change_a_bit(threads_for_all):
    given = flat_batch(seed=1, pairs=60)
    for threads in (2, 4, None):
        same(
            fgw_batch(given, mix=0.5, plans=True, threads=1),
            fgw_batch(given, mix=0.5, plans=True, threads=threads),
        )
        same(
            emd_batch(given, plans=True, threads=1),
            emd_batch(given, plans=True, threads=threads),
        )


def test_order_and_company_do_not_change_a_bit():
    given = flat_batch(seed=2, pairs=30)
    found = fgw_batch(given, mix=0.5)
    for p in (0, 7, 29):
        alone = taken(given, [p], [0, 1, 2])
        assert np.array_equal(fgw_batch(alone, mix=0.5).value[0], found.value[p])
    some = taken(given, [7, 3], [1, 2])
    assert np.array_equal(fgw_batch(some, mix=0.5).value, found.value[[7, 3], 1:])


def test_callers_in_several_threads(threads_for_all):
    batches = [flat_batch(seed=seed, pairs=20) for seed in range(6)]
    expected = [fgw_batch(given, mix=0.5, plans=True, threads=1) for given in batches]
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda g: fgw_batch(g, mix=0.5, plans=True, threads=2), batches))
    for left, right in zip(expected, found, strict=True):
        same(left, right)


def test_empty_batch():
    none = np.zeros(0, np.int64)
    shapes, empty = np.zeros((0, 2), np.int64), np.zeros(0)
    found = emd_batch(Problems(shapes, empty, empty, empty, none, none))
    assert found.value.shape == (0, 1)


def test_every_problem_within_a_hundred_calls():
    rng = np.random.default_rng(3)
    for n, m in ((20, 20), (30, 22), (40, 40)):
        problem = random_problem(rng, n, m)
        for scale in (1.0, 30.0, 1000.0):
            found = fgw(*problem[:5], scale=scale)
            assert found.iterations <= 100


FAR = 2**62


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("shapes", lambda x: x * [1, 0], "least entry is 0; there must be two sizes of at least 1"),
        ("shapes", lambda x: x[:, :1], r"shapes.shape == \(5, 1\)"),
        ("shapes", lambda x: x + FAR, "pair 0 takes"),
        ("shapes", lambda x: x + 0.5, "shapes is float64; pass a plain array of int64"),
        ("cost", lambda x: x[1:], r"cost.size == \d+ while the shapes have \d+ cells"),
        ("cost", lambda x: x + 1j, "cost is complex128"),
        ("cost", np.ma.asarray, "cost is masked float64"),
        ("u", lambda x: x[:9], r"pair \d takes \d+ entries from u_start"),
        ("u_start", lambda x: x - 1, "from u_start == -1 on"),
        ("v_start", lambda x: x + FAR, "from v_start == 46116860184273"),
        ("v_start", lambda x: x[1:], r"len\(v_start\) == 4 while there are 5 pairs"),
        ("a_start", lambda x: -x - 1, "from a_start == -1 on"),
        ("b_start", lambda x: x + 9**9, "from b_start == "),
        ("structure", lambda x: x[:-1], "from b_start == "),
        ("structure", lambda x: x[None], "structure.ndim == 2"),
        ("scale", lambda x: x[1:], r"len\(scale\) == 4 while there are 5 pairs"),
    ],
)
def test_arrays_that_kernels_would_leave_are_refused(name, change, message):
    given = flat_batch(pairs=5)
    with pytest.raises(InputError, match=message):
        replace(given, **{name: change(getattr(given, name))})


@pytest.mark.parametrize("name", ["u_start", "b_start", "shapes"])
def test_what_is_written_to_the_arrays_later_is_checked_too(name):
    given = flat_batch(pairs=5)
    getattr(given, name)[3] += 2**40
    for solve in (
        emd_batch,
        lambda batch: fgw_batch(batch, mix=0.5),
        lambda batch: price_batch(batch, batch.cost),
    ):
        with pytest.raises(InputError, match=r"pair 3 takes \d+ entries from "):
            solve(given)


def test_arrays_of_other_types_and_layouts_are_converted():
    given = flat_batch(pairs=5)
    other = replace(
        given,
        shapes=np.asfortranarray(given.shapes.astype(np.int32)),
        cost=given.cost.astype(">f8"),
        u=np.repeat(given.u, 2)[::2],
        v=given.v.tolist(),
    )
    same(emd_batch(given, plans=True), emd_batch(other, plans=True))


def test_arrays_that_cannot_be_written_to_need_no_other_kernel():
    given = flat_batch(pairs=5)
    expected = fgw_batch(given, mix=0.5, plans=True)
    known = [len(one.calls) for one in entries]
    for name in KINDS:
        array = getattr(given, name).copy()
        array.flags.writeable = False
        between = np.frombuffer(b"." + array.tobytes(), np.uint8)[1:]  # no number begins there
        for other in (array, between.view(array.dtype).reshape(array.shape)):
            found = fgw_batch(replace(given, **{name: other}), mix=0.5, plans=True)
            same(found, expected)
    assert [len(one.calls) for one in entries] == known


@pytest.mark.parametrize("price", [0.5, np.full(3, 0.5), np.full((5, 3), 0.5, order="F")])
def test_prices_in_any_layout_need_no_other_kernel(price):
    given = flat_batch(pairs=5)
    expected = fgw_batch(given, mix=0.5, null=np.full((5, 3), 0.5))
    known = [len(one.calls) for one in entries]
    same(fgw_batch(given, mix=0.5, null=price), expected)
    assert [len(one.calls) for one in entries] == known


def spoil(given, name, value):
    """The batch with one entry of pair 2 changed, or all of its weights."""
    starts = {"u": given.u_start, "v": given.v_start, "structure": given.a_start}
    start = starts[name][2] if name in starts else given.costs.starts[2]
    array = getattr(given, name).copy()
    array[start : start + (given.shapes[2, int(name == "v")] if name in "uv" else 1)] = value
    return replace(given, **{name: array})


SPOILED = [
    ("cost", np.nan, "pair 2: cost has 1 entries that are NaN or infinite"),
    ("cost", -np.inf, "pair 2: cost has 1 entries that are NaN or infinite"),
    ("cost", 1e200, r"pair 2: cost has an entry of size 1e\+200"),
    ("u", -1.0, "pair 2: u has a negative weight"),
    ("v", np.nan, r"pair 2: v has \d+ entries that are NaN or infinite"),
    ("u", 1.7e308, "pair 2: u sums to inf and v to 1"),
]
EMPTY = [("u", 0.0, "pair 2: u sums to 0"), ("v", 0.0, "pair 2: v sums to 0")]
BENT = [
    ("structure", np.nan, "pair 2: A has 1 entries that are NaN or infinite"),
    ("structure", 1e200, r"pair 2: A has an entry of size 1e\+200"),
]


@pytest.mark.parametrize("null", [None, 1.0])
@pytest.mark.parametrize(("name", "value", "message"), SPOILED + EMPTY + BENT)
def test_entries_that_no_problem_can_have_are_refused(name, value, message, null):
    given = spoil(flat_batch(pairs=5), name, value)
    empty = (name, value, message) in EMPTY
    for solver in (emd_batch, lambda *given, **named: fgw_batch(*given, **named, mix=0.5)):
        if (name == "structure" and solver is emd_batch) or (empty and null is not None):
            assert np.isfinite(solver(given, null=null).value).all()
        else:
            with pytest.raises(InputError, match=message):
                solver(given, null=null)


def test_no_kernel_falls_over_a_side_without_weight():
    given = spoil(flat_batch(pairs=5), "u", 0.0)
    price_batch(given, np.ones(given.cost.size))


def test_options_of_batches_are_checked():
    given = flat_batch(pairs=2)
    for named, message in (
        ({"mix": None}, "mix == None"),
        ({"mix": 0.5, "threads": "2"}, "threads == '2'"),
        ({"mix": 0.5, "null": "x"}, "null is not an array of numbers"),
        ({"mix": 0.5, "null": np.ones(7)}, r"null.shape == \(7,\) while pairs and heads are"),
        ({"mix": 0.5, "null": -1.0}, "null == -1"),
    ):
        with pytest.raises(InputError, match=message):
            fgw_batch(given, **named)
    with pytest.raises(InputError, match="scale has entries that are not between 0 and"):
        fgw_batch(replace(given, scale=-given.scale), mix=0.5)
    linear = replace(given, scale=np.zeros((0, 3)))
    for solver in (
        lambda: fgw_batch(linear, mix=0.5),
        lambda: price_batch(linear, np.ones(given.cost.size)),
    ):
        with pytest.raises(InputError, match="none of the 2 problems has structures"):
            solver()
    with pytest.raises(InputError, match=r"plans.shape == \(1,\) while cost.shape"):
        price_batch(given, np.ones(1))
