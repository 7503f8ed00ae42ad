"""From text to distances and judgements beside the light engine's bare pass, on one thread.

    python bench/judge.py [--pairs 300] [--rounds 7]

The bare pass gets its tokens ready-made, in the batches that we make, and returns vectors of
sentences alone. The others start from text and end at a number for every pair, or else have their
sentences encoded already. Every round takes pairs that none of them has seen, and runs one after
another on these, each first in its turn; figures are medians over rounds, and of ratios within one.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before anything counts processors

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial

from sentences import Pair, swapped_pairs

import movers
from movers.encode.collect import POOLINGS
from movers.encode.light import LightEncoder
from movers.encode.tokens import read

BARE, ENCODED = "light engine's bare pass", "judge same, encoded before"
Job = Callable[[], object]


def bare_pass(encoder: LightEncoder, pairs: list[Pair]) -> Job:
    """A forward pass over the batches of an encoder, to vectors of sentences."""
    sentences = list(dict.fromkeys(text for pair in pairs for text in pair))
    batches = [*encoder._batches(read(encoder.tokenizer, sentences, encoder.max_length))]

    def run() -> None:
        for batch in batches:
            states = encoder._forward(batch, {encoder.layers}, (), lambda layer, matrices: None)
            POOLINGS[encoder.pooling](states[encoder.layers], batch.first, batch.lengths)

    return run


def jobs() -> dict[str, Callable[[list[Pair]], Job]]:
    """What is run on pairs, each with an encoder of its own, that remembers no words for others."""
    scorers = [movers.load(judge=judge, threads=1) for judge in (None, "same", "same")]
    for scorer in scorers:
        scorer.encoder = LightEncoder()
    default, judge, other = scorers

    def encoded(pairs: list[Pair]) -> Job:
        other.prepare([text for pair in pairs for text in pair])
        return lambda: other.probabilities(pairs)

    return {
        BARE: partial(bare_pass, LightEncoder()),
        "movers": lambda pairs: lambda: default.distances(pairs),
        "judge same": lambda pairs: lambda: judge.probabilities(pairs),
        ENCODED: encoded,
    }


def seconds(run: Callable[[], object]) -> float:
    """Processor time of a call."""
    started = time.process_time()
    run()
    return time.process_time() - started


def main(count: int, rounds: int) -> None:
    """Print a readable table."""
    made = jobs()
    origin, pairs = swapped_pairs(2 * count * (rounds + 1))
    halves = pairs[::2], pairs[1::2]  # what was judged from text has been read
    times: dict[str, list[float]] = {name: [] for name in made}
    for start in range(0, len(pairs) // 2, count):
        turn = start // count % len(made)  # what goes first pays for memory that others use again
        for name, make in [*made.items()][turn:] + [*made.items()][:turn]:
            taken = seconds(make(halves[name == ENCODED][start : start + count]))
            if start:  # the first warms up
                times[name].append(taken)
    print(f"{count} pairs of {origin} in each of {rounds} rounds, processor time of one thread")
    print(f"{'':28s}{'ms / pair':>10s}{'/ bare':>8s}{'range':>18s}")
    for name, found in times.items():
        ratios = sorted(one / bare for one, bare in zip(found, times[BARE], strict=True))
        middle, spread = statistics.median(ratios), f"{ratios[0]:.3f} to {ratios[-1]:.3f}"
        each = 1000 * statistics.median(found) / count
        print(f"{name:28s}{each:10.2f}{middle:8.3f}{spread:>18s}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=7)
    chosen = parser.parse_args()
    main(chosen.pairs, chosen.rounds)
