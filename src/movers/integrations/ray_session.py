"""Ray itself: a cluster or this machine, what its failures mean, and its worker processes."""

from __future__ import annotations

import logging
import os
import pickle
import re
import socket
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from movers import errors
from movers.bulk.score_files import named_columns
from movers.errors import DependencyError, InputError, MoversError
from movers.io.columns import UNREAD, count_unread
from movers.io.tables import check_texts
from movers.measures.parts.fitting import add_up
from movers.runtime.threads import available_threads
from movers.scorer import Scorer

OURS = re.compile(r"^movers\.errors\.(\w+): (.+)$", re.MULTILINE)
ANY = re.compile(r"^[\w.]+(?:Error|Exception|Invalid): .+$", re.MULTILINE)
"""Lines of a worker's traceback that name an error."""

SOCKET = re.compile(r"^(?:ray://)?\[?([^/]+?)\]?:(\d+)$")
PROBE_SECONDS = 5.0
REASONS = (
    "it may be of another version of Ray or Python, or want a token, in which case set "
    "RAY_AUTH_MODE=token and RAY_AUTH_TOKEN"
)
LIVES = 3
"""Workers that a batch may cost; one that kills each would go on for ever."""


def import_ray() -> Any:
    """Import Ray with its data library, or name the extra it comes with."""
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise DependencyError(
            f"Ray is not installed ({error}); it comes with an extra: pip install movers[ray]"
        ) from error
    return ray


@contextmanager
def cluster(address: str | None = None) -> Iterator[None]:
    """Connect to a running cluster, or start Ray on this machine; leave it in the end.

    Inside a session that is connected already, use that. Without an address, ``RAY_ADDRESS``
    names one. On this machine Ray gets one CPU more than there are, to read and write with
    beside a worker on each.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_DATA_LOG_LEVEL", "CRITICAL")  # errors come back as our own
    ray = import_ray()
    if ray.is_initialized():
        yield
        return
    address = address or os.environ.get("RAY_ADDRESS") or "local"
    _probe(address)
    own = {"num_cpus": available_threads() + 1, "include_dashboard": False}
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    try:
        ray.init(address=address, **quiet, **(own if address == "local" else {}))
    except (ConnectionError, ValueError) as error:
        raise InputError(
            f"cannot connect to a Ray cluster at {address!r}: {error}; {REASONS}"
        ) from error
    try:
        yield
    finally:
        ray.shutdown()


def _probe(address: str) -> None:
    """Refuse an address where nothing listens, which Ray itself would wait for."""
    if found := SOCKET.match(address):
        try:
            socket.create_connection((found[1], int(found[2])), PROBE_SECONDS).close()
        except (OSError, OverflowError) as error:
            raise InputError(
                f"nothing answers at {address!r} ({error}); start a cluster there with "
                "'ray start --head', or name another address"
            ) from error


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn what Ray reports of a failed task into the error the task raised."""
    ray = import_ray()
    try:
        yield
    except ray.exceptions.RayError as error:
        if ours := OURS.findall(str(error)):
            name, message = ours[-1]  # behind those that caused it
            raise getattr(errors, name, MoversError)(message) from error
        named = ANY.search(str(error))
        raise MoversError(f"the Ray job failed: {named[0] if named else error}") from error


@dataclass(frozen=True)
class Workers:
    """The worker processes to ask Ray for.

    Parameters
    ----------
    count
        Most workers at a time; None takes as many as the cluster has room for. Ray starts fewer
        while reading and writing need the room.
    cpus
        Processors of each, and so its threads.
    gpus
        GPUs of each. Without any, workers compute on processors only.
    """

    count: int | None = None
    cpus: float = 1
    gpus: float = 0

    def __post_init__(self) -> None:
        if self.count is not None and self.count < 1:
            raise InputError(
                f"there must be at least 1 worker, got {self.count}; left out, there are as "
                "many as there is room for"
            )
        if self.cpus <= 0 or self.gpus < 0:
            raise InputError(
                f"a worker needs more than 0 CPUs and no fewer than 0 GPUs, got {self.cpus} and "
                f"{self.gpus}"
            )

    @property
    def threads(self) -> int:
        """Threads of each worker."""
        return max(1, int(self.cpus))


