"""Aligners of the literature, on the same words and vectors.

SimAlign (Jalili Sabet et al., 2020, Findings of EMNLP) links words by their similarities alone;
OTAlign (Arase et al., 2023, Unbalanced optimal transport for unbalanced word alignment, ACL) by
entropic transport with a prior for the diagonal, where mass may have to stay. Both follow the
published code where it departs from the paper.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from movers.align.aligners import Aligner
from movers.align.alignment import Scores
from movers.align.reading import Words, centred_cosines, cosines
from movers.arrays import Bools, Floats, Ragged
from movers.solve.batch import Problems
from movers.solve.linear import emd
from movers_research.entropic import sinkhorn_batch

Transport = Callable[[Floats, Floats, Floats], Floats]
"""A plan from weights of both sides and a cost."""
Choose = Callable[[Floats], Bools]
"""The pairs of words to link, from their similarities."""

TINY = 1e-10
DISTORTION = 0.2
"""How much similarity words lose that stand at different ends of their sentences."""
LATER = 0.9
"""What similarity of a word with a link counts for in the second round of itermax."""
WARMTH = 0.1
PATIENCE = 1000
TOLERANCE = 1e-6
MOVED = 0.98
"""Share of the lighter side that partial transport must move."""
SLACK = 0.9
"""Price of weights that unbalanced transport does not keep."""


def similarities(source: Words, target: Words, typical: Floats) -> Floats:
    """Cosines on a scale from 0 to 1."""
    return (centred_cosines(source, target, typical) + 1.0) / 2.0


def nearer_the_diagonal(similarity: Floats, distortion: float = DISTORTION) -> Floats:
    """Similarities lowered by the squared distance of the relative positions."""
    n, m = similarity.shape
    if min(n, m) < 2:
        return similarity
    away = np.arange(n)[:, None] / (n - 1) - np.arange(m) / (m - 1)
    return np.asarray(similarity * (1.0 - distortion * away**2))


def link_by_choice(
    choose: Choose, source: Words, target: Words, typical: Floats, *, centred: bool = True
) -> Scores:
    """SimAlign: choose among the similarities, which also say how sure a link is.

    Its own are not centred; most choices gain by it.
    """
    similarity = similarities(source, target, typical)
    if not centred:
        similarity = (cosines(source.vectors, target.vectors) + 1.0) / 2.0
    strength = np.where(choose(similarity), np.clip(similarity, TINY, 1.0), 0.0)
    return strength, strength, 2.0 - 2.0 * similarity


def choose_argmax(similarity: Floats) -> Bools:
    """Pairs of words that are each other's nearest."""
    rows, columns = np.indices(similarity.shape)
    nearest = similarity.argmax(axis=1)[rows] == columns
    return np.asarray(nearest & (similarity.argmax(axis=0)[columns] == rows))


def choose_itermax(similarity: Floats) -> Bools:
    """Argmax, and once more with the words linked so far put back."""
    chosen = choose_argmax(similarity)
    rows, columns = (~chosen.any(axis=side, keepdims=True) for side in (1, 0))
    if min(similarity.shape) <= 2 or not (rows.any() and columns.any()):
        return chosen
    weight = np.minimum(LATER * rows + LATER * columns, 1.0)
    return chosen | (choose_argmax(similarity * weight) & (rows | columns))


def choose_match(similarity: Floats) -> Bools:
    """The matching of largest total similarity: every word of the shorter sentence has one."""
    n, m = similarity.shape
    size = max(n, m)
    cost = np.zeros((size, size))
    cost[:n, :m] = 1.0 - similarity
    plan = emd(cost).plan[:n, :m]
    return np.asarray(plan > 0.5 / size)


def link_by_transport(
    transport: Transport, source: Words, target: Words, typical: Floats
) -> Scores:
    """OTAlign: entropic transport at a scaled cost, its plan scaled to reach from 0 to 1."""
    similarity = similarities(source, target, typical)
    cost = 1.0 - _stretched(nearer_the_diagonal(similarity))
    u, v = (np.linalg.norm(words.vectors - typical, axis=1) for words in (source, target))
    strength = _stretched(transport(u, v, cost))
    return strength, strength, 2.0 - 2.0 * similarity


def _stretched(values: Floats) -> Floats:
    low, high = values.min(), values.max()
    return np.asarray((values - low + TINY) / (high - low + TINY))


def balanced(u: Floats, v: Floats, cost: Floats) -> Floats:
    """``min <C, P> - eps H(P)`` over plans with both marginals."""
    weights = Ragged.from_rows([u / u.sum(), v / v.sum()])
    costs = Ragged.from_rows([cost.ravel()])
    problem = Problems.between(weights, np.array([[0, 1]]), costs)
    scaled = sinkhorn_batch(
        problem, -costs.data / WARMTH, iterations=PATIENCE, tolerance=TOLERANCE, threads=1
    )
    return np.asarray(scaled.plan.reshape(cost.shape))


def partial_transport(u: Floats, v: Floats, cost: Floats, moved: float = MOVED) -> Floats:
    """``min <C, P> - eps H(P)`` where P stays below both weights and moves a given mass.

    Dykstra's projections in the Kullback–Leibler divergence (Benamou et al., 2015).
    """
    mass = moved * min(u.sum(), v.sum())
    projections: tuple[Callable[[Floats], Floats], ...] = (
        lambda plan: plan * np.minimum(u / plan.sum(axis=1), 1.0)[:, None],
        lambda plan: plan * np.minimum(v / plan.sum(axis=0), 1.0),
        lambda plan: plan * (mass / plan.sum()),
    )
    plan = projections[-1](np.exp(-cost / WARMTH))
    undone = [np.ones_like(plan) for _ in projections]
    for _ in range(PATIENCE):
        before = plan
        for place, project in enumerate(projections):
            given = plan * undone[place]
            plan = project(given)
            undone[place] = given / plan
        if np.linalg.norm(plan - before) < TOLERANCE:
            break
    return plan


def unbalanced(u: Floats, v: Floats, cost: Floats, slack: float = SLACK) -> Floats:
    """``min <C, P> - eps H(P)`` with a price for marginals that are not the weights.

    The price is ``slack`` times their Kullback–Leibler divergence (Chizat et al., 2018).
    """
    kernel, power = np.exp(-cost / WARMTH), slack / (slack + WARMTH)
    a, b = np.ones(len(u)), np.ones(len(v))
    for _ in range(PATIENCE):
        before = a
        a = (u / (kernel @ b)) ** power
        b = (v / (a @ kernel)) ** power
        if np.abs(a - before).max() < TOLERANCE * max(1.0, np.abs(a).max()):
            break
    return a[:, None] * kernel * b


def _choice(choose: Choose, *, centred: bool = True) -> Aligner:
    return Aligner(partial(link_by_choice, choose, centred=centred), TINY)


ARGMAX = _choice(choose_argmax)
ITERMAX = _choice(choose_itermax, centred=False)
MATCH = _choice(choose_match)
BALANCED = Aligner(partial(link_by_transport, balanced), 0.35)
PARTIAL = Aligner(partial(link_by_transport, partial_transport), 0.24)
UNBALANCED = Aligner(partial(link_by_transport, unbalanced), 0.28)
