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
    _, limit = check_queries([query], within, top_k=top_k)
    if budget is not None:
        check_count("budget", budget)
    scorer, started = _checked(scorer), time.process_time()
    words = scorer.weigh_each([query], cache)
    numbers, listed = dict[Any, int](), dict[int, Candidate]()
    given = None if callable(candidates) else _listed(candidates)
    unit, sound = unit_vectors(words.pooled)
    if given is None and not sound[0]:
        raise InputError(f"the query has no direction to search in ({query!r})")
    compared = 0

    def numbered(one: Candidate) -> int:
        """List a candidate by its number, which decides between equal distances."""
        new = int(one.key) if isinstance(one.key, Integral) else BEHIND + len(numbers)
        listed.setdefault(numbers.setdefault(one.key, new), one)
        return numbers[one.key]

    def nearest(count: int) -> Nearest:
        """Return candidates in order of their cosines, and what these say of all others."""
        proposed = candidates(unit[0], count) if callable(candidates) else given or []
        all_listed = given is None and len(proposed) < count
        rows = np.array([*map(numbered, proposed)], np.int64)
        cosines = np.array([one.cosine for one in proposed], np.float64)
        bounds = np.nan_to_num(1.0 - cosines - tolerance, nan=-np.inf)
        rest = np.inf if all_listed else float(bounds.max(initial=-np.inf))
        order = np.lexsort((rows, bounds))
        return Nearest(rows[order], bounds[order], rest)

    def read(rows: Ints) -> WeightedSentences:
        return scorer.weigh_each([listed[row].text for row in rows.tolist()], cache)

    def compare(rows: Ints) -> Floats:
        nonlocal compared
        compared += len(rows)
        return distances_from(scorer, words, rows, read)

    result = walk(nearest, compare, wanted=top_k, within=limit, budget=budget)
    left, seconds = len(listed) - compared, time.process_time() - started
    known = result.bound is not None and np.isfinite(result.bound)
    matches = scorer.matches(
        result.rows, result.distances, lambda row: listed[row].text, scorer.encoder.unread
    )
    return SearchRanking(
        query,
        tuple(replace(match, index=listed[match.index].key) for match in matches),
        scorer.signature,
        Pruning(len(listed), solved=compared, left_out=left, seconds=seconds),
        certified=result.certified,
        bound=result.bound if known else None,
    )


def _checked(scorer: Scorer | None) -> Scorer:
    scorer = load() if scorer is None else scorer
    if not isinstance(scorer.measure.bound, CosineBound):
        raise InputError(
            f"{scorer.measure.name} is not bounded by the cosine of sentence vectors; use "
            "method='movers', or an Index"
        )
    return scorer


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
