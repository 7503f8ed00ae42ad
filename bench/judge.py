"""From text to distances and judgements beside the light engine's bare pass, on one thread.

    python bench/judge.py [--pairs 60] [--rounds 30]

The bare pass gets its tokens ready-made, in the batches that we make, and returns vectors of
sentences alone. The others start from text and end at a number for every pair, or else have their
sentences encoded already. All run on one encoder, for two of the same kind may differ by a tenth
for life, in turn and on pairs that none of them has seen; figures are sums over rounds.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before anything counts processors

import argparse
import time
from collections.abc import Callable
from functools import partial

from sentences import Pair, swapped_pairs

import movers
from movers import Scorer
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
    """What is run on pairs."""
    encoder = LightEncoder()
    default, judge, other = (movers.load(judge=name, threads=1) for name in (None, "same", "same"))
    for scorer in (default, judge, other):
        scorer.encoder = encoder

    def afresh(scorer: Scorer, pairs: list[Pair]) -> Job:
        scorer.forget()  # sentences of other pairs may be among these
        return lambda: scorer.probabilities(pairs) if scorer is judge else scorer.distances(pairs)

    def encoded(pairs: list[Pair]) -> Job:
        other.forget()
        other.prepare([text for pair in pairs for text in pair])
        return lambda: other.probabilities(pairs)

    return {
        BARE: partial(bare_pass, encoder),
        "movers": partial(afresh, default),
        "judge same": partial(afresh, judge),
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
    origin, pairs = swapped_pairs(count * len(made) * (rounds + 1))
    parts = (pairs[low : low + count] for low in range(0, len(pairs), count))
    times = dict.fromkeys(made, 0.0)
    for step in range(rounds + 1):
        for name, make in made.items():
            taken = seconds(make(next(parts)))
            times[name] += taken if step else 0.0  # the first warms up
    print(f"{rounds} times {count} pairs of {origin} each, processor time of one thread")
    print(f"{'':28s}{'ms / pair':>10s}{'/ bare':>8s}")
    for name, taken in times.items():
        each = 1000 * taken / count / rounds
        print(f"{name:28s}{each:10.2f}{taken / times[BARE]:8.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=30)
    chosen = parser.parse_args()
    main(chosen.pairs, chosen.rounds)
