"""Compiled loop of `movers_research.baselines.syntax`, and what it takes."""

from __future__ import annotations

from typing import NamedTuple

from movers.arrays import Floats, Ints
from movers.measures.parts.kernels import CostCells
from movers.runtime.compiling import summing


class Between(NamedTuple):
    """Distances of all sub-trees of every pair with their row lengths, and `SubTrees` by word."""

    distances: Floats
    starts: Ints
    widths: Ints
    members: Ints
    member_starts: Ints
    pieces: Ints


@summing
def fill_subtrees(low: int, high: int, between: Between, cells: CostCells, apart: Floats) -> None:
    """Add to the pairs ``low .. high-1`` the mean distance between the sub-trees of two words."""
    a, b, shapes, starts, out = cells
    distances, distance_start, widths, members, member_start, pieces = between
    for p in range(low, high):
        cell = starts[p]
        for i in range(a[p], a[p] + shapes[p, 0]):
            for j in range(b[p], b[p] + shapes[p, 1]):
                total = 0.0
                for s in range(member_start[i], member_start[i + 1]):
                    row = distance_start[p] + members[s] * widths[p]
                    for t in range(member_start[j], member_start[j + 1]):
                        total += distances[row + members[t]]
                count = (member_start[i + 1] - member_start[i]) * (
                    member_start[j + 1] - member_start[j]
                )
                if count > 0:
                    out[cell] += total / count
                    apart[p] += (pieces[i] * pieces[j] - 1) * total / count
                cell += 1
