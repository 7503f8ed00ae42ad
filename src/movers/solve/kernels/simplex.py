"""Network simplex for the transport problem between unequal weights.

    min <G, F>  over  F >= 0,  F 1 = supply,  Fᵀ 1 = demand

Nodes ``0 .. n-1`` are rows, ``n .. n+m-1`` columns, the root is the last column. A basis is a
spanning tree: ``flow[c]`` is carried between node c and its parent. Masses are whole numbers
held in float64, so flows are exact; together with a strongly feasible tree (an arc without flow
points to the root) and Cunningham's choice of the leaving arc, degenerate pivots cannot cycle.
"""

import numpy as np

from movers.arrays import Floats, Ints
from movers.runtime.compiling import inlined, kernel
from movers.solve.kernels import LANES, instructions
from movers.solve.kernels.workspace import LINKS, Network

PARENT, DEPTH, CHILD, NEXT, BEFORE = range(LINKS)
EPSILON = 2.0**-52
ROUNDING = 16 * EPSILON
"""What the digits of the largest potential leave undecided in a reduced cost."""
MOST = 1000
"""Pivots per node, and one more: far more than any search takes that gets anywhere."""


@kernel
def northwest(supply: Floats, demand: Floats, n: int, m: int, x: Network) -> None:
    """Start from the staircase plan, which is the diagonal when both sides weigh the same."""
    parent, flow, i, j = x.tree[PARENT], x.flow, 0, 0
    row_left, column_left = supply[0], demand[0]
    while i < n - 1 or j < m - 1:
        moved = min(row_left, column_left)
        row_left -= moved
        column_left -= moved
        # a tie moves right: the empty arc that follows then points to the root
        if column_left == 0.0 and j < m - 1:
            parent[n + j], flow[n + j] = i, moved
            j += 1
            column_left = demand[j]
        else:
            parent[i], flow[i] = n + j, moved
            i += 1
            row_left = supply[i]
    parent[n - 1], flow[n - 1] = n + m - 1, min(row_left, column_left)
    parent[n + m - 1] = -1
    _link(n + m, x.tree)


@kernel
def improve(cost: Floats, n: int, m: int, x: Network, slack: float, stop: Ints) -> float:
    """Pivot until no arc is cheaper than its potentials by more than `slack`, or than rounding.

    A pricing pass keeps the best row of every column; these candidates are used up, best
    first, before the next pass. Returns the slack within which the flow is optimal; infinite where
    the search was cut short, by its bound or by `stop`. The flow is feasible all the same.
    """
    _set_potentials(cost, n, m, x.tree, x.potential)
    shifts, pivots, most = 0, 0, MOST * (n + m + 1)
    while pivots < most and stop[0] == 0:
        largest = _largest(x.potential, n + m)
        within = max(slack, ROUNDING * largest)
        best = _price(cost, n, m, x, within)
        if best < 0 and not shifts * EPSILON * largest > within:
            return within
        # potentials are shifted by additions: before the end, and in a long search, set them anew
        if best < 0 or shifts > 20 * (n + m):
            _set_potentials(cost, n, m, x.tree, x.potential)
            shifts = 0
            continue
        while best >= 0 and pivots < most:
            _pivot(cost, n, x.rows[best], best, x.tree, x.flow, x.potential)
            best = _best_candidate(cost, n, m, x, within)
            shifts += 1
            pivots += 1
    return np.inf


@kernel
def _price(cost: Floats, n: int, m: int, x: Network, slack: float) -> int:
    """Find for every column the row with the lowest reduced cost; return the best column, or -1."""
    for j in range(0, m, LANES):
        instructions.cheapest_rows(cost, x.potential, n, j, x.lowest, x.rows)
    best, at = -slack, -1
    for j in range(m):
        reduced = x.lowest[j] - x.potential[n + j]
        if reduced < best:
            best, at = reduced, j
    return at


@kernel
def _best_candidate(cost: Floats, n: int, m: int, x: Network, slack: float) -> int:
    """Column whose candidate row has the lowest reduced cost, or -1."""
    best, at = -slack, -1
    for j in range(m):
        reduced = cost[x.rows[j], j] - x.potential[x.rows[j]] - x.potential[n + j]
        if reduced < best:
            best, at = reduced, j
    return at


