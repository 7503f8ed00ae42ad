"""Pairs of many requests, answered together by one thread that owns the models."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

logger = logging.getLogger("movers")

Pair = tuple[str, str]
Answer = Callable[[Any, Sequence[Pair]], list[Any]]
"""From a scorer and pairs to one result each; a result may be an exception."""

BATCH_PAIRS = 256
LEAST_PAIRS = 16
"""Where even that takes longer than a batch should, there is nothing left to win."""
TYPICAL_PAIR = 250
"""Characters of two ordinary sentences."""
SLOWEST_RETRY = 60


class BusyError(Exception):
    """The queue is full; `retry_after` says when it may have room."""

    def __init__(self, waiting: int, retry_after: int) -> None:
        super().__init__(f"{waiting} pairs are waiting already; try again in {retry_after} s")
        self.retry_after = retry_after


class ClosedError(Exception):
    """The server is shutting down and takes nothing new."""

    def __init__(self) -> None:
        super().__init__("the server is shutting down")


class LateError(Exception):
    """An answer took longer than it may."""


@dataclass(eq=False)
class Job:
    """Pairs of one request that get the same treatment.

    Parameters
    ----------
    setup
        What decides about the scorer; jobs with the same setup and answer share a call.
    answer
        What to do with the pairs.
    pairs
        The pairs.
    weight
        How much more effort a pair takes than under the heads of one layer.
    future
        Gets one result per pair; cancel it to drop the job.
    """

    setup: Hashable
    answer: Answer
    pairs: Sequence[Pair]
    weight: float = 1.0
    future: Future[list[Any]] = field(default_factory=Future)
    results: list[Any] = field(default_factory=list)
    taken: int = 0

    @property
    def left(self) -> int:
        """Pairs that no batch has taken yet."""
        return len(self.pairs) - self.taken

    def take(self, pairs: int, effort: float) -> tuple[Sequence[Pair], float]:
        """Take pairs up to a number and an effort, at least one; also what effort remains."""
        start = self.taken
        for source, target in self.pairs[start : start + pairs]:
            effort -= self.weight * (len(source) + len(target)) ** 3
            if effort < 0 and self.taken > start:
                break
            self.taken += 1
        return self.pairs[start : self.taken], effort

    def deliver(self, results: list[Any]) -> None:
        """Add results; the last ones complete the job."""
        self.results += results
        if len(self.results) == len(self.pairs) and self.future.set_running_or_notify_cancel():
            self.future.set_result(self.results)

    def fail(self, error: Exception) -> None:
        """Give the whole job up."""
        self.taken = len(self.pairs)
        if not self.future.done() and self.future.set_running_or_notify_cancel():
            self.future.set_exception(error)


Share = tuple[Job, Sequence[Pair]]


class Batcher:
    """A bounded queue of jobs and the thread that works on them.

    Whatever waits when the thread becomes free makes the next batch. A long job goes to the back
    of the queue after each share, so that a short one never waits for all of it.

    Parameters
    ----------
    make
        Makes the scorer of a setup; called, like every answer, by the thread alone.
    capacity
        Most pairs waiting.
    patience
        Most seconds that the pairs waiting may take, going by the pace of late: a job that would
        come too late is better turned away at once.
    stride
        Seconds that a batch should take at most, going by the same pace.
    observe
        Told the pairs and the seconds of every batch.
    """

    def __init__(
        self,
        make: Callable[[Any], Any],
        *,
        capacity: int,
        patience: float = math.inf,
        stride: float = math.inf,
        observe: Callable[[int, float], None] = lambda pairs, seconds: None,
    ) -> None:
        self._make = make
        self._capacity = capacity
        self._patience = patience
        self._stride = stride
        self._observe = observe
        self._jobs: deque[Job] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._rate = math.inf  # pairs per second, unknown as yet
        self._thread = threading.Thread(target=self._work, name="movers-batcher", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Pairs accepted and not yet taken up."""
        return sum(job.left for job in list(self._jobs))

    @property
    def alive(self) -> bool:
        """Whether new jobs are taken."""
        return not self._closed and self._thread.is_alive()

    def submit(self, jobs: Sequence[Job]) -> None:
        """Queue jobs, all of them or none."""
        size = sum(job.left for job in jobs)
        with self._changed:
            if self._closed:
                raise ClosedError
            self._drop_cancelled()
            room = min(self._capacity, self._rate * self._patience)
            if (waiting := self.waiting) and waiting + size > room:
                seconds = math.ceil(max(1.0, (waiting + size - room) / self._rate))
                raise BusyError(waiting, min(seconds, SLOWEST_RETRY))
            self._jobs.extend(jobs)
            self._changed.notify()

    def close(self) -> None:
        """Take nothing new, finish what was accepted."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _drop_cancelled(self) -> None:
        for job in [job for job in self._jobs if job.future.done()]:
            self._jobs.remove(job)

    def _wanted(self) -> bool:
        """Whether there is a job that somebody still waits for."""
        self._drop_cancelled()
        return bool(self._jobs)

    def _work(self) -> None:
        while (batch := self._next_batch()) is not None:
            started = time.perf_counter()
            self._answer_batch(batch)
            seconds, pairs = time.perf_counter() - started, sum(len(pairs) for _, pairs in batch)
            pace = pairs / seconds
            self._rate = pace if math.isinf(self._rate) else (self._rate + pace) / 2
            self._observe(pairs, seconds)

    def _next_batch(self) -> list[Share] | None:
        """Wait for jobs and take a batch of their pairs; None once closed and done."""
        with self._changed:
            self._changed.wait_for(lambda: self._wanted() or self._closed)
            if not self._jobs:
                return None
            batch: list[Share] = []
            room = int(min(BATCH_PAIRS, max(LEAST_PAIRS, self._rate * self._stride)))
            effort = float(room * TYPICAL_PAIR**3)
            unfinished = []
            while self._jobs and room > 0 and effort > 0:
                job = self._jobs.popleft()
                pairs, effort = job.take(room, effort)
                room -= len(pairs)
                batch.append((job, pairs))
                if job.left:
                    unfinished.append(job)
            self._jobs.extend(unfinished)
        return batch

    def _answer_batch(self, batch: list[Share]) -> None:
        scorers = {}
        for job, _ in batch:
            if job.setup not in scorers:
                scorers[job.setup] = self._scorer(job.setup)
        for group in _alike(batch):
            self._answer(scorers[group[0][0].setup], group)

    def _scorer(self, setup: Hashable) -> Any:
        """The scorer of a setup, or why there is none."""
        try:
            return self._make(setup)
        except Exception as error:
            return error

    def _answer(self, scorer: Any, group: list[Share]) -> None:
        """Answer the pairs of a group in one call; if that fails, every job on its own."""
        pairs = [pair for _, share in group for pair in share]
        try:
            if isinstance(scorer, Exception):
                raise scorer
            results = group[0][0].answer(scorer, pairs)
        except Exception as error:
            if len(group) == 1:
                group[0][0].fail(error)
            else:
                for one in group:
                    self._answer(scorer, [one])
            return
        start = 0
        for job, share in group:
            job.deliver(results[start : start + len(share)])
            start += len(share)


def _alike(batch: list[Share]) -> list[list[Share]]:
    """Group shares that one call can answer."""
    groups: dict[Any, list[Share]] = {}
    for job, pairs in batch:
        groups.setdefault((job.setup, job.answer), []).append((job, pairs))
    return list(groups.values())
