"""A whole comparison beside a bare forward pass over the same sentences, in processor time.

    python bench/pipeline.py [--pairs 500] [--rounds 5]

The bare pass gets its token ids ready-made, in the same batches, and returns nothing but its
last layer. A measure starts from text: it tokenizes, encodes, whitens, weighs, builds the costs and
solves all heads it looks at. One thread each; rounds alternate, and the ratio is the median.
"""

import argparse
import statistics
import time

import numpy as np
import torch
from sentences import swapped_pairs

import movers
from movers.loading import load_encoder


def bare_pass(sentences: list[str]) -> float:
    """Processor seconds of a forward pass without any outputs."""
    encoder = load_encoder()
    ids = encoder._tokens(sentences).ids
    batches = list(encoder._batches(ids.lengths))
    started = time.process_time()
    for batch in batches:
        encoder._forward(ids, batch, [], [])
    return time.process_time() - started


def whole(pairs: list[tuple[str, str]], method: str) -> float:
    """Processor seconds from text to distances, nothing cached."""
    scorer = movers.load(method, threads=1)
    scorer.distances(pairs[:2])
    scorer._stores.clear()
    started = time.process_time()
    scorer.distances(pairs)
    return time.process_time() - started


def report(count: int, rounds: int) -> list[str]:
    """Lines of a readable report."""
    torch.set_num_threads(1)
    origin, pairs = swapped_pairs(count)
    sentences = sorted({text for pair in pairs for text in pair})
    whole(pairs[:50], "wsmd")
    lines = [f"{count} pairs of {origin}, {len(sentences)} distinct sentences, one thread"]
    for method in ("movers", "wmd", "wsmd-wmd", "wsmd-wrd"):
        bare, whole_times = [], []
        for _ in range(rounds):
            bare.append(bare_pass(sentences))
            whole_times.append(whole(pairs, method))
        ratios = np.array(whole_times) / np.array(bare)
        lines.append(
            f"{method:10s} bare forward {statistics.median(bare):6.2f} s   whole "
            f"{statistics.median(whole_times):6.2f} s   ratio {np.median(ratios):.3f} "
            f"({ratios.min():.3f} to {ratios.max():.3f})"
        )
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    print("\n".join(report(chosen.pairs, chosen.rounds)))
