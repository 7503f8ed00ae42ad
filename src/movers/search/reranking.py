"""Exact answers from a vector store of somebody else: it proposes, movers decides."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np

from movers.arrays import Floats, Ints, Singles
from movers.encode.encodings import Store
from movers.errors import InputError
from movers.io.pairs import check_count, check_queries, check_sentence, check_sentences
from movers.loading import load
from movers.measures.bounds import CosineBound
from movers.measures.sentences import WeightedSentences
from movers.scorer import Scorer
from movers.search.cosine import pooled_vectors
from movers.search.search_ranking import Pruning, SearchRanking
from movers.search.vectors import unit_vectors
from movers.search.walk import Nearest, distances_from, walk

TOLERANCE = 1e-4
"""What the cosines of a store may be off: some hundred times the rounding of single precision."""
BEHIND = 1 << 62
"""Candidates whose keys are no numbers come behind those with any number."""


@dataclass(frozen=True)
class Candidate:
    """A sentence of a vector store.

    Parameters
    ----------
    key
        What the store knows it by; of sentences at the same distance the one with the smaller
        number comes first, and those with other keys as they are listed.
    text
        The sentence.
    cosine
        Cosine of its vector with the query's, as the store has it.
    """

    key: Any
    text: str
    cosine: float


VectorStore = Callable[[Singles, int], list[Candidate]]
"""Lists so many sentences nearest to a vector, nearest first, or all there are.

