"""Ray: two real nodes, a worker killed midway, and the numbers of a single process."""

import importlib
import os
import signal
import socket
import sys
from types import SimpleNamespace

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.dataset
import pytest

from movers import cli
from movers.errors import DependencyError, InputError, MoversError
from movers.runtime.atomic import UNFINISHED
from movers.runtime.notices import Notice
from processes import Command
from tiny_models import PAIRS

ray = pytest.importorskip("ray", reason="needs the extra movers[ray]")

from movers.integrations.ray import DeathCounter, Workers, score, score_files  # noqa: E402
from movers.integrations.ray import cluster as session  # noqa: E402


def table_of(pairs, **more):
    sources, targets = map(list, zip(*pairs, strict=True))
    return pa.table({"sentence1": sources, **more, "sentence2": targets})


def consumed(dataset):
    return pa.concat_tables(ray.get(dataset.to_arrow_refs()))


def run(*arguments):
    """Exit code of the command line."""
    try:
        return cli.main(arguments)
    except SystemExit as stop:
        return stop.code


def worker_processes():
    found = set()
    for process in psutil.Process().children(recursive=True):
        try:
            if "MapBatches(Worker)" in " ".join(process.cmdline()):
                found.add(process.pid)
        except psutil.NoSuchProcess:
            continue
    return found


@pytest.mark.skipif(os.name != "posix", reason="sends SIGKILL")
def test_a_killed_worker_changes_nothing(cluster, bert):
    pairs = [*PAIRS, ("the of", "a dog")] * 6
    table = table_of(pairs, id=list(range(len(pairs))))
    scorers = {"wsmd": bert, "words": bert.using("wmd")}
    scored = score(ray.data.from_arrow(table), scorers, workers=Workers(2), batch_size=2)
    batches = iter(scored.iter_batches(batch_size=None, batch_format="pyarrow"))
    first = next(batches)
    victims = worker_processes()
    os.kill(min(victims), signal.SIGKILL)
    started = set()
    found = [first]
    for batch in batches:
        found.append(batch)
        started = started or worker_processes() - victims
    found = pa.concat_tables(found)
    assert started, "Ray started no worker in place of the one that was killed"
    assert found.select(table.column_names).equals(table)
    assert found.column_names == [*table.column_names, "wsmd", "wsmd_similarity", "words", "unread"]
    for name, scorer in scorers.items():
        with pytest.warns(UserWarning, match="no distance"):
            expected = scorer.distances(pairs)
        np.testing.assert_array_equal(found[name].to_numpy(), expected)
    assert np.isnan(found["wsmd"].to_numpy()).sum() == 6


class Deadly:
    """A scorer that some sentences kill the process of."""

    far, encoder = None, SimpleNamespace()

    def using(self, **_):
        return self

    def prepare(self):
        pass

    def distances(self, pairs, *, progress=False):
        if ("poison", "poison") in pairs:
            os.kill(os.getpid(), signal.SIGKILL)
        return np.zeros(len(pairs))

    def scaled(self, distances):
        return None

    def unread_words(self, pairs):
        return np.zeros(len(pairs), np.int64)


def test_workers_that_died_over_a_batch_are_counted():
    counter = DeathCounter()
    assert [counter.begin("worker", "batch") for _ in range(3)] == [0, 1, 2]
    counter.end("worker")
    assert counter.begin("worker", "another") == 0 and counter.begin("second", "batch") == 2


@pytest.mark.published
@pytest.mark.skipif(os.name != "posix", reason="sends SIGKILL")
def test_rows_that_kill_every_worker_are_named(cluster):
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        table = table_of([("a", "b"), ("c", "d"), ("e", "f"), ("poison", "poison")] * 2)
        scored = score(
            ray.data.from_arrow(table), {"x": Deadly()}, workers=Workers(1), batch_size=2
        )
        message = r"3 workers died over the same 2 rows, which begin with 'e', 'f'"
        with pytest.raises(MoversError, match=message), session():
            consumed(scored)
    finally:
        ray.cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


