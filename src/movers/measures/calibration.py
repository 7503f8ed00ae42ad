"""Which attention heads of an encoder tell meaning from order, learned once from contrasts.

Contrasts are pairs of sentences whose words changed places, with and without a change of meaning,
shipped as plain text (``data/contrasts_english.tsv``, made by ``scripts/contrasts``); further
tables hold swaps with one more change, and sentences with other words in the same places. Every
head has a share of relations that it sees broken. Out of these shares a logistic regression makes
the odds that the meaning changed. What a head sees differs between short sentences and long ones,
so there are two sets of weights, of either sign: heads with negative ones give credit for order.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
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

SHARES = {
    "restated": 1.0, "grammar": 1.1, "natural": 0.6, "paraphrase": 0.6, "change": 0.6,
    "replaced": 0.6, "rewording": 0.25,
}  # fmt: skip
"""How much each family of contrasts counts; the kinds of a family count alike, but for `OFTEN`."""
OFTEN = {"choice": 3.0}
RIDGE, RIDGE_LENGTH = 0.03, 0.009
"""Factors of the squared weights, and of the squares of what they change by with the length."""
FIRM = 2.5
"""Factor of the odds, which ridges make too timid."""
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


@dataclass(frozen=True)
class Calibration:
    """What the default measure knows of an encoder.

    Parameters
    ----------
    chance
        How far apart the vectors of unrelated sentences are: the mean of one minus cosine.
    short, long
        Weights of heads in the odds that the meaning changed, of sentences with few words and
        with many. Empty where the heads tell nothing apart.
    bias
        Odds, as a logarithm, where nothing is broken.
    apart
        How well they do: the probability that of two contrasts of the reporting half the one with
        another meaning is charged more.
    reads
        What the heads that argue most read, and the probability by which each alone tells it.
    """

    chance: float
    short: Mapping[Head, float]
    long: Mapping[Head, float]
    bias: float
    apart: float
    reads: Mapping[Head, tuple[str, float]] = field(default_factory=dict)

    @cached_property
    def heads(self) -> tuple[Head, ...]:
        """Heads that have a weight."""
        return tuple(sorted({*self.short, *self.long}))

    @cached_property
    def digest(self) -> str:
        """Eight hex digits that pin all of it."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()[:8]

    def to_json(self) -> dict[str, object]:
        """Return plain values: heads as ``layer.head``."""
        named = {
            part: {f"{layer}.{head}": value for (layer, head), value in values.items()}
            for part, values in (("short", self.short), ("long", self.long), ("reads", self.reads))
        }
        return asdict(self) | named

    def describe(self) -> list[str]:
        """Return what the heads that argue most for a change of meaning read, one text each."""
        return [
            f"{layer}.{head} {what} ({how:.2f})"
            for (layer, head), (what, how) in self.reads.items()
        ]

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Calibration:
        """Read what `to_json` wrote."""
        short, long, reads = (
            {_head(name): value for name, value in values[part].items()}
            for part in ("short", "long", "reads")
        )
        return cls(
            float(values["chance"]),
            {head: float(weight) for head, weight in short.items()},
            {head: float(weight) for head, weight in long.items()},
            float(values["bias"]),
            float(values["apart"]),
            {head: (str(read[0]), float(read[1])) for head, read in reads.items()},
        )

    def odds(self, broken: Floats, words: Ints) -> Floats:
        """Return log odds that the meaning changed, for roots of what each head sees broken.

        Parameters
        ----------
        broken
            ``(pairs, heads)``, in the order of `heads`.
        words
            Words of both sentences together, ``(pairs,)``.
        """
        # row by row, so that a pair has the same bits in any company
        return np.asarray(self.bias + (broken * self.weights(words)).sum(axis=1))

    def weights(self, words: Ints) -> Floats:
        """Return the weights of the heads for pairs with so many words, ``(pairs, heads)``."""
        short, long = self._weights
        return np.asarray(short + longness(words)[:, None] * (long - short))

    @cached_property
    def _weights(self) -> tuple[Floats, Floats]:
        short, long = (
            np.array([part.get(head, 0.0) for head in self.heads])
            for part in (self.short, self.long)
        )
        return short, long


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
    return {name: Calibration.from_json(values) for name, values in json.loads(text).items()}


def kept(fingerprint: str) -> Calibration | None:
    """Return a calibration from the user's cache, if it is there and whole."""
    path = _place(fingerprint)
    try:
        values = json.loads(path.read_text("utf-8")) if path is not None else {}
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
    """Return where the calibration of an encoder lies, by the contrasts it was made from."""
    texts = [(files("movers") / "data" / name).read_bytes() for name in _SOURCES]
    made_from = hashlib.sha256(b"".join(texts)).hexdigest()[:8]
    return trusted_place("calibrations", f"{fingerprint}-{made_from}.json")


_SOURCES = ("contrasts_english.tsv", "changes_english.tsv", "replaced_english.tsv")


class Seen(NamedTuple):
    """What heads see of pairs: the kind, whether the meaning changed, what is broken, words."""

    kinds: list[str]
    changed: Bools
    broken: Floats
    words: Ints

    def take(self, chosen: Bools) -> Seen:
        """Return some of them."""
        kinds = [self.kinds[i] for i in np.flatnonzero(chosen).tolist()]
        return Seen(kinds, self.changed[chosen], self.broken[chosen], self.words[chosen])


class Weights(NamedTuple):
    """Weights of all heads for short and for long sentences, and the bias."""

    short: Floats
    long: Floats
    bias: float


def fit_weights(seen: Seen) -> Weights:
    """Fit a logistic regression with ridges: which pairs changed their meaning.

    Every family has its share, `SHARES`, and so have both sides. Weights are linear in the
    length of a pair, in the form of `longness`.
    """
    heads = seen.broken.shape[1]
    along = 2.0 * longness(seen.words)[:, None] - 1.0
    values = np.hstack([seen.broken, seen.broken * along])
    spread = values.std(axis=0) + 1e-9
    scaled, weight = values / spread, _balanced(seen)
    sign = np.where(seen.changed, 1.0, -1.0)
    ridge = np.repeat([RIDGE, RIDGE_LENGTH], heads)

    def loss(free: Floats) -> tuple[float, Floats]:
        odds = sign * (scaled @ free[:-1] + free[-1])
        slope = -weight * sign / (1.0 + np.exp(np.clip(odds, -50, 50)))
        value = (weight * np.logaddexp(0.0, -odds)).sum() + ridge @ free[:-1] ** 2
        return float(value), np.append(scaled.T @ slope + 2.0 * ridge * free[:-1], slope.sum())

    free = FIRM * _minimise(loss, np.zeros(2 * heads + 1))
    level, change = np.split(free[:-1] / spread, 2)
    return Weights(level - change, level + change, float(free[-1]))


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
    charge, kinds = seen.broken[:, head], seen.kinds
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
    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B").x)
