"""Scoring and fitting on a Ray cluster, with the numbers of a single process.

Workers are actors that keep model and kernels from batch to batch and get the fitted statistics
of the driver, so a distance is the same bit for bit wherever it is computed. Ray restarts a
worker that dies and repeats its batch, which ends in an error if it costs several workers.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from typing import Any

from movers.encode.encodings import Request
from movers.encode.whiten import WhiteningKind
from movers.errors import Choose, Do, InputError
from movers.integrations.ray_session import (
    Ledger,
    Work,
    Worker,
    Workers,
    add_up_batch,
    import_ray,
    score_batch,
)
from movers.io.columns import all_columns
from movers.io.pairs import known_columns
from movers.io.tables import check_texts, pick_columns, refuse_taken
from movers.measures.parts.fitting import Sums
from movers.runtime.notices import ClusterWarning, notify
from movers.scorer import Scorer

__all__ = ["Workers", "fit", "score", "score_columns", "whitening_to_add_up"]

SCORED_ROWS = 512
"""Rows of a batch to score: some seconds of work, lost if its worker dies."""
FITTED_ROWS = 4096
"""Rows of a batch to fit on: each sends one covariance matrix per layer to the driver."""
QUEUED = 2
"""Batches a worker holds: the one in work and the next."""


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
    schema = _schema(dataset)
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
    for scorer in scorers.values():
        scorer.prepare()
    return mapped(dataset, score_batch, scorers, columns, workers or Workers(), batch_size)


def fit(
    dataset: Any,
    scorer: Scorer,
    *,
    columns: Sequence[str] | None = None,
    embeddings: tuple[int, ...] | None = None,
    origin: str = "",
    workers: Workers | None = None,
    batch_size: int = FITTED_ROWS,
) -> Scorer:
    """Fit whitening and document frequencies in one distributed pass.

    Workers add up moments and document counts batch by batch; the driver adds up the batches in
    the order of the rows. Counts are exact. Means and covariances differ from those of
    `Scorer.fit` in the last bits, for the order of a sum shows in its rounding, but not from one
    run to the next: they depend on rows and batch size alone.

    Parameters
    ----------
    dataset
        A ``ray.data.Dataset`` with columns of sentences; a repeated sentence counts as often as
        it occurs.
    scorer
        Stays as it was; the one returned has the statistics.
    columns
        Columns of sentences; None takes a well-known pair or the only column.
    embeddings
        Embedding layers to whiten; None takes the scorer's own.
    origin
        What the sentences are, kept with the statistics.
    workers, batch_size
        The worker processes to use, and the rows that one adds up at a time.
    """
    schema = _schema(dataset)
    names = schema.names
    if columns is None:
        columns = names if len(names) == 1 else known_columns(names)
    if columns is None or not set(columns) <= set(names):
        raise InputError(
            f"which columns hold the sentences? found {', '.join(columns or ()) or 'no known ones'}"
            f" among {', '.join(names)}; name them with columns="
        )
    _check_text_columns(dataset, schema, columns)
    if not dataset.limit(1).count():
        raise InputError("the dataset has no rows; expected sentences to fit on")
    whitening = whitening_to_add_up(scorer)
    request = Request(embeddings or (scorer.embedding,), (), scorer.settings.rules)
    given = {"": scorer}, columns, workers or Workers(), batch_size
    sums = Sums()
    for row in mapped(dataset, add_up_batch, *given, request, whitening).iter_rows():
        sums.merge(pickle.loads(row["sums"]))
    statistics = sums.statistics(scorer.encoder, request.rules, whitening=whitening, origin=origin)
    return scorer.using(statistics=statistics)


def mapped(
    dataset: Any,
    work: Work,
    scorers: Mapping[str, Scorer],
    columns: Sequence[str],
    workers: Workers,
    batch_size: int,
    *rest: Any,
) -> Any:
    """Send batches of rows to a pool of workers that hold the scorers.

    Ray Data restarts actors and repeats their batches without limit; the ledger sets one.
    """
    ray = import_ray()
    if batch_size < 1:
        raise InputError(f"batch_size must be at least 1, got {batch_size}")
    ledger = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)(Ledger).remote()
    dataset.context.execution_options.preserve_order = True
    # Batches of exactly this size, however the dataset is cut into blocks.
    cut = dataset.repartition(target_num_rows_per_block=batch_size, strict=True)
    return cut.map_batches(
        Worker,
        fn_constructor_args=(work, ray.put(dict(scorers)), tuple(columns), workers, ledger, *rest),
        compute=_pool(workers),
        batch_size=batch_size,
        batch_format="pyarrow",
        num_cpus=workers.cpus,
        num_gpus=workers.gpus,
    )


def _pool(workers: Workers) -> Any:
    """A pool that starts with all its workers if one CPU is then left to read and write with."""
    ray = import_ray()
    there = ray.cluster_resources()
    room = (there.get("CPU", 0) - 1) // workers.cpus
    if workers.gpus:
        room = min(room, there.get("GPU", 0) // workers.gpus)
    if room < 1:
        notify(
            f"the cluster has {there.get('CPU', 0):g} CPUs and {there.get('GPU', 0):g} GPUs, too "
            f"few for a worker of {workers.cpus:g} CPUs and {workers.gpus:g} GPUs and one CPU to "
            "read and write with; Ray waits until nodes join",
            ClusterWarning,
        )
    first = max(1, int(room))
    most = workers.count or first
    sizes = {"min_size": 1, "max_size": most, "initial_size": min(first, most)}
    return ray.data.ActorPoolStrategy(**sizes, max_tasks_in_flight_per_actor=QUEUED)


def whitening_to_add_up(scorer: Scorer) -> WhiteningKind | None:
    """Return the kind of whitening to fit, if sums of parts are all that the scorer learns from."""
    settings, measure = scorer.settings, scorer.measure
    if settings.by_variability or measure.learns:
        raise InputError(
            f"{measure.name} with the layers {settings.layers or 'known best'} learns more from a "
            "corpus than sums",
            Do("fit alone", "and score with Ray afterwards"),
        )
    if settings.whitening_to_fit == "as-coded":
        raise InputError(
            "as-coded whitening adds vectors up in the order of the sentences, which no "
            "distributed pass can",
            Do("fit alone"),
            Choose("whitening", "clean"),
        )
    return settings.whitening_to_fit


def _schema(dataset: Any) -> Any:
    import_ray()
    schema = dataset.schema()
    if schema is None:
        raise InputError("the dataset is empty; expected rows")
    return schema


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
