"""Attention matrices handed over while a model computes them, one layer at a time.

transformers lets a model run a registered attention function. Ours looks up whether somebody reads
the layer at hand: its matrices are then computed as the model's own plain code does it and handed
over, so that they are never held for all layers at once. On a GPU any other layer runs fused, and
has no matrices at all; on a CPU it runs as plainly, so that a sentence has the same bits whatever
is read of it. What goes into a layer can be read as well, and the model stops as soon as nothing
is left to read. Input vectors can be others than those of the vocabulary.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

NAME = "movers"
"""What the attention function is called among those of transformers."""


@dataclass
class AttentionReader:
    """Somebody who reads the attention of some layers, and what goes into others, in one pass.

    ``take`` is called with each of the ``layers``, counted from 1, and its matrices, ``(sentences,
    heads, tokens, tokens)``. ``states`` are hidden states to find, 0 for what goes into the first
    layer, where the model is to stop as soon as all is read; None lets it run to its end. ``own``
    are input vectors to read, which of them each token has, 0 for that of its id, and the ids; None
    if all are those of the vocabulary. ``seen`` counts the layers whose attention has run.
    """

    layers: Collection[int]
    take: Callable[[int, Any], None]
    states: Collection[int] | None
    own: tuple[Tensor, Tensor, Tensor] | None
    seen: int = 0
    found: dict[int, Any] = field(default_factory=dict)

    def __enter__(self) -> AttentionReader:
        self._token = _reader.set(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> bool:
        _reader.reset(self._token)
        return kind is _AllRead

    def stop_if_done(self) -> None:
        """End the forward pass if nothing is left to read."""
        if self.states is None or self.seen < max(self.layers, default=0):
            return
        if len(self.found) == len(self.states):
            raise _AllRead


class _AllRead(Exception):  # noqa: N818, it is none
    """Everything that is read of a forward pass was read."""


_reader: ContextVar[AttentionReader | None] = ContextVar("watch", default=None)


def install_hooks(model: Any, layers: int) -> tuple[bool, bool]:
    """Let a model run our attention function, stop early, and read input vectors of our own.

    Returns
    -------
    Whether it hands over attention layer by layer, not if it has code of its own for that; and
    whether it stops, not if its layers do not lie in one list.
    """
    from torch.nn import ModuleList
    from transformers import AttentionInterface, AttentionMaskInterface

    model.get_input_embeddings().register_forward_hook(_replace)
    names = vars(sys.modules[type(model).__module__])
    if "ALL_ATTENTION_FUNCTIONS" not in names or "eager_attention_forward" not in names:
        return False, False
    AttentionInterface.register(NAME, _attention)
    AttentionMaskInterface.register(NAME, _mask)
    model.set_attn_implementation(NAME)
    stacks = [one for one in model.modules() if isinstance(one, ModuleList) and len(one) == layers]
    if model.config._attn_implementation != NAME or len(stacks) != 1:
        return bool(model.config._attn_implementation == NAME), False
    for number, layer in enumerate(stacks[0], 1):
        layer.register_forward_pre_hook(partial(_enter, number), with_kwargs=True)
    return True, True


def _replace(embeddings: Any, arguments: Any, found: Any) -> Any:
    import torch

    reader = _reader.get()
    if reader is None or reader.own is None:
        return None
    vectors, numbers, ids = reader.own
    (given,) = arguments
    if not torch.equal(given, ids) and given.shape == ids.T.shape:
        numbers = numbers.T  # some models put sentences side by side (XLNet)
    else:  # some pad them further (Longformer)
        numbers = torch.nn.functional.pad(numbers, (0, given.shape[1] - ids.shape[1]))
    return torch.where((numbers > 0)[..., None], vectors[numbers], found)


def _enter(layer: int, module: Any, arguments: Any, named: Any) -> None:
    reader = _reader.get()
    if reader is not None and reader.states is not None:
        if layer - 1 in reader.states:
            reader.found[layer - 1] = arguments[0] if arguments else named["hidden_states"]
        reader.stop_if_done()


def _attention(module: Any, query: Any, key: Any, value: Any, mask: Any, **options: Any) -> Any:
    from transformers import AttentionInterface

    reader = _reader.get()
    if reader is not None:
        reader.seen += 1
    read = reader is not None and reader.seen in reader.layers
    if not read and query.device.type == "cuda":
        return AttentionInterface()["sdpa"](module, query, key, value, mask, **options)
    plain = vars(sys.modules[type(module).__module__])["eager_attention_forward"]
    states, matrices = plain(module, query, key, value, mask, **options)
    if reader is None:
        return states, matrices
    if read:
        reader.take(reader.seen, matrices)
    reader.stop_if_done()
    return states, None


def _mask(*sizes: Any, **options: Any) -> Any:
    """Return the mask of plain attention; on a GPU without a look whether it masks anything.

    That look would wait for all the work the GPU has been given so far.
    """
    from transformers import AttentionMaskInterface

    if str(options.get("device", "cpu")).startswith("cuda"):
        options["allow_is_bidirectional_skip"] = False
    return AttentionMaskInterface()["eager"](*sizes, **options)
