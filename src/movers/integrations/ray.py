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
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from glob import glob, has_magic
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from movers import errors
from movers.bulk.output import Report, Rowlist, counted_not_warned, paired, row_numbers
from movers.bulk.score_files import Rows, fit_on_rows, named_columns
from movers.errors import InputError, MoversError, missing
from movers.io.columns import UNREAD, all_columns, count_unread
from movers.io.tables import SUFFIXES, check_texts, open_table, pick_columns, refuse_taken
from movers.runtime.atomic import replacing_folder
from movers.runtime.notices import notify
from movers.runtime.threads import available_threads
from movers.scorer import Scorer

try:
    import ray
except ImportError as error:
    raise missing("ray", "movers.integrations") from error

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
SHARD_ROWS = 16_384
"""Rows of a file of the output, but for the last."""
LIGHT = 0.1
"""Share of a CPU that reading asks for beside the workers."""


@contextmanager
def cluster(address: str | None = None) -> Iterator[None]:
    """Connect to a running cluster, or start Ray on this machine; leave it in the end.

    Inside a session that is connected already, use that. Without an address, ``RAY_ADDRESS``
    names one. On this machine Ray gets one CPU more than there are, to read and write with
    beside a worker on each. What a task raises is raised here, too.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_DATA_LOG_LEVEL", "CRITICAL")  # errors come back as our own
    joined = ray.is_initialized()
    if not joined:
        _connect(address or os.environ.get("RAY_ADDRESS") or "local")
    try:
        yield
    except ray.exceptions.RayError as error:
        if ours := OURS.findall(str(error)):
            name, message = ours[-1]  # behind those that caused it
            raise getattr(errors, name, MoversError)(message) from error
        named = ANY.search(str(error))
        raise MoversError(f"the Ray job failed: {named[0] if named else error}") from error
    finally:
        if not joined:
            ray.shutdown()


def _connect(address: str) -> None:
    """Connect, but not to an address where nothing listens: Ray would wait, and end the process."""
    if place := SOCKET.match(address):
        try:
            socket.create_connection((place[1], int(place[2])), PROBE_SECONDS).close()
        except (OSError, OverflowError) as error:
            raise InputError(
                f"nothing answers at {address!r} ({error}); start a cluster there with "
                "'ray start --head', or name another address"
            ) from error
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address == "local":
        options |= {"num_cpus": available_threads() + 1, "include_dashboard": False}
    try:
        ray.init(address=address, **options)
    except (ConnectionError, ValueError) as error:
        raise InputError(
            f"cannot connect to a Ray cluster at {address!r}: {error}; {REASONS}"
        ) from error


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

    def room(self) -> int:
        """Return how many there is room for beside one CPU to read and write with; at least 1."""
        resources = ray.cluster_resources()  # type: ignore[no-untyped-call]
        cpus, gpus = (resources.get(kind, 0) for kind in ("CPU", "GPU"))
        rooms = [(cpus - 1) // self.cpus, *([gpus // self.gpus] if self.gpus else [])]
        if min(rooms) < 1:
            notify(
                f"the cluster has {cpus:g} CPUs and {gpus:g} GPUs, too few for a worker of "
                f"{self.cpus:g} CPUs and {self.gpus:g} GPUs and one CPU to read and write with; "
                "Ray waits until nodes join",
            )
        return max(1, int(min(rooms)))

    def equip(self, scorer: Scorer) -> Scorer:
        """Return a scorer that is ready to compute in one of these workers."""
        if not self.gpus:
            # Ray leaves the GPUs of the machine visible to those who asked for none.
            os.environ["CUDA_VISIBLE_DEVICES"] = ""
        threads = max(1, int(self.cpus))
        scorer = scorer.using(threads=threads)
        scorer.prepare()
        scorer.encoder.model_threads = threads
        return scorer


class DeathCounter:
    """A count of the workers that died over each batch, which Ray Data repeats without an end.

    Its one limit, ``max_task_retries`` of ``map_batches``, goes with Ray 2.64.
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
    """Scorers in a process of Ray, which fill columns of a batch of pairs."""

    def __init__(
        self, columns: tuple[str, str], scorers: Any, workers: Workers, counter: Any
    ) -> None:
        self.columns, self.counter = columns, counter
        self.scorers = {name: workers.equip(scorer) for name, scorer in ray.get(scorers).items()}

    def __call__(self, batch: Any) -> Any:
        """Return a batch with what scorers say of it, unless that has cost too many lives."""
        worker = ray.get_runtime_context().get_actor_id()
        rows = repr(batch.to_pydict()).encode("utf-8", "backslashreplace")
        deaths = ray.get(self.counter.begin.remote(worker, sha256(rows).hexdigest()))
        try:
            if deaths < LIVES:
                return self.fill(batch)
            first = ", ".join(repr(cell)[:80] for cell in batch.slice(0, 1).to_pylist()[0].values())
            raise MoversError(
                f"{deaths} workers died over the same {len(batch)} rows, which begin with "
                f"{first}; look what is special about them, or give each worker more memory"
            )
        finally:
            self.counter.end.remote(worker)

    def fill(self, batch: Any) -> Any:
        """Return a batch with its columns of distances."""
        import pyarrow

        texts = (check_texts(batch.column(name).to_pylist(), name, 0) for name in self.columns)
        pairs = list(zip(*texts, strict=True))
        with counted_not_warned():
            for name, scorer in self.scorers.items():
                for column, values in named_columns(name, scorer, pairs).items():
                    batch = batch.append_column(column, pyarrow.array(values))
        return batch.append_column(UNREAD, pyarrow.array(count_unread(self.scorers, pairs)))


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
    from pyarrow import types

    if isinstance(scorers, Scorer):
        scorers = {scorers.settings.measure.name: scorers}
    if batch_size < 1:
        raise InputError(f"batch_size must be at least 1, got {batch_size}")
    if (schema := dataset.schema()) is None:
        raise InputError("the dataset is empty; expected rows")
    pair = pick_columns(schema.names, *columns)
    refuse_taken(schema.names, all_columns(scorers))
    for name in pair:
        found = schema.types[schema.names.index(name)]
        kind = found.value_type if types.is_dictionary(found) else found
        if not (types.is_string(kind) or types.is_large_string(kind) or types.is_null(kind)):
            raise InputError(f"column {name!r}: expected text, found {kind}")
    return _scored(dataset, pair, scorers, workers or Workers(), batch_size)


