import json
import re
import threading
import time
from importlib.resources import files

import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families
from servers import serving

from movers.errors import Do, InputError
from movers.measures.registry import JUDGES, METHODS
from movers.settings import table
from movers.web.app import Service
from movers.web.batcher import Job
from movers.web.failures import PAGE
from movers.web.limits import Limits
from movers.web.models import Models, Setup
from tiny_models import SENTENCES

pytestmark = pytest.mark.filterwarnings("ignore::movers.runtime.notices.UndefinedWarning")

PAIR = {"source": SENTENCES[0], "target": SENTENCES[1]}
PAIRS = [[SENTENCES[k], SENTENCES[k + 1]] for k in range(6)]


def message(answer, status):
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert set(error) == {"message", "spoken", "type"}
    return error["message"]


def test_compare_gives_what_the_library_gives(client, bert):
    answer = client.post("/v1/compare", json={**PAIR, "method": "wsmd-wmd", "mix": 0.3})
    assert answer.status_code == 200
    expected = bert.using("wsmd-wmd", mix=0.3).compare(*PAIR.values())
    assert answer.json() == json.loads(json.dumps(expected.to_dict()))


def test_score_gives_distances_and_signatures_by_measure(client, bert):
    body = {"pairs": PAIRS, "methods": ["wmd", "wsmd"], "layers": [1, 2], "heads": "1"}
    found = client.post("/v1/score", json=body).json()["methods"]
    assert list(found) == ["wmd", "wsmd"]
    for name, scores in found.items():
        scorer = bert.using(name, layers=(1, 2), heads="1")
        np.testing.assert_array_equal(scores["distances"], scorer.distances(PAIRS))
        assert scores["signature"] == str(scorer.signature)
        assert scores["undefined"] == []
        assert scores["similarities"] == [None] * len(PAIRS)  # fitted for other heads


def test_pairs_without_a_distance_are_null_with_a_reason(client):
    pairs = [PAIRS[0], ["the of", PAIRS[0][0]]]
    found = client.post("/v1/score", json={"pairs": pairs, "methods": ["wsmd"]}).json()
    scores = found["methods"]["wsmd"]
    assert scores["distances"][0] > 0 and scores["distances"][1] is None
    (undefined,) = scores["undefined"]
    assert undefined["pair"] == 1
    assert "no words left" in undefined["reason"]
    assert '"stopwords": "none"' in undefined["reason"]
    body = {"pairs": pairs[1:], "methods": ["wsmd"], "stopwords": "none"}
    kept = client.post("/v1/score", json=body).json()["methods"]["wsmd"]
    assert kept["distances"][0] > 0


@pytest.mark.parametrize("route", ["compare", "explain", "curve", "page", "differences"])
@pytest.mark.parametrize("source", ["a dog barks", ""])
def test_a_pair_without_a_distance_and_a_price_for_home_is_answered(client, route, source):
    body = {"source": source, "target": "\ufeff", "method": "wsmd", "empty": "nan", "null": 0.5}
    answer = client.post(f"/v1/{route}", json=body)
    assert answer.status_code == 200, answer.text
    if route == "compare":
        assert answer.json()["distance"] is answer.json()["home"] is None
    if route == "curve":
        assert {*answer.json()["distances"], *answer.json()["home"]} == {None}


def test_rank_orders_as_the_library_does(client, bert):
    body = {"query": SENTENCES[0], "candidates": ["the of", *SENTENCES], "top_k": None}
    body["method"] = "wsmd"
    found = client.post("/v1/rank", json=body).json()
    expected = bert.rank(SENTENCES[0], body["candidates"], top_k=None)
    assert [match["index"] for match in found["matches"]] == [m.index for m in expected]
    assert found["matches"][0]["distance"] == expected[0].distance
    assert found["matches"][1]["similarity"] == expected[1].similarity != 1
    assert found["matches"][-1]["similarity"] is None
    assert found["matches"][-1]["distance"] is None
    assert "no words left" in found["matches"][-1]["reason"]
    assert found["signature"] == str(expected.signature)
    top = client.post("/v1/rank", json={**body, "top_k": 2}).json()["matches"]
    assert top == found["matches"][:2]


