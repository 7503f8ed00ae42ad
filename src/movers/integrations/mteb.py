"""MTEB: distances on its tasks of pairs and of ranking.

MTEB asks a model for one vector per sentence and then for the similarity of vectors. A distance
between word sets needs the sentences, so the vector of a sentence here is a digest of its text, and
the similarity looks the sentences up. Such a vector stays right in a cache on disk, but says
nothing to a model that has not encoded the sentence itself; that is an error.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from movers.arrays import Floats
from movers.errors import InputError, missing
from movers.loading import load
from movers.scorer import Scorer

try:
    from mteb.models import ModelMeta
except ImportError as error:
    raise missing("mteb", "movers.integrations") from error

if TYPE_CHECKING:
    import torch
    from mteb.abstasks import AbsTask

    Task = TypeVar("Task", bound=AbsTask)

OWN_SCORES = {
    "STS": "spearman",
    "PairClassification": "similarity_ap",
    "Retrieval": None,
    "Reranking": None,
}
"""Task types that go by the similarity of a model, with the score that does so in each; None
where all scores do."""


LEADING = 1e18
"""First entry of every vector: beside it the others vanish, so that all cosines are equal."""
ENTRIES = 8
"""Entries with 16 bits of the digest each, which are exact in single precision too."""


class MoversEncoder:
    """A scorer as a model for `mteb.evaluate`; scores are negative distances.

    Parameters
    ----------
    scorer
        A scorer, or the name of a method for `movers.load`; by name, sentences without words
        to compare keep their stop words.
    """

    def __init__(
        self, scorer: Scorer | str = "movers", revision: str | None = None, **_: Any
    ) -> None:
        self.scorer = load(scorer, empty="keep") if isinstance(scorer, str) else scorer
        self._revision = revision
        self._sentences: dict[bytes, str] = {}

    @property
    def mteb_model_meta(self) -> ModelMeta:
        """Names the measure and the model; the revision stands for the whole signature."""
        scorer = self.scorer
        revision = self._revision or sha256(str(scorer.signature).encode()).hexdigest()[:12]
        name = f"movers/{scorer.measure.name}-{Path(scorer.encoder.name).name}"
        return ModelMeta.create_empty({"name": name, "revision": revision})

    def encode(self, inputs: Iterable[Any], *, task_metadata: Any, **_: Any) -> Floats:
        """Return digests of the sentences, shape ``(sentences, 9)``."""
        if task_metadata.type not in OWN_SCORES:
            raise InputError(
                f"{task_metadata.name} is a task of type {task_metadata.type}, which works on "
                f"vectors of sentences; movers compares pairs: {', '.join(OWN_SCORES)}"
            )
        vectors = []
        for text in (text for batch in inputs for text in batch["text"]):
            digest = np.frombuffer(sha256(text.encode()).digest(), np.uint16, ENTRIES)
            self._sentences[digest.tobytes()] = text
            vectors.append([LEADING, *digest])
        return np.array(vectors, float).reshape(-1, 1 + ENTRIES)

    def similarity(self, embeddings1: Any, embeddings2: Any) -> torch.Tensor:
        """Return negative distances of all sentences of one side to all of the other."""
        import torch

        sources, targets = self._texts(embeddings1), self._texts(embeddings2)
        return -torch.from_numpy(self.scorer.matrix(sources, targets))

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> torch.Tensor:
        """Return negative distances of pairs of sentences."""
        import torch

        pairs = zip(self._texts(embeddings1), self._texts(embeddings2), strict=True)
        return -torch.from_numpy(self.scorer.distances(pairs))

    def _texts(self, embeddings: Any) -> list[str]:
        vectors = np.asarray(embeddings, float)
        if vectors.ndim != 2 or vectors.shape[1] != 1 + ENTRIES:
            raise InputError(
                f"expected vectors that this model made, (sentences, {1 + ENTRIES}), got an array "
                f"of shape {vectors.shape}; empty the cache if they come from one"
            )
        digests = [row.tobytes() for row in vectors[:, 1:].clip(0, 65535).astype(np.uint16)]
        if unknown := sum(digest not in self._sentences for digest in digests):
            raise InputError(
                f"{unknown} of {len(digests)} vectors stand for sentences that this model has not "
                "encoded, as a cache of another run returns them; empty the cache, or evaluate "
                "without one: the vectors cost nothing to make"
            )
        return [self._sentences[digest] for digest in digests]


def by_distance(task: Task) -> Task:
    """Return a copy of a task whose main score is the one that goes by the distance.

    Many tasks report cosine similarity as their main score, which says nothing here: on these
    vectors the cosine is always 1, and a correlation with it is NaN.
    """
    kind, judged = task.metadata.type, copy(task)
    if kind not in OWN_SCORES:
        raise InputError(f"no score of a task of type {kind} goes by the distance")
    if (own := OWN_SCORES[kind]) is not None:
        judged.metadata = task.metadata.model_copy(update={"main_score": own})
    return judged
