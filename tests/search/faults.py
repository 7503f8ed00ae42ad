"""Break off build, add and replace at many places, and say what is left; run by test_faults.py.

    python faults.py MODEL STATISTICS FOLDER POINTS [mount]

A process of its own: it forks children to be killed, and mounts a small file system. Encodings
are made once beforehand, so that children write files and compute nothing.
"""

import dataclasses
import errno
import io
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import numpy as np
from corpus import make_corpus

import movers
from movers.arrays import gathered
from movers.encode.transformer import TransformerEncoder
from movers.errors import InputError, MoversError
from movers.search import cosine, layouts
from movers.search import folder as folder_module
from movers.search.corpus import Shard
from movers.search.index import Index
from processes import unsynced

SOURCES = ("search/folder.py", "search/index.py", "search/manifest.py", "atomic.py", "locks.py")
PAGE = 4096
unsynced()
layouts.WORDS = dataclasses.replace(layouts.WORDS, capacity=16)
cosine.CAPACITY = {"text": 16, "words": 16}
TEXTS = make_corpus(100)
OLD, ADDED, OTHER = TEXTS[:36], TEXTS[30:60], TEXTS[60:]


def build(folder, scorer):
    Index.build(scorer, OLD, folder)


def add(folder, scorer):
    Index.open(folder, scorer=scorer).add(ADDED)


def replace(folder, scorer):
    Index.build(scorer, OTHER, folder, replace=True)


def delete(folder, scorer):
    Index.open(folder, scorer=scorer).delete(GONE)


def compact(folder, scorer):
    Index.open(folder, scorer=scorer).compact()


TASKS = {build: (None, OLD), add: (OLD, TEXTS[:60]), replace: (OLD, OTHER)}
"""Sentences before and after each."""
GONE = OLD[1:30:2]
LEFT = [text for text in OLD if text not in GONE]
VECTOR_TASKS = {**TASKS, delete: (OLD, LEFT), compact: (LEFT, LEFT)}
"""The same for an index that remembers what was deleted, with what changes nothing to see."""


