"""Gradients of the fused objective at the product plan and at vertices.

With fixed marginals the structural energy is a constant minus ``<M(P), P>``, where
``M(P) = A P Bᵀ + Aᵀ P B``, so up to terms that no transport plan can see the gradient of

    (1 - mix) <C, P> + mix * scale * E(P)

is ``L - factor * M(P)`` with ``L = (1 - mix) C`` and ``factor = 2 * mix * scale``.

Where mass may stay at home the marginals ``p = P 1`` and ``q = Pᵀ 1`` vary, and the energy is
``Σ A² p p + Σ B² q q - <M(P), P>``. The gradient then has, beside ``-2 M(P)``,

    row[i] + column[j],   row = (A² + A²ᵀ) p,   column = (B² + B²ᵀ) q

with squares taken entry by entry.
"""

from typing import Any

from movers.arrays import Floats
from movers.runtime.compiling import inlined, kernel
from movers.solve.kernels import LANES, ROWS, instructions
from movers.solve.kernels.workspace import Batch, Cells, Margins, Structures, Workspace

FORBIDDEN = 1e100


@inlined
def padded(columns: int) -> int:
    """Round a number of columns up to a whole number of groups."""
    return (columns + LANES - 1) // LANES * LANES


@inlined
def load_structures(
    w: Workspace, batch: Batch, structures: Structures, p: int, h: int, n: int, m: int
) -> None:
    """Copy the kept blocks of a head: of A without padding, of B with it, and its transpose."""
    if structures.double.size:
        _load(w, batch, structures, structures.double, p, h, n, m)
    else:
        _load(w, batch, structures, structures.single, p, h, n, m)


@inlined
def _load(
    w: Workspace, batch: Batch, structures: Structures, store: Any, p: int, h: int, n: int, m: int
) -> None:
    rows, columns = batch.shapes[p, 0], batch.shapes[p, 1]
    for i in range(n):
        row = structures.a_start[p] + (h * rows + w.keep_rows[i]) * rows
        for k in range(n):
            w.a[i, k] = store[row + w.keep_rows[k]]
    for j in range(m):
        row = structures.b_start[p] + (h * columns + w.keep_columns[j]) * columns
        for k in range(m):
            x = store[row + w.keep_columns[k]]
            w.b[j, k] = x
            w.b_transposed[k, j] = x
        for k in range(m, padded(m)):
            w.b[j, k] = w.b_transposed[j, k] = 0.0


@inlined
def at_product(w: Workspace, factor: float, n: int, m: int) -> tuple[float, float]:
    """Write the gradient at ``P = u vᵀ``, where M(P) has rank two.

    Returns the weighted mean squares of A and B, which is the constant part of the energy,
    and ``<M(P), P> / 2 = (uᵀ A u)(vᵀ B v)``.
    """
    a, b, u, v, scratch = w.a, w.b, w.u, w.v, w.scratch
    squares, mean_a, mean_b = 0.0, 0.0, 0.0
    width = padded(m)
    for j in range(2 * width):
        scratch[j] = 0.0
    for j in range(m):
        s, e = 0.0, 0.0
        for k in range(m):
            x = b[j, k]
            s += x * v[k]
            e += x * x * v[k]
            scratch[width + k] += x * v[j]
        scratch[j] = s
        squares += e * v[j]
        mean_b += s * v[j]
    for i in range(n):
        s, t, e = 0.0, 0.0, 0.0
        for k in range(n):
            x = a[i, k]
            s += x * u[k]
            t += a[k, i] * u[k]
            e += x * x * u[k]
        squares += e * u[i]
        mean_a += s * u[i]
        s *= factor
        t *= factor
        for j in range(width):
            w.gradient[i, j] = w.linear[i, j] - (s * scratch[j] + t * scratch[width + j])
    return squares, mean_a * mean_b


@inlined
def set_gradient(
    w: Workspace, n: int, m: int, square: bool, factor: float, slot: int, margins: Margins | None
) -> None:
    """Fill in the gradient at the vertex in `slot`; with its marginals if these may vary.

    It is ``L - factor * (A X + Aᵀ Y)`` with ``X = P Bᵀ`` and ``Y = P B``, which for a permutation
    are rows of Bᵀ and B: no product is needed to form them.
    """
    at, out = slot * (n + m), w.gradients[slot]
    left, right, pick, share = w.b_transposed, w.b, w.matching.match, factor / n
    if not square:
        _spread(w, n, m, slot)
        left, right, pick, share = w.left, w.right, w.counting, factor
    for i in range(0, n, ROWS):
        for j in range(0, m, LANES):
            instructions.product_tile(w.linear, share, w.a, left, right, pick, n, i, j, out)
    if margins is not None:
        set_margins(margins, w.cells, at, w.counts[slot], n - 1, m - 1)
        add_margins(margins, n - 1, m - 1, factor / 2.0, out)


@inlined
def _spread(w: Workspace, n: int, m: int, slot: int) -> None:
    """Form ``P Bᵀ`` and ``P B`` for the vertex in `slot`."""
    left, right, width, at = w.left, w.right, padded(m), slot * (n + m)
    for i in range(n):
        for j in range(width):
            left[i, j] = right[i, j] = 0.0
    for c in range(at, at + w.counts[slot]):
        x, to, of = w.cells.mass[c], w.cells.rows[c], w.cells.columns[c]
        for j in range(width):
            left[to, j] += x * w.b_transposed[of, j]
            right[to, j] += x * w.b[of, j]


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
