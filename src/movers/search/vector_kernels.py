"""Compiled loops of `movers.search.vectors`: one query against many stored vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from movers.runtime.compiling import summing


@summing
def halves_products(upper: NDArray[np.int16], query: Any, out: Any) -> None:
    """Products of a query with vectors of which the upper halves of every number are given."""
    for i in range(len(upper)):
        total = np.float32(0.0)
        for k in range(upper.shape[1]):
            bits = np.int32(np.int32(upper[i, k]) << np.int32(16))
            total += bits.view(np.float32) * query[k]
        out[i] = total


@summing
def integer_products(integers: NDArray[np.int8], query: Any, out: Any) -> None:
    """Products of a query with vectors of small integers."""
    for i in range(len(integers)):
        total = np.float32(0.0)
        for k in range(integers.shape[1]):
            total += np.float32(integers[i, k]) * query[k]
        out[i] = total
