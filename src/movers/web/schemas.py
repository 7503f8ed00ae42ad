"""Requests and answers of the API, as its OpenAPI document shows them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

SWAP = ("the press greets the president", "the president greets the press")
QUERY = "is there a flight from London to Paris"
CANDIDATES = ["a flight from Paris to London", "a train from London to Paris", "rain in Paris"]

Selection = Annotated[str, Field(max_length=64)] | int | Annotated[list[int], Field(max_length=64)]
Method = Annotated[str, Field(max_length=64, description="A measure; /v1/methods lists them.")]
Sentences = Annotated[list[str], Field(min_length=2, max_length=2)]


def _example(**values: Any) -> ConfigDict:
    return ConfigDict(strict=True, extra="forbid", json_schema_extra={"examples": [values]})


class Settings(BaseModel):
    """What the numbers depend on; the signature names all of it."""

    model_config = ConfigDict(strict=True, extra="forbid")

    model: str | None = Field(None, description="One of /v1/models; the first if missing.")
    embedding: int = Field(
        -1, ge=-200, le=200, description="Layer of the word vectors: 0 is the input, -1 the last."
    )
    layers: Selection | None = Field(
        None, description='Attention layers from 1: "5", "5-12", "all", "BV" or numbers.'
    )
    heads: Selection = Field("all", description="Heads within each layer, in the same notation.")
    mix: float = Field(0.5, ge=0, le=1, description="Share of structure, the paper's lambda.")
    recipe: Literal["paper", "reference"] = "paper"
    whitening: Literal["clean", "as-coded", "none"] | None = None
    stopwords: Literal["english", "none"] = "english"
    subwords: Literal["first", "mean"] = "first"
    empty: Literal["raise", "keep", "nan"] | None = Field(
        None, description="Pairs without a proper distance: an error, what there is, or null."
    )

    def options(self) -> tuple[tuple[str, Any], ...]:
        """The settings as `movers.load` names them."""
        values = {name: getattr(self, name) for name in Settings.model_fields if name != "model"}
        if values["stopwords"] == "none":
            values["stopwords"] = None
        return tuple(
            (name, tuple(value) if isinstance(value, list) else value)
            for name, value in values.items()
        )


class CompareRequest(Settings):
    """Two sentences to compare."""

    model_config = _example(source=SWAP[0], target=SWAP[1], method="wsmd")

    source: str
    target: str
    method: Method = "wsmd"


class ScoreRequest(Settings):
    """Many pairs to compare under one or more measures."""

    model_config = _example(pairs=[SWAP, ["a dog barks", "a cat sleeps"]], methods=["wmd", "wsmd"])

    pairs: list[Sentences] = Field(min_length=1)
    methods: list[Method] = Field(["wsmd"], min_length=1, max_length=16)


class RankRequest(Settings):
    """A query and sentences to rank by their distance to it."""

    model_config = _example(query=QUERY, candidates=CANDIDATES, top_k=2)

    query: str
    candidates: list[str] = Field(min_length=1)
    top_k: int | None = Field(10, ge=1, description="How many to return; null for all.")
    method: Method = "wsmd"


class Flow(BaseModel):
    """One word on its way to another: the mass moved, and the cost of a whole unit."""

    source: str
    target: str
    mass: float
    cost: float | None


class HeadValue(BaseModel):
    """The distance under one attention head."""

    layer: int
    head: int
    value: float | None
    linear: float | None
    structural: float | None
    scale: float | None
    iterations: int
    gap: float | None


class CompareAnswer(BaseModel):
    """A distance and its reasons."""

    source: str
    target: str
    method: str
    distance: float | None
    linear: float | None
    structural: float | None
    mix: float
    source_words: list[str]
    target_words: list[str]
    plan: list[list[float]]
    alignment: list[Flow]
    heads: list[HeadValue]
    signature: str


class Undefined(BaseModel):
    """A pair without a distance, and why."""

    pair: int
    reason: str


class MethodScores(BaseModel):
    """Distances under one measure, in the order of the pairs; null where there is none."""

    distances: list[float | None]
    undefined: list[Undefined]
    signature: str


class ScoreAnswer(BaseModel):
    """Distances by measure."""

    methods: dict[str, MethodScores]


class Match(BaseModel):
    """One candidate; the distance is null, with a reason, where there is none."""

    index: int
    text: str
    distance: float | None
    reason: str | None


class RankAnswer(BaseModel):
    """Candidates, nearest first; ties in their own order, those without a distance last."""

    query: str
    matches: list[Match]
    signature: str


class ModelFacts(BaseModel):
    """A model served here."""

    name: str
    fingerprint: str
    architecture: str
    layers: int
    heads: int
    dimension: int
    max_length: int
    device: str
    dtype: str
    default_layers: str
    statistics: str | None


class ModelsAnswer(BaseModel):
    """All models; the first is the default."""

    models: list[ModelFacts]


class MethodFacts(BaseModel):
    """A measure."""

    name: str
    title: str
    paper: str
    structural: bool = Field(description="Whether attention enters it.")
    recipes: str = Field(description="How the two recipes differ, if they do.")


class MethodsAnswer(BaseModel):
    """All measures, and short names for some."""

    methods: list[MethodFacts]
    aliases: dict[str, str]


class Health(BaseModel):
    """Whether the server takes requests."""

    status: Literal["ok"]


class ErrorFacts(BaseModel):
    """What went wrong and what to do about it."""

    message: str
    type: str


class ErrorAnswer(BaseModel):
    """An error, in the one shape all routes use."""

    error: ErrorFacts
