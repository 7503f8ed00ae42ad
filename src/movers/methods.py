"""The table of methods: every measure is a row, not a branch.

A base row names its weights and its cost. Every row with a cost has a structural version
``wsmd-NAME`` (fused Gromov-Wasserstein) and ``lambda-NAME``, the cost part alone under the
structural plan.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Literal

from movers.errors import InputError

KUSNER = "Kusner et al. (2015), From Word Embeddings To Document Distances"
YOKOI = "Yokoi et al. (2020), Word Rotator's Distance"
YAMAGIWA = (
    "Yamagiwa et al. (2023), Improving Word Mover's Distance by Leveraging Self-Attention Matrix"
)

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
    weights
        Row of `movers.measure.weights.WEIGHTS`.
    cost
        Row of `movers.measure.costs.COSTS`; None if words do not enter.
    transport
        What the plan must match: words (exact EMD), structure (Gromov-Wasserstein) or both
        (fused Gromov-Wasserstein).
    reports
        ``"value"`` for the whole objective, ``"linear"`` for its cost part alone.
    paper
        Where it was published.
    """

    name: str
    title: str
    weights: str
    cost: str | None
    transport: Transport
    paper: str
    reports: Literal["value", "linear"] = "value"

    @property
    def needs_vectors(self) -> bool:
        """Whether word vectors enter the measure."""
        return self.cost is not None or self.weights == "norm"

    @property
    def needs_attention(self) -> bool:
        """Whether attention enters the measure."""
        return self.transport != "words"


WORDS = (
    Method("wmd", "word mover's distance", "uniform", "l2", "words", KUSNER),
    Method("wmd-idf", "word mover's distance, idf weights", "idf", "l2", "words", KUSNER),
    Method("wrd", "word rotator's distance", "norm", "cosine", "words", YOKOI),
    Method("wrd-idf", "word rotator's distance, idf weights", "idf", "cosine", "words", YOKOI),
)
STRUCTURES = (
    Method("smd", "structure mover's distance", "uniform", None, "structure", YAMAGIWA),
    Method(
        "smd-idf", "structure mover's distance, idf weights", "idf", None, "structure", YAMAGIWA
    ),
    Method(
        "smd-norm", "structure mover's distance, norm weights", "norm", None, "structure", YAMAGIWA
    ),
)
DEFAULT_BASE = "wrd"


def _structural(base: Method) -> Method:
    title = f"words and structure: {base.name} with attention"
    return replace(base, name=f"wsmd-{base.name}", title=title, transport="both", paper=YAMAGIWA)


def _linear(base: Method) -> Method:
    title = f"{base.name} under the plan of wsmd-{base.name}"
    return replace(_structural(base), name=f"lambda-{base.name}", title=title, reports="linear")


METHODS: dict[str, Method] = {
    method.name: method
    for method in (*WORDS, *STRUCTURES, *map(_structural, WORDS), *map(_linear, WORDS))
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
