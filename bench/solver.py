"""Our exact solvers beside POT's, on the same problems in the same run, as a table.

    python bench/solver.py [--pairs 200]

Processor time on one thread. `report` takes any problems with structure.
"""

import argparse
import os
import time
import warnings
from collections.abc import Iterator
from typing import NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import ot

from movers.arrays import boundaries
from movers.solve import Problems, Solution, emd_batch, fgw_batch

HEADER = (
    f"{'problems':30s} {'count':>7s} {'n':>5s} {'ours µs':>8s} {'POT µs':>9s} {'ratio':>6s}"
    f" {'worse':>6s} {'better':>6s} {'calls p50/p99/max':>18s}"
)


class Problem(NamedTuple):
    """One fused problem."""

    cost: np.ndarray
    source: np.ndarray
    target: np.ndarray
    u: np.ndarray
    v: np.ndarray
    scale: float


def synthetic(seed: int, pairs: int, size: int, *, square: bool, uniform: bool) -> Problems:
    """Points in space and attention-like rows, 12 heads, every pair with its own sentences."""
    rng = np.random.default_rng(seed)
    heads = 12
    shapes = rng.integers(max(2, size - 3), size + 4, (pairs, 2))
    if square:
        shapes[:, 1] = shapes[:, 0]
    points = [rng.normal(size=(n, 20)) for n in shapes.ravel()]
    costs = [
        np.linalg.norm(x[:, None] - y, axis=2)
        for x, y in zip(points[::2], points[1::2], strict=True)
    ]
    attention = [rng.dirichlet(np.full(n, 0.3), (heads, n)) for n in shapes.ravel()]
    weights = [np.ones(n) if uniform else rng.uniform(1, 9, n) for n in shapes.ravel()]
    squares = np.array([(a**2).mean((1, 2)) for a in attention])
    means = np.array([a.mean((1, 2)) for a in attention])
    error = squares[::2] + squares[1::2] - 2 * means[::2] * means[1::2]
    sizes, blocks = shapes.ravel(), heads * shapes.ravel() ** 2
    starts, block_starts = boundaries(sizes)[:-1], boundaries(blocks)[:-1]
    flat = np.concatenate([w / w.sum() for w in weights])
    return Problems(
        shapes=shapes,
        cost=np.concatenate([c.ravel() for c in costs]),
        u=flat,
        v=flat,
        u_start=starts[::2].copy(),
        v_start=starts[1::2].copy(),
        structure=np.concatenate([a.ravel() for a in attention]).astype(np.float32),
        a_start=block_starts[::2].copy(),
        b_start=block_starts[1::2].copy(),
        scale=np.array([c.mean() for c in costs])[:, None] / error,
    )


def report(name: str, batch: Problems, *, mix: float = 0.5, sample: int = 300) -> str:
    """Time ours on the whole batch and POT on a sample of it; return a row of the table."""
    fgw_batch(batch, mix=mix, threads=1)
    started = time.process_time()
    found = fgw_batch(batch, mix=mix, threads=1)
    ours = (time.process_time() - started) / found.value.size * 1e6
    excess, pots = _versus_pot(batch, found, mix, sample)
    calls = np.percentile(found.iterations, [50, 99, 100]).astype(int)
    return (
        f"{name:30s} {found.value.size:7d} {batch.shapes.mean():5.1f} {ours:8.2f} {pots:9.1f}"
        f" {pots / ours:6.0f} {(excess > 1e-6).mean():6.2%} {(excess < -1e-6).mean():6.2%}"
        f" {'/'.join(map(str, calls)):>18s}"
    )


def report_emd(name: str, batch: Problems) -> str:
    """Compare linear transport alone with a loop over `ot.emd2`."""
    emd_batch(batch, threads=1)
    started = time.process_time()
    found = emd_batch(batch, threads=1)
    ours = (time.process_time() - started) / len(found.value) * 1e6
    problems = [_problem(batch, p, 0) for p in range(len(found.value))]
    started = time.process_time()
    values = np.array([ot.emd2(x.u, x.v, x.cost) for x in problems])
    pots = (time.process_time() - started) / len(values) * 1e6
    off = np.abs(found.value[:, 0] - values).max()
    return (
        f"{name:30s} {len(values):7d} {batch.shapes.mean():5.1f} {ours:8.2f} {pots:9.1f}"
        f" {pots / ours:6.0f}  largest difference {off:.0e}"
    )


def _versus_pot(
    batch: Problems, found: Solution, mix: float, sample: int
) -> tuple[np.ndarray, float]:
    """Relative excess of our objective over POT's on a sample, and POT's µs per problem."""
    rng = np.random.default_rng(0)
    chosen = rng.choice(found.value.size, min(sample, found.value.size), replace=False)
    cells = [divmod(int(c), found.value.shape[1]) for c in chosen]
    excess, spent = [], 0.0
    for (p, h), problem in zip(cells, (_problem(batch, *cell) for cell in cells), strict=True):
        started = time.process_time()
        other = _pot(problem, mix)
        spent += time.process_time() - started
        excess.append((found.value[p, h] - other) / max(abs(other), 1e-4 * problem.cost.mean()))
    return np.array(excess), spent / len(cells) * 1e6


def _problem(batch: Problems, p: int, h: int) -> Problem:
    n, m = batch.shapes[p]
    source, target = (
        batch.structure[start[p] + h * k * k :][: k * k].reshape(k, k).astype(float)
        for start, k in ((batch.a_start, n), (batch.b_start, m))
    )
    u, v = batch.u[batch.u_start[p] :][:n], batch.v[batch.v_start[p] :][:m]
    return Problem(batch.costs[p].reshape(n, m), source, target, u, v, batch.scale[p, h])


def _pot(problem: Problem, mix: float) -> float:
    root = np.sqrt(problem.scale)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = ot.gromov.fused_gromov_wasserstein2(
            problem.cost,
            root * problem.source,
            root * problem.target,
            problem.u,
            problem.v,
            alpha=mix,
            symmetric=False,
            tol_rel=1e-9,
            tol_abs=1e-9,
            max_iter=10_000,
        )
    return float(value)


def _rows(pairs: int) -> Iterator[str]:
    yield HEADER
    for size in (6, 12, 20, 30):
        few = max(2, pairs * 6 // size // 4)
        for name, square in (("square", True), ("oblong", False)):
            batch = synthetic(size, few, size, square=square, uniform=True)
            yield report(f"fgw {name} n~{size}", batch, sample=40)
    batch = synthetic(1, pairs, 12, square=False, uniform=False)
    yield report("fgw weighted n~12", batch, sample=40)
    yield report("gw oblong n~12", batch, mix=1.0, sample=40)
    yield report_emd("emd weighted n~12", batch)
    yield report_emd("emd square n~12", synthetic(2, pairs, 12, square=True, uniform=True))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=200)
    for row in _rows(parser.parse_args().pairs):
        print(row, flush=True)
