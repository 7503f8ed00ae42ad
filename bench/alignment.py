"""Aligning pairs beside a bare forward pass over the same sentences, in processor time.

    python bench/alignment.py [--pairs 1000] [--rounds 3]

From text to links, nothing cached but the model; one thread each; rounds alternate, and the ratio
is the median. The bare pass is that of bench/pipeline.py.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import statistics
from collections.abc import Callable

import torch
from pipeline import bare_pass, seconds
from sentences import Pair, swapped_pairs

import movers


def aligning(pairs: list[Pair]) -> Callable[[], object]:
    """Links from text."""
    scorer = movers.load(device="cpu")
    return lambda: scorer.align_all(pairs)


def report(count: int, rounds: int) -> str:
    """One line with both times and their ratio."""
    torch.set_num_threads(1)
    origin, pairs = swapped_pairs(count)
    sentences = sorted({text for pair in pairs for text in pair})
    bare_pass(sentences[:32])()
    aligning(pairs[:32])()
    runs = bare_pass(sentences), aligning(pairs)
    times = [tuple(map(seconds, runs)) for _ in range(rounds)]
    bare, aligned = (statistics.median(side) for side in zip(*times, strict=True))
    ratios = sorted(whole / bare for bare, whole in times)
    return (
        f"{count} pairs of {origin}, {len(sentences)} distinct sentences, one thread: "
        f"bare forward {bare:.2f} s, aligned {aligned:.2f} s, ratio "
        f"{statistics.median(ratios):.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f})"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    print(report(chosen.pairs, chosen.rounds))
