"""What structure charges under a plan: by word pair, and by pairs of word pairs."""

from __future__ import annotations

import numpy as np

from movers.arrays import Floats, Ints
from movers.explain.compared import Broken, Compared

MOST = 3
"""Broken relations that are told."""
TRACE = 1e-9
"""Share of a distance that is rounding."""


def charged_plans(comparison: Compared) -> Floats:
    """Return the mass that structure looks at, ``(heads, n, m)``: of the default what it trusts."""
    trust = comparison.trust
    return comparison.plans if trust is None else comparison.plans * trust


def strain(comparison: Compared) -> Floats:
    """Return what structure charges for each word pair under the plan, ``(heads, n, m)``.

        k/2 * sum ((A[i, k] - B[j, l])**2 + (A[k, i] - B[l, j])**2) Q[k, l] * Q[i, j] / P[i, j]

    Half of what the two words give to the others and half of what they get, so that
    ``(P * strain).sum()`` is the structural part of the distance; Q is what structure looks at of
    the plan P, all of it but for the default measure.
    """
    a, b, plans = comparison.source_attention, comparison.target_attention, comparison.plans
    charged = charged_plans(comparison)
    given = _disagreement(a, b, charged)
    gotten = _disagreement(a.swapaxes(1, 2), b.swapaxes(1, 2), charged)
    trust = np.divide(charged, plans, out=np.zeros_like(plans), where=plans > 0)
    return scales_of(comparison)[:, None, None] * trust * (given + gotten) / 2


def _disagreement(a: Floats, b: Floats, plans: Floats) -> Floats:
    source = a**2 @ plans.sum(axis=2)[:, :, None]
    target = b**2 @ plans.sum(axis=1)[:, :, None]
    return np.asarray(source + target.swapaxes(1, 2) - 2 * a @ plans @ b.swapaxes(1, 2))


def scales_of(comparison: Compared) -> Floats:
    """Return the factor k of every head."""
    return np.array([head.scale for head in comparison.heads], dtype=np.float64)


def broken_relations(comparison: Compared) -> tuple[Broken, ...]:
    """Return the terms of the structural part that cost most, dearest first.

    A term joins two word pairs (i, j) and (k, l): that i looks at k as j looks at l, or not.
    """
    share = comparison.shares[1] / comparison.distance if comparison.distance > 0 else 0.0
    if not comparison.source_attention.size or not np.isfinite(share) or share == 0:
        return ()
    charges = share * (comparison.plans * strain(comparison)).mean(axis=0)
    i, j = np.nonzero(charges > TRACE)
    order = np.argsort(-charges[i, j], kind="stable")
    i, j = i[order], j[order]
    a, b = comparison.source_attention, comparison.target_attention
    return tuple(
        Broken(
            (comparison.source_words[i[looks]], comparison.source_words[i[at]]),
            (comparison.target_words[j[looks]], comparison.target_words[j[at]]),
            float(a[:, i[looks], i[at]].mean()),
            float(b[:, j[looks], j[at]].mean()),
            cost,
        )
        for cost, looks, at in _dearest(comparison, share, charges, i, j)
        if cost > TRACE
    )


def _dearest(
    comparison: Compared, share: float, charges: Floats, i: Ints, j: Ints
) -> list[tuple[float, int, int]]:
    """Return the terms that cost most, dearest first: their cost, and the two word pairs they join.

    The word pairs are ``i`` and ``j`` side by side, in the order of their charges.
    """
    charged, weights = charged_plans(comparison), share * scales_of(comparison)
    a, b = comparison.source_attention, comparison.target_attention
    dearest: list[tuple[float, int, int]] = []
    for looks, charge in enumerate(charges[i, j]):
        # Half of every term of a word pair is in its charge, so none later costs more.
        if len(dearest) == MOST and 2 * charge <= dearest[-1][0]:
            break
        gaps = (a[:, i[looks], i] - b[:, j[looks], j]) ** 2
        masses = charged[:, i[looks], j[looks], None] * charged[:, i, j]
        terms = (weights[:, None] * gaps * masses).mean(axis=0)
        terms_here = [
            (float(terms[at]), looks, int(at)) for at in np.argsort(-terms, kind="stable")[:MOST]
        ]
        dearest = sorted([*dearest, *terms_here], key=lambda term: -term[0])[:MOST]
    return dearest
