"""The HTTP API and the live page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from functools import partial
from importlib.resources import files
from math import inf
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Response, Security
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.staticfiles import StaticFiles

from movers.align.aligners import find_aligner
from movers.errors import InputError, MoversError
from movers.explain.contrast import contrasted
from movers.explain.curve import mix_curve, mixes_of
from movers.explain.page import export_page, export_texts
from movers.io.pairs import check_asked
from movers.measures.registry import ALIASES, JUDGES, METHODS, find_measure
from movers.version import __version__
from movers.web import schemas
from movers.web.answers import Answers, Scored
from movers.web.batcher import Answer, Job, Pair, closed, late
from movers.web.counters import Counters, count_requests
from movers.web.failures import INTERNAL, LETTERS, handle_failures
from movers.web.limits import Limits
from movers.web.middleware import (
    BodyReader,
    Refuse,
    check_token,
    refuse_framing,
    refuse_hosts,
    refuse_strangers,
    refusing,
    safe_answers,
)
from movers.web.models import Models
from movers.web.queues import Queues
from movers.web.schemas import ANSWERS

STATIC = Path(str(files("movers.explain") / "static"))
SENTENCES = tuple(LETTERS)
COMPRESSED, COMPRESSION = 4096, 4
"""Bytes of an answer that is worth compressing, and how hard to try."""
RETRY = {"description": "Seconds until another try.", "schema": {"type": "integer"}}
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ANSWERS["ErrorAnswer"], "description": description}
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
for _status in (429, 503):
    ERRORS[_status]["headers"] = {"Retry-After": RETRY}
PAGE: dict[int | str, dict[str, Any]] = {
    200: {"description": "The page.", "content": {"text/html": {"schema": {"type": "string"}}}},
    **ERRORS,
}
READING: dict[int | str, dict[str, Any]] = {code: ERRORS[code] for code in (401, 408, 421, 503)}
"""Errors of routes without a body."""


class Service:
    """The routes with what they share: models, limits, and the queues."""

    def __init__(self, models: Models, limits: Limits) -> None:
        self.models = models
        self.limits = limits
        self.counters = Counters()
        self.answers = Answers(limits.max_words)
        self.queues = Queues(models, limits, self.counters.observe_batch)
        self.counters.waiting.set_function(lambda: self.queues.waiting)

    async def compare(self, body: schemas.CompareRequest) -> Response:
        """Compare two sentences: the distance, its parts, the plan and the alignment."""
        pairs: list[Pair] = [(body.source, body.target, body.spelling)]
        (comparison,) = await self._paired(body, self.answers.comparisons, pairs)
        return JSONResponse(comparison)

    async def differences(self, body: schemas.CompareRequest) -> Response:
        """Find what two sentences differ in, each with its words, places and a plain sentence."""
        pairs: list[Pair] = [(body.source, body.target, body.spelling)]
        (differences,) = await self._paired(body, self.answers.differences, pairs)
        return JSONResponse(differences)

    async def align(self, body: schemas.AlignRequest) -> Response:
        """Link the words of two sentences: which goes with which, and which with none."""
        find_aligner(body.aligner)
        pairs: list[Pair] = [(body.source, body.target, body.aligner)]
        (alignment,) = await self._paired(body, self.answers.alignments, pairs)
        return JSONResponse(alignment)

    async def search(self, body: schemas.SearchRequest) -> Response:
        """Find the nearest sentences of an index, exactly."""
        indexes = self.models.indexes
        asked = body.model_dump(include={"top_k", "within", "explain"})
        setup = indexes.setup(body.index, body.guards, **asked)
        self.limits.check_sentence(body.query, "the query", long=indexes.takes_texts(setup))
        check_asked(body.query, "query")
        self.limits.check_pairs(body.top_k)
        effort = indexes.effort(setup, len(body.query))
        job = Job(setup, self.answers.searches, [(body.query,)], [effort])
        ((ranking,),) = await self._ask([job])
        return JSONResponse(ranking)

    async def list_indexes(self) -> Response:
        """List the indexes served here, as they are now; the first is the default."""
        return JSONResponse({"indexes": await asyncio.to_thread(self.models.indexes.describe)})

    async def explain(self, body: schemas.ExplainRequest) -> Response:
        """Compare two sentences under every head, as the page shows it."""
        (explanation,) = await self._explained(body)
        return JSONResponse(explanation)

    async def contrast(self, body: schemas.ContrastRequest) -> Response:
        """Explain a sentence beside two others, and say which of the two is nearer."""
        return JSONResponse(contrasted(*await self._explained(body, body.other)))

    async def page(self, body: schemas.PageRequest) -> Response:
        """Explain two sentences, or three, in an HTML file that needs no server."""
        if _texts(body) == "sentences" and body.other is None:
            pairs: list[Pair] = [(body.source, body.target, "keep")]
            (comparison,) = await self._paired(body, self.answers.comparisons, pairs)
            return HTMLResponse(export_texts(comparison))
        if body.other is None:
            (shown,) = await self._explained(body)
        else:
            shown = contrasted(*await self._explained(body, body.other))
        return HTMLResponse(export_page(shown))

    async def curve(self, body: schemas.CurveRequest) -> Response:
        """Compare two sentences at every mix of words and structure."""
        measure = find_measure(body.method)
        mixes = mixes_of(measure.name, measure.settings, body.steps)
        pairs: list[Pair] = [(body.source, body.target, mix) for mix in mixes]
        return JSONResponse(mix_curve(await self._paired(body, self.answers.steps, pairs)))

    async def score(self, body: schemas.ScoreRequest) -> Response:
        """Compare many pairs under one or more measures."""
        self.limits.check_pairs(len(body.pairs), len(body.methods))
        if len(set(body.methods)) < len(body.methods):
            raise InputError(f"methods must differ from each other, got {body.methods}")
        pairs = [(source, target) for source, target in body.pairs]
        long = all(_takes_texts(body, name) for name in body.methods)
        for number, pair in enumerate(pairs):
            for side, text in zip(("source", "target"), pair, strict=True):
                self.limits.check_sentence(text, f"the {side} of pair {number}", long=long)
        jobs = [self._job(body, name, self.answers.distances, pairs) for name in body.methods]
        answers = map(_scores, await self._ask(jobs))
        return JSONResponse({"methods": dict(zip(body.methods, answers, strict=True))})

    async def rank(self, body: schemas.RankRequest) -> Response:
        """Rank sentences by their distance to a query, exactly."""
        self.limits.check_pairs(len(body.candidates))
        pairs = [(body.query, candidate) for candidate in body.candidates]
        long = _takes_texts(body, body.method)
        self.limits.check_sentence(body.query, "the query", long=long)
        check_asked(body.query, "query")
        for number, candidate in enumerate(body.candidates):
            self.limits.check_sentence(candidate, f"candidate {number}", long=long)
        (scored,) = await self._ask([self._job(body, body.method, self.answers.distances, pairs)])
        distances = [inf if pair.distance is None else pair.distance for pair in scored]
        order = sorted(range(len(scored)), key=distances.__getitem__)
        facts = ("distance", "similarity", "reason", "unread")
        matches = [
            {"index": k, "text": body.candidates[k], **{of: getattr(scored[k], of) for of in facts}}
            for k in order[: body.top_k]
        ]
        signature = scored[0].signature
        return JSONResponse({"query": body.query, "matches": matches, "signature": signature})

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
        if not self.queues.alive:
            raise closed()
        return JSONResponse({"status": "ok"})

    async def report(self) -> Response:
        """Return counters in the format of Prometheus."""
        return Response(self.counters.text(), media_type="text/plain; version=0.0.4")

    async def _explained(
        self, body: schemas.PageRequest | schemas.ExplainRequest, *others: str
    ) -> list[Any]:
        """Explain the source with its target, and with others."""
        attention = not isinstance(body, schemas.ExplainRequest) or body.attention
        answer = self.answers.explanations(attention=attention, links=body.links)
        pairs: list[Pair] = [(body.source, target) for target in (body.target, *others)]
        return await self._paired(body, answer, pairs, every_head=True, third=bool(others))

    async def _paired(
        self,
        body: schemas.PairRequest | schemas.AlignRequest,
        answer: Answer,
        pairs: list[Pair],
        *,
        every_head: bool = False,
        third: bool = False,
    ) -> list[Any]:
        """Answer pairs that begin with the same source, each with a plan.

        What a pair has behind its two sentences is for the answer; ``third`` says that the second
        pair has a third sentence for its target.
        """
        method = body.method if isinstance(body, schemas.PairRequest) else "movers"
        by_sentences = answer in (self.answers.comparisons, self.answers.differences)
        long = by_sentences and _takes_texts(body, method)
        targets = [pair[1] for pair in (pairs if third else pairs[:1])]
        for text, what in zip((body.source, *targets), SENTENCES, strict=False):
            self.limits.check_sentence(text, what, long=long)
        job = self._job(body, method, answer, pairs, plans=True, every_head=every_head)
        (results,) = await self._ask([job], third=third)
        return results

    def _job(
        self,
        asked: schemas.ModelRequest,
        method: str,
        answer: Answer,
        pairs: list[Pair],
        **effort: bool,
    ) -> Job:
        setup = self.models.setup(asked.model, method, asked.options())
        taken = self.models.effort(setup, most_words=self.limits.max_words, **effort)
        return Job(setup, answer, pairs, taken.of_all(pairs))

    async def _ask(self, jobs: list[Job], *, third: bool = False) -> list[list[Any]]:
        """Queue jobs and wait for their results; whoever waits no longer drops them.

        ``third`` says that the target of a second pair is a third sentence.
        """
        self.queues.submit(jobs)
        try:
            async with asyncio.timeout(self.limits.timeout):
                answers = await asyncio.gather(*(asyncio.wrap_future(job.future) for job in jobs))
        except TimeoutError:
            raise late(self.limits.timeout) from None
        except (MoversError, HTTPException):
            raise
        except Exception as error:
            raise HTTPException(500, INTERNAL) from error
        finally:
            for job in jobs:
                job.future.cancel()
        for place, result in (numbered for results in answers for numbered in enumerate(results)):
            if isinstance(result, MoversError) and place and third:
                _, target, other = SENTENCES
                raise type(result)(result.message.replace(target, other), *result.remedies)
            if isinstance(result, Exception):
                raise result
        return answers


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
        await asyncio.to_thread(service.queues.close)

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
    refusals: list[Refuse] = [refuse_framing]
    if hosts is not None:
        refusals.append(partial(refuse_hosts, hosts))
    if token is not None:
        refusals.append(partial(refuse_strangers, token))
    app.add_middleware(refusing, refusals=refusals)
    app.add_middleware(GZipMiddleware, minimum_size=COMPRESSED, compresslevel=COMPRESSION)
    app.add_middleware(count_requests, counters=service.counters)
    app.add_middleware(safe_answers)
    return app


def _add_routes(app: FastAPI, service: Service, *, guarded: bool) -> None:
    security = [Security(HTTPBearer(auto_error=False))] if guarded else []  # for the document
    router = APIRouter(dependencies=security)
    asked: dict[str, Callable[..., Any]] = {
        "compare": service.compare,
        "score": service.score,
        "rank": service.rank,
        "search": service.search,
        "differences": service.differences,
        "align": service.align,
        "explain": service.explain,
        "contrast": service.contrast,
        "curve": service.curve,
    }
    listed: dict[str, Callable[..., Any]] = {
        "models": service.list_models,
        "methods": service.list_methods,
        "indexes": service.list_indexes,
    }
    for name, route in {**asked, **listed}.items():
        router.add_api_route(
            f"/v1/{name}",
            route,
            methods=["POST" if name in asked else "GET"],
            response_model=ANSWERS[f"{name.title()}Answer"],
            responses=ERRORS if name in asked else READING,
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
    for path in ("search", "docs", "texts"):
        shown = partial(_page, STATIC / f"{path}.html")
        app.add_api_route(f"/{path}", shown, include_in_schema=False)
    app.add_api_route("/", partial(_page, STATIC / "page.html"), include_in_schema=False)


async def _page(file: Path) -> FileResponse:
    return FileResponse(file)


def _texts(body: schemas.ModelRequest) -> str:
    return str(dict(body.options())["texts"])


def _takes_texts(body: schemas.ModelRequest, method: str) -> bool:
    """Return whether a request asks a measure that compares longer texts sentence by sentence."""
    return _texts(body) != "whole" and find_measure(method).by_sentences


def _scores(pairs: list[Scored]) -> dict[str, Any]:
    return {
        "distances": [pair.distance for pair in pairs],
        "similarities": [pair.similarity for pair in pairs],
        "undefined": [
            {"pair": number, "reason": pair.reason}
            for number, pair in enumerate(pairs)
            if pair.reason is not None
        ],
        "unread": [number for number, pair in enumerate(pairs) if pair.unread],
        "signature": pairs[0].signature,
    }
