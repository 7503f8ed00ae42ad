"""Compiled kernels: one exact transport problem after another, nothing allocated in between.

A row of m columns is stored with ``padded(m)`` entries, whole vector registers; costs carry
`FORBIDDEN` in the padding. Matrices keep the row length of the largest problem of their chunk.
"""

LANES = 8
"""Columns, or heads, that a kernel handles at once in vector registers."""
ROWS = 2
"""Rows that `product_tile` handles at once."""