def test_the_default_measure_answers_with_similarities_and_reasons(client, bert):
    scorer = bert.using("movers")
    pair = {"source": SENTENCES[2], "target": SENTENCES[8]}
    found = client.post("/v1/compare", json=pair).json()
    expected = scorer.compare(*pair.values())
    assert found == json.loads(json.dumps(expected.to_dict()))
    assert found["similarity"] == expected.similarity and found["verdict"] == expected.verdict
    assert found["broken"][0]["share"] == expected.broken[0].share > 0
    scores = client.post("/v1/score", json={"pairs": PAIRS}).json()["methods"]["movers"]
    np.testing.assert_array_equal(scores["similarities"], scorer.similarities(PAIRS))


def test_methods_say_which_settings_they_heed(client):
    found = client.get("/v1/methods").json()["methods"]
    heeded = {method["name"]: method["settings"] for method in found}
    assert heeded["movers"] == ["layers", "heads"]
    assert heeded["wsmd-wrd"] == ["embedding", "layers", "heads", "mix", "null", "stopwords"]
    assert heeded["bow"] == ["stopwords"]


def test_explain_answers_what_the_page_shows(client, bert):
    answer = client.post("/v1/explain", json={**PAIR, "method": "wsmd", "layers": "1"})
    expected = bert.using(layers="1").explain(*PAIR.values()).to_dict()
    assert answer.json() == json.loads(json.dumps(expected))


def test_many_clients_at_once_get_their_own_answers(client, bert):
    expected = bert.distances(PAIRS)
    found = [None] * 40

    def ask(place):
        pairs = [PAIRS[place % len(PAIRS)]]
        answer = client.post("/v1/score", json={"pairs": pairs, "methods": ["wsmd"]})
        found[place] = answer.json()["methods"]["wsmd"]["distances"][0]

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(len(found))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(found, [expected[k % len(PAIRS)] for k in range(len(found))])


def test_lists_models_and_methods(client, bert):
    (model,) = client.get("/v1/models").json()["models"]
    assert model["name"] == "tiny"
    assert model["layers"] == bert.encoder.layers
    assert "/" not in json.dumps(model)  # where the model lies is nobody's business
    found = client.get("/v1/methods").json()
    assert [method["name"] for method in found["methods"]] == [*METHODS, *JUDGES]
    assert found["aliases"]["wsmd"] == "wsmd-wrd"


@pytest.mark.parametrize(
    ("change", "status", "says"),
    [
        ({"model": "../tiny"}, 404, "this server has: tiny"),
        ({"model": "bert-base-uncased"}, 404, "this server has: tiny"),
        ({"method": "wsdm"}, 422, "did you mean 'wsmd'"),
        ({"layers": "1-999999999999"}, 422, "out of range"),
        ({"layers": "x"}, 422, "cannot read layers 'x'"),
        ({"heads": []}, 422, "out of range"),
        ({"method": "wsmd", "embedding": 99}, 422, "embedding layer 99 is out of range"),
        ({"mix": 1.5}, 422, "mix: Input should be less than or equal to 1"),
        ({"method": "wsmd", "whitening": "as-coded"}, 422, "the statistics at hand are 'clean'"),
        ({"colour": "red"}, 422, "colour: Extra inputs are not permitted"),
        ({"method": "wsmd", "source": "the of"}, 422, "no words left"),
        ({"method": "wsmd", "source": ""}, 422, "the source is empty"),
        ({"source": 5}, 422, "source: Input should be a valid string"),
        ({"method": "rots"}, 422, "start the server with --parser"),
        ({"stopwords": "/etc/passwd"}, 422, "stopwords: Input should be 'english' or 'none'"),
    ],
)
def test_refusals_say_what_is_wrong(client, change, status, says):
    client.post("/v1/compare", json=PAIR)
    assert says in message(client.post("/v1/compare", json={**PAIR, **change}), status)


