"""From encoded sentences to solved transport problems: measure, then solve, in batches."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from movers.baselines import find_baseline
from movers.encode.ragged import Ragged
from movers.measure.costs import mean_costs, pair_costs, pair_shapes
from movers.measure.gating import gates, prices, sentence_distances, trusted
from movers.measure.measured import Context, Measured
from movers.measure.structure import structure_errors, structure_scales
from movers.measure.swd import add_subtree_costs
from movers.methods import Method
from movers.solve.batch import Values, emd_batch, fgw_batch
from movers.solve.pricing import price_batch

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Solved:
    """Pairs with their transport problems and solutions.

    Parameters
    ----------
    values
        Objective, parts and plans, ``(pairs, heads)``.
    costs
        Cost matrices, one flat row per pair.
    scales
        The factor k, ``(pairs, heads)``.
    undefined
        Why a pair has no proper distance, as an index into `REASONS`; 0 where it has one. The
        values are then the limits: infinitely far from nothing, nothing at 0 from nothing.
    """

    values: Values
    shapes: Ints
    costs: Ragged
    scales: Floats
    undefined: NDArray[np.int8]
    sentence: Floats | None = None
    gate: Floats | None = None

    def plans_of_one(self) -> Floats:
        """Plans of a single pair, shape ``(heads, n, m)``."""
        assert self.values.plans is not None and len(self.shapes) == 1
        return self.values.plans.reshape(self.values.value.shape[1], *self.shapes[0])

    def cost_of_one(self) -> Floats:
        """Cost matrix of a single pair, shape ``(n, m)``."""
        return np.asarray(self.costs.data.reshape(self.shapes[0]))

    def facts_of_one(self, head: int) -> dict[str, Any]:
        """Objective, parts, factor and effort of a single pair under one head."""
        values = self.values
        parts: dict[str, NDArray[Any]] = {
            "value": values.value,
            "linear": values.linear,
            "structural": values.structural,
            "scale": self.scales,
            "iterations": values.iterations,
            "gap": values.gap,
        }
        return {name: array[0, head].item() for name, array in parts.items()}


@dataclass(frozen=True)
class Parts:
    """Distances of pairs head by head, and what they consist of.

    Parameters
    ----------
    value, linear, structural
        Objective and its parts, ``(pairs, heads)``.
    undefined
        Why a pair has no proper distance, ``(pairs,)``, as in `Solved`.
    """

    value: Floats
    linear: Floats
    structural: Floats
    undefined: NDArray[np.int8]

    @classmethod
    def zeros(cls, pairs: int, heads: int) -> Parts:
        """Make room."""
        value, linear, structural = np.zeros((3, pairs, heads))
        return cls(value, linear, structural, np.zeros(pairs, np.int8))

    def put(self, start: int, solved: Solved) -> None:
        """Write solved pairs from a row on."""
        rows = slice(start, start + len(solved.undefined))
        for part in ("value", "linear", "structural"):
            getattr(self, part)[rows] = getattr(solved.values, part)
        self.undefined[rows] = solved.undefined


EMPTY = "the {side} is empty; drop the pair or fill it in"
REASONS = (
    "",
    "the source has no words left after stop-word removal ({source!r}); pass stopwords=None or "
    "empty='keep'",
    "the target has no words left after stop-word removal ({target!r}); pass stopwords=None or "
    "empty='keep'",
)
SOURCE_EMPTY, TARGET_EMPTY = 1, 2


def solve_pairs(
    method: Method,
    measured: Measured,
    rows: Ints,
    context: Context,
    *,
    mix: float = 0.5,
    null: float | None = None,
    threads: int | None = None,
    plans: bool = False,
) -> Solved:
    """Solve the transport problem of every pair under every head.

    Parameters
    ----------
    rows
        Pairs of sentences by row, shape ``(pairs, 2)``.
    mix
        Share of the structural part where the method uses both.
    null
        Price of a unit of mass that stays at home, in mean costs of the pair; None: all moves.
    plans
        Also return the plans.
    """
    shapes = measured.weights.lengths[rows]
    missing = shapes == 0
    filled = ~missing.any(axis=1)
    if method.transport == "priced":
        return _price(method, measured, rows, filled, context, threads, plans)
    if method.baseline is None:
        solved = _solve_filled(method, measured, rows[filled], mix, null, threads, plans)
    else:
        solved = _score_filled(
            method, measured, rows[filled], replace(context, threads=threads), plans
        )
    return solved if filled.all() else replace(_spread(solved, filled, missing), shapes=shapes)


def _solve_filled(
    method: Method,
    measured: Measured,
    rows: Ints,
    mix: float,
    null: float | None,
    threads: int | None,
    plans: bool,
) -> Solved:
    problems, costs = pose(method, measured, rows, threads=threads)
    price = _home_prices(method, measured, costs, rows, null)
    if method.needs_attention:
        share = mix if method.transport == "both" else 1.0
        values = fgw_batch(**problems, mix=share, null=price, threads=threads, plans=plans)
    else:
        values = emd_batch(**problems, null=price, threads=threads, plans=plans)
    scales = problems.get("scale", np.ones((len(rows), 1)))
    return Solved(values, problems["shapes"], costs, scales, np.zeros(len(rows), np.int8))


def _price(
    method: Method,
    measured: Measured,
    rows: Ints,
    filled: NDArray[np.bool_],
    context: Context,
    threads: int | None,
    plans: bool,
) -> Solved:
    """Compare sentences by their vectors, and price what the plan of their words breaks.

    Every pair has a distance: without words on one side it is that of the vectors.
    """
    sentence = sentence_distances(measured.encodings.pooled, rows)
    gate = gates(sentence, context.chance)
    solved = _price_filled(method, measured, rows[filled], context, threads, plans)
    if not filled.all():
        solved = _spread(solved, filled, measured.weights.lengths[rows] == 0)
        nothing = np.zeros(len(rows), np.int8)
        values = replace(solved.values, linear=np.where(filled[:, None], solved.values.linear, 0.0))
        solved = replace(
            solved, values=values, shapes=measured.weights.lengths[rows], undefined=nothing
        )
    value = sentence[:, None] + gate[:, None] * solved.values.structural
    values = replace(solved.values, value=value)
    return replace(solved, values=values, sentence=sentence, gate=gate)


def _price_filled(
    method: Method,
    measured: Measured,
    rows: Ints,
    context: Context,
    threads: int | None,
    plans: bool,
) -> Solved:
    """Move the words at the least cost, and let every head charge for it."""
    encodings, (sources, targets) = measured.encodings, rows.T
    moved = replace(method, transport="words")
    problems, costs = pose(moved, measured, rows, threads=threads)
    values = emd_batch(**problems, threads=threads, plans=True)
    assert values.plans is not None
    errors = structure_errors(encodings, sources, targets)
    # The same sentence breaks nothing, whichever of its equal words went where.
    charged = (sources != targets)[:, None]
    scales = charged * prices(errors, context.layers, context.chance)
    a_start, b_start = np.ascontiguousarray(encodings.structure.starts[rows].T)
    energies = price_batch(
        problems["shapes"],
        trusted(values.plans, costs),
        encodings.structure.data,
        a_start=a_start,
        b_start=b_start,
        heads=scales.shape[1],
        threads=threads,
    )
    structural = scales * energies
    wide = structural.shape
    values = replace(
        values,
        **{
            part: np.broadcast_to(getattr(values, part), wide)
            for part in ("value", "linear", "iterations", "gap", "converged")
        },
        structural=structural,
        plans=_repeated(values.plans, costs, wide[1]) if plans else None,
    )
    return Solved(values, problems["shapes"], costs, scales, np.zeros(len(rows), np.int8))


def _repeated(plans: Floats, costs: Ragged, heads: int) -> Floats:
    """The plan of every pair once for each head."""
    blocks = Ragged(plans, costs.starts)
    return np.concatenate([np.zeros(0), *(np.tile(block, heads) for block in blocks)])


def _score_filled(
    method: Method, measured: Measured, rows: Ints, context: Context, plans: bool
) -> Solved:
    """Run a measure that is not one transport problem; its distance has no parts."""
    assert method.baseline is not None
    scores = find_baseline(method.baseline).distances(measured, rows, context, plans=plans)
    column = scores.distances[:, None]
    nothing = np.zeros_like(column)
    shapes = pair_shapes(measured.weights.lengths, rows[:, 0], rows[:, 1])
    shown = scores.plans if scores.plans is not None else np.zeros(int(shapes.prod(axis=1).sum()))
    iterations = np.zeros(column.shape, np.int32)
    converged = np.ones(column.shape, np.bool_)
    values = Values(
        column, column, nothing, iterations, nothing, converged, shown if plans else None
    )
    costs = Ragged.zeros([0] * len(rows))
    return Solved(values, shapes, costs, np.ones_like(column), np.zeros(len(rows), np.int8))


def pose(
    method: Method, measured: Measured, rows: Ints, *, threads: int | None = None
) -> tuple[dict[str, Any], Ragged]:
    """Pose the transport problems of pairs of sentences that have words.

    Returns
    -------
    Arguments for `emd_batch`, or for `fgw_batch` if the method looks at structure; and the cost
    matrices.
    """
    weights, encodings = measured.weights, measured.encodings
    shapes = pair_shapes(weights.lengths, rows[:, 0], rows[:, 1])
    costs, apart = _costs(method, measured, rows, shapes, threads)
    u_start, v_start = np.ascontiguousarray(weights.starts[rows].T)
    problems = {
        "shapes": shapes,
        "cost": costs.data,
        "u": weights.data,
        "v": weights.data,
        "u_start": u_start,
        "v_start": v_start,
    }
    if not method.needs_attention:
        return problems, costs
    a_start, b_start = np.ascontiguousarray(encodings.structure.starts[rows].T)
    problems |= {
        "structure": encodings.structure.data,
        "scale": _scales(method, measured, costs, apart, rows),
        "a_start": a_start,
        "b_start": b_start,
    }
    return problems, costs


def _spread(solved: Solved, filled: NDArray[np.bool_], missing: NDArray[np.bool_]) -> Solved:
    """Put the solved pairs back among those with an empty side."""
    values = {
        part.name: _placed(getattr(solved.values, part.name), filled)
        for part in fields(solved.values)
        if part.name != "plans" and getattr(solved.values, part.name) is not None
    }
    far = np.where(missing.all(axis=1), 0.0, np.inf)[~filled, None]
    for part in ("value", "linear"):
        values[part][~filled] = far
    undefined = np.where(missing[:, 0], SOURCE_EMPTY, TARGET_EMPTY).astype(np.int8)
    undefined[filled] = solved.undefined
    return replace(
        solved,
        values=replace(solved.values, **values),
        scales=_placed(solved.scales, filled),
        undefined=undefined,
    )


def _placed(array: NDArray[Any], filled: NDArray[np.bool_]) -> NDArray[Any]:
    out = np.zeros((len(filled), *array.shape[1:]), array.dtype)
    out[filled] = array
    return out


def _costs(
    method: Method, measured: Measured, rows: Ints, shapes: Ints, threads: int | None
) -> tuple[Ragged, Floats | float]:
    """Cost matrices, and what tokens without a row in them would add to their sums."""
    if method.cost is None:
        return Ragged.zeros(shapes.prod(axis=1)), 0.0
    assert measured.vectors is not None and measured.norms is not None
    sources, targets = rows.T
    costs = pair_costs(
        method.cost, measured.vectors, measured.norms.data, sources, targets, threads=threads
    )
    if measured.subtrees is None:
        return costs, 0.0
    return costs, add_subtree_costs(costs, measured.subtrees, sources, targets, threads)


def _home_prices(
    method: Method, measured: Measured, costs: Ragged, rows: Ints, null: float | None
) -> Floats | None:
    """Price of a unit at home: `null` times the mean cost, or A_MSE where there is only structure.

    Both are what a unit is charged on average if all words go everywhere alike.
    """
    if null is None or np.isinf(null):
        return None
    if method.cost is None:
        return np.asarray(null * structure_errors(measured.encodings, rows[:, 0], rows[:, 1]))
    return np.asarray(null * costs.sums() / costs.lengths)[:, None]


def _scales(
    method: Method, measured: Measured, costs: Ragged, apart: Floats | float, rows: Ints
) -> Floats:
    """The factor k; structure alone is not scaled."""
    encodings = measured.encodings
    if method.transport != "both":
        return np.ones((len(rows), max(1, encodings.sums.shape[1])))
    assert method.cost is not None and measured.norms is not None
    sources, targets = rows.T
    errors = structure_errors(encodings, sources, targets)
    means = mean_costs(method.cost, costs, measured.norms, encodings.sizes, sources, targets, apart)
    return structure_scales(means, errors)