@kernel
def improve_exactly(cost: Floats, n: int, m: int, x: Network, stop: Ints) -> bool:
    """Pivot until no arc is cheaper than its potentials at all; False if cut short.

    For costs so far apart that rounding of the large ones hides the small: potentials have
    twice the digits (`tails` holds the second half) and are set anew for every pivot. Candidates
    are used up between two passes over all arcs, as in `improve`.
    """
    pivots, most = 0, MOST * (n + m + 1)
    while pivots < most and stop[0] == 0:
        _set_long_potentials(cost, n, m, x.tree, x.potential, x.tails)
        within = EPSILON * EPSILON * (n + m) * _largest(x.potential, n + m)
        best = _price_long(cost, n, m, x, within)
        if best < 0:
            return True
        while best >= 0 and pivots < most:
            _pivot(cost, n, x.rows[best], best, x.tree, x.flow, x.potential)
            _set_long_potentials(cost, n, m, x.tree, x.potential, x.tails)
            best = _best_long_candidate(cost, n, m, x, within)
            pivots += 1
    return False


@kernel
def _price_long(cost: Floats, n: int, m: int, x: Network, slack: float) -> int:
    """Like `_price`, to twice the digits."""
    for j in range(m):
        x.lowest[j], x.rows[j] = np.inf, 0
    for i in range(n):
        for j in range(m):
            reduced = _long_reduced(cost, n, i, j, x)
            if reduced < x.lowest[j]:
                x.lowest[j], x.rows[j] = reduced, i
    best, at = -slack, -1
    for j in range(m):
        if x.lowest[j] < best:
            best, at = x.lowest[j], j
    return at


@kernel
def _best_long_candidate(cost: Floats, n: int, m: int, x: Network, slack: float) -> int:
    """Like `_best_candidate`, to twice the digits."""
    best, at = -slack, -1
    for j in range(m):
        reduced = _long_reduced(cost, n, x.rows[j], j, x)
        if reduced < best:
            best, at = reduced, j
    return at


@inlined
def _long_reduced(cost: Floats, n: int, i: int, j: int, x: Network) -> float:
    one, lost = _difference(cost[i, j], x.potential[i])
    two, more = _difference(one, x.potential[n + j])
    reduced: float = two + (lost + more - x.tails[i] - x.tails[n + j])
    return reduced


@inlined
def _largest(potential: Floats, nodes: int) -> float:
    largest = 0.0
    for c in range(nodes):
        largest = max(largest, abs(potential[c]))
    return largest


@inlined
def _difference(x: float, y: float) -> tuple[float, float]:
    """``x - y`` rounded, and what rounding took off it (Knuth)."""
    found = x - y
    taken = x - found
    return found, (x - (found + taken)) + (taken - y)


@kernel
def _set_long_potentials(
    cost: Floats, n: int, m: int, tree: Ints, potential: Floats, tails: Floats
) -> None:
    """Make the reduced cost of every tree arc zero, to twice the digits."""
    root = n + m - 1
    potential[root] = tails[root] = 0.0
    c = _after(tree, root, root)
    while c >= 0:
        p = tree[PARENT, c]
        arc = cost[c, p - n] if c < n else cost[p, c - n]
        rough, lost = _difference(arc, potential[p])
        lost -= tails[p]
        potential[c] = rough + lost
        tails[c] = lost - (potential[c] - rough)
        c = _after(tree, c, root)


@kernel
def _link(nodes: int, tree: Ints) -> None:
    """Derive child lists and depths from the parents."""
    for c in range(nodes):
        tree[CHILD, c] = tree[NEXT, c] = tree[BEFORE, c] = tree[DEPTH, c] = -1
    for c in range(nodes):
        if tree[PARENT, c] >= 0:
            _attach(tree, c, tree[PARENT, c])
    tree[DEPTH, nodes - 1] = 0
    c = nodes - 1
    while c >= 0:
        if tree[PARENT, c] >= 0:
            tree[DEPTH, c] = tree[DEPTH, tree[PARENT, c]] + 1
        c = _after(tree, c, nodes - 1)


@inlined
def _attach(tree: Ints, node: int, parent: int) -> None:
    first = tree[CHILD, parent]
    tree[PARENT, node] = parent
    tree[BEFORE, node] = -1
    tree[NEXT, node] = first
    if first >= 0:
        tree[BEFORE, first] = node
    tree[CHILD, parent] = node


@inlined
def _after(tree: Ints, node: int, top: int) -> int:
    """Next node of the subtree of `top`, parents before children; -1 at the end."""
    following: int = tree[CHILD, node]
    if following >= 0:
        return following
    while node != top:
        following = tree[NEXT, node]
        if following >= 0:
            return following
        node = tree[PARENT, node]
    return -1


@kernel
def _set_potentials(cost: Floats, n: int, m: int, tree: Ints, potential: Floats) -> None:
    """Make the reduced cost of every tree arc zero."""
    root = n + m - 1
    potential[root] = 0.0
    c = _after(tree, root, root)
    while c >= 0:
        p = tree[PARENT, c]
        arc = cost[c, p - n] if c < n else cost[p, c - n]
        potential[c] = arc - potential[p]
        c = _after(tree, c, root)


