"""Clients of a real server: the results of the library, and patience where it is asked for."""

import asyncio
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import numpy as np
import pytest

import movers
from movers.client import AsyncClient, Client, ServedComparison, ServerError
from movers.errors import InputError
from movers.results import Comparison
from movers.search.index import Index
from movers.web.models import Models

sys.path.insert(0, str(Path(__file__).parent / "web"))
from servers import serving

PAIR = "the dog chased the cat", "the cat chased a dog"
TEXTS = ["the press greets the president", "the president greets the press", "a dog barks"]


@pytest.fixture(scope="module")
def served(bert, tmp_path_factory):
    folder = tmp_path_factory.mktemp("client") / "index"
    Index.build(bert.using("movers"), TEXTS, folder)
    models = Models({"tiny": bert}, {"news": folder})
    models.warm_up()
    with serving(models, token="sesame") as http:
        yield str(http.base_url), models.scorers["tiny"].using("movers"), folder


@pytest.fixture
def client(served):
    with Client(served[0], "sesame") as client:
        yield client


def test_names_are_public():
    assert movers.Client is Client and movers.AsyncClient is AsyncClient


def test_a_comparison_is_that_of_the_library(client, served):
    found, expected = client.compare(*PAIR), served[1].compare(*PAIR)
    assert isinstance(found, Comparison) and found.to_dict() == expected.to_dict()
    assert found.differences == expected.differences and str(found) == str(expected)
    assert found.broken == expected.broken
    with pytest.raises(InputError, match="no attention to draw"):
        found.to_html()


@pytest.mark.parametrize("method", ["wmd", "wsmd", "bertscore"])
def test_other_measures_and_settings(client, served, method):
    found = client.compare(*PAIR, method=method, stopwords="none")
    expected = served[1].using(method, stopwords=None).compare(*PAIR)
    assert found.to_dict() == expected.to_dict()


def test_every_verb_gives_what_the_library_gives(client, served, monkeypatch):
    monkeypatch.setattr("movers.client.PAIRS", 2)  # several requests
    _, scorer, folder = served
    pairs = [PAIR, (PAIR[1], PAIR[0]), ("a dog", "a cat"), PAIR, PAIR]
    np.testing.assert_array_equal(client.distances(pairs), scorer.distances(pairs))
    assert client.distances([], method="wmd").shape == (0,)
    np.testing.assert_array_equal(
        client.similarities([PAIR[0]], [PAIR[1]]), scorer.similarities([PAIR])
    )
    np.testing.assert_array_equal(client.matrix(TEXTS), scorer.matrix(TEXTS))
    np.testing.assert_array_equal(client.matrix(PAIR, TEXTS[:1]), scorer.matrix(PAIR, TEXTS[:1]))
    assert client.differences(*PAIR) == scorer.differences(*PAIR)
    assert client.align(*PAIR) == scorer.align(*PAIR)
    assert client.rank("a dog", TEXTS, top_k=2) == scorer.rank("a dog", TEXTS, top_k=2)
    found = client.search("a dog", 2, guards=["roles"], align=1)
    expected = Index.open(folder).search("a dog", 2, guards=["roles"], align=1)
    assert found.matches == expected.matches and found.certified
    assert found.comparisons[0].to_dict() == expected.comparisons[0].to_dict()
    assert [one["name"] for one in client.indexes()] == ["news"]
    assert [one["name"] for one in client.models()] == ["tiny"]


@pytest.mark.parametrize(
    ("arguments", "method", "asked"),
    [
        ((TEXTS,), "movers", 6),
        ((TEXTS, TEXTS), "movers", 9),
        ((TEXTS,), "bertscore-recall", 9),
    ],
)
def test_a_symmetric_matrix_is_asked_for_once(
    client, served, monkeypatch, arguments, method, asked
):
    send, sent = client.http.request, []

    def request(verb, path, *, json):
        sent.extend(json["pairs"])
        return send(verb, path, json=json)

    monkeypatch.setattr(client.http, "request", request)
    found = client.matrix(*arguments, method=method)
    assert len(sent) == asked
    np.testing.assert_array_equal(found, served[1].using(method).matrix(*arguments))


