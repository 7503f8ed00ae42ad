"""What of an encoder tells meaning from order, learned once from contrasts.

Contrasts are pairs of sentences whose words changed places, with and without a change of meaning,
shipped as plain text (``data/contrasts_english.tsv``, made by ``scripts/contrasts``); further
tables hold swaps with one more change, and sentences with other words in the same places. Every
attention head has a share of relations that it sees broken, and words that moved have other vectors
where they stand now, by so much along each of a few directions. Out of these signs a small network
makes the odds that the meaning changed: a sum of them, as in a logistic regression, and a few
further sums that saturate, since the same sign means one thing beside some and another beside
others. What is seen differs between short sentences and long ones, so every sum has two sets of
weights, of either sign: signs with negative ones give credit for order.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from movers.arrays import Bools, Floats, Ints
from movers.encode.encodings import Head
from movers.errors import DependencyError, Do
from movers.runtime.answer_cache import trusted_place
from movers.runtime.atomic import replacing
from movers.runtime.json_text import parse_json

SHARES = {
    "restated": 0.68, "grammar": 0.67, "natural": 0.93, "paraphrase": 0.76, "change": 1.56,
    "replaced": 1.26, "rewording": 0.3,
}  # fmt: skip
"""How much each family of contrasts counts; the kinds of a family count alike, but for `OFTEN`."""
OFTEN = {"choice": 3.0}
RIDGE, RIDGE_UNITS = 0.016, 0.0034
"""Factors of the squared weights of the sum, and of those of the sums that saturate."""
UNITS, STARTS, STEPS = 8, 3, 120
"""Sums that saturate, from how many random starts (the mean is taken), and steps of each fit."""
FIRM, SHIFT = 1.5, -0.4
"""Factor of the odds, which ridges make too timid; what is added to them."""
DIRECTIONS, FINE = 32, 1000
"""Directions of word vectors that are read; into how many steps their unit is cut."""
HALFWAY, STEEP = 3.2, 6.0
"""Log of one more than the words of a pair where it is half-way from short to long; how soon."""
TESTED = 6
"""One in so many of the reporting half tests what was learned of an encoder."""
APART = 0.6
"""Probability to tell contrasts apart below which an encoder's heads count for nothing."""
SEEN = {
    "who does what": "passive.*|roles.*|questions|datives|clefts|relative.*|according.*|converse.*",
    "which way": "directions.*|locations|dates.*|before.*",
    "which word goes with which": "modifiers.*|attachment.*|genitives|names.*|numbers.*|verbs.*",
}
"""What a head may read, by the kinds of contrasts that it tells apart."""


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


def to_fit() -> Contrasts:
    """Return what weights are fitted on: one half, and pairs with other words in the same places.

    Those have another meaning, which sentence vectors tell; nothing is out of place in them.
    """
    given = contrasts()
    half = given.take(given.fit)
    pairs = [(row["source"], row["target"]) for row in _table("replaced_english.tsv")]
    inside = np.ones(len(pairs), bool)
    return Contrasts(
        half.kinds + ["replaced"] * len(pairs),
        np.append(half.same, inside),
        np.append(half.fit, inside),
        half.pairs + pairs,
    )


def to_test() -> Contrasts:
    """Return some of the other half, which tell how well weights do."""
    given = contrasts()
    rest = ~given.fit & ~np.isin(given.kinds, ("change", "rewording"))
    return given.take(rest & (np.cumsum(rest) % TESTED == 0))