@kernel
def _pivot(
    cost: Floats, n: int, row: int, column: int, tree: Ints, flow: Floats, potential: Floats
) -> None:
    """Bring in the arc row -> column and drop the arc that blocks it."""
    i, j = row, n + column
    leaving, on_row_side, moved = _blocking(n, i, j, tree, flow)
    if moved > 0.0:
        _push(n, i, j, moved, tree, flow)
    reduced = cost[row, column] - potential[i] - potential[j]
    if on_row_side:
        _rehang(i, j, leaving, moved, tree, flow)
        _shift(n, i, reduced, tree, potential)
    else:
        _rehang(j, i, leaving, moved, tree, flow)
        _shift(n, j, -reduced, tree, potential)


@inlined
def _blocking(n: int, i: int, j: int, tree: Ints, flow: Floats) -> tuple[int, bool, float]:
    """Last arc to run empty on the way apex -> i -> j -> apex (Cunningham's rule)."""
    least_i, least_j = np.inf, np.inf
    leave_i, leave_j = -1, -1
    while i != j:
        if tree[DEPTH, i] >= tree[DEPTH, j]:
            if i < n and flow[i] < least_i:
                least_i, leave_i = flow[i], i
            i = tree[PARENT, i]
        else:
            if j >= n and flow[j] <= least_j:
                least_j, leave_j = flow[j], j
            j = tree[PARENT, j]
    if least_j <= least_i:
        return leave_j, False, least_j
    return leave_i, True, least_i


@inlined
def _push(n: int, i: int, j: int, moved: float, tree: Ints, flow: Floats) -> None:
    """Send `moved` around the cycle that the arc i -> j closes."""
    while i != j:
        if tree[DEPTH, i] >= tree[DEPTH, j]:
            flow[i] += -moved if i < n else moved
            i = tree[PARENT, i]
        else:
            flow[j] += moved if j < n else -moved
            j = tree[PARENT, j]


@inlined
def _rehang(inner: int, outer: int, leaving: int, moved: float, tree: Ints, flow: Floats) -> None:
    """Cut the subtree of `leaving` and hang it up again by its node `inner` below `outer`."""
    node, parent, carried = inner, outer, moved
    while True:
        above, was = tree[PARENT, node], flow[node]
        before, after = tree[BEFORE, node], tree[NEXT, node]
        if before >= 0:
            tree[NEXT, before] = after
        else:
            tree[CHILD, above] = after
        if after >= 0:
            tree[BEFORE, after] = before
        _attach(tree, node, parent)
        flow[node] = carried
        if node == leaving:
            return
        node, parent, carried = above, node, was


@inlined
def _shift(n: int, top: int, change: float, tree: Ints, potential: Floats) -> None:
    """Add `change` to the rows below `top` (taken from the columns), and renew depths."""
    c = top
    while c >= 0:
        potential[c] += change if c < n else -change
        tree[DEPTH, c] = tree[DEPTH, tree[PARENT, c]] + 1
        c = _after(tree, c, top)


@kernel
def real_flows(n: int, m: int, u: Floats, v: Floats, x: Network) -> None:
    """Empty the tree leaf by leaf into the heaviest token, which takes what rounding leaves.

    For tokens that weigh next to nothing: whole masses, multiples of 2**-52 of all mass, leave few
    digits to a share of 1e-12. The tree does not depend on them, and from the real shares no light
    token's flow is a difference of heavy ones. A flow that whole masses allowed and the real ones
    do not, by their rounding, is 0.
    """
    tree, flow, left, links, heaviest = x.tree, x.real, x.tails, x.links, 0
    for c in range(n + m):
        left[c] = u[c] if c < n else v[c - n]
        links[0, c] = 0
        flow[c] = -1.0
        if left[c] > left[heaviest]:
            heaviest = c
    for c in range(n + m):
        if tree[PARENT, c] >= 0:
            links[0, c] += 1
            links[0, tree[PARENT, c]] += 1
    last = 0
    for c in range(n + m):
        if links[0, c] == 1 and c != heaviest:
            links[1, last] = c
            last += 1
    first = 0
    while first < last:
        leaf = links[1, first]
        first += 1
        arc, other = leaf, tree[PARENT, leaf]
        if other < 0 or flow[leaf] >= 0.0:
            arc = tree[CHILD, leaf]
            while flow[arc] >= 0.0:
                arc = tree[NEXT, arc]
            other = arc
        flow[arc] = max(0.0, left[leaf])
        left[other] -= left[leaf]
        links[0, other] -= 1
        if links[0, other] == 1 and other != heaviest:
            links[1, last] = other
            last += 1
