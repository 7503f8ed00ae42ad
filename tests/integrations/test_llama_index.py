"""LlamaIndex: nodes reranked and retrieved, through its own public calls."""

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra movers[llama-index]")

from llama_index.core import Settings
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import ResponseMode, get_response_synthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from movers.errors import InputError
from movers.integrations.llama_index import MoversRerank, MoversRetriever
from movers.loading import load
from movers.search.index import Index

NEWS = [
    "the newspaper sued the senator",
    "rain is expected in Paris",
    "the senator sued the newspaper",
]


def test_nodes_are_reranked_by_who_sued_whom():
    nodes = [NodeWithScore(node=TextNode(text=text), score=0.5) for text in NEWS]
    rerank = MoversRerank(top_n=2)
    found = rerank.postprocess_nodes(nodes, query_str="a senator sued a newspaper")
    assert [one.text for one in found] == [NEWS[2], NEWS[0]] and found[0].score > found[1].score
    assert rerank.postprocess_nodes([], query_str="x") == []
    with pytest.raises(InputError, match="for a query"):
        rerank.postprocess_nodes(nodes)


def test_measures_without_a_scale_score_by_distance():
    nodes = [NodeWithScore(node=TextNode(text=text)) for text in NEWS]
    found = MoversRerank(load("wsmd")).postprocess_nodes(nodes, QueryBundle(NEWS[1]))
    assert found[0].text == NEWS[1] and found[0].score >= found[1].score


def test_an_engine_retrieves_and_reranks(monkeypatch):
    monkeypatch.setattr(Settings, "_llm", MockLLM())
    retriever = MoversRetriever(Index.build(load(), NEWS), top_k=3, guards=["roles"])
    engine = RetrieverQueryEngine(
        retriever,
        get_response_synthesizer(response_mode=ResponseMode.NO_TEXT),
        node_postprocessors=[MoversRerank(top_n=1)],
    )
    found = engine.query("the senator sued a newspaper").source_nodes
    assert [one.text for one in found] == [NEWS[2]]
