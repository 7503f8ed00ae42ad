"""Killed, or on a full disk, at many places: the index is the old one or the new one."""

import json
import os
import subprocess
import sys
from collections import Counter
from itertools import product
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("faults.py")
TASKS = ("build", "add", "replace")
VECTOR_TASKS = tuple(f"vectors-{task}" for task in (*TASKS, "delete", "compact"))
PRIVATE = ["unshare", "--user", "--map-root-user", "--mount"]
"""Lets a process mount what nobody else sees."""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs fork and SIGKILL")


def may_mount():
    try:
        return subprocess.run([*PRIVATE, "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


@pytest.fixture(scope="module", params=[12, pytest.param(40, marks=pytest.mark.published)])
def points(request):
    """At how many places to kill."""
    return request.param


@pytest.fixture(scope="module")
def outcomes(bert, tiny, points, tmp_path_factory):
    """What was left after every fault, by kind and task."""
    place = tmp_path_factory.mktemp("faults")
    bert.save(place / "statistics.safetensors")
    arguments = [SCRIPT, tiny("bert"), place / "statistics.safetensors", place, points]
    code = [sys.executable, *map(str, arguments)]
    if may_mount():
        code = [*PRIVATE, *code, "mount"]
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SCRIPT.parents[1]), *sys.path])}
    done = subprocess.run(code, capture_output=True, text=True, env=paths)
    assert done.returncode == 0, done.stderr
    found = {}
    for line in done.stdout.splitlines():
        record = json.loads(line)
        found.setdefault((record["kind"], record["task"]), []).append(record)
    return found


def check(records):
    """Old or new, and after the next writer new, with nothing left over."""
    for record in records:
        assert record["state"] in ("old", "new"), record
        assert record["again"] == "new" and record["left_again"] == ["manifest.json"], record


@pytest.mark.parametrize("task", [*TASKS, *VECTOR_TASKS])
def test_a_kill_leaves_the_old_or_the_new(outcomes, points, task):
    records = outcomes["kill", task]
    check(records)
    ends = Counter(record["ended"] for record in records)
    assert ends["killed"] >= 0.75 * points and {record["state"] for record in records} == {
        "old",
        "new",
    }


@pytest.mark.parametrize(
    ("kind", "task"),
    [*product(["full", "pages"], TASKS), *product(["full"], VECTOR_TASKS)],
)
def test_a_full_disk_is_said_and_leaves_the_old_or_the_new(outcomes, kind, task):
    if (kind, task) not in outcomes:
        pytest.skip("this user may not mount a file system")
    records = outcomes[kind, task]
    check(records)
    failed = [record for record in records if record["ended"] != "whole"]
    assert len(failed) >= 5
    for record in failed:
        assert record["ended"] == "StorageError" and f"{task}-index" in record["message"], record
        assert "No space left on device" in record["message"], record
        kept = {"new": "has its new state", "old": "keeps its old state"}[record["state"]]
        if task.endswith("build") and record["state"] == "old":
            kept = "the same build goes on"
        assert kept in record["message"], record
    if task.endswith("add"):
        assert all(r["left"] == ["manifest.json"] for r in failed if r["state"] == "old")


def test_a_second_writer_is_told_who_is_writing(outcomes):
    for task in TASKS:
        record = outcomes["held", task][0]
        assert record["ended"] == "InputError" and record["state"] == "old"
        assert f"is being written by process {record['holder']} on" in record["message"]
    after = outcomes["held", "add"][1]
    assert after["ended"] == "whole" and after["state"] == after["again"] == "new"
