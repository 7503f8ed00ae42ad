"""Which attention heads of an encoder tell meaning from order, learned once from contrasts.

Contrasts are pairs of sentences whose words changed places, with and without a change of meaning,
shipped as plain text (``data/contrasts_english.tsv``, made by ``scripts/contrasts``); further
rows are swaps with one more change. Every head has a share of relations that it sees broken.
Two sets of weights over the heads come out of them:

``moved``
    Weights ≥ 0 by which natural sentences with a changed meaning are told from others: what
    changed places at all. A sparse logistic regression.
``roles``
    Weights of either sign that put sentences of the same meaning nearer than others in the
    distance itself: who does what to whom, with credit for moves that change nothing. A sparse
    ranking, over the kinds of contrast alike.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np

from movers.arrays import Bools, Floats, Ints
from movers.encode.encodings import Head
from movers.errors import DependencyError, Do
from movers.runtime.atomic import replacing
from movers.runtime.kernel_cache import parent

SEED = 0
DRAWS = 150
"""Pairs of pairs drawn within a kind of contrast."""
ACROSS = 8
"""Pairs of pairs drawn between two kinds."""
WEIGHTS = {"natural": 8.0, "rewording": 15.0, "paraphrase": 0.0, "change": 0.0}
"""How much more than others some kinds count where kinds are held against each other."""
PARAPHRASES, CHANGES = 0.6, 0.8
"""Share of paraphrases against swaps, and of swaps against swaps with one more change."""
MARGIN = 0.05
"""By how much, in units of the distance, one pair should be nearer than another."""
SPARSE_MOVED, SPARSE_ROLES = 0.001, 0.05
"""Factors of the sum of absolute weights, which keep most heads out."""
LEAST = 1e-3
"""Weights below this share of what a head varies by are none."""
APART = 0.6
"""Probability to tell contrasts apart below which an encoder's heads count for nothing."""


class Contrasts(NamedTuple):
    """Pairs of sentences with the kind of contrast, their half, and whether they mean the same."""

    kinds: list[str]
    same: Bools
    fit: Bools
    pairs: list[tuple[str, str]]

    def take(self, chosen: Bools) -> Contrasts:
        """Return some of them."""
        picked = np.flatnonzero(chosen).tolist()
        return Contrasts(
            [self.kinds[i] for i in picked],
            self.same[chosen],
            self.fit[chosen],
            [self.pairs[i] for i in picked],
        )


@cache
def contrasts() -> Contrasts:
    """Read the contrasts that ship with the package; both halves."""
    rows = list(_table("contrasts_english.tsv"))
    for row in _table("changes_english.tsv"):  # the swap has to be the nearer one of the two
        for target, side in ((row["swap"], "same"), (row["changed"], "different")):
            rows.append(
                {"kind": "change", "side": side, "half": row["half"]}
                | {"source": row["sentence"], "target": target}
            )
    return Contrasts(
        [row["kind"] for row in rows],
        np.array([row["side"] == "same" for row in rows]),
        np.array([row["half"] == "fit" for row in rows]),
        [(row["source"], row["target"]) for row in rows],
    )


def _table(name: str) -> Iterator[dict[str, str]]:
    with (files("movers") / "data" / name).open(encoding="utf-8") as lines:
        yield from csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)


