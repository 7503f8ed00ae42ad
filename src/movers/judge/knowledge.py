"""What a judge knows: a weight for every number of a pair, and where these come from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path

import numpy as np

from movers.arrays import Array, Floats
from movers.errors import Do, InputError
from movers.runtime.json_text import parse_json
from movers.runtime.numbers_file import load_numbers, save_numbers

FORMAT = "movers-judge-1"
ARRAYS = ("center", "spread", "weights", "intercept")


@dataclass(frozen=True, eq=False)
class Knowledge:
    """A logistic model of evidence: ``p = 1 / (1 + exp(-(intercept + weights . z)))``.

    Parameters
    ----------
    fingerprint
        Hash of the encoder whose evidence it reads.
    names
        What the columns of the evidence are called.
    center, spread
        What is taken from every column, and what the rest is divided by, to get z.
    weights, intercept
        Weights of the columns of z; the intercept is an array of one number.
    facts
        Where it comes from: data and their digest, counts, date. Of a graded judge, "grades" has
        the least and the greatest grade.
    """

    fingerprint: str
    names: tuple[str, ...]
    center: Floats
    spread: Floats
    weights: Floats
    intercept: Floats
    facts: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def digest(self) -> str:
        """Eight hex digits that pin every number."""
        total = sha256(json.dumps([self.fingerprint, *self.names]).encode())
        for name in ARRAYS:
            total.update(np.ascontiguousarray(getattr(self, name)).tobytes())
        return total.hexdigest()[:8]

    @property
    def grades(self) -> tuple[float, float] | None:
        """The least and the greatest grade of a graded judge; None for one of yes and no."""
        if "grades" not in self.facts:
            return None
        low, high = self.facts["grades"].split()
        return float(low), float(high)

    def standardised(self, evidence: Floats) -> Floats:
        """Return evidence with every column centred and scaled."""
        return np.asarray((evidence - self.center) / self.spread)

    def arguments(self, evidence: Floats) -> Floats:
        """Return what every column adds to the log-odds, ``(pairs, columns)``."""
        return self.standardised(evidence) * self.weights

    def odds(self, evidence: Floats) -> Floats:
        """Return the log-odds that pairs say the same, ``(pairs,)``."""
        # row by row, so that a pair has the same bits in any company
        return np.asarray(self.arguments(evidence).sum(axis=1) + self.intercept[0])

    def probabilities(self, evidence: Floats) -> Floats:
        """Return how probable it is that pairs say the same, ``(pairs,)``."""
        return logistic(self.odds(evidence))

    def save(self, path: str | Path) -> None:
        """Write to a safetensors file, whole or not at all."""
        header = {
            "format": FORMAT,
            "fingerprint": self.fingerprint,
            "names": json.dumps(self.names),
            "facts": json.dumps(dict(self.facts)),
        }
        save_numbers(Path(path), header, {name: getattr(self, name) for name in ARRAYS})

    @classmethod
    def load(cls, path: str | Path) -> Knowledge:
        """Read what `save` wrote."""
        from safetensors import SafetensorError

        if not Path(path).is_file():
            raise InputError(f"there is no judge {str(path)!r}", Do("learn"))
        try:
            header, tensors = load_numbers(Path(path))
            if header.get("format") == FORMAT:
                return cls._of(header, tensors)
        except SafetensorError as error:
            raise InputError(f"{str(path)!r} is not a judge: {error}", Do("learn")) from error
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            why = f"the judge {str(path)!r} is damaged ({error})"
            raise InputError(why, Do("learn")) from error
        raise InputError(
            f"{str(path)!r} has format {header.get('format')!r}, expected {FORMAT!r}", Do("learn")
        )

    @classmethod
    def _of(cls, header: Mapping[str, str], tensors: Mapping[str, Array]) -> Knowledge:
        names, facts = tuple(parse_json(header["names"])), dict(parse_json(header["facts"]))
        arrays = [np.asarray(tensors[name], np.float64) for name in ARRAYS]
        for name, array in zip(ARRAYS, arrays, strict=True):
            length = 1 if name == "intercept" else len(names)
            if array.shape != (length,) or not np.isfinite(array).all():
                raise ValueError(f"{name} is not {length} finite numbers")
        if not (arrays[1] > 0).all():
            raise ValueError("a spread is not above 0")
        center, spread, weights, intercept = arrays
        return cls(header["fingerprint"], names, center, spread, weights, intercept, facts)


def logistic(odds: Floats) -> Floats:
    """Return the probabilities of log-odds."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(odds, -500, 500))))


def digest_of(pairs: Sequence[tuple[str, str]], labels: Floats) -> str:
    """Return eight hex digits that change with any sentence or label."""
    lines = (
        f"{source}\t{target}\t{label!r}\n"
        for (source, target), label in zip(pairs, labels.tolist(), strict=True)
    )
    return sha256("".join(lines).encode()).hexdigest()[:8]