def test_repeated_methods_are_refused(client):
    answer = client.post("/v1/score", json={"pairs": PAIRS, "methods": ["wmd", "wmd"]})
    assert "must differ" in message(answer, 422)


def test_paths_and_verbs_that_do_not_exist(client):
    assert message(client.get("/v1/nothing"), 404) == "Not Found"
    assert message(client.get("/v1/compare"), 405) == "Method Not Allowed"
    for documentation in ("/redoc",):
        message(client.get(documentation), 404)


def test_the_page_and_its_files_are_served_with_a_strict_policy(client):
    static = files("movers.explain") / "static"
    page = client.get("/")
    assert page.text == (static / "page.html").read_text("utf-8")
    assert page.headers["content-type"].startswith("text/html")
    for name in re.findall(r'(?:src|href)="(static/[^"]+)"', page.text):
        found = client.get(f"/{name}")
        assert found.status_code == 200 and found.headers["x-content-type-options"] == "nosniff"
    policy = dict(
        part.split(" ", 1) for part in page.headers["content-security-policy"].split("; ")
    )
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert page.headers["referrer-policy"] == "no-referrer"
    message(client.get("/static/%2e%2e/app.py"), 404)


def samples(client):
    families = text_string_to_metric_families(client.get("/metrics").text)
    return {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in families
        for sample in family.samples
    }


def test_metrics_count_requests_and_pairs(models):
    with serving(models) as client:
        client.post("/v1/score", json={"pairs": PAIRS})
        client.post("/v1/score", json={"pairs": "x"})
        client.get("/some/invented/path")
        while not (found := samples(client))["movers_pairs_total",]:
            time.sleep(0.01)  # a batch is counted when its answers are out
    assert found["movers_requests_total", "/v1/score", "200"] == 1
    assert found["movers_requests_total", "/v1/score", "422"] == 1
    assert found["movers_requests_total", "404", "other"] == 1
    assert found["movers_pairs_total",] == len(PAIRS)
    assert found["movers_request_seconds_count", "/v1/score"] == 2
    assert found["movers_pairs_waiting",] == 0


def test_a_token_guards_everything_but_the_page_and_the_pulse(models):
    with serving(models, token="sesame") as client:
        assert client.get("/healthz").json() == {"status": "ok"}
        assert client.get("/").status_code == 200
        for path in ("/v1/models", "/metrics", "/openapi.json"):
            for given in ({}, {"Authorization": "sesame"}, {"Authorization": "Basic sesame"}):
                answer = client.get(path, headers=given)
                assert "Bearer TOKEN" in message(answer, 401)
                assert answer.headers["www-authenticate"] == "Bearer"
            wrong = client.get(path, headers={"Authorization": "Bearer wrong"})
            assert message(wrong, 401) == "this is not the token of this server"
            assert wrong.headers["www-authenticate"] == 'Bearer error="invalid_token"'
            for scheme in ("Bearer", "bearer", "BEARER"):
                right = client.get(path, headers={"Authorization": f"{scheme} sesame"})
                assert right.status_code == 200
        answer = client.post("/v1/compare", json=PAIR)
        message(answer, 401)


def test_only_requests_for_this_machine_are_taken_on_loopback(models):
    with serving(models, hosts=("127.0.0.1", "::1", "Me.Example")) as client:
        port = client.base_url.port
        for name in ("127.0.0.1", f"127.0.0.1:{port}", "[::1]", "[::1]:80", "me.example:443"):
            assert client.get("/healthz", headers={"Host": name}).status_code == 200, name
        for name in ("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", "::1:x"):
            for path in ("/", "/v1/models", "/healthz"):
                refusal = client.get(path, headers={"Host": name})
                assert "this server is not" in message(refusal, 421)


def test_head_is_answered_where_get_is(client):
    for path in ("/", "/healthz", "/v1/models", "/v1/methods", "/static/page.js", "/openapi.json"):
        got, head = client.get(path), client.head(path)
        assert head.status_code == 200 and head.content == b""
        assert head.headers["content-type"] == got.headers["content-type"]
        assert head.headers.get("content-length") == got.headers.get("content-length")
    assert client.head("/v1/compare").status_code == 405
    assert client.head("/nothing").status_code == 404


