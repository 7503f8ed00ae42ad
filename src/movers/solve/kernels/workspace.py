"""Memory of one thread: every array a problem needs, allocated once per chunk of pairs."""

from typing import NamedTuple

import numpy as np

from movers.arrays import Floats, Ints
from movers.solve.kernels import LANES, ROWS
from movers.solve.kernels.active_set import Programme, make_programme
from movers.solve.kernels.assignment import Matching, make_matching
from movers.solve.kernels.simplex import LINKS, Network, make_network

CALLS = 100
SLOTS = CALLS + 1


class Cells(NamedTuple):
    """Sparse plans, one after another: which cells, and what is moved there."""

    rows: Ints
    columns: Ints
    mass: Floats


def make_cells(most: int) -> Cells:
    """Make room for so many cells."""
    return Cells(np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most))


class Optimum(NamedTuple):
    """What brings a linear problem back to where it ended: a tree, or a matching."""

    tree: Ints
    flow: Floats
    match: Ints
    duals: Floats


class Workspace(NamedTuple):
    """Arrays for problems up to a given size; a slot per linear problem, slot 0 is the start.

    ``stop`` is one number that all threads of a batch look at: not 0 once they shall end.

    A *vertex* is what a linear problem returns: a sparse plan. Slot s keeps its cells from
    ``s * (n + m)`` on.
    """

    # the pair: kept tokens, weights (real and whole), cost, and its own optimal plan
    keep_rows: Ints
    keep_columns: Ints
    u: Floats
    v: Floats
    supply: Floats
    demand: Floats
    cost: Floats
    linear: Floats
    kept: Optimum
    # the head: structures, and products with them
    a: Floats
    b: Floats
    b_transposed: Floats
    left: Floats
    right: Floats
    counting: Ints
    scratch: Floats
    # the linear problem
    gradient: Floats
    network: Network
    matching: Matching
    # vertices with their numbers of cells, and the active ones among them
    cells: Cells
    counts: Ints
    gradients: Floats
    dense: Floats
    linear_of: Floats
    weight: Floats
    active: Ints
    # the quadratic programme over active vertices, by position in `active`
    programme: Programme
    stop: Ints


def allocate(shapes: Ints, slots: int, stop: Ints) -> Workspace:
    """Allocate for problems of the given shapes with at most `slots` vertices."""
    n, m = shapes.max(axis=0, initial=1).tolist()
    nodes = n + m
    rows = (n + ROWS - 1) // ROWS * ROWS
    width = (m + LANES - 1) // LANES * LANES
    side = max(rows, n + LANES, width)
    tree, match = np.empty((LINKS, nodes), np.int64), np.empty(side, np.int64)
    return Workspace(
        keep_rows=np.empty(n, np.int64),
        keep_columns=np.empty(m, np.int64),
        u=np.empty(n),
        v=np.empty(m),
        supply=np.empty(n),
        demand=np.empty(m),
        cost=np.empty((rows, width)),
        linear=np.empty((rows, width)),
        kept=Optimum(tree, np.empty(nodes), match, np.empty(side)),
        a=np.empty((rows, rows)),
        b=np.empty((m, width)),
        b_transposed=np.empty((m, width)),
        left=np.empty((rows, width)),
        right=np.empty((rows, width)),
        counting=np.arange(n),
        scratch=np.empty(2 * width),
        gradient=np.empty((rows, width)),
        network=make_network(nodes, width),
        matching=make_matching(side),
        cells=make_cells(slots * nodes),
        counts=np.zeros(slots, np.int64),
        gradients=np.empty((slots, rows, width)),
        dense=np.zeros((rows, width)),
        linear_of=np.empty(slots),
        weight=np.empty(slots),
        active=np.empty(slots, np.int64),
        programme=make_programme(slots),
        stop=stop,
    )
