"""Clients of `movers serve`: the verbs of `Scorer` and `Index`, with the same results."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import update_wrapper
from inspect import signature
from typing import Any, Generic, ParamSpec, Self, TypeVar, overload

import numpy as np

from movers.align.aligners import DEFAULT as DEFAULT_ALIGNER
from movers.align.alignment import Alignment, Link
from movers.arrays import Floats
from movers.difference.kinds import Difference
from movers.difference.misspelt import Repair, Spelling
from movers.errors import Choose, InputError, MoversError, missing
from movers.explain.compared import Broken, Flow, HeadValue, Signature
from movers.io.pairs import check_count, check_sentence, check_sentences, read_pairs
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

SIDES = ("source", "target")
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


@dataclass(frozen=True)
class Call(Generic[Result]):
    """Requests to one path, and what to make of their answers; no body is a GET."""

    path: str
    read: Callable[[list[Answer]], Result]
    bodies: Sequence[Answer | None] = (None,)


@dataclass(frozen=True, eq=False, repr=False)
class ServedComparison(Comparison):
    """A comparison that a server made: its numbers, words and differences as they were sent."""

    answer: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, answer: Answer) -> Self:
        """Read what ``/v1/compare`` answers."""
        texts = ("source", "target", "method", "mix", "source_unread", "target_unread")
        given = {name: answer[name] for name in texts}
        for name in ("distance", "linear", "structural", "sentence", "gate"):
            given[name] = _number(answer[name])
        for name in ("source_words", "target_words"):
            given[name] = tuple(answer[name])
        for name in ("source_repairs", "target_repairs"):
            given[name] = tuple(Repair(**with_tuples(one, "span")) for one in answer[name])
        heads: list[Answer] = [{k: _number(v) for k, v in one.items()} for one in answer["heads"]]
        flows = ({**one, "cost": _number(one["cost"])} for one in answer["alignment"])
        plans = np.array(answer["plan"], np.float64)[None]
        signature = Signature.parse(answer["signature"])
        made = cls(
            **given,
            plans=plans,
            cost=np.zeros((0, 0)),
            heads=tuple(HeadValue(**one) for one in heads),
            signature=signature,
            parts={name: _number(value) for name, value in answer["parts"].items()},
            answer=answer,
        )
        vars(made).update(  # what is worked out on demand elsewhere
            alignment=tuple(Flow(**one) for one in flows),
            differences=tuple(map(_difference, answer["differences"])),
            broken=tuple(
                Broken(**with_tuples(one, "source", "target")) for one in answer["broken"]
            ),
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


class Verb(Generic[P, Result]):
    """A method of both kinds of clients, made from what makes its call."""

    def __init__(self, call: Callable[P, Call[Result]]) -> None:
        self.call = call
        self.__doc__ = call.__doc__

    @overload
    def __get__(self, client: None, owner: type) -> Self: ...
    @overload
    def __get__(self, client: Client, owner: type) -> Callable[P, Result]: ...
    @overload
    def __get__(self, client: AsyncClient, owner: type) -> Callable[P, Awaitable[Result]]: ...
    def __get__(self, client: Any, owner: type) -> Any:
        if client is None:
            return self

        def ask(*args: P.args, **kwargs: P.kwargs) -> Any:
            try:
                signature(self.call).bind(*args, **kwargs)
            except TypeError as error:
                raise InputError(f"{error}; {_takes(self.call)}") from None
            return client.send(self.call(*args, **kwargs))

        return update_wrapper(ask, self.call)


def _takes(call: Callable[..., Any]) -> str:
    """Say what arguments a verb takes."""
    given = signature(call).parameters.values()
    named = [one.name for one in given if one.kind is one.KEYWORD_ONLY]
    placed = [one.name for one in given if one.kind is one.POSITIONAL_OR_KEYWORD]
    verb = f"{call.__name__.lstrip('_')} takes {', '.join(placed) or 'nothing'}"
    return f"{verb}, and by name {', '.join(named)}" if named else verb


def _compare(
    source: str, target: str, *, spelling: Spelling = "keep", **settings: Any
) -> Call[Comparison]:
    """Compare two sentences."""
    body = {"source": source, "target": target, "spelling": spelling, **settings}
    return Call("/v1/compare", lambda answers: ServedComparison.of(answers[0]), [body])


def _differences(
    source: str, target: str, *, spelling: Spelling = "keep", **settings: Any
) -> Call[tuple[Difference, ...]]:
    """Find what two sentences differ in."""
    body = {"source": source, "target": target, "spelling": spelling, **settings}

    def read(answers: list[Answer]) -> tuple[Difference, ...]:
        return tuple(map(_difference, answers[0]["differences"]))

    return Call("/v1/differences", read, [body])


def _align(
    source: str, target: str, *, aligner: str = DEFAULT_ALIGNER, **settings: Any
) -> Call[Alignment]:
    """Link the words of two sentences."""
    body = {"source": source, "target": target, "aligner": aligner, **settings}
    return Call("/v1/align", lambda answers: _alignment(answers[0]), [body])


def _scores(
    what: str,
    pairs: Any,
    targets: Iterable[str] | None = None,
    *,
    method: str = "movers",
    **settings: Any,
) -> Call[Floats]:
    """Return numbers of every pair, NaN where there is none."""
    texts = read_pairs(pairs, targets)
    chunks = (texts[low : low + PAIRS] for low in range(0, len(texts), PAIRS))
    bodies = [{"pairs": [*map(list, some)], "methods": [method], **settings} for some in chunks]

    def read(answers: list[Answer]) -> Floats:
        values = (value for answer in answers for value in answer["methods"][method][what])
        return np.array([*map(_number, values)], np.float64)

    return Call("/v1/score", read, bodies)


def _distances(pairs: Any, targets: Iterable[str] | None = None, **settings: Any) -> Call[Floats]:
    """Return distance of every pair, NaN where there is none."""
    return _scores("distances", pairs, targets, **settings)


def _similarities(
    pairs: Any, targets: Iterable[str] | None = None, **settings: Any
) -> Call[Floats]:
    """Return similarity of every pair, from 0 to 1, NaN where there is none."""
    return _scores("similarities", pairs, targets, **settings)


def _matrix(
    sources: Iterable[str], targets: Iterable[str] | None = None, **settings: Any
) -> Call[Floats]:
    """Return all distances between sources and targets, shape ``(sources, targets)``."""
    left = check_sentences(sources, "source")
    right = left if targets is None else check_sentences(targets, "target")
    call = _distances([(source, target) for source in left for target in right], **settings)
    return Call(
        call.path,
        lambda answers: call.read(answers).reshape(len(left), len(right)),
        call.bodies,
    )


def _rank(
    query: str,
    corpus: Sequence[Any],
    *,
    top_k: int | None = 10,
    key: Callable[[Any], str] | None = None,
    **settings: Any,
) -> Call[Ranking]:
    """Rank a corpus by distance to a query."""
    texts = check_sentences(corpus if key is None else map(key, corpus), "corpus sentence")
    body = {"query": query, "candidates": texts, "top_k": top_k, **settings}

    def read(answers: list[Answer]) -> Ranking:
        return Ranking(query, _matches(answers[0]), Signature.parse(answers[0]["signature"]))

    return Call("/v1/rank", read, [body])


def _search(
    query: str,
    top_k: int = 10,
    *,
    index: str | None = None,
    within: float | None = None,
    guards: str | Sequence[str] = (),
    align: int = 0,
) -> Call[SearchRanking]:
    """Find the nearest sentences of an index."""
    if isinstance(top_k, str):
        raise InputError(f"top_k is the number to find, got {top_k!r}", Choose("index", top_k))
    check_count("top_k", top_k)
    query = check_sentence(query, "query")
    body: Answer = {"query": query, "index": index, "top_k": top_k, "within": within}
    body |= {"guards": [*listed(guards)], "explain": align}
    return Call("/v1/search", lambda answers: _search_ranking(answers[0]), [body])


def _indexes() -> Call[list[Answer]]:
    """List the indexes."""
    return Call("/v1/indexes", lambda answers: answers[0]["indexes"])


def _models() -> Call[list[Answer]]:
    """List the models."""
    return Call("/v1/models", lambda answers: answers[0]["models"])


class BaseClient:
    """The part that both kinds of clients share: an address, a token and patience."""

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
        base = url.rstrip("/").removesuffix("/v1")
        self._options = {"base_url": base, "headers": headers, "timeout": timeout, **options}
        self._retries, self._pause = retries, pause

    compare, differences, align = Verb(_compare), Verb(_differences), Verb(_align)
    distances, similarities, matrix = Verb(_distances), Verb(_similarities), Verb(_matrix)
    rank, search = Verb(_rank), Verb(_search)
    indexes, models = Verb(_indexes), Verb(_models)

    def _seconds(self, tried: int, answer: httpx.Response | None) -> float | None:
        """Return seconds until another try; None if there is no point in it."""
        if tried >= self._retries or (answer is not None and answer.status_code not in BUSY):
            return None
        wanted = "" if answer is None else answer.headers.get("Retry-After", "")
        wait = float(wanted) if wanted.isdigit() else self._pause * 2**tried
        return min(LONGEST_PAUSE, wait) * random.uniform(1.0, 1.25)  # not all at once

    def _request(self, call: Call[Any], body: Answer | None) -> dict[str, Any]:
        method = "GET" if body is None else "POST"
        return {"method": method, "url": call.path, "json": body}

    def _checked(self, answer: httpx.Response | None, error: Exception | None) -> Answer:
        """Return what was answered, or an error of ours."""
        if answer is None:
            raise ServerError(f"{self._options['base_url']} does not answer: {error}") from error
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

    def __init__(self, url: str, token: str | None = None, **options: Any) -> None:
        super().__init__(url, token, **options)
        self.http = httpx.Client(**self._options)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def send(self, call: Call[Result]) -> Result:
        """Send the requests of a call, one after the other."""
        return call.read([self._sent(call, body) for body in call.bodies])

    def _sent(self, call: Call[Any], body: Answer | None) -> Answer:
        for tried in range(self._retries + 1):
            answer, error = None, None
            try:
                answer = self.http.request(**self._request(call, body))
            except httpx.TransportError as gone:
                error = gone
            pause = self._seconds(tried, answer)
            if pause is None:
                break
            time.sleep(pause)
        return self._checked(answer, error)


class AsyncClient(BaseClient):
    """`Client` for asyncio: the same verbs, to be awaited."""

    def __init__(self, url: str, token: str | None = None, **options: Any) -> None:
        super().__init__(url, token, **options)
        self.http = httpx.AsyncClient(**self._options)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.http.aclose()

    async def send(self, call: Call[Result]) -> Result:
        """Send the requests of a call, one after the other."""
        return call.read([await self._sent(call, body) for body in call.bodies])

    async def _sent(self, call: Call[Any], body: Answer | None) -> Answer:
        for tried in range(self._retries + 1):
            answer, error = None, None
            try:
                answer = await self.http.request(**self._request(call, body))
            except httpx.TransportError as gone:
                error = gone
            pause = self._seconds(tried, answer)
            if pause is None:
                break
            await asyncio.sleep(pause)
        return self._checked(answer, error)


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def with_tuples(record: Answer, *names: str) -> Answer:
    """Return a record with some of its lists as tuples."""
    lists = {name: record[name] for name in names}
    return record | {name: one if one is None else tuple(one) for name, one in lists.items()}


def _difference(answer: Answer) -> Difference:
    return Difference(**with_tuples(answer, "source_span", "target_span"))


def _alignment(answer: Answer) -> Alignment:
    links = (Link(**with_tuples(one, "source_span", "target_span")) for one in answer["links"])
    source, target = (tuple((a, b) for a, b in answer[f"{side}_spans"]) for side in SIDES)
    texts = answer["source"], answer["target"]
    return Alignment(*texts, source, target, tuple(links), answer["signature"])


def _matches(answer: Answer) -> tuple[Match, ...]:
    return tuple(map(_match, answer["matches"]))


def _match(answer: Answer) -> Match:
    similarity, unread = answer["similarity"], int(answer.get("unread", 0))
    facts = answer["index"], answer["text"], _number(answer["distance"]), similarity, unread
    if "passages" in answer:
        return TextMatch(*facts, tuple(map(_match, answer["passages"])))
    return Match(*facts)


def _search_ranking(answer: Answer) -> SearchRanking:
    return SearchRanking(
        answer["query"],
        _matches(answer),
        Signature.parse(answer["signature"]),
        Pruning(**answer["pruning"]),
        tuple(map(ServedComparison.of, answer["comparisons"])),
        answer["certified"],
        answer["bound"],
    )
