"""Gradients of the fused objective at the product plan and at vertices.

With fixed marginals the structural energy is a constant minus ``<M(P), P>``, where
``M(P) = A P Bᵀ + Aᵀ P B``, so up to terms that no transport plan can see the gradient of

    (1 - mix) <C, P> + mix * scale * E(P)

is ``L - factor * M(P)`` with ``L = (1 - mix) C`` and ``factor = 2 * mix * scale``.
"""

from typing import Any

from movers.arrays import Floats, Ints
from movers.runtime.compiling import inlined, kernel
from movers.solve.kernels import LANES, ROWS
from movers.solve.kernels.instructions import product_tile

FORBIDDEN = 1e100


@inlined
def padded(columns: int) -> int:
    """Round a number of columns up to a whole number of groups."""
    return (columns + LANES - 1) // LANES * LANES


@kernel
def load_source(store: Any, start: int, full: int, keep: Ints, n: int, out: Floats) -> None:
    """Copy the kept ``n x n`` block of a stored ``full x full`` structure, without padding."""
    for i in range(n):
        row = start + keep[i] * full
        for k in range(n):
            out[i, k] = store[row + keep[k]]


@kernel
def load_target(
    store: Any, start: int, full: int, keep: Ints, m: int, rows: Floats, columns: Floats
) -> None:
    """Copy a stored structure with padded rows, and its transpose alike."""
    width = padded(m)
    for j in range(m):
        row = start + keep[j] * full
        for k in range(m):
            x = store[row + keep[k]]
            rows[j, k] = x
            columns[k, j] = x
        for k in range(m, width):
            rows[j, k] = 0.0
            columns[j, k] = 0.0


@kernel
def at_product(
    linear: Floats,
    factor: float,
    a: Floats,
    b: Floats,
    u: Floats,
    v: Floats,
    n: int,
    m: int,
    scratch: Floats,
    out: Floats,
) -> tuple[float, float]:
    """Write the gradient at ``P = u vᵀ``, where M(P) has rank two.

    Returns the weighted mean squares of A and B, which is the constant part of the energy,
    and ``<M(P), P> / 2 = (uᵀ A u)(vᵀ B v)``.
    """
    squares, mean_a, mean_b = 0.0, 0.0, 0.0
    width = padded(m)
    for j in range(width):
        scratch[j] = 0.0
        scratch[width + j] = 0.0
    for j in range(m):
        s = 0.0
        e = 0.0
        for k in range(m):
            x = b[j, k]
            s += x * v[k]
            e += x * x * v[k]
            scratch[width + k] += x * v[j]
        scratch[j] = s
        squares += e * v[j]
        mean_b += s * v[j]
    for i in range(n):
        s = 0.0
        t = 0.0
        e = 0.0
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
            out[i, j] = linear[i, j] - (s * scratch[j] + t * scratch[width + j])
    return squares, mean_a * mean_b


@kernel
def at_vertex(
    linear: Floats,
    factor: float,
    a: Floats,
    left: Floats,
    right: Floats,
    pick: Ints,
    n: int,
    m: int,
    out: Floats,
) -> None:
    """Write ``L - factor * (A X + Aᵀ Y)``.

    Row k of X is row ``pick[k]`` of `left`, row k of Y is row ``pick[k]`` of `right`: a
    permutation needs no product to form ``P Bᵀ`` and ``P B``.
    """
    for i in range(0, n, ROWS):
        for j in range(0, m, LANES):
            product_tile(linear, factor, a, left, right, pick, n, i, j, out)


@kernel
def spread(
    rows: Ints,
    columns: Ints,
    mass: Floats,
    at: int,
    count: int,
    b: Floats,
    b_transposed: Floats,
    n: int,
    m: int,
    left: Floats,
    right: Floats,
) -> None:
    """Form ``P Bᵀ`` and ``P B`` for a sparse plan with `count` cells."""
    width = padded(m)
    for i in range(n):
        for j in range(width):
            left[i, j] = 0.0
            right[i, j] = 0.0
    for c in range(at, at + count):
        x = mass[c]
        to, of = rows[c], columns[c]
        for j in range(width):
            left[to, j] += x * b_transposed[of, j]
            right[to, j] += x * b[of, j]