class Trial:
    """One task over and over on fresh copies of the folder it starts from."""

    def __init__(self, task, scorer, place, kind=""):
        self.task, self.scorer, self.place, self.kind = task, scorer, place, kind
        self.before, self.after = VECTOR_TASKS[task]
        self.template = place / f"{kind}{task.__name__}-template"
        self.folder = place / f"{kind}{task.__name__}-index"
        if task is compact:
            Index.build(scorer, OLD, self.template).delete(GONE)
        elif self.before:
            Index.build(scorer, self.before, self.template)

    def fresh(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.before:
            shutil.copytree(self.template, self.folder)

    def run(self):
        self.task(self.folder, self.scorer)

    def state(self):
        """Whether the folder holds the old index, the new one, or what it says instead."""
        try:
            index = Index.open(self.folder, scorer=self.scorer, verify=True)
            found = index.sentences
            if self.task is compact and found == self.after:
                return "old" if len(index.corpus.hidden) else "new"
        except InputError as error:
            known = self.before is None and "no index in" in str(error)
            return "old" if known else f"damaged: {error}"
        return {json.dumps(self.before): "old", json.dumps(self.after): "new"}.get(
            json.dumps(found), f"mixed: {len(found)} sentences"
        )

    def left(self):
        """Files that are no part of the index."""
        manifest = Index.open(self.folder, scorer=self.scorer).files.manifest
        return sorted({path.name for path in self.folder.iterdir()} - manifest.names)

    def report(self, kind, point, **facts):
        """What is left now, and after the same task ran to its end."""
        facts["state"] = self.state()
        if facts["state"] == "old" and self.before:
            facts["left"] = self.left()
        if facts["state"] == "new" and self.task is not compact:
            Index.open(self.folder, scorer=self.scorer).add(self.after)
        else:
            self.run()
        facts |= {"again": self.state(), "left_again": self.left()}
        task = f"{self.kind}{self.task.__name__}"
        print(json.dumps({"kind": kind, "task": task, "point": point, **facts}))


def traced(reached):
    """Call a function on every line of the files that write an index."""

    def trace(frame, event, _):
        if not frame.f_code.co_filename.endswith(SOURCES):
            return None
        if event == "line":
            reached()
        return trace

    sys.settrace(trace)


def in_child(work):
    """Run something in a child, which ends with it, and return how the child ended."""
    child = os.fork()
    if not child:
        try:
            work()
            os._exit(0)
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            os._exit(1)
    return os.waitpid(child, 0)[1]


def kill_everywhere(trial, points):
    seen = [0]

    def count():
        seen[0] += 1

    trial.fresh()
    traced(count)
    trial.run()
    sys.settrace(None)
    for point in np.linspace(1, seen[0], points).astype(int).tolist():
        passed = [0]

        def kill(point=point, passed=passed):
            passed[0] += 1
            if passed[0] == point:
                os.kill(os.getpid(), signal.SIGKILL)

        def work(kill=kill):
            traced(kill)
            trial.run()

        trial.fresh()
        killed = os.WIFSIGNALED(in_child(work))
        trial.report("kill", point, ended="killed" if killed else "whole")


class FullDisk:
    """Every way to fill a disk, of which one fails: half of it is written, then there is no room.

    Parameters
    ----------
    point
        Which of them fails.
    """

    def __init__(self, point=-1):
        self.point, self.passed = point, 0
        self.real = {"open": io.open, "os_open": os.open, "fsync": os.fsync, "replace": os.replace}

    def step(self, half=None):
        self.passed += 1
        if self.passed - 1 == self.point:
            if half is not None:
                half()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def open(self, file, mode="r", *rest, **options):
        stream = self.real["open"](file, mode, *rest, **options)
        if mode.startswith("r"):
            return stream
        write = stream.write

        def failing(data):
            self.step(lambda: write(data[: len(data) // 2]))
            return write(data)

        return Wrapped(stream, failing)

    def __enter__(self):
        def stepping(name):
            def call(*arguments, **options):
                self.step()
                return self.real[name](*arguments, **options)

            return call

        def made(path, flags, *rest, **options):
            if flags & os.O_CREAT:
                self.step()
            return self.real["os_open"](path, flags, *rest, **options)

        io.open, os.open = self.open, made
        os.fsync, os.replace = stepping("fsync"), stepping("replace")
        return self

    def __exit__(self, *_):
        io.open, os.open = self.real["open"], self.real["os_open"]
        os.fsync, os.replace = self.real["fsync"], self.real["replace"]


class Wrapped:
    """An open file with another way to write."""

    def __init__(self, stream, write):
        self.stream, self.write = stream, write

    def __getattr__(self, name):
        return getattr(self.stream, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stream.close()


def outcome(run):
    """What became of a task, and what it said."""
    try:
        run()
    except MoversError as error:
        return {"ended": type(error).__name__, "message": str(error)}
    except BaseException as error:
        return {"ended": f"a bare {type(error).__name__}", "message": str(error)}
    return {"ended": "whole", "message": ""}


def fill_everywhere(trial):
    trial.fresh()
    with FullDisk() as disk:
        trial.run()
    for point in range(disk.passed):
        trial.fresh()
        with FullDisk(point):
            facts = outcome(trial.run)
        trial.report("full", point, **facts)


def fill_pages(trial):
    """Leave so many pages of a small file system free, from none to what the task needs."""
    pages, ended = 0, ""
    ballast = trial.place / "ballast"
    while ended != "whole":
        trial.fresh()
        free = os.statvfs(trial.place)
        with ballast.open("wb") as stream:
            stream.write(bytes(max(0, free.f_bavail - pages) * PAGE))
        facts = outcome(trial.run)
        ballast.unlink()
        ended = facts["ended"]
        trial.report("pages", pages, **facts)
        pages += 1


def hold(trial):
    """Another process holds the index: all writers are told, readers go on, until it dies."""
    trial.fresh()
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        with folder_module.Folder.opened(trial.folder).writing():
            os.write(writing, b"held")
            signal.pause()
    os.read(reading, 4)
    for task in TASKS:
        facts = outcome(lambda task=task: task(trial.folder, trial.scorer))
        facts |= {"state": trial.state(), "holder": child}
        print(json.dumps({"kind": "held", "task": task.__name__, **facts}))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    trial.report("held", "after", **outcome(trial.run))


def encode_once(*scorers):
    """Make indices of texts that are encoded already; to encode one more is an error."""
    rows = {text: row for row, text in enumerate(TEXTS)}
    for index in [Index.build(one, TEXTS) for one in scorers]:
        _, join = index.corpus.living(range(len(index.shards)))
        whole = join()

        def make(*given, progress=False, whole=whole):
            *_, chunk = given
            return gathered(Shard, [(whole, np.array([rows[text] for text in chunk]))])

        if index.layout is layouts.WORDS:
            layouts.WORDS = dataclasses.replace(layouts.WORDS, make=make)
        else:
            patch.object(type(index.layout), "make", make).start()
    encoded = AssertionError("a sentence was encoded again")
    patch.object(TransformerEncoder, "encode", side_effect=encoded).start()


def main():
    model, statistics, place, points, *mount = sys.argv[1:]
    scorer = movers.load("wsmd", model, statistics=statistics, threads=1)
    encode_once(scorer, scorer.using("movers"))
    trials = [Trial(task, scorer, Path(place)) for task in TASKS]
    for trial in trials:
        kill_everywhere(trial, int(points))
        fill_everywhere(trial)
    for task in VECTOR_TASKS:
        trial = Trial(task, scorer.using("movers"), Path(place), "vectors-")
        kill_everywhere(trial, int(points))
        fill_everywhere(trial)
    hold(trials[1])
    if mount:
        small = Path(place, "small")
        small.mkdir()
        size = ["-o", "size=2m", "tmpfs", str(small)]
        if subprocess.run(["mount", "-t", "tmpfs", *size], check=False).returncode == 0:
            for task in TASKS:
                fill_pages(Trial(task, scorer, small))


if __name__ == "__main__":
    main()
