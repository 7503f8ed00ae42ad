"""A folder that holds a run: what was asked, values chunk by chunk, and nothing half written."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from movers.arrays import Bools, Floats
from movers.errors import Choose, Do, InputError
from movers.runtime.atomic import replacing, sweep
from movers.runtime.json_text import parse_json
from movers_research.outcomes import Stage

logger = logging.getLogger(__name__)


FORMAT = "movers-run-1"
HEADER = b"movers"


@dataclass(frozen=True)
class RunFolder:
    """The folder of one run; make one with `open_run`."""

    path: Path

    def chunk(self, dataset: str, group: str, number: int) -> Path:
        """Where the values of some pairs under one group of measures are kept."""
        return self.path / "values" / dataset / group / f"{number:05d}.parquet"

    def statistics(self, dataset: str, recipe: str) -> Path:
        """Where the statistics of a data set are kept."""
        return self.path / "statistics" / f"{dataset}-{recipe}.safetensors"

    def encodings(self, dataset: str) -> Path:
        """Where the encodings of a data set are kept while they are needed."""
        return self.path / "encodings" / dataset

    def variability(self, dataset: str) -> Path:
        """Where the attention variability on a data set is kept."""
        return self.path / "variability" / f"{dataset}.npy"

    def array(self, path: Path, compute: Callable[[], Floats], again: str = "compute") -> Floats:
        """An array that is computed once and read from then on."""
        if not path.exists():
            values = compute()
            with replacing(path) as temporary, temporary.open("wb") as stream:
                np.save(stream, values)
        try:
            return np.asarray(np.load(path))
        except (ValueError, EOFError) as error:
            message = f"{path} is damaged ({error}); remove it to {again} it again"
            raise InputError(message) from error

    @property
    def stages(self) -> tuple[Stage, ...]:
        """Time spent so far, over all starts of the run."""
        path = self.path / "stages.json"
        remedy = "remove it to go on without the times so far"
        rows = _read_json(path, remedy) if path.exists() else ()
        return tuple(Stage(**row) for row in rows)

    @contextmanager
    def timed(self, name: str, count: int, unit: str) -> Iterator[None]:
        """Add the time a block takes to a stage."""
        started = monotonic()
        yield
        self.add_time(Stage(name, monotonic() - started, count, unit))

    def add_time(self, *news: Stage) -> None:
        """Add times to stages, which appear when they first take any."""
        stages = {stage.name: stage for stage in self.stages}
        for new in news:
            old = stages.get(new.name, Stage(new.name, 0.0, 0, new.unit))
            seconds, count = old.seconds + new.seconds, old.count + new.count
            stages[new.name] = Stage(new.name, seconds, count, new.unit)
        _write_json(self.path / "stages.json", [vars(stage) for stage in stages.values()])


def open_run(path: Path, settings: Mapping[str, Any], *, resume: bool = False) -> RunFolder:
    """Start a run in a new folder, or ``resume`` the one that is there.

    The settings are everything that shapes the values; a folder made with others is refused.
    """
    header = {"format": FORMAT, **json.loads(json.dumps(settings))}
    file = path / "run.json"
    if file.exists():
        if not resume:
            instead = Choose("resume", True), Do("name another folder")
            raise InputError(f"{path} holds a run already", *instead)
        old = _read_json(file)
        changes = [
            f"{name} was {old.get(name)}, is {header.get(name)}"
            for name in {**old, **header}
            if old.get(name) != header.get(name)
        ]
        if changes:
            raise InputError(
                f"the run in {path} was made with other settings ({'; '.join(changes)}); "
                "go on with the old ones, or name another folder"
            )
    else:
        if path.exists() and any(not child.name.startswith(".") for child in path.iterdir()):
            raise InputError(f"{path} is not empty and holds no run; name a new folder")
        _write_json(file, header)
    sweep(path)
    return RunFolder(path)


def write_chunk(
    path: Path, columns: Mapping[str, Floats], empty: Bools, facts: Mapping[str, Any]
) -> None:
    """Write the values of some pairs by measure, shape ``(pairs,)`` or ``(pairs, heads)``.

    ``empty`` tells which pairs have nothing to compare on one side; facts go into the header.
    """
    arrays: dict[str, Any] = {"empty": pa.array(empty)}
    for name, values in columns.items():
        flat = pa.array(np.ascontiguousarray(values).ravel())
        arrays[name] = (
            flat if values.ndim == 1 else pa.FixedSizeListArray.from_arrays(flat, values.shape[1])
        )
    table = pa.table(arrays).replace_schema_metadata({HEADER: json.dumps(facts)})
    with replacing(path) as temporary:
        pq.write_table(table, temporary, write_page_checksum=True)


def is_whole(path: Path) -> bool:
    """Whether a chunk is there as it was written; one that is damaged is computed again."""
    if not path.exists():
        return False
    try:
        read_facts(path)
        _read_table(path, None)
    except InputError as error:
        logger.warning("%s; its values are computed again", error)
        return False
    return True


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """A chunk that cannot be read is damaged."""
    try:
        yield
    except (pa.ArrowException, OSError, ValueError, LookupError, TypeError) as error:
        raise InputError(f"{str(path)!r} is damaged ({error})") from error


def _read_table(path: Path, columns: list[str] | None) -> Any:
    with _reading(path):
        return pq.read_table(path, columns=columns, page_checksum_verification=True)


def read_column(paths: list[Path], name: str) -> Floats:
    """Values of a column in several chunks, shape ``(pairs, heads)`` or ``(pairs, 1)``."""
    blocks = []
    for path in paths:
        column = _read_table(path, [name]).column(0).combine_chunks()
        lists = hasattr(column.type, "list_size")
        flat = (column.values if lists else column).to_numpy(zero_copy_only=False)
        blocks.append(flat.reshape(len(column), -1))
    return np.concatenate(blocks)


def read_facts(path: Path) -> dict[str, Any]:
    """The header of a chunk."""
    with _reading(path):
        return dict(json.loads(pq.read_schema(path).metadata[HEADER]))


def _read_json(path: Path, remedy: str = "name another folder") -> Any:
    try:
        return parse_json(path.read_text("utf-8"))
    except (ValueError, IsADirectoryError) as error:
        raise InputError(f"{path} is damaged ({error}); {remedy}") from error


def _write_json(path: Path, value: Any) -> None:
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(value, indent=1), "utf-8")
