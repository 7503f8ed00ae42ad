"""All benches in one run: `make bench` prints this report and nothing is kept from earlier runs."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import platform
from dataclasses import replace
from typing import Any

import numpy as np
import pipeline
import solver
from sentences import Pair, swapped_pairs, unrelated_pairs

import movers
from movers.measures.word_transport import WordTransport
from movers.solve import Problems


def real_problems(pairs: list[Pair], **settings: Any) -> Problems:
    """The transport problems of sentence pairs under all 72 heads of the embedded model."""
    scorer = movers.load("wsmd-wmd", layers="all", empty="nan", **settings)
    measured = scorer.weigh([text for pair in pairs for text in pair])
    index = measured.numbers(text for pair in pairs for text in pair).reshape(-1, 2)
    filled = (measured.weights.lengths[index] > 1).all(axis=1)
    assert isinstance(scorer.measure, WordTransport)
    return scorer.measure.pose(measured, index[filled])


def main() -> None:
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    print("Solver, processor time of one thread, POT on a sample of the same problems")
    print(solver.HEADER)
    origin, split = swapped_pairs(1500, split=True)
    _, swapped = swapped_pairs(300)
    _, unrelated = unrelated_pairs(300)
    for recipe in ("paper", "reference"):
        for name, pairs, sample in (
            ("swapped, dev split", split, 4000),
            ("swapped, any length", swapped, 2000),
            ("unrelated, n≠m", unrelated, 400),
        ):
            batch = real_problems(pairs, recipe=recipe)
            batch = only_oblong(batch) if pairs is unrelated else batch
            print(solver.report(f"{recipe}: {name}", batch, sample=sample), flush=True)
    print(solver.report_emd("emd: swapped, any length", real_problems(swapped)))
    print(f"\nPairs of {origin}; the dev split is its 1500 shortest.")
    print("Synthetic problems: python bench/solver.py\n")
    print("\n".join(pipeline.report(300, 7)))


def only_oblong(batch: Problems) -> Problems:
    """Keep the pairs whose sides differ in size: those are not assignments."""
    kept = np.flatnonzero(batch.shapes[:, 0] != batch.shapes[:, 1])
    starts = ("shapes", "u_start", "v_start", "a_start", "b_start", "scale")
    cost = np.concatenate([batch.costs[pair] for pair in kept.tolist()])
    return replace(batch, cost=cost, **{name: getattr(batch, name)[kept] for name in starts})


if __name__ == "__main__":
    main()
