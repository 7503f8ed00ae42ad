"""What the paper's experiments found: scores, and what the figures show."""

from __future__ import annotations

from dataclasses import dataclass, field

from movers.arrays import Floats, Ints
from movers_research.scores import Column, Evaluation


@dataclass(frozen=True)
class Overlap:
    """Common words of the pairs of a data set beside their gold scores."""

    dataset: str
    common: Ints
    gold: Floats
    rho: float
    published: float | None = None


@dataclass(frozen=True)
class Illustration:
    """One pair of the paper's opening example: distances by measure, published ones beside them."""

    source: str
    target: str
    distances: dict[str, float]
    published: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Stage:
    """Time one part of a run took, and what it worked on."""

    name: str
    seconds: float
    count: int
    unit: str


@dataclass(frozen=True)
class Results(Evaluation):
    """Everything a report shows.

    ``heads`` has the metric of every single head, ``(layers, heads)``, and ``layer_means`` that of
    the mean over each layer's heads, by column; ``variability`` BV_A of every head, and
    ``contextual`` the layers, counted from 1, that it picks, by data set.
    """

    heads: dict[Column, Floats] = field(default_factory=dict)
    layer_means: dict[Column, Floats] = field(default_factory=dict)
    variability: dict[str, Floats] = field(default_factory=dict)
    contextual: dict[str, tuple[int, ...]] = field(default_factory=dict)
    overlaps: tuple[Overlap, ...] = ()
    illustrations: tuple[Illustration, ...] = ()
    stages: tuple[Stage, ...] = ()

    def embedding_name(self, embedding: int) -> str:
        """How a report calls an embedding layer: ``input``, ``layer 3``, ``last (6)``."""
        arrays = [*self.heads.values(), *self.layer_means.values(), *self.variability.values()]
        if embedding == 0:
            return "input"
        last = max(map(len, arrays), default=None)
        return f"last ({embedding})" if embedding == last else f"layer {embedding}"

    def place_name(self, recipe: str, embedding: int) -> str:
        """How a report calls a recipe and an embedding layer together."""
        return f"{recipe}, {self.embedding_name(embedding)}"
