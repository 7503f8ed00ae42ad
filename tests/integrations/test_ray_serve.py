"""Ray Serve: shares of an index behind one address on two nodes, exact and of one state."""

import socket

import httpx
import pytest

from movers.search import cosine
from movers.search.index import Index

ray = pytest.importorskip("ray", reason="needs the extra movers[ray]")
serve = pytest.importorskip("ray.serve", reason="needs ray[serve]")

from movers.integrations.ray_serve import serve_index  # noqa: E402

NOUNS = ["president", "press", "dog", "fox", "house", "brother"]
TEXTS = [f"the {a} greets the {b}" for a in NOUNS for b in NOUNS if a != b]
PLAIN = ("query", "matches", "certified", "bound", "signature", "comparisons")


@pytest.fixture
def port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


@pytest.mark.published
@pytest.mark.filterwarnings("ignore")  # of Ray Serve and what it imports
def test_shares_answer_as_one_process_and_see_what_is_added(
    cluster, bert, monkeypatch, tmp_path, port
):
    monkeypatch.setattr(cosine, "CAPACITY", {"text": 8, "words": 8})
    folder = tmp_path / "index"
    Index.build(bert.using("movers"), TEXTS, folder)
    local = Index.open(folder)
    assert local.parts >= 3
    serve.start(http_options={"host": "127.0.0.1", "port": port})
    try:
        front = serve_index(folder, shares=3, cpus=0.5)
        for query in ("the dog greets a fox", TEXTS[7]):
            found = front.search.remote(query, 5, align=1).result()
            expected = local.search(query, 5, align=1).to_dict()
            assert {name: found[name] for name in PLAIN} == {name: expected[name] for name in PLAIN}
            assert found["pruning"]["corpus"] == len(TEXTS) == found["sentences"]
        local.delete([TEXTS[0], TEXTS[11]])
        local.add(["the fox greets a dog"])
        answer = httpx.post(
            f"http://127.0.0.1:{port}/v1/search",
            json={"query": "the fox greets a dog", "top_k": 4, "within": 0.5},
            timeout=60,
        ).json()
        assert answer["state"] == local.state and answer["sentences"] == len(local)
        expected = local.search("the fox greets a dog", 4, within=0.5).to_dict()
        assert answer["matches"] == expected["matches"]
    finally:
        serve.shutdown()
