"""Real vector stores propose, movers decides: the answers of an index, and what they are worth."""

import numpy as np
import pytest
from corpus import make_corpus

from movers.encode.encodings import Store
from movers.errors import InputError
from movers.search import Candidate, embed, rerank
from movers.search.index import Index

SIZE = 5_000
QUERIES = ["the press greets the president", "soup and fox served dog"]


@pytest.fixture(scope="module")
def scorer(bert):
    return bert.using("movers")


@pytest.fixture(scope="module")
def sentences():
    half = make_corpus(SIZE // 2)
    return [*half, *(f"{text} in the house" for text in half)]


@pytest.fixture(scope="module")
def vectors(scorer, sentences):
    return embed(sentences, scorer=scorer)


@pytest.fixture(scope="module")
def expected(scorer, sentences):
    return Index.build(scorer, sentences).search_many(QUERIES, 10)


def make_faiss(sentences, vectors, tmp_path):
    faiss = pytest.importorskip("faiss", reason="needs the extra movers[faiss]")
    from movers.search.stores import faiss_store

    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    return faiss_store(index, sentences)


def make_lance(sentences, vectors, tmp_path):
    lancedb = pytest.importorskip("lancedb", reason="needs the extra movers[lance]")
    from movers.search.stores import lance_store

    rows = [
        {"id": number, "text": text, "vector": vector}
        for number, (text, vector) in enumerate(zip(sentences, vectors, strict=True))
    ]
    return lance_store(lancedb.connect(tmp_path).create_table("sentences", rows))


def make_qdrant(sentences, vectors, tmp_path):
    qdrant = pytest.importorskip("qdrant_client", reason="needs the extra movers[qdrant]")
    from qdrant_client.models import Distance, PointStruct, VectorParams

    from movers.search.stores import qdrant_store

    client = qdrant.QdrantClient(":memory:")
    size = VectorParams(size=vectors.shape[1], distance=Distance.COSINE)
    client.create_collection("sentences", vectors_config=size)
    client.upsert(
        "sentences",
        [
            PointStruct(id=number, vector=vector.tolist(), payload={"text": text})
            for number, (text, vector) in enumerate(zip(sentences, vectors, strict=True))
        ],
    )
    return qdrant_store(client, "sentences")


@pytest.mark.parametrize("make", [make_faiss, make_lance, make_qdrant])
def test_a_store_gives_the_answers_of_an_index(
    scorer, sentences, vectors, expected, tmp_path, make
):
    store, cache = make(sentences, vectors, tmp_path), Store(scorer.measure.requirements)
    for answer in expected:
        found = rerank(answer.query, store, scorer=scorer, cache=cache)
        assert found.matches == answer.matches and found.certified and found.bound is None
        assert found.compared < SIZE / 2


class Plain:
    """A store that counts how often it is asked."""

    def __init__(self, sentences, vectors):
        self.sentences, self.vectors, self.asked = sentences, vectors, []

    def __call__(self, vector, count):
        self.asked.append(count)
        cosines = self.vectors @ vector
        best = np.argsort(-cosines, kind="stable")[:count].tolist()
        return [Candidate(row, self.sentences[row], float(cosines[row])) for row in best]


def test_a_budget_leaves_a_bound_instead_of_certainty(scorer, sentences, vectors, expected):
    few, units = sentences[:200], vectors[:200]
    every = scorer.rank(QUERIES[0], few, top_k=None)
    for budget in (1, 5, 20):
        found = rerank(
            QUERIES[0], Plain(few, units), scorer=scorer, top_k=5, budget=budget, tolerance=1e-5
        )
        assert found.compared <= budget
        left = [m.distance for m in every if m.index not in {own.index for own in found}]
        if found.certified:
            assert found.matches == every.matches[:5]
        else:
            vector = embed(QUERIES[:1], scorer=scorer)[0]
            seen = {one.key for one in Plain(few, units)(vector, budget)}
            unseen = min(m.distance for m in every if m.index not in seen)
            assert found.bound <= unseen and left
    assert not rerank(QUERIES[0], Plain(few, units), scorer=scorer, top_k=5, budget=1).certified


def test_a_store_is_asked_for_more_until_the_certificate_holds(scorer, sentences, vectors):
    store = Plain(sentences[:900], vectors[:900])
    found = rerank("dog", store, scorer=scorer, top_k=100)
    assert store.asked == sorted(set(store.asked)) and found.certified
    assert found.matches == scorer.rank("dog", sentences[:900], top_k=100).matches
    near = rerank("dog", store, scorer=scorer, within=found[3].distance)
    assert near.matches == tuple(m for m in found if m.distance <= found[3].distance)[:10]


def test_lists_are_ranked_and_certified_as_far_as_they_go(scorer, sentences, vectors):
    texts = sentences[:30]
    plain = rerank(QUERIES[0], texts, scorer=scorer, top_k=3)
    assert plain.matches == scorer.rank(QUERIES[0], texts, top_k=3).matches
    assert not plain.certified and plain.bound is None and plain.compared == 30
    vector = embed([QUERIES[0]], scorer=scorer)[0]
    listed = Plain(sentences, vectors)(vector, 900)
    found = rerank(QUERIES[0], listed, scorer=scorer, top_k=3)
    assert found.certified and found.compared < 900
    named = [Candidate(f"key {one.key}", one.text, one.cosine) for one in listed]
    assert [m.text for m in rerank(QUERIES[0], named, scorer=scorer, top_k=3)] == [
        m.text for m in found
    ]


def test_what_cannot_be_asked_is_refused(bert, scorer, tmp_path):
    for arguments, message in (
        ((" ", []), "the query is empty"),
        (("dog", "a string"), "got one string"),
    ):
        with pytest.raises(InputError, match=message):
            rerank(*arguments, scorer=scorer)
    with pytest.raises(InputError, match="not bounded by the cosine"):
        rerank("dog", ["fox"], scorer=bert)
    for options in ({"top_k": 0}, {"budget": -1}):
        with pytest.raises(InputError, match="must be at least 1"):
            rerank("dog", ["fox"], scorer=scorer, **options)


def test_stores_of_another_metric_are_refused(vectors):
    faiss = pytest.importorskip("faiss")
    qdrant = pytest.importorskip("qdrant_client")
    from qdrant_client.models import Distance, VectorParams

    from movers.search.stores import faiss_store, qdrant_store

    with pytest.raises(InputError, match="expected inner product"):
        faiss_store(faiss.IndexFlatL2(4), [])
    client = qdrant.QdrantClient(":memory:")
    client.create_collection("x", VectorParams(size=4, distance=Distance.DOT))
    with pytest.raises(InputError, match="has distance Dot, expected Cosine"):
        qdrant_store(client, "x")