class Network(NamedTuple):
    """Sums of signs, the first as it is and the others saturating: the odds of a change.

    Parameters
    ----------
    short, long
        Weights, ``(sums, signs + 1)``, for sentences with few words and with many; what is added
        to a sum comes last.
    factors
        What every sum counts in the odds; that of the first is 1.
    """

    short: Floats
    long: Floats
    factors: Floats

    def sums(self, signs: Floats, words: Ints) -> Floats:
        """Return all sums, ``(pairs, sums)``."""
        given = np.hstack([signs, np.ones((len(signs), 1))])
        along = longness(words)[:, None]
        both = np.hstack([given * (1.0 - along), given * along])
        sums = np.empty((len(signs), len(self.factors)))
        for place, weights in enumerate(np.hstack([self.short, self.long])):
            # row by row, so that a pair has the same bits in any company
            sums[:, place] = (both * weights).sum(axis=1)
        return sums

    def odds(self, signs: Floats, words: Ints) -> Floats:
        """Return log odds that the meaning changed.

        Parameters
        ----------
        signs
            What is seen of every pair, ``(pairs, signs)``.
        words
            Words of both sentences together, ``(pairs,)``.
        """
        sums = self.sums(signs, words)
        return np.asarray(sums[:, 0] + (np.tanh(sums[:, 1:]) * self.factors[1:]).sum(axis=1))

    def slopes(self, signs: Floats, words: Ints) -> Floats:
        """Return by how much the odds grow with each sign, ``(pairs, signs)``."""
        steep = self.factors * (1.0 - np.tanh(self.sums(signs, words)) ** 2)
        steep[:, 0] = 1.0
        along, slopes = longness(words)[:, None], np.zeros_like(signs)
        for part, short, long in zip(steep.T, self.short, self.long, strict=True):
            slopes += part[:, None] * (short + along * (long - short))[:, :-1]
        return slopes


@dataclass(frozen=True, eq=False)
class Calibration:
    """What the default measure knows of an encoder.

    Parameters
    ----------
    chance
        How far apart the vectors of unrelated sentences are: the mean of one minus cosine.
    heads
        Attention heads that are read; none where they tell nothing apart.
    network
        Makes the odds that the meaning changed of what these heads see, and of shifts.
    apart
        How well they do: the probability that of two contrasts of the reporting half the one with
        another meaning is charged more.
    reads
        What the heads that argue most read, and the probability by which each alone tells it.
    directions
        Along which vectors of words that moved are compared, ``(directions, dimensions)``.
    """

    chance: float
    heads: tuple[Head, ...]
    network: Network
    apart: float
    reads: Mapping[Head, tuple[str, float]] = field(default_factory=dict)
    directions: Floats = field(default_factory=lambda: np.zeros((0, 0)))

    @cached_property
    def digest(self) -> str:
        """Eight hex digits that pin all of it."""
        return _digest(self.to_json())

    @cached_property
    def digest_of_directions(self) -> str:
        """Eight hex digits that pin the directions, for what else is learned from shifts."""
        return _digest(self.to_json()["directions"])

    def to_json(self) -> dict[str, object]:
        """Return plain values: heads as ``layer.head``."""
        return {
            "chance": self.chance,
            "heads": [f"{layer}.{head}" for layer, head in self.heads],
            "directions": np.rint(self.directions * FINE).astype(int).tolist(),
            "network": {name: part.tolist() for name, part in self.network._asdict().items()},
            "apart": self.apart,
            "reads": {f"{layer}.{head}": list(read) for (layer, head), read in self.reads.items()},
        }

    def describe(self) -> list[str]:
        """Return what the heads that argue most for a change of meaning read, one text each."""
        return [
            f"{layer}.{head} {what} ({how:.2f})"
            for (layer, head), (what, how) in self.reads.items()
        ]

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Calibration:
        """Read what `to_json` wrote."""
        heads = tuple(_head(name) for name in values["heads"])
        directions = _directions(values["directions"])
        network = Network(*(np.array(values["network"][part], float) for part in Network._fields))
        width = len(network.factors), len(heads) + len(directions) + 1
        if network.short.shape != width or network.long.shape != width:
            raise ValueError(f"weights have shape {network.short.shape} and not {width}")
        reads = {
            _head(name): (str(what), float(how)) for name, (what, how) in values["reads"].items()
        }
        chance, apart = float(values["chance"]), float(values["apart"])
        return cls(chance, heads, network, apart, reads, directions)


def _digest(values: object) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:8]


def rounded_directions(given: Floats) -> Floats:
    """Return directions with the digits that are kept."""
    return np.asarray(np.rint(given * FINE) / FINE)


def _directions(rows: list[list[int]]) -> Floats:
    return np.array(rows, float) / FINE if rows else np.zeros((0, 0))


