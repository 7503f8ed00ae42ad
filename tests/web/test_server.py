import socket
import threading
import time

import httpx
import pytest
from servers import Program

from movers import cli

PAIRS = [[f"dog number {k} barks at the moon", f"the cat {k} sleeps on a sofa"] for k in range(300)]


def test_stopping_finishes_what_was_accepted():
    program = Program("--max-body", "200000", MOVERS_TOKEN="sesame")
    answers = []
    with program.client(headers={"Authorization": "Bearer sesame"}) as client:
        idle = httpx.Client(base_url=program.url)
        assert idle.get("/healthz").status_code == 200
        assert idle.get("/v1/models").status_code == 401

        def ask():
            answers.append(client.post("/v1/score", json={"pairs": PAIRS, "methods": ["wsmd"]}))

        asking = [threading.Thread(target=ask) for _ in range(3)]
        for thread in asking:
            thread.start()
        while "movers_pairs_total 0.0" in client.get("/metrics").text:
            time.sleep(0.02)
        code, _ = program.stop(60)
        for thread in asking:
            thread.join()
        idle.close()
    assert code == 0
    assert [answer.status_code for answer in answers] == [200] * 3
    for answer in answers:
        assert len(answer.json()["methods"]["wsmd"]["distances"]) == len(PAIRS)
    assert program.log[-1] == "movers: stopped\n"
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", program.port))


def test_only_loopback_unless_told_otherwise(program):
    assert program.url.startswith("http://127.0.0.1:")


def test_a_port_in_use_is_said_before_anything_is_loaded(capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code = cli.main(["serve", "--port", str(taken.getsockname()[1])])
    assert code == 1
    assert "pass another --port" in capsys.readouterr().err


def test_contradicting_limits_are_one_line(capsys):
    code = cli.main(["serve", "--port", "0", "--queue", "10"])
    assert code == 1
    assert "no room for a request" in capsys.readouterr().err


def test_unknown_models_are_refused_at_the_start(capsys):
    code = cli.main(["serve", "--port", "0", "--model", "no/such-model"])
    assert code == 1
    assert "cannot load model 'no/such-model'" in capsys.readouterr().err