@dataclass(frozen=True)
class Calibration:
    """What the default measure knows of an encoder.

    Parameters
    ----------
    chance
        How far apart the vectors of unrelated sentences are: the mean of one minus cosine.
    moved, roles
        Weights of heads; see above. Empty where the heads tell nothing apart.
    apart
        How well they do: the probability that of two contrasts of the reporting half the one with
        another meaning is charged more.
    """

    chance: float
    moved: Mapping[Head, float]
    roles: Mapping[Head, float]
    apart: float

    @cached_property
    def heads(self) -> tuple[Head, ...]:
        """Heads that have a weight."""
        return tuple(sorted({*self.moved, *self.roles}))

    @cached_property
    def digest(self) -> str:
        """Eight hex digits that pin all of it."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()[:8]

    def to_json(self) -> dict[str, object]:
        """Return plain values: heads as ``layer.head``."""
        named = {
            part: {f"{layer}.{head}": weight for (layer, head), weight in weights.items()}
            for part, weights in (("moved", self.moved), ("roles", self.roles))
        }
        return asdict(self) | named

    @classmethod
    def from_json(cls, values: dict[str, dict[str, float]]) -> Calibration:
        """Read what `to_json` wrote."""
        parts = {
            part: {
                (int(name.split(".")[0]), int(name.split(".")[1])): float(weight)
                for name, weight in values[part].items()
            }
            for part in ("moved", "roles")
        }
        chance, apart = (float(str(values[name])) for name in ("chance", "apart"))
        return cls(chance, parts["moved"], parts["roles"], apart)


@cache
def shipped() -> dict[str, Calibration]:
    """Return the calibrations that come with the package, by fingerprint of the weights."""
    text = (files("movers") / "data" / "calibrations.json").read_text("utf-8")
    return {name: Calibration.from_json(values) for name, values in json.loads(text).items()}


def kept(fingerprint: str) -> Calibration | None:
    """Return a calibration from the user's cache, if it is there and whole."""
    try:
        return Calibration.from_json(json.loads(_file(fingerprint).read_text("utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def keep(fingerprint: str, calibration: Calibration) -> None:
    """Write a calibration into the user's cache, if that can be written to."""
    path = _file(fingerprint)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with replacing(path) as file:
            file.write_text(json.dumps(calibration.to_json(), indent=1), "utf-8")
    except OSError:  # another process measures again
        return


def _file(fingerprint: str) -> Path:
    """Return where the calibration of an encoder lies, by the contrasts it was made from."""
    texts = [(files("movers") / "data" / name).read_bytes() for name in _SOURCES]
    made_from = hashlib.sha256(b"".join(texts)).hexdigest()[:8]
    return parent() / "calibrations" / f"{fingerprint}-{made_from}.json"


_SOURCES = ("contrasts_english.tsv", "changes_english.tsv")


class Charges(NamedTuple):
    """The distance of contrasts before and after structure: ``x + open * charge(...)``."""

    sentence: Floats
    opened: Floats
    broken: Floats


def fit_weights(
    given: Contrasts, charges: Charges, moved_share: float
) -> tuple[Floats, Floats, float]:
    """Fit both sets of weights on one half of the contrasts, and test them on the other.

    Parameters
    ----------
    given
        The contrasts.
    charges
        ``sentence`` and ``opened``, the distance of the vectors and the most that structure may
        add, ``(pairs,)``; ``broken``, the root of what every head sees broken, ``(pairs, heads)``.
    moved_share
        Share of the charge for what moved that does not depend on roles.

    Returns
    -------
    moved, roles, apart
        Weights of all heads, and how well they tell the other half apart.
    """
    half = Charges(*(part[given.fit] for part in charges))
    chosen = given.take(given.fit)
    moved = _fit_moved(chosen, half.broken)
    roles = _fit_roles(chosen, half._replace(opened=half.opened * what_moved(half.broken @ moved)))
    rest = ~given.fit & ~np.isin(given.kinds, ("change", "rewording"))
    broken = charges.broken[rest]
    charge = what_moved(broken @ moved) * (
        moved_share + (1.0 - moved_share) * what_matters(broken @ roles)
    )
    return moved, roles, _told_apart(charge, given.same[rest])


def what_moved(amount: Floats) -> Floats:
    """Return how much of a sentence changed places, in [0, 1)."""
    return np.asarray(-np.expm1(-5.0 * amount))


def what_matters(amount: Floats) -> Floats:
    """Return how much of that changed the meaning, in [0, 1); 0 where credit outweighs it."""
    return np.asarray(-np.expm1(-np.maximum(0.0, amount)))


def _told_apart(charge: Floats, same: Bools) -> float:
    """Return how probably a pair of another meaning is charged more than one of the same."""
    higher, lower = charge[~same, None], charge[same]
    return float(((higher > lower) + 0.5 * (higher == lower)).mean())


def _fit_moved(given: Contrasts, broken: Floats) -> Floats:
    """Fit a logistic regression with weights ≥ 0 on natural sentences; they sum to one."""
    natural = np.array([_family(kind) in ("natural", "rewording") for kind in given.kinds])
    chosen, values = given.take(natural), broken[natural]
    spread = values.std(axis=0) + 1e-9
    scaled, weight = values / spread, _balanced(chosen)
    sign = np.where(chosen.same, -1.0, 1.0)

    def loss(free: Floats) -> tuple[float, Floats]:
        odds = sign * (scaled @ free[:-1] + free[-1])
        slope = -weight * sign / (1.0 + np.exp(np.clip(odds, -50, 50)))
        penalty = np.append(np.full(scaled.shape[1], SPARSE_MOVED), 0.0)
        value = (weight * np.logaddexp(0.0, -odds)).sum() + penalty @ np.abs(free)
        return float(value), np.append(scaled.T @ slope, slope.sum()) + penalty * np.sign(free)

    heads = scaled.shape[1]
    free = _minimise(loss, np.append(np.full(heads, 0.01), -1.0), [True] * heads + [False])[:-1]
    free[free < LEAST] = 0.0
    weights = free / spread
    return np.asarray(weights / weights.sum()) if weights.any() else weights


def _balanced(given: Contrasts) -> Floats:
    """Return weights by which every kind counts alike, and so do both sides."""
    weight = np.zeros(len(given.pairs))
    kinds = np.array(given.kinds)
    for side in (True, False):
        for kind in sorted(set(given.kinds)):
            rows = (kinds == kind) & (given.same == side)
            if rows.any():
                weight[rows] = 1.0 / rows.sum()
        weight[given.same == side] /= 2.0 * weight[given.same == side].sum()
    return weight


def _fit_roles(given: Contrasts, charges: Charges) -> Floats:
    """Rank pairs of the same meaning before others by the whole distance."""
    near, far, weight = _comparisons(given)
    broken, heads = charges.broken, charges.broken.shape[1]
    spread = broken.std(axis=0) + 1e-9
    penalty = SPARSE_ROLES * np.tile(spread, 2)

    def loss(free: Floats) -> tuple[float, Floats]:
        amount = broken @ (free[:heads] - free[heads:])
        rest = np.exp(-np.maximum(0.0, amount))
        distance = charges.sentence + charges.opened * (1.0 - rest)
        ahead = (distance[far] - distance[near]) / MARGIN
        slope = -weight / (1.0 + np.exp(np.clip(ahead, -50, 50))) / MARGIN
        each = np.bincount(far, slope, len(rest)) - np.bincount(near, slope, len(rest))
        along = broken.T @ (each * charges.opened * np.where(amount > 0, rest, 0.0))
        value = (weight * np.logaddexp(0.0, -ahead)).sum() + penalty @ free
        return float(value), np.concatenate([along, -along]) + penalty

    start = np.append(np.full(heads, 1.0 / heads), np.zeros(heads))
    free = _minimise(loss, start, [True] * (2 * heads))
    weights = free[:heads] - free[heads:]
    return np.where(np.abs(weights) * spread < LEAST, 0.0, weights)


def _comparisons(given: Contrasts) -> tuple[Ints, Ints, Floats]:
    """Draw pairs that should be near, pairs that should be farther, and what each counts."""
    rng, rows = np.random.default_rng(SEED), np.arange(len(given.pairs))
    kinds = np.array(given.kinds)
    sides = {
        kind: tuple(rows[(kinds == kind) & (given.same == side)] for side in (True, False))
        for kind in sorted(set(given.kinds))
    }
    drawn: list[tuple[Ints, Ints, float]] = []

    def draw(same: Ints, different: Ints, count: int, weight: float) -> None:
        if len(same) and len(different) and weight:
            drawn.append((rng.choice(same, count), rng.choice(different, count), weight / count))

    common = [kind for kind in sides if _weight(kind)]
    total = sum(map(_weight, common))
    for kind in common:
        draw(sides[kind][0], sides[kind][1], DRAWS, 1.0 / len(common))
        for other in common:
            share = _weight(kind) * _weight(other) / total**2
            draw(sides[kind][0], sides[other][1], ACROSS, share)
    for kind, weight in (("paraphrase", PARAPHRASES), ("change", CHANGES)):  # of one sentence each
        same, different = sides[kind]
        drawn.append((same, different, weight / len(same)))
    weights = np.concatenate([np.full(len(same), weight) for same, _, weight in drawn])
    near, far = (np.concatenate([part[side] for part in drawn]) for side in (0, 1))
    return near, far, weights / weights.sum()


def _family(kind: str) -> str:
    return "natural" if kind.endswith("natural") else kind


def _weight(kind: str) -> float:
    return WEIGHTS.get(_family(kind), 1.0)


def _minimise(
    loss: Callable[[Floats], tuple[float, Floats]], start: Floats, positive: list[bool]
) -> Floats:
    """Minimise a smooth function of weights, some of which are ≥ 0."""
    try:
        from scipy.optimize import minimize
    except ImportError as error:
        raise DependencyError("calibrating a model needs scipy", Do("pip install scipy")) from error
    bounds = [(0.0 if low else None, None) for low in positive]
    options = {"maxiter": 1000}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return np.asarray(found.x)
