"""Fit the statistics that ship with the package for the embedded model.

    python scripts/ship_statistics.py DATA

DATA is a folder with ``PAWSWiki/dev.tsv`` and ``STSB/sts-dev.csv``; only development sets are
used, and only means, covariances, principal components and attention variability leave this
script.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

import movers_research.baselines  # noqa: F401, adds usif
from movers.encode.encodings import Request
from movers.encode.models import EMBEDDED
from movers.encode.transformer import TransformerEncoder
from movers.loading import load_encoder
from movers.measures.parts.statistics import Statistics, fit_statistics
from movers.measures.sentences import FitCorpus
from movers.scorer import Scorer
from movers.settings import Settings

TARGET = Path(__file__).parent.parent / "src" / "movers" / "data" / f"{EMBEDDED}.safetensors"


def sentences_of(data: Path) -> list[str]:
    paws = (data / "PAWSWiki" / "dev.tsv").read_text("utf-8").splitlines()[1:]
    stsb = (data / "STSB" / "sts-dev.csv").read_text("utf-8").splitlines()
    columns = [line.split("\t")[1:3] for line in paws] + [line.split("\t")[5:7] for line in stsb]
    return sorted({" ".join(text.split()) for pair in columns for text in pair})


def single(array: np.ndarray) -> np.ndarray:
    """Round to single precision: half the size, and far below what a score can show."""
    return array.astype(np.float32).astype(np.float64)


def components(
    encoder: TransformerEncoder, sentences: list[str], statistics: Statistics
) -> dict[str, np.ndarray]:
    """What sif and usif remove from sentence vectors of the last layer."""
    arrays: dict[str, np.ndarray] = {}
    for name in ("sif", "usif"):
        settings = Settings(name, stopwords=None, whitening="none", statistics=statistics)
        scorer = Scorer(settings, encoder)
        corpus = FitCorpus(dict.fromkeys(sentences, 1), scorer.weigh)
        arrays |= scorer.measure.fit(corpus).arrays
    return arrays


def main(data: Path) -> None:
    encoder = load_encoder(engine="torch")
    assert isinstance(encoder, TransformerEncoder)
    sentences = sentences_of(data)
    statistics, _ = fit_statistics(
        encoder,
        sentences,
        Request(embeddings=tuple(range(encoder.layers + 1))),
        variability=True,
        origin=f"{len(sentences)} distinct sentences of PAWS-Wiki dev and STSB dev",
        progress=True,
    )
    whitening = {
        layer: replace(white, mean=single(white.mean), matrix=single(white.matrix))
        for layer, white in statistics.whitening.items()
    }
    arrays = {**statistics.arrays, **components(encoder, sentences, statistics)}
    arrays = {name: single(array) for name, array in arrays.items()}
    replace(statistics, whitening=whitening, tables={}, arrays=arrays).save(TARGET)
    print(f"{TARGET.name}: {TARGET.stat().st_size:,} bytes, {statistics.origin}")
    assert statistics.variability is not None
    print("BV by layer:", statistics.variability.mean(axis=1).round(4).tolist())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
