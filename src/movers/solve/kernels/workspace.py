"""What kernels take: arrays of a batch by name, where results go, and the memory of one thread.

Every array that a problem needs is allocated once per chunk of pairs.
"""

from typing import NamedTuple

import numpy as np
from numpy import int32
from numpy.typing import NDArray

from movers.arrays import Bools, Floats, Ints, Singles
from movers.runtime.compiling import kernel
from movers.solve.kernels import LANES, ROWS

CALLS = 100
SLOTS = CALLS + 1
LINKS = 5
"""Numbers that tie a node of a tree to others."""
LARGEST = 1e75
"""Entries up to it can be squared and multiplied without overflow."""
HEAVIEST = 1e36
"""Masses up to it can be squared and multiplied by what entries come to, without overflow."""


class Batch(NamedTuple):
    """Shapes, costs and weights of problems, as in `movers.solve.batch.Problems`."""

    shapes: Ints
    cost: Floats
    cost_start: Ints
    u: Floats
    u_start: Ints
    v: Floats
    v_start: Ints


class Structures(NamedTuple):
    """Their structures, in `double` or, if that is empty, in `single`, and their scales."""

    single: Singles
    double: Floats
    a_start: Ints
    b_start: Ints
    scale: Floats


class Outputs(NamedTuple):
    """Results, ``(pairs, heads)``; plans, or an empty array where they are not wanted.

    Whole plans leave nothing at `home`. Where a problem has weights, costs or structures that it
    cannot have, `linear` is NaN.
    """

    linear: Floats
    structural: Floats
    plans: Floats
    iterations: NDArray[int32]
    gap: Floats
    converged: Bools
    home: Floats


@kernel
def refuse(out: Outputs, p: int) -> None:
    """Say that pair p is no problem that can be solved."""
    for h in range(out.linear.shape[1]):
        out.linear[p, h] = np.nan
        out.converged[p, h] = False


class Cells(NamedTuple):
    """Sparse plans, one after another: which cells, and what is moved there."""

    rows: Ints
    columns: Ints
    mass: Floats


def make_cells(most: int) -> Cells:
    """Make room for so many cells."""
    return Cells(np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most))


class Network(NamedTuple):
    """A tree, its flows (whole and real), potentials with their tails, and room for a search."""

    tree: Ints
    flow: Floats
    real: Floats
    potential: Floats
    tails: Floats
    lowest: Floats
    rows: Ints
    links: Ints


class Matching(NamedTuple):
    """The column of each row and the row of each column, potentials, and room for a search."""

    match: Ints
    owner: Ints
    duals: Floats
    prices: Floats
    distance: Floats
    previous: Ints
    state: Ints


class Programme(NamedTuple):
    """A programme and a point; for every round the entries in use, a factor and the step."""

    gram: Floats
    slope: Floats
    x: Floats
    members: Ints
    factor: Floats
    step: Floats


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
        network=Network(
            tree=np.empty((LINKS, nodes), np.int64),
            flow=np.empty(nodes),
            real=np.empty(nodes),
            potential=np.empty(nodes),
            tails=np.empty(nodes),
            lowest=np.empty(width),
            rows=np.empty(width, np.int64),
            links=np.empty((2, nodes), np.int64),
        ),
        matching=Matching(
            match=np.empty(side, np.int64),
            owner=np.empty(side, np.int64),
            duals=np.empty(side),
            prices=np.empty(side),
            distance=np.empty(side),
            previous=np.empty(side, np.int64),
            state=np.empty(side, np.int64),
        ),
        cells=make_cells(slots * nodes),
        counts=np.zeros(slots, np.int64),
        gradients=np.empty((slots, rows, width)),
        dense=np.zeros((rows, width)),
        linear_of=np.empty(slots),
        weight=np.empty(slots),
        active=np.empty(slots, np.int64),
        programme=Programme(
            gram=np.empty((slots, slots)),
            slope=np.empty(slots),
            x=np.empty(slots),
            members=np.empty(slots, np.int64),
            factor=np.empty((slots, slots)),
            step=np.empty(slots),
        ),
        stop=stop,
    )


class Margins(NamedTuple):
    """Squared structures of a head, and the marginals of one plan with their share of a gradient.

    The last row and the last column of a plan are the homes; they belong to neither marginal.
    """

    squares_a: Floats
    squares_b: Floats
    p: Floats
    q: Floats
    row: Floats
    column: Floats


class PartialWorkspace(NamedTuple):
    """Memory beside the workspace: dense plans with homes, and the cells of one."""

    margins: Margins
    start: Floats
    plan: Floats
    best: Floats
    cells: Cells


def allocate_partial(shapes: Ints) -> PartialWorkspace:
    """Allocate for problems of the given shapes, where mass may stay at home."""
    n, m = shapes.max(axis=0, initial=1).tolist()
    margins = Margins(*(np.empty(shape) for shape in ((n, n), (m, m), n, m, n, m)))
    start, plan, best = np.zeros((3, n + 1, m + 1))
    return PartialWorkspace(margins, start, plan, best, make_cells(n * m))
