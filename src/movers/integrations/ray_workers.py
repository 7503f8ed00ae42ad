"""The worker processes of Ray, and what they do with a batch of rows."""

from __future__ import annotations

import os
import pickle
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from movers.bulk.scoring import named_columns
from movers.errors import InputError, MoversError
from movers.io.tables import check_texts
from movers.measure.fitting import add_up
from movers.scorer import Scorer

LIVES = 3
"""Workers that a batch may cost; one that kills each would go on for ever."""


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


class Worker:
    """Scorers, which Ray keeps, in a worker process: on one model and one store of encodings.

    The ledger is the actor that counts deaths.
    """

    def __init__(self, scorers: Any, columns: Sequence[str], workers: Workers, ledger: Any) -> None:
        import ray
        import torch

        if not workers.gpus:
            # Ray leaves the GPUs of the machine visible to those who asked for none.
            os.environ["CUDA_VISIBLE_DEVICES"] = ""
        torch.set_num_threads(workers.threads)
        self.columns = columns
        self.ledger = ledger
        self.scorers: dict[str, Scorer] = {
            name: scorer.using(threads=workers.threads) for name, scorer in ray.get(scorers).items()
        }
        for scorer in self.scorers.values():
            scorer.prepare()

    def texts(self, batch: Any) -> Iterator[list[str]]:
        """The sentences of every column."""
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
            return self.work(batch)
        finally:
            self.ledger.end.remote(worker)

    def work(self, batch: Any) -> Any:
        """What a batch becomes."""
        raise NotImplementedError


class PairScorer(Worker):
    """Adds distances, and similarities where a scorer has a scale."""

    def work(self, batch: Any) -> Any:
        """Append the columns of every scorer."""
        import pyarrow

        pairs = list(zip(*self.texts(batch), strict=True))
        for name, scorer in self.scorers.items():
            for column, values in named_columns(name, scorer, pairs).items():
                batch = batch.append_column(column, pyarrow.array(values))
        return batch


class Adder(Worker):
    """Adds up what a fit needs."""

    def __init__(self, *rest: Any) -> None:
        *usual, self.request, self.whitening = rest
        super().__init__(*usual)

    def work(self, batch: Any) -> dict[str, list[bytes]]:
        """Add up the sentences of a batch, column by column."""
        counts = Counter(text for texts in self.texts(batch) for text in texts)
        (scorer,) = self.scorers.values()
        sums, _ = add_up(scorer.encoder, counts, self.request, whitening=self.whitening)
        return {"sums": [pickle.dumps(sums)]}
