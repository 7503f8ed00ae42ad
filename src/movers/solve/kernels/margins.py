"""What plans add to the gradient when their marginals may vary.

With ``p = P 1`` and ``q = Pᵀ 1`` the energy is ``Σ A² p p + Σ B² q q - <M(P), P>``. Fixed
marginals make the first two parts a constant; otherwise the gradient has, beside ``-2 M(P)``,

    row[i] + column[j],   row = (A² + A²ᵀ) p,   column = (B² + B²ᵀ) q

with squares taken entry by entry.
"""

from movers.arrays import Floats
from movers.runtime.compiling import inlined, kernel
from movers.solve.kernels.workspace import Cells, Margins


@kernel
def load_squares(structure: Floats, n: int, out: Floats) -> None:
    """Fill in ``A[i, k]**2 + A[k, i]**2``."""
    for i in range(n):
        for k in range(i + 1):
            x = structure[i, k] * structure[i, k] + structure[k, i] * structure[k, i]
            out[i, k] = out[k, i] = x


@kernel
def set_margins(g: Margins, cells: Cells, at: int, count: int, n: int, m: int) -> None:
    """Sum up what a list of cells moves between n x m words."""
    rows, columns, mass = cells
    g.p[:n] = 0.0
    g.q[:m] = 0.0
    for c in range(at, at + count):
        if rows[c] < n and columns[c] < m:
            g.p[rows[c]] += mass[c]
            g.q[columns[c]] += mass[c]


@kernel
def add_margins(g: Margins, n: int, m: int, factor: float, gradient: Floats) -> float:
    """Add the part of the marginals to a gradient; return theirs of `factor` times the energy."""
    total = margin_energy(g, n, m)
    for i in range(n):
        for j in range(m):
            gradient[i, j] += factor * (g.row[i] + g.column[j])
    return factor * total


@kernel
def margin_energy(g: Margins, n: int, m: int) -> float:
    """Fill in ``row`` and ``column``; return ``Σ A² p p + Σ B² q q``."""
    return (_multiply(g.squares_a, g.p, n, g.row) + _multiply(g.squares_b, g.q, m, g.column)) / 2.0


@inlined
def _multiply(squares: Floats, x: Floats, n: int, out: Floats) -> float:
    """Write ``squares x``, and return its product with x."""
    total = 0.0
    for i in range(n):
        out[i] = 0.0
    for k in range(n):
        if x[k] > 0.0:
            for i in range(n):
                out[i] += x[k] * squares[k, i]
    for i in range(n):
        total += out[i] * x[i]
    return total
