"""Searches over HTTP: the library's answers bit for bit, always of one state of the folder."""

import json
import threading

import pytest
from servers import serving

from movers.client import Client
from movers.errors import InputError
from movers.search.index import Index
from movers.web.limits import Limits
from movers.web.models import Models, parse_indexes

NOUNS = ["president", "press", "dog", "fox", "house"]
QUERIES = [f"a {a} meets {b}" for a in NOUNS for b in NOUNS]
PLAIN = ("query", "matches", "certified", "bound", "compared", "signature", "comparisons")


def asked(client, query, **more):
    answer = client.post("/v1/search", json={"query": query, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize(
    "options", [{}, {"within": 0.2, "top_k": 3}, {"guards": ["numbers", "roles"], "explain": 2}]
)
def test_answers_are_those_of_the_library_bit_for_bit(client, models, indexed, options):
    index = Index.open(indexed, encoder=models.scorers["tiny"].encoder)
    given = {"align" if name == "explain" else name: value for name, value in options.items()}
    for query in QUERIES:
        found = asked(client, query, **options)
        expected = json.loads(json.dumps(index.search(query, **given).to_dict()))
        assert {name: found[name] for name in PLAIN} == {name: expected[name] for name in PLAIN}
        assert (found["index"], found["sentences"]) == ("greetings", len(index))
    assert len(found["comparisons"]) == options.get("explain", 0)


@pytest.mark.parametrize("broken", ["{nope", "[" * 100_000, '{"format": "another"}', None])
def test_a_damaged_index_is_told_to_the_log_alone(bert, tmp_path, caplog, broken):
    folder = tmp_path / "index"
    Index.build(bert.using("movers"), QUERIES, folder)
    manifest = folder / "manifest.json"
    sound = manifest.read_bytes()
    with serving(Models({"tiny": bert}, {"here": folder})) as client:
        asked(client, "a dog")
        manifest.unlink()
        if broken is None:
            manifest.mkdir()
        else:
            manifest.write_text(broken)
        found = client.post("/v1/search", json={"query": "a dog"}), client.get("/v1/indexes")
        for answer in found:
            assert answer.status_code == 500 and str(tmp_path) not in answer.text
            assert "its log has the details" in answer.text
        assert caplog.text.count(str(manifest)) == 2
        manifest.rmdir() if broken is None else manifest.unlink()
        manifest.write_bytes(sound)
        asked(client, "a dog")


def test_many_at_once_are_answered_as_one_by_one(client):
    alone = {query: asked(client, query)["matches"] for query in QUERIES}
    seen = {}

    def ask(query):
        seen[query] = asked(client, query)["matches"]

    threads = [threading.Thread(target=ask, args=[query]) for query in QUERIES]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == alone


def test_texts_come_with_their_nearest_sentences_also_through_the_client(bert, tmp_path):
    scorer = bert.using("movers", texts="sentences")
    texts = ["The press sleeps. A dog greets the fox.", "The house is sold. The fox eats."]
    index = Index.build(scorer, texts, tmp_path / "texts")
    expected = index.search("a dog greets the fox", 2)
    with serving(Models({"tiny": bert}, {"texts": tmp_path / "texts"})) as client:
        found = asked(client, "a dog greets the fox", top_k=2)
        with Client(str(client.base_url)) as other:
            received = other.search("a dog greets the fox", 2)
    assert found["matches"] == json.loads(json.dumps(expected.to_dict()["matches"]))
    assert received.matches == expected.matches
    assert received[0].passages[0].text == "A dog greets the fox."


def test_long_queries_and_texts_are_taken_sentence_by_sentence(bert, tmp_path):
    opening = "The press greets the president. The house is sold. A dog greets the fox. " * 40
    texts = [opening + "The fox eats.", opening + "The fox does not eat.", "A house sleeps."]
    scorer = bert.using("movers")
    assert scorer.takes_sentences(texts[0]) and len(texts[0]) > Limits().max_characters
    index = Index.build(scorer, texts, tmp_path / "texts")
    with serving(Models({"tiny": bert}, {"texts": tmp_path / "texts"})) as client:
        found = asked(client, texts[1], top_k=2)
        pair = {"source": texts[0], "target": texts[1]}
        told = client.post("/v1/differences", json=pair).json()["differences"]
        other = client.post("/v1/differences", json={**pair, "method": "wmd"})
        refused = client.post("/v1/search", json={"query": "a dog. " * 20_000})
    expected = index.search(texts[1], 2).to_dict()["matches"]
    assert found["matches"] == json.loads(json.dumps(expected))
    assert [one["kind"] for one in told] == ["negation"]
    assert other.status_code == 422 and "--max-characters" in other.text
    assert refused.status_code == 422 and "--max-text" in refused.text


@pytest.fixture
def growing(bert, tmp_path):
    folder = tmp_path / "growing"
    texts = [f"the {noun} sleeps" for noun in NOUNS]
    index = Index.build(bert.using("movers"), texts, folder)
    with serving(Models({"tiny": bert}, {"growing": folder})) as client:
        yield client, index


def test_what_is_added_is_found_and_no_answer_is_of_two_states(growing):
    client, index = growing
    states, answers, over = {index.state: list(index.sentences)}, [], threading.Event()

    def search():
        while not over.is_set():
            answers.append(asked(client, "the fox greets a dog", top_k=30))

    searching = [threading.Thread(target=search) for _ in range(2)]
    for thread in searching:
        thread.start()
    for k in range(6):
        index.add([f"the fox greets dog {k}", f"a dog meets the fox {k}"])
        states[index.state] = list(index.sentences)
        if k % 2:
            index.delete([f"the fox greets dog {k}"])
            states[index.state] = list(index.sentences)
    last = asked(client, "the fox greets a dog", top_k=30)
    over.set()
    for thread in searching:
        thread.join()
    assert last["state"] == index.state and len({one["state"] for one in answers}) > 1
    for one in (*answers, last):
        held = states[one["state"]]
        assert len(held) == one["sentences"] == len(one["matches"])
        assert all(held[match["index"]] == match["text"] for match in one["matches"])
    (facts,) = client.get("/v1/indexes").json()["indexes"]
    assert facts["state"] == index.state and facts["sentences"] == len(index)


def test_an_index_of_another_measure_takes_the_place_of_the_first(growing, bert):
    client, index = growing
    assert "movers" in asked(client, "the dog sleeps")["signature"]
    Index.build(bert.using("wmd"), ["a house sleeps", "a dog barks"], index.folder, replace=True)
    found = asked(client, "the dog sleeps")
    assert "method:wmd" in found["signature"] and found["sentences"] == 2
    assert found["matches"] == index_matches(index.folder, "the dog sleeps")
    assert client.get("/v1/indexes").json()["indexes"][0]["method"] == "wmd"


def index_matches(folder, query):
    return Index.open(folder).search(query).to_dict()["matches"]


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        ({"query": "a dog", "index": "nothing"}, 404, "no index 'nothing' here; there are: greet"),
        ({"query": " "}, 422, "query"),
        ({"query": "a dog", "top_k": 100_000}, 422, "1000 this server takes"),
        ({"query": "a dog", "guards": ["negatoin"]}, 422, "did you mean 'negation'"),
        ({"query": "a dog", "within": -1}, 422, "within"),
    ],
)
def test_what_cannot_be_searched_for_is_said(client, body, status, says):
    answer = client.post("/v1/search", json=body)
    assert answer.status_code == status and says in answer.json()["error"]["message"]


