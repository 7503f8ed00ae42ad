"""What the server counts, in the format of Prometheus."""

from __future__ import annotations

from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import generate_latest

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
PAIRS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Counters:
    """Counters of one server; labels are routes and statuses only, so that they stay few."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        ours: Any = {"namespace": "movers", "registry": self.registry}
        took = "Time from the headers of a request to the end of its answer."
        self.requests = Counter("requests", "Requests answered.", ["route", "status"], **ours)
        self.seconds = Histogram("request_seconds", took, ["route"], buckets=SECONDS, **ours)
        self.waiting = Gauge("pairs_waiting", "Pairs in the queue.", **ours)
        self.pairs = Counter("pairs", "Pairs worked on.", **ours)
        self.batches = Histogram("batch_pairs", "Pairs in a batch.", buckets=PAIRS, **ours)
        self.batch_seconds = Counter("batch_seconds", "Time spent on batches.", **ours)

    def observe_request(self, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self.requests.labels(route, str(status)).inc()
        self.seconds.labels(route).observe(seconds)

    def observe_batch(self, pairs: int, seconds: float) -> None:
        """Count a batch."""
        self.pairs.inc(pairs)
        self.batches.observe(pairs)
        self.batch_seconds.inc(seconds)

    def text(self) -> bytes:
        """Return everything, as Prometheus reads it."""
        return generate_latest(self.registry)
