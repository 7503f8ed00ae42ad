"""Compiled loops of encoding: attention cut down to words, and rows times a matrix.

Sums take their terms in an order of ours, as on a GPU (`movers.encode.device_collect`), and are
rounded the same way. A matrix library picks its order by processor and by shape, so that the bits
of a row would depend on how many others are multiplied with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from movers.arrays import Bools, Floats, Ints, Singles
from movers.runtime.compiling import exact, inlined
from movers.runtime.threads import share_out

WordRanges = tuple[Ints, Ints, int]
"""Words of sentences: where each sentence has its first; the first token of every word and the one
behind its last; pieces of a word to look at, 1 where the first stands for it."""
PooledAttention = tuple[Ints, Singles, Floats, Floats]
"""What becomes of attention: where each sentence's begins, matrices of words, sums and squares."""
ROWS, TERMS = 32, 4
"""Rows, and rows of the matrix, that a product takes at once."""
WIDENED = 256
"""Rows that are brought to double precision together."""


@exact
def pool_attention(
    matrices: Singles,
    genuine: Bools,
    sentences: Ints,
    slots: Ints,
    words: WordRanges,
    kept: PooledAttention,
    paper: bool,
    row: Singles,
) -> None:
    """Cut the matrices of a batch, ``(sentences, heads, tokens, tokens)``, down to words.

    Head ``h`` goes to slot ``slots[h]``. The paper has rows of words add up to 1 and sums over
    words; else sums go over the genuine tokens. ``row`` has room for a number per token.
    """
    starts, ranges, most = words
    cells, structure, totals, squares = kept
    for b in range(len(sentences)):
        sentence = sentences[b]
        count = starts[sentence + 1] - starts[sentence]
        places = ranges[starts[sentence] : starts[sentence] + count]
        for h in range(len(slots)):
            first = cells[sentence] + slots[h] * count * count
            for i in range(count):
                line = structure[first + i * count : first + (i + 1) * count]
                if most == 1:
                    given = matrices[b, h, places[i, 0]]
                    for j in range(count):  # with a sign, a place might count from the end
                        line[j] = given[np.uint64(places[j, 0])]
                else:
                    _from_word(matrices, b, h, places[i, 0], places[i, 1], most, row)
                    for j in range(count):
                        line[j] = _to_word(row, places[j, 0], places[j, 1], most)
            if paper:
                sums = _word_sums(structure, first, count, row)
            else:
                sums = _token_sums(matrices, b, h, genuine)
            totals[sentence, slots[h]], squares[sentence, slots[h]] = sums


@inlined
def _from_word(
    matrices: Singles, b: int, h: int, first: int, end: int, most: int, row: Singles
) -> None:
    """Fill in the attention of a word to all tokens: the mean over its pieces."""
    pieces = min(end - first, most)
    for j in range(matrices.shape[3]):
        row[j] = np.float32(0.0)
    for piece in range(1, pieces):
        for j in range(matrices.shape[3]):
            row[j] += matrices[b, h, first + piece, j]
    for j in range(matrices.shape[3]):
        row[j] = (matrices[b, h, first, j] + row[j]) / np.float32(pieces)


@inlined
def _to_word(row: Singles, first: int, end: int, most: int) -> np.float32:
    """The attention to a word: the sum over its pieces."""
    rest = np.float32(0.0)
    for piece in range(1, min(end - first, most)):
        rest += row[first + piece]
    return np.float32(row[first] + rest)


@inlined
def _word_sums(values: Singles, first: int, count: int, row: Singles) -> tuple[float, float]:
    """Have every row of a matrix of words sum to 1, or make all in it equal where there is nothing.

    Returns the sum over all of it, and of squares. One thing is done to all rows before the next:
    a processor goes on with the next row while it waits for the sum of one.
    """
    for i in range(count):
        line, row[i] = values[first + i * count : first + (i + 1) * count], np.float32(0.0)
        for j in range(count):
            row[i] += line[j]
    for i in range(count):
        line = values[first + i * count : first + (i + 1) * count]
        for j in range(count):
            line[j] = line[j] / row[i] if row[i] > 0 else np.float32(1.0 / count)
    total = squares = 0.0
    for i in range(count):
        line = values[first + i * count : first + (i + 1) * count]
        part = part_squares = 0.0
        for j in range(count):
            term = np.float64(line[j])
            part += term
            part_squares += term * term
        total += part
        squares += part_squares
    return total, squares


@inlined
def _token_sums(matrices: Singles, b: int, h: int, genuine: Bools) -> tuple[float, float]:
    """The sum over the genuine tokens of a matrix, and of squares."""
    total = squares = 0.0
    for i in range(genuine.shape[1]):
        part = part_squares = 0.0
        for j in range(genuine.shape[1] if genuine[b, i] else 0):
            if genuine[b, j]:
                term = np.float64(matrices[b, h, i, j])
                part += term
                part_squares += term * term
        total += part
        squares += part_squares
    return total, squares


def product(
    rows: NDArray[Any], matrix: Floats, threads: int | None = None, *, picked: Ints | None = None
) -> Floats:
    """Multiply rows by a matrix in double precision: the same bits in any company, anywhere.

    ``threads`` is the most to use; None takes one per processor. ``picked`` says which rows; none
    are copied but for some at a time.
    """
    factor = np.ascontiguousarray(matrix, np.float64)
    out = np.zeros((len(rows if picked is None else picked), factor.shape[1]))

    def fill(low: int, high: int) -> None:
        for start in range(low, high, WIDENED):
            part = slice(start, min(start + WIDENED, high))
            given = rows[part if picked is None else picked[part]]
            double = np.ascontiguousarray(given, np.float64)
            multiply(0, len(double), double, factor, out[part])

    share_out(fill, np.full(len(out), factor.size), threads)
    return out


@exact
def multiply(low: int, high: int, rows: Floats, matrix: Floats, out: Floats) -> None:
    """Add to the rows ``low .. high-1`` of ``out`` those of ``rows`` times the matrix.

    Every sum takes its terms one by one in their order, whichever rows it shares a pass with;
    only neighbouring columns are summed side by side. Four rows of the matrix stay in the
    fastest cache while a block of rows goes by.
    """
    size, width = matrix.shape
    whole = size - size % TERMS
    for first in range(low, high, ROWS):
        for k in range(0, whole, TERMS):
            for i in range(first, min(first + ROWS, high)):
                x, y, z, w = rows[i, k], rows[i, k + 1], rows[i, k + 2], rows[i, k + 3]
                for j in range(width):
                    total = out[i, j] + x * matrix[k, j]
                    total = total + y * matrix[k + 1, j]
                    total = total + z * matrix[k + 2, j]
                    out[i, j] = total + w * matrix[k + 3, j]
        for k in range(whole, size):
            for i in range(first, min(first + ROWS, high)):
                for j in range(width):
                    out[i, j] += rows[i, k] * matrix[k, j]
