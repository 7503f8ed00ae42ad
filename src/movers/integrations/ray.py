"""Scoring on a Ray cluster, with the numbers of a single process.

Workers are actors that keep model and kernels from batch to batch and get the fitted statistics
of the driver, so a distance is the same bit for bit wherever it is computed. Ray restarts a
worker that dies and repeats its batch, which ends in an error if it costs several workers.
"""

from __future__ import annotations

import logging
import os
import re
import socket
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from movers import errors
from movers.bulk.output import counted_not_warned
from movers.bulk.score_files import named_columns
from movers.errors import DependencyError, InputError, MoversError
from movers.io.columns import UNREAD, all_columns, count_unread
from movers.io.tables import check_texts, pick_columns, refuse_taken
from movers.runtime.notices import ClusterWarning, notify
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
SCORED_ROWS = 512
"""Rows of a batch to score: some seconds of work, lost if its worker dies."""
QUEUED = 2
"""Batches a worker holds: the one in work and the next."""
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
    beside a worker on each. What a task raises is raised here, too.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_DATA_LOG_LEVEL", "CRITICAL")  # errors come back as our own
    ray = import_ray()
    if ray.is_initialized():
        with plain_errors():
            yield
        return
    address = address or os.environ.get("RAY_ADDRESS") or "local"
    _probe(address)
    local = {"num_cpus": available_threads() + 1, "include_dashboard": False}
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    try:
        ray.init(address=address, **quiet, **(local if address == "local" else {}))
    except (ConnectionError, ValueError) as error:
        raise InputError(
            f"cannot connect to a Ray cluster at {address!r}: {error}; {REASONS}"
        ) from error
    try:
        with plain_errors():
            yield
    finally:
        ray.shutdown()


def _probe(address: str) -> None:
    """Refuse an address where nothing listens, which Ray itself would wait for."""
    if place := SOCKET.match(address):
        try:
            socket.create_connection((place[1], int(place[2])), PROBE_SECONDS).close()
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

    def pool(self) -> Any:
        """Return a pool that starts with all workers if one CPU is left to read and write with."""
        ray = import_ray()
        there = ray.cluster_resources()
        room = (there.get("CPU", 0) - 1) // self.cpus
        if self.gpus:
            room = min(room, there.get("GPU", 0) // self.gpus)
        if room < 1:
            notify(
                f"the cluster has {there.get('CPU', 0):g} CPUs and {there.get('GPU', 0):g} GPUs, "
                f"too few for a worker of {self.cpus:g} CPUs and {self.gpus:g} GPUs and one CPU to "
                "read and write with; Ray waits until nodes join",
                ClusterWarning,
            )
        first = max(1, int(room))
        most = self.count or first
        sizes = {"min_size": 1, "max_size": most, "initial_size": min(first, most)}
        return ray.data.ActorPoolStrategy(**sizes, max_tasks_in_flight_per_actor=QUEUED)


class DeathCounter:
    """A count of the workers that died over each batch: they begin another without an end.

    Ray Data repeats a batch whose worker died without end. Its one limit, ``max_task_retries`` of
    ``map_batches``, warns since Ray 2.60 that 2.64 will be without it.
    """

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


class Worker:
    """Scorers in a process of Ray, and a function of scorers and a batch to call."""

    def __init__(self, work: Work, scorers: Any, workers: Workers, counter: Any) -> None:
        import ray

        if not workers.gpus:
            # Ray leaves the GPUs of the machine visible to those who asked for none.
            os.environ["CUDA_VISIBLE_DEVICES"] = ""
        self.work, self.counter = work, counter
        self.scorers: dict[str, Scorer] = {
            name: scorer.using(threads=workers.threads) for name, scorer in ray.get(scorers).items()
        }
        for scorer in self.scorers.values():
            scorer.prepare()
            scorer.encoder.model_threads = workers.threads

    def __call__(self, batch: Any) -> Any:
        """Return what the function makes of a batch, unless that has cost too many lives."""
        import ray

        worker = ray.get_runtime_context().get_actor_id()
        rows = repr(batch.to_pydict()).encode("utf-8", "backslashreplace")
        deaths = ray.get(self.counter.begin.remote(worker, sha256(rows).hexdigest()))
        try:
            if deaths >= LIVES:
                first = ", ".join(
                    repr(cell)[:80] for cell in batch.slice(0, 1).to_pylist()[0].values()
                )
                raise MoversError(
                    f"{deaths} workers died over the same {len(batch)} rows, which begin with "
                    f"{first}; look what is special about them, or give each worker more memory"
                )
            return self.work(self.scorers, batch)
        finally:
            self.counter.end.remote(worker)


Work = Callable[[dict[str, Scorer], Any], Any]


def mapped(
    dataset: Any, work: Work, scorers: Mapping[str, Scorer], workers: Workers, batch_size: int
) -> Any:
    """Send batches of rows to a pool of workers that hold the scorers, and keep their order."""
    if batch_size < 1:
        raise InputError(f"batch_size must be at least 1, got {batch_size}")
    ray = import_ray()
    counter = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)(DeathCounter).remote()
    dataset.context.execution_options.preserve_order = True
    # Batches of exactly this size, however the dataset is cut into blocks.
    cut = dataset.repartition(target_num_rows_per_block=batch_size, strict=True)
    return cut.map_batches(
        Worker,
        fn_constructor_args=(work, ray.put(dict(scorers)), workers, counter),
        compute=workers.pool(),
        batch_size=batch_size,
        batch_format="pyarrow",
        num_cpus=workers.cpus,
        num_gpus=workers.gpus,
    )


