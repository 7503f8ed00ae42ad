"""What solvers take: ragged batches of transport problems, as flat arrays."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from movers.arrays import Array, Floats, Ints, Ragged, Singles, boundaries
from movers.errors import InputError
from movers.solve.kernels.batch_arrays import Batch, Structures

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
