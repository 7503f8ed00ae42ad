"""Memory of one thread: every array a problem needs, allocated once per chunk of pairs."""

from typing import NamedTuple

import numpy as np

from movers.arrays import Floats, Ints
from movers.solve.kernels import LANES, ROWS
from movers.solve.kernels.simplex import LINKS

CALLS = 100
SLOTS = CALLS + 1


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
    cost_tree: Ints
    cost_flow: Floats
    cost_match: Ints
    cost_duals: Floats
    # the head: structures, and products with them
    a: Floats
    b: Floats
    b_transposed: Floats
    left: Floats
    right: Floats
    counting: Ints
    # the linear problem
    gradient: Floats
    tree: Ints
    flow: Floats
    real_flow: Floats
    links: Ints
    potential: Floats
    candidates: Ints
    match: Ints
    owner: Ints
    duals: Floats
    prices: Floats
    distance: Floats
    previous: Ints
    state: Ints
    # vertices, and the active ones among them
    rows: Ints
    columns: Ints
    mass: Floats
    cells: Ints
    gradients: Floats
    dense: Floats
    linear_of: Floats
    weight: Floats
    active: Ints
    # the quadratic programme over active vertices, by position in `active`
    gram: Floats
    slope: Floats
    share: Floats
    members: Ints
    factor: Floats
    step: Floats
    stop: Ints


def allocate(shapes: Ints, slots: int, stop: Ints) -> Workspace:
    """Allocate for problems of the given shapes with at most `slots` vertices."""
    n, m = shapes.max(axis=0, initial=1).tolist()
    nodes = n + m
    rows = (n + ROWS - 1) // ROWS * ROWS
    width = (m + LANES - 1) // LANES * LANES
    side = max(rows, n + LANES, width)
    return Workspace(
        keep_rows=np.empty(n, np.int64),
        keep_columns=np.empty(m, np.int64),
        u=np.empty(n),
        v=np.empty(m),
        supply=np.empty(n),
        demand=np.empty(m),
        cost=np.empty((rows, width)),
        linear=np.empty((rows, width)),
        cost_tree=np.empty((LINKS, nodes), np.int64),
        cost_flow=np.empty(nodes),
        cost_match=np.empty(side, np.int64),
        cost_duals=np.empty(side),
        a=np.empty((rows, rows)),
        b=np.empty((m, width)),
        b_transposed=np.empty((m, width)),
        left=np.empty((rows, width)),
        right=np.empty((rows, width)),
        counting=np.arange(n),
        gradient=np.empty((rows, width)),
        tree=np.empty((LINKS, nodes), np.int64),
        flow=np.empty(nodes),
        real_flow=np.empty(nodes),
        links=np.empty((2, nodes), np.int64),
        potential=np.empty(nodes),
        candidates=np.empty(side, np.int64),
        match=np.empty(side, np.int64),
        owner=np.empty(side, np.int64),
        duals=np.empty(side),
        prices=np.empty(side),
        distance=np.empty(2 * side),
        previous=np.empty(side, np.int64),
        state=np.empty(side, np.int64),
        rows=np.empty(slots * nodes, np.int64),
        columns=np.empty(slots * nodes, np.int64),
        mass=np.empty(slots * nodes),
        cells=np.zeros(slots, np.int64),
        gradients=np.empty((slots, rows, width)),
        dense=np.zeros((rows, width)),
        linear_of=np.empty(slots),
        weight=np.empty(slots),
        active=np.empty(slots, np.int64),
        gram=np.empty((slots, slots)),
        slope=np.empty(slots),
        share=np.empty(slots),
        members=np.empty(slots, np.int64),
        factor=np.empty((slots, slots)),
        step=np.empty(slots),
        stop=stop,
    )
