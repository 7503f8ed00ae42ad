"""LlamaIndex: a reranker of nodes and a retriever over an exact index."""

from __future__ import annotations

from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode

from movers.client import Client
from movers.errors import InputError
from movers.loading import load
from movers.scorer import Scorer
from movers.search.index import Index


class MoversRerank(BaseNodePostprocessor):
    """Rerank retrieved nodes by what they say, word order included.

    Scores are similarities, from 0, unrelated, to 1, the same; minus distances where the measure
    has no scale.
    """

    top_n: int = Field(default=3, description="How many nodes to keep.")
    _scorer: Scorer | Client = PrivateAttr()

    def __init__(self, scorer: Scorer | Client | None = None, *, top_n: int = 3) -> None:
        fields: dict[str, Any] = {"top_n": top_n}
        super().__init__(**fields)
        self._scorer = load() if scorer is None else scorer

    @classmethod
    def class_name(cls) -> str:
        """Return what LlamaIndex calls it."""
        return "MoversRerank"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            raise InputError("nodes are reranked for a query; pass query_bundle or query_str")
        if not nodes:
            return []
        ranking = self._scorer.rank(
            query_bundle.query_str,
            nodes,
            top_k=self.top_n,
            key=lambda one: one.node.get_content(MetadataMode.NONE),
        )
        return [NodeWithScore(node=nodes[one.index].node, score=_score(one)) for one in ranking]


class MoversRetriever(BaseRetriever):
    """Sentences of an index, in this process or on a server, as nodes, nearest first."""

    def __init__(self, source: Index | Client, *, top_k: int = 4, **options: Any) -> None:
        self.source, self.top_k, self.options = source, top_k, options
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        matches = self.source.search(query_bundle.query_str, self.top_k, **self.options)
        return [
            NodeWithScore(node=TextNode(text=match.text, id_=str(match.index)), score=_score(match))
            for match in matches
        ]


def _score(match: Any) -> float:
    return -match.distance if match.similarity is None else float(match.similarity)
