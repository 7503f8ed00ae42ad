"""Exact search under WSMD beside brute force, gensim and a POT loop.

    make bench-search-transport        # pruning, time and identity, on the evaluation data
    python bench/search.py --sentences 2000 --queries 8

Times are processor time over all threads, the encoding of the query included. The corpus is the
distinct sentences of PAWS-Wiki and STSB, dev and test, but for some that are left out to be asked
for; half of the queries are drawn from the corpus and half from those.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
import random
import shutil
import tempfile
import time
from collections import defaultdict
from functools import partial
from pathlib import Path

import numpy as np
from sentences import DATA

import movers
from movers.measures.sentences import joined
from movers.measures.word_transport import WordTransport
from movers.search.search_ranking import STAGES

SUBSET = 2_000
WANTED = {
    "1": (1, None),
    "3": (3, None),
    "5": (5, None),
    "10": (10, None),
    "10 within 0.5": (10, 0.5),
}
"""Searches by name: how many sentences, and how far at most."""


def sources() -> dict[str, list[str]]:
    """Distinct sentences by where they come from."""
    columns = {"PAWSWiki": ("{}.tsv", 1, (1, 2)), "STSB": ("sts-{}.csv", 0, (5, 6))}
    found = {}
    for name, (pattern, header, places) in columns.items():
        texts: list[str] = []
        for split in ("dev", "test"):
            lines = (DATA / name / pattern.format(split)).read_text("utf-8").splitlines()
            rows = [line.split("\t") for line in lines[header:]]
            texts += [" ".join(row[place].split()) for row in rows for place in places]
        found[name] = list(dict.fromkeys(texts))
    return found


def split(count: int | None, held: int) -> tuple[list[str], list[str]]:
    """The corpus, or a part of it from each source, and sentences that are left out of it."""
    parts = sources().values()
    texts = [text for part in parts for text in part[: count and count // len(parts)]]
    texts = list(dict.fromkeys(texts))
    strangers = random.Random(4).sample(texts, held)
    out = set(strangers)
    return [text for text in texts if text not in out], strangers


def brute_force(index: movers.Index, query: str) -> np.ndarray:
    """Distances to every sentence of an index, all of them solved."""
    scorer = index.scorer
    own = index.layout.make(scorer, [query])
    found = []
    for shard in index.shards:
        bags = joined([own.words, shard.words])
        pairs = np.stack([np.zeros(len(shard), np.int64), np.arange(1, len(shard) + 1)], axis=1)
        found.append(scorer.between(bags, pairs))
    return np.concatenate(found)


def processor_time(function, *arguments):
    """Run a function; its result and its processor time in milliseconds."""
    start = time.process_time()
    result = function(*arguments)
    return result, 1000 * (time.process_time() - start)


def compare_query(index: movers.Index, query: str) -> dict:
    """One query: brute force, then the search for several numbers of sentences."""
    index.scorer.forget()  # every search encodes its query itself
    distances, brute = processor_time(brute_force, index, query)
    record: dict = {"query": query, "brute": brute}
    for name, (top, within) in WANTED.items():
        index.scorer.forget()
        found, taken = processor_time(partial(index.search, within=within), query, top)
        best = np.argsort(distances, kind="stable")[:top]
        best = best if within is None else best[distances[best] <= within]
        same = [m.index for m in found] == best.tolist() and np.array_equal(
            [m.distance for m in found], distances[best]
        )
        record[name] = {"ms": taken, "same": same, **vars(found.pruning)}
    return record


def report(records: list[dict]) -> list[str]:
    """A table: time, identity and what settled the sentences, by number wanted."""
    brute = np.array([record["brute"] for record in records])
    lines = [
        f"{len(records)} queries, brute force median {np.median(brute):.0f} ms per query",
        "",
        "| top k | same as brute force | ms, median | share of brute force, median (quartiles) | "
        + " | ".join(name.replace("_", " ") for name in STAGES if name != "left_out")
        + " |",
        "|" + "---|" * (3 + len(STAGES)),
    ]
    for top in WANTED:
        taken = np.array([record[top]["ms"] for record in records])
        low, middle, high = np.percentile(taken / brute, [25, 50, 75])
        stages = [
            f"{np.mean([r[top][name] / r[top]['corpus'] for r in records]):.1%}"
            for name in STAGES
            if name != "left_out"
        ]
        same = sum(record[top]["same"] for record in records)
        lines.append(
            f"| {top} | {same} of {len(records)} | {np.median(taken):.0f} | {middle:.3f} "
            f"({low:.3f} to {high:.3f}) | {' | '.join(stages)} |"
        )
    return lines


def compare(folder: Path, queries: int, count: int | None = None) -> list[str]:
    """Search beside brute force, and on the whole corpus beside others on a part of it."""
    texts, strangers = split(count, queries)
    index, build = processor_time(open_or_build, folder / "index", texts)
    _, opened = processor_time(movers.Index.open, folder / "index")
    _, checked = processor_time(partial(movers.Index.open, verify=True), folder / "index")
    size = sum(path.stat().st_size for path in (folder / "index").iterdir()) / 1e6
    print(f"{index!r}: {size:.0f} MB, made or opened in {build / 1000:.1f} s", flush=True)
    known = random.Random(1).sample(texts, queries)
    lines = [
        f"{len(index):,} sentences, {size:.0f} MB on disk, opened in {opened:.1f} ms, every byte "
        f"checked in {checked - opened:.0f} ms",
    ]
    for kind, chosen in (("in the corpus", known), ("not in the corpus", strangers)):
        records = compared(index, folder / f"compared {kind}.jsonl", chosen)
        lines += ["", f"Queries {kind}:", "", *report(records)]
    return lines if count else [*lines, "", *others(index, texts, known[:5])]


def compared(index: movers.Index, log: Path, queries: list[str]) -> list[dict]:
    """Queries one by one; those in the log are done already."""
    records = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    with log.open("a") as stream:
        for query in queries[len(records) :]:
            records.append(compare_query(index, query))
            stream.write(json.dumps(records[-1]) + "\n")
            stream.flush()
    return records


def open_or_build(folder: Path, texts: list[str]) -> movers.Index:
    if (folder / "manifest.json").exists():
        return movers.Index.open(folder)
    return movers.Index.build(movers.load("wsmd", threads=1), texts, folder)


def others(index: movers.Index, texts: list[str], queries: list[str]) -> list[str]:
    """Gensim and a POT loop on a part of the corpus, beside search and brute force there."""
    part = movers.Index.build(index.scorer, random.Random(2).sample(texts, SUBSET))
    similarity, words = gensim_index(index.scorer, part.sentences)
    times: dict[str, list[float]] = defaultdict(list)
    for query in queries:
        index.scorer.forget()
        times["movers, exact top 10, WSMD"].append(processor_time(part.search, query, 10)[1])
        times["movers, brute force, WSMD"].append(processor_time(brute_force, part, query)[1])
        taken = processor_time(similarity.__getitem__, words(query))[1]
        times["gensim WmdSimilarity, static vectors, no structure"].append(taken)
    sample = 20
    taken = processor_time(pot_loop, part, queries[0], sample)[1]
    times[f"POT fused_gromov_wasserstein2 loop, WSMD (from {sample} sentences)"] = [
        taken * SUBSET / sample
    ]
    rows = [f"| {name} | {np.median(taken):,.0f} |" for name, taken in times.items()]
    return [f"{SUBSET:,} sentences:", "", "| | ms per query, median |", "|---|---|", *rows]


def gensim_index(scorer: movers.Scorer, texts: list[str]):
    """Gensim's index over the same words, each with its mean vector of the input layer."""
    from gensim.models import KeyedVectors
    from gensim.similarities import WmdSimilarity

    static = scorer.using("wmd", embedding=0, whitening="none")
    encodings = static.weigh(texts).encoded
    vectors = encodings.vectors[0]
    found = defaultdict(list)
    documents = []
    for text in texts:
        row = encodings.rows[text]
        names = [name.lower() for name in encodings.surface(row)]
        documents.append(names)
        for name, vector in zip(names, vectors[row], strict=True):
            found[name].append(vector)
    keyed = KeyedVectors(vectors.data.shape[1])
    keyed.add_vectors(list(found), [np.mean(rows, axis=0) for rows in found.values()])

    def words(query: str) -> list[str]:
        own = static.weigh([query]).encoded
        return [name.lower() for name in own.surface(own.rows[query])]

    return WmdSimilarity(documents, keyed, num_best=10), words


