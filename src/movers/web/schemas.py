"""Requests and answers of the API, as its OpenAPI document shows them."""

from __future__ import annotations

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
Cells = list[list[float | None]]


def _said(description: str, default: Any = ..., **bounds: Any) -> Any:
    """A field, which must be there unless it has a default."""
    return Field(default, description=description, **bounds)


def _example(**values: Any) -> ConfigDict:
    return ConfigDict(strict=True, extra="forbid", json_schema_extra={"examples": [values]})


class Asked(BaseModel):
    """A request that names settings."""

    model_config = ConfigDict(strict=True, extra="forbid")

    model: str | None = _said("One of /v1/models; the first if missing.", None)

    def options(self) -> tuple[tuple[str, Any], ...]:
        """The settings as `movers.load` names them."""
        wired = (name for name, about in table().items() if about.wire)
        chosen = [(name, getattr(self, name)) for name in wired if name in type(self).model_fields]
        return tuple((name, tuple(v) if isinstance(v, list) else v) for name, v in chosen)


WIRED: dict[Any, Any] = {Selection: Bounded, Selection | None: Bounded | None}
"""Types of settings that need bounds where anyone may send them."""


def wired(known: type[Settings] = Settings) -> dict[str, Any]:
    """A field for every setting that a request may choose."""
    hints, values = types(known), defaults(known)
    fields = {}
    for name, about in table(known).items():
        if (wire := about.wire) is not None:
            low, high = wire.bounds or (None, None)
            told = wire.help or about.help
            kind = wire.kind or WIRED.get(hints[name], hints[name])
            fields[name] = (kind, _said(told, values[name], ge=low, le=high))
    return fields


if TYPE_CHECKING:
    Chosen = Asked
else:
    Chosen = create_model("Chosen", __base__=Asked, **wired())
    """What the numbers depend on; the signature names all of it."""


class PairRequest(Chosen):
    """Two sentences."""

    model_config = _example(source=SWAP[0], target=SWAP[1], method="movers")

    source: str = _said("The first sentence.")
    target: str = _said("The second sentence.")
    method: Method = "movers"


class CompareRequest(PairRequest):
    """Two sentences to compare."""

    spelling: Spelling = _said('"repair" compares them with their typing errors mended.', "keep")


class AlignRequest(Asked):
    """Two sentences whose words to link."""

    model_config = _example(source=SWAP[0], target=REWORDED)

    source: str = _said("The first sentence.")
    target: str = _said("The second sentence.")
    aligner: str = _said("How words are linked.", DEFAULT_ALIGNER, max_length=64)


class SearchRequest(BaseModel):
    """A sentence to look for in an index."""

    model_config = _example(query=SWAP[0], top_k=3)

    query: str = _said("The sentence to look for.")
    index: str | None = _said("One of /v1/indexes; the first if missing.", None)
    top_k: int = _said("How many sentences to find.", 10, ge=1)
    within: float | None = _said("Leave out what is farther away; null for nothing.", None, ge=0)
    guards: list[Guarded] = _said(
        "Differences from the query that keep a sentence out: numbers, negation, …",
        [],
        max_length=16,
    )
    explain: int = _said("How many of the first matches to compare in full.", 0, ge=0)


LINKS = _said("Whether to link the words: which goes with which, which with none.", False)


class ExplainRequest(PairRequest):
    """Two sentences to explain."""

    links: bool = LINKS
    attention: bool = _said(
        "Whether to send the attention of every head, which is most of it.", True
    )


class ContrastRequest(ExplainRequest):
    """A sentence to hold against two others."""

    model_config = _example(source=SWAP[0], target=REWORDED, other=SWAP[1])

    other: str = _said("The third sentence.")


class PageRequest(PairRequest):
    """Two sentences to explain, or three, as a page."""

    model_config = _example(source=SWAP[0], target=REWORDED, other=SWAP[1])

    links: bool = LINKS
    other: str | None = _said("A third sentence; null for none.", None)


class CurveRequest(PairRequest):
    """Two sentences to compare at every mix."""

    model_config = _example(source=SWAP[0], target=SWAP[1], method="wsmd", steps=11)

    method: Method = "wsmd"
    steps: int = _said("How many mixes, from 0 to 1.", STEPS, ge=2, le=51)