class Ledger:
    """Counts how many workers died over a batch: those that begin another without an end."""

    def __init__(self) -> None:
        self.begun: dict[str, str] = {}
        self.deaths: Counter[str] = Counter()

    def begin(self, worker: str, batch: str) -> int:
        """Note that a worker, which keeps its name when Ray restarts it, begins a batch; deaths."""
        if worker in self.begun:
            self.deaths[self.begun[worker]] += 1
        self.begun[worker] = batch
        return self.deaths[batch]

    def end(self, worker: str) -> None:
        """Note that a worker is done with its batch."""
        self.begun.pop(worker, None)


Work = Callable[["Worker", Any], Any]
"""What a worker makes of a batch."""


class Worker:
    """Scorers, which Ray keeps, in a worker process: on one model and one store of encodings.

    ``work`` is what it does with a batch, and ``rest`` what that needs beside; the ledger is the
    actor that counts deaths, and ``scorer`` the first of the scorers, where one is enough.
    """

    def __init__(
        self,
        work: Work,
        scorers: Any,
        columns: Sequence[str],
        workers: Workers,
        ledger: Any,
        *rest: Any,
    ) -> None:
        import ray
        import torch

        if not workers.gpus:
            # Ray leaves the GPUs of the machine visible to those who asked for none.
            os.environ["CUDA_VISIBLE_DEVICES"] = ""
        torch.set_num_threads(workers.threads)
        self.work, self.columns, self.ledger, self.rest = work, columns, ledger, rest
        self.scorers: dict[str, Scorer] = {
            name: scorer.using(threads=workers.threads) for name, scorer in ray.get(scorers).items()
        }
        for scorer in self.scorers.values():
            scorer.prepare()
        self.scorer = next(iter(self.scorers.values()))

    def texts(self, batch: Any) -> Iterator[list[str]]:
        """Yield the sentences of every column."""
        for name in self.columns:
            yield check_texts(batch.column(name).to_pylist(), name, 0)

    def __call__(self, batch: Any) -> Any:
        """Work on a batch, unless that has cost too many lives already."""
        import ray

        worker = ray.get_runtime_context().get_actor_id()
        columns = [batch.column(name).to_pylist() for name in self.columns]
        digest = sha256(repr(columns).encode("utf-8", "backslashreplace")).hexdigest()
        if (deaths := ray.get(self.ledger.begin.remote(worker, digest))) >= LIVES:
            first = ", ".join(repr(column[0])[:80] for column in columns)
            self.ledger.end.remote(worker)  # it lives: refusing the batch is no death
            raise MoversError(
                f"{deaths} workers died over the same {len(batch)} rows, which begin with {first}; "
                "look what is special about them, or give each worker more memory"
            )
        try:
            return self.work(self, batch)
        finally:
            self.ledger.end.remote(worker)


def score_batch(worker: Worker, batch: Any) -> Any:
    """Append distances, and similarities where a scorer has a scale."""
    import pyarrow

    pairs = list(zip(*worker.texts(batch), strict=True))
    for name, scorer in worker.scorers.items():
        for column, values in named_columns(name, scorer, pairs).items():
            batch = batch.append_column(column, pyarrow.array(values))
    return batch.append_column(UNREAD, pyarrow.array(count_unread(worker.scorers, pairs)))


def add_up_batch(worker: Worker, batch: Any) -> dict[str, list[bytes]]:
    """Add up what a fit needs of the sentences of a batch, column by column."""
    request, whitening = worker.rest
    counts = Counter(text for texts in worker.texts(batch) for text in texts)
    sums, _ = add_up(worker.scorer.encoder, counts, request, whitening=whitening)
    return {"sums": [pickle.dumps(sums)]}