def longness(words: Ints) -> Floats:
    """Return 0 for pairs of short sentences, 1 for pairs of long ones, and between in between."""
    return np.asarray(1.0 / (1.0 + np.exp(STEEP * (HALFWAY - np.log1p(words)))))


def _head(name: str) -> Head:
    layer, head = name.split(".")
    return int(layer), int(head)


@cache
def shipped() -> dict[str, Calibration]:
    """Return the calibrations that come with the package, by fingerprint of the weights."""
    text = (files("movers") / "data" / "calibrations.json").read_text("utf-8")
    return {name: Calibration.from_json(values) for name, values in parse_json(text).items()}


def kept(fingerprint: str) -> Calibration | None:
    """Return a calibration from the user's cache, if it is there and whole."""
    path = _place(fingerprint)
    try:
        values = parse_json(path.read_text("utf-8")) if path is not None else {}
        known = Calibration.from_json(values)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return known if values.get("digest") == known.digest else None


def keep(fingerprint: str, calibration: Calibration) -> None:
    """Write a calibration into the user's cache, if that can be written to."""
    values = calibration.to_json() | {"digest": calibration.digest}
    if (path := _place(fingerprint)) is not None:
        with suppress(OSError), replacing(path, closed=True) as file:  # or others measure again
            file.write_text(json.dumps(values, indent=1), "utf-8")


def _place(fingerprint: str) -> Path | None:
    """Return where the calibration of an encoder lies, by what it was made from and how."""
    texts = [(files("movers") / "data" / name).read_bytes() for name in _SOURCES]
    made_from = hashlib.sha256(b"".join([*texts, repr(_settings()).encode()])).hexdigest()[:8]
    return trusted_place("calibrations", f"{fingerprint}-{made_from}.json")


def _settings() -> tuple[object, ...]:
    """Return what else decides what is learned."""
    ridges, fits, odds = (RIDGE, RIDGE_UNITS), (UNITS, STARTS, STEPS), (FIRM, SHIFT)
    return SHARES, OFTEN, ridges, fits, odds, (HALFWAY, STEEP), (DIRECTIONS, FINE)


_SOURCES = ("contrasts_english.tsv", "changes_english.tsv", "replaced_english.tsv")


class Seen(NamedTuple):
    """What is seen of pairs: the kind, whether the meaning changed, all signs, words.

    Signs are roots of what each head sees broken, then shifts along every direction.
    """

    kinds: list[str]
    changed: Bools
    signs: Floats
    words: Ints

    def take(self, chosen: Bools) -> Seen:
        """Return some of them."""
        kinds = [self.kinds[i] for i in np.flatnonzero(chosen).tolist()]
        return Seen(kinds, self.changed[chosen], self.signs[chosen], self.words[chosen])


def fit_network(seen: Seen) -> Network:
    """Fit by logistic loss with ridges: which pairs changed their meaning.

    Every family has its share, `SHARES`, and so have both sides. Weights are linear in the
    length of a pair, in the form of `longness`. The mean of several fits is taken, as each ends
    where its random start led it.
    """
    along = 2.0 * longness(seen.words)[:, None] - 1.0
    values = np.hstack([seen.signs, seen.signs * along, along])
    middle, spread = values.mean(axis=0), values.std(axis=0) + 1e-9
    scaled, weight = (values - middle) / spread, _balanced(seen)
    fits = [_fit_once(scaled, seen.changed, weight, start) for start in range(STARTS)]
    # one network with the units of all: the first sums add up to one, each counts its part
    rows = np.vstack(
        [np.mean([rows[:1] for rows, _ in fits], axis=0), *(rows[1:] for rows, _ in fits)]
    )
    factors = FIRM * np.concatenate([[1.0 / FIRM], *(factors / STARTS for _, factors in fits)])
    rows[0] *= FIRM
    rows[0, -1] += SHIFT
    weights, added = rows[:, :-1] / spread, rows[:, -1]
    added = added - weights @ middle
    level, change, length = np.split(
        weights, [seen.signs.shape[1], 2 * seen.signs.shape[1]], axis=1
    )
    short, long = (
        np.hstack([level + sign * change, (added[:, None] + sign * length)]) for sign in (-1, 1)
    )
    return Network(short, long, factors)