class ScoreRequest(Chosen):
    """Many pairs to compare under one or more measures."""

    model_config = _example(pairs=[SWAP, ["a dog barks", "a cat sleeps"]], methods=["wmd", "wsmd"])

    pairs: list[Sentences] = _said("The pairs, two sentences each.", min_length=1)
    methods: list[Method] = _said(
        "Measures, each of them once.", ["movers"], min_length=1, max_length=16
    )


class RankRequest(Chosen):
    """A query and sentences to rank by their distance to it."""

    model_config = _example(query=QUERY, candidates=CANDIDATES, top_k=2)

    query: str = _said("The sentence that all others are compared with.")
    candidates: list[str] = _said("The sentences to rank.", min_length=1)
    top_k: int | None = _said("How many to return; null for all.", 10, ge=1)
    method: Method = "movers"


class Flow(BaseModel):
    """One word on its way to another."""

    source: str = _said("The word it leaves.")
    target: str = _said("The word it goes to.")
    mass: float = _said("What is moved, as a share of the sentence.")
    cost: float | None = _said("The price of a whole unit; null for a measure without word cost.")
    source_index: int = _said("Which word of the source it is, from 0.")
    target_index: int = _said("Which word of the target it is, from 0.")


class HeadParts(BaseModel):
    """What the distance under one attention head is made of."""

    layer: int = _said("Layer of the head, from 1.")
    head: int = _said("Number of the head in its layer, from 1.")
    value: float | None = _said("The distance under this head alone.")
    linear: float | None = _said("What the words cost under the plan.")
    structural: float | None = _said("What the structure costs under the plan, times the scale.")
    scale: float | None = _said("The factor k that brings structure to the scale of words.")


class HeadValue(HeadParts):
    """The distance under one attention head."""

    iterations: int = _said("Steps the solver took.")
    gap: float | None = _said("How much better the last step could have been at most.")


class Broken(BaseModel):
    """A relation between two words that their partners in the other sentence do not have."""

    source: list[str] = _said("In the first sentence: the word that looks, and what it looks at.")
    target: list[str] = _said("Their partners in the second sentence.")
    source_attention: float = _said("Share of its attention in the first, mean over heads.")
    target_attention: float = _said("Share of its attention in the second, mean over heads.")
    share: float = _said("What it costs, as a share of the distance.")


class Difference(BaseModel):
    """One thing that two sentences differ in."""

    kind: str = _said("What it is: negation, number, name, roles …")
    source: str = _said("The words in the first sentence; empty if it has none.")
    target: str = _said("The words in the second sentence likewise.")
    source_span: list[int] | None = _said("Where they stand in the first: start and end.")
    target_span: list[int] | None = _said("Where they stand in the second.")
    sure: float = _said("How sure it is, up to 1.")
    text: str = _said("The same in a plain sentence, the sentences called A and B.")


class Repair(BaseModel):
    """A word that looks misspelt, and what it was read as."""

    word: str = _said("The word as it stands.")
    instead: str = _said("What it was read as.")
    span: list[int] = _said("Where it stands in the text given: start and end.")


class TextSentence(BaseModel):
    """A sentence of a longer text."""

    text: str = _said("The sentence.")
    start: int = _said("Where it begins in the text.")
    end: int = _said("Where it ends.")
    paragraph: int = _said("The number of its paragraph.")
    part: int = _said("Number of a piece of a sentence that is too long for the model; else 0.")


class Change(BaseModel):
    """What became of a sentence of a longer text."""

    fate: str = _said("same, reworded, more, changed, missing or new.")
    source: int | None = _said("Its number in the first text; null if it is new.")
    target: int | None = _said("Its number in the second text; null if it is missing.")
    words: int = _said("Words of the longer of the two.")
    distance: float | None = _said("How far the two are apart.")
    similarity: float | None = _said("The same on a scale from 0 to 1.")
    verdict: str = _said("What the two come to; empty where there are no two.")
    moved: bool = _said("Whether it stands elsewhere among the others.")
    differences: list[Difference] = _said("What the two differ in, the graver first.")
    text: str = _said("The same in plain words.")


class Judgement(BaseModel):
    """What a judge says of two sentences."""

    judge: str = _said("Which judge.")
    says: str = _said("the same, not the same, or cannot say.")
    probability: float = _said("How probable it is that they say the same.")
    reasons: list[list[str | float]] = _said(
        "What argued for it, below 0 against it; weighty first."
    )
    text: str = _said("All of it in a sentence.")


