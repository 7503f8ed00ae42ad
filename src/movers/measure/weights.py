"""How much each word of a sentence counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from movers.encode.encodings import Encodings
from movers.encode.ragged import Ragged
from movers.errors import InputError

if TYPE_CHECKING:
    from movers.measure.measured import Context

Floats = NDArray[np.float64]


def uniform(encodings: Encodings, norms: Floats | None, context: Context) -> Floats:
    """Every word the same (Kusner et al., 2015)."""
    return np.ones(int(encodings.spans.starts[-1]))


def norm(encodings: Encodings, norms: Floats | None, context: Context) -> Floats:
    """Length of the word's vector (Yokoi et al., 2020)."""
    assert norms is not None, "norm weights need word vectors"
    return norms


def idf(encodings: Encodings, norms: Floats | None, context: Context) -> Floats:
    """Inverse document frequency of the word."""
    table = context.statistics.tables.get("idf")
    if table is None:
        raise InputError(
            "idf weights need document frequencies; call fit(sentences) first or pass "
            "statistics=… saved by an earlier fit"
        )
    return np.array([x for row in range(len(encodings)) for x in table.of(encodings, row)])


WEIGHTS: dict[str, Callable[[Encodings, Floats | None, Context], Floats]] = {
    "uniform": uniform,
    "norm": norm,
    "idf": idf,
}


def word_weights(kind: str, encodings: Encodings, norms: Floats | None, context: Context) -> Ragged:
    """Weights of every kept word, summing to one in each sentence that has any."""
    raw = Ragged(
        np.asarray(WEIGHTS[kind](encodings, norms, context), np.float64), encodings.spans.starts
    )
    totals = raw.sums()
    bad = ~np.isfinite(totals) | ((totals <= 0) & (raw.lengths > 0))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise InputError(
            f"{kind} weights of {encodings.sentences[row]!r} are {raw[row].tolist()[:8]}; they "
            "must be finite and not all zero — fit the statistics again"
        )
    with np.errstate(invalid="ignore"):
        return replace(raw, data=raw.data / np.repeat(totals, raw.lengths))
