"""Pairs of many requests, answered together by one thread that owns the models."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import KW_ONLY, dataclass, field
from statistics import median
from typing import Any

from starlette.exceptions import HTTPException

from movers.runtime.threads import UnwantedError, only_while

Pair = tuple[Any, ...]
"""Two sentences, and what one kind of answer needs besides: the mix of a step, the aligner."""
Answer = Callable[[Any, Sequence[Pair]], list[Any]]
"""From a setup and pairs to one result each; a result may be an exception."""

BATCH_PAIRS = 256
SLOWEST_RETRY = 60
REMEMBERED = 9
"""Calls that the pace is known from."""
PATIENCE = 1 / 3
"""Share of the time limit that a job may wait for others. The rest is for its own work, of which
half the time goes to jobs that overtake."""
HOPE = 2
"""How many times as quick as of late work may go on: a job that comes too late even so is given
up."""


def closed() -> HTTPException:
    """Return the answer to what comes when nothing new is taken."""
    return HTTPException(503, "the server is shutting down")


def late(timeout: float) -> HTTPException:
    """Return the answer to a request that takes longer than it may, or would."""
    return HTTPException(
        504,
        f"no answer within {timeout:g} s; send fewer or shorter pairs, or start the server "
        "with a longer --timeout",
    )


@dataclass(eq=False)
class Job:
    """Pairs of one request that get the same treatment.

    Jobs with the same setup, which is hashable, share a call. Efforts are the seconds that each
    pair takes, roughly, at a pace of 1. The future gets one result per pair; cancel it to drop the
    job, also while it is worked on.
    """

    setup: Any
    pairs: Sequence[Pair]
    efforts: Sequence[float]
    future: Future[list[Any]] = field(default_factory=Future)
    results: list[Any] = field(default_factory=list)
    taken: int = 0
    begun: float = field(default_factory=time.monotonic)

    @property
    def wanted(self) -> bool:
        """Whether somebody waits for it."""
        return not self.future.done()

    @property
    def left(self) -> int:
        """Pairs that no batch has taken yet."""
        return len(self.pairs) - self.taken

    @property
    def effort_left(self) -> float:
        """What those take."""
        return sum(self.efforts[self.taken :])

    def deliver(self, result: Any) -> None:
        """Add the result of the next pair; the last one completes the job."""
        self.results.append(result)
        if len(self.results) == len(self.pairs) and self.future.set_running_or_notify_cancel():
            self.future.set_result(self.results)

    def fail(self, error: Exception) -> None:
        """Give the whole job up."""
        self.taken = len(self.pairs)
        if self.wanted and self.future.set_running_or_notify_cancel():
            self.future.set_exception(error)


Place = tuple[Job, int]
"""A pair, by its job and its number there."""


@dataclass(eq=False)
class Batcher:
    """A bounded queue of jobs and the thread that works on them.

    Whatever waits when the thread becomes free makes the next batch: on one turn the shortest jobs
    first, so that these overtake; on the next turn the oldest first, so that a long one gets half
    of the time until it is done, however many short ones come.

    Parameters
    ----------
    answer
        What answers pairs; called by this thread alone.
    capacity
        Pairs that wait at most.
    timeout
        Seconds for an answer. A job that would come later, going by the pace of late, is turned
        away at once, unless the thread has nothing else to do: then the first share shows how long
        it takes, and it is given up if that is too long.
    stride
        Seconds that a batch takes, roughly, at that pace.
    observe
        Told the pairs and the seconds of every batch.
    """

    answer: Answer
    _: KW_ONLY
    capacity: int
    timeout: float = math.inf
    stride: float = math.inf
    observe: Callable[[int, float], None] = lambda pairs, seconds: None

    def __post_init__(self) -> None:
        self._jobs: list[Job] = []
        self._batch: list[Place] = []  # in work
        self._paces: deque[float] = deque(maxlen=REMEMBERED)
        self._changed = threading.Condition()
        self._closed = self._shortest_first = False
        self._thread = threading.Thread(target=self._work, name="movers-batcher", daemon=True)
        self._thread.start()

    @property
    def pace(self) -> float:
        """Effort that is answered in a second: the median of late, which no long pause changes.

        It is 1 on the core that efforts are told for, and until more is known.
        """
        return median(self._paces or [1.0])

    def learn(self, effort: float, seconds: float) -> None:
        """Add what was answered, which failures are no part of, and the time it took."""
        if effort:
            self._paces.append(effort / max(seconds, 1e-6))

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
        with self._changed:
            if self._closed:
                raise closed()
            self._drop_unwanted()
            waiting, under_way = self.waiting, self._under_way
            if waiting or under_way:
                excess = self._lateness(sum(job.effort_left for job in jobs), under_way)
                if excess > 0 or waiting + sum(job.left for job in jobs) > self.capacity:
                    seconds = math.ceil(min(max(1.0, excess), SLOWEST_RETRY))
                    message = f"{waiting} pairs are waiting already; try again in {seconds} s"
                    raise HTTPException(429, message, {"Retry-After": str(seconds)})
            self._jobs.extend(jobs)
            self._changed.notify()

    @property
    def _under_way(self) -> float:
        """Effort of the batch in work."""
        return sum(job.efforts[number] for job, number in self._batch if job.wanted)

    def _lateness(self, own: float, under_way: float) -> float:
        """Return seconds by which jobs of an effort would be too late; below 0 they would not."""
        ahead = [job.effort_left for job in self._jobs]
        overtaking = 2 * sum(effort for effort in ahead if effort <= own)
        wait = (under_way + min(sum(ahead), overtaking)) / self.pace
        answered = wait + 2 * own / self.pace
        return max(wait - PATIENCE * self.timeout, answered - self.timeout)

    def close(self) -> None:
        """Take nothing new, finish what was accepted."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _drop_unwanted(self) -> None:
        """Keep the jobs that somebody still waits for."""
        self._jobs = [job for job in self._jobs if job.wanted]

    def _something_to_do(self) -> bool:
        """Give up what was begun and will be too late; return whether there is anything else."""
        latest = time.monotonic() - self.timeout
        for job in self._jobs:
            if job.taken and job.begun < latest + job.effort_left / (HOPE * self.pace):
                job.fail(late(self.timeout))
        self._drop_unwanted()
        return bool(self._jobs) or self._closed

    def _work(self) -> None:
        """Take batches until the end, and answer in one call what has the same setup."""
        while self._next_batch():
            started = time.perf_counter()
            alike: dict[Any, list[Place]] = {}
            for job, number in self._batch:
                alike.setdefault(job.setup, []).append((job, number))
            for group in alike.values():
                self._answer(group)
            self.observe(len(self._batch), time.perf_counter() - started)

    def _next_batch(self) -> bool:
        """Wait for jobs and take a batch of their pairs; False once closed and done."""
        with self._changed:
            self._batch = []
            self._changed.wait_for(self._something_to_do)
            self._shortest_first = not self._shortest_first
            order = list(self._jobs)
            if self._shortest_first:
                order.sort(key=lambda job: job.effort_left)
            effort = self.stride * self.pace
            for job in order:
                if not self._fits(job, effort):
                    break
                while job.left and self._fits(job, effort):
                    effort -= job.efforts[job.taken]
                    self._batch.append((job, job.taken))
                    job.taken += 1
            self._jobs = [job for job in self._jobs if job.left]
        return bool(self._batch)

    def _fits(self, job: Job, effort: float) -> bool:
        """Return whether the next pair of a job belongs to the batch, as the first always does."""
        full = len(self._batch) >= BATCH_PAIRS or job.efforts[job.taken] > effort
        return not self._batch or not full

    def _answer(self, group: list[Place]) -> None:
        """Answer the pairs of a group in one call; if that fails, every job on its own."""
        jobs = list(dict.fromkeys(job for job, _ in group))
        pairs = [job.pairs[number] for job, number in group]
        started = time.perf_counter()
        try:
            with only_while(lambda: any(job.wanted for job in jobs)):
                results = self.answer(jobs[0].setup, pairs)
        except UnwantedError:
            return
        except Exception as error:
            if len(jobs) == 1:
                return jobs[0].fail(error)
            for one in jobs:
                self._answer([(job, number) for job, number in group if job is one])
            return
        answered = zip(group, results, strict=True)
        efforts = (
            0.0 if isinstance(result, Exception) else job.efforts[number]
            for (job, number), result in answered
        )
        self.learn(sum(efforts), time.perf_counter() - started)
        for (job, _), result in zip(group, results, strict=True):
            job.deliver(result)
