"""Connections that say nothing, too little or too slowly; real sockets."""

import asyncio
import errno
import json
import os
import resource
import socket
import time
from contextlib import ExitStack, suppress

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
