"""Attention matrices handed over while a model computes them, one layer at a time.

transformers lets a model run a registered attention function. Ours looks up whether somebody reads
the layer at hand: its matrices are then computed as the model's own plain code does it and handed
over, so that they are never held for all layers at once. On a GPU any other layer runs fused, and
has no matrices at all; on a CPU it runs as plainly, so that a sentence has the same bits whatever
is read of it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

NAME = "movers"
"""What the attention function is called among those of transformers."""


@dataclass
class Watch:
    """Somebody who reads the attention of some layers.

    Parameters
    ----------
    layers
        The layers, counted from 1.
    take
        Called with a layer and its matrices, ``(sentences, heads, tokens, tokens)``.
    seen
        Layers that have run.
    """

    layers: Collection[int]
    take: Callable[[int, Any], None]
    seen: int = 0


_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def watching(layers: Collection[int], take: Callable[[int, Any], None]) -> Iterator[Watch]:
    """Have the matrices of some layers handed over during one forward pass."""
    watch = Watch(layers, take)
    token = _watch.set(watch)
    try:
        yield watch
    finally:
        _watch.reset(token)


def make_watchable(model: Any) -> bool:
    """Let a model run our attention function; False if it has code of its own for attention."""
    from transformers import AttentionInterface, AttentionMaskInterface

    names = vars(sys.modules[type(model).__module__])
    if "ALL_ATTENTION_FUNCTIONS" not in names or "eager_attention_forward" not in names:
        return False
    AttentionInterface.register(NAME, _attention)
    AttentionMaskInterface.register(NAME, _mask)
    model.set_attn_implementation(NAME)
    return bool(model.config._attn_implementation == NAME)


def _attention(module: Any, query: Any, key: Any, value: Any, mask: Any, **options: Any) -> Any:
    from transformers import AttentionInterface

    watch = _watch.get()
    if watch is not None:
        watch.seen += 1
    read = watch is not None and watch.seen in watch.layers
    if not read and query.device.type == "cuda":
        return AttentionInterface()["sdpa"](module, query, key, value, mask, **options)
    plain = vars(sys.modules[type(module).__module__])["eager_attention_forward"]
    states, matrices = plain(module, query, key, value, mask, **options)
    if watch is None:
        return states, matrices
    if read:
        watch.take(watch.seen, matrices)
    return states, None


def _mask(*sizes: Any, **options: Any) -> Any:
    """The mask of plain attention; on a GPU without a look whether it masks anything.

    That look would wait for all the work the GPU has been given so far.
    """
    from transformers import AttentionMaskInterface

    if str(options.get("device", "cpu")).startswith("cuda"):
        options["allow_is_bidirectional_skip"] = False
    return AttentionMaskInterface()["eager"](*sizes, **options)
