"""Real masses on a tree that was found with whole ones, where some tokens weigh next to nothing.

Whole masses are multiples of 2**-52 of all mass, which leaves few digits to a share of 1e-12. The
tree does not depend on them; the flows along it are worked out again from the real shares.
"""

from movers.arrays import Floats, Ints
from movers.runtime.compiling import kernel
from movers.solve.kernels.simplex import CHILD, NEXT, PARENT


@kernel
def real_flows(
    n: int, m: int, tree: Ints, u: Floats, v: Floats, left: Floats, links: Ints, flow: Floats
) -> None:
    """Empty the tree leaf by leaf into the heaviest token, which takes what rounding leaves.

    So no light token's flow is a difference of heavy ones. A flow that whole masses allowed and
    the real ones do not, by their rounding, is 0.
    """
    nodes = n + m
    heaviest = 0
    for c in range(nodes):
        left[c] = u[c] if c < n else v[c - n]
        links[0, c] = 0
        flow[c] = -1.0
        if left[c] > left[heaviest]:
            heaviest = c
    for c in range(nodes):
        if tree[PARENT, c] >= 0:
            links[0, c] += 1
            links[0, tree[PARENT, c]] += 1
    last = 0
    for c in range(nodes):
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
