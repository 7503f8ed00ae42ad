"""Connections that say nothing, too little or too slowly; real sockets."""

import asyncio
import errno
import json
import os
import re
import resource
import socket
import time
from contextlib import ExitStack, suppress

import numpy as np
import pytest
from servers import serving

from movers.web import connections
from movers.web.connections import Listener, report
from movers.web.limits import Limits
from movers.web.models import Models
from movers.web.server import bind, run
from processes import PROCESSES

PULSE = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture
def hasty(models, monkeypatch):
    """A server that waits for a fraction of a second only."""
    monkeypatch.setattr(connections, "HEADER_SECONDS", 0.3)
    monkeypatch.setattr(connections, "STALL_SECONDS", 0.3)
    with serving(models, token="sesame") as client:
        yield client


def connected(client):
    return socket.create_connection(("127.0.0.1", client.base_url.port), timeout=20)


def alive(raw):
    """Whether the server answers on a connection."""
    raw.sendall(PULSE)
    received = b""
    while not received.endswith(b"}") and (part := raw.recv(65536)):
        received += part
    return received.startswith(b"HTTP/1.1 200") and received.endswith(b'{"status":"ok"}')


def said(raw):
    """Everything until the server closes."""
    received = b""
    with suppress(ConnectionResetError):  # what it did not read yet may come back as a reset
        while part := raw.recv(65536):
            received += part
    return received


def drip(raw, what=b"x", patience=20):
    """Send something now and then until the server has enough."""
    started = time.monotonic()
    try:
        while time.monotonic() < started + patience:
            raw.sendall(what)
            time.sleep(0.02)
    except OSError:
        return
    raise AssertionError("the server took it all")


def error_in(answer):
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"content-type: application/json" in head.lower()
    assert b"connection: close" in head.lower()
    return json.loads(body)["error"]["message"]


def test_answers_leave_at_once_on_a_kept_connection():
    with bind("127.0.0.1", 0) as listener:
        assert listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        with socket.create_connection(listener.getsockname()):
            accepted, _ = listener.accept()
            with accepted:
                assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_silent_connection_is_closed(hasty):
    with connected(hasty) as raw:
        assert said(raw) == b""


def test_headers_that_drip_are_told_and_closed(hasty):
    with connected(hasty) as raw:
        raw.sendall(b"GET /healthz HTTP/1.1\r\nX-Drip: ")
        drip(raw)
    with connected(hasty) as raw:
        raw.sendall(b"GET /healthz HTTP/1.1\r\n")
        answer = said(raw)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert "23 bytes of the headers arrived within 0.3 s" in error_in(answer)


def test_a_body_that_drips_on_after_its_refusal_is_not_waited_for(hasty):
    with connected(hasty) as raw:
        raw.sendall(b"POST /v1/compare HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n{")
        assert raw.recv(12) == b"HTTP/1.1 401"
        drip(raw)


def test_a_kept_connection_may_idle_longer_than_headers_may_take(hasty):
    with connected(hasty) as raw:
        for _ in range(2):
            assert alive(raw)
            time.sleep(0.5)
        raw.sendall(PULSE[:20])
        assert said(raw) == b""


def test_idle_connections_are_closed(models, monkeypatch):
    monkeypatch.setattr("movers.web.server.IDLE_SECONDS", 0.2)
    with serving(models) as client, connected(client) as raw:
        raw.sendall(PULSE)
        assert said(raw).endswith(b'{"status":"ok"}')


def test_answers_that_nobody_reads_are_dropped(hasty):
    with connected(hasty) as raw:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        drip(raw, b"GET /static/page.js HTTP/1.1\r\nHost: x\r\n\r\n" * 100)


def test_one_connection_too_many_is_told_so(models):
    with serving(models, Limits(connections=3)) as client, ExitStack() as stack:
        held = [stack.enter_context(connected(client)) for _ in range(3)]
        for raw in held:
            assert alive(raw)
        with connected(client) as late:
            late.sendall(PULSE)
            answer = said(late)
        assert answer.startswith(b"HTTP/1.1 503 ") and b"retry-after: 1\r\n" in answer
        assert "holds 3 connections" in error_in(answer)
        assert alive(held[0])
        held[0].close()
        room = False
        while not room:  # until the server has noticed
            with connected(client) as raw:
                room = alive(raw)