@pytest.mark.parametrize("encoding", ["gzip", "br", "gzip, identity"])
def test_encoded_bodies_are_not_taken(client, encoding):
    answer = client.post("/v1/compare", json=PAIR, headers={"Content-Encoding": encoding})
    assert f"not in the encoding '{encoding}'" in message(answer, 415)
    assert answer.headers["accept-encoding"] == "identity"
    plain = client.post("/v1/compare", json=PAIR, headers={"Content-Encoding": "identity"})
    assert plain.status_code == 200


def test_large_answers_are_compressed_for_those_who_ask(client):
    asked, plain = {"Accept-Encoding": "gzip"}, {"Accept-Encoding": "identity"}
    large, whole = (client.get("/openapi.json", headers=h) for h in (asked, plain))
    assert large.headers["content-encoding"] == "gzip"
    assert large.headers["vary"] == whole.headers["vary"] == "Accept-Encoding"
    assert int(large.headers["content-length"]) < int(whole.headers["content-length"])
    assert large.json() == whole.json() and "content-encoding" not in whole.headers
    assert "content-encoding" not in client.get("/healthz", headers=asked).headers


def test_limits_are_named_when_they_are_met(models):
    limits = Limits(max_body=2000, max_pairs=4, max_characters=100, max_text=100, max_words=8)
    with serving(models, limits) as client:
        body = {"pairs": PAIRS[:3], "methods": ["wmd", "wsmd"]}
        assert "under 2 measures are more than the 4" in message(
            client.post("/v1/score", json=body), 422
        )
        long = client.post("/v1/score", json={"pairs": [PAIRS[0], ["a dog", "x" * 101]]})
        assert "target of pair 1 has 101 characters" in message(long, 422)
        wordy = client.post("/v1/compare", json={**PAIR, "source": "dog " * 9})
        assert "more than the 8 words" in message(wordy, 422)
        assert "takes 2000" in message(client.post("/v1/compare", json={"source": "x" * 2000}), 413)
        chunks = (b"x" * 500 for _ in range(10))
        assert "takes 2000" in message(client.post("/v1/compare", content=chunks), 413)
        assert client.post("/v1/compare", json=PAIR).status_code == 200


def test_limits_that_contradict_each_other_are_refused():
    with pytest.raises(InputError, match="no room for a request of max_pairs = 1000"):
        Limits(queue=10)
    with pytest.raises(InputError, match="timeout must be greater than 0, got 0"):
        Limits(timeout=0)


class Slow(Models):
    """Models that answer only when told to."""

    def __init__(self, scorers):
        super().__init__(scorers)
        self.go = threading.Event()

    def scorer(self, setup):
        assert self.go.wait(30)
        return super().scorer(setup)


def test_a_full_queue_answers_429_and_recovers(bert):
    slow = Slow({"tiny": bert})
    statuses, retries = [], []
    with serving(slow, Limits(max_pairs=6, queue=12)) as client:

        def ask():
            answer = client.post("/v1/score", json={"pairs": PAIRS})
            statuses.append(answer.status_code)
            if answer.status_code == 429:
                retries.append(int(answer.headers["retry-after"]))
                assert "pairs are waiting" in message(answer, 429)

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        while len(retries) < 4:  # at most two are being answered and two wait
            time.sleep(0.01)
        assert client.get("/healthz").status_code == 200
        slow.go.set()
        for thread in threads:
            thread.join()
        assert client.post("/v1/score", json={"pairs": PAIRS}).status_code == 200
    assert set(statuses) == {200, 429}
    assert all(1 <= seconds <= 60 for seconds in retries)


