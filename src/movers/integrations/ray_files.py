"""Files scored by a Ray cluster: tables in, a folder of Parquet out."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from glob import glob, has_magic
from pathlib import Path
from typing import Any

from movers.bulk.output import Report, Rowlist, paired, row_numbers
from movers.bulk.score_files import fit_on_rows
from movers.errors import InputError
from movers.integrations.ray import (
    SCORED_ROWS,
    Workers,
    append_distances,
    cluster,
    import_ray,
    mapped,
)
from movers.io.columns import UNREAD, all_columns
from movers.io.tables import SUFFIXES, open_table, pick_columns, refuse_taken
from movers.runtime.atomic import replacing_folder
from movers.scorer import Scorer

SHARD_ROWS = 16_384
"""Fewest rows of a file of the output, but for the last."""
LIGHT = 0.1
"""Share of a CPU that reading and writing ask for beside the workers."""


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
    read = partial(_chunks, format=input_format, pair=pair)
    if fit_first:
        fit_on_rows((row for path in tables for row, _ in read(path)), scorers, progress=progress)
    unfinished = output.with_name(output.name + ".partial")
    with cluster(address), replacing_folder(output, partial=unfinished) as folder:
        import_ray().data.DataContext.get_current().enable_progress_bars = progress
        work = partial(append_distances, pair)
        scored = mapped(_dataset(tables, read), work, scorers, workers or Workers(), SCORED_ROWS)
        light = {"num_cpus": LIGHT}
        scored.write_parquet(str(folder), min_rows_per_file=SHARD_ROWS, ray_remote_args=light)
        rows, undefined, cut = _count(folder, [*scorers])
        if not rows:
            raise InputError(f"{files} has a header but no rows")
    seconds = time.monotonic() - started
    return Report(files, output, rows=rows, seconds=seconds, undefined=undefined, cut=cut)


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


def _chunks(path: Path, format: str | None, pair: tuple[str, str]) -> Iterator[Any]:
    """Yield rows of a table with their pairs, and its schema; cells other than text are refused."""
    with open_table(path, format) as table:
        for rows in paired(table.chunks, pair):
            yield rows, table.schema


def _dataset(tables: list[Path], read: Any) -> Any:
    """Return a dataset of the rows of tables, each read by one task, piece by piece."""

    def rows(batch: dict[str, Any]) -> Iterator[Any]:
        import pyarrow

        for name in batch["path"]:
            for (chunk, _), schema in read(Path(str(name))):
                yield pyarrow.table(chunk, schema=schema)

    names = [{"path": str(path)} for path in tables]
    listed = import_ray().data.from_items(names, override_num_blocks=len(names))
    return listed.map_batches(rows, batch_size=1, num_cpus=LIGHT)


def _count(folder: Path, names: list[str]) -> tuple[int, dict[str, Rowlist], Rowlist]:
    """Count rows of the output, those of them without a distance, by column, and those not read."""
    from pyarrow import compute, dataset

    rows, undefined, cut = 0, {name: Rowlist() for name in names}, Rowlist()
    table = dataset.dataset(folder, format="parquet")
    if not table.schema.names:  # Ray writes no file for no rows
        return 0, undefined, cut
    for batch in table.to_batches(columns=[*names, UNREAD]):
        for name in names:
            marked = compute.is_nan(batch[name]).to_numpy(zero_copy_only=False)
            undefined[name].add(row_numbers(marked, rows))
        cut.add(row_numbers(batch[UNREAD].to_numpy() > 0, rows))
        rows += len(batch)
    return rows, undefined, cut
