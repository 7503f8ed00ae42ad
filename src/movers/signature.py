"""The line that goes with a number: everything that would change it."""

from __future__ import annotations

from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from movers.baselines import find_baseline
from movers.encode.stopwords import describe_stopwords
from movers.measure.frequencies import load_frequencies
from movers.measure.structure import describe_numbers
from movers.measure.weights import FREQUENCY_WEIGHTS
from movers.results import Signature
from movers.version import __version__

if TYPE_CHECKING:
    from movers.scorer import Scorer

Fields = list[tuple[str, str]]


def sign(scorer: Scorer, *, scaled: bool = True) -> Signature:
    """Name version, method, model, and every setting and statistic the method looks at.

    ``scaled`` also names what unrelated sentences are apart, if that is known.
    """
    settings, method, encoder = scorer.settings, scorer.method, scorer.encoder
    fields: Fields = [
        ("movers", __version__),
        ("method", method.name),
        ("model", f"{Path(encoder.name).name}@{encoder.fingerprint}"),
        *_vectors(scorer),
        *_fitted(scorer),
        *_attention(scorer),
        *_home(scorer),
        ("recipe", settings.recipe),
        ("stopwords", describe_stopwords(settings.rules.stopwords)),
        ("subwords", settings.subwords),
        ("dtype", encoder.dtype),
    ]
    if settings.empty == "keep":
        fields.append(("empty", "keep"))
    if scaled and (far := scorer.far) is not None:
        fields.append(("scale", f"{far:.4g}"))
    return Signature(tuple(fields))


def _vectors(scorer: Scorer) -> Fields:
    if not scorer.method.needs_vectors:
        return []
    whitening, encoder = scorer.whitening, scorer.encoder
    name = "none" if whitening is None else f"{whitening.kind}@{whitening.digest}"
    fields = [("embedding", str(scorer.embedding)), ("whitening", name)]
    if scorer.method.needs_pooled:
        fields += [("pooling", encoder.pooling), ("chance", f"{encoder.chance:.4g}")]
    return fields


def _fitted(scorer: Scorer) -> Fields:
    """Tables and arrays that were fitted or loaded, each by its hash or name."""
    settings, method = scorer.settings, scorer.method
    fields: Fields = []
    if table := scorer.statistics.tables.get(method.weights):
        fields.append((method.weights, table.digest))
    elif method.weights in FREQUENCY_WEIGHTS:
        fields.append(("frequencies", load_frequencies(settings.frequencies).name))
    if method.baseline and method.needs_vectors:
        baseline = find_baseline(method.baseline)
        fitted = getattr(baseline, "fitted", None)
        array = fitted and fitted(scorer.context, scorer.embedding)
        if array is not None:
            fields.append(("fitted", sha256(array.tobytes()).hexdigest()[:8]))
        elif hasattr(baseline, "fit"):
            fields.append(("fitted", "none"))
    if method.needs_trees and settings.parser is not None:
        fields.append(("parser", str(getattr(settings.parser, "name", "parser"))))
    return fields


def _home(scorer: Scorer) -> Fields:
    null = scorer.settings.null
    if null is None or not isfinite(null) or not scorer.method.moves_mass:
        return []
    return [("null", str(float(null)))]


def _attention(scorer: Scorer) -> Fields:
    if not scorer.method.needs_attention:
        return []
    fields = [
        ("layers", describe_numbers(layer for layer, _ in scorer.heads)),
        ("heads", describe_numbers(head for _, head in scorer.heads)),
    ]
    if scorer.method.transport == "both":
        fields.append(("mix", str(float(scorer.settings.mix))))
    return fields
