"""Compiled loops of `movers.encode.subword_pooling`: attention of words on a CPU.

They add up what `movers.encode.subword_pooling.WordPieces` does, in the same order, and round it
the same way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from movers.arrays import Bools, Floats, Ints, Singles
from movers.runtime.compiling import exact, inlined


class WordRanges(NamedTuple):
    """The words of sentences: where each sentence has its first, their tokens, pieces to look at.

    ``ranges`` holds the first token of every word and the one behind its last.
    """

    starts: Ints
    ranges: Ints
    most: int


class PooledAttention(NamedTuple):
    """What becomes of attention: matrices of words from their ``starts`` on, sums and squares."""

    starts: Ints
    structure: Singles
    sums: Floats
    squares: Floats


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
    for b in range(len(sentences)):
        sentence = sentences[b]
        low, count = starts[sentence], starts[sentence + 1] - starts[sentence]
        for h in range(len(slots)):
            first = kept.starts[sentence] + slots[h] * count * count
            for i in range(count):
                _from_word(matrices, b, h, ranges[low + i, 0], ranges[low + i, 1], most, row)
                for j in range(count):
                    kept.structure[first + i * count + j] = _to_word(
                        row, ranges[low + j, 0], ranges[low + j, 1], most
                    )
            if paper:
                sums = _word_sums(kept.structure, first, count)
            else:
                sums = _token_sums(matrices, b, h, genuine)
            kept.sums[sentence, slots[h]], kept.squares[sentence, slots[h]] = sums


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
def _normalise(values: Singles, first: int, count: int) -> None:
    """Scale values to sum 1, or make them equal where there is nothing."""
    total = np.float32(0.0)
    for j in range(first, first + count):
        total += values[j]
    for j in range(first, first + count):
        values[j] = values[j] / total if total > 0 else np.float32(1.0 / count)


@inlined
def _word_sums(values: Singles, first: int, count: int) -> tuple[float, float]:
    """Have every row of a matrix of words sum to 1; the sum over all of it, and of squares."""
    total = squares = 0.0
    for i in range(count):
        low = first + i * count
        _normalise(values, low, count)
        part = part_squares = 0.0
        for j in range(low, low + count):
            term = np.float64(values[j])
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
