"""What a search returns besides the ranking: the work it spared, and the reasons."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from movers.arrays import Floats, Ints
from movers.results import Comparison, Ranking

STAGES = {
    "vectors": "their sentence vectors are too far apart",
    "far": "unrelated, so that their sentence vectors give the distance",
    "words": "their words are too far apart",
    "left_out": "not among the candidates",
    "solved": "solved exactly",
}
"""Where a sentence of the corpus ends up, cheapest first."""


@dataclass(frozen=True)
class Pruning:
    """A count of the sentences of a corpus by the stage that left them out or compared them.

    ``seconds`` is processor time, the encoding of the query included.
    """

    corpus: int
    vectors: int = 0
    far: int = 0
    words: int = 0
    left_out: int = 0
    solved: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        counts = ((name.replace("_", " "), getattr(self, name)) for name in STAGES)
        parts = ", ".join(f"{name} {count:,}" for name, count in counts if count)
        return f"{self.corpus:,} sentences: {parts}; {self.seconds * 1000:.0f} ms"


@dataclass(frozen=True)
class SearchResult:
    """The rows that a search found, with their distances.

    Sentences by row, nearest first; ``certified`` and ``bound`` as in `SearchRanking`.
    """

    rows: Ints
    distances: Floats
    pruning: Pruning = Pruning(0)
    certified: bool = True
    bound: float | None = None


@dataclass(frozen=True, repr=False)
class SearchRanking(Ranking):
    """The nearest sentences of an index or a vector store, nearest first.

    Parameters
    ----------
    certified
        Whether no sentence that was left out can belong here.
    bound
        Where that is not certain, what no sentence that was not compared is nearer than; None if
        nothing is known about them.
    pruning
        What became of the rest.
    comparisons
        The first matches with their alignments, as many as were asked for.
    """

    pruning: Pruning = Pruning(0)
    comparisons: tuple[Comparison, ...] = ()
    certified: bool = True
    bound: float | None = None

    @property
    def compared(self) -> int:
        """Sentences that were fully compared."""
        return self.pruning.solved

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            **super().to_dict(),
            "certified": self.certified,
            "bound": self.bound,
            "compared": self.compared,
            "pruning": asdict(self.pruning),
            "comparisons": [comparison.to_dict() for comparison in self.comparisons],
        }