def score(
    dataset: Any,
    scorers: Scorer | Mapping[str, Scorer],
    *,
    columns: tuple[str | None, str | None] = (None, None),
    workers: Workers | None = None,
    batch_size: int = SCORED_ROWS,
) -> Any:
    """Add one column of distances per scorer to a Ray dataset of sentence pairs.

    Nothing is computed until the result is consumed. Rows stay in order, other columns as they
    are; pairs without a proper distance get NaN unless the scorer says otherwise.

    Parameters
    ----------
    dataset
        A ``ray.data.Dataset`` with two columns of text; a missing cell is an empty sentence. Its
        context gets ``preserve_order``.
    scorers
        A scorer, which fills a column named like its method, or scorers by name of column.
    columns
        The two columns to compare; None finds them.
    workers, batch_size
        The worker processes to use, and the rows that one scores at a time.
    """
    named = (
        {scorers.settings.measure.name: scorers} if isinstance(scorers, Scorer) else dict(scorers)
    )
    import_ray()
    schema = dataset.schema()
    if schema is None:
        raise InputError("the dataset is empty; expected rows")
    pair = pick_columns(schema.names, *columns)
    refuse_taken(schema.names, all_columns(named))
    _check_text_columns(dataset, schema, pair)
    if not dataset.limit(1).count():  # columns with nothing in them, which Ray would lose
        import pyarrow

        fields = [*zip(schema.names, schema.types, strict=True)]
        *added, unread = all_columns(named)
        fields += [*((name, pyarrow.float64()) for name in added), (unread, pyarrow.int64())]
        return import_ray().data.from_arrow(pyarrow.schema(fields).empty_table())
    return score_columns(dataset, named, pair, workers=workers, batch_size=batch_size)


def score_columns(
    dataset: Any,
    scorers: Mapping[str, Scorer],
    columns: tuple[str, str],
    *,
    workers: Workers | None = None,
    batch_size: int = SCORED_ROWS,
) -> Any:
    """Score two columns that are known to hold text."""

    def append(held: dict[str, Scorer], batch: Any) -> Any:
        import pyarrow

        texts = (check_texts(batch.column(name).to_pylist(), name, 0) for name in columns)
        pairs = list(zip(*texts, strict=True))
        with counted_not_warned():
            for name, scorer in held.items():
                for column, values in named_columns(name, scorer, pairs).items():
                    batch = batch.append_column(column, pyarrow.array(values))
        return batch.append_column(UNREAD, pyarrow.array(count_unread(held, pairs)))

    for scorer in scorers.values():
        scorer.prepare()
    return mapped(dataset, append, scorers, workers or Workers(), batch_size)


def _check_text_columns(dataset: Any, schema: Any, columns: Sequence[str]) -> None:
    """Refuse a column that is not text, naming the first row that is not."""
    from pyarrow import types

    for name in columns:
        kind = schema.types[schema.names.index(name)]
        kind = kind.value_type if types.is_dictionary(kind) else kind
        if not any(test(kind) for test in (types.is_string, types.is_large_string, types.is_null)):
            row = 0
            for batch in dataset.select_columns([name]).iter_batches(batch_format="pyarrow"):
                row += len(check_texts(batch.column(name).to_pylist(), name, row))
