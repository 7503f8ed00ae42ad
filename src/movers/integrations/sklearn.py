"""scikit-learn: sentences become distances for neighbours, clustering and pipelines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np

from movers.arrays import Floats
from movers.errors import InputError, missing
from movers.io.pairs import check_sentences
from movers.loading import load
from movers.measures.parts.structure import Selection

try:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted
except ImportError as error:
    raise missing("scikit-learn", "movers.integrations") from error


class SentenceDistances(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Turn sentences into their distances to the sentences of the fit.

    In a pipeline it goes before anything with ``metric="precomputed"``: neighbours,
    DBSCAN, agglomerative clustering, t-SNE, …

    Parameters
    ----------
    method, model, embedding, layers, heads, mix
        As for `movers.load`.
    fit_statistics
        Whether `fit` also fits whitening and document frequencies on its sentences; otherwise
        the model's own statistics are used where there are some.
    settings
        Other settings of `movers.load` by name. Here ``empty`` is ``"keep"`` unless it says
        otherwise, for what comes next in a pipeline knows no NaN; a sentence without any words,
        which is infinitely far from all others, is an error.

    Attributes
    ----------
    sentences_
        The sentences of the fit, one for every column of the distances.
    scorer_
        The scorer that compares them.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> nearest = KNeighborsClassifier(1, metric="precomputed")
    >>> pipeline = make_pipeline(SentenceDistances("bow"), nearest)
    >>> pipeline.fit(["dogs bark", "cars drive"], ["animal", "machine"]).predict(["cars race"])
    array(['machine'], dtype='<U7')
    """

    def __init__(
        self,
        method: str = "movers",
        *,
        model: str | Path | None = None,
        embedding: int = -1,
        layers: Selection | None = None,
        heads: Selection = "all",
        mix: float = 0.5,
        fit_statistics: bool = False,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.method = method
        self.model = model
        self.embedding = embedding
        self.layers = layers
        self.heads = heads
        self.mix = mix
        self.fit_statistics = fit_statistics
        self.settings = settings

    def fit(self, X: Iterable[str], y: Any = None) -> Self:
        """Remember the sentences to compare with."""
        sentences = _texts(X)
        named = {name: getattr(self, name) for name in ("embedding", "layers", "heads", "mix")}
        scorer = load(
            self.method, self.model, **named, **{"empty": "keep", **(self.settings or {})}
        )
        self.scorer_ = scorer.fit(sentences) if self.fit_statistics else scorer
        self.sentences_ = sentences
        return self

    def transform(self, X: Iterable[str]) -> Floats:
        """Return distances to the sentences of the fit, shape ``(sentences, fitted sentences)``."""
        check_is_fitted(self)
        sentences = _texts(X)
        distances = self.scorer_.matrix(sentences, self.sentences_)
        return _finite(distances, sentences, self.sentences_)

    def fit_transform(self, X: Iterable[str], y: Any = None) -> Floats:
        """Fit, and give the distances among the sentences.

        The matrix is symmetric where the measure is (`movers.measures.base.Measure.symmetric`).
        """
        self.fit(X)
        return _finite(self.scorer_.matrix(self.sentences_), self.sentences_, self.sentences_)

    @property
    def _n_features_out(self) -> int:
        return len(self.sentences_)

    def __sklearn_tags__(self) -> Any:
        """Return sentences come in, in one dimension."""
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags


def _finite(distances: Floats, sources: list[str], targets: list[str]) -> Floats:
    """Return distances without infinity, or whose it is."""
    far = np.argwhere(np.isinf(distances))
    if len(far):
        source, target = far[0].tolist()
        raise InputError(
            f"sentence {source} ({sources[source]!r}) is infinitely far from fitted sentence "
            f"{target} ({targets[target]!r}), for one of them has no word to compare; drop it or "
            "fill it in"
        )
    return distances


def _texts(X: Any) -> list[str]:
    """Return sentences of a list, an array, a series, or a frame of one column."""
    shape = getattr(X, "shape", None)
    if shape is not None and len(shape) == 2:
        if shape[1] != 1:
            raise InputError(f"X must be one column of sentences, got shape {shape}")
        X = np.asarray(X)[:, 0]
    texts = check_sentences(X, "sentence")
    if not texts:
        raise InputError("X holds no sentences; at least one is needed")
    return [str(text) for text in texts]
