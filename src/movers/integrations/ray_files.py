"""Files scored and fitted on by a Ray cluster: tables in, a folder of Parquet out."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from glob import glob, has_magic
from itertools import islice
from pathlib import Path
from typing import Any

from movers.bulk.output import Report, Rowlist
from movers.bulk.score_files import row_numbers
from movers.errors import InputError
from movers.integrations.ray import Workers, fit, score_columns, whitening_to_add_up
from movers.integrations.ray_session import cluster, import_ray, plain_errors
from movers.io.columns import UNREAD, all_columns
from movers.io.tables import (
    SUFFIXES,
    check_texts,
    format_of,
    open_table,
    pick_columns,
    refuse_taken,
)
from movers.io.texts import Texts, read_texts
from movers.measures.parts.statistics import Statistics
from movers.measures.parts.structure import parse_numbers
from movers.runtime.atomic import replacing_folder
from movers.scorer import Scorer

logger = logging.getLogger("movers")

SHARD_ROWS = 16_384
"""Fewest rows of a file of the output, but for the last."""
LIGHT = 0.1
"""Share of a CPU that reading and writing ask for beside the workers."""
LINES = 8192


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

    ``files`` are a table, a folder of tables or a pattern such as ``parts/*.csv``, all with the
    same columns; every node must find them under this path. ``output`` is a folder that appears
    when it is complete, with Parquet files whose names are in the order of the rows. Scorers go by
    the name of the column they fill; ``fit_first`` replaces them by ones fitted on the sentences
    of the tables. ``columns`` are the two to compare, None finds them, and ``input_format`` is that
    of tables whose names do not tell. Without the ``address`` of a running cluster, Ray starts on
    this machine for as long as the work takes.
    """
    started = time.monotonic()
    _check_folder(output)
    tables = _expand(files)
    names = _common_columns(tables, input_format)
    pair = pick_columns(names, *columns)
    refuse_taken(names, all_columns(scorers))
    with cluster(address), plain_errors():
        dataset = _dataset(tables, partial(_read_table, input_format, pair), progress=progress)
        if fit_first:
            _fit_in_turn(dataset, scorers, pair, workers)
        scored = score_columns(dataset, scorers, pair, workers=workers)
        unfinished = output.with_name(output.name + ".partial")
        with _told(unfinished), replacing_folder(output, partial=unfinished) as folder:
            light = {"num_cpus": LIGHT}
            scored.write_parquet(str(folder), min_rows_per_file=SHARD_ROWS, ray_remote_args=light)
            counts = _count(folder, [*scorers])
            if not counts[0]:
                raise InputError(f"{files} has a header but no rows")
    rows, undefined, cut = counts
    return Report(rows, time.monotonic() - started, undefined, cut=cut)


def fit_files(
    files: Path,
    scorer: Scorer,
    embeddings: str | None = None,
    *,
    column: str | None = None,
    format: str | None = None,
    workers: Workers | None = None,
    address: str | None = None,
    progress: bool = False,
) -> Statistics:
    """Fit whitening and document frequencies on texts, or on a column of tables.

    Takes a file, a folder of them, or a pattern; see `movers.io.texts.read_texts`. Attention
    variability and what single measures learn need the whole corpus in one process:
    `movers.bulk.score_files.fit_file`.
    """
    texts = _expand(files)
    for path in texts:
        Texts(path, column, format).check()
    layers: tuple[int, ...] = (scorer.embedding,)
    if embeddings is not None:
        layers = parse_numbers(embeddings, range(scorer.encoder.layers + 1), "embedding layer")
    with cluster(address), plain_errors():
        dataset = _dataset(texts, partial(_read_lines, column, format), progress=progress)
        fitted = fit(dataset, scorer, embeddings=layers, origin=files.name, workers=workers)
    return fitted.statistics


def _expand(files: Path) -> list[Path]:
    """Return the files that a path, a folder or a pattern stands for, in order of name."""
    if files.is_dir():
        seen = (path for path in files.iterdir() if not path.name.startswith("."))
        found = sorted(path for path in seen if path.suffix.lower() in SUFFIXES)
    elif has_magic(str(files)) and not files.exists():
        found = sorted(map(Path, glob(str(files), recursive=True)))
    else:
        found = [files]
    if not found or not found[0].exists():
        raise InputError(f"no file {str(files)!r}; expected one ending in {', '.join(SUFFIXES)}")
    return [path.resolve() for path in found]


def _common_columns(tables: list[Path], format: str | None) -> list[str]:
    """Return the columns of the first table, which every other must have in the same order."""
    names: list[str] | None = None
    for path in tables:
        format_of(path, format)
        with open_table(path, format) as table:
            names = names or table.columns
            if table.columns != names:
                raise InputError(
                    f"{path} has the columns {', '.join(table.columns)} while {tables[0]} has "
                    f"{', '.join(names)}"
                )
    return names or []


def _dataset(files: list[Path], read: Callable[[Path], Iterator[Any]], *, progress: bool) -> Any:
    """Yield a dataset of the rows of files, each read by one task, piece by piece."""
    ray = import_ray()
    ray.data.DataContext.get_current().enable_progress_bars = progress

    def rows(batch: dict[str, Any]) -> Iterator[Any]:
        for name in batch["path"]:
            yield from read(Path(str(name)))

    names = [{"path": str(path)} for path in files]
    listed = ray.data.from_items(names, override_num_blocks=len(names))
    return listed.map_batches(rows, batch_size=1, num_cpus=LIGHT)


def _read_table(format: str | None, columns: tuple[str, str], path: Path) -> Iterator[Any]:
    """Yield the rows of a table; cells of two columns other than text are refused."""
    import pyarrow

    row = 0
    with open_table(path, format) as table:
        for chunk in table.chunks:
            for name in columns:
                check_texts(chunk[name], name, row)
            row += len(chunk[columns[0]])
            yield pyarrow.table(chunk, schema=table.schema)


def _read_lines(column: str | None, format: str | None, path: Path) -> Iterator[dict[str, Any]]:
    """Yield the sentences of a file that are not empty."""
    texts = read_texts(path, column=column, format=format)
    while held := list(islice(texts, LINES)):
        yield {"sentence": held}


def _fit_in_turn(
    dataset: Any, scorers: dict[str, Scorer], pair: tuple[str, str], workers: Workers | None
) -> None:
    """Put fitted scorers in place of the given ones; those that fit alike share one pass."""
    fitted: dict[Any, Scorer] = {}
    for name, scorer in scorers.items():
        settings = scorer.settings
        key = scorer.embedding, settings.recipe, settings.subwords, whitening_to_add_up(scorer)
        if key not in fitted:
            fitted[key] = fit(dataset, scorer, columns=pair, workers=workers)
        scorers[name] = scorer.using(statistics=fitted[key].statistics)


def _check_folder(output: Path) -> None:
    if output.suffix.lower() in SUFFIXES or output == Path("-"):
        raise InputError(
            f"Ray writes a folder of Parquet files, not {str(output)!r}; name a folder with -o"
        )
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise InputError(f"{str(output)!r} exists and is not an empty folder; name another")


def _count(folder: Path, names: list[str]) -> tuple[int, dict[str, Rowlist], Rowlist]:
    """Rows of the output, those of them that have no distance, by column, and those not read."""
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


@contextmanager
def _told(unfinished: Path) -> Iterator[None]:
    """Say where finished files are when a run is broken off."""
    before = unfinished.stat().st_ino if unfinished.exists() else None
    try:
        yield
    except BaseException:
        if unfinished.exists() and unfinished.stat().st_ino != before:
            logger.warning("finished files are kept in %s", unfinished)
        raise
