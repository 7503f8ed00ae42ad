"""What it takes to say what differs: processor time a pair, each pair seen once, without a model.

    python bench/differences.py [--pairs 8000]

Tables of words are loaded first, word frequencies too where they are installed, and timed by
themselves. Aligning is what any measure of words needs as well: to cut both texts into words and
to match the equal ones. Pairs are taken in turns, aligned first or told apart first, with what was
read of a text forgotten in between.
"""

import argparse
import time
from collections.abc import Callable

from sentences import Pair, swapped_pairs

import movers
from movers.difference import misspelt, plain_words
from movers.difference.counterparts import find_counterparts

Job = Callable[[str, str], object]


def align(source: str, target: str) -> object:
    """Match the words of two texts."""
    return find_counterparts(source, target)


def seconds(job: Job, pair: Pair) -> float:
    """Processor time of a pair of which nothing was read before."""
    plain_words.read.cache_clear()
    started = time.process_time()
    job(*pair)
    return time.process_time() - started


def main(count: int) -> None:
    origin, pairs = swapped_pairs(count + 1)
    started = time.process_time()
    movers.differences(*pairs.pop())
    if not misspelt.lacking_package():
        misspelt.frequency("word")
    loading = time.process_time() - started
    jobs: tuple[Job, Job] = (align, movers.differences)
    taken: dict[Job, float] = dict.fromkeys(jobs, 0.0)
    for number, pair in enumerate(pairs):
        for job in jobs if number % 2 else jobs[::-1]:
            taken[job] += seconds(job, pair)
    aligned, whole = (1000 * taken[job] / len(pairs) for job in jobs)
    print(f"{origin}, {len(pairs)} pairs")
    print(f"loading tables and frequencies, once  {1000 * loading:6.0f} ms")
    print(f"differences                           {whole:6.3f} ms a pair")
    print(f"of which aligning words               {aligned:6.3f} ms a pair")
    print(f"beyond the alignment                  {whole - aligned:6.3f} ms a pair")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=8000, dest="count")
    main(**vars(parser.parse_args()))