class Compared(BaseModel):
    """Two sentences compared, in words."""

    source: str = _said("The first sentence.")
    target: str = _said("The second sentence.")
    similarity: float | None = _said("From 0, unrelated, to 1, the same; null without a scale.")
    verdict: str | None = _said("Similarity and differences in words; null without a scale.")
    judged: Judgement | None = _said("What a judge says; null if none was asked.")
    differences: list[Difference] = _said("What differs, the graver first.")
    story: list[str] = _said("What differs and what was not compared, in plain sentences.")
    figures: list[str] = _said("Where the distance comes from, in sentences with numbers.")
    source_words: list[str] = _said("Words compared of the first sentence.")
    target_words: list[str] = _said("Words compared of the second sentence.")
    source_unread: str = _said("The end of the first sentence that the model does not read.")
    target_unread: str = _said("The end of the second sentence likewise.")
    signature: str = _said("All settings that change the number.")


class CompareAnswer(Compared):
    """A distance and its reasons."""

    method: str = _said("Full name of the measure.")
    distance: float | None = _said("The distance, small for similar; null where there is none.")
    sentence: float | None = _said("What the sentence vectors are apart; 0 if not looked at.")
    gate: float | None = _said("How much the rest counts, from 0 to 1; 1 if there is no gate.")
    linear: float | None = _said("Its part of the words, mean over heads.")
    structural: float | None = _said("Its part of the structure, mean over heads.")
    home: float | None = _said("Its part of words that match nothing; null where all must move.")
    parts: dict[str, float | None] = _said("What the distance adds up from, by name.")
    mix: float = _said("Share of the structural part.")
    source_repairs: list[Repair] = _said("Typing errors mended in the first sentence.")
    target_repairs: list[Repair] = _said("Typing errors mended in the second sentence.")
    plan: list[list[float]] = _said("Mass from each word to each, mean over heads.")
    broken: list[Broken] = _said("Relations whose loss costs most, dearest first.")
    alignment: list[Flow] = _said("The larger flows of the plan, in the order of the source.")
    heads: list[HeadValue] = _said("The distance head by head; empty without structure.")
    sentences: list[list[TextSentence]] = _said("Of longer texts: their sentences.", [])
    changes: list[Change] = _said("Of longer texts: what became of every sentence.", [])


class WordsPart(BaseModel):
    """The words alone, without structure."""

    method: str = _said("The measure of the words.")
    distance: float | None = _said("The distance of the words alone.")
    chance: float | None = _said("What it would be if every word went everywhere.")
    plan: Cells = _said("Cells that hold mass: source word, target word, mass.")


CHANCE = "The distance if every word went everywhere; for movers, that of unrelated sentences."


class HeadPart(HeadParts):
    """The distance under one head, with what the page draws of it."""

    home: float | None = _said("What words that match nothing pay; 0 where all must move.")
    chance: float | None = _said(CHANCE)
    plan: Cells = _said("Cells that hold mass: source word, target word, mass, price of structure.")
    source_attention: str = _said("Attention in the source, row by row, as base64 of a byte each.")
    target_attention: str = _said("Attention in the target likewise; empty if too long to draw.")


class StructurePart(BaseModel):
    """The distance with structure."""

    method: str = _said("Full name of the measure.")
    distance: float | None = _said("The distance, mean over the heads selected.")
    sentence: float | None = _said("Its part of the sentence vectors; null for a measure without.")
    gate: float = _said("How much the rest counts, from 0 to 1; 1 for a measure without a gate.")
    linear: float | None = _said("Its part of the words.")
    structural: float | None = _said("Its part of the structure.")
    mix: float = _said("Share of the structural part that was asked for.")
    shares: list[float] = _said("How much words and structure count in the distance.")
    chance: float | None = _said(CHANCE)
    trust: Cells | None = _said("How sure each move is; null for a measure that trusts all.")
    selected: list[Head] = _said("Heads that make the distance, each as layer and number.")
    heads: list[HeadPart] = _said("Every head of the model.")


class Pieces(BaseModel):
    """Two sentences cut up."""

    source_parts: list[list[str | int | None]] = _said(
        "The first sentence in pieces of text, each with the number of its word or null."
    )
    target_parts: list[list[str | int | None]] = _said("The second sentence likewise.")


class LinksPart(Pieces):
    """Which word goes with which, all words of both sentences taken."""

    source_words: list[str] = _said("All words of the first sentence.")
    target_words: list[str] = _said("All words of the second sentence.")
    links: Cells = _said("Links: source word, target word, confidence from 0 to 1.")
    unmatched_source: list[int] = _said("Words of the first sentence that match nothing.")
    unmatched_target: list[int] = _said("Words of the second sentence that match nothing.")
    signature: str = _said("All settings that change a link.")