A certificate is worth what the order is worth: a store must leave out nothing that is nearer than
what it lists (a flat index, not an approximate one), by more than the tolerance of `rerank`.
"""


def embed(
    sentences: Iterable[str], *, scorer: Scorer | None = None, progress: bool = False
) -> Singles:
    """Return vectors to put into a store: those of the default measure, at length 1.

    Parameters
    ----------
    sentences
        Sentences, repeated ones included.
    scorer
        The default measure on another model; None is the model installed with movers.
    progress
        Show a progress bar.

    Examples
    --------
    >>> vectors = embed(["a dog barks", "a cat sleeps"])
    >>> vectors.shape, bool(np.allclose(np.linalg.norm(vectors, axis=1), 1))
    ((2, 384), True)
    """
    texts = check_sentences(sentences, "sentence")
    once = list(dict.fromkeys(texts))
    vectors, _ = unit_vectors(pooled_vectors(_checked(scorer), once, progress=progress))
    places = {text: place for place, text in enumerate(once)}
    return vectors[[places[text] for text in texts]]


def rerank(
    query: str,
    candidates: VectorStore | Iterable[str | Candidate],
    *,
    scorer: Scorer | None = None,
    top_k: int = 10,
    within: float | None = None,
    budget: int | None = None,
    tolerance: float = TOLERANCE,
    cache: Store | None = None,
) -> SearchRanking:
    """Find the sentences nearest to a query under the default measure.

    A store is asked for more candidates until no other can be among the nearest, and the result
    is certified. With a budget, or a list that ends before, it may not be; ``bound`` then says
    what no sentence that was not compared is nearer than.

    Parameters
    ----------
    query
        A sentence.
    candidates
        A store (`movers.search.stores`, or any function like theirs), or sentences as one
        returned them: with their cosines in order, the last cosine bounds what is not listed; of
        bare texts nothing more is known.
    scorer
        The default measure, on the model that made the vectors of the store; None is the model
        installed with movers.
    top_k
        How many to find.
    within
        Leave out what is farther away.
    budget
        Most candidates to compare.
    tolerance
        What the cosines of the store may be off.
    cache
        Where to keep encoded sentences from call to call:
        ``Store(scorer.measure.requirements)``. None is where the scorer keeps them itself.

    Examples
    --------
    >>> found = rerank("a dog chases a cat", ["a cat chases a dog", "a dog runs after a cat"])
    >>> found[0].text, found.certified
    ('a dog runs after a cat', False)
    """
    check_queries([query], top_k=top_k)
    if budget is not None:
        check_count("budget", budget)
    scorer, started = _checked(scorer), time.process_time()
    proposal = Proposal(query, scorer, candidates, tolerance, cache)
    limit = np.inf if within is None else within
    result = walk(proposal.nearest, proposal.compare, wanted=top_k, within=limit, budget=budget)
    total, solved, seconds = len(proposal.listed), proposal.compared, time.process_time() - started
    pruning = Pruning(total, solved=solved, left_out=total - solved, seconds=seconds)
    listed = [proposal.listed[row] for row in result.rows.tolist()]
    places = np.arange(len(listed))
    unread = scorer.encoder.unread
    matches = scorer.matches(places, result.distances, lambda at: listed[at].text, unread)
    return SearchRanking(
        query,
        tuple(replace(match, index=listed[match.index].key) for match in matches),
        scorer.signature,
        pruning,
        certified=result.certified,
        bound=result.bound if result.bound is not None and np.isfinite(result.bound) else None,
    )


def _checked(scorer: Scorer | None) -> Scorer:
    scorer = load() if scorer is None else scorer
    if not isinstance(scorer.measure.bound, CosineBound):
        raise InputError(
            f"{scorer.measure.name} is not bounded by the cosine of sentence vectors; use "
            "method='movers', or an Index"
        )
    return scorer


class Proposal:
    """The candidates proposed for a query so far."""

    def __init__(
        self,
        query: str,
        scorer: Scorer,
        candidates: VectorStore | Iterable[str | Candidate],
        tolerance: float,
        cache: Store | None,
    ) -> None:
        self.query, self.scorer, self.tolerance, self.cache = query, scorer, tolerance, cache
        self.compared = 0
        self.listed: dict[int, Candidate] = {}
        self._rows: dict[Any, int] = {}
        self.words = scorer.weigh_each([query], cache)
        self.store = candidates if callable(candidates) else None
        self.list = [] if callable(candidates) else _listed(candidates)

    def nearest(self, count: int) -> Nearest:
        """Return candidates in order of their cosines, and what these say of all others."""
        candidates, short = self.list, False
        if self.store is not None:
            vector, sound = unit_vectors(self.words.pooled)
            if not sound[0]:
                raise InputError(f"the query has no direction to search in ({self.query!r})")
            candidates = self.store(vector[0], count)
            short = len(candidates) < count
        rows = np.array([self._row(one) for one in candidates], np.int64)
        cosines = np.array([one.cosine for one in candidates], np.float64)
        bounds = np.nan_to_num(1.0 - cosines - self.tolerance, nan=-np.inf)
        rest = np.inf if short else float(bounds.max(initial=-np.inf))
        order = np.lexsort((rows, bounds))
        return Nearest(rows[order], bounds[order], rest, self.store is not None and not short)

    def _row(self, one: Candidate) -> int:
        """Return the number of a candidate, which decides between equal distances."""
        if one.key not in self._rows:
            row = int(one.key) if isinstance(one.key, Integral) else BEHIND + len(self._rows)
            self._rows[one.key], self.listed[row] = row, one
        return self._rows[one.key]

    def compare(self, rows: Ints) -> Floats:
        """Return full distances of candidates."""
        self.compared += len(rows)
        return distances_from(self.scorer, self.words, rows, self._read)

    def _read(self, rows: Ints) -> WeightedSentences:
        return self.scorer.weigh_each([self.listed[row].text for row in rows.tolist()], self.cache)


def _listed(candidates: Iterable[Any]) -> list[Candidate]:
    """Return candidates as they come; texts get their place as key."""
    if isinstance(candidates, str):
        raise InputError("candidates must be a store or a list, got one string")
    return [
        one
        if isinstance(one, Candidate)
        else Candidate(place, check_sentence(one, f"candidate {place}"), float("nan"))
        for place, one in enumerate(candidates)
    ]