def _scored(
    dataset: Any,
    pair: tuple[str, str],
    scorers: Mapping[str, Scorer],
    workers: Workers,
    batch_size: int = SCORED_ROWS,
) -> Any:
    """Send batches of rows to a pool of workers that hold the scorers, and keep their order."""
    from ray.data import ActorPoolStrategy

    for scorer in scorers.values():
        scorer.prepare()
    counter = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)(DeathCounter).remote()
    dataset.context.execution_options.preserve_order = True
    # Batches of exactly this size, however the dataset is cut into blocks.
    cut = dataset.repartition(target_num_rows_per_block=batch_size, strict=True)
    room = workers.room()
    most = workers.count or room
    sizes: Any = {"min_size": 1, "max_size": most, "initial_size": min(room, most)}
    return cut.map_batches(
        Worker,
        fn_constructor_args=(pair, ray.put(dict(scorers)), workers, counter),
        compute=ActorPoolStrategy(**sizes, max_tasks_in_flight_per_actor=QUEUED),
        batch_size=batch_size,
        batch_format="pyarrow",
        num_cpus=workers.cpus,
        num_gpus=workers.gpus,
    )


def score_files(
    files: Path,
    output: Path,
    scorers: dict[str, Scorer],
    *,
    columns: tuple[str | None, str | None] = (None, None),
    input_format: str | None = None,
    fit_first: bool = False,
    workers: Workers | None = None,
    address: str | None = None,
    progress: bool = False,
) -> Report:
    """Add one column of distances per scorer to tables of sentence pairs.

    Parameters
    ----------
    files
        A table, a folder of tables or a pattern such as ``parts/*.csv``, all with the same columns;
        every node must find them under this path.
    output
        A folder that appears when it is complete, with Parquet files in the order of the rows.
    scorers
        Scorers by the name of the column they fill.
    columns, input_format
        As in `movers.bulk.score_files.score_table`.
    fit_first
        Replace the scorers by ones fitted in this process on the sentences of the tables.
    workers
        The worker processes to use.
    address
        A running cluster; None starts Ray on this machine for as long as the work takes.
    progress
        Show progress bars.
    """
    from pyarrow import parquet

    started = time.monotonic()
    if output.suffix.lower() in SUFFIXES or output == Path("-"):
        raise InputError(
            f"Ray writes a folder of Parquet files, not {str(output)!r}; name a folder with -o"
        )
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise InputError(f"{str(output)!r} exists and is not an empty folder; name another")
    tables = _expand(files)
    names = _common_columns(tables, input_format)
    pair = pick_columns(names, *columns)
    refuse_taken(names, all_columns(scorers))
    if fit_first:
        read = (rows for rows, _ in _read(tables, pair, input_format))
        fit_on_rows(read, scorers, progress=progress)
    unfinished = output.with_name(output.name + ".partial")
    with cluster(address), replacing_folder(output, partial=unfinished) as folder:
        ray.data.DataContext.get_current().enable_progress_bars = progress
        scored = _scored(_dataset(tables, pair, input_format), pair, scorers, workers or Workers())
        count, undefined, cut = 0, {name: Rowlist() for name in scorers}, Rowlist()
        for shard in scored.iter_batches(batch_size=SHARD_ROWS, batch_format="pyarrow"):
            parquet.write_table(shard, folder / f"{count:012}.parquet")
            for name, rows in undefined.items():
                rows.add(row_numbers(np.isnan(shard[name].to_numpy()), count))
            cut.add(row_numbers(shard[UNREAD].to_numpy() > 0, count))
            count += len(shard)
        if not count:
            raise InputError(f"{files} has a header but no rows")
    seconds = time.monotonic() - started
    return Report(files, output, rows=count, seconds=seconds, undefined=undefined, cut=cut)


