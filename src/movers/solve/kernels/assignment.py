"""Assignment: the transport problem when both sides have equally many, equally heavy tokens.

    min over permutations s of  sum_i G[i, s(i)] / n

`duals` are column potentials. A permutation is optimal when potentials exist such that no row
would rather have another column: ``G[i, j] - duals[j] >= G[i, s(i)] - duals[s(i)]``.
"""

import numpy as np

from movers.arrays import Floats, Ints
from movers.runtime.compiling import kernel
from movers.solve.kernels import LANES, instructions
from movers.solve.kernels.workspace import Matching

SWEEPS = 6


@kernel
def still_optimal(cost: Floats, n: int, x: Matching, slack: float) -> bool:
    """Try to prove by a few Bellman-Ford sweeps that the matching is optimal within `slack`.

    The potentials are lowered in place. A False only means "not proved": after a bounded
    number of sweeps, solving is cheaper than going on.
    """
    for _ in range(SWEEPS):
        for i in range(n):
            x.prices[i] = cost[i, x.match[i]] - x.duals[x.match[i]]
        for j in range(0, n, LANES):
            instructions.cheapest_rows(cost, x.prices, n, j, x.distance, x.previous)
        moved = 0.0
        for j in range(n):
            moved = max(moved, x.duals[j] - x.distance[j])
            x.duals[j] = min(x.duals[j], x.distance[j])
        if moved <= slack:
            return True
    return False


@kernel
def assign(cost: Floats, n: int, x: Matching, stop: Ints) -> bool:
    """Solve by shortest augmenting paths, from whatever potentials `duals` holds.

    Returns False if the search was cut short by `stop` or by costs that are not numbers: rows then
    have any column.
    """
    match, owner = x.match, x.owner
    for j in range(n):
        owner[j] = -1
    for i in range(n):
        best, at = np.inf, 0
        for j in range(n):
            price = cost[i, j] - x.duals[j]
            if price < best:
                best, at = price, j
        x.prices[i] = best
        match[i] = -1
        if owner[at] < 0:
            owner[at], match[i] = i, at
    done = True
    for i in range(n):
        if match[i] < 0:
            done = done and stop[0] == 0
            done = done and _augment(cost, n, i, x)
            for j in range(n):
                if match[i] < 0 and owner[j] < 0:
                    owner[j], match[i] = i, j
    return done


@kernel
def _augment(cost: Floats, n: int, free: int, x: Matching) -> bool:
    """Give the row `free` a column along a shortest alternating path (Dijkstra), if any."""
    match, owner, duals, prices, distance, previous, state = x
    for j in range(n):
        distance[j] = np.inf
        state[j] = 0
    row, at, reached = free, -1, 0.0
    for _ in range(n):
        offset = reached - prices[row]
        nearest, at = np.inf, -1
        for j in range(n):
            if state[j] == 0:
                far = cost[row, j] - duals[j] + offset
                if far < distance[j]:
                    distance[j] = far
                    previous[j] = row
                if distance[j] < nearest:
                    nearest, at = distance[j], j
        reached = nearest
        if at < 0 or owner[at] < 0:
            break
        state[at] = 1
        row = owner[at]
    if at < 0:
        return False
    prices[free] += reached
    for j in range(n):
        if state[j] == 1:
            prices[owner[j]] += reached - distance[j]
            duals[j] -= reached - distance[j]
    for _ in range(n):
        row = previous[at]
        owner[at] = row
        other = match[row]
        match[row] = at
        if row == free:
            break
        at = other
    return True
