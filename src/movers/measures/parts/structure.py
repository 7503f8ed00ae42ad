"""Attention as sentence structure: which layers and heads to use."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from operator import index

import numpy as np

from movers.arrays import Floats, Singles
from movers.encode.encodings import Head
from movers.errors import Do, InputError

Selection = str | int | Sequence[int]


def select_heads(
    layers: Selection,
    heads: Selection,
    *,
    available: tuple[int, int],
    variability: Floats | None = None,
) -> tuple[Head, ...]:
    """Turn a choice of layers and heads into (layer, head) pairs, both counted from 1.

    Parameters
    ----------
    layers
        ``"5"``, ``"5-12"``, ``"1,3,5-6"``, ``"all"``, a number, numbers, or ``"BV"`` for the
        layers that bidirectional attention variability picks.
    heads
        The same without ``"BV"``; taken in every chosen layer.
    available
        Number of layers and of heads per layer of the model.
    variability
        BV_A of every head, shape ``(layers, heads)``; needed for ``"BV"``.

    Examples
    --------
    >>> select_heads("2-3", "1", available=(6, 12))
    ((2, 1), (3, 1))
    """
    if isinstance(layers, str) and layers.upper() == "BV":
        if variability is None:
            raise InputError(
                "layers 'BV' need attention variability", Do("fit", "first"), Do("name layers")
            )
        layers = contextual_layers(variability)
    chosen = parse_numbers(layers, range(1, available[0] + 1), "layer")
    within = parse_numbers(heads, range(1, available[1] + 1), "head")
    return tuple((layer, head) for layer in chosen for head in within)


def parse_numbers(choice: Selection, available: range, what: str) -> tuple[int, ...]:
    """Read a choice of numbers: ``"5"``, ``"5-12"``, ``"1,3,5-6"``, ``"all"`` or numbers."""
    numbers = _numbers(choice, available, what)
    wrong = [number for number in numbers if number not in available]
    if wrong or not numbers:
        raise InputError(
            f"{what} {', '.join(map(str, wrong)) or repr(choice)} is out of range; "
            f"the model has {what}s {available[0]} to {available[-1]}"
        )
    return tuple(sorted(set(numbers)))


def check_notation(choice: Selection | None, what: str) -> None:
    """Refuse a choice of layers or heads that no model could have, before there is a model."""
    if choice is None or (what == "layer" and isinstance(choice, str) and choice.upper() == "BV"):
        return
    _numbers(choice, range(1, 2), what)


def _numbers(choice: Selection, available: range, what: str) -> list[int]:
    """List the numbers of a choice, whether or not they are available."""
    if isinstance(choice, str):
        every = choice.strip().lower() == "all"
        return [*available] if every else _ranges(choice, available, what)
    try:
        return [*map(index, choice if isinstance(choice, Iterable) else [choice])]
    except TypeError:
        raise InputError(f"{what}s must be whole numbers or text, got {choice!r}") from None


def _ranges(choice: str, available: range, what: str) -> list[int]:
    numbers: list[int] = []
    for part in choice.split(","):
        match = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if last < first:
            raise InputError(
                f"cannot read {what}s {choice!r}; write '5', '5-12', '1,3,5-6' or 'all'"
                + (" or 'BV'" if what == "layer" else "")
            )
        # Far beyond the last one, a few wrong numbers tell as much as a billion of them.
        numbers += range(first, min(last, max(first, 2 * available[-1])) + 1)
    return numbers


def describe_numbers(numbers: Iterable[int]) -> str:
    """Write numbers as ranges: ``1-3,5``."""
    parts: list[list[int]] = []
    for number in sorted(set(numbers)):
        if parts and parts[-1][-1] == number - 1:
            parts[-1] = [parts[-1][0], number]
        else:
            parts.append([number])
    return ",".join("-".join(map(str, part)) for part in parts)


def describe_heads(heads: Sequence[Head]) -> dict[str, str]:
    """Name heads for a signature: by layers and heads, or one by one where these say too much."""
    if not heads:
        return {}
    layers, numbers = (sorted(set(column)) for column in zip(*heads, strict=True))
    if len(heads) == len(layers) * len(numbers):
        return {"layers": describe_numbers(layers), "heads": describe_numbers(numbers)}
    return {"heads": ",".join(f"{layer}.{head}" for layer, head in heads)}


def attention_variability(attentions: Callable[[], Iterable[Singles]]) -> Floats:
    """Bidirectional attention variability BV_A of every head.

    BV = sum over sentences and cells of ``|A(x) - mean A|`` divided by twice the total attention;
    the mean divides by all sentences, not only by those long enough to reach a cell.

    ``attentions`` is called twice; each time it yields the full matrices ``(heads, tokens,
    tokens)`` of every sentence, special tokens included.
    """
    mean, sentences = np.zeros((0, 0, 0)), 0
    for matrix in attentions():
        heads, size, _ = matrix.shape
        if size > mean.shape[1]:
            wider = (0, size - mean.shape[1])
            mean = np.pad(mean, ((0, heads - len(mean)), wider, wider))
        mean[:, :size, :size] += matrix
        sentences += 1
    if not sentences:
        raise InputError("attention variability needs at least one sentence")
    mean /= sentences
    deviation, total = np.zeros(len(mean)), np.zeros(len(mean))
    for matrix in attentions():
        size = matrix.shape[1]
        deviation += np.abs(matrix - mean[:, :size, :size]).sum(axis=(1, 2))
        total += matrix.sum(axis=(1, 2), dtype=np.float64)
    return np.asarray(deviation / (2 * total))


def contextual_layers(variability: Floats) -> tuple[int, ...]:
    """Return the last layers, from where attention starts to vary with the sentence.

    The paper reads this off a plot of the layers' mean BV_A; here the cut is the one that splits
    the layers into two groups with the least spread around their own means.
    """
    values = variability.mean(axis=1)
    spreads = [
        float(np.var(values[:cut]) * cut + np.var(values[cut:]) * (len(values) - cut))
        for cut in range(1, len(values))
    ]
    start = int(np.argmin(spreads)) + 2 if spreads else 1
    return tuple(range(start, len(values) + 1))