def test_a_table_without_rows_is_told(cluster, bert, tmp_path):
    table = table_of(PAIRS[:1], id=[1]).slice(0, 0)
    assert score(ray.data.from_arrow(table), bert).count() == 0
    (tmp_path / "none.csv").write_text("source,target\n")
    with pytest.raises(InputError, match=r"none\.csv has a header but no rows"):
        score_files(tmp_path / "none.csv", tmp_path / "out", {"wsmd": bert}, workers=Workers(1))


@pytest.mark.parametrize("address", ["127.0.0.1:{}", "ray://localhost:{}", "127.0.0.1:99999"])
def test_an_address_where_nothing_listens_is_told_at_once(monkeypatch, address):
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", lambda **_: pytest.fail("Ray waits for it"))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        free = taken.getsockname()[1]
    address = address.format(free)
    with pytest.raises(InputError, match=r"nothing answers at .* name another address"):
        session(address).__enter__()


def test_a_cluster_that_refuses_is_not_called_silent(monkeypatch):
    def refuse(**_):
        raise ConnectionError("Failed to connect to Ray cluster")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", refuse)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        with pytest.raises(InputError, match=r"cannot connect .* RAY_AUTH_TOKEN"):
            session(address).__enter__()


def test_the_command_line_reaches_a_cluster_and_equals_the_local_engine(
    cluster, tiny, tmp_path, bert
):
    folder, output = tmp_path / "parts", tmp_path / "out"
    folder.mkdir()
    for number, pairs in enumerate([PAIRS[:20], PAIRS[20:]]):
        rows = [f'{number},"{a}","{b}"\n' for a, b in [*pairs, ("the of", "a dog")]]
        (folder / f"{number}.csv").write_text("007,source,target\n" + "".join(rows))
    bert.save(tmp_path / "fitted.safetensors")
    arguments = ["--methods", "wmd,wsmd", "--model", str(tiny("bert"))]
    arguments += ["--statistics", str(tmp_path / "fitted.safetensors")]
    engine = ["--engine", "ray", "--address", cluster, "--workers", "1"]
    command = Command("score", str(folder), "-o", str(output), *engine, *arguments)
    with command.stderr as stream:
        said = stream.read()
    assert command.wait() == 0, said
    assert "44 rows" in said and "2 pairs without a proper distance under wmd" in said
    assert str(bert.signature) in said
    expected = []
    for file in sorted(folder.iterdir()):
        run("score", str(file), "-o", str(tmp_path / "one.parquet"), *arguments)
        expected.append(pa.dataset.dataset(tmp_path / "one.parquet").to_table())
    found = pa.dataset.dataset(sorted(output.iterdir()), format="parquet").to_table()
    # As bytes, for NaN is unequal to itself.
    assert found.to_pandas().to_csv() == pa.concat_tables(expected).to_pandas().to_csv()
    assert not list(tmp_path.glob(".*")) and not list(tmp_path.glob("*.partial"))


def test_errors_of_workers_come_back_as_their_own(cluster, tmp_path, bert):
    lines = ['{"source": "a dog barks", "target": "a cat sleeps"}\n'] * 3
    (tmp_path / "good.jsonl").write_text("".join(lines) + '{"source": "the of", "target": "a"}\n')
    (tmp_path / "bad.jsonl").write_text("".join(lines) + '{"source": "a dog", "target": 3}\n')
    scorers = {"wsmd": bert.using(empty="raise")}
    for name, message in (
        ("bad", r"row 4, column 'target': expected text, found 3"),
        ("good", r"wsmd: .*'the of'"),
    ):
        with pytest.raises(InputError, match=message):
            score_files(tmp_path / f"{name}.jsonl", tmp_path / "out", scorers, workers=Workers(1))
    assert not (tmp_path / "out").exists()