def test_a_short_request_does_not_wait_for_long_ones(bert, monkeypatch):
    monkeypatch.setattr("movers.web.app.QUICK", 0.015)  # long is short for a tiny model

    class Stuck(Slow):
        """Answers explanations only when told to."""

        def scorer(self, setup):
            return super().scorer(setup) if setup.method == "smd" else Models.scorer(self, setup)

    stuck = Stuck({"tiny": bert})
    long = {**dict.fromkeys(PAIR, "dog " * 60), "method": "smd"}
    statuses = []
    with serving(stuck, Limits(queue=1000)) as client:

        def ask():
            statuses.append(client.post("/v1/explain", json=long).status_code)

        threads = [threading.Thread(target=ask) for _ in range(24)]
        for thread in threads:
            thread.start()
        while not samples(client)["movers_pairs_waiting",]:
            time.sleep(0.01)
        assert client.post("/v1/compare", json=PAIR).status_code == 200
        assert statuses == []
        stuck.go.set()
        for thread in threads:
            thread.join()
    assert set(statuses) == {200}


def test_measures_of_trees_keep_to_one_thread(models):
    service = Service(models, Limits())
    jobs = [Job(Setup("tiny", method), [("a", "b")], [0.01]) for method in ("wmd", "rots")]
    chosen = []
    service.quick.submit = lambda jobs: chosen.append(("quick", *jobs))
    service.long.submit = lambda jobs: chosen.append(("long", *jobs))
    for job in jobs:
        service.submit([job])
    service.close()
    assert chosen == [("quick", jobs[0]), ("long", jobs[1])]


def test_an_answer_that_takes_too_long_is_given_up(bert):
    slow = Slow({"tiny": bert})
    with serving(slow, Limits(timeout=2)) as client:  # in which the request itself must arrive
        assert "no answer within 2 s" in message(client.post("/v1/compare", json=PAIR), 504)
        slow.go.set()
        assert client.get("/healthz").status_code == 200


def test_an_error_inside_is_reported_and_survived(bert, caplog):
    class Broken(Models):
        def scorer(self, setup):
            if setup.method == "smd":
                raise ZeroDivisionError(f"a bug with {PAIR['source']}")
            return super().scorer(setup)

    with serving(Broken({"tiny": bert})) as client:
        answer = client.post("/v1/compare", json={**PAIR, "method": "smd"})
        assert "went wrong inside the server" in message(answer, 500)
        assert "a bug" not in answer.text
        assert client.post("/v1/compare", json=PAIR).status_code == 200
    (told,) = (record.message for record in caplog.records if "/v1/compare" in record.message)
    assert "failed with ZeroDivisionError" in told and "in scorer" in told
    assert PAIR["source"] not in caplog.text  # a message may quote what a client sent


def test_a_contrast_and_a_page_are_those_of_the_library(client, bert):
    body = {**PAIR, "other": SENTENCES[2], "method": "movers"}
    expected = bert.using("movers").contrast(*PAIR.values(), SENTENCES[2])
    answer = client.post("/v1/contrast", json=body)
    assert answer.json() == json.loads(json.dumps(expected.to_dict()))
    page = client.post("/v1/page", json=body)
    assert page.headers["content-type"].startswith("text/html")
    assert page.text == expected.to_html()
    alone = client.post("/v1/page", json={**PAIR, "method": "movers"})
    assert alone.text == expected.first.to_html()


def test_attention_is_left_out_where_it_is_known(client):
    whole = client.post("/v1/explain", json=PAIR).json()
    bare = client.post("/v1/explain", json={**PAIR, "attention": False}).json()
    for head in whole["structure"]["heads"]:
        assert head["source_attention"] and head["target_attention"]
        head["source_attention"] = head["target_attention"] = ""
    assert bare == whole


def test_a_curve_is_that_of_the_library(client, bert):
    answer = client.post("/v1/curve", json={**PAIR, "method": "wsmd", "steps": 3})
    assert answer.json() == bert.curve(*PAIR.values(), steps=3)
    assert "has no mix" in message(client.post("/v1/curve", json={**PAIR, "method": "wmd"}), 422)


def test_a_curve_is_cut_by_step(models):
    with serving(models) as client:
        assert client.post("/v1/curve", json={**PAIR, "steps": 7}).status_code == 200
        while not (found := samples(client))["movers_pairs_total",]:
            time.sleep(0.01)  # a batch is counted when its answers are out
    assert found["movers_pairs_total",] == 7


