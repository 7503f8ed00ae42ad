"""The registry of measures: every one is an object with a name.

Every measure of word transport has a structural version ``wsmd-NAME`` (fused Gromov-Wasserstein)
and ``lambda-NAME``, the cost part alone under the structural plan.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from movers.errors import InputError, no_such
from movers.measures.base import Measure
from movers.measures.bow import WordCounts
from movers.measures.default import DefaultMeasure
from movers.measures.judge import SAME, Judge
from movers.measures.matched import BertScore, DynaMax
from movers.measures.moverscore import MoverScore
from movers.measures.opwd import OrderPreserving
from movers.measures.pooled import ComponentRemoval, ConceptorNegation, Pooled, StartToken
from movers.measures.rots import RecursiveTransport
from movers.measures.structural_transport import StructuralTransport, WordPart
from movers.measures.wmdo import OrderPenalty
from movers.measures.word_transport import WordTransport

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


def _raw(
    measure: Measure, recipes: str, *, reference: dict[str, Any] | None = None, **paper: Any
) -> Measure:
    """Make a measure take all words and raw vectors, as its paper does; the code does neither."""
    return replace(
        measure,
        stopwords=False,
        whitened=False,
        recipes=recipes,
        reference=replace(measure, recipes=recipes, **(reference or {})),
        **paper,
    )


IDF = "reference: counts by scikit-learn's tokens, unseen words get the smallest idf"
SCALE = "reference: attention not re-normalised over the words, k averaged over all tokens"

WORDS = (
    WordTransport("wmd", "word mover's distance", KUSNER, "uniform", cost="l2"),
    WordTransport("wmd-idf", "word mover's, idf weights", KUSNER, "idf", cost="l2", recipes=IDF),
    WordTransport("wrd", "word rotator's distance", YOKOI, "norm", cost="cosine"),
    WordTransport(
        "wrd-idf", "word rotator's, idf weights", YOKOI, "idf", cost="cosine", recipes=IDF
    ),
)
RAW = "reference: attention not re-normalised over the words"
DEFAULT = DefaultMeasure(
    "movers",
    "sentence vectors, and a price for broken structure",
    "this package: docs/default_measure.md",
)
STRUCTURES = tuple(
    StructuralTransport(name, title, YAMAGIWA, weights, cost=None, recipes=RAW)
    for name, title, weights in (
        ("smd", "structure mover's distance", "uniform"),
        ("smd-idf", "structure mover's, idf weights", "idf"),
        ("smd-norm", "structure mover's, norm weights", "norm"),
    )
)
BAG = WordCounts(
    "bow", "cosine of the word counts", SALTON, recipes="reference: a word is its first piece"
)
POOLED = (
    replace(BAG, reference=replace(BAG, unit="start")),
    Pooled("average", "cosine of the mean word vectors", HUANG),
    _raw(
        StartToken("cls", "cosine of the start token", DEVLIN, layer=-1),
        "reference: whitened; RoBERTa's first piece of text instead of its start token",
        unit="token",
        reference={"unit": "token", "stopwords": False},
    ),
    _raw(
        ComponentRemoval("sif", "smooth inverse frequency", ARORA, "sif"),
        "reference: whitened, without stop words, component removed from words by weight",
    ),
    _raw(
        ComponentRemoval("usif", "unsupervised SIF", ETHAYARAJH, "usif", components=5, scaled=True),
        "reference: as sif, and vectors not normalised in the sentence",
    ),
    _raw(
        ConceptorNegation("conceptor", "SIF weights, conceptor negation", LIU, "sif"),
        "reference: whitened, without stop words, conceptor not applied",
    ),
    _raw(
        DynaMax("dynamax", "DynaMax-Jaccard, fuzzy word sets", ZHELEZNIAK),
        "reference: whitened, without stop words",
    ),
)
MATCHED = tuple(
    _raw(
        BertScore(name, title, ZHANG, weights, part=part, symmetric=part == "f1"),  # type: ignore[arg-type]
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
    WordTransport(name, title, WEI, "swf", cost=cost, stopwords=False, recipes=TREES, parsed=True)
    for name, title, cost in (
        ("synwmd", "syntax-aware word mover's, sub-trees in the cost", "swd"),
        ("synwmd-cos", "syntax-aware word mover's, cosine cost", "cosine"),
    )
)
ORDERED = (
    OrderPenalty(
        "wmdo",
        "word mover's, penalty for broken order",
        CHOW,
        recipes="reference: the penalty mixes up positions and vocabulary, as published",
    ),
    *(
        OrderPreserving(
            name,
            title,
            SU,
            cost=cost,
            scaled=cost == "l2",
            recipes="reference: plain word mover's distance, as published",
            reference=WordTransport(name, title, SU, "uniform", cost=cost),
        )
        for name, title, cost in (
            ("opwd", "order-preserving Wasserstein", "l2"),
            ("opwd-cos", "order-preserving Wasserstein, cosine", "cosine"),
        )
    ),
    _raw(
        RecursiveTransport("rots", "recursive transport along the tree", WANG, "sif"),
        "reference: whitened, without stop words, neither scaled nor negated",
    ),
    MoverScore(
        "moverscore",
        "MoverScore, unigrams, idf of pieces",
        ZHAO,
        "piece-idf",
        unit="token",
        stopwords=False,
        whitened=False,
    ),
)
TRANSPORTED = (*WORDS, *SYNTACTIC)
DEFAULT_BASE = "wrd"


def _structural(
    base: WordTransport, kind: type[StructuralTransport], prefix: str, title: str
) -> StructuralTransport:
    """Make a measure with structure of one of words."""
    facts: dict[str, Any] = {part.name: getattr(base, part.name) for part in fields(base)}
    facts |= {"name": f"{prefix}-{base.name}", "title": title.format(base.name)}
    return kind(**facts | {"paper": YAMAGIWA, "base": base.name, "recipes": SCALE})


FUSED = [
    _structural(base, StructuralTransport, "wsmd", "words and structure: {} with attention")
    for base in TRANSPORTED
]
LINEAR = [
    _structural(base, WordPart, "lambda", "{0} under the plan of wsmd-{0}") for base in TRANSPORTED
]
METHODS: dict[str, Measure] = {
    measure.name: measure
    for measure in (
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
JUDGES: dict[str, Judge] = {SAME.name: SAME}
"""Measures that were learned from labels, and that no paper or corpus defines."""
ALIASES = {"wsmd": f"wsmd-{DEFAULT_BASE}", "lambda": f"lambda-{DEFAULT_BASE}"}


def find_measure(name: str | Measure) -> Measure:
    """Look a measure or judge up by name or alias; a measure is itself."""
    if isinstance(name, Measure):
        return name
    key = ALIASES.get(name.lower(), name.lower())
    measure = METHODS.get(key) or JUDGES.get(key)
    if measure is None:
        raise InputError(no_such("method", name, [*ALIASES, *METHODS, *JUDGES]))
    return measure