def test_documents_of_any_kind_are_ranked_by_a_key(client, served):
    documents = [{"body": text, "id": k} for k, text in enumerate(TEXTS)]
    for ranker in (client, served[1]):
        best = ranker.rank("a dog barks", documents, top_k=1, key=lambda one: one["body"])[0]
        assert documents[best.index]["id"] == 2


def test_the_same_verbs_to_be_awaited(served):
    async def ask():
        async with AsyncClient(served[0], "sesame") as client:
            return await asyncio.gather(client.compare(*PAIR), client.search("a dog", 1))

    compared, found = asyncio.run(ask())
    assert isinstance(compared, ServedComparison) and len(found) == 1


def test_errors_are_ours(client, served):
    with pytest.raises(InputError, match="did you mean 'wmd'"):
        client.compare(*PAIR, method="wmdd")
    with pytest.raises(ServerError, match="no index 'x' here") as caught:
        client.search("a dog", index="x")
    assert caught.value.status == 404
    with Client(served[0]) as stranger, pytest.raises(ServerError, match="needs its token"):
        stranger.models()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["a dog", "corpus"], "is the number to find, got 'corpus'; pass index='corpus'"),
        (["a dog", 0], "top_k must be at least 1, a whole number, got 0"),
        ([None], "query is None"),
    ],
)
def test_a_search_says_what_it_takes(client, arguments, why):
    with pytest.raises(InputError, match=why):
        client.search(*arguments)


@pytest.mark.parametrize("tail", ["/", "/v1", "/v1/"])
def test_an_address_may_name_the_version(served, tail):
    with Client(served[0].rstrip("/") + tail, "sesame") as client:
        assert [one["name"] for one in client.indexes()] == ["news"]


def test_a_wrong_address_is_said_to_be_one(served):
    with Client(f"{served[0].rstrip('/')}/api", "sesame") as client:
        why = r"no movers answers at http://.*/api/v1/models; pass the address"
        with pytest.raises(ServerError, match=why):
            client.models()


class Busy(BaseHTTPRequestHandler):
    """Turns so many requests away, and then answers."""

    def do_GET(self):
        self.server.asked += 1
        turned_away = self.server.asked <= self.server.busy
        self.send_response(self.server.status if turned_away else 200)
        if self.server.worded:
            self.send_header("Retry-After", self.server.worded)
        self.end_headers()
        self.wfile.write(b'{"models": []}')

    def log_message(self, *_):
        pass


@pytest.fixture
def busy():
    with HTTPServer(("127.0.0.1", 0), Busy) as server:
        server.asked, server.worded = 0, "0"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("status", [429, 503])
def test_who_is_turned_away_comes_again(busy, status):
    server, url = busy
    server.busy, server.status = 3, status

    async def ask():
        async with AsyncClient(url) as client:
            return await client.models()

    with Client(url) as client:
        assert client.models() == [] and server.asked == 4
    server.asked, server.worded = 0, ""
    with Client(url, retries=2, pause=0.001) as client, pytest.raises(ServerError) as caught:
        client.models()
    assert caught.value.status == status and server.asked == 3
    server.asked, server.worded = 0, "0"
    assert asyncio.run(ask()) == [] and server.asked == 4


def test_other_refusals_are_final_and_silence_is_not(busy):
    server, url = busy
    server.busy, server.status = 3, 500
    with Client(url) as client, pytest.raises(ServerError, match="answered 500"):
        client.models()
    assert server.asked == 1
    nobody = Client("http://127.0.0.1:1", retries=1, pause=0.001)
    with nobody as client, pytest.raises(ServerError, match="does not answer"):
        client.models()
