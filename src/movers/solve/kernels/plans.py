"""Dense plans: sums of vertices, what they cost, and where they go."""

from movers.arrays import Floats
from movers.runtime.compiling import kernel
from movers.solve.kernels.batch_arrays import Batch, Outputs
from movers.solve.kernels.gradient import padded
from movers.solve.kernels.workspace import Workspace


@kernel
def gather(w: Workspace, n: int, m: int, active: int, start: Floats | None, plan: Floats) -> None:
    """Add up the active vertices, and in slot 0 the start: None is the product plan."""
    rows, columns, mass = w.cells
    for i in range(n):
        for j in range(m):
            plan[i, j] = 0.0
    for k in range(active):
        slot = w.active[k]
        x, at = w.weight[slot], slot * (n + m)
        if slot == 0:
            for i in range(n):
                for j in range(m):
                    plan[i, j] += x * w.u[i] * w.v[j] if start is None else x * start[i, j]
        elif x > 0.0:
            for c in range(at, at + w.counts[slot]):
                plan[rows[c], columns[c]] += x * mass[c]


@kernel
def bent(a: Floats, b: Floats, plan: Floats, n: int, m: int, scratch: Floats) -> float:
    """Evaluate ``<A, P B Pᵀ>``."""
    total = 0.0
    for i in range(n):
        for j in range(padded(m)):
            scratch[j] = 0.0
        for j in range(m):
            if plan[i, j] > 0.0:
                for k in range(padded(m)):
                    scratch[k] += plan[i, j] * b[j, k]
        for k in range(n):
            s = 0.0
            for j in range(m):
                s += scratch[j] * plan[k, j]
            total += a[i, k] * s
    return total


@kernel
def write_plan(
    w: Workspace, plan: Floats, n: int, m: int, x: float, batch: Batch, p: int, h: int, out: Outputs
) -> None:
    """Write x times a plan of n x m kept tokens; tokens without mass keep their zeros."""
    rows, columns = batch.shapes[p, 0], batch.shapes[p, 1]
    start = out.linear.shape[1] * batch.cost_start[p] + h * rows * columns
    for i in range(n):
        row = start + w.keep_rows[i] * columns
        for j in range(m):
            out.plans[row + w.keep_columns[j]] = x * plan[i, j]
