"""LangChain's own tests of its interfaces, and what ours add to them."""

from datetime import date

import pytest

pytest.importorskip("langchain_tests", reason="needs langchain-tests")

from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.outputs import Generation
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
from movers.runtime.notices import Notice
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
    with pytest.raises(InputError, match="the query is empty"):
        MoversVectorStore().similarity_search("")
    with pytest.raises(InputError, match="a mapping of metadata or a function"):
        store.similarity_search(NEWS[0], filter="page")


def test_operators_of_metadata_are_known():
    store = MoversVectorStore.from_texts(NEWS, metadatas=[{"page": k} for k in range(3)])
    found = store.similarity_search(NEWS[0], filter={"page": {"$in": [1, 2]}})
    assert [document.metadata["page"] for document in found] == [1, 2]
    with pytest.raises(InputError, match="no operator"):
        store.similarity_search(NEWS[0], filter={"page": {"$near": 1}})


def test_diverse_documents_are_far_from_each_other():
    texts = ["a senator sued a newspaper", "a senator sued the newspaper", *NEWS]
    store = MoversVectorStore.from_texts(texts)
    alike = store.max_marginal_relevance_search(texts[0], k=2, lambda_mult=1.0)
    assert [one.page_content for one in alike] == texts[:2]
    apart = store.max_marginal_relevance_search(texts[0], k=2, lambda_mult=0.0)
    assert [one.page_content for one in apart] == [texts[0], NEWS[2]]
    near = store.max_marginal_relevance_search(texts[0], k=9, fetch_k=2)
    assert sorted(one.page_content for one in near) == sorted(texts)
    assert store.as_retriever(search_type="mmr", search_kwargs={"k": 1}).invoke(NEWS[2])
    assert MoversVectorStore().max_marginal_relevance_search(NEWS[0]) == []
    with pytest.raises(InputError, match="lambda_mult must be a share from 0 to 1"):
        store.max_marginal_relevance_search(NEWS[0], lambda_mult=2)


def test_documents_need_no_embedding():
    store = MoversVectorStore.from_documents([Document(NEWS[0], id="x", metadata={"page": 1})])
    assert store.get_by_ids(["x"])[0].metadata == {"page": 1}


@pytest.mark.parametrize(
    ("texts", "options", "why"),
    [
        (NEWS[0], {}, "texts must be a list of sentences, got one string"),
        ([NEWS[0], None], {}, "text 1 is None"),
        (NEWS, {"metadatas": [{}]}, "there are 1 metadatas while there are 3 texts"),
        (NEWS, {"ids": ["a"]}, "there are 1 ids while there are 3 texts"),
        (NEWS, {"ids": "abc"}, "ids must be a list, got 'abc'"),
        (NEWS[:1], {"metadatas": [{"on": date(2024, 1, 1)}]}, "metadata of text 0 cannot be kept"),
    ],
)
def test_what_cannot_be_stored_is_refused(texts, options, why):
    store = MoversVectorStore()
    with pytest.raises(InputError, match=why):
        store.add_texts(texts, **options)
    assert len(store.records) == 0
    with pytest.raises(InputError, match="ids must be a list, got 'abc'"):
        store.delete("abc")


def test_blank_texts_are_kept_and_said_to_be_blank():
    store = MoversVectorStore()
    with pytest.warns(Notice, match="1 of 2 texts are blank, which no search finds"):
        store.add_texts(["", NEWS[0]], ids=["blank", "news"])
    assert store.get_by_ids(["blank"])[0].page_content == ""
    assert [one.id for one in store.similarity_search("a senator")] == ["news"]


def test_an_empty_prompt_is_never_answered_again():
    cache = MoversCache()
    cache.update("", "model", [Generation(text="an answer")])
    assert cache.lookup("", "model") is None


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
