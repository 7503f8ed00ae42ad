"""Sinkhorn's matrix scaling in the log domain, one problem after another."""

from math import exp, inf, log

from movers.arrays import Floats, Ints
from movers.runtime.compiling import entry, kernel


@entry
def sinkhorn_range(
    lo: int,
    hi: int,
    shapes: Ints,
    log_kernel: Floats,
    start: Ints,
    u: Floats,
    u_start: Ints,
    v: Floats,
    v_start: Ints,
    most: int,
    tolerance: float,
    f: Floats,
    f_start: Ints,
    g: Floats,
    g_start: Ints,
    plans: Floats,
    iterations: Ints,
) -> None:
    """Scale the kernels of the pairs ``lo .. hi-1``; ``f`` and ``g`` hold the logarithms."""
    for p in range(lo, hi):
        n, m = shapes[p, 0], shapes[p, 1]
        k0, u0, v0, f0, g0 = start[p], u_start[p], v_start[p], f_start[p], g_start[p]
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
            iterations[p] = step + 1
            for j in range(m):
                total = _log_sum(log_kernel, k0 + j, m, f, f0, n)
                g[g0 + j] = _log_ratio(v[v0 + j], total)
        for i in range(n):
            for j in range(m):
                cell = k0 + i * m + j
                plans[cell] = exp(f[f0 + i] + log_kernel[cell] + g[g0 + j])


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