def test_columns_are_checked_before_anything_runs(cluster, bert):
    table = table_of(PAIRS[:3])
    for dataset, options, message in (
        (table, {"columns": ("sentence1", "other")}, "no column 'other'"),
        (table.append_column("wsmd-wrd", [[1, 2, 3]]), {}, "a column 'wsmd-wrd' already"),
        (table, {"batch_size": 0}, "batch_size must be at least 1, got 0"),
        (
            pa.table({"source": [None, 5], "target": ["a", "b"]}),
            {},
            "column 'source': expected text, found int64",
        ),
    ):
        with pytest.raises(InputError, match=message):
            score(ray.data.from_arrow(dataset), bert, **options)
    with pytest.raises(InputError, match="empty; expected rows"):
        score(ray.data.from_items([]), bert)


def test_too_large_a_worker_is_told(cluster, bert):
    with pytest.warns(Notice, match="4 CPUs and 0 GPUs, too few for a worker of 90 CPUs"):
        score(ray.data.from_arrow(table_of(PAIRS)), bert, workers=Workers(cpus=90))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "{tmp}/out.parquet"], "a folder of Parquet files, not"),
        ([], "a folder of Parquet files, not '-'"),
        (["-o", "{tmp}"], "exists and is not an empty folder"),
        (["-o", "{tmp}/out", "--source", "nope"], "no column 'nope'"),
        (["-o", "{tmp}/out", "--workers", "0"], "at least 1 worker"),
        (["-o", "{tmp}/out", "--cpus-per-worker", "0"], "more than 0 CPUs"),
        (["-o", "{tmp}/out", "--engine", "local", "--workers", "2"], "--workers needs --engine"),
    ],
)
def test_bad_options_are_one_clear_line(capsys, tmp_path, arguments, message):
    path = tmp_path / "pairs.tsv"
    path.write_text("source\ttarget\na dog\ta cat\n")
    arguments = [argument.format(tmp=tmp_path) for argument in arguments]
    engine = [] if "--engine" in arguments else ["--engine", "ray"]
    assert run("score", str(path), *engine, *arguments) == 1
    error = capsys.readouterr().err
    assert message in error and "Traceback" not in error


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ("nothing/*.csv", "no file"),
        (".", "has the columns a, b while"),
        ("1.csv", "which two columns hold the sentences"),
    ],
)
def test_files_that_do_not_fit_together_are_refused(tmp_path, bert, files, message):
    (tmp_path / "0.csv").write_text("source,target\na,b\n")
    (tmp_path / "1.csv").write_text("a,b,c\na,b,c\n" if files == "1.csv" else "a,b\na,b\n")
    with pytest.raises(InputError, match=message):
        score_files(tmp_path / files, tmp_path / "out", {"wsmd": bert})


def test_leftovers_of_a_killed_run_are_not_read(tmp_path, bert):
    (tmp_path / f"{UNFINISHED}x.0.csv").write_text("source,target\na dog")
    with pytest.raises(InputError, match="no file"):
        score_files(tmp_path, tmp_path / "out", {"wsmd": bert})


def test_without_ray_the_extra_is_named(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delitem(sys.modules, "movers.integrations.ray")
    with pytest.raises(DependencyError, match=r"pip install movers\[ray\]"):
        importlib.import_module("movers.integrations.ray")
    path = tmp_path / "pairs.tsv"
    path.write_text("source\ttarget\na dog\ta cat\n")
    assert run("score", str(path), "--engine", "ray", "-o", str(tmp_path / "out")) == 1
    assert "pip install movers[ray]" in capsys.readouterr().err


def test_failures_of_ray_itself_are_one_line(cluster):
    with pytest.raises(Exception, match="the Ray job failed: OSError: disk full"), session():
        raise ray.exceptions.RayError("Traceback\n  File x\nOSError: disk full\nmore")
