"""Pairs of many requests, answered together by one thread that owns the models."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import KW_ONLY, dataclass, field
from itertools import compress, islice
from typing import Any

logger = logging.getLogger("movers")

Pair = tuple[str, str]
Answer = Callable[[Any, Sequence[Pair]], list[Any]]
"""From a scorer and pairs to one result each; a result may be an exception."""

BATCH_PAIRS = 256
SLOWEST_RETRY = 60
MEMORY = 0.9
"""How much of what is known about the pace remains after a batch."""


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

    The setup, which is hashable, decides about the scorer; jobs with the same setup and answer
    share a call. Efforts are the seconds that each pair takes, roughly, at a pace of 1. The future
    gets one result per pair; cancel it to drop the job.
    """

    setup: Any
    answer: Answer
    pairs: Sequence[Pair]
    efforts: Sequence[float]
    future: Future[list[Any]] = field(default_factory=Future)
    results: list[Any] = field(default_factory=list)
    taken: int = 0

    @property
    def left(self) -> int:
        """Pairs that no batch has taken yet."""
        return len(self.pairs) - self.taken

    @property
    def effort_left(self) -> float:
        """What those take."""
        return sum(self.efforts[self.taken :])

    def take(self, pairs: int, effort: float) -> slice:
        """Take pairs up to a number and an effort, at least one."""
        start = self.taken
        for one in self.efforts[start : start + pairs]:
            effort -= one
            if effort < 0 and self.taken > start:
                break
            self.taken += 1
        return slice(start, self.taken)

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


Share = tuple[Job, slice]


class Pace:
    """Effort that is answered in a second, going by the batches of late."""

    def __init__(self) -> None:
        self.effort = self.seconds = 1.0  # what one ordinary core would do, until more is known

    @property
    def value(self) -> float:
        """The pace: 1 on the core that efforts are told for."""
        return self.effort / self.seconds

    def learn(self, effort: float, seconds: float) -> None:
        """Add what was answered, which failures are no part of, and the time it took."""
        if effort:
            self.effort = MEMORY * self.effort + effort
            self.seconds = MEMORY * self.seconds + seconds


@dataclass(eq=False)
class Batcher:
    """A bounded queue of jobs and the thread that works on them.

    Whatever waits when the thread becomes free makes the next batch: on one turn the shortest
    jobs first, so that these overtake; on the next turn those that wait longest, so that the long
    ones get half of the time however many short ones come. A long job goes to the back of the
    queue after each share, until the next would be its last.

    ``make`` gives the scorer of a setup and is called, like every answer, by the thread alone. At
    most ``capacity`` pairs wait, and no job longer than ``patience`` seconds, going by the pace of
    late: one that would come too late is better turned away at once. A batch takes about ``stride``
    seconds at that pace; ``observe`` is told the pairs and the seconds of every one.
    """

    make: Callable[[Any], Any]
    _: KW_ONLY
    capacity: int
    patience: float = math.inf
    stride: float = math.inf
    observe: Callable[[int, float], None] = lambda pairs, seconds: None

    def __post_init__(self) -> None:
        self._jobs: list[Job] = []
        self._changed = threading.Condition()
        self._closed = self._shortest_first = False
        self._under_way = 0.0  # effort of the batch in work
        self.pace = Pace()
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
            if waiting := self.waiting:
                late = self._seconds_until(jobs) - self.patience
                if waiting + size > self.capacity or late > 0:
                    raise BusyError(waiting, math.ceil(min(max(1.0, late), SLOWEST_RETRY)))
            self._jobs.extend(jobs)
            self._changed.notify()

    def _seconds_until(self, jobs: Sequence[Job]) -> float:
        """When jobs would be answered: they overtake longer ones, on every other turn."""
        own = sum(job.effort_left for job in jobs)
        ahead = [job.effort_left for job in self._jobs]
        overtaking = 2 * sum(effort for effort in ahead if effort <= own)
        return (self._under_way + own + min(sum(ahead), overtaking)) / self.pace.value

    def close(self) -> None:
        """Take nothing new, finish what was accepted."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _drop_cancelled(self) -> bool:
        """Keep the jobs that somebody still waits for; whether there are any."""
        self._jobs = [job for job in self._jobs if not job.future.done()]
        return bool(self._jobs)

    def _work(self) -> None:
        """Take batches until the end, and answer in one call what has the same setup and answer."""
        while (batch := self._next_batch()) is not None:
            started = time.perf_counter()
            scorers: dict[Hashable, Any] = {}
            alike: dict[Any, list[Share]] = {}
            for job, share in batch:
                alike.setdefault((job.setup, job.answer), []).append((job, share))
                if job.setup not in scorers:
                    try:
                        scorers[job.setup] = self.make(job.setup)
                    except Exception as error:
                        scorers[job.setup] = error
            for (setup, _), group in alike.items():
                self._answer(scorers[setup], group)
            pairs = sum(share.stop - share.start for _, share in batch)
            self.observe(pairs, time.perf_counter() - started)

    def _next_batch(self) -> list[Share] | None:
        """Wait for jobs and take a batch of their pairs; None once closed and done."""
        with self._changed:
            self._under_way = 0.0
            self._changed.wait_for(lambda: self._drop_cancelled() or self._closed)
            if not self._jobs:
                return None
            self._shortest_first = not self._shortest_first
            order = list(self._jobs)
            if self._shortest_first:
                order.sort(key=lambda job: job.effort_left)
            batch: list[Share] = []
            room, effort = BATCH_PAIRS, self.stride * self.pace.value
            for job in order:
                if batch and (room <= 0 or effort < job.efforts[job.taken]):
                    break
                share = job.take(room, effort)
                room -= share.stop - share.start
                taken = sum(job.efforts[share])
                effort -= taken
                self._under_way += taken
                batch.append((job, share))
                self._jobs.remove(job)
                if job.left:
                    nearly_done = job.effort_left <= self.stride * self.pace.value
                    self._jobs.insert(0 if nearly_done else len(self._jobs), job)
        return batch

    def _answer(self, scorer: Any, group: list[Share]) -> None:
        """Answer the pairs of a group in one call; if that fails, every job on its own."""
        pairs = [pair for job, share in group for pair in job.pairs[share]]
        started = time.perf_counter()
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
        efforts = [effort for job, share in group for effort in job.efforts[share]]
        answered = [not isinstance(result, Exception) for result in results]
        self.pace.learn(sum(compress(efforts, answered)), time.perf_counter() - started)
        left = iter(results)
        for job, share in group:
            job.deliver([*islice(left, share.stop - share.start)])
