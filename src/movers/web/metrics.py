"""What the server counts, in the format of Prometheus."""

from __future__ import annotations

import time
from collections.abc import Callable

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

from movers.web.gates import Application, Message, Receive, Scope, Send

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
PAIRS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Metrics:
    """Counters of one server; labels are routes and statuses only, so that they stay few."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.requests = Counter(
            "movers_requests", "Requests answered.", ("route", "status"), registry=self.registry
        )
        self.seconds = Histogram(
            "movers_request_seconds",
            "Time from the headers of a request to the end of its answer.",
            ("route",),
            buckets=SECONDS,
            registry=self.registry,
        )
        self.waiting = Gauge("movers_pairs_waiting", "Pairs in the queue.", registry=self.registry)
        self.pairs = Counter("movers_pairs", "Pairs worked on.", registry=self.registry)
        self.batches = Histogram(
            "movers_batch_pairs", "Pairs in a batch.", buckets=PAIRS, registry=self.registry
        )
        self.batch_seconds = Counter(
            "movers_batch_seconds", "Time spent on batches.", registry=self.registry
        )

    def observe_batch(self, pairs: int, seconds: float) -> None:
        """Count a batch."""
        self.pairs.inc(pairs)
        self.batches.observe(pairs)
        self.batch_seconds.inc(seconds)

    def watch_queue(self, waiting: Callable[[], float]) -> None:
        """Report the queue as it is when asked."""
        self.waiting.set_function(waiting)

    def text(self) -> bytes:
        """Everything, as Prometheus reads it."""
        return generate_latest(self.registry)


class RequestCounter:
    """Counts and times requests."""

    def __init__(self, app: Application, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and note how it went."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status = 500
        started = time.perf_counter()

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, sent)
        finally:
            # Only routes that exist become labels: paths are the client's to choose.
            route = getattr(scope.get("route"), "path", "other")
            self.metrics.requests.labels(route, str(status)).inc()
            self.metrics.seconds.labels(route).observe(time.perf_counter() - started)