def _fit_once(x: Floats, changed: Bools, weight: Floats, seed: int) -> tuple[Floats, Floats]:
    """Fit from one start; returns sums, ``(1 + UNITS, features + 1)``, and factors of units."""
    random, shape = np.random.default_rng(seed), (1 + UNITS, x.shape[1] + 1)
    x = np.hstack([x, np.ones((len(x), 1))])
    sign = np.where(changed, 1.0, -1.0)
    ridge = np.full(shape, RIDGE_UNITS)
    ridge[0] = RIDGE
    ridge[:, -1] = 0.0
    rows = random.normal(0.0, 0.05, shape)
    rows[0] = rows[:, -1] = 0.0

    def loss(free: Floats) -> tuple[float, Floats]:
        rows, factors = free[:-UNITS].reshape(shape), free[-UNITS:]
        sums = x @ rows.T
        bent = np.tanh(sums[:, 1:])
        odds = sign * (sums[:, 0] + bent @ factors)
        slope = -weight * sign / (1.0 + np.exp(np.clip(odds, -50, 50)))
        steep = np.hstack([slope[:, None], slope[:, None] * factors * (1.0 - bent**2)])
        value = (weight * np.logaddexp(0.0, -odds)).sum() + (ridge * rows**2).sum()
        value += RIDGE_UNITS * (factors**2).sum()
        by_rows = steep.T @ x + 2.0 * ridge * rows
        by_factors = bent.T @ slope + 2.0 * RIDGE_UNITS * factors
        return float(value), np.concatenate([by_rows.ravel(), by_factors])

    found = _minimise(loss, np.concatenate([rows.ravel(), random.normal(0.0, 0.3, UNITS)]))
    return found[:-UNITS].reshape(shape), found[-UNITS:]


def _balanced(seen: Seen) -> Floats:
    """Return weights of pairs by which families have their shares, and both sides a half."""
    weight, kinds = np.zeros(len(seen.kinds)), np.array(seen.kinds)
    families = {kind: _family(kind) for kind in sorted(set(seen.kinds))}
    for side in (True, False):
        counts = {kind: ((kinds == kind) & (seen.changed == side)).sum() for kind in families}
        for family, share in SHARES.items():
            parts = [kind for kind in families if families[kind] == family and counts[kind]]
            total = sum(OFTEN.get(kind, 1.0) for kind in parts)
            for kind in parts:
                rows = (kinds == kind) & (seen.changed == side)
                weight[rows] = share * OFTEN.get(kind, 1.0) / total / counts[kind]
        weight[seen.changed == side] /= 2.0 * weight[seen.changed == side].sum()
    return weight


def _family(kind: str) -> str:
    if kind.endswith("natural"):
        return "natural"
    start = kind.partition(",")[0]
    return start if start in SHARES else "grammar"


def told_apart(charge: Floats, changed: Bools) -> float:
    """Return how probably a pair of another meaning is charged more than one of the same."""
    higher, lower = charge[changed, None], charge[~changed]
    return float(((higher > lower) + 0.5 * (higher == lower)).mean())


def what_is_read(seen: Seen, head: int) -> tuple[str, float]:
    """Return what a head tells best, and the probability that it does so alone."""
    charge, kinds = seen.signs[:, head], seen.kinds
    scores = {}
    for name, pattern in SEEN.items():
        rows = ~seen.changed | [bool(re.fullmatch(pattern, kind)) for kind in kinds]
        scores[name] = told_apart(charge[rows], seen.changed[rows])
    best = max(scores, key=scores.__getitem__)
    return best, float(f"{scores[best]:.2f}")


def _minimise(loss: Callable[[Floats], tuple[float, Floats]], start: Floats) -> Floats:
    """Minimise a smooth function of weights."""
    try:
        from scipy.optimize import minimize
    except ImportError as error:
        raise DependencyError("calibrating a model needs scipy", Do("pip install scipy")) from error
    options = {"maxiter": STEPS}
    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x)
