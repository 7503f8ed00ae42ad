"""Entropic transport: Sinkhorn's scaling of a kernel, for ragged batches.

Finds the plan ``P = diag(a) K diag(b)`` with the wanted marginals, which minimises
``<C, P> - reg * H(P)`` for ``K = exp(-C / reg)`` (Cuturi, 2013). All in logarithms: kernels may
be as small as they like.
"""

from math import exp, inf, log
from typing import NamedTuple

import numpy as np
from numpy import int32
from numpy.typing import NDArray

from movers.arrays import Floats, Ints, Ragged, boundaries
from movers.runtime.compiling import entry, kernel
from movers.runtime.threads import share_out
from movers.solve.batch import Problems
from movers.solve.kernels.workspace import Batch
from movers.solve.solution import Many, linear_solution

ITERATIONS = 1000
TOLERANCE = 1e-9
EXPONENTIALS = 50
"""Rough cost of an exponential in the unit of work that threads are shared out by."""


class Scaling(NamedTuple):
    """Logarithms of the factors of rows and columns, what they make, and the rounds it took."""

    f: Floats
    f_start: Ints
    g: Floats
    g_start: Ints
    plans: Floats
    iterations: NDArray[int32]


@entry
def sinkhorn_range(
    low: int, high: int, batch: Batch, most: int, tolerance: float, out: Scaling
) -> None:
    """Scale the kernels of the pairs ``low .. high-1``, whose logarithms stand for the cost."""
    log_kernel, u, v, f, g = batch.cost, batch.u, batch.v, out.f, out.g
    for p in range(low, high):
        n, m = batch.shapes[p, 0], batch.shapes[p, 1]
        k0, u0, v0 = batch.cost_start[p], batch.u_start[p], batch.v_start[p]
        f0, g0 = out.f_start[p], out.g_start[p]
        for step in range(most):
            error = 0.0
            for i in range(n):
                total = _log_sum(log_kernel, k0 + i * m, 1, g, g0, m)
                scaled = _log_ratio(u[u0 + i], total)
                if scaled > -inf:  # the row's mass so far, against what it should be
                    error += u[u0 + i] * abs(exp(f[f0 + i] - scaled) - 1.0)
                f[f0 + i] = scaled
            if step > 0 and error < tolerance:
                break
            out.iterations[p] = step + 1
            for j in range(m):
                total = _log_sum(log_kernel, k0 + j, m, f, f0, n)
                g[g0 + j] = _log_ratio(v[v0 + j], total)
        for i in range(n):
            for j in range(m):
                cell = k0 + i * m + j
                out.plans[cell] = exp(f[f0 + i] + log_kernel[cell] + g[g0 + j])


@kernel
def _log_sum(cells: Floats, first: int, step: int, shift: Floats, base: int, count: int) -> float:
    """Logarithm of the sum of exponentials of ``cells + shift``."""
    largest = -inf
    for k in range(count):
        largest = max(largest, cells[first + k * step] + shift[base + k])
    if largest == -inf:
        return -inf
    total = 0.0
    for k in range(count):
        total += exp(cells[first + k * step] + shift[base + k] - largest)
    return largest + log(total)


@kernel
def _log_ratio(mass: float, total: float) -> float:
    """``log(mass) - total``, and nothing where there is no mass or no way for it."""
    return log(mass) - total if mass > 0.0 and total > -inf else -inf


def sinkhorn_batch(
    problems: Problems,
    log_kernel: Floats,
    *,
    iterations: int = ITERATIONS,
    tolerance: float = TOLERANCE,
    threads: int | None = None,
) -> Many:
    """Scale every kernel to its marginals, rows first.

    Where it does not converge, the columns have their marginals and the rows come as near as
    they got. The cost of the problems only shows in the value, ``<C, P>``.

    Weights of the problems sum to one on each side. ``log_kernel`` holds logarithms of the kernels,
    row-major n x m blocks one after another. A search stops when the rows are off by less than the
    ``tolerance`` in total; 0 goes on to the end.
    """
    shapes, costs = problems.shapes, problems.costs
    batch = problems.batch._replace(cost=log_kernel)
    f_start, g_start = (boundaries(side)[:-1] for side in shapes.T)
    f, g = (np.zeros(int(side.sum())) for side in shapes.T)
    plans, done = np.zeros(log_kernel.size), np.zeros(len(problems), np.int32)
    out = Scaling(f, f_start, g, g_start, plans, done)

    def solve(low: int, high: int) -> None:
        sinkhorn_range(low, high, batch, iterations, float(tolerance), out)

    share_out(solve, shapes.prod(axis=1) * EXPONENTIALS, threads)
    value = Ragged(costs.data * plans, costs.starts).sums()
    return linear_solution(value, plans, iterations=done, converged=done < iterations)
