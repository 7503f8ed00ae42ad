"""Input meant to hurt: clear answers, and the server goes on."""

import itertools
import json
import re
import resource
import socket
import time
from contextlib import ExitStack

import pytest
from servers import serving

from movers.web.limits import Limits

JSON = {"Content-Type": "application/json"}
FINE = {"source": "a dog barks", "target": "a cat sleeps"}


@pytest.fixture
def server(program):
    """The program, which must still serve when a test is over."""
    with program.client() as client:
        yield client
        assert client.post("/v1/compare", json=FINE).status_code == 200


def refused(answer, *statuses):
    assert answer.status_code in statuses, answer.text
    return answer.json()["error"]["message"]


def test_a_sentence_of_a_megabyte(server):
    body = {"source": "word " * 200_000, "target": "a dog"}
    assert "1000000 characters" in refused(server.post("/v1/compare", json=body), 422)
    body["source"] *= 2
    assert "this server takes 1048576" in refused(server.post("/v1/compare", json=body), 413)


def test_a_hundred_thousand_pairs(server):
    body = json.dumps({"pairs": [["a", "b"]] * 100_000}, separators=(",", ":"))
    assert "100000 pairs" in refused(server.post("/v1/score", content=body, headers=JSON), 422)
    spaced = json.dumps({"pairs": [["a dog", "a cat"]] * 100_000})
    assert "--max-body" in refused(server.post("/v1/score", content=spaced, headers=JSON), 413)


@pytest.mark.parametrize(
    "text",
    [
        "bell \x07 null \x00 escape \x1b[31m red \x7f",
        "\u202eevil\u202c text \u200f right",
        "הכלב נובח על החתול",
        "الكلب ينبح على القطة",
        "👩‍👩‍👧‍👦 🏳️‍🌈 dogs 🐶🐶",
        "<script>alert(1)</script> <img src=x onerror=alert(1)>",
        "'; DROP TABLE sentences; --",
        "Z̷̢̛a̶l̷g̸o̵ text̵",
        "{{7*7}} ${jndi:ldap://x} %s %n ../../etc/passwd",
        "[CLS] [SEP] [PAD] [MASK] dog",
    ],
)
def test_odd_text_is_text(server, text):
    answer = server.post("/v1/compare", json={**FINE, "source": text, "empty": "keep"})
    assert answer.status_code == 200, answer.text
    assert answer.json()["source"] == text
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    explained = server.post("/v1/explain", json={**FINE, "source": text, "empty": "keep"})
    assert explained.status_code == 200 and explained.json()["source"] == text


def test_half_a_surrogate_is_not_text(server):
    body = json.dumps({**FINE, "source": "\ud83d dog"})
    assert "lone surrogate" in refused(server.post("/v1/compare", content=body, headers=JSON), 422)
    body = json.dumps({**FINE, "\ud83d": 1})
    refused(server.post("/v1/compare", content=body, headers=JSON), 422)


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        (b"{bad", 400, "not valid JSON"),
        (b'{"source": "a dog', 400, "not valid JSON"),
        (b"", 422, "JSON object"),
        (b"[]", 422, "JSON object"),
        (b"\xff\xfe\x00", 400, "body"),
        (b"[" * 100_000, 400, "nested too deep"),
        (b'{"source": ' + b'{"a":' * 100_000, 400, "nested too deep"),
        (b'{"source": "a", "target": "b", "mix": NaN}', 422, "mix"),
        (b'{"source": "a", "target": "b", "embedding": ' + b"9" * 5000 + b"}", 400, "body"),
        (b'{"source": "a", "target": "b", "layers": "1-99999999999999"}', 422, "out of range"),
    ],
)
def test_broken_bodies(server, body, status, says):
    assert says in refused(server.post("/v1/compare", content=body, headers=JSON), status)


def test_forms_are_not_json(server):
    assert "application/json" in refused(server.post("/v1/compare", data=FINE), 422)
    plain = server.post("/v1/compare", content=json.dumps(FINE))
    assert "application/json" in refused(plain, 422)


@pytest.mark.parametrize(
    "name",
    ["../../../etc/passwd", "/etc", "..%2f..", "file:///etc/passwd", "x\x00y", "", "x" * 9999],
)
def test_models_are_never_looked_up(server, name):
    answer = server.post("/v1/compare", json={**FINE, "model": name})
    assert "this server has: all-MiniLM-L6-v2" in refused(answer, 404)


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static//etc/hosts"]
)
def test_files_outside_the_page_stay_there(program, server, path):
    with socket.create_connection(("127.0.0.1", program.port)) as raw:
        raw.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        head = raw.makefile("rb").read()
    assert b" 404 " in head.splitlines()[0] and b"create_app" not in head


def test_a_thousand_open_connections(program, server):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with ExitStack() as stack:
        for number in range(1000):
            raw = socket.create_connection(("127.0.0.1", program.port))
            stack.enter_context(raw)
            if number % 2:  # half of them begin a request and never end it
                raw.sendall(
                    b"POST /v1/compare HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
                )
        with program.client() as honest:
            assert honest.post("/v1/compare", json=FINE).status_code == 200
            assert honest.get("/healthz").status_code == 200


