"""From encoded sentences to solved transport problems: measure, pose, solve, in batches.

    Encodings ──measure──► Measured ──pose──► Problems ──solve──► Solution ──► Solved

`SOLVERS` says how the row of a method is solved; everything else is the same for all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from movers.arrays import Array, Bools, Floats, Ints, Ragged
from movers.baselines import find_baseline
from movers.measure.context import Context
from movers.measure.costs import mean_costs, pair_costs
from movers.measure.gating import (
    gates,
    prices,
    sentence_distances,
    structure_errors,
    structure_scales,
    trusted,
)
from movers.measure.measured import Bags, Measured
from movers.measure.syntax import add_subtree_costs
from movers.methods import Method, Transport
from movers.solve.batch import emd_batch, fgw_batch, price_batch
from movers.solve.problems import Problems
from movers.solve.solution import NUMBERS, Many, linear_solution

SOURCE_EMPTY, TARGET_EMPTY = 1, 2


@dataclass(frozen=True)
class Solved:
    """Pairs with their transport problems and solutions.

    ``values`` are objective, parts and plans, ``(pairs, heads)``, as are the ``scales``, the factor
    k; ``costs`` have one flat row per pair. ``undefined`` tells why a pair has no proper distance,
    `SOURCE_EMPTY` or `TARGET_EMPTY`, 0 where it has one: the values are then the limits, infinitely
    far from nothing, nothing at 0 from nothing. A method that looks at vectors of sentences says in
    ``sentence`` how far these are apart, and in ``gate`` how much structure counts beside them,
    ``(pairs,)``. ``homes`` is what is paid for mass that stays at home, ``(pairs, heads)``; None
    where all must move.
    """

    values: Many
    shapes: Ints
    costs: Ragged
    scales: Floats
    undefined: NDArray[np.int8]
    sentence: Floats | None = None
    gate: Floats | None = None
    homes: Floats | None = None

    @classmethod
    def of(
        cls, problems: Problems, values: Many, scales: Floats, null: Floats | None = None
    ) -> Solved:
        """Problems of pairs that all have words on both sides, solved; ``null`` prices a home."""
        nothing = np.zeros(len(problems.shapes), np.int8)
        homes = None if null is None else np.asarray(null * values.home)
        return cls(values, problems.shapes, problems.costs, scales, nothing, homes=homes)


@dataclass(frozen=True)
class Task:
    """Pairs of sentences, and how to solve them, as `solve_pairs` takes them."""

    method: Method
    bags: Bags
    rows: Ints
    context: Context
    share: float
    null: float | None
    plans: bool


def solve_pairs(
    method: Method,
    bags: Bags,
    rows: Ints,
    context: Context,
    *,
    share: float,
    null: float | None = None,
    threads: int | None = None,
    plans: bool = False,
) -> Solved:
    """Solve the transport problem of every pair under every head.

    ``rows`` are the pairs by row, ``(pairs, 2)``, and ``share`` that of the structural part, as
    `Method.share` has it; ``null`` is the price of a unit of mass that stays at home, in mean costs
    of the pair, None where all moves.
    """
    shapes = bags.weights.lengths[rows]
    filled = np.asarray((shapes > 0).all(axis=1))
    context = replace(context, threads=threads)
    task = Task(method, bags, rows[filled], context, share, null, plans)
    solved = SOLVERS[method.transport](task)
    if not filled.all():
        solved = _spread(solved, filled, shapes)
    return _gated(solved, replace(task, rows=rows), filled) if method.needs_pooled else solved


def pose(method: Method, bags: Bags, rows: Ints, *, threads: int | None = None) -> Problems:
    """Pose the transport problems of pairs of sentences that have words."""
    sources, targets = rows.T
    if method.cost is None:
        costs = Ragged.zeros(bags.weights.lengths[rows].prod(axis=1))
    else:
        assert bags.vectors is not None and bags.norms is not None
        norms = bags.norms.data
        costs = pair_costs(method.cost, bags.vectors, norms, sources, targets, threads=threads)
    apart: Floats | float = 0.0  # what tokens without a row in the costs would add to their sums
    if bags.subtrees is not None:
        apart = add_subtree_costs(costs, bags.subtrees, sources, targets, threads)
    if not method.needs_attention:
        return Problems.between(bags.weights, rows, costs)
    scales = np.ones((len(rows), max(1, bags.sums.shape[1])))
    if method.transport == "both":  # the factor k
        assert method.cost is not None and bags.norms is not None
        errors = structure_errors(bags, sources, targets)
        means = mean_costs(method.cost, costs, bags.norms, bags.sizes, sources, targets, apart)
        scales = structure_scales(means, errors)
    return Problems.between(bags.weights, rows, costs, bags.structure, scales)


def _move(task: Task) -> Solved:
    """Move the words at the least cost, and where structure counts so that little of it bends."""
    threads, plans = task.context.threads, task.plans
    problems = pose(task.method, task.bags, task.rows, threads=threads)
    null = None if task.null is None else _home_prices(task, problems)
    if task.method.needs_attention:
        values = fgw_batch(problems, mix=task.share, null=null, threads=threads, plans=plans)
        return Solved.of(problems, values, problems.scale, null)
    values = emd_batch(problems, null=null, threads=threads, plans=plans)
    return Solved.of(problems, values, np.ones_like(values.value), null)


def _home_prices(task: Task, problems: Problems) -> Floats | None:
    """Price of a unit at home: `null` times the mean cost, or A_MSE where there is only structure.

    Both are what a unit is charged on average if all words go everywhere alike.
    """
    assert task.null is not None
    if np.isinf(task.null):
        return None
    if task.method.cost is None:
        return np.asarray(task.null * structure_errors(task.bags, *task.rows.T))
    costs = problems.costs
    return np.asarray(task.null * costs.sums() / costs.lengths)[:, None]


def _price(task: Task) -> Solved:
    """Move the words at the least cost, and let every head charge for what that breaks."""
    bags, context, rows = task.bags, task.context, task.rows
    problems = pose(task.method, bags, rows, threads=context.threads)
    moved = emd_batch(problems, threads=context.threads, plans=True)
    costs = problems.costs
    errors = structure_errors(bags, *rows.T)
    # The same sentence breaks nothing, whichever of its equal words went where.
    charged = (rows[:, 0] != rows[:, 1])[:, None]
    scales = charged * prices(errors, context.layers, context.chance)
    energies = price_batch(problems, trusted(moved.plan, costs), threads=context.threads)
    repeated: dict[str, Any] = {
        name: np.broadcast_to(getattr(moved, name), scales.shape) for name in NUMBERS
    }
    repeated["structural"] = scales * energies
    blocks = Ragged(moved.plan, costs.starts) if task.plans else ()  # once for each head
    plans = np.concatenate([moved.plan[:0], *(np.tile(one, scales.shape[1]) for one in blocks)])
    values = replace(moved, **repeated, plan=plans)
    return Solved.of(problems, values, scales)


def _score(task: Task) -> Solved:
    """Run a measure that is not one transport problem; its distance has no parts."""
    method, measured, rows = task.method, task.bags, task.rows
    assert method.baseline is not None and isinstance(measured, Measured)
    baseline = find_baseline(method.baseline)
    scores = baseline.distances(measured, rows, task.context, plans=task.plans)
    shapes = measured.weights.lengths[rows]
    shown = np.zeros(int(shapes.prod(axis=1).sum()) if task.plans else 0)
    values = linear_solution(
        scores.distances,
        shown if scores.plans is None or not task.plans else scores.plans,
        iterations=np.zeros(len(rows), np.int32),
    )
    nothing, costs = np.zeros(len(rows), np.int8), Ragged.zeros([0] * len(rows))
    return Solved(values, shapes, costs, np.ones_like(values.value), nothing)


SOLVERS: dict[Transport | None, Callable[[Task], Solved]] = {
    "words": _move,
    "structure": _move,
    "both": _move,
    "priced": _price,
    None: _score,
}
"""How the row of a method is solved, by its transport."""


def _spread(solved: Solved, filled: Bools, shapes: Ints) -> Solved:
    """Put the solved pairs back among those with an empty side."""
    far = np.where((shapes == 0).all(axis=1), 0.0, np.inf)[:, None]
    values = solved.values
    others: dict[str, Any] = {"value": far, "linear": far}
    placed: dict[str, Any] = {
        name: _placed(getattr(values, name), filled, others.get(name, 0.0)) for name in NUMBERS
    }
    undefined = np.where(shapes[:, 0] == 0, SOURCE_EMPTY, TARGET_EMPTY).astype(np.int8)
    undefined[filled] = solved.undefined
    return replace(
        solved,
        values=replace(values, **placed),
        shapes=shapes,
        scales=_placed(solved.scales, filled),
        undefined=undefined,
        homes=None if solved.homes is None else _placed(solved.homes, filled),
    )


def _placed(array: Array, filled: Bools, others: Floats | float = 0.0) -> Array:
    """Rows of solved pairs among others."""
    out = np.empty((len(filled), *array.shape[1:]), array.dtype)
    out[:] = others
    out[filled] = array
    return out


def _gated(solved: Solved, task: Task, filled: Bools) -> Solved:
    """Compare sentences by their vectors, with what structure charges on top.

    Without words on one side the distance is that of the vectors; an empty sentence has none.
    """
    sentence = sentence_distances(task.bags.pooled, task.rows)
    gate = gates(sentence, task.context.chance)
    undefined = np.where(_blank(task, filled), solved.undefined, 0).astype(np.int8)
    value = sentence[:, None] + gate[:, None] * solved.values.structural
    values = replace(
        solved.values,
        value=np.where(undefined[:, None], solved.values.value, value),
        linear=np.where(filled[:, None], solved.values.linear, 0.0),
    )
    return replace(solved, values=values, undefined=undefined, sentence=sentence, gate=gate)


def _blank(task: Task, filled: Bools) -> Bools:
    """Which pairs have an empty sentence; such a pair has no words on that side."""
    blank = ~filled
    for pair in np.flatnonzero(blank):
        blank[pair] = not all(task.bags.sentences[row].strip() for row in task.rows[pair])
    return blank
