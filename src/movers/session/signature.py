"""The line that goes with a number: everything that would change it."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from movers.baselines import find_baseline
from movers.encode.stopwords import describe_stopwords
from movers.explain.compared import Signature
from movers.measure.frequencies import load_frequencies
from movers.measure.structure import describe_numbers
from movers.measure.weights import FREQUENCY_WEIGHTS
from movers.session.resolved import Resolved
from movers.version import __version__

Fields = list[tuple[str, str]]

SCALE = "scale"
"""What the names of fitted scales begin with."""


def sign(found: Resolved, far: float | None = None) -> Signature:
    """Name version, method, model, and every setting and statistic the method looks at.

    ``far`` is what unrelated sentences are apart, if that is known and shall be named.
    """
    settings, method, encoder = found.settings, found.method, found.encoder
    fields: Fields = [
        ("movers", __version__),
        ("method", method.name),
        ("model", f"{Path(encoder.name).name}@{encoder.fingerprint}"),
        *_vectors(found),
        *_fitted(found),
        *_attention(found),
        *_home(found),
        ("recipe", settings.recipe),
        ("stopwords", describe_stopwords(settings.rules.stopwords)),
        ("subwords", settings.subwords),
        ("dtype", encoder.dtype),
    ]
    if settings.empty == "keep":
        fields.append(("empty", "keep"))
    if far is not None:
        fields.append(("scale", f"{far:.4g}"))
    return Signature(tuple(fields))


def _vectors(found: Resolved) -> Fields:
    if not found.method.needs_vectors:
        return []
    whitening, encoder = found.whitening, found.encoder
    name = "none" if whitening is None else f"{whitening.kind}@{whitening.digest}"
    fields = [("embedding", str(found.embedding)), ("whitening", name)]
    if found.method.needs_pooled:
        fields += [("pooling", encoder.pooling), ("chance", f"{encoder.chance:.4g}")]
    return fields


def _fitted(found: Resolved) -> Fields:
    """Tables and arrays that were fitted or loaded, each by its hash or name."""
    settings, method = found.settings, found.method
    fields: Fields = []
    if table := found.statistics.tables.get(method.weights):
        fields.append((method.weights, table.digest))
    elif method.weights in FREQUENCY_WEIGHTS:
        fields.append(("frequencies", load_frequencies(settings.frequencies).name))
    if method.baseline and method.needs_vectors:
        baseline = find_baseline(method.baseline)
        fitted = getattr(baseline, "fitted", None)
        array = fitted and fitted(found.context, found.embedding)
        if array is not None:
            fields.append(("fitted", sha256(array.tobytes()).hexdigest()[:8]))
        elif hasattr(baseline, "fit"):
            fields.append(("fitted", "none"))
    if method.needs_trees and settings.trees is not None:
        fields.append(("parser", str(getattr(settings.trees, "name", "parser"))))
    return fields


def _attention(found: Resolved) -> Fields:
    if not found.method.needs_attention:
        return []
    fields = [
        ("layers", describe_numbers(layer for layer, _ in found.heads)),
        ("heads", describe_numbers(head for _, head in found.heads)),
    ]
    if found.method.transport == "both":
        fields.append(("mix", str(float(found.settings.mix))))
    return fields


def _home(found: Resolved) -> Fields:
    null = found.settings.null
    return [("null", str(null))] if null is not None and found.method.moves_mass else []


def scale_key(found: Resolved) -> str:
    """Name under which statistics keep the scale of one measure with all its settings."""
    named = (one for one in sign(found).fields if one[0] != "movers")
    fields = "|".join(f"{name}:{value}" for name, value in named)
    return f"{SCALE}.{sha256(fields.encode()).hexdigest()[:8]}"
