"""Clients of `movers serve`: the verbs of `Scorer` and `Index`, with the same results."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from inspect import isawaitable
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, get_args, get_type_hints

import numpy as np

from movers.align.aligners import DEFAULT as DEFAULT_ALIGNER
from movers.align.alignment import Alignment
from movers.arrays import Floats
from movers.difference.kinds import Difference
from movers.difference.misspelt import Spelling
from movers.errors import Choose, InputError, MoversError, missing
from movers.explain.compared import Broken, Compared, Flow, Signature
from movers.io.pairs import check_count, check_sentence, check_sentences, read_pairs
from movers.measures.registry import find_measure
from movers.results import Comparison, Match, Ranking
from movers.search.keep_apart import listed
from movers.search.passages import TextMatch
from movers.search.search_ranking import Pruning, SearchRanking

try:
    import httpx
except ModuleNotFoundError:
    raise missing("httpx", "a client") from None

Result = TypeVar("Result")
P = ParamSpec("P")
Answer = dict[str, Any]

PAIRS = 500
"""Pairs sent at a time."""
BUSY = (429, 503)
NOT_FOUND = "Not Found"
"""What any server says of a path that it does not have."""
LONGEST_PAUSE = 30.0


class ServerError(MoversError):
    """A server could not answer; ``status`` is what it said, 0 if it said nothing."""

    def __init__(self, message: str = "", status: int = 0) -> None:
        super().__init__(message)
        self.status = status


def read(kind: type[Result], value: Any) -> Result:
    """Return a value of JSON as a type of results has it, with tuples, and NaN for null."""
    made, parts = value, get_args(kind)
    if kind is float and value is None:
        made = float("nan")
    elif kind is Signature:
        made = Signature.parse(value)
    elif is_dataclass(kind):
        made = kind(**_fields(kind, value))
    elif isinstance(value, dict) and parts:
        made = {name: read(parts[1], one) for name, one in value.items()}
    elif isinstance(value, list):
        made = tuple(read(parts[0], one) for one in value) if ... in parts else tuple(value)
    return made  # type: ignore[no-any-return]


def _fields(kind: type, value: Answer) -> Answer:
    """Return what there is of the fields of a dataclass."""
    hints = get_type_hints(kind)
    return {name: read(hints[name], one) for name, one in value.items() if name in hints}


@dataclass(frozen=True, eq=False, repr=False)
class ServedComparison(Comparison):
    """A comparison that a server made: its numbers, words and differences as they were sent."""

    answer: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, answer: Answer) -> Self:
        """Read what ``/v1/compare`` answers."""
        plans, cost = np.array(answer["plan"], np.float64)[None], np.zeros((0, 0))
        made = cls(**_fields(Compared, answer), plans=plans, cost=cost, answer=answer)
        vars(made).update(  # what is worked out on demand elsewhere
            alignment=read(tuple[Flow, ...], answer["alignment"]),
            differences=read(tuple[Difference, ...], answer["differences"]),
            broken=read(tuple[Broken, ...], answer["broken"]),
        )
        return made

    similarity = property(lambda self: self.answer["similarity"])
    verdict = property(lambda self: self.answer["verdict"])
    judgement = property(lambda self: self.answer["judged"])
    story = property(lambda self: tuple(self.answer["story"]))
    figures = property(lambda self: tuple(self.answer["figures"]))

    def to_html(self) -> str:
        """Refuse: the page needs what is not sent."""
        raise InputError("a comparison from a server has no attention to draw; ask its page for it")


class BaseClient:
    """The part that both kinds of clients share: an address, a token and patience."""

    _made_by: Callable[..., Any]
    _sleep: Callable[[float], Any]

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        retries: int = 5,
        pause: float = 0.25,
        timeout: float = 60.0,
        **options: Any,
    ) -> None:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._base, self._retries, self._pause = url.rstrip("/").removesuffix("/v1"), retries, pause
        self.http = self._made_by(base_url=self._base, headers=headers, timeout=timeout, **options)

    async def _read(
        self, path: str, reader: Callable[..., Result], bodies: Sequence[Answer | None]
    ) -> Result:
        """Send requests, one after the other, and read all answers together."""
        return reader(*[await self._sent(path, body) for body in bodies])

    async def _sent(self, path: str, body: Answer | None) -> Answer:
        """Send a request, a GET without a body, until it is answered or out of tries.

        Nothing is awaited unless ``http`` wants it.
        """
        for tried in range(self._retries + 1):
            answer, error = None, None
            try:
                answer = self.http.request("GET" if body is None else "POST", path, json=body)
                answer = await answer if isawaitable(answer) else answer
            except httpx.TransportError as gone:
                answer, error = None, gone
            pause = self._seconds(tried, answer)
            if pause is None:
                break
            if isawaitable(slept := self._sleep(pause)):
                await slept
        return self._checked(answer, error)

    def _seconds(self, tried: int, answer: httpx.Response | None) -> float | None:
        """Return seconds until another try; None if there is no point in it."""
        if tried >= self._retries or (answer is not None and answer.status_code not in BUSY):
            return None
        wanted = "" if answer is None else answer.headers.get("Retry-After", "")
        wait = float(wanted) if wanted.isdigit() else self._pause * 2**tried
        return min(LONGEST_PAUSE, wait) * random.uniform(1.0, 1.25)  # not all at once

    def _checked(self, answer: httpx.Response | None, error: Exception | None) -> Answer:
        """Return what was answered, or an error of ours."""
        if answer is None:
            raise ServerError(f"{self._base} does not answer: {error}") from error
        if answer.is_success:
            return answer.json()  # type: ignore[no-any-return]
        try:
            message = str(answer.json()["error"]["message"])
        except (ValueError, KeyError, TypeError):
            message = f"the server answered {answer.status_code}"
        if answer.status_code == 404 and message == NOT_FOUND:
            message = f"no movers answers at {answer.url}; pass the address of the server alone"
        if answer.status_code == 422:
            raise InputError(message)
        raise ServerError(message, answer.status_code)


class Client(BaseClient):
    """A client of `movers serve`, with the verbs of `Scorer` and `Index`.

    Requests that are turned away (429, 503) or find nobody are sent again after a pause, as long as
    the server asks for or doubling.

    Parameters
    ----------
    url
        Address of the server, with or without ``/v1`` behind it.
    token
        What it wants as a bearer token.
    retries, pause
        How often to try again, and seconds before the first time.
    timeout
        Seconds to wait for an answer.
    options
        Further arguments of `httpx.Client`.
    """

    _made_by, _sleep = httpx.Client, staticmethod(time.sleep)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def send(self, path: str, reader: Callable[..., Result], *bodies: Answer | None) -> Result:
        """Send requests to one path, and read all answers together."""
        try:
            self._read(path, reader, bodies).send(None)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        raise AssertionError("a request was to be awaited")

    def compare(
        self, /, source: str, target: str, *, spelling: Spelling = "keep", **settings: Any
    ) -> Comparison:
        """Compare two sentences."""
        body = {"source": source, "target": target, "spelling": spelling, **settings}
        return self.send("/v1/compare", ServedComparison.of, body)

    def differences(
        self, /, source: str, target: str, *, spelling: Spelling = "keep", **settings: Any
    ) -> tuple[Difference, ...]:
        """Find what two sentences differ in."""
        body = {"source": source, "target": target, "spelling": spelling, **settings}
        kind = tuple[Difference, ...]
        return self.send("/v1/differences", lambda answer: read(kind, answer["differences"]), body)

    def align(
        self, /, source: str, target: str, *, aligner: str = DEFAULT_ALIGNER, **settings: Any
    ) -> Alignment:
        """Link the words of two sentences."""
        body = {"source": source, "target": target, "aligner": aligner, **settings}
        return self.send("/v1/align", lambda answer: read(Alignment, answer), body)

    def distances(
        self, /, pairs: Any, targets: Iterable[str] | None = None, **settings: Any
    ) -> Floats:
        """Return distance of every pair, NaN where there is none."""
        return self.send("/v1/score", *_score("distances", read_pairs(pairs, targets), **settings))

    def similarities(
        self, /, pairs: Any, targets: Iterable[str] | None = None, **settings: Any
    ) -> Floats:
        """Return similarity of every pair, from 0 to 1, NaN where there is none."""
        texts = read_pairs(pairs, targets)
        return self.send("/v1/score", *_score("similarities", texts, **settings))

    def matrix(
        self,
        /,
        sources: Iterable[str],
        targets: Iterable[str] | None = None,
        *,
        method: str = "movers",
        **settings: Any,
    ) -> Floats:
        """Return all distances between sources and targets, shape ``(sources, targets)``."""
        left = check_sentences(sources, "source")
        right = left if targets is None else check_sentences(targets, "target")
        mirrored = targets is None and _symmetric(method)
        cells = np.ones((len(left), len(right)), bool)
        rows, columns = np.nonzero(np.triu(cells) if mirrored else cells)
        pairs = [(left[i], right[j]) for i, j in zip(rows, columns, strict=True)]
        reader, *bodies = _score("distances", pairs, method=method, **settings)

        def placed(*answers: Answer) -> Floats:
            matrix = np.zeros(cells.shape)
            matrix[rows, columns] = distances = reader(*answers)
            if mirrored:
                matrix[columns, rows] = distances
            return matrix

        return self.send("/v1/score", placed, *bodies)

    def rank(
        self,
        /,
        query: str,
        corpus: Sequence[Any],
        *,
        top_k: int | None = 10,
        key: Callable[[Any], str] | None = None,
        **settings: Any,
    ) -> Ranking:
        """Rank a corpus by distance to a query."""
        texts = check_sentences(corpus if key is None else map(key, corpus), "corpus sentence")
        body = {"query": query, "candidates": texts, "top_k": top_k, **settings}
        return self.send("/v1/rank", lambda answer: Ranking(**_ranked(answer)), body)

    def search(
        self,
        query: str,
        top_k: int = 10,
        *,
        index: str | None = None,
        within: float | None = None,
        guards: str | Sequence[str] = (),
        align: int = 0,
    ) -> SearchRanking:
        """Find the nearest sentences of an index."""
        if isinstance(top_k, str):
            raise InputError(f"top_k is the number to find, got {top_k!r}", Choose("index", top_k))
        check_count("top_k", top_k)
        query = check_sentence(query, "query")
        body: Answer = {"query": query, "index": index, "top_k": top_k, "within": within}
        body |= {"guards": [*listed(guards)], "explain": align}

        def reader(answer: Answer) -> SearchRanking:
            return SearchRanking(
                **_ranked(answer),
                pruning=Pruning(**answer["pruning"]),
                comparisons=tuple(map(ServedComparison.of, answer["comparisons"])),
                certified=answer["certified"],
                bound=answer["bound"],
            )

        return self.send("/v1/search", reader, body)

    def indexes(self) -> list[Answer]:
        """List the indexes."""
        return self.send("/v1/indexes", lambda answer: answer["indexes"], None)

    def models(self) -> list[Answer]:
        """List the models."""
        return self.send("/v1/models", lambda answer: answer["models"], None)


def awaited(
    method: Callable[Concatenate[Client, P], Result],
) -> Callable[Concatenate[AsyncClient, P], Awaitable[Result]]:
    """Return a verb of `Client` as one of `AsyncClient`, whose `send` is to be awaited."""
    return method  # type: ignore[return-value]


class AsyncClient(BaseClient):
    """`Client` for asyncio: the same verbs, to be awaited."""

    _made_by, _sleep = httpx.AsyncClient, staticmethod(asyncio.sleep)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.http.aclose()

    async def send(self, path: str, reader: Callable[..., Any], *bodies: Answer | None) -> Any:
        """Send requests to one path, and read all answers together."""
        return await self._read(path, reader, bodies)

    compare, differences = awaited(Client.compare), awaited(Client.differences)
    align, distances = awaited(Client.align), awaited(Client.distances)
    similarities, matrix = awaited(Client.similarities), awaited(Client.matrix)
    rank, search = awaited(Client.rank), awaited(Client.search)
    indexes, models = awaited(Client.indexes), awaited(Client.models)


def _score(
    what: str, pairs: Sequence[tuple[str, str]], *, method: str = "movers", **settings: Any
) -> tuple[Any, ...]:
    """Return what reads numbers of every pair, NaN for none, and the requests for them."""

    def reader(*answers: Answer) -> Floats:
        values = (value for answer in answers for value in answer["methods"][method][what])
        return np.array([*values], np.float64)

    some = (pairs[low : low + PAIRS] for low in range(0, len(pairs), PAIRS))
    bodies = [{"pairs": [*map(list, part)], "methods": [method], **settings} for part in some]
    return reader, *bodies


def _symmetric(method: str) -> bool:
    """Tell whether a measure is known, here too, to be the same in both directions."""
    try:
        return find_measure(method).symmetric
    except MoversError:
        return False


def _ranked(answer: Answer) -> Answer:
    """Read what all rankings have; their texts may come with the nearest sentences."""
    matches = (read(TextMatch if "passages" in one else Match, one) for one in answer["matches"])
    signature = Signature.parse(answer["signature"])
    return {"query": answer["query"], "matches": tuple(matches), "signature": signature}
