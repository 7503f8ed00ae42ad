"""What every measure costs on top of encoding, as a share of a bare forward pass.

    python bench/methods.py [--pairs 1000]

Processor time of one thread. The sentences are encoded and the statistics fitted beforehand;
measures that need trees are left out where there is no file of them.
"""

import argparse
import time
import warnings

import torch
from pipeline import bare_pass
from sentences import DATA, swapped_pairs

import movers
from movers.measures.registry import METHODS
from movers.plugins import add_outside_measures
from movers.runtime.notices import UndefinedWarning


def main(count: int) -> None:
    warnings.simplefilter("ignore", UndefinedWarning)
    torch.set_num_threads(1)
    add_outside_measures()  # those of movers-research
    origin, pairs = swapped_pairs(count)
    sentences = [text for pair in pairs for text in pair]
    run = bare_pass(sorted(set(sentences)))
    started = time.process_time()
    run()
    forward = time.process_time() - started
    parses = DATA / "parses" / "PAWSWiki_dev.conllu.gz"
    parser = str(parses) if parses.is_file() else None
    print(f"{count} pairs of {origin}; a bare forward pass takes {forward:.1f} s")
    for recipe in ("paper", "reference"):
        base = movers.load("wsmd", recipe=recipe, threads=1, parser=parser).fit(sentences)
        for name in METHODS:
            scorer = base.using(name)
            if "parser" in scorer.measure.settings and parser is None:
                continue
            scorer.fit(sentences)
            scorer.distances(pairs[:2])
            scorer.prepare(sentences)
            started = time.process_time()
            scorer.distances(pairs)
            spent = time.process_time() - started
            print(f"{recipe:10s}{name:22s}{spent:8.3f} s {spent / forward:7.2f} forward passes")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=1000)
    main(parser.parse_args().pairs)