def test_what_is_no_http_is_told_in_the_common_shape(hasty):
    with connected(hasty) as raw:
        raw.sendall(b"\x16\x03\x01 hello \r\n\r\n")
        answer = said(raw)
    assert answer.startswith(b"HTTP/1.1 400 ") and "not an HTTP request" in error_in(answer)


def test_five_hundred_silent_and_five_hundred_dripping_do_not_matter(hasty):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with ExitStack() as stack:
        crowd = [stack.enter_context(connected(hasty)) for _ in range(500)]
        for _ in range(500):
            crowd.append(stack.enter_context(connected(hasty)))
            crowd[-1].sendall(b"GET / HTTP/1.1\r\nX: ")
        assert hasty.get("/healthz").status_code == 200
        answers = [said(raw) for raw in crowd]
    assert not any(answers[:500])
    assert all(answer.startswith(b"HTTP/1.1 408") for answer in answers[500:])


class Exhausted(Listener):
    """A socket of a system that is out of descriptors."""

    tried = 0

    def _accept(self):
        self.tried += 1
        raise OSError(errno.EMFILE, "Too many open files")


def test_a_listener_rests_when_the_system_has_nothing_left(caplog):
    async def listen():
        asyncio.get_running_loop().set_exception_handler(report)
        with bind("127.0.0.1", 0) as bound:
            listener = Exhausted(bound.family, bound.type, bound.proto, fileno=bound.detach())
        server = await asyncio.get_running_loop().create_server(
            asyncio.Protocol, sock=listener, backlog=2048
        )
        with socket.create_connection(listener.getsockname()):
            await asyncio.sleep(0.3)
        server.close()
        return listener.tried

    assert asyncio.run(listen()) == 1
    assert [record.message for record in caplog.records] == [
        "cannot accept connections for a moment: [Errno 24] Too many open files"
    ]


