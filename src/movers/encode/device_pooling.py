"""The vector of a whole sentence on a GPU: `movers.encode.pooling`, of padded tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from movers.encode.subword_pooling import in_order

if TYPE_CHECKING:
    from torch import Tensor


def _mean(states: Tensor, genuine: Tensor) -> Tensor:
    return in_order(states.masked_fill(~genuine[..., None], 0.0), 1) / genuine.sum(1, keepdim=True)


def _last(states: Tensor, genuine: Tensor) -> Tensor:
    place = (genuine.sum(1) - 1).view(-1, 1, 1).expand(-1, 1, states.shape[2])
    return states.gather(1, place)[:, 0]


DEVICE_POOLINGS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "mean": _mean,
    "cls": lambda states, genuine: states[:, 0],
    "max": lambda states, genuine: states.masked_fill(~genuine[..., None], -float("inf")).amax(1),
    "lasttoken": _last,
}
"""Rows of `movers.encode.pooling.POOLINGS`; special tokens are genuine, padding is not."""
