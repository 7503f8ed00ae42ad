"""Lower bounds of transport distances: what lies above a threshold need not be solved.

Every bound lies below the global minimum of its problem, hence below whatever local minimum
the solver reports. All of them look at one source and many targets at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from movers.arrays import Floats, Ints, Singles, offsets
from movers.runtime.threads import share_out
from movers.solve.kernels.lower_bounds import Profiled, WordCosts, profiles_range, words_range
from movers.solve.rounding import SINGLE, to_integers


def centroid_bounds(source: Singles, targets: Singles, errors: Singles, *, squared: bool) -> Floats:
    """Bound the cost of moving words by the distance of their weighted means.

    For a norm, ``sum P[i, j] |x_i - y_j| >= |sum u_i x_i - sum v_j y_j|`` (Kusner et al., 2015).
    One minus the cosine is half the squared distance of the normalised vectors, and as squares
    are convex too, half the squared distance of their means bounds it.

    ``source``, ``(dimension,)``, and ``targets`` are weighted means of word vectors, of the
    normalised ones if ``squared``, for one minus the cosine; ``errors`` tell how far off a target
    and the source may be, together.
    """
    slack = errors + SINGLE * (np.linalg.norm(targets, axis=1) + np.linalg.norm(source))
    apart = np.maximum(np.linalg.norm(targets - source, axis=1) - slack, 0.0).astype(np.float64)
    return np.asarray(apart * apart / 2.0 if squared else apart)


def word_bounds(
    cost: Singles, starts: Ints, u: Singles, v: Singles, *, threads: int | None = None
) -> Floats:
    """Bound ``min <C, P>`` from below by a dual point.

    At least the relaxed word mover's distance of both directions (Kusner et al., 2015): what
    is left of the columns after every row got its minimum counts as well.

    ``cost``, ``(n, words)``, holds the words of all targets, one after another; each target's start
    at ``starts``. Weights sum to one in each sentence.
    """
    out, words = np.zeros(len(starts) - 1), WordCosts(cost, starts, u, v)
    most = int(np.diff(starts).max(initial=1))

    def solve(low: int, high: int) -> None:
        words_range(low, high, words, np.empty((len(u) + 1, most), np.float32), out)

    share_out(solve, np.diff(starts) * len(u), threads)
    return out


def profile_bounds(
    cost: Singles,
    starts: Ints,
    u: Singles,
    v: Singles,
    source: Profiles,
    targets: Profiles,
    factors: Singles,
    share: float,
    *,
    threads: int | None = None,
) -> Floats:
    """Bound ``min share <C, P> + factor E(P)`` for every target and head.

    With row means, column means and the mean taken out of the structures (all weighted), the
    energy splits exactly:

        E(P) = sum P[i, j] ((a_i - b_j)**2 + (c_i - d_j)**2) + (g - h)**2 + E'(P).

    The first part joins the word cost in one linear problem, bounded as in `word_bounds`. E' is
    the energy of what is left, at least the squared difference of the spectra: a plan, scaled
    by the roots of the weights, is a contraction, so von Neumann's inequality holds separately
    for positive and negative eigenvalues of the symmetric parts and for the singular values of
    the antisymmetric parts.

    ``source`` and ``targets`` are what `structure_profiles` made of them, ``factors`` of the
    energy, ``(targets, heads)``, and ``share`` of the word cost; the others are as in
    `word_bounds`.
    """
    lengths, heads = np.diff(starts), factors.shape[1]
    out, words = np.zeros(factors.shape), WordCosts(cost, starts, u, v)
    at = offsets(heads * profile_sizes(lengths))
    profiled = Profiled(*source, *targets, at, factors, np.float32(share))
    most = int(lengths.max(initial=1))
    longest = int(profile_sizes(np.array([max(most, len(u))]))[0])

    def solve(low: int, high: int) -> None:
        values, room = np.empty((2, longest), np.float32), np.empty((len(u) + 1, most), np.float32)
        profiles_range(low, high, words, profiled, values, room, out)

    share_out(solve, lengths * len(u) * heads, threads)
    return out


def profile_sizes(lengths: Ints) -> Ints:
    """Return numbers that a profile takes for every head, by the number of words."""
    return np.asarray(3 * lengths + 1 + lengths // 2, np.int64)


class Profiles(NamedTuple):
    """Summaries of structures, one sentence after another.

    ``numbers`` holds for every head of a sentence as many as `profile_sizes` says, in ``steps``,
    ``(sentences, heads)``.
    """

    numbers: NDArray[np.int16]
    steps: Singles


def structure_profiles(
    structure: Singles | Floats, weights: Floats, starts: Ints, heads: int
) -> Profiles:
    """Summarise structures for `profile_bounds`.

    ``structure`` holds blocks ``(heads, n, n)`` of every sentence; weights sum to one in each.
    """
    lengths = np.diff(starts)
    sizes = heads * profile_sizes(lengths)
    block_start, start = offsets(heads * lengths**2), offsets(sizes)
    steps = np.zeros((len(lengths), heads), np.float32)
    out = Profiles(np.zeros(int(sizes.sum()), np.int16), steps)
    for n in np.unique(lengths[lengths > 0]) if heads else ():
        rows = np.flatnonzero(lengths == n)
        square = structure[block_start[rows, None] + np.arange(heads * n * n)]
        matrices = square.reshape(-1, heads, n, n).astype(np.float64)
        u = weights[starts[rows, None] + np.arange(n)]
        numbers, steps[rows] = to_integers(_profile(matrices, u), np.int16)
        flat = numbers.reshape(len(rows), -1)
        out.numbers[start[rows, None] + np.arange(flat.shape[1])] = flat
    return out


def _profile(matrices: Floats, u: Floats) -> Floats:
    """Profiles of sentences of one length, shape ``(sentences, heads, numbers)``."""
    rows = np.einsum("shik,sk->shi", matrices, u)
    columns = np.einsum("shki,sk->shi", matrices, u)
    mean = np.einsum("shi,si->sh", rows, u)[..., None]
    rest = matrices - rows[..., :, None] - columns[..., None, :] + mean[..., None]
    root = np.sqrt(u)
    rest *= (root[:, :, None] * root[:, None, :])[:, None]
    flipped = rest.swapaxes(-1, -2)
    even = np.linalg.eigvalsh((rest + flipped) / 2.0)[..., ::-1]
    odd = np.linalg.svd((rest - flipped) / 2.0, compute_uv=False)
    pairs = odd[..., : odd.shape[-1] // 2 * 2].reshape(*odd.shape[:-1], -1, 2).mean(axis=-1)
    return np.concatenate([rows - mean, columns - mean, mean, even, pairs], axis=-1)
