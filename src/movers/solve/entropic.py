"""Entropic transport: Sinkhorn's scaling of a kernel, for ragged batches.

Finds the plan ``P = diag(a) K diag(b)`` with the wanted marginals, which minimises
``<C, P> - reg * H(P)`` for ``K = exp(-C / reg)`` (Cuturi, 2013). All in logarithms: kernels may
be as small as they like.
"""

from __future__ import annotations

import numpy as np

from movers.arrays import Floats, Ragged, offsets
from movers.runtime.threads import share_out
from movers.solve.kernels.sinkhorn import Scaling, sinkhorn_range
from movers.solve.problems import Problems
from movers.solve.solution import Many, linear_solution

ITERATIONS = 1000
TOLERANCE = 1e-9
EXPONENTIALS = 50
"""Rough cost of an exponential in the unit of work that threads are shared out by."""


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
    f_start, g_start = (offsets(side) for side in shapes.T)
    f, g = (np.zeros(int(side.sum())) for side in shapes.T)
    plans, done = np.zeros(log_kernel.size), np.zeros(len(problems), np.int32)
    out = Scaling(f, f_start, g, g_start, plans, done)

    def solve(low: int, high: int) -> None:
        sinkhorn_range(low, high, batch, iterations, float(tolerance), out)

    share_out(solve, shapes.prod(axis=1) * EXPONENTIALS, threads)
    value = Ragged(costs.data * plans, costs.starts).sums()
    return linear_solution(value, plans, iterations=done, converged=done < iterations)
