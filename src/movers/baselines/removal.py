"""Sentence vectors without what they have in common: principal components, fitted once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from movers.arrays import Floats, Ints
from movers.baselines import Blocks, Scores, cosine_distances
from movers.baselines.average import pooled, renumbered
from movers.encode.products import product
from movers.errors import Do
from movers.measure.measured import Context, Measured
from movers.runtime.notices import UnfittedWarning, notify


@dataclass(frozen=True)
class Removal:
    """Compare sentence vectors, less a part of each shared component as large as its share.

    ``number`` components are removed, kept under the ``name`` of the measure; ``vectors`` makes the
    vectors of sentences in the paper's recipe.
    """

    name: str
    number: int
    vectors: Callable[[Measured, Ints], Floats]

    def fit(self, blocks: Blocks, context: Context, layer: int) -> dict[str, Floats]:
        """Find the directions the sentence vectors share most."""
        vectors = mean_vectors if context.recipe == "reference" else self.vectors
        return {key(self.name, layer, context.recipe): principal(vectors, blocks, self.number)}

    def fitted(self, context: Context, layer: int) -> Floats | None:
        """The components in use."""
        return context.statistics.arrays.get(key(self.name, layer, context.recipe))

    def distances(
        self, measured: Measured, rows: Ints, context: Context, *, plans: bool = False
    ) -> Scores:
        """Compare what is left of the sentence vectors."""
        if context.recipe == "reference":
            return word_by_word(self.name, measured, rows, context)
        picked, pairs = renumbered(rows)
        components = components_of(self.name, measured, context)
        vectors = without(self.vectors(measured, picked), components, context.threads)
        return Scores(cosine_distances(vectors, pairs))


def key(name: str, layer: int | None, recipe: str) -> str:
    """Where the components of a method are kept; they suit one layer and one recipe."""
    return f"{name}.{layer}.{recipe}"


def principal(
    vectors_of: Callable[[Measured, Ints], Floats], blocks: Blocks, number: int
) -> Floats:
    """Find the directions the sentence vectors share most, shape ``(number, dimension)``.

    These are right singular vectors of the uncentred matrix, each scaled by the square root of
    ``lambda_i = sigma_i**2 / sum(sigma**2)``, the sum running over the ``number`` largest.
    """
    gram: Floats | float = 0.0
    for measured, rows, counts in blocks:
        vectors = vectors_of(measured, rows)
        gram = gram + vectors.T @ (vectors * counts[:, None])
    squares, directions = np.linalg.eigh(gram)
    largest = np.maximum(squares[::-1][:number], 0.0)
    shares = largest / max(largest.sum(), np.finfo(float).tiny)
    return np.asarray(directions[:, ::-1][:, :number].T * np.sqrt(shares)[:, None])


def mean_vectors(measured: Measured, picked: Ints) -> Floats:
    """Mean over the words of weight times vector."""
    lengths = np.maximum(measured.weights.lengths[picked], 1)
    scale = measured.totals[picked] / lengths
    return pooled(measured, measured.weights.data, picked) * scale[:, None]


def word_by_word(name: str, measured: Measured, rows: Ints, context: Context) -> Scores:
    """Compare sentence vectors after a removal from every word vector, as in published code.

    Each word vector loses its components times the word's share of the weights, so that the
    sentence loses about one n-th of them.
    """
    picked, pairs = renumbered(rows)
    components = components_of(name, measured, context)
    weights = measured.weights.data
    vectors = pooled(measured, weights, picked)
    spread = pooled(measured, weights**2, picked)
    lost = product(spread, components.T @ components, context.threads)
    return Scores(cosine_distances(vectors - lost, pairs))


def without(vectors: Floats, components: Floats, threads: int | None = None) -> Floats:
    """Vectors less their components."""
    return vectors - product(vectors, components.T @ components, threads)


def components_of(name: str, measured: Measured, context: Context) -> Floats:
    """The components that `principal` found for a method; without a fit nothing is removed."""
    found = context.statistics.arrays.get(key(name, measured.embedding, context.recipe))
    if found is not None:
        return found
    assert measured.vectors is not None
    notify(
        f"{name} removes what sentences have in common, and that is not known for embedding layer "
        f"{measured.embedding} in the {context.recipe} recipe: nothing is removed",
        UnfittedWarning,
        Do("fit"),
    )
    return np.zeros((1, measured.vectors.data.shape[1]))