def test_a_query_of_too_many_words_is_refused(models):
    with serving(models, Limits(max_words=8)) as client:
        answer = client.post("/v1/search", json={"query": "a dog barks at the moon and a fox"})
        assert answer.status_code == 422 and "the query has more than the 8 words" in answer.text


def test_without_an_index_the_remedy_is_said(bert):
    with serving(Models({"tiny": bert}), token="sesame") as client:
        for path in ("/v1/search", "/v1/align", "/v1/differences"):
            assert client.post(path, json={}).status_code == 401
        client.headers["Authorization"] = "Bearer sesame"
        answer = client.post("/v1/search", json={"query": "a dog"})
        assert answer.status_code == 404 and "--index NAME=FOLDER" in answer.text
        assert client.get("/v1/indexes").json() == {"indexes": []}


@pytest.mark.parametrize("given", ["news", "=folder", "news="])
def test_an_index_has_a_name_and_a_folder(given):
    with pytest.raises(InputError, match="NAME=FOLDER"):
        parse_indexes([given])
    with pytest.raises(InputError, match="two indexes are called 'a'"):
        parse_indexes(["a=b", "a=c"])


PAIR = {"source": "the presidnet greets the press", "target": "the press greets the president"}


@pytest.mark.parametrize("spelling", ["keep", "repair"])
def test_differences_and_spelling_are_those_of_the_library(client, models, spelling):
    expected = models.scorers["tiny"].compare(**PAIR, spelling=spelling)
    compared = client.post("/v1/compare", json={**PAIR, "spelling": spelling}).json()
    found = client.post("/v1/differences", json={**PAIR, "spelling": spelling}).json()
    assert found["differences"] == compared["differences"]
    assert [one["text"] for one in found["differences"]] == [
        one.text for one in expected.differences
    ]
    assert bool(found["source_repairs"]) == (spelling == "repair")


def test_alignments_are_those_of_the_library(client, models):
    answer = client.post("/v1/align", json=PAIR)
    expected = models.scorers["tiny"].align(**PAIR).to_dict()
    assert answer.json() == json.loads(json.dumps(expected))
    wrong = client.post("/v1/align", json={**PAIR, "aligner": "none"})
    assert wrong.status_code == 422 and "no aligner" in wrong.text


def test_the_manual_is_served_from_here(client):
    page = client.get("/docs")
    assert (
        page.status_code == 200 and "script-src 'self'" in page.headers["content-security-policy"]
    )
    assert "http" not in page.text.replace("http-equiv", "")
    for path in ("/swagger/swagger-ui-bundle.js", "/swagger/swagger-ui.css", "/static/docs.js"):
        assert client.get(path).status_code == 200


@pytest.mark.parametrize("count", [1001, 2**70])
def test_more_matches_than_a_request_may_ask_for_are_refused(client, count):
    answer = client.post("/v1/search", json={"query": "a dog", "top_k": count})
    assert answer.status_code == 422 and f"{count} pairs are more than" in answer.text
