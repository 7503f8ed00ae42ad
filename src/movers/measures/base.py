"""What a measure is: what it reads of sentences, how it weighs and compares them, and why.

A measure is an object. The registry holds them unbound, with names and choices of their own;
`Measure.bind` makes one that knows a model, its statistics and a user's settings, and that one is
asked for everything: what of a sentence it reads (`requirements`), sentences ready to be compared
(`weigh`), numbers (`distances`), reasons (`explain`), a lower bound for search (`bound`), what it
learns from a corpus (`fit`) and what its numbers depend on (`signature`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from movers.arrays import Floats, Ints, Ragged
from movers.encode.encodings import Encodings, Head, Request
from movers.encode.tokens import Recipe, Subwords, TokenRules, Unit
from movers.encode.whiten import Whitening
from movers.errors import Choose, Do, InputError
from movers.explain.compared import WordPlan
from movers.measures.bounds import Bound
from movers.measures.parts.context import Context
from movers.measures.parts.costs import norms_of
from movers.measures.parts.statistics import Statistics
from movers.measures.parts.structure import describe_heads
from movers.measures.parts.word_tables import load_frequencies
from movers.measures.sentences import (
    FREQUENCY_WEIGHTS,
    FitCorpus,
    WeightedSentences,
    normalised,
    raw_weights,
)
from movers.results import Comparison, HeadValue
from movers.runtime.notices import UnfittedWarning, notify
from movers.solve.solution import Many, Solution, linear_solution, pick

SOURCE_EMPTY, TARGET_EMPTY = 1, 2
"""Why a pair has no proper distance: one side has no words left."""
WORDS_ONLY: frozenset[str] = frozenset()
"""Stop words that are none, so that punctuation alone is left out."""
SETTINGS = ("embedding", "layers", "heads", "mix", "null", "stopwords", "parser")
"""Settings that do not concern every measure, in the order in which they are named."""


@dataclass(frozen=True)
class Measure(ABC):
    """A distance between sentences.

    Parameters
    ----------
    name
        What users type.
    title
        What it is, in a few words.
    paper
        Where it was published.
    weights
        Row of `movers.measures.sentences.WEIGHTS`.
    unit, stopwords, whitened
        What is compared: words, pieces or tokens; without stop words (True), with all words
        but without punctuation, or with everything (False); whitened.
    layer
        Embedding layer, where the measure does not leave the choice; ``"middle"`` is half-way up.
    symmetric
        Whether source and target may change places: to rounding, and where structure enters up
        to the local minimum that is found.
    recipes
        How the two recipes differ, in a line.
    reference
        The measure for the reference recipe where it is another one.
    base
        Name of the word measure that one with structure builds on.
    parsed
        Whether dependency trees enter it.
    word_part
        Whether it reports the words alone of a measure with structure.
    bound_to
        Model, statistics and settings; see `bind`.
    """

    name: str
    title: str
    paper: str = ""
    weights: str = "uniform"
    unit: Unit = "word"
    stopwords: bool | Literal["punctuation"] = True
    whitened: bool = True
    layer: int | Literal["middle"] | None = None
    symmetric: bool = True
    recipes: str = ""
    reference: Measure | None = None
    base: str | None = None
    parsed: bool = False
    word_part: bool = False
    bound_to: Context | None = field(default=None, repr=False, compare=False)

    reads_vectors: ClassVar[bool] = True
    reads_attention: ClassVar[bool] = False
    reads_pooled: ClassVar[bool] = False
    by_head: ClassVar[bool] = False
    """Whether every head has a distance of its own, so that heads may be chosen afterwards."""
    by_sentences: ClassVar[bool] = False
    """Whether it compares longer texts sentence by sentence; takes `far` and a `CosineBound`."""
    asks_judge: ClassVar[bool] = False
    """Whether a comparison has the verdict of a judge beside it, where one ships."""

    # unbound: what it is called, and what users can choose

    def under(self, recipe: Recipe) -> Measure:
        """Return the measure that a recipe picks."""
        return self.reference if recipe == "reference" and self.reference else self

    def bind(self, context: Context) -> Self:
        """Return this measure with a model, statistics and settings to work with."""
        return replace(self, bound_to=context)

    @property
    def settings(self) -> tuple[str, ...]:
        """Settings that mean something to it, of those that do not to every measure."""
        concern = self._settings()
        return tuple(name for name in SETTINGS if name in concern)

    def _settings(self) -> set[str]:
        means = {
            "embedding": self.reads_vectors and self.layer is None,
            "layers": self.reads_attention,
            "heads": self.reads_attention,
            "stopwords": self.stopwords is True,
            "parser": self.parsed,
        }
        return {name for name, does in means.items() if does}

    def token_rules(
        self, stopwords: frozenset[str] | None, recipe: Recipe, subwords: Subwords, *, keep: bool
    ) -> TokenRules:
        """Return which words it compares.

        Parameters
        ----------
        stopwords
            Words to leave out where the measure leaves any out; None for none.
        recipe, subwords
            As in the settings.
        keep
            Whether a sentence of stop words keeps them.
        """
        kept = stopwords if self.stopwords else None
        return TokenRules(
            stopwords=WORDS_ONLY if self.stopwords == "punctuation" else kept,
            recipe=recipe,
            subwords=subwords,
            unit=self.unit,
            keep_empty=keep,
        )

    def describe(self) -> dict[str, Any]:
        """Return what users may want to know of it, as plain values."""
        facts = ("name", "title", "paper", "recipes", "weights", "unit", "symmetric", "base")
        return {**{fact: getattr(self, fact) for fact in facts}, "settings": list(self.settings)}

    def missing(self, context: Context) -> str | None:
        """Name what a context lacks for it: "attention", "parser" or "statistics"."""
        if self.reads_attention and not context.encoder.heads:
            return "attention"
        if self.parsed and context.parser is None:
            return "parser"
        return None

    # bound: what it reads

    @property
    def context(self) -> Context:
        """Model, statistics and settings; refuses a measure without."""
        if self.bound_to is None:
            raise InputError(f"{self.name} is not bound to a model; make a scorer with load")
        return self.bound_to

    @cached_property
    def embedding(self) -> int:
        """Layer of the word vectors; 0 is the input layer."""
        encoder = self.context.encoder
        layer, count = self.context.embedding if self.layer is None else self.layer, encoder.layers
        if layer == "middle":
            return count // 2
        if not -count - 1 <= layer <= count:
            raise InputError(
                f"embedding layer {layer} is out of range; {encoder.name} has 0 (input) to {count}"
            )
        return layer % (count + 1)

    @property
    def heads(self) -> tuple[Head, ...]:
        """Attention heads it reads, as (layer, head) counted from 1."""
        return ()

    @property
    def pinned_heads(self) -> dict[str, list[int] | str | None]:
        """Settings of layers and heads that read the same heads whatever the defaults become."""
        layers, heads = ({head[side] for head in self.heads} for side in (0, 1))
        return {"layers": sorted(layers) or None, "heads": sorted(heads) or "all"}

    @property
    def share(self) -> float:
        """Share of structure in the distance."""
        return 0.0

    @cached_property
    def requirements(self) -> Request:
        """What of a sentence enters the distance."""
        embeddings = (self.embedding,) if self.reads_vectors else ()
        return Request(embeddings, self.heads, self.context.rules, self.reads_pooled)

    def fit_request(self, embeddings: tuple[int, ...]) -> Request:
        """Return what fitting keeps of a sentence: what comparing it will need, if known yet."""
        layers = self.context.layers
        by_variability = isinstance(layers, str) and layers.upper() == "BV"
        heads = () if by_variability else self.heads
        return Request(embeddings, heads, self.context.rules, self.reads_pooled)

    # whitening

    @property
    def whitening(self) -> Mapping[int, Whitening]:
        """What is done to word vectors, by layer; empty if they are taken as they are."""
        wanted = self.whitened and self.context.whitening != "none"
        return self.context.statistics.whitening if wanted else {}

    @cached_property
    def whitening_key(self) -> str:
        """Names what is done to vectors, so that only scorers that do the same share them."""
        if self.whitened and self.context.whitening != "none":
            self._check_whitening()
        known = sorted(self.whitening.items())
        return ",".join(f"{layer}:{white.digest}" for layer, white in known)

    def _check_whitening(self) -> None:
        """Warn of layers that are not whitened for want of a fit; refuse the wrong kind."""
        context = self.context
        for layer in self.requirements.embeddings:
            whitening = self.whitening.get(layer)
            if whitening is None and layer not in context.warned:
                context.warned.add(layer)
                notify(
                    f"no whitening statistics for layer {layer} of {context.encoder.name}: word "
                    "vectors are used as they are. Models differ in which is better, so try both "
                    "on labelled pairs:",
                    UnfittedWarning,
                    Do("fit", "for the paper's whitening"),
                    Choose("whitening", "none", "to stay with this and silence the warning"),
                )
            elif whitening is not None and context.whitening not in (None, whitening.kind):
                raise InputError(
                    f"whitening {context.whitening!r} was asked for, but the statistics at "
                    f"hand are {whitening.kind!r}",
                    Do("fit"),
                )

    def whiten(self, encodings: Encodings) -> None:
        """Whiten word vectors in place."""
        for layer, whitening in self.whitening.items():
            if layer in encodings.vectors:
                whitening.apply(encodings.vectors[layer].data, self.context.threads)

    # from encodings to numbers

    def weigh(self, encodings: Encodings) -> WeightedSentences:
        """Weigh the words of encoded sentences."""
        vectors = encodings.vectors[self.embedding] if self.reads_vectors else None
        norms = None if vectors is None else Ragged(norms_of(vectors), vectors.starts)
        lengths = None if norms is None else norms.data
        raw = raw_weights(self.weights, encodings, lengths, self.context)
        return WeightedSentences(
            sentences=encodings.sentences,
            weights=normalised(raw),
            vectors=vectors,
            norms=norms,
            structure=encodings.structure,
            sums=encodings.sums,
            squares=encodings.squares,
            sizes=encodings.sizes,
            pooled=encodings.pooled,
            encodings=encodings,
            totals=raw.sums(),
        )

    def undefined(self, sentences: WeightedSentences, rows: Ints) -> NDArray[np.int8]:
        """Say why pairs have no distance: `SOURCE_EMPTY`, `TARGET_EMPTY`, 0 where they have one.

        Only pairs that have one are given to the methods below.
        """
        lengths = sentences.weights.lengths[rows]
        side = np.where(lengths[:, 0] == 0, SOURCE_EMPTY, TARGET_EMPTY)
        return np.where((lengths > 0).all(axis=1), 0, side).astype(np.int8)

    @abstractmethod
    def distances(self, sentences: WeightedSentences, rows: Ints) -> Floats:
        """Return the distance of every pair of rows, ``(pairs,)``; small means similar."""

    def head_values(self, sentences: WeightedSentences, rows: Ints) -> Floats:
        """Return the distance of every pair under every head, ``(pairs, heads)``."""
        return self.distances(sentences, rows)[:, None]

    def solve(self, sentences: WeightedSentences, rows: Ints) -> Many:
        """Return the distance of every pair with its parts, ``(pairs, heads)``, without plans."""
        effort = np.zeros(len(rows), np.int32)
        return linear_solution(self.distances(sentences, rows), np.zeros(0), iterations=effort)

    def reported(self, parts: Many) -> Floats:
        """Return which part of a solution is the distance, ``(pairs, heads)``."""
        return parts.linear if self.word_part else parts.value

    # reasons, bounds, learning, signature

    def plan(self, sentences: WeightedSentences, rows: Ints) -> Floats | None:
        """Return which word of one pair went where, ``(words, words)`` flat; None if unknown."""
        return None

    def explain(self, sentences: WeightedSentences, source: int, target: int) -> Comparison:
        """Compare two sentences by row, with all reasons the measure can give."""
        rows = np.array([[source, target]])
        if self.undefined(sentences, rows)[0]:
            return self.comparison(sentences, rows, self.limits(sentences, rows))
        plan = self.plan(sentences, rows)
        flat = np.zeros(int(sentences.weights.lengths[rows].prod())) if plan is None else plan
        effort = np.zeros(1, np.int32)
        parts = linear_solution(self.distances(sentences, rows), flat, iterations=effort)
        return self.comparison(sentences, rows, parts)

    def limits(self, sentences: WeightedSentences, rows: Ints) -> Many:
        """Return what pairs without words come to: infinitely far from nothing, 0 if both are."""
        nothing = (sentences.weights.lengths[rows] == 0).all(axis=1)
        far = np.repeat(np.where(nothing, 0.0, np.inf)[:, None], max(1, len(self.heads)), axis=1)
        structural, gap, home = np.zeros((3, *far.shape))
        effort, ended = np.zeros(far.shape, np.int32), np.zeros(far.shape, np.bool_)
        return Solution(far, far.copy(), structural, np.zeros(0), effort, gap, ended, home)

    def comparison(
        self,
        sentences: WeightedSentences,
        rows: Ints,
        solution: Many,
        scales: Floats | None = None,
        **reasons: Any,
    ) -> Comparison:
        """Put a comparison of one pair together.

        Parameters
        ----------
        sentences, rows
            The sentences, and the pair by row, ``(1, 2)``.
        solution
            The solution with its plans.
        scales
            Factor of structure head by head, ``(1, heads)``; None where there is none.
        reasons
            Fields of `Comparison` that this measure knows better.
        """
        encodings, (source, target) = sentences.encoded, rows[0].tolist()
        values = self.reported(solution)
        plans = solution.plan.reshape(values.shape[1], *sentences.weights.lengths[rows[0]])
        factors = np.zeros_like(values) if scales is None else scales
        linear, structural = float(solution.linear.mean()), float(solution.structural.mean())
        words = WordPlan(self.name, float(values.mean()), plans.mean(axis=0))
        known: dict[str, Any] = {
            "mix": self.share,
            "cost": np.zeros((0, 0)),
            "shares": (1.0 - self.share, self.share),
            "parts": {"words": (1.0 - self.share) * linear} if self.share < 1.0 else {},
            "words": words,
        }
        return Comparison(
            source=encodings.sentences[source],
            target=encodings.sentences[target],
            source_words=tuple(encodings.surface(source)),
            target_words=tuple(encodings.surface(target)),
            method=self.name,
            distance=float(values.mean()),
            linear=linear,
            structural=structural,
            plans=plans,
            heads=tuple(
                HeadValue.of(layer, head, pick(solution, k, plans[k]), factors[0, k])
                for k, (layer, head) in enumerate(self.heads)
            ),
            source_spans=encodings.places(source),
            target_spans=encodings.places(target),
            source_attention=encodings.attention(source, len(self.heads)),
            target_attention=encodings.attention(target, len(self.heads)),
            **known | reasons,
        )

    def under_every_head(self, every: Comparison, chosen: Comparison) -> Comparison:
        """Return a comparison under all heads as it is to be shown beside the chosen ones."""
        return every

    @property
    def bound(self) -> Bound:
        """A lower bound of the distance, for search; refused where none is known."""
        raise InputError(
            f"{self.name} is not one transport problem, so no bound holds for it",
            Do("rank"),
            Do("take movers, wmd, wrd, smd, wsmd, lambda"),
        )

    @property
    def far(self) -> float | None:
        """Distance of unrelated sentences, where the measure knows it without a fit."""
        return None

    def fit(self, corpus: FitCorpus) -> Statistics:
        """Return the statistics with what the measure learns from a corpus."""
        return self.context.statistics

    @property
    def fitted(self) -> Floats | None:
        """The array in use of what was fitted for it, for the signature."""
        return None

    def signature(self) -> dict[str, str]:
        """Return every setting and statistic that the measure looks at; empty ones mean nothing."""
        white = self.whitening.get(self.embedding) if self.reads_vectors else None
        whitening = "none" if white is None else f"{white.kind}@{white.digest}"
        vectors = {"embedding": str(self.embedding), "whitening": whitening}
        chosen = {"mix": self.share, "null": self.context.null}
        concern = {name: value for name, value in chosen.items() if name in self._settings()}
        return {
            **(vectors if self.reads_vectors else {}),
            **self._calibrated(),
            **self._fitted(),
            **describe_heads(self.heads),
            **{name: "" if value is None else str(value) for name, value in concern.items()},
        }

    def _calibrated(self) -> dict[str, str]:
        """Return what was found out about the model for this measure."""
        return {}

    def _fitted(self) -> dict[str, str]:
        """Return tables and arrays that were fitted or loaded, each by its hash or name."""
        context, fields = self.context, {}
        if table := context.statistics.tables.get(self.weights):
            fields[self.weights] = table.digest
        elif self.weights in FREQUENCY_WEIGHTS:
            fields["frequencies"] = load_frequencies(context.frequencies).name
        if self.fitted is not None:
            fields["fitted"] = sha256(self.fitted.tobytes()).hexdigest()[:8]
        elif type(self).fit is not Measure.fit:
            fields["fitted"] = "none"
        if self.parsed and context.parser is not None:
            fields["parser"] = str(getattr(context.parser, "name", "parser"))
        return fields
