"""LangChain: a retriever, a reranker, a vector store and a cache, all of them exact."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

import numpy as np
from langchain_core._api import LangChainBetaWarning
from langchain_core.caches import RETURN_VAL_TYPE, BaseCache
from langchain_core.callbacks import CallbackManagerForRetrieverRun, Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.embeddings import Embeddings
from langchain_core.load import dumps, loads
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore
from pydantic import ConfigDict, Field

from movers.cache import SemanticCache
from movers.client import Client
from movers.errors import InputError
from movers.integrations.metadata_filter import read_filter
from movers.io.pairs import check_sentences, check_share
from movers.loading import load
from movers.results import Match
from movers.runtime.json_text import parse_json
from movers.runtime.notices import notify
from movers.scorer import Scorer
from movers.search.collection import Collection, Record, as_json
from movers.search.index import Index

OPEN = ConfigDict(arbitrary_types_allowed=True)
Filter = Mapping[str, Any] | Callable[[Document], bool]
"""Metadata that documents must have, or operators of it, or what says of each if it counts."""


def _scores(match: Match) -> dict[str, float | None]:
    return {"distance": match.distance, "similarity": match.similarity}


class MoversRetriever(BaseRetriever):
    """Sentences of an index, in this process or on a server, nearest first.

    Parameters
    ----------
    source
        An `Index`, or a `Client` of a server with one.
    k
        How many to find.
    options
        Further options of `Index.search`: ``within``, ``guards``.
    """

    model_config = OPEN
    source: Index | Client
    k: int = 4
    options: dict[str, Any] = Field(default_factory=dict)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **given: Any
    ) -> list[Document]:
        matches = self.source.search(query, given.get("k", self.k), **self.options)
        return [
            Document(match.text, metadata={**_scores(match), "index": match.index})
            for match in matches
        ]


class MoversCompressor(BaseDocumentCompressor):
    """Rerank retrieved documents by what they say, word order included.

    Parameters
    ----------
    scorer
        The measure, or a `Client`; the default measure if missing.
    top_n
        How many to keep; None keeps all.
    least
        Similarity below which documents are left out; None keeps all.
    """

    model_config = OPEN
    scorer: Scorer | Client = Field(default_factory=load)
    top_n: int | None = 3
    least: float | None = None

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """Order documents by distance, with their scores in the metadata."""
        if not documents:
            return []
        ranking = self.scorer.rank(
            query, documents, top_k=self.top_n, key=lambda given: given.page_content
        )
        reranked = []
        for match in ranking:
            if self.least is None or (match.similarity or 0.0) >= self.least:
                document = documents[match.index]
                metadata = {**document.metadata, **_scores(match)}
                reranked.append(document.model_copy(update={"metadata": metadata}))
        return reranked


class MoversVectorStore(VectorStore):
    """Documents found exactly, by an index of their texts; it embeds by itself.

    Parameters
    ----------
    folder
        Where documents lie or will lie; None keeps them in memory.
    scorer
        The measure; None is the default one.
    """

    def __init__(self, folder: str | Path | None = None, *, scorer: Scorer | None = None) -> None:
        self.records = Collection(folder, scorer=scorer)

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[Any, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        **_: Any,
    ) -> list[str]:
        """Add texts, in the place of those with the same ids."""
        given = check_sentences(texts, "text")
        named, facts = _listed(ids, "id"), metadatas or [{} for _ in given]
        for what, several in (("ids", named), ("metadatas", facts)):
            if several and len(several) != len(given):
                raise InputError(
                    f"there are {len(several)} {what} while there are {len(given)} texts"
                )
        if blank := sum(not text.strip() for text in given):
            notify(f"{blank} of {len(given)} texts are blank, which no search finds")
        names = [name or uuid4().hex for name in named or [None] * len(given)]
        values = (
            as_json(one or {}, f"the metadata of text {number}") for number, one in enumerate(facts)
        )
        self.records.put(map(Record, names, given, values))
        return names

    def delete(self, ids: list[str] | None = None, **_: Any) -> bool | None:
        """Remove documents by id."""
        self.records.drop(_listed(ids, "id"))
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return documents by id; unknown ones are left out."""
        return [_stored(record) for record in self.records.get(_listed(ids, "id"))]

    def similarity_search(
        self, query: str, k: int = 4, filter: Filter | None = None, **given: Any
    ) -> list[Document]:
        """Return the documents nearest to a query, as `similarity_search_with_score` does."""
        scored = self.similarity_search_with_score(query, k, filter, **given)
        return [document for document, _ in scored]

    def similarity_search_with_score(
        self, query: str, k: int = 4, filter: Filter | None = None, **given: Any
    ) -> list[tuple[Document, float]]:
        """Return the documents nearest to a query, with their distances.

        Parameters
        ----------
        query, k
            What to look for, and how many documents to find.
        filter
            Metadata that documents must have, a list meaning that very list; operators of it, as
            ``{"page": {"$in": [1, 2]}}``; or a function of a document that says whether it counts.
            The search goes on until it has ``k`` of these.
        """
        if given:
            raise InputError(f"this store searches with k and filter, not {', '.join(given)}")
        nearest = self.records.find(query, k, keep=_kept_by(filter))
        return [(_stored(record), match.distance) for match, record in nearest]

    def max_marginal_relevance_search(
        self,
        query: str,
        k: int = 4,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        filter: Filter | None = None,
        **given: Any,
    ) -> list[Document]:
        """Return documents near to a query and far from each other, the nearest first.

        Parameters
        ----------
        query, k, filter
            As in `similarity_search_with_score`.
        fetch_k
            How many of the nearest documents to choose from.
        lambda_mult
            Weight of being near to the query, from 0 to 1; the rest is that of being far from what
            is chosen already.
        """
        check_share("lambda_mult", lambda_mult, "share")
        scored = self.similarity_search_with_score(query, max(k, fetch_k), filter, **given)
        if not scored:
            return []
        near = np.array([distance for _, distance in scored])
        apart = self.records.scorer.matrix([document.page_content for document, _ in scored])
        chosen = [0]
        while len(chosen) < min(k, len(scored)):
            away = apart[:, chosen].min(axis=1)
            worth = (1.0 - lambda_mult) * away - lambda_mult * near
            worth[chosen] = -np.inf
            chosen.append(int(worth.argmax()))
        return [scored[place][0] for place in chosen]

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        scorer = self.records.scorer
        far = scorer.far or 1.0
        return lambda distance: min(1.0, max(0.0, 1.0 - distance / far))

    @classmethod
    def from_documents(
        cls, documents: list[Document], embedding: Embeddings | None = None, **options: Any
    ) -> Self:
        """Make a store of documents; an embedding is not needed and not used."""
        return super().from_documents(documents, embedding, **options)  # type: ignore[arg-type]

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings | None = None,
        metadatas: list[dict[Any, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **options: Any,
    ) -> MoversVectorStore:
        """Make a store of texts; an embedding is not needed and not used."""
        store = cls(**options)
        store.add_texts(texts, metadatas, ids=ids)
        return store


def _kept_by(wanted: Filter | None) -> Callable[[Record], bool]:
    """Return what says of a record whether a filter lets it through."""
    if wanted is None:
        return lambda record: True
    if callable(wanted):
        return lambda record: bool(wanted(_stored(record)))
    if not isinstance(wanted, Mapping):
        raise InputError(f"filter must be a mapping of metadata or a function, not {wanted!r}")
    holds = read_filter(wanted)
    return lambda record: holds(_stored(record).metadata)


def _listed(given: Sequence[Any] | None, what: str) -> list[Any]:
    """List what is given; refuse a string, which is no list of its letters."""
    if isinstance(given, str):
        raise InputError(f"{what}s must be a list, got {given!r}; put it in a list")
    return [*(given or [])]


def _stored(record: Record) -> Document:
    return Document(record.text, metadata=parse_json(record.value), id=record.id)


class MoversCache(BaseCache):
    """Answers of models, given again to prompts that say the same under the same settings.

    Of a chat, the last message may be worded otherwise; all before it has to be the same.

    Parameters
    ----------
    folder
        Where answers lie or will lie; None keeps them in memory.
    options
        Those of `movers.cache.SemanticCache`.
    """

    def __init__(self, folder: str | Path | None = None, **options: Any) -> None:
        self.folder, self.options = None if folder is None else Path(folder), options
        self.options.setdefault("scorer", load())
        self.caches: dict[str, SemanticCache] = {}

    def _find(self, prompt: str, llm_string: str) -> tuple[SemanticCache, str]:
        """Return the cache of one model and one context, and the text that is looked for in it."""
        before, text = _last_message(prompt)
        name = sha256(json.dumps([llm_string, before]).encode()).hexdigest()[:16]
        if name not in self.caches:
            place = None if self.folder is None else self.folder / name
            self.caches[name] = SemanticCache(place, **self.options)
        return self.caches[name], text

    def lookup(self, prompt: str, llm_string: str) -> RETURN_VAL_TYPE | None:
        """Return the generations for a prompt that says the same; None if there is none."""
        cache, text = self._find(prompt, llm_string)
        generations = cache.get(text).answer
        if generations is None:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LangChainBetaWarning)  # of loads
            return [loads(generation, allowed_objects="core") for generation in generations]

    def update(self, prompt: str, llm_string: str, return_val: RETURN_VAL_TYPE) -> None:
        """Store generations."""
        cache, text = self._find(prompt, llm_string)
        if text.strip():
            cache.set(text, [dumps(generation) for generation in return_val])

    def clear(self, **_: Any) -> None:
        """Forget all answers of the caches in use."""
        for cache in self.caches.values():
            cache.clear()


def _last_message(prompt: str) -> tuple[Any, str]:
    """Return what comes before the last message of a prompt, and the text of that."""
    try:
        *before, last = parse_json(prompt)
        text = last["kwargs"]["content"]
    except (ValueError, TypeError, KeyError):  # a plain prompt
        return None, prompt
    rest = {name: value for name, value in last["kwargs"].items() if name not in ("content", "id")}
    return ([before, rest], text) if isinstance(text, str) else (None, prompt)
