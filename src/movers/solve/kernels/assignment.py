"""Assignment: the transport problem when both sides have equally many, equally heavy tokens.

    min over permutations s of  sum_i G[i, s(i)] / n

`duals` are column potentials. A permutation is optimal when potentials exist such that no row
would rather have another column: ``G[i, j] - duals[j] >= G[i, s(i)] - duals[s(i)]``.
"""

import numpy as np

from movers.arrays import Floats, Ints
from movers.runtime.compiling import kernel
from movers.solve.kernels import LANES
from movers.solve.kernels.instructions import cheapest_rows

SWEEPS = 6


@kernel
def still_optimal(
    cost: Floats,
    n: int,
    match: Ints,
    duals: Floats,
    prices: Floats,
    lowest: Floats,
    rows: Ints,
    slack: float,
) -> bool:
    """Try to prove by a few Bellman-Ford sweeps that `match` is optimal within `slack`.

    The potentials are lowered in place. A False only means "not proved": after a bounded
    number of sweeps, solving is cheaper than going on.
    """
    for _ in range(SWEEPS):
        for i in range(n):
            prices[i] = cost[i, match[i]] - duals[match[i]]
        for j in range(0, n, LANES):
            cheapest_rows(cost, prices, n, j, lowest, rows)
        moved = 0.0
        for j in range(n):
            moved = max(moved, duals[j] - lowest[j])
            duals[j] = min(duals[j], lowest[j])
        if moved <= slack:
            return True
    return False


@kernel
def assign(
    cost: Floats,
    n: int,
    match: Ints,
    owner: Ints,
    duals: Floats,
    prices: Floats,
    distance: Floats,
    previous: Ints,
    state: Ints,
    stop: Ints,
) -> bool:
    """Solve by shortest augmenting paths, from whatever potentials `duals` holds.

    `match` receives the column of each row, `owner` the row of each column. Returns False if the
    search was cut short by `stop` or by costs that are not numbers: rows then have any column.
    """
    for j in range(n):
        owner[j] = -1
    for i in range(n):
        best = np.inf
        at = 0
        for j in range(n):
            x = cost[i, j] - duals[j]
            if x < best:
                best = x
                at = j
        prices[i] = best
        match[i] = -1
        if owner[at] < 0:
            owner[at] = i
            match[i] = at
    done = True
    for i in range(n):
        if match[i] < 0:
            done = done and stop[0] == 0
            done = done and _augment(
                cost, n, i, match, owner, duals, prices, distance, previous, state
            )
            if not done:
                _take_any(n, i, match, owner)
    return done


@kernel
def _take_any(n: int, free: int, match: Ints, owner: Ints) -> None:
    """Give the row `free` the first column that no row has."""
    for j in range(n):
        if owner[j] < 0:
            owner[j] = free
            match[free] = j
            return


@kernel
def _augment(
    cost: Floats,
    n: int,
    free: int,
    match: Ints,
    owner: Ints,
    duals: Floats,
    prices: Floats,
    distance: Floats,
    previous: Ints,
    state: Ints,
) -> bool:
    """Give the row `free` a column along a shortest alternating path (Dijkstra), if any."""
    for j in range(n):
        distance[j] = np.inf
        state[j] = 0
    row = free
    reached = 0.0
    at = -1
    for _ in range(n):
        offset = reached - prices[row]
        nearest = np.inf
        at = -1
        for j in range(n):
            if state[j] == 0:
                x = cost[row, j] - duals[j] + offset
                if x < distance[j]:
                    distance[j] = x
                    previous[j] = row
                if distance[j] < nearest:
                    nearest = distance[j]
                    at = j
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
