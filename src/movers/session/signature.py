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
from movers.session.session import Session
from movers.version import __version__

SCALE = "scale"
"""What the names of fitted scales begin with."""


def sign(found: Session, far: float | None = None) -> Signature:
    """Name version, method, model, and every setting and statistic the method looks at.

    ``far`` is what unrelated sentences are apart, if that is known and shall be named.
    """
    settings, method, encoder = found.settings, found.method, found.encoder
    vectors, attention = method.needs_vectors, method.needs_attention
    pooled, white = vectors and method.needs_pooled, found.whitening if vectors else None
    whitening = "none" if white is None else f"{white.kind}@{white.digest}"
    fields = {
        "movers": __version__,
        "method": method.name,
        "model": f"{Path(encoder.name).name}@{encoder.fingerprint}",
        "embedding": str(found.embedding) if vectors else "",
        "whitening": whitening if vectors else "",
        "pooling": encoder.pooling if pooled else "",
        "chance": f"{encoder.chance:.4g}" if pooled else "",
        **_fitted(found),
        "layers": describe_numbers(layer for layer, _ in found.heads) if attention else "",
        "heads": describe_numbers(head for _, head in found.heads) if attention else "",
        "mix": str(float(settings.mix)) if method.transport == "both" else "",
        "null": str(settings.null) if settings.null is not None and method.moves_mass else "",
        "recipe": settings.recipe,
        "stopwords": describe_stopwords(settings.rules.stopwords),
        "subwords": settings.subwords,
        "dtype": encoder.dtype,
        "engine": encoder.engine,
        "empty": "keep" if settings.empty == "keep" else "",
        "scale": "" if far is None else f"{far:.4g}",
    }
    return Signature(tuple((name, value) for name, value in fields.items() if value))


def _fitted(found: Session) -> dict[str, str]:
    """Tables and arrays that were fitted or loaded, each by its hash or name."""
    settings, method = found.settings, found.method
    fields: dict[str, str] = {}
    if table := found.statistics.tables.get(method.weights):
        fields[method.weights] = table.digest
    elif method.weights in FREQUENCY_WEIGHTS:
        fields["frequencies"] = load_frequencies(settings.frequencies).name
    if method.baseline and method.needs_vectors:
        baseline = find_baseline(method.baseline)
        fitted = getattr(baseline, "fitted", None)
        array = fitted and fitted(found.context, found.embedding)
        if array is not None:
            fields["fitted"] = sha256(array.tobytes()).hexdigest()[:8]
        elif hasattr(baseline, "fit"):
            fields["fitted"] = "none"
    if method.needs_trees and settings.trees is not None:
        fields["parser"] = str(getattr(settings.trees, "name", "parser"))
    return fields


def scale_key(found: Session) -> str:
    """Name under which statistics keep the scale of one measure with all its settings."""
    named = (one for one in sign(found).fields if one[0] not in ("movers", "engine"))
    fields = "|".join(f"{name}:{value}" for name, value in named)
    return f"{SCALE}.{sha256(fields.encode()).hexdigest()[:8]}"
