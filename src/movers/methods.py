"""The table of methods: every measure is a row, not a branch.

A row of word transport names its weights and its cost. Every such row has a structural version
``wsmd-NAME`` (fused Gromov-Wasserstein) and ``lambda-NAME``, the cost part alone under the
structural plan. Other measures name what computes them in `movers.baselines`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from movers.errors import InputError, no_such

if TYPE_CHECKING:
    from movers.encode.tokens import Recipe, Unit

KUSNER = "Kusner et al. (2015), From Word Embeddings To Document Distances"
YOKOI = "Yokoi et al. (2020), Word Rotator's Distance"
YAMAGIWA = "Yamagiwa et al. (2023), Improving Word Mover's Distance by Self-Attention Matrix"
SALTON = "Salton et al. (1975), A Vector Space Model for Automatic Indexing"
HUANG = "Huang et al. (2021), WhiteningBERT: An Easy Unsupervised Sentence Embedding Approach"
DEVLIN = "Devlin et al. (2019), BERT: Pre-training of Deep Bidirectional Transformers"
ARORA = "Arora et al. (2017), A Simple but Tough-to-Beat Baseline for Sentence Embeddings"
ETHAYARAJH = "Ethayarajh (2018), Unsupervised Random Walk Sentence Embeddings"
LIU = "Liu et al. (2019), Unsupervised Post-processing of Word Vectors via Conceptor Negation"
ZHELEZNIAK = "Zhelezniak et al. (2019), Don't Settle for Average, Go for the Max"
ZHANG = "Zhang et al. (2020), BERTScore: Evaluating Text Generation with BERT"

WEI = "Wei et al. (2023), SynWMD: Syntax-aware Word Mover's Distance"
CHOW = "Chow et al. (2019), WMDO: Fluency-based Word Mover's Distance"
SU = "Su and Hua (2019), Order-Preserving Wasserstein Distance for Sequence Matching"
WANG = "Wang et al. (2020), Robust and Consistent Sentence Similarity via ROTS"
ZHAO = "Zhao et al. (2019), MoverScore: Text Generation Evaluating with Contextualized Embeddings"

Transport = Literal["words", "structure", "both", "priced"]


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
        (fused Gromov-Wasserstein); ``"priced"`` if words alone make the plan and structure
        charges for it beside the sentence vectors (`movers.measure.gating`). None for a measure
        that is not one transport problem.
    baseline
        File in `movers.baselines`, or object in one, of a measure without ``transport``.
    reports
        ``"value"`` for the whole objective, ``"linear"`` for its cost part alone.
    unit, stopwords, whitened, vectors
        What is compared: words, pieces or tokens; without stop words (True), with all words
        but without punctuation, or with everything (False); whitened; whether vectors enter at
        all.
    layer
        Embedding layer, where the measure does not leave the choice; ``"middle"`` is half-way up.
    symmetric
        Whether source and target may change places: to rounding, and where structure enters up
        to the local minimum that is found.
    recipes
        How the two recipes differ, in a line.
    reference
        The row for the reference recipe where it is another one.
    base
        Name of the word measure that a row with structure builds on; None for any other row.
    needs_trees
        Whether dependency trees enter the measure.
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
    stopwords: bool | Literal["punctuation"] = True
    whitened: bool = True
    vectors: bool = True
    layer: int | Literal["middle"] | None = None
    symmetric: bool = True
    recipes: str = ""
    reference: Method | None = None
    base: str | None = None
    needs_trees: bool = False

    @cached_property
    def needs_vectors(self) -> bool:
        """Whether word vectors enter the measure."""
        return self.vectors and (
            self.baseline is not None or self.cost is not None or self.weights == "norm"
        )

    @cached_property
    def needs_pooled(self) -> bool:
        """Whether the vectors of whole sentences enter the measure."""
        return self.transport == "priced"

    @cached_property
    def needs_attention(self) -> bool:
        """Whether attention enters the measure."""
        return self.transport in ("structure", "both", "priced")

    @property
    def moves_mass(self) -> bool:
        """Whether it is one transport problem, whose mass may stay at home."""
        return self.transport in ("words", "structure", "both")

    @property
    def settings(self) -> tuple[str, ...]:
        """Settings that mean something to it, of those that do not to every measure."""
        means = {
            "embedding": self.needs_vectors and self.layer is None,
            "layers": self.needs_attention,
            "heads": self.needs_attention,
            "mix": self.transport == "both",
            "null": self.moves_mass,
            "stopwords": self.stopwords is True,
        }
        return tuple(name for name, does in means.items() if does)

    @property
    def leaves_heads(self) -> bool:
        """Whether every head has a distance of its own, so that heads may be chosen afterwards."""
        return self.transport in ("structure", "both")

    def share(self, mix: float) -> float:
        """Share of structure in the distance: all, nothing, or ``mix`` where words enter too."""
        return mix if self.transport == "both" else float(self.needs_attention)

    def under(self, recipe: Recipe) -> Method:
        """The row that a recipe picks."""
        return self.reference if recipe == "reference" and self.reference else self


def _raw(
    row: Method, recipes: str, *, reference: dict[str, Any] | None = None, **paper: Any
) -> Method:
    """A row whose own paper takes all words and raw vectors; the published code does neither."""
    return replace(
        row,
        stopwords=False,
        whitened=False,
        recipes=recipes,
        reference=replace(row, recipes=recipes, **(reference or {})),
        **paper,
    )


IDF = "reference: counts by scikit-learn's tokens, unseen words get the smallest idf"
SCALE = "reference: attention not re-normalised over the words, k averaged over all tokens"

WORDS = (
    Method("wmd", "word mover's distance", KUSNER, "uniform", "l2", "words"),
    Method("wmd-idf", "word mover's, idf weights", KUSNER, "idf", "l2", "words", recipes=IDF),
    Method("wrd", "word rotator's distance", YOKOI, "norm", "cosine", "words"),
    Method("wrd-idf", "word rotator's, idf weights", YOKOI, "idf", "cosine", "words", recipes=IDF),
)
RAW = "reference: attention not re-normalised over the words"
DEFAULT = Method(
    "movers",
    "sentence vectors, and a price for broken structure",
    "this package: docs/default_measure.md",
    "uniform",
    "cosine",
    "priced",
    stopwords="punctuation",
    whitened=False,
    layer="middle",
)
STRUCTURES = tuple(
    Method(name, title, YAMAGIWA, weights, transport="structure", recipes=RAW)
    for name, title, weights in (
        ("smd", "structure mover's distance", "uniform"),
        ("smd-idf", "structure mover's, idf weights", "idf"),
        ("smd-norm", "structure mover's, norm weights", "norm"),
    )
)
BAG = Method(
    "bow",
    "cosine of the word counts",
    SALTON,
    baseline="bow",
    vectors=False,
    recipes="reference: a word is its first piece",
)
POOLED = (
    replace(BAG, reference=replace(BAG, unit="start")),
    Method("average", "cosine of the mean word vectors", HUANG, baseline="pooled.average"),
    _raw(
        Method("cls", "cosine of the start token", DEVLIN, baseline="pooled.cls", layer=-1),
        "reference: whitened; RoBERTa's first piece of text instead of its start token",
        unit="token",
        reference={"unit": "token", "stopwords": False},
    ),
    _raw(
        Method("sif", "smooth inverse frequency", ARORA, "sif", baseline="pooled.sif"),
        "reference: whitened, without stop words, component removed from words by weight",
    ),
    _raw(
        Method("usif", "unsupervised SIF", ETHAYARAJH, "usif", baseline="pooled.usif"),
        "reference: as sif, and vectors not normalised in the sentence",
    ),
    _raw(
        Method(
            "conceptor", "SIF weights, conceptor negation", LIU, "sif", baseline="pooled.conceptor"
        ),
        "reference: whitened, without stop words, conceptor not applied",
    ),
    _raw(
        Method(
            "dynamax", "DynaMax-Jaccard, fuzzy word sets", ZHELEZNIAK, baseline="matched.dynamax"
        ),
        "reference: whitened, without stop words",
    ),
)
MATCHED = tuple(
    _raw(
        Method(name, title, ZHANG, weights, baseline=f"matched.{part}", symmetric=part == "f1"),
        "reference: dot products of whitened vectors, without stop words",
        unit="token",
        weights="piece-idf" if weights == "idf" else "pieces",
    )
    for name, title, weights, part in (
        ("bertscore", "BERTScore, F1", "uniform", "f1"),
        ("bertscore-idf", "BERTScore, F1, idf weights", "idf", "f1"),
        ("bertscore-precision", "BERTScore, source covered by target", "uniform", "precision"),
        ("bertscore-recall", "BERTScore, target covered by source", "uniform", "recall"),
    )
)
TREES = "reference: words as they stand between blanks, case kept; unseen ones weigh least"
SYNTACTIC = tuple(
    Method(name, title, WEI, "swf", cost, "words", stopwords=False, recipes=TREES, needs_trees=True)
    for name, title, cost in (
        ("synwmd", "syntax-aware word mover's, sub-trees in the cost", "swd"),
        ("synwmd-cos", "syntax-aware word mover's, cosine cost", "cosine"),
    )
)
ORDERED = (
    Method(
        "wmdo",
        "word mover's, penalty for broken order",
        CHOW,
        baseline="wmdo",
        symmetric=False,
        recipes="reference: the penalty mixes up positions and vocabulary, as published",
    ),
    *(
        Method(
            name,
            title,
            SU,
            baseline=f"opwd.{cost}",
            symmetric=False,
            recipes="reference: plain word mover's distance, as published",
            reference=Method(name, title, SU, "uniform", cost, "words"),
        )
        for name, title, cost in (
            ("opwd", "order-preserving Wasserstein", "l2"),
            ("opwd-cos", "order-preserving Wasserstein, cosine", "cosine"),
        )
    ),
    _raw(
        Method(
            "rots",
            "recursive transport along the tree",
            WANG,
            "sif",
            baseline="rots",
            needs_trees=True,
        ),
        "reference: whitened, without stop words, neither scaled nor negated",
    ),
    Method(
        "moverscore",
        "MoverScore, unigrams, idf of pieces",
        ZHAO,
        "piece-idf",
        baseline="moverscore",
        unit="token",
        stopwords=False,
        whitened=False,
    ),
)
TRANSPORTED = (*WORDS, *SYNTACTIC)
DEFAULT_BASE = "wrd"


def _structural(base: Method, prefix: str, title: str, **changes: Any) -> Method:
    """A row with structure on one of words, in both recipes."""
    reference = base.reference and _structural(base.reference, prefix, title, **changes)
    return replace(
        base,
        name=f"{prefix}-{base.name}",
        title=title.format(base.name),
        paper=YAMAGIWA,
        transport="both",
        base=base.name,
        recipes=SCALE,
        reference=reference,
        **changes,
    )


FUSED = [
    _structural(base, "wsmd", "words and structure: {} with attention") for base in TRANSPORTED
]
LINEAR = [
    _structural(base, "lambda", "{0} under the plan of wsmd-{0}", reports="linear")
    for base in TRANSPORTED
]
METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        DEFAULT,
        *TRANSPORTED,
        *STRUCTURES,
        *FUSED,
        *LINEAR,
        *ORDERED,
        *POOLED,
        *MATCHED,
    )
}
ALIASES = {"wsmd": f"wsmd-{DEFAULT_BASE}", "lambda": f"lambda-{DEFAULT_BASE}"}


def find_method(name: str | Method) -> Method:
    """Look a method up by name or alias; a method is itself."""
    if isinstance(name, Method):
        return name
    method = METHODS.get(ALIASES.get(name.lower(), name.lower()))
    if method is None:
        raise InputError(no_such("method", name, [*ALIASES, *METHODS]))
    return method
