"""Which sentence of a text goes with which of another: partial transport, priced lazily.

    min over matchings M of   sum over (i, j) in M of (u_i + v_j) / 2 * c_ij
                            + far / 2 * (words of the sentences that stay at home)

``u`` and ``v`` are words, ``c`` distances of sentences, and ``far`` what unrelated ones are apart:
no sentence goes farther than that. Sentences that stand in both texts word by word go together.
Of the others the solver sees lower bounds; what it uses is priced, and it solves again until it
uses nothing but prices, so that the result is that of the whole matrix.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from movers.arrays import Bools, Floats, Ints
from movers.solve.batch import Problems, emd_batch

CELLS = 1 << 22
"""Pairs of sentences that are looked at together; larger problems are cut along the texts."""
ELSEWHERE = 1e-3
"""What it costs to go from one end to the other, in units of far: settles ties."""
Price = Callable[[Ints], Floats]
"""From pairs of sentences by number, ``(pairs, 2)``, to their distances."""


def equal_pairs(source: Sequence[str], target: Sequence[str]) -> list[tuple[int, int]]:
    """Pair sentences that both texts have, those that occur once first, then their neighbours."""
    once = [{text for text, count in Counter(side).items() if count == 1} for side in
            (source, target)]  # fmt: skip
    places = {text: place for place, text in enumerate(target) if text in once[1]}
    both = once[0] & places.keys()
    pairs = {i: places[text] for i, text in enumerate(source) if text in both}
    taken = set(pairs.values())

    def join(i: int, j: int) -> None:
        if i not in pairs and 0 <= j < len(target) and j not in taken and source[i] == target[j]:
            pairs[i] = j
            taken.add(j)

    for step, order in ((1, range(1, len(source))), (-1, range(len(source) - 2, -1, -1))):
        for i in order:
            if i - step in pairs:
                join(i, pairs[i - step] + step)
    left: dict[str, list[int]] = defaultdict(list)
    for j in range(len(target) - 1, -1, -1):
        if j not in taken:
            left[target[j]].append(j)
    for i in range(len(source)):
        if i not in pairs and left.get(source[i]):
            join(i, left[source[i]].pop())
    return sorted(pairs.items())


def match(
    vectors: tuple[Floats, Floats],
    words: tuple[Floats, Floats],
    price: Price,
    far: float,
) -> tuple[Ints, Floats]:
    """Match the sentences of two texts; returns the pairs, ``(pairs, 2)``, and their distances.

    Problems of more than `CELLS` are cut into windows along the texts; what finds nothing in its
    window is looked for once more beyond it.

    Parameters
    ----------
    vectors, words
        Unit vectors ``(sentences, dimension)`` of either text, and the words of each sentence.
    price, far
        Gives the distance of pairs, never below one minus the cosine of their vectors; the
        distance of unrelated sentences.
    """
    first, second = (np.arange(len(side)) for side in vectors)
    matches: list[tuple[int, int, float]] = []
    for _ in range(1 if len(first) * len(second) <= CELLS else 2):
        for rows, columns in _windows(first, second):
            matches += _solve(rows, columns, vectors, words, price, far)
        first = np.setdiff1d(first, [one[0] for one in matches])
        second = np.setdiff1d(second, [one[1] for one in matches])
    matches.sort()
    pairs = np.array([one[:2] for one in matches], np.int64).reshape(-1, 2)
    return pairs, np.array([one[2] for one in matches])


def _windows(rows: Ints, columns: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Cut two texts into as many stretches each that one beside the other has `CELLS`."""
    parts = int(np.ceil(np.sqrt(len(rows) * len(columns) / CELLS))) or 1
    for pair in zip(np.array_split(rows, parts), np.array_split(columns, parts), strict=True):
        if len(pair[0]) and len(pair[1]):
            yield pair


def _solve(
    rows: Ints,
    columns: Ints,
    vectors: tuple[Floats, Floats],
    words: tuple[Floats, Floats],
    price: Price,
    far: float,
) -> list[tuple[int, int, float]]:
    """Match some sentences with some, pricing what the matching uses until nothing is unpriced."""
    cost = np.maximum(0.0, 1.0 - vectors[0][rows] @ vectors[1][columns].T).astype(np.float64)
    priced: Bools = cost >= far
    apart = np.abs(np.linspace(0, 1, len(rows))[:, None] - np.linspace(0, 1, len(columns)))
    weight = (words[0][rows][:, None] + words[1][columns]) / 2
    while True:
        used = _move(weight * (cost + ELSEWHERE * far * apart - far)) & (cost < far)
        new = np.argwhere(used & ~priced)
        if not len(new):
            pairs = np.argwhere(used)
            return [(int(rows[i]), int(columns[j]), float(cost[i, j])) for i, j in pairs]
        cost[tuple(new.T)] = price(np.stack([rows[new[:, 0]], columns[new[:, 1]]], axis=1))
        priced[tuple(new.T)] = True


def _move(gain: Floats) -> Bools:
    """Return which pairs a matching of least cost uses; only negative costs are worth a move."""
    home = max(-float(gain.min()), 1e-9)
    zeros = np.zeros(1, np.int64)
    u, v = (np.ones(length) for length in gain.shape)
    cost = np.ascontiguousarray(np.minimum(gain, home) + home).ravel()
    problem = Problems(np.array([gain.shape]), cost, u, v, zeros, zeros)
    plan = emd_batch(problem, null=home, plans=True).plan.reshape(gain.shape)
    return np.asarray((plan > 0.5) & (gain < 0))


def kept_order(places: Sequence[int]) -> set[int]:
    """Return the numbers of a longest run of places that ascend; the others moved.

    Examples
    --------
    >>> sorted(kept_order([0, 3, 1, 2]))
    [0, 2, 3]
    """
    tails: list[int] = []
    ends: list[int] = []
    before = [-1] * len(places)
    for number, place in enumerate(places):
        low = bisect_left(ends, place)
        before[number] = tails[low - 1] if low else -1
        tails[low : low + 1], ends[low : low + 1] = [number], [place]
    kept, last = set(), tails[-1] if tails else -1
    while last >= 0:
        kept.add(last)
        last = before[last]
    return kept
