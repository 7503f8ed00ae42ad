"""Measures that the paper compares with: vectors, trees, word order, DynaMax and MoverScore.

Importing this adds them to the registry of measures, as rows of weights and costs; so does the
entry point of this distribution when somebody asks for one of them by name.
"""

from movers.measures.base import Measure
from movers.measures.registry import METHODS, raw_version, with_structure
from movers.measures.word_transport import WordTransport
from movers_research.baselines.dynamax import DynaMax
from movers_research.baselines.moverscore import MoverScore
from movers_research.baselines.opwd import OrderPreserving
from movers_research.baselines.rots import RecursiveTransport
from movers_research.baselines.syntax import Syntactic, SyntacticStructure
from movers_research.baselines.vectors import ConceptorNegation, ScaledRemoval, StartToken
from movers_research.baselines.wmdo import OrderPenalty

WEI = "Wei et al. (2023), SynWMD: Syntax-aware Word Mover's Distance"
CHOW = "Chow et al. (2019), WMDO: Fluency-based Word Mover's Distance"
SU = "Su and Hua (2019), Order-Preserving Wasserstein Distance for Sequence Matching"
WANG = "Wang et al. (2020), Robust and Consistent Sentence Similarity via ROTS"
ZHAO = "Zhao et al. (2019), MoverScore: Text Generation Evaluating with Contextualized Embeddings"
DEVLIN = "Devlin et al. (2019), BERT: Pre-training of Deep Bidirectional Transformers"
ETHAYARAJH = "Ethayarajh (2018), Unsupervised Random Walk Sentence Embeddings"
LIU = "Liu et al. (2019), Unsupervised Post-processing of Word Vectors via Conceptor Negation"
ZHELEZNIAK = "Zhelezniak et al. (2019), Don't Settle for Average, Go for the Max"

TREES = "reference: words as they stand between blanks, case kept; unseen ones weigh least"
SYNTACTIC = tuple(
    Syntactic(name, title, WEI, cost=cost, recipes=TREES)
    for name, title, cost in (
        ("synwmd", "syntax-aware word mover's, sub-trees in the cost", "swd"),
        ("synwmd-cos", "syntax-aware word mover's, cosine cost", "cosine"),
    )
)
VECTORS = (
    raw_version(
        StartToken("cls", "cosine of the start token", DEVLIN, layer=-1),
        "reference: whitened; RoBERTa's first piece of text instead of its start token",
        unit="token",
        reference={"unit": "token", "stopwords": False},
    ),
    raw_version(
        ScaledRemoval("usif", "unsupervised SIF", ETHAYARAJH, "usif"),
        "reference: as sif, and vectors not normalised in the sentence",
    ),
    raw_version(
        ConceptorNegation("conceptor", "SIF weights, conceptor negation", LIU, "sif"),
        "reference: whitened, without stop words, conceptor not applied",
    ),
    raw_version(
        DynaMax("dynamax", "DynaMax-Jaccard, fuzzy word sets", ZHELEZNIAK),
        "reference: whitened, without stop words",
    ),
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
    raw_version(
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
FUSED = [
    with_structure(base, SyntacticStructure, word_part=part)
    for part in (False, True)
    for base in SYNTACTIC
]
MEASURES: dict[str, Measure] = {
    measure.name: measure for measure in (*VECTORS, *SYNTACTIC, *FUSED, *ORDERED)
}
METHODS.update(MEASURES)