class ExplainAnswer(Compared, Pieces):
    """What the page shows."""

    far: float | None = _said("Distance of unrelated sentences; null if that is not known.")
    source_weights: list[float | None] = _said("Mass of each word of the first sentence.")
    target_weights: list[float | None] = _said("Mass of each word of the second sentence.")
    home: float | None = _said("What words that match nothing pay; null where all must move.")
    cost: Cells = _said("Price of each word pair; empty for a measure without word cost.")
    words: WordsPart | None = _said("The words alone; null for a measure without word cost.")
    structure: StructurePart | None = _said("With structure; null for a measure without.")
    links: LinksPart | None = _said("The words linked; null unless asked for.")
    model: str | None = _said("The model and its fingerprint.")
    settings: dict[str, str] = _said("The signature by name.")


class ContrastAnswer(BaseModel):
    """Two explanations, and which of the two is nearer."""

    verdict: str | None = _said("Which is nearer, and by what; null if that cannot be said.")
    first: ExplainAnswer = _said("The source, A, and the target, B.")
    second: ExplainAnswer = _said("The source, A, and the other sentence, C.")


class CurveAnswer(BaseModel):
    """A distance at every mix of words and structure."""

    mixes: list[float] = _said("Shares of structure, from 0 to 1.")
    distances: list[float | None] = _said("The distance at each.")
    linear: list[float | None] = _said("What the words cost at each.")
    structural: list[float | None] = _said("What the structure costs at each.")
    home: list[float] = _said("What words that match nothing pay at each; 0 where all must move.")
    plans: list[Cells] = _said(
        "The plan at each, mean over the heads: source word, target word, mass, price of structure."
    )
    moved: list[float] = _said("Share of the sentence that goes elsewhere than one step before.")


class Undefined(BaseModel):
    """A pair without a distance."""

    pair: int = _said("Number of the pair, from 0.")
    reason: str = _said("Why it has none, and what would help.")


class MethodScores(BaseModel):
    """Distances under one measure."""

    distances: list[float | None] = _said("In the order of the pairs; null where there is none.")
    similarities: list[float | None] = _said(
        "From 0, unrelated, to 1, the same; null without a scale or a distance."
    )
    undefined: list[Undefined] = _said("The pairs without a distance.")
    unread: list[int] = _said("Pairs with a sentence whose end the model does not read.")
    signature: str = _said("All settings that change the numbers.")


class ScoreAnswer(BaseModel):
    """Distances by measure."""

    methods: dict[str, MethodScores] = _said("Distances by the names that were asked for.")


class Match(BaseModel):
    """One candidate."""

    index: int = _said("Its number among the candidates, from 0.")
    text: str = _said("The candidate itself.")
    distance: float | None = _said("Its distance to the query; null where there is none.")
    similarity: float | None = _said("From 0, unrelated, to 1, the same; null without a scale.")
    reason: str | None = _said("Why there is none.")
    unread: bool = _said("Whether it or the query has an end that the model does not read.")


class RankAnswer(BaseModel):
    """Candidates by distance."""

    query: str = _said("The query.")
    matches: list[Match] = _said(
        "Nearest first; ties in their own order, those without a distance last."
    )
    signature: str = _said("All settings that change the numbers.")


class DifferencesAnswer(BaseModel):
    """What two sentences differ in."""

    source: str = _said("The first sentence.")
    target: str = _said("The second sentence.")
    differences: list[Difference] = _said("What differs, the graver first.")
    source_repairs: list[Repair] = _said("Typing errors mended in the first sentence.")
    target_repairs: list[Repair] = _said("Typing errors mended in the second sentence.")
    signature: str = _said("All settings that change what is found.")


class Link(BaseModel):
    """Two words that go together."""

    source_index: int = _said("Which word of the first sentence it is, from 0.")
    target_index: int = _said("Which word of the second sentence it is, from 0.")
    source: str = _said("The word of the first sentence.")
    target: str = _said("The word of the second sentence.")
    source_span: list[int] = _said("Where it stands in the first: start and end.")
    target_span: list[int] = _said("Where it stands in the second.")
    mass: float = _said("How much of the two goes to each other, from 0 to 1.")
    cost: float = _said("One minus the cosine of the two.")
    confidence: float = _said("How sure the link is, from 0 to 1.")