def pot_loop(index: movers.Index, query: str, count: int) -> None:
    """Solve the problems of some sentences one by one with POT."""
    import ot

    shard, own = index.corpus.take(np.arange(count)), index.layout.make(index.scorer, [query])
    bags = joined([own.words, shard.words])
    structure, weights = bags.structure, bags.weights
    measure = index.scorer.measure
    assert isinstance(measure, WordTransport)
    u = weights[0]
    for row in range(1, count + 1):
        v = weights[row]
        pair = np.array([[0, row]])
        problems = measure.pose(bags, pair)
        cost = problems.cost.reshape(len(u), len(v))
        sides = [
            structure[side].reshape(-1, size, size).astype(float)
            for side, size in ((0, len(u)), (row, len(v)))
        ]
        for head, scale in enumerate(problems.scale[0]):
            ot.gromov.fused_gromov_wasserstein2(
                cost / scale,
                sides[0][head],
                sides[1][head],
                u,
                v / v.sum(),
                alpha=0.5,
                symmetric=False,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int)
    parser.add_argument("--sentences", type=int, help="compare on so many, without others")
    parser.add_argument("--folder", type=Path, help="where indices are kept; default: nowhere")
    chosen = parser.parse_args()
    folder = chosen.folder or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    try:
        print("\n".join(compare(folder, chosen.queries or 100, chosen.sentences)), flush=True)
    finally:
        if chosen.folder is None:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
