import os
import re
import signal
import socket
import threading
import time
from functools import partial

import httpx
import pytest
from servers import Program

from movers import cli
from movers.web.batcher import BATCH_PAIRS
from movers.web.limits import Limits
from movers.web.models import Models
from movers.web.server import bind, run
from processes import PROCESSES, Command

PAIRS = [[f"dog number {k} barks at the moon", f"the cat {k} sleeps on a sofa"] for k in range(150)]


def accepted(client):
    """Pairs that wait or were answered; those of the batch under way are missing."""
    counts = re.findall(r"^movers_pairs_(?:total|waiting) (\S+)", client.get("/metrics").text, re.M)
    return sum(map(float, counts))


def test_stopping_finishes_what_was_accepted():
    options = "--max-body 200000 --timeout 120 --name proxy.example"
    program = Program(*options.split(), start=Command, MOVERS_TOKEN="sesame")
    answers = []
    with program.client(headers={"Authorization": "Bearer sesame"}) as client:
        idle = httpx.Client(base_url=program.url)
        assert idle.get("/healthz").status_code == 200
        assert idle.get("/v1/models").status_code == 401
        assert idle.get("/healthz", headers={"Host": "proxy.example"}).status_code == 200

        def ask():
            answers.append(client.post("/v1/score", json={"pairs": PAIRS, "methods": ["wsmd"]}))

        asking = [threading.Thread(target=ask) for _ in range(3)]
        for thread in asking:
            thread.start()
        while accepted(client) < 3 * len(PAIRS) - BATCH_PAIRS:
            time.sleep(0.02)
        code, _ = program.stop(130)
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


def serve_and_stop(model):
    """Serve, and ask for the end as soon as that is announced."""
    with bind("127.0.0.1", 0) as listener:
        stop = partial(os.kill, os.getpid(), signal.SIGTERM)
        run(Models.load([model]), Limits(), listener, ready=stop)


def test_a_stop_right_after_the_start_is_not_lost(tiny):
    process = PROCESSES.Process(target=serve_and_stop, args=[str(tiny("bert"))])
    process.start()
    process.join(200)
    assert process.exitcode == 0


def test_only_loopback_unless_told_otherwise(program):
    assert program.url.startswith("http://127.0.0.1:")
    with program.client() as client:
        assert client.get("/healthz", headers={"Host": "localhost"}).status_code == 200
        assert client.get("/healthz", headers={"Host": "evil.example"}).status_code == 421


def test_other_machines_need_a_token_which_is_made_if_none_is_given():
    program = Program("--host", "0.0.0.0", start=Command)
    (line,) = (line for line in program.log if "token" in line)
    token = line.rpartition(" ")[2].strip()
    assert len(token) > 30
    with httpx.Client(base_url=f"http://127.0.0.1:{program.port}") as client:
        assert client.get("/healthz").status_code == 200
        assert client.get("/v1/models").status_code == 401
        given = client.get("/v1/models", headers={"Authorization": f"Bearer {token}"})
        assert given.status_code == 200
    assert program.stop()[0] == 0


FOREIGN = "ភាសាខ្មែរ", "ពិរោះ"


def test_the_log_counts_warnings_and_quotes_no_client(program):
    with program.client() as client:
        for k in range(12):
            body = {
                "source": f"{FOREIGN[0]} {FOREIGN[1]} {k}",
                "target": FOREIGN[1],
                "stopwords": "none",
            }
            assert client.post("/v1/compare", json=body).status_code == 200
    while "movers: UnknownWarning: 10 so far\n" not in program.log:
        time.sleep(0.01)  # what was written is on its way here
    warned = [line for line in program.log if "Warning" in line]
    assert all(re.fullmatch(r"movers: \w+Warning: 10* so far\n", line) for line in warned)
    assert len(warned) == len(set(warned)) and "".join(program.log).isascii()


def test_a_port_in_use_is_said_before_anything_is_loaded(capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code = cli.main(["serve", "--port", str(taken.getsockname()[1])])
    assert code == 1
    assert "pass another --port" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("token", "says"), [("", "is empty"), (" ", "is empty"), ("a b\n", "blanks")]
)
def test_a_token_that_nobody_can_send_is_refused_at_the_start(monkeypatch, capsys, token, says):
    monkeypatch.setenv("MOVERS_TOKEN", token)
    assert cli.main(["serve", "--port", "0", "--model", "no/such-model"]) == 1
    said = capsys.readouterr().err
    assert says in said and "MOVERS_TOKEN" in said


def test_contradicting_limits_are_one_line(capsys):
    code = cli.main(["serve", "--port", "0", "--queue", "10"])
    assert code == 1
    assert "no room for a request" in capsys.readouterr().err


def test_unknown_models_are_refused_at_the_start(capsys):
    code = cli.main(["serve", "--port", "0", "--model", "no/such-model"])
    assert code == 1
    assert "cannot load model 'no/such-model'" in capsys.readouterr().err