class AlignAnswer(BaseModel):
    """The words of two sentences, linked."""

    source: str = _said("The first sentence.")
    target: str = _said("The second sentence.")
    source_words: list[str] = _said("All words of the first sentence.")
    target_words: list[str] = _said("All words of the second sentence.")
    source_spans: list[list[int]] = _said("Where they stand in the first: start and end.")
    target_spans: list[list[int]] = _said("Where they stand in the second.")
    links: list[Link] = _said("The links, by word of the first sentence.")
    unmatched_source: list[int] = _said("Words of the first sentence that match nothing.")
    unmatched_target: list[int] = _said("Words of the second sentence that match nothing.")
    pharaoh: str = _said("The links as pairs of word numbers.")
    signature: str = _said("All settings that change a link.")


class SearchMatch(BaseModel):
    """A sentence of an index."""

    index: int = _said("Its number in this state of the index, from 0.")
    text: str = _said("The sentence.")
    distance: float | None = _said("Its distance to the query; null where there is none.")
    similarity: float | None = _said("From 0, unrelated, to 1, the same; null without a scale.")


class SearchAnswer(BaseModel):
    """The nearest sentences of an index."""

    query: str = _said("The query.")
    index: str = _said("Name of the index.")
    state: str = _said("Which state of the index answered; another one after every change.")
    sentences: int = _said("How many sentences it had.")
    matches: list[SearchMatch] = _said("Nearest first, ties in the order of the index.")
    certified: bool = _said("Whether no sentence that was left out can belong here.")
    bound: float | None = _said("Else what no sentence not compared is nearer than.")
    compared: int = _said("Sentences that were fully compared.")
    pruning: dict[str, float] = _said("What became of the others, and processor time.")
    recall: float | None = _said("Always null: all searches here are exact.")
    comparisons: list[CompareAnswer] = _said("The first matches with their reasons.")
    far: float | None = _said("Distance of unrelated sentences; null if that is not known.")
    signature: str = _said("All settings that change the numbers.")


class IndexFacts(BaseModel):
    """An index served here."""

    name: str = _said("What requests call it.")
    sentences: int = _said("How many sentences it has.")
    state: str = _said("Another one after every change.")
    method: str = _said("The measure it was built for.")
    signature: str = _said("All settings that change its numbers.")


class IndexesAnswer(BaseModel):
    """All indexes."""

    indexes: list[IndexFacts] = _said("The indexes; the first is the default.")


class ModelFacts(BaseModel):
    """A model served here."""

    name: str = _said("What requests call it.")
    fingerprint: str = _said("Eight hex digits that pin the weights.")
    architecture: str = _said("Class of the model.")
    layers: int = _said("Attention layers.")
    heads: int = _said("Heads in each layer; 0 for a model without attention.")
    dimension: int = _said("Length of a word vector.")
    max_length: int = _said("Tokens of a sentence that the model can read.")
    device: str = _said("Where it computes.")
    dtype: str = _said("In which precision.")
    default_layers: str = _said("Attention layers used where a request names none.")
    statistics: str | None = _said("What whitening and the like were fitted on; null for nothing.")


class ModelsAnswer(BaseModel):
    """All models."""

    models: list[ModelFacts] = _said("The models; the first is the default.")


class MethodFacts(BaseModel):
    """A measure."""

    name: str = _said("What requests call it.")
    title: str = _said("What it is, in a few words.")
    paper: str = _said("Where it was published.")
    structural: bool = _said("Whether attention enters it.")
    settings: list[str] = _said("Settings that change its numbers, of those not all measures have.")
    missing: dict[str, str] = _said("What it lacks here, by model; empty if it can be used.")
    recipes: str = _said("How the two recipes differ, if they do.")


class MethodsAnswer(BaseModel):
    """All measures, and short names for some."""

    methods: list[MethodFacts] = _said("The measures.")
    aliases: dict[str, str] = _said("Full names by short name.")


class Health(BaseModel):
    """Whether the server takes requests."""

    status: Literal["ok"] = _said("Always ok; a server that is not answers 503.")


class ErrorFacts(BaseModel):
    """What went wrong and what to do about it."""

    message: str = _said("For people who send requests.")
    spoken: str = _said("For readers of the page, in the words of its controls.")
    type: str = _said("For programs: the status in words.")


class ErrorAnswer(BaseModel):
    """An error, in the one shape all routes use."""

    error: ErrorFacts = _said("The error.")