@pytest.mark.filterwarnings("ignore::movers.runtime.notices.TruncationWarning")
def test_what_the_model_does_not_read_is_told(client):
    long = " ".join(["the quick fox"] * 60)
    whole = {"texts": "whole"}
    body = {"source": long, "target": PAIR["target"], **whole}
    found = client.post("/v1/compare", json=body).json()
    rest = found["source_unread"]
    assert rest and long.endswith(rest) and found["target_unread"] == ""
    assert f"last {len(rest.split())} words of A" in found["story"][0]
    pairs = [list(PAIR.values()), [PAIR["source"], long]]
    scores = client.post("/v1/score", json={"pairs": pairs, **whole}).json()["methods"]["movers"]
    assert scores["unread"] == [1]
    ranked = {"query": PAIR["source"], "candidates": [long, PAIR["target"]], **whole}
    matches = client.post("/v1/rank", json=ranked).json()["matches"]
    assert {match["text"]: match["unread"] for match in matches} == {
        long: True,
        PAIR["target"]: False,
    }


def test_longer_texts_are_compared_sentence_by_sentence(client):
    opening = "The quick fox jumps over the lazy dog. The dog sleeps in the garden. " * 60
    source, target = (opening + f"The fox has {count} dogs." for count in (3, 5))
    assert len(source) > 2000
    found = client.post("/v1/compare", json={"source": source, "target": target}).json()
    assert found["changes"][-1]["fate"] == "changed" and found["source_unread"] == ""
    assert len(found["sentences"][0]) == 121 and 0 < found["similarity"] < 1
    scored = client.post("/v1/score", json={"pairs": [[source, target]]}).json()["methods"][
        "movers"
    ]
    assert scored["unread"] == [] and scored["distances"] == [found["distance"]]
    page = client.post("/v1/page", json={"source": "a", "target": "b", "texts": "sentences"})
    assert page.status_code == 200 and "side-a" in page.text
    for refused in ({"method": "wmd"}, {"texts": "whole"}):
        said = message(
            client.post("/v1/compare", json={"source": source, "target": "a", **refused}), 422
        )
        assert "this server takes 2000" in said
    assert client.get("/texts").status_code == 200


def test_methods_say_what_they_lack_here(client, models):
    missing = {one["name"]: one["missing"] for one in client.get("/v1/methods").json()["methods"]}
    assert "--parser" in missing["synwmd"]["tiny"] and "--parser" in missing["rots"]["tiny"]
    usable = [name for name, lacks in missing.items() if not lacks]
    assert {"movers", "wsmd-wrd", "wmd"} <= set(usable)
    for name in missing.keys() - set(usable):
        assert client.post("/v1/compare", json={**PAIR, "method": name}).status_code == 422


def test_advice_is_in_the_words_of_the_page_too(client):
    body = {"source": "the dog", "target": "a cat", "other": "the of", "method": "wsmd"}
    told = client.post("/v1/contrast", json=body).json()["error"]
    assert told["message"].startswith("the other sentence has no words left")
    assert 'pass "stopwords": "none" or "empty": "keep"' in told["message"]
    assert told["spoken"] == (
        "C has no words left after stop-word removal ('the of'); set Stop words to kept"
    )
    unfitted = InputError("layers 'BV' need a fit", Do("fit", "first"), Do("name layers"))
    assert unfitted.worded(PAGE) == "layers 'BV' need a fit; change Layers"


def test_the_page_calls_its_controls_as_the_table_of_settings_does():
    page = (files("movers.explain") / "static" / "page.html").read_text("utf-8")
    for name, facts in table().items():
        if facts.http is None or not facts.http.control:
            continue
        before, after = page.split(f'name="{name}"')
        label = before[before.rindex("<label") :] + after[: after.index("</label>")]
        assert f">{facts.http.control} " in label
        for value, shown in facts.http.options.items():
            assert f'<option value="{value}">{shown}</option>' in label
