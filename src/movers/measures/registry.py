"""The registry of measures: every one is an object with a name.

Every measure of word transport has a structural version ``wsmd-NAME`` (fused Gromov-Wasserstein)
and ``lambda-NAME``, the cost part alone under the structural plan.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from movers.errors import DependencyError, InputError, no_such
from movers.measures.base import Measure
from movers.measures.default import DefaultMeasure
from movers.measures.judge import SAME, Judge
from movers.measures.matched import BertScore
from movers.measures.pooled import ComponentRemoval, Pooled, WordCounts
from movers.measures.structural_transport import StructuralTransport
from movers.measures.word_transport import WordTransport
from movers.runtime.entry_points import add_rows

KUSNER = "Kusner et al. (2015), From Word Embeddings To Document Distances"
YOKOI = "Yokoi et al. (2020), Word Rotator's Distance"
YAMAGIWA = "Yamagiwa et al. (2023), Improving Word Mover's Distance by Self-Attention Matrix"
SALTON = "Salton et al. (1975), A Vector Space Model for Automatic Indexing"
HUANG = "Huang et al. (2021), WhiteningBERT: An Easy Unsupervised Sentence Embedding Approach"
ARORA = "Arora et al. (2017), A Simple but Tough-to-Beat Baseline for Sentence Embeddings"
ZHANG = "Zhang et al. (2020), BERTScore: Evaluating Text Generation with BERT"


def raw_version(
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
    raw_version(
        ComponentRemoval("sif", "smooth inverse frequency", ARORA, "sif"),
        "reference: whitened, without stop words, component removed from words by weight",
    ),
)
MATCHED = tuple(
    raw_version(
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
DEFAULT_BASE = "wrd"


def with_structure(
    base: WordTransport,
    kind: type[StructuralTransport] = StructuralTransport,
    *,
    word_part: bool = False,
) -> StructuralTransport:
    """Make a measure with structure of one of words, or its word part."""
    facts: dict[str, Any] = {part.name: getattr(base, part.name) for part in fields(base)}
    prefix, title = "wsmd", f"words and structure: {base.name} with attention"
    if word_part:
        prefix, title = "lambda", f"{base.name} under the plan of wsmd-{base.name}"
    facts |= {"name": f"{prefix}-{base.name}", "title": title, "word_part": word_part}
    return kind(**facts | {"paper": YAMAGIWA, "base": base.name, "recipes": SCALE})


METHODS: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        DEFAULT,
        *WORDS,
        *STRUCTURES,
        *(with_structure(base) for base in WORDS),
        *(with_structure(base, word_part=True) for base in WORDS),
        *POOLED,
        *MATCHED,
    )
}
JUDGES: dict[str, Judge] = {SAME.name: SAME}
"""Measures that were learned from labels, and that no paper or corpus defines."""
GROUP = "movers.measures"
"""Entry points of this group lead to a measure, or to several by name."""
RESEARCH = (
    *("cls", "conceptor", "dynamax", "usif", "moverscore", "opwd", "opwd-cos", "rots"),
    *("synwmd", "synwmd-cos", "wmdo"),
)
"""Measures of movers-research, to tell where they are."""
ALIASES = {"wsmd": f"wsmd-{DEFAULT_BASE}", "lambda": f"lambda-{DEFAULT_BASE}"}


def find_measure(name: str | Measure) -> Measure:
    """Look a measure or judge up by name or alias; a measure is itself."""
    if isinstance(name, Measure):
        return name
    known = ALIASES.get(name.lower(), name.lower())
    if known in JUDGES:
        return JUDGES[known]
    if known not in METHODS:
        add_outside_measures()
    if known in METHODS:
        return METHODS[known]
    if known in RESEARCH:
        raise DependencyError(
            f"{known} is a measure of movers-research, which is not installed; in a checkout of "
            "movers: pip install ./research"
        )
    raise InputError(no_such("method", name, [*ALIASES, *METHODS, *JUDGES]))


def add_outside_measures() -> list[str]:
    """Add the measures of installed packages to the registry, and name them."""
    return add_rows(METHODS, GROUP, Measure)  # type: ignore[type-abstract]
