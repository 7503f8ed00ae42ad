"""Words and structure moved together: the distance of Yamagiwa et al. (2023).

    min over P of (1 - mix) * sum C[i, j] P[i, j]
                  + mix * k * sum (A[i, i'] - B[j, j'])**2 P[i, j] P[i', j'],   k = C_M / A_MSE

A and B are attention matrices of one head, and the factor k, mean cost over mean squared
difference, puts both parts on one scale. Without a cost the second part is all, and k is 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from movers.arrays import Floats, Ints
from movers.encode.encodings import Encodings, Head
from movers.errors import ModelError
from movers.explain.compared import WordPlan
from movers.measures.parts.context import Context
from movers.measures.parts.costs import mean_costs
from movers.measures.parts.structure import Selection, select_heads
from movers.measures.sentences import WeightedSentences
from movers.measures.word_transport import WordTransport
from movers.results import Comparison
from movers.solve.batch import Problems, fgw_batch
from movers.solve.linear import emd
from movers.solve.solution import Many

CONSTANT = 1e-12
"""Below this share of the mean squares, two structures differ by rounding only."""


def choose_heads(context: Context, layers: Selection) -> tuple[Head, ...]:
    """Return the heads a user chose, in ``layers`` unless others were named."""
    encoder = context.encoder
    if not encoder.heads:
        raise ModelError(
            f"model {encoder.name!r} has no attention; use a measure without structure "
            "(wmd, wrd) or another model"
        )
    return select_heads(
        layers if context.layers is None else context.layers,
        context.heads,
        available=(encoder.layers, encoder.heads),
        variability=context.statistics.variability,
    )


def structure_errors(
    sentences: WeightedSentences | Encodings, sources: Ints, targets: Ints
) -> Floats:
    """Return the mean squared difference A_MSE of two structures, ``(pairs, heads)``.

    ``mean over i, i', j, j' of (A[i, i'] - B[j, j'])**2``, which needs only the sum and the sum
    of squares of each. A difference that is rounding noise counts as exactly 0.
    """
    cells = sentences.sizes.astype(float)[:, None] ** 2
    squares = sentences.squares / np.maximum(cells, 1)
    means = sentences.sums / np.maximum(cells, 1)
    size = squares[sources] + squares[targets]
    errors = size - 2 * means[sources] * means[targets]
    return np.where(errors > CONSTANT * size, errors, 0.0)


def structure_scales(mean_costs: Floats, errors: Floats) -> Floats:
    """Return the factor k = C_M / A_MSE that puts structure on the scale of the cost.

    Where both structures are one and the same constant (one word on each side), A_MSE is 0. Then
    they agree under every plan, as any two equal structures do under some plan, and the structural
    part is 0 whatever the factor; 0 is also the limit as two equal structures turn constant.
    """
    positive = np.where(errors > 0, errors, 1.0)
    return np.where(errors > 0, mean_costs[:, None] / positive, 0.0)


@dataclass(frozen=True)
class StructuralTransport(WordTransport):
    """Fused Gromov-Wasserstein transport; Gromov-Wasserstein alone where ``cost`` is None.

    As a ``word_part`` it is the cost of the words alone, under the plan structure takes part in.
    """

    reads_attention = True
    by_head = True

    def _settings(self) -> set[str]:
        return {*super()._settings(), *(() if self.cost is None else ("mix",))}

    @cached_property
    def heads(self) -> tuple[Head, ...]:
        """Attention heads it reads, as (layer, head) counted from 1."""
        return choose_heads(self.context, self.context.encoder.default_layers)

    @property
    def share(self) -> float:
        """Share of structure in the distance: all of it where words cost nothing."""
        return 1.0 if self.cost is None else self.context.mix

    def pose(self, sentences: WeightedSentences, rows: Ints) -> Problems:
        """Pose the transport problems of pairs that have words, under every head."""
        costs, apart = self.costs(sentences, rows)
        scales = np.ones((len(rows), max(1, sentences.sums.shape[1])))
        if self.cost is not None:
            assert sentences.norms is not None
            errors = structure_errors(sentences, *rows.T)
            norms, sizes, (sources, targets) = sentences.norms, sentences.sizes, rows.T
            means = mean_costs(self.cost, costs, norms, sizes, sources, targets, apart)
            scales = structure_scales(means, errors)
        return Problems.between(sentences.weights, rows, costs, sentences.structure, scales)

    def move(self, problems: Problems, null: Floats | None = None, *, plans: bool = False) -> Many:
        """Solve problems; ``null`` is the price of a unit of mass that stays at home."""
        threads = self.context.threads
        return fgw_batch(problems, mix=self.share, null=null, threads=threads, plans=plans)

    def home_prices(
        self, sentences: WeightedSentences, rows: Ints, problems: Problems
    ) -> Floats | None:
        """Return the price of a unit at home: `null` mean costs, or A_MSE where nothing costs."""
        null = self.context.null
        if self.cost is not None or null is None or np.isinf(null):
            return super().home_prices(sentences, rows, problems)
        return np.asarray(null * structure_errors(sentences, *rows.T))

    def words_alone(self, found: Comparison) -> WordPlan | None:
        """Return the plan of the words without structure; None where words cost nothing."""
        if not found.cost.size:
            return None
        null = self.context.null
        price = null * found.cost.mean() if found.home and null is not None else None
        alone = emd(found.cost, *found.weights, null=price)
        return WordPlan(self.base or self.name, alone.value, alone.plan)
