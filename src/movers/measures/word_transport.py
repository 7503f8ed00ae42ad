"""Words of one sentence moved onto those of another at the least cost.

    min over P >= 0 of sum C[i, j] P[i, j],   rows of P sum to u, columns to v

Kusner et al. (2015) weigh all words alike and take Euclidean distances of their vectors; Yokoi et
al. (2020) weigh by length and take cosines. With a price for mass that stays at home, words may
match nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from movers.arrays import Floats, Ints, Ragged
from movers.errors import Choose, Do, InputError
from movers.explain.compared import Home, WordPlan
from movers.measures.base import Measure
from movers.measures.bounds import Bound, WordBound, relaxed_transport
from movers.measures.parts.costs import pair_costs
from movers.measures.sentences import WeightedSentences
from movers.results import Comparison
from movers.solve.batch import Problems, emd_batch
from movers.solve.solution import Many


@dataclass(frozen=True)
class WordTransport(Measure):
    """Exact transport of words; ``cost`` is a row of `movers.measures.parts.costs.COSTS`."""

    cost: str | None = "l2"

    @property
    def reads_vectors(self) -> bool:  # type: ignore[override]
        """Whether word vectors enter the measure."""
        return self.cost is not None or self.weights == "norm"

    def _settings(self) -> set[str]:
        return {*super()._settings(), "null"}

    def describe(self) -> dict[str, Any]:
        """Return what users may want to know of it, as plain values."""
        return {**super().describe(), "cost": self.cost}

    # solving

    def pose(self, sentences: WeightedSentences, rows: Ints) -> Problems:
        """Pose the transport problems of pairs that have words."""
        return Problems.between(sentences.weights, rows, self.costs(sentences, rows)[0])

    def costs(self, sentences: WeightedSentences, rows: Ints) -> tuple[Ragged, Floats | float]:
        """Return what moving each word costs, and what tokens without a row would add in sum."""
        sources, targets = rows.T
        if self.cost is None:
            return Ragged.zeros(sentences.weights.lengths[rows].prod(axis=1)), 0.0
        assert sentences.vectors is not None and sentences.norms is not None
        words, threads = (sentences.vectors, sentences.norms.data), self.context.threads
        return pair_costs(self.cost, *words, sources, targets, threads=threads), 0.0

    def move(self, problems: Problems, null: Floats | None = None, *, plans: bool = False) -> Many:
        """Solve problems; ``null`` is the price of a unit of mass that stays at home."""
        return emd_batch(problems, null=null, threads=self.context.threads, plans=plans)

    def home_prices(
        self, sentences: WeightedSentences, rows: Ints, problems: Problems
    ) -> Floats | None:
        """Return the price of a unit at home: `null` times the mean cost; None if all must move.

        That is what a unit is charged on average if all words go everywhere alike.
        """
        null = self.context.null
        if null is None or np.isinf(null):
            return None
        costs = problems.costs
        return np.asarray(null * costs.sums() / costs.lengths)[:, None]

    def solve(self, sentences: WeightedSentences, rows: Ints) -> Many:
        """Return the distance of every pair with its parts, ``(pairs, heads)``, without plans."""
        problems = self.pose(sentences, rows)
        return self.move(problems, self.home_prices(sentences, rows, problems))

    def head_values(self, sentences: WeightedSentences, rows: Ints) -> Floats:
        """Return the distance of every pair under every head, ``(pairs, heads)``."""
        return self.reported(self.solve(sentences, rows))

    def distances(self, sentences: WeightedSentences, rows: Ints) -> Floats:
        """Return the distance of every pair of rows: the mean over heads."""
        return np.asarray(self.head_values(sentences, rows).mean(axis=1))

    # reasons and bounds

    def explain(self, sentences: WeightedSentences, source: int, target: int) -> Comparison:
        """Compare two sentences by row, with the plan and what stays at home."""
        rows = np.array([[source, target]])
        if self.undefined(sentences, rows)[0]:
            parts, scales, cost = self.limits(sentences, rows), None, np.zeros(0)
            paid = None if self.context.null is None else np.zeros(parts.home.shape[1])
        else:
            problems = self.pose(sentences, rows)
            null = self.home_prices(sentences, rows, problems)
            parts, scales = self.move(problems, null, plans=True), problems.scale
            cost, paid = problems.costs.data, None if null is None else (null * parts.home)[0]
        reasons = self.reasons(parts, paid)
        if self.cost is not None:
            reasons["cost"] = cost.reshape(sentences.weights.lengths[rows[0]])
        if paid is not None:
            charged = paid if "at home" in reasons["parts"] else None
            reasons["home"] = Home(charged, *(sentences.weights[row] for row in (source, target)))
        comparison = self.comparison(sentences, rows, parts, scales, **reasons)
        return replace(comparison, words=self.words_alone(comparison))

    def reasons(self, parts: Many, paid: Floats | None) -> dict[str, Any]:
        """Return what the distance adds up from; ``paid`` is what mass at home costs by head."""
        words, structure = shares = self.word_share, 1.0 - self.word_share
        added = {}
        if words:
            added["words"] = words * float(parts.linear.mean())
        if structure:
            added["structure"] = structure * float(parts.structural.mean())
        if paid is not None and not self.word_part:
            added["at home"] = float(paid.mean())
        return {"shares": shares, "parts": added}

    def words_alone(self, found: Comparison) -> WordPlan | None:
        """Return the plan of the words without structure; None where words cost nothing."""
        return found.words

    @property
    def bound(self) -> Bound:
        """What every distance is at least; refused where mass may stay."""
        if self.context.null is not None:
            raise InputError(
                f"null == {self.context.null:g}: bounds hold where all words move",
                Do("rank"),
                Choose("null", None),
            )
        threads = self.context.threads
        return WordBound(partial(relaxed_transport, self.cost, self.word_share, threads))

    @property
    def word_share(self) -> float:
        """Factor of the word cost in the distance."""
        return 1.0 if self.word_part else 1.0 - self.share
