"""Where the time goes from text to kept encodings on a GPU, and what sizes would change.

python bench/gpu_profile.py [--model FOLDER]
"""

import argparse
import cProfile
import pstats
import warnings
from functools import partial

import torch
from gpu import exchanged_pairs, median_seconds

import movers
from movers.encode import encoder as encoding
from movers.encode.encodings import Request
from movers.encode.transformer import TransformerEncoder


def sweep(model: str | None, sentences: list[str], request: Request) -> None:
    """Sentences per second by tokens of a batch and bytes of a window."""
    for tokens in (1 << 15, 1 << 16, 1 << 17):
        encoder = TransformerEncoder(model, device="cuda", dtype="float16", batch_tokens=tokens)
        for size in (1 << 28, 1 << 29, 1 << 30):
            encoding.WINDOW_BYTES = size
            encoder.encode(sentences, request)
            seconds = median_seconds(partial(encoder.encode, sentences, request), rounds=1)
            rate = len(sentences) / seconds
            print(f"{tokens:7d} tokens, window {size >> 20:5d} MiB {rate:8.0f} sentences/s")


def main(model: str | None) -> None:
    scorer = movers.load("movers", model, device="cuda", dtype="float16")
    pairs = exchanged_pairs(10_000)
    sentences = [text for pair in pairs for text in pair]
    sweep(model, sentences, scorer.measure.requirements)
    with cProfile.Profile() as profile:
        scorer.encoder.encode(sentences, scorer.measure.requirements)
    pstats.Stats(profile).sort_stats("tottime").print_stats(25)
    scorer.distances(pairs)
    scorer.forget()
    with cProfile.Profile() as profile:
        scorer.distances(pairs)
    pstats.Stats(profile).sort_stats("tottime").print_stats(30)
    with torch.profiler.profile() as kernels:
        scorer.encoder.encode(sentences[:8000], scorer.measure.requirements)
    print(kernels.key_averages().table(sort_by="cuda_time_total", row_limit=20))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model")
    warnings.simplefilter("ignore")
    main(parser.parse_args().model)
