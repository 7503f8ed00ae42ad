"""The HTTP API and the live page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib.resources import files
from math import inf
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Response, Security
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse
from fastapi.security import HTTPBearer
from starlette.middleware.gzip import GZipMiddleware
from starlette.staticfiles import StaticFiles

from movers.align.aligners import find_aligner
from movers.difference.guards import check_guards
from movers.errors import InputError, MoversError
from movers.explain.contrast import contrasted
from movers.explain.curve import mix_curve, mixes_of
from movers.explain.page import export_page, export_texts
from movers.io.pairs import check_asked
from movers.measures.registry import ALIASES, JUDGES, METHODS, find_measure
from movers.version import __version__
from movers.web import answers, schemas
from movers.web.batcher import Batcher, Job, Pair, closed, late
from movers.web.counters import Counters
from movers.web.failures import LETTERS, handle_failures
from movers.web.limits import Limits
from movers.web.middleware import BodyReader, check_token, guarded
from movers.web.models import Kind, Models, Setup
from movers.web.schemas import ANSWERS

STATIC = Path(str(files("movers.explain") / "static"))
ASKED = (
    *("compare", "score", "rank", "search", "differences", "align"),
    *("explain", "contrast", "curve"),
)
LISTED = ("models", "methods", "indexes")
"""Routes with a body, and routes that list what is served."""
QUICK = 0.25
"""Seconds of a request that goes into the quick queue."""
STRIDE = 1.0
"""Seconds of a batch: in longer ones sentences fill the model a little better (a tenth more from
twice the pairs), but other requests wait for their end."""
COMPRESSED, COMPRESSION = 4096, 4
"""Bytes of an answer that is worth compressing, and how hard to try."""
RETRY = {"description": "Seconds until another try.", "schema": {"type": "integer"}}
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {
        "model": ANSWERS["ErrorAnswer"],
        "description": description,
        **({"headers": {"Retry-After": RETRY}} if status in (429, 503) else {}),
    }
    for status, description in {
        400: "The body is no JSON, or its length is told in two ways.",
        401: "The server needs its token, or another one.",
        404: "No such model or index.",
        408: "The request took too long to arrive.",
        413: "The body is too large.",
        415: "The body has an encoding that is not taken.",
        421: "The request is meant for another host.",
        422: "Something in the request cannot be used.",
        429: "Too much is waiting; Retry-After says when to try again.",
        503: "The server is shutting down, or has no room for another connection.",
        504: "The answer took too long.",
    }.items()
}
PAGE: dict[int | str, dict[str, Any]] = {
    200: {"description": "The page.", "content": {"text/html": {"schema": {"type": "string"}}}},
    **ERRORS,
}
READING: dict[int | str, dict[str, Any]] = {code: ERRORS[code] for code in (401, 408, 421, 503)}
"""Errors of routes without a body."""


class Service:
    """The routes with what they share: models, limits, and two queues.

    A pair of long sentences under every head may take seconds, in which nothing else of its queue
    is done. So requests of a moment have a queue and a thread of their own, with models of their
    own; the processors are shared out by the system meanwhile.
    """

    def __init__(self, models: Models, limits: Limits) -> None:
        self.models, self.limits, self.counters = models, limits, Counters()
        self.quick, self.long = self.queues = [
            Batcher(
                partial(answers.answer_pairs, some, limits.max_words),
                capacity=limits.queue,
                timeout=limits.timeout,
                stride=min(STRIDE, limits.timeout / 8),
                observe=self.counters.observe_batch,
            )
            for some in (models.apart(), models)
        ]
        self.counters.waiting.set_function(lambda: sum(queue.waiting for queue in self.queues))

    async def compare(self, body: schemas.CompareRequest) -> Response:
        """Compare two sentences: the distance, its parts, the plan and the alignment."""
        (comparison,) = await self._paired(body, answers.comparisons, (body.spelling,))
        return JSONResponse(comparison)

    async def differences(self, body: schemas.CompareRequest) -> Response:
        """Find what two sentences differ in, each with its words, places and a plain sentence."""
        (differences,) = await self._paired(body, answers.differences, (body.spelling,))
        return JSONResponse(differences)

    async def align(self, body: schemas.AlignRequest) -> Response:
        """Link the words of two sentences: which goes with which, and which with none."""
        find_aligner(body.aligner)
        (alignment,) = await self._paired(body, answers.alignments, (body.aligner,))
        return JSONResponse(alignment)

    async def search(self, body: schemas.SearchRequest) -> Response:
        """Find the nearest sentences of an index, exactly."""
        options = {
            "within": body.within,
            "guards": check_guards(body.guards),
            "top_k": body.top_k,
            "align": body.explain,
        }
        setup = Setup(self.models.index(body.index), options=tuple(options.items()))
        self.limits.check_sentence(body.query, "the query", long=self.models.takes_texts(setup))
        check_asked(body.query, "query")
        self.limits.check_pairs(body.top_k)
        ((ranking,),) = await self._ask([self._job(setup, [(body.query,)])])
        return JSONResponse(ranking)

    async def list_indexes(self) -> Response:
        """List the indexes served here, as they are now; the first is the default."""
        return JSONResponse({"indexes": await asyncio.to_thread(self.models.describe_indexes)})

    async def explain(self, body: schemas.ExplainRequest) -> Response:
        """Compare two sentences under every head, as the page shows it."""
        shown = body.attention, body.links
        (explanation,) = await self._paired(body, answers.explanations, shown)
        return JSONResponse(explanation)

    async def contrast(self, body: schemas.ContrastRequest) -> Response:
        """Explain a sentence beside two others, and say which of the two is nearer."""
        shown = body.attention, body.links
        both = await self._paired(body, answers.explanations, shown, other=body.other)
        return JSONResponse(contrasted(*both))

    async def page(self, body: schemas.PageRequest) -> Response:
        """Explain two sentences, or three, in an HTML file that needs no server."""
        if body.other is None and dict(body.options())["texts"] == "sentences":
            (comparison,) = await self._paired(body, answers.comparisons, ("keep",))
            return HTMLResponse(export_texts(comparison))
        shown = True, body.links
        found = await self._paired(body, answers.explanations, shown, other=body.other)
        return HTMLResponse(export_page(found[0] if body.other is None else contrasted(*found)))

    async def curve(self, body: schemas.CurveRequest) -> Response:
        """Compare two sentences at every mix of words and structure."""
        measure = find_measure(body.method)
        mixes = mixes_of(measure.name, measure.settings, body.steps)
        steps = await self._paired(body, answers.steps, *((mix,) for mix in mixes))
        return JSONResponse(mix_curve(steps))

    async def score(self, body: schemas.ScoreRequest) -> Response:
        """Compare many pairs under one or more measures."""
        self.limits.check_pairs(len(body.pairs), len(body.methods))
        if len(set(body.methods)) < len(body.methods):
            raise InputError(f"methods must differ from each other, got {body.methods}")
        setups = [self._setup(body, name, answers.distances) for name in body.methods]
        long = all(map(self.models.takes_texts, setups))
        for number, pair in enumerate(body.pairs):
            for side, text in zip(("source", "target"), pair, strict=True):
                self.limits.check_sentence(text, f"the {side} of pair {number}", long=long)
        pairs = [*map(tuple, body.pairs)]
        scored = map(_scores, await self._ask([self._job(setup, pairs) for setup in setups]))
        return JSONResponse({"methods": dict(zip(body.methods, scored, strict=True))})

    async def rank(self, body: schemas.RankRequest) -> Response:
        """Rank sentences by their distance to a query, exactly."""
        self.limits.check_pairs(len(body.candidates))
        setup = self._setup(body, body.method, answers.distances)
        long = self.models.takes_texts(setup)
        self.limits.check_sentence(body.query, "the query", long=long)
        check_asked(body.query, "query")
        for number, candidate in enumerate(body.candidates):
            self.limits.check_sentence(candidate, f"candidate {number}", long=long)
        pairs = [(body.query, candidate) for candidate in body.candidates]
        (scored,) = await self._ask([self._job(setup, pairs)])
        matches = [
            {"index": number, "text": body.candidates[number], **facts}
            for number, facts in enumerate(scored)
        ]
        matches.sort(key=lambda one: inf if one["distance"] is None else one["distance"])
        signature = {match.pop("signature") for match in matches}.pop()
        found = {"query": body.query, "matches": matches[: body.top_k], "signature": signature}
        return JSONResponse(found)

    async def list_models(self) -> Response:
        """List the models served here; the first is the default."""
        return JSONResponse({"models": self.models.describe()})

    async def list_methods(self) -> Response:
        """List the measures."""
        methods = [
            {
                **{name: getattr(method, name) for name in ("name", "title", "paper", "recipes")},
                "structural": "layers" in method.settings,
                "settings": list(method.settings),
                "missing": self.models.missing(method),
            }
            for method in (*METHODS.values(), *JUDGES.values())
        ]
        return JSONResponse({"methods": methods, "aliases": ALIASES})

    async def health(self) -> Response:
        """Tell whether the server takes requests."""
        if not all(queue.alive for queue in self.queues):
            raise closed()
        return JSONResponse({"status": "ok"})

    async def report(self) -> Response:
        """Return counters in the format of Prometheus."""
        return Response(self.counters.text(), media_type="text/plain; version=0.0.4")

    async def _paired(
        self,
        body: schemas.PairRequest | schemas.AlignRequest,
        kind: Kind,
        *wanted: Sequence[Any],
        other: str | None = None,
    ) -> list[Any]:
        """Compare the source with its target, and with another sentence, each with a plan.

        ``wanted`` is what this kind of answer needs besides, once for every answer.
        """
        setup = self._setup(body, getattr(body, "method", "movers"), kind)
        long = kind in answers.LONG and self.models.takes_texts(setup)
        targets = [body.target, *([] if other is None else [other])]
        for text, what in zip((body.source, *targets), LETTERS, strict=False):
            self.limits.check_sentence(text, what, long=long)
        pairs = [(body.source, target, *more) for target in targets for more in wanted]
        every_head = kind is answers.explanations
        job = self._job(setup, pairs, plans=True, every_head=every_head)
        (results,) = await self._ask([job], third=other is not None)
        return results

    def _setup(self, asked: schemas.ModelRequest, method: str, kind: Kind) -> Setup:
        return self.models.setup(asked.model, method, asked.options(), kind)

    def _job(self, setup: Setup, pairs: Sequence[Pair], **effort: bool) -> Job:
        most = self.limits.max_words
        return Job(setup, pairs, self.models.efforts(setup, pairs, most_words=most, **effort))

    def submit(self, jobs: Sequence[Job]) -> None:
        """Queue the jobs of a request, all of them or none."""
        effort = inf if any(job.setup.alone for job in jobs) else 0.0
        effort += sum(job.effort_left for job in jobs)
        (self.quick if effort <= QUICK else self.long).submit(jobs)

    async def _ask(self, jobs: list[Job], *, third: bool = False) -> list[list[Any]]:
        """Queue jobs and wait for their results; whoever waits no longer drops them.

        ``third`` says that the target of a second pair is a third sentence.
        """
        self.submit(jobs)
        try:
            async with asyncio.timeout(self.limits.timeout):
                answered = await asyncio.gather(*(asyncio.wrap_future(job.future) for job in jobs))
        except TimeoutError:
            raise late(self.limits.timeout) from None
        finally:
            for job in jobs:
                job.future.cancel()
        for results in answered:
            for place, result in enumerate(results):
                if isinstance(result, MoversError) and place and third:
                    _, target, other = LETTERS
                    raise type(result)(result.message.replace(target, other), *result.remedies)
                if isinstance(result, Exception):
                    raise result
        return answered

    def close(self) -> None:
        """Take nothing new, finish what was accepted."""
        for queue in self.queues:
            queue.close()


def create_app(
    models: Models,
    limits: Limits,
    *,
    token: str | None = None,
    hosts: Collection[str] | None = None,
) -> FastAPI:
    """Make the application.

    Parameters
    ----------
    models
        The models to serve, loaded.
    limits
        How much to take on.
    token
        What clients must present as a bearer token; None lets everyone in.
    hosts
        Names that requests may be meant for; None takes them all.
    """
    check_token(token)
    service = Service(models, limits)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(service.close)

    # The documentation pages of FastAPI load scripts from elsewhere; /docs has one of its own.
    app = FastAPI(
        title="movers",
        version=__version__,
        summary="Sentence similarity that sees word order and shows its reasons.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    _add_routes(app, service, guarded=token is not None)
    handle_failures(app)
    app.add_middleware(BodyReader, limits=limits)
    app.add_middleware(GZipMiddleware, minimum_size=COMPRESSED, compresslevel=COMPRESSION)
    app.add_middleware(guarded, counters=service.counters, token=token, hosts=hosts)
    return app


def _add_routes(app: FastAPI, service: Service, *, guarded: bool) -> None:
    security = [Security(HTTPBearer(auto_error=False))] if guarded else []  # for the document
    router = APIRouter(dependencies=security)
    for name in (*ASKED, *LISTED):
        router.add_api_route(
            f"/v1/{name}",
            getattr(service, name if name in ASKED else f"list_{name}"),
            methods=["POST" if name in ASKED else "GET"],
            response_model=ANSWERS[f"{name.title()}Answer"],
            responses=ERRORS if name in ASKED else READING,
        )
    router.add_api_route(
        "/v1/page", service.page, methods=["POST"], response_class=Response, responses=PAGE
    )
    router.add_api_route("/metrics", service.report, response_class=Response, responses=READING)
    app.include_router(router)
    health = ANSWERS["Health"]
    app.add_api_route("/healthz", service.health, response_model=health, responses=READING)
    app.mount("/static", StaticFiles(directory=STATIC, check_dir=False))
    app.mount("/swagger", StaticFiles(packages=[("fastapi_offline", "static")]))
    pages = {
        "/": "page.html",
        "/search": "search.html",
        "/docs": "docs.html",
        "/texts": "texts.html",
    }
    for path, file in pages.items():
        app.add_api_route(path, partial(_page, STATIC / file), include_in_schema=False)


async def _page(file: Path) -> FileResponse:
    return FileResponse(file)


def _scores(pairs: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "distances": [pair["distance"] for pair in pairs],
        "similarities": [pair["similarity"] for pair in pairs],
        "undefined": [
            {"pair": number, "reason": pair["reason"]}
            for number, pair in enumerate(pairs)
            if pair["reason"] is not None
        ],
        "unread": [number for number, pair in enumerate(pairs) if pair["unread"]],
        "signature": pairs[0]["signature"],
    }