def serve_with_few_files(model, log, ready):
    """Serve with no more than 200 files open at a time; sends the port, logs into a file."""
    os.dup2(os.open(log, os.O_CREAT | os.O_WRONLY), 2)
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200))
    connections.HEADER_SECONDS, connections.RESERVED = 1.0, 0
    with bind("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        run(Models.load([model]), Limits(), listener, ready=lambda: ready.send(port))


def test_a_server_survives_the_limit_on_open_files(tiny, tmp_path):
    received, ready = PROCESSES.Pipe(duplex=False)
    arguments = str(tiny("bert")), tmp_path / "log", ready
    server = PROCESSES.Process(target=serve_with_few_files, args=arguments)
    server.start()
    ready.close()
    try:
        with ExitStack() as stack:
            address = "127.0.0.1", received.recv()
            for _ in range(400):
                stack.enter_context(socket.create_connection(address))
            with socket.create_connection(address, timeout=60) as honest:
                assert alive(honest)
            server.terminate()
    finally:
        server.join(60)
        server.kill()  # if it is still there
    log = (tmp_path / "log").read_text("utf-8")
    assert server.exitcode == 0, log
    assert "cannot accept connections" in log and "Traceback" not in log
    assert log.count("\n") < 50


POST = b"POST /v1/compare HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
EXPECTS = b"Expect: 100-continue\r\n"


@pytest.mark.parametrize(
    ("head", "rest", "status"),
    [
        (POST + b"Content-Encoding: gzip\r\n" + CHUNKED, b"no chunk\r\n", 415),
        (POST.replace(b"localhost", b"elsewhere") + CHUNKED, b"no chunk\r\n", 421),
        (PULSE[:-2] + CHUNKED, b"no chunk\r\n", 200),
        (PULSE[:-2] + b"Content-Length: 5\r\n\r\n", PULSE, 200),
        (POST + EXPECTS + b"Content-Length: 2000000\r\n\r\n", PULSE, 413),
        (POST + EXPECTS + b"Content-Length: 20\r\nContent-Encoding: gzip\r\n\r\n", PULSE, 415),
    ],
)
def test_what_is_answered_before_its_body_is_the_last_answer(program, head, rest, status):
    with connected_to(program.port) as raw:
        raw.sendall(head)
        answer = raw.recv(65536)
        with suppress(OSError):  # where it is closed by now
            raw.sendall(rest)
        answer += said(raw)
    assert answer.startswith(b"HTTP/1.1 %d " % status)
    assert answer.count(b"HTTP/1.1 ") == 1 and b"connection: close\r\n" in answer.lower()


def connected_to(port):
    return socket.create_connection(("127.0.0.1", port), timeout=20)


@pytest.mark.parametrize("size", [3, 300_000])
def test_a_last_answer_reaches_clients_that_still_send(program, size):
    """Of a chunk that is none, too, which is seen before the application is asked."""
    with connected_to(program.port) as raw:
        raw.sendall(POST + b"Content-Length: 3\r\n" + CHUNKED + size * b"x")
        time.sleep(0.2)
        raw.sendall(b"x")
        answer = said(raw)
    assert answer.startswith(b"HTTP/1.1 400 ") and answer.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize("version", [b"0.9", b"2.0", b"3.0"])
def test_other_versions_of_http_are_refused(program, version):
    with connected_to(program.port) as raw:
        raw.sendall(PULSE.replace(b"1.1", version))
        answer = said(raw)
    assert answer.startswith(b"HTTP/1.1 505 ") and "speaks HTTP/1.1" in error_in(answer)


def mutated(rng, message):
    """A request with a few bytes taken away, put in or exchanged."""
    message = bytearray(message)
    for _ in range(rng.integers(0, 4)):
        place, count = rng.integers(len(message)), rng.integers(1, 6)
        what = [
            b"",
            b"\r\n",
            b"\n",
            b"\0",
            b" ",
            b":",
            b"0",
            b"\xff",
            b"\r\n\r\n",
            b"chunked",
            b"9",
        ]
        message[place : place + count * rng.integers(2)] = what[rng.integers(len(what))]
    return bytes(message)


def answers_in(stream):
    """The status of every answer, of which there is nothing but whole ones."""
    statuses, closing = [], False
    while stream:
        assert not closing, "something behind the last answer"
        head, blank, stream = stream.partition(b"\r\n\r\n")
        begin = re.fullmatch(rb"HTTP/1\.1 (\d{3}) [^\r]+(?:\r\n[^\r]+)*", head)
        assert begin and blank, head
        length = int((re.findall(rb"(?i)\r\ncontent-length: (\d+)", head) or [b"0"])[0])
        assert len(stream) >= length
        stream, closing = stream[length:], b"connection: close" in head.lower()
        statuses.append(int(begin[1]))
    return statuses


def test_mutated_requests_get_whole_answers_and_none_behind_the_last(program):
    rng = np.random.default_rng(0)
    chunks = b'10\r\n{"source": "a", \r\na\r\n"target": 1\r\n1\r\n}\r\n0\r\n\r\n'
    whole = [
        PULSE,
        POST + b'Content-Length: 30\r\n\r\n{"source": "dog", "target": 1}',
        POST + CHUNKED + chunks,
        POST + EXPECTS + CHUNKED + chunks,
        POST + b"Content-Length: 5\r\n" + CHUNKED + chunks,
    ]
    last = PULSE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    statuses = set()
    for _ in range(200):
        sent = [mutated(rng, whole[rng.integers(len(whole))]) for _ in range(rng.integers(1, 4))]
        with connected_to(program.port) as raw:
            raw.settimeout(1)  # of a server that waits for more, rightly
            answers = b""
            with suppress(OSError):
                for message in (*sent, last):
                    raw.sendall(message)
                while part := raw.recv(65536):
                    answers += part
        statuses |= {*answers_in(answers)}
    assert {200, 400, 422} <= statuses <= {100, 200, 400, 404, 405, 413, 421, 422, 505}
    with connected_to(program.port) as raw:
        assert alive(raw)


def test_an_unexpected_error_leaves_the_connection_and_quotes_nobody(models, monkeypatch, caplog):
    quoted = "a secret sentence"

    def fail(_):
        raise ValueError(quoted)

    monkeypatch.setattr("movers.web.app.mix_curve", fail)
    body = json.dumps({"source": "a dog", "target": "a cat", "method": "wsmd", "steps": 2}).encode()
    head = POST.replace(b"compare", b"curve") + b"Content-Length: %d\r\n\r\n" % len(body)
    with serving(models) as client, connected(client) as raw:
        raw.sendall(head + body)
        answer = b""
        while not answer.endswith(b"}}"):
            answer += raw.recv(65536)
        assert answer.startswith(b"HTTP/1.1 500 ") and b"went wrong inside the server" in answer
        assert b"x-content-type-options: nosniff" in answer
        assert alive(raw)
        counted = 'movers_requests_total{route="/v1/curve",status="500"} 1.0'
        assert counted in client.get("/metrics").text
    (record,) = caplog.records
    assert record.getMessage().startswith("/v1/curve failed with ValueError\n")
    assert "in fail" in record.getMessage() and quoted not in caplog.text
