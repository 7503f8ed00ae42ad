"""The table of methods: every measure is a row, not a branch.

A row of word transport names its weights and its cost. Every such row has a structural version
``wsmd-NAME`` (fused Gromov-Wasserstein) and ``lambda-NAME``, the cost part alone under the
structural plan. Other measures name their file in `movers.baselines`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Literal

from movers.encode.tokens import Recipe, Unit
from movers.errors import InputError

KUSNER = "Kusner et al. (2015), From Word Embeddings To Document Distances"
YOKOI = "Yokoi et al. (2020), Word Rotator's Distance"
YAMAGIWA = "Yamagiwa et al. (2023), Improving Word Mover's Distance by Self-Attention Matrix"

Transport = Literal["words", "structure", "both"]


@dataclass(frozen=True)
class Method:
    """One measure.

    Parameters
    ----------
    name
        What users type.
    title
        What it is, in a few words.
    paper
        Where it was published.
    weights
        Row of `movers.measure.weights.WEIGHTS`.
    cost
        Row of `movers.measure.costs.COSTS`; None if words have no cost of their own.
    transport
        What the plan must match: words (exact EMD), structure (Gromov-Wasserstein) or both
        (fused Gromov-Wasserstein); None for a measure that is not one transport problem.
    baseline
        File in `movers.baselines` of a measure without ``transport``.
    reports
        ``"value"`` for the whole objective, ``"linear"`` for its cost part alone.
    unit, stopwords, whitened, vectors
        What is compared: words, pieces or tokens; without stop words; whitened; whether vectors
        enter at all.
    recipes
        How the two recipes differ, in a line.
    reference
        The row for the reference recipe where it is another one.
    """

    name: str
    title: str
    paper: str
    weights: str = "uniform"
    cost: str | None = None
    transport: Transport | None = None
    baseline: str | None = None
    reports: Literal["value", "linear"] = "value"
    unit: Unit = "word"
    stopwords: bool = True
    whitened: bool = True
    vectors: bool = True
    recipes: str = ""
    reference: Method | None = None

    @property
    def needs_vectors(self) -> bool:
        """Whether word vectors enter the measure."""
        return self.vectors and (
            self.baseline is not None or self.cost is not None or self.weights == "norm"
        )

    @property
    def needs_attention(self) -> bool:
        """Whether attention enters the measure."""
        return self.transport in ("structure", "both")

    def under(self, recipe: Recipe) -> Method:
        """The row that a recipe picks."""
        return self.reference if recipe == "reference" and self.reference else self


IDF = "reference: counts by scikit-learn's tokens, unseen words get the smallest idf"
SCALE = "reference: attention not re-normalised over the words, k averaged over all tokens"

WORDS = (
    Method("wmd", "word mover's distance", KUSNER, "uniform", "l2", "words"),
    Method("wmd-idf", "word mover's, idf weights", KUSNER, "idf", "l2", "words", recipes=IDF),
    Method("wrd", "word rotator's distance", YOKOI, "norm", "cosine", "words"),
    Method("wrd-idf", "word rotator's, idf weights", YOKOI, "idf", "cosine", "words", recipes=IDF),
)
RAW = "reference: attention not re-normalised over the words"
STRUCTURES = tuple(
    Method(name, title, YAMAGIWA, weights, transport="structure", recipes=RAW)
    for name, title, weights in (
        ("smd", "structure mover's distance", "uniform"),
        ("smd-idf", "structure mover's, idf weights", "idf"),
        ("smd-norm", "structure mover's, norm weights", "norm"),
    )
)
POOLED = (Method("average", "cosine of the mean word vectors", "", baseline="average"),)
DEFAULT_BASE = "wrd"


def _structural(base: Method) -> Method:
    """The row of ``wsmd-NAME``, in both recipes."""
    return replace(
        base,
        name=f"wsmd-{base.name}",
        title=f"words and structure: {base.name} with attention",
        paper=YAMAGIWA,
        transport="both",
        recipes=SCALE,
        reference=base.reference and _structural(base.reference),
    )


def _linear(base: Method) -> Method:
    """The row of ``lambda-NAME``, in both recipes."""
    return replace(
        _structural(base),
        name=f"lambda-{base.name}",
        title=f"{base.name} under the plan of wsmd-{base.name}",
        reports="linear",
        reference=base.reference and _linear(base.reference),
    )


METHODS: dict[str, Method] = {
    method.name: method
    for method in (*WORDS, *STRUCTURES, *map(_structural, WORDS), *map(_linear, WORDS), *POOLED)
}
ALIASES = {"wsmd": f"wsmd-{DEFAULT_BASE}", "lambda": f"lambda-{DEFAULT_BASE}"}


def find_method(name: str) -> Method:
    """Look a method up by name or alias."""
    method = METHODS.get(ALIASES.get(name, name))
    if method is None:
        close = get_close_matches(name, [*METHODS, *ALIASES], n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise InputError(f"no method {name!r}; {hint}there are: {', '.join([*ALIASES, *METHODS])}")
    return method
