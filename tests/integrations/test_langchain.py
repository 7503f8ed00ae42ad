"""LangChain's own tests of its interfaces, and what ours add to them."""

import pytest

pytest.importorskip("langchain_tests", reason="needs langchain-tests")

from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_tests.integration_tests.cache import AsyncCacheTestSuite, SyncCacheTestSuite
from langchain_tests.integration_tests.retrievers import RetrieversIntegrationTests
from langchain_tests.integration_tests.vectorstores import VectorStoreIntegrationTests

from movers.errors import InputError
from movers.integrations.langchain import (
    MoversCache,
    MoversCompressor,
    MoversRetriever,
    MoversVectorStore,
)
from movers.loading import load
from movers.search.index import Index

pytestmark = pytest.mark.anyio

NEWS = [
    "the senator sued the newspaper",
    "the newspaper sued the senator",
    "rain is expected in Paris",
]


@pytest.fixture
def anyio_backend():
    return "asyncio"


class TestStoreInMemory(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self):
        return MoversVectorStore()


class TestStoreOnDisk(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, tmp_path):
        return MoversVectorStore(tmp_path / "store")


class TestRetriever(RetrieversIntegrationTests):
    retriever_constructor = MoversRetriever
    retriever_query_example = "who sued the newspaper?"

    @property
    def retriever_constructor_params(self):
        return {"source": Index.build(load(), NEWS)}


class TestCache(SyncCacheTestSuite):
    @pytest.fixture
    def cache(self, tmp_path):
        return MoversCache(tmp_path)


class TestCacheAwaited(AsyncCacheTestSuite):
    @pytest.fixture
    async def cache(self):
        return MoversCache()


def test_the_reranker_puts_who_sued_whom_first():
    documents = [Document(text, metadata={"place": k}) for k, text in enumerate(NEWS[::-1])]
    found = MoversCompressor(top_n=2).compress_documents(documents, "a senator sued a newspaper")
    assert [one.metadata["place"] for one in found] == [2, 1]
    assert found[0].metadata["similarity"] > found[1].metadata["similarity"]
    assert documents[2].metadata == {"place": 2}
    assert MoversCompressor().compress_documents([], "a query") == []
    near = MoversCompressor(least=0.9).compress_documents(documents, NEWS[0])
    assert [one.page_content for one in near] == [NEWS[0]]


def test_a_store_is_there_again_and_gives_scores(tmp_path):
    ids = MoversVectorStore.from_texts(NEWS, folder=tmp_path, metadatas=[{"k": 1}] * 3)
    ids.records.close()
    again = MoversVectorStore(tmp_path)
    found = again.similarity_search_with_relevance_scores(NEWS[1], k=2)
    assert found[0][0].page_content == NEWS[1] and found[0][1] == 1.0 > found[1][1] >= 0.0
    assert again.as_retriever(search_kwargs={"k": 1}).invoke(NEWS[2])[0].page_content == NEWS[2]


def test_a_filter_keeps_looking_until_there_are_enough(tmp_path):
    texts = [f"the newspaper sued senator number {k}" for k in range(40)]
    store = MoversVectorStore.from_texts(
        texts, folder=tmp_path, metadatas=[{"page": k, "odd": k % 2 == 1} for k in range(40)]
    )
    (one,) = store.similarity_search(texts[3], k=1, filter={"page": 31, "odd": True})
    assert one.page_content == texts[31]
    even = store.similarity_search(texts[3], k=25, filter=lambda one: not one.metadata["odd"])
    assert len(even) == 20 and not any(one.metadata["odd"] for one in even)
    assert store.similarity_search(texts[3], filter={"author": "me"}) == []
    retriever = store.as_retriever(search_kwargs={"k": 1, "filter": {"page": 7}})
    assert retriever.invoke(texts[3])[0].page_content == texts[7]


def test_what_a_store_cannot_do_is_not_ignored():
    store = MoversVectorStore.from_texts(NEWS)
    with pytest.raises(InputError, match="filter, not fetch"):
        store.similarity_search(NEWS[0], fetch=3)
    with pytest.raises(InputError, match="a mapping of metadata or a function"):
        store.similarity_search(NEWS[0], filter="page")


def test_a_chat_is_answered_again_only_in_the_same_context(tmp_path):
    model = FakeListChatModel(
        responses=["one", "two", "three", "four"], cache=MoversCache(tmp_path)
    )

    def ask(system, text):
        return model.invoke([SystemMessage(system), HumanMessage(text)]).content

    asked = "how do I transfer money from savings to checking?"
    assert ask("be brief", asked) == "one"
    assert ask("be brief", "How do I transfer money from savings to checking") == "one"
    assert ask("be brief", "how do I transfer money from checking to savings?") == "two"
    assert ask("be long", asked) == "three"
