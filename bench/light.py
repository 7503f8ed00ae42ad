"""A light engine beside torch's: text to distances in processor time of one thread, and starts.

    python bench/light.py [--pairs 300] [--rounds 5]

In every round each runs once, one after another; the figures are medians over rounds, and ratios of
those to sentence-transformers on torch. Nothing is cached from one round to the next.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before anything counts processors

import argparse
import statistics
import time
from collections.abc import Callable

from sentences import swapped_pairs

import movers
from movers.encode.engines import Engine
from movers.encode.models import embedded_folder

THEIRS = "sentence-transformers, torch"
ENGINES: tuple[tuple[Engine, str], ...] = (
    ("light", "float32"),
    ("torch", "float32"),
    ("torch", "bfloat16"),
)


def sentence_transformers(sentences: list[str]) -> Callable[[], object]:
    """Vectors of sentences, and the cosines of pairs."""
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)
    model = SentenceTransformer(str(embedded_folder()), device="cpu")

    def run() -> object:
        vectors = model.encode(sentences, normalize_embeddings=True)
        return (vectors[0::2] * vectors[1::2]).sum(axis=1)

    return run


def measure(engine: Engine, dtype: str, pairs: list[tuple[str, str]]) -> Callable[[], object]:
    """Distances of pairs, from text."""
    scorer = movers.load(device="cpu", engine=engine, dtype=dtype, threads=1)

    def run() -> object:
        scorer.forget()
        return scorer.distances(pairs)

    return run


def main(count: int, rounds: int) -> None:
    origin, pairs = swapped_pairs(count)
    print(f"{origin}, {len(pairs)} pairs")
    sentences = [text for pair in pairs for text in pair]
    runs = {THEIRS: sentence_transformers(sentences)}
    for engine, dtype in ENGINES:
        runs[f"movers, {engine} engine, {dtype}"] = measure(engine, dtype, pairs)
    taken: dict[str, list[float]] = {name: [] for name in runs}
    for number in range(rounds + 1):
        for name, run in runs.items():
            started = time.process_time()
            run()
            if number:  # the first warms up
                taken[name].append(time.process_time() - started)
    unit = statistics.median(taken[THEIRS])
    for name, seconds in taken.items():
        middle = statistics.median(seconds)
        print(f"| {name} | {1000 * middle / count:.2f} ms | {middle / unit:.2f} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    main(**{{"pairs": "count"}.get(k, k): v for k, v in vars(parser.parse_args()).items()})
