"""LangChain: a retriever, a reranker, a vector store and a cache, all of them exact."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

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
from movers.loading import load
from movers.results import Match
from movers.runtime.json_text import parse_json
from movers.scorer import Scorer
from movers.search.collection import Collection, Record
from movers.search.index import Index

OPEN = ConfigDict(arbitrary_types_allowed=True)
Filter = Mapping[str, Any] | Callable[[Document], bool]
"""Metadata that documents must have, or what says of each whether it counts."""


def _document(match: Match, **more: Any) -> Document:
    scores = {"distance": match.distance, "similarity": match.similarity}
    return Document(match.text, metadata={**scores, "index": match.index}, **more)


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
        return [_document(match) for match in matches]


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
                scores = {"distance": match.distance, "similarity": match.similarity}
                metadata = {**document.metadata, **scores}
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
        given = list(texts)
        names = [name or uuid4().hex for name in ids or [None] * len(given)]
        every = zip(names, given, metadatas or [{} for _ in given], strict=True)
        self.records.put(Record(name, text, json.dumps(facts)) for name, text, facts in every)
        return names

    def delete(self, ids: list[str] | None = None, **_: Any) -> bool | None:
        """Remove documents by id."""
        self.records.drop(ids or [])
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return documents by id; unknown ones are left out."""
        return [_stored(record) for record in self.records.get(ids)]

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
            Metadata that documents must have, or a function of a document that says whether it
            counts. The search goes on until it has ``k`` of these.
        """
        if given:
            raise InputError(f"this store searches with k and filter, not {', '.join(given)}")
        nearest = self.records.find(query, k, keep=_kept_by(filter))
        return [(_stored(record), match.distance) for match, record in nearest]

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        scorer = self.records.scorer
        far = scorer.far or 1.0
        return lambda distance: min(1.0, max(0.0, 1.0 - distance / far))

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

    def has_all(record: Record) -> bool:
        metadata = _stored(record).metadata
        return all(key in metadata and metadata[key] == one for key, one in wanted.items())

    return has_all


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