def _expand(files: Path) -> list[Path]:
    """Return the files that a path, a folder or a pattern stands for, in order of name."""
    paths = [files]
    if files.is_dir():
        paths = sorted(path for path in files.glob("[!.]*") if path.suffix.lower() in SUFFIXES)
    elif has_magic(str(files)) and not files.exists():
        paths = sorted(map(Path, glob(str(files), recursive=True)))
    if not paths or not paths[0].exists():
        raise InputError(f"no file {str(files)!r}; expected one ending in {', '.join(SUFFIXES)}")
    return [path.resolve() for path in paths]


def _common_columns(tables: list[Path], format: str | None) -> list[str]:
    """Return the columns of the first table, which every other must have in the same order."""
    names: list[str] = []
    for path in tables:
        with open_table(path, format) as table:
            names = names or table.columns
            if table.columns != names:
                raise InputError(
                    f"{path} has the columns {', '.join(table.columns)} while {tables[0]} has "
                    f"{', '.join(names)}"
                )
    return names


def _read(
    tables: Iterable[Path], pair: tuple[str, str], format: str | None
) -> Iterator[tuple[Rows, Any]]:
    """Yield rows of tables with their pairs, and their schema; cells must be text."""
    for path in tables:
        with open_table(path, format) as table:
            for rows in paired(table.chunks, pair):
                yield rows, table.schema


def _dataset(tables: list[Path], pair: tuple[str, str], format: str | None) -> Any:
    """Return a dataset of the rows of tables, each read by one task, piece by piece."""

    def read(batch: dict[str, Any]) -> Iterator[Any]:
        import pyarrow

        for (chunk, _), schema in _read(map(Path, map(str, batch["path"])), pair, format):
            yield pyarrow.table(chunk, schema=schema)

    paths = [{"path": str(path)} for path in tables]
    listed = ray.data.from_items(paths, override_num_blocks=len(paths))
    return listed.map_batches(read, batch_size=1, num_cpus=LIGHT)
