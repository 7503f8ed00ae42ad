"""Requests and answers of the API, as its OpenAPI document shows them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from movers.align.aligners import DEFAULT as DEFAULT_ALIGNER
from movers.difference.guards import GUARDS, UNREAD
from movers.difference.misspelt import Spelling
from movers.explain.curve import STEPS
from movers.measures.parts.structure import Selection
from movers.measures.registry import ALIASES, JUDGES, METHODS
from movers.settings import Settings, defaults, table, types

SWAP = ("the press greets the president", "the president greets the press")
REWORDED = "the president is welcomed by the press"
QUERY = "is there a flight from London to Paris"
CANDIDATES = ["a flight from Paris to London", "a train from London to Paris", "rain in Paris"]

Bounded = Annotated[str, Field(max_length=64)] | int | Annotated[list[int], Field(max_length=64)]
Method = Annotated[
    str,
    Field(
        max_length=64,
        description="A measure; /v1/methods says what each is.",
        # Not a Literal, so that a name with a typo gets a suggestion instead of the whole list.
        json_schema_extra={"enum": [*METHODS, *JUDGES, *ALIASES]},
    ),
]
Guarded = Annotated[str, Field(max_length=64, json_schema_extra={"enum": [*GUARDS, UNREAD]})]
Sentences = Annotated[list[str], Field(min_length=2, max_length=2)]
Head = Annotated[list[int], Field(min_length=2, max_length=2)]
ANSWER_FIELDS = Path(__file__).with_name("answer_fields.toml")


def _field(description: str, default: Any = ..., **bounds: Any) -> Any:
    """Return a field, which must be there unless it has a default."""
    return Field(default, description=description, **bounds)


def _example(**values: Any) -> ConfigDict:
    return ConfigDict(strict=True, extra="forbid", json_schema_extra={"examples": [values]})


class ModelRequest(BaseModel):
    """A request that names settings."""

    model_config = ConfigDict(strict=True, extra="forbid")

    model: str | None = _field("One of /v1/models; the first if missing.", None)

    def options(self) -> tuple[tuple[str, Any], ...]:
        """Return the settings as `movers.load` names them."""
        names = [name for name, facts in table().items() if facts.http]
        values = {name: getattr(self, name) for name in names if name in type(self).model_fields}
        return tuple((name, tuple(v) if isinstance(v, list) else v) for name, v in values.items())


BOUNDED_TYPES: dict[Any, Any] = {Selection: Bounded, Selection | None: Bounded | None}
"""Types of settings that need bounds where anyone may send them."""


def setting_fields(known: type[Settings] = Settings) -> dict[str, Any]:
    """Return a field for every setting that a request may choose."""
    hints, values = types(known), defaults(known)
    fields = {}
    for name, facts in table(known).items():
        if (http := facts.http) is not None:
            low, high = http.bounds or (None, None)
            description = http.help or facts.help
            kind = http.kind or BOUNDED_TYPES.get(hints[name], hints[name])
            fields[name] = (kind, _field(description, values[name], ge=low, le=high))
    return fields


if TYPE_CHECKING:
    SettingsRequest = ModelRequest
else:
    SettingsRequest = create_model("SettingsRequest", __base__=ModelRequest, **setting_fields())
    """What the numbers depend on; the signature names all of it."""


class PairRequest(SettingsRequest):
    """Two sentences."""

    model_config = _example(source=SWAP[0], target=SWAP[1], method="movers")

    source: str = _field("The first sentence.")
    target: str = _field("The second sentence.")
    method: Method = "movers"


class CompareRequest(PairRequest):
    """Two sentences to compare."""

    spelling: Spelling = _field('"repair" compares them with their typing errors mended.', "keep")


class AlignRequest(ModelRequest):
    """Two sentences whose words to link."""

    model_config = _example(source=SWAP[0], target=REWORDED)

    source: str = _field("The first sentence.")
    target: str = _field("The second sentence.")
    aligner: str = _field("How words are linked.", DEFAULT_ALIGNER, max_length=64)


class SearchRequest(BaseModel):
    """A sentence to look for in an index."""

    model_config = _example(query=SWAP[0], top_k=3)

    query: str = _field("The sentence to look for.")
    index: str | None = _field("One of /v1/indexes; the first if missing.", None)
    top_k: int = _field("How many sentences to find.", 10, ge=1)
    within: float | None = _field("Leave out what is farther away; null for nothing.", None, ge=0)
    guards: list[Guarded] = _field(
        "Differences from the query that keep a sentence out: numbers, negation, …",
        [],
        max_length=16,
    )
    explain: int = _field("How many of the first matches to compare in full.", 0, ge=0)


LINKS = _field("Whether to link the words: which goes with which, which with none.", False)


class ExplainRequest(PairRequest):
    """Two sentences to explain."""

    links: bool = LINKS
    attention: bool = _field(
        "Whether to send the attention of every head, which is most of it.", True
    )


class ContrastRequest(ExplainRequest):
    """A sentence to hold against two others."""

    model_config = _example(source=SWAP[0], target=REWORDED, other=SWAP[1])

    other: str = _field("The third sentence.")


class PageRequest(PairRequest):
    """Two sentences to explain, or three, as a page."""

    model_config = _example(source=SWAP[0], target=REWORDED, other=SWAP[1])

    links: bool = LINKS
    other: str | None = _field("A third sentence; null for none.", None)


class CurveRequest(PairRequest):
    """Two sentences to compare at every mix."""

    model_config = _example(source=SWAP[0], target=SWAP[1], method="wsmd", steps=11)

    method: Method = "wsmd"
    steps: int = _field("How many mixes, from 0 to 1.", STEPS, ge=2, le=51)


class ScoreRequest(SettingsRequest):
    """Many pairs to compare under one or more measures."""

    model_config = _example(pairs=[SWAP, ["a dog barks", "a cat sleeps"]], methods=["wmd", "wsmd"])

    pairs: list[Sentences] = _field("The pairs, two sentences each.", min_length=1)
    methods: list[Method] = _field(
        "Measures, each of them once.", ["movers"], min_length=1, max_length=16
    )


class RankRequest(SettingsRequest):
    """A query and sentences to rank by their distance to it."""

    model_config = _example(query=QUERY, candidates=CANDIDATES, top_k=2)

    query: str = _field("The sentence that all others are compared with.")
    candidates: list[str] = _field("The sentences to rank.", min_length=1)
    top_k: int | None = _field("How many to return; null for all.", 10, ge=1)
    method: Method = "movers"


def answer_models() -> dict[str, type[BaseModel]]:
    """Make the models of answers, by name, from ``answer_fields.toml``.

    They are for the document: answers are what results say of themselves, in ``to_dict``.
    """
    models: dict[str, type[BaseModel]] = {}
    known = {"Cells": list[list[float | None]], "Head": Head, "Literal": Literal}
    for name, facts in tomllib.loads(ANSWER_FIELDS.read_text("utf-8")).items():
        fields: dict[str, Any] = {
            field.rstrip("?"): (kind, _field(description, [] if field.endswith("?") else ...))
            for field, (kind, description) in facts["fields"].items()
        }
        bases = tuple(models[base] for base in facts.get("like", ())) or (BaseModel,)
        models[name] = create_model(name, __base__=bases, __doc__=facts["about"], **fields)
        models[name].model_rebuild(_types_namespace={**known, **models})
    return models


ANSWERS = answer_models()
