"""Exact transport between small weighted sets, one problem or ragged batches of them.

`emd` is linear, `gw` compares structures, `fgw` does both. `emd_batch` and `fgw_batch` are the
same solvers for many problems in flat arrays.
Importing this package compiles nothing and does not load numba.
"""

from movers.solve.batch import Problems, emd_batch, fgw_batch
from movers.solve.linear import emd
from movers.solve.quadratic import fgw, gw
from movers.solve.solution import Solution

__all__ = ["Problems", "Solution", "emd", "emd_batch", "fgw", "fgw_batch", "gw"]