def test_a_slow_client_is_told_and_let_go(models):
    with serving(models, Limits(timeout=1)) as client:
        address = ("127.0.0.1", client.base_url.port)
        with socket.create_connection(address) as slow:
            slow.sendall(
                b"POST /v1/compare HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                b'Content-Length: 100\r\n\r\n{"source": "drip'
            )
            assert client.get("/healthz").status_code == 200  # others do not wait for it
            answer = slow.makefile("rb").read()  # ends because the server closes
        assert answer.startswith(b"HTTP/1.1 408") and b"16 bytes of the request arrived" in answer


@pytest.mark.parametrize("path", ["/v1/compare", "/healthz"])
def test_a_length_that_is_told_in_two_ways_is_refused_and_closed(program, server, path):
    hidden = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with socket.create_connection(("127.0.0.1", program.port), timeout=60) as raw:
        raw.sendall(
            f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Content-Length: {5 + len(hidden)}\r\nTransfer-Encoding: chunked\r\n\r\n"
            "0\r\n\r\n".encode()
            + hidden
        )
        answers = raw.makefile("rb").read()  # ends because the server closes
    assert answers.startswith(b"HTTP/1.1 400 ") and b"not both" in answers
    assert answers.count(b"HTTP/1.1 ") == 1


def test_an_abandoned_curve_holds_nobody_up(program, server):
    """It would take longer than an answer may, and what comes next is no request of a moment."""
    words = [f"{a}{b}" for a in ("dog", "cat", "house", "river") for b in range(48)]
    curve = {"source": " ".join(words), "target": " ".join(words[::-1]), "steps": 51}
    body = json.dumps({**curve, "method": "wsmd", "stopwords": "none"}).encode()
    before = given_up(server, "curve")
    with socket.create_connection(("127.0.0.1", program.port)) as raw:
        head = "POST /v1/curve HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        raw.sendall(head.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        time.sleep(1.5)
    pairs = [[f"dog {k} barks at the old house", f"the river {k} sleeps"] for k in range(30)]
    for _ in range(2):
        answer = server.post("/v1/score", json={"pairs": pairs, "methods": ["wsmd"]})
        assert answer.status_code == 200, answer.text
    deadline = time.monotonic() + 60  # it is noticed between two steps, which may be slow
    while given_up(server, "curve") == before and time.monotonic() < deadline:
        time.sleep(0.2)
    assert given_up(server, "curve") == before + 1


@pytest.mark.parametrize("route", ["compare", "differences", "score", "rank"])
def test_abandoned_long_texts_hold_nobody_up(program, server, route):
    """Nothing in one goes well with anything in the other, which takes the longest to find out."""
    words = ["".join(letters) for letters in itertools.product("bcdfglmnprst", "aeiou", "klmnrst")]
    one, two = (
        " ".join(f"{a.capitalize()} {b}." for a in half for b in words[:16])
        for half in (words[:200], words[200:400])
    )
    bodies = {
        "score": {"pairs": [[one, two]] * 3},
        "rank": {"query": one, "candidates": [two, f"{two} Once more."]},
    }
    body = json.dumps(bodies.get(route, {"source": one, "target": two})).encode()
    before = given_up(server, route)
    with socket.create_connection(("127.0.0.1", program.port)) as raw:
        head = f"POST /v1/{route} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        raw.sendall(head.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        time.sleep(1.5)
        assert server.post("/v1/compare", json=FINE).status_code == 200  # of a moment, beside it
    pairs = [[f"dog {k} barks at the old house", f"the river {k} sleeps"] for k in range(60)]
    answer = server.post("/v1/score", json={"pairs": pairs, "methods": ["wsmd"]})
    assert answer.status_code == 200, answer.text
    assert given_up(server, route) == before + 1


def given_up(server, route):
    """How many requests ended as the client had left, or as they would have come too late."""
    counts = re.findall(
        rf'movers_requests_total\{{route="/v1/{route}",status="(?:499|504)"\}} (\S+)',
        server.get("/metrics").text,
    )
    return sum(map(float, counts))


def test_bytes_that_are_no_http(program, server):
    with socket.create_connection(("127.0.0.1", program.port)) as raw:
        raw.sendall(b"\x16\x03\x01 hello \r\n\r\n")
        assert raw.makefile("rb").read().startswith(b"HTTP/1.1 400")


def test_leaving_in_the_middle_hurts_nobody(program, server):
    body = json.dumps({"pairs": [["a dog barks", f"cat {k} sleeps"] for k in range(50)]}).encode()
    for sent in (len(body) // 2, len(body)):
        with socket.create_connection(("127.0.0.1", program.port)) as raw:
            head = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            raw.sendall(
                b"POST /v1/score HTTP/1.1\r\nHost: localhost\r\n" + head.encode() + body[:sent]
            )
            time.sleep(0.02)
