"""Ragged batches of exact transport problems, and how they are solved: the hot path of the library.

Nothing here runs Python per problem. A batch is cut into ranges of similar work, which threads
take one by one; a result never depends on the cut.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from movers.arrays import Array, Bools, Floats, Ints, Ragged, Singles, boundaries
from movers.errors import InputError
from movers.runtime.notices import ConvergenceWarning, notify
from movers.runtime.threads import share_out
from movers.solve import checks
from movers.solve.kernels.partial import partial_emd_range, partial_fgw_range
from movers.solve.kernels.pricing import broken_range, price_range
from movers.solve.kernels.ranges import emd_range, fgw_range
from movers.solve.kernels.workspace import (
    HEAVIEST,
    LARGEST,
    SLOTS,
    Batch,
    Outputs,
    Structures,
    allocate,
    allocate_partial,
    make_cells,
)
from movers.solve.solution import Many, Solution

KINDS: dict[str, tuple[int, tuple[type[np.generic], ...]]] = {
    "shapes": (2, (np.int64,)),
    **dict.fromkeys(("cost", "u", "v"), (1, (np.float64,))),
    **dict.fromkeys(("u_start", "v_start", "a_start", "b_start"), (1, (np.int64,))),
    "structure": (1, (np.float64, np.float32)),
    "scale": (2, (np.float64,)),
}
"""Dimensions of every array, and the types that kernels take, what others become first."""


@dataclass(frozen=True, slots=True, eq=False)
class Problems:
    """Transport problems between small weighted sets, with or without structure.

    Arrays are checked for kind, shape and range, so that no kernel leaves them, and for range once
    more when they are solved; their entries are checked by whatever solves them.

    Parameters
    ----------
    shapes : (pairs, 2)
        Sizes n, m of every pair.
    cost : flat
        Row-major n x m blocks, one after another.
    u, v : flat
        Weights; pair p uses ``u[u_start[p]:][:n]`` and ``v[v_start[p]:][:m]``. Both may be the
        same array. Only proportions matter: each side is taken to sum to one.
    structure : flat, float32 or float64
        Blocks (heads, n, n) of every sentence; pair p compares those at ``a_start[p]`` and
        ``b_start[p]``.
    scale : (pairs, heads)
        Factor of the structural part.
    """

    shapes: Ints
    cost: Floats
    u: Floats
    v: Floats
    u_start: Ints
    v_start: Ints
    structure: Singles | Floats = field(default_factory=lambda: np.zeros(0, np.float32))
    a_start: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    b_start: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    scale: Floats = field(default_factory=lambda: np.zeros((0, 0)))

    def __post_init__(self) -> None:
        for name, (dimensions, kinds) in KINDS.items():
            given = getattr(self, name)
            if (
                type(given) is not np.ndarray
                or given.dtype.type not in kinds
                or given.ndim != dimensions
                or not (given.flags.carray and given.dtype.isnative)
            ):
                object.__setattr__(self, name, _array(name, given, dimensions, kinds))
        self.check_ranges()

    def check_ranges(self) -> None:
        """Refuse shapes and starts that lead out of the arrays."""
        shapes, scale, pairs = self.shapes, self.scale, len(self.shapes)
        if shapes.shape[1] != 2 or shapes.min(initial=1) < 1:
            raise InputError(
                f"shapes.shape == {shapes.shape}, and the least entry is {shapes.min(initial=1)}; "
                f"there must be two sizes of at least 1 for every pair"
            )
        if len(scale) not in (0, pairs):
            raise InputError(f"len(scale) == {len(scale)} while there are {pairs} pairs")
        rows, columns = np.ascontiguousarray(shapes.T)
        ranges = [("u", self.u_start, rows, self.u.size), ("v", self.v_start, columns, self.v.size)]
        if len(scale):
            squares, heads = shapes.T * shapes.T, scale.shape[1]
            ranges += [
                ("a", self.a_start, heads * squares[0], self.structure.size),
                ("b", self.b_start, heads * squares[1], self.structure.size),
            ]
        for name, starts, counts, size in ranges:
            if len(starts) != pairs or (starts > size - counts).any() or starts.min(initial=0) < 0:
                raise _out_of_range(name, starts, counts, size)
        cells = int((rows * columns).sum())
        if cells != self.cost.size:
            raise InputError(f"cost.size == {self.cost.size} while the shapes have {cells} cells")

    @classmethod
    def between(
        cls,
        weights: Ragged,
        rows: Ints,
        costs: Ragged,
        structure: Ragged | None = None,
        scale: Floats | None = None,
    ) -> Problems:
        """Pose the problems of pairs of sentences.

        Parameters
        ----------
        weights
            Weights of the words, a row per sentence.
        rows : (pairs, 2)
            The pairs, by these rows.
        costs
            Flat cost matrices, a row per pair.
        structure, scale
            Blocks of structure, a row per sentence, and their factors; None without.
        """
        u_start, v_start = np.ascontiguousarray(weights.starts[rows].T)
        data = weights.data
        linear = weights.lengths[rows], costs.data, data, data, u_start, v_start
        if structure is None or scale is None:
            return cls(*linear)
        a_start, b_start = np.ascontiguousarray(structure.starts[rows].T)
        return cls(*linear, structure.data, a_start, b_start, scale)

    def __len__(self) -> int:
        return len(self.shapes)

    @property
    def heads(self) -> int:
        """Structures that every pair is compared by."""
        return int(self.scale.shape[1])

    @property
    def costs(self) -> Ragged:
        """Cost matrices, one flat row per pair."""
        return Ragged(self.cost, boundaries(self.shapes.prod(axis=1)))

    @property
    def batch(self) -> Batch:
        """The linear part as kernels take it."""
        self.check_ranges()  # somebody may have written to the arrays
        start = boundaries(self.shapes.prod(axis=1))[:-1]
        return Batch(self.shapes, self.cost, start, self.u, self.u_start, self.v, self.v_start)

    @property
    def structures(self) -> Structures:
        """The structural part as kernels take it: in one type, so as to compile once."""
        if len(self.scale) != (pairs := len(self.shapes)):
            raise InputError(f"none of the {pairs} problems has structures and their scale")
        wide = self.structure.dtype != np.float32
        single = np.asarray(self.structure[:0] if wide else self.structure, np.float32)
        double = np.asarray(self.structure if wide else self.structure[:0], np.float64)
        return Structures(single, double, self.a_start, self.b_start, self.scale)


def _array(
    name: str, given: ArrayLike, dimensions: int, kinds: tuple[type[np.generic], ...]
) -> Array:
    """Check the kind and the dimensions of an array, and lay it out as kernels read it."""
    array = np.asarray(given)
    if np.ma.isMaskedArray(given) or (
        array.size and not np.can_cast(array.dtype, kinds[0], "same_kind")
    ):
        masked = "masked " if np.ma.isMaskedArray(given) else ""
        raise InputError(
            f"{name} is {masked}{array.dtype}; pass a plain array of {kinds[0].__name__}"
        )
    if array.ndim != dimensions:
        raise InputError(f"{name}.ndim == {array.ndim}; pass an array of {dimensions} dimensions")
    kind = array.dtype.type if array.dtype.type in kinds else kinds[0]
    return np.require(array, kind, ("C", "A", "W"))  # as those that kernels were compiled for


def _out_of_range(name: str, starts: Ints, counts: Ints, size: int) -> InputError:
    """Say which pair begins outside an array, or ends there."""
    if len(starts) != len(counts):
        return InputError(f"len({name}_start) == {len(starts)} while there are {len(counts)} pairs")
    pair = int(((starts > size - counts) | (starts < 0)).argmax())
    return InputError(
        f"pair {pair} takes {counts[pair]} entries from {name}_start == {starts[pair]} on "
        f"of an array of {size}"
    )


def emd_batch(
    problems: Problems,
    *,
    null: float | Floats | None = None,
    threads: int | None = None,
    plans: bool = False,
) -> Many:
    """Solve ``min <C, P>`` over the plans of every pair; structure plays no part.

    Parameters
    ----------
    null
        Price of a unit of mass that stays at home, one or of shape (pairs, 1); weights are then
        masses, which are not scaled. See `movers.solve.kernels.partial`. None: all mass moves.
    threads
        Number of threads, by default one per available processor.
    plans
        Also return the plans.
    """
    return _solve(problems, None, 0.0, null, threads, plans)


def fgw_batch(
    problems: Problems,
    *,
    mix: float,
    null: float | Floats | None = None,
    threads: int | None = None,
    plans: bool = False,
) -> Many:
    """Solve ``min (1 - mix) <C, P> + mix * scale * E(P)`` for every pair and head.

    ``E(P) = sum (A[i, k] - B[j, l])**2 P[i, j] P[k, l]``; the objective is not convex, and the
    result is the local minimum that Frank-Wolfe reaches from ``u vᵀ``.

    Parameters
    ----------
    mix
        Share of the structural part. With 0 the plan is the one of `emd_batch`; with 1 the
        cost only shows in ``linear``.
    null
        As in `emd_batch`, one or of shape (pairs, heads).
    threads, plans
        As in `emd_batch`.
    """
    scale = problems.scale
    if scale.size and not 0.0 <= scale.min() <= scale.max() <= LARGEST:
        raise InputError(f"scale has entries that are not between 0 and {LARGEST:g}")
    if not isinstance(mix, int | float | np.integer | np.floating) or not 0.0 <= mix <= 1.0:
        raise InputError(f"mix == {mix!r}; it must lie between 0 and 1")
    return _solve(problems, problems.structures, float(mix), null, threads, plans)


def price_batch(problems: Problems, plans: Floats, *, threads: int | None = None) -> Floats:
    """Evaluate ``E(Q) = sum (A[i, k] - B[j, l])**2 Q[i, j] Q[k, l]`` for every pair and head.

    ``plans`` are row-major n x m blocks of mass, one after another, and need not sum to one.
    Structure is taken in single precision; what is no number in it, or too large to be squared and
    summed, is refused.
    """
    return _evaluate(price_range, problems, plans, threads)


def broken_batch(problems: Problems, plans: Floats, *, threads: int | None = None) -> Floats:
    """Evaluate what share of the relations between moved words every plan breaks, by head.

    With P the plan and p, q what it moves from and to every word, A and B are cut to words that
    move, their rows scaled to sum to one; then

        sum (A[i, k] - B[j, l])**2 P[i, j] P[k, l]  /  sum (A[i, k] - B[j, l])**2 p_i p_k q_j q_l

    both sums over masses that add up to one: 0 if all relations hold, about 1 if words go
    anywhere. 0 for fewer than two cells, and where the structures are one constant.

    Parameters
    ----------
    problems
        Pairs with structures, which are taken in single precision.
    plans
        Row-major n x m blocks of mass, one after another; they need not sum to one.
    threads
        As in `emd_batch`.
    """
    return _evaluate(broken_range, problems, plans, threads, sides=4)


def _evaluate(
    kernel: Callable[..., None],
    problems: Problems,
    plans: Floats,
    threads: int | None,
    *,
    sides: int = 0,
) -> Floats:
    """Run a kernel that takes plans as they are, and fills in a number for every head.

    It has room for the cells of a plan and, if it wants any, for ``sides`` numbers per word.
    """
    shapes, batch = problems.shapes, problems.batch
    if plans.shape != problems.cost.shape:
        raise InputError(f"plans.shape == {plans.shape} while cost.shape == {problems.cost.shape}")
    if not 0.0 <= plans.min(initial=0.0) <= plans.max(initial=0.0) < np.inf:
        raise InputError("plans have entries that are NaN, infinite or below 0; pass masses")
    with np.errstate(over="ignore"):  # to infinity, which is refused below
        single = np.asarray(problems.structure, np.float32)
    structures = problems.structures._replace(single=single)
    out = np.zeros(problems.scale.shape)

    def solve(low: int, high: int) -> None:
        cells = make_cells(int(shapes[low:high].prod(axis=1).max(initial=1)))
        words = [np.empty((sides, int(shapes[low:high].max(initial=1))))] if sides else []
        kernel(low, high, batch, plans, structures, cells, *words, out)

    share_out(solve, problems.scale.shape[1] * shapes.sum(axis=1) ** 2, threads)
    if not (finite := np.isfinite(out).all(axis=1)).all():
        raise InputError(
            f"pair {int(finite.argmin())}: its structures or plan have entries that are NaN, "
            f"infinite or too large to be squared and summed"
        )
    return out


def _solve(
    problems: Problems,
    structures: Structures | None,
    mix: float,
    null: float | Floats | None,
    threads: int | None,
    plans: bool,
) -> Many:
    """Solve for every head; without structures for the words alone."""
    sizes = shapes = problems.shapes
    heads, slots, effort = (1, 2, 1) if structures is None else (problems.heads, SLOTS, 4)
    linear, structural, gap, home = np.zeros((4, len(shapes), heads))
    room = np.zeros(problems.cost.size * heads if plans else 0)
    converged, calls = np.zeros(gap.shape, np.bool_), np.ones(gap.shape, np.int32)
    out = Outputs(linear, structural, room, calls, gap, converged, home)
    stop, batch, prices = np.zeros(1, np.int64), problems.batch, None
    if null is not None:
        effort, sizes, prices = 8, shapes + 1, checks.prices(null, gap.shape)

    def solve_range(low: int, high: int) -> None:
        space = allocate(sizes[low:high], slots, stop)
        if prices is None:
            if structures is None:
                emd_range(space, low, high, batch, out)
            else:
                fgw_range(space, low, high, batch, structures, mix, out)
            return
        room = allocate_partial(shapes[low:high])
        if structures is None:
            partial_emd_range(space, room, low, high, batch, prices, out)
        else:
            partial_fgw_range(space, room, low, high, batch, structures, mix, prices, out)

    work = shapes.sum(axis=1) * shapes.prod(axis=1) * (effort * heads)
    share_out(solve_range, work, threads, stop)
    if (refused := np.isnan(linear)).any():
        raise _refusal(problems, int(refused.any(axis=1).argmax()), structures is not None)
    if not converged.all():
        _warn_unconverged(converged)
    moved = linear.copy() if structures is None else (1.0 - mix) * linear + mix * structural
    return Solution(moved if prices is None else moved + prices * home, *out)


def _refusal(problems: Problems, pair: int, structured: bool) -> InputError:
    """Say what is wrong with a problem that a kernel refused."""
    n, m = problems.shapes[pair].tolist()
    u, v = problems.u[problems.u_start[pair] :][:n], problems.v[problems.v_start[pair] :][:m]
    blocks = [("cost", problems.costs[pair].reshape(n, m))]
    if structured:
        for name, start, size in (("A", problems.a_start, n), ("B", problems.b_start, m)):
            heads = problems.structure[start[pair] :][: problems.heads * size * size]
            blocks.append((name, heads.reshape(-1, size)))
    try:
        checks.weights("u", u, n, "cost")
        checks.weights("v", v, m, "cost")
        for name, block in blocks:
            checks.matrix(name, block)
    except InputError as error:
        return error.about(f"pair {pair}")
    return InputError(
        f"pair {pair}: u sums to {checks.total_of(u):g} and v to {checks.total_of(v):g}; divide "
        f"them, so that neither is above {HEAVIEST / 2:g}"
    )


def _warn_unconverged(converged: Bools) -> None:
    """Say how many problems may not be solved to the end."""
    notify(
        f"{converged.size - int(converged.sum())} of {converged.size} transport problems "
        f"reached the bound on their effort; their plans are feasible and may not be optimal "
        f"(`converged` is False there). Scale costs and structures, or drop entries that no "
        f"plan can use",
        ConvergenceWarning,
    )
