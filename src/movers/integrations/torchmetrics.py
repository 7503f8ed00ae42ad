"""torchmetrics: the mean distance of texts to their references, over batches and processes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from movers.errors import missing
from movers.loading import load
from movers.references import best_of
from movers.scorer import Scorer

try:
    from torchmetrics import Metric
except ImportError as error:
    raise missing("torchmetrics", "movers.integrations") from error


class MoversDistance(Metric):
    """Mean distance of predictions to their references; small means similar.

    Every update computes its distances at once and keeps only them, so that what is gathered
    from several processes are numbers in the order of the pairs. They are kept in the metric's own
    dtype, float32 unless `set_dtype` says otherwise.

    Parameters
    ----------
    scorer
        A scorer, or the name of a method for `movers.load`.
    **kwargs
        For `torchmetrics.Metric`.

    Examples
    --------
    >>> metric = MoversDistance("bow")
    >>> metric.update(["a red car", "a dog"], ["the car is red", ["a cat", "the dog"]])
    >>> metric.distances
    tensor([0., 0.])
    >>> metric.compute()
    tensor(0.)
    """

    is_differentiable = False
    higher_is_better = False
    full_state_update = False

    values: list[torch.Tensor] | torch.Tensor

    def __init__(self, scorer: Scorer | str = "movers", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.scorer = load(scorer) if isinstance(scorer, str) else scorer
        self.add_state("values", default=[], dist_reduce_fx="cat")

    def update(
        self, preds: str | Sequence[str], target: str | Sequence[str | Sequence[str]]
    ) -> None:
        """Add predictions with their references.

        Parameters
        ----------
        preds
            Texts to judge, the sources of the comparison.
        target
            For every prediction its reference, or a list of references of which the nearest
            counts.
        """
        if isinstance(preds, str):
            return self.update([preds], [target])  # type: ignore[list-item]
        references = [[texts] if isinstance(texts, str) else texts for texts in target]
        distances = torch.from_numpy(best_of(self.scorer, preds, references))
        assert isinstance(self.values, list)  # a tensor only while synchronised
        self.values.append(distances.to(self.device, self.dtype))

    @property
    def distances(self) -> torch.Tensor:
        """The distance of every prediction so far, in the order they were added.

        Under `sync_context` those of all processes, one process after the other.
        """
        parts = [self.values] if isinstance(self.values, torch.Tensor) else self.values
        return torch.cat([torch.zeros(0, dtype=self.dtype, device=self.device), *parts])

    def compute(self) -> torch.Tensor:
        """Return the mean over all predictions that have a distance."""
        return self.distances.nanmean()
