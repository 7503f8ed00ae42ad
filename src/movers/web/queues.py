"""Two queues, so that what is done in a moment never waits for what is not."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from movers.web.batcher import Batcher, Job
from movers.web.limits import Limits
from movers.web.models import Models

QUICK = 0.25
"""Seconds of a request that goes into the quick queue."""
STRIDE = 1.0
"""Seconds of a batch: in longer ones sentences fill the model a little better (a tenth more from
twice the pairs), but other requests wait for their end."""


class Queues:
    """A thread for requests of a moment and one for all others, each with scorers of its own.

    A pair of long sentences under every head may take seconds, in which nothing else of its queue
    is done; the processors are shared out by the system meanwhile.
    """

    def __init__(
        self, models: Models, limits: Limits, observe: Callable[[int, float], None]
    ) -> None:
        self.quick, self.long = (
            Batcher(
                scorers.make,
                capacity=limits.queue,
                timeout=limits.timeout,
                stride=min(STRIDE, limits.timeout / 8),
                observe=observe,
            )
            for scorers in (models.apart(), models)
        )

    @property
    def waiting(self) -> int:
        """Pairs accepted and not yet taken up."""
        return self.quick.waiting + self.long.waiting

    @property
    def alive(self) -> bool:
        """Whether new jobs are taken."""
        return self.quick.alive and self.long.alive

    def submit(self, jobs: Sequence[Job]) -> None:
        """Queue the jobs of a request, all of them or none."""
        alone = any(job.setup.alone for job in jobs)
        quick = not alone and sum(job.effort_left for job in jobs) <= QUICK
        (self.quick if quick else self.long).submit(jobs)

    def close(self) -> None:
        """Take nothing new, finish what was accepted."""
        for queue in (self.quick, self.long):
            queue.close()
