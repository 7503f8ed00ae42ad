"""Rows times a matrix, with sums whose order is ours and not that of a matrix library.

A matrix library picks its order by processor and by shape, so the bits of a row would depend on
how many others are multiplied with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from movers.arrays import Floats
from movers.encode.product_kernels import multiply
from movers.runtime.threads import share_out


def product(rows: NDArray[Any], matrix: Floats, threads: int | None = None) -> Floats:
    """Multiply rows by a matrix in double precision: the same bits in any company, anywhere.

    ``threads`` is the most to use; None takes one per processor.
    """
    given = np.ascontiguousarray(rows, np.float64)
    factor = np.ascontiguousarray(matrix, np.float64)
    out = np.zeros((len(given), factor.shape[1]))
    work = np.full(len(given), factor.size)
    share_out(lambda low, high: multiply(low, high, given, factor, out), work, threads)
    return out
