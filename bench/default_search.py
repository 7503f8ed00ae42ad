"""Exact search, mining and deduplication under the default measure.

    make bench-search                             # all of it, on the evaluation data
    python bench/default_search.py real           # 18,291 sentences beside brute force
    python bench/default_search.py million        # a million sentences on disk
    python bench/default_search.py dedupe         # planted duplicates beside semhash
    python bench/default_search.py growth         # full comparisons against the size of a corpus

Times are processor time of one thread. The real sentences are those of PAWS-Wiki and STSB, dev and
test. A *composed* sentence starts like one of them and ends like another; its vector is not made
by the encoder but drawn between those of the two, with noise.
"""

import os
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
import random
import shutil
import tempfile
import time
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path

import numpy as np

import movers
from movers.measures.default import PRICE, calibrate, gates
from movers.measures.sentences import WeightedSentences, sentence_distances
from movers.search.corpus import NOTHING, Shard
from movers.search.cosine import CosineLayout, pooled_vectors, scan, stored_vectors
from movers.search.dedupe import dedupe_file
from movers.search.folder import Folder
from movers.search.index import Index
from movers.search.mining import mine
from movers.search.vectors import StoredVectors
from search import processor_time, sources

RESULTS = Path(__file__).resolve().parents[1] / "results"
MILLION = 1_000_000
NOISE = 0.35
"""Length of what is added at random to the vector of a composed sentence."""
SIZES = (1_000, 10_000, 100_000, 1_000_000)
BEYOND = tuple(10**power for power in range(4, 11, 2))
THRESHOLD = 0.05


@cache
def own_memory() -> float:
    """Memory of the process that is not mapped from files, in megabytes."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("RssAnon:")[1].split()[0]) / 1000


def scorer() -> movers.Scorer:
    import torch

    torch.set_num_threads(1)
    return movers.load(threads=1)


@cache
def real_sentences() -> list[str]:
    return list(dict.fromkeys(text for part in sources().values() for text in part))


def real_index(folder: Path) -> Index:
    """All real sentences with their words; made once."""
    place = folder / "real"
    if not (place / "manifest.json").exists():
        Index.build(scorer(), real_sentences(), place, keep="words")
    return Index.open(place, scorer=scorer())


def fresh_cache(index: Index) -> None:
    """Forget encoded sentences, so that every search pays for its own."""
    if isinstance(index.layout, CosineLayout):
        index.layout.store = None
    index.scorer.forget()


def median(values: Any) -> float:
    return float(np.median(values))


def real(folder: Path, count: int) -> list[str]:
    """Queries over the real sentences: identity, time and comparisons beside brute force."""
    index = real_index(folder)
    queries = random.Random(1).sample(index.sentences, count)
    log = folder / "real.jsonl"
    done = {record["query"] for record in records_of(log)}
    with log.open("a", buffering=1) as stream:
        for record in compared(index, [query for query in queries if query not in done]):
            stream.write(json.dumps(record) + "\n")
    return real_report(records_of(log), len(index))


def with_vectors(texts: list[str], vectors: np.ndarray) -> Shard:
    """A shard of sentences with their vectors."""
    return Shard.of(texts, vectors=StoredVectors.of(vectors))


def in_memory(layout: CosineLayout, shards: list[Shard]) -> Index:
    """An index of shards that are made already."""
    index = Index(scorer(), layout)
    pieces = ((shard.sentences, lambda shard=shard: shard) for shard in shards)
    index._change(pieces, NOTHING, lambda _: None)
    return index


def records_of(log: Path) -> list[dict]:
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def compared(index: Index, queries: list[str]):
    """One record for every query: processor time of brute force and search, and what they find."""
    if not queries:
        return
    texts = index.sentences
    assert isinstance(index.layout, CosineLayout)
    measured = index.layout.words(scorer(), index.corpus, np.arange(len(texts)))
    rows = {text: row for row, text in enumerate(texts)}
    lean = in_memory(CosineLayout(), [thin(shard) for shard in index.shards])
    index.search(queries[0], 10), lean.search(queries[0], 10)
    for query in queries:
        scorer().forget()
        encoding = processor_time(scorer().weigh, [query])[1]
        found, taken = processor_time(brute_force, measured, rows[query])
        best = np.argsort(found, kind="stable")[:10]
        record = {"query": query, "brute": taken + encoding, "encoding": encoding}
        for name, one in (("words", index), ("text", lean)):
            fresh_cache(one)
            answer, record[name] = processor_time(one.search, query, 10)
            same = [(m.index, m.distance) for m in answer] == [(row, found[row]) for row in best]
            record |= {f"{name} same": same, f"{name} certified": answer.certified}
            record["compared"] = answer.compared
        yield record


def real_report(records: list[dict], sentences: int) -> list[str]:
    facts = {name: np.array([record[name] for record in records]) for name in records[0]}
    rows = [
        f"| index, keep={name!r} | {median(facts[name]):.1f} | "
        f"{median(facts[name] / facts['brute']):.3f} | {facts[f'{name} same'].sum()} of "
        f"{len(records)} | {facts[f'{name} certified'].sum()} of {len(records)} |"
        for name in ("words", "text")
    ]
    return [
        f"{len(records)} queries out of {sentences:,} real sentences, top 10. Brute force compares "
        "the query with every sentence, all of them encoded beforehand; all times include the "
        "encoding of the query.",
        "",
        "| | ms, median | share of brute force | same bits | certified |",
        "|---|---|---|---|---|",
        f"| brute force | {median(facts['brute']):.0f} | 1 | | |",
        *rows,
        f"| encoding the query alone | {median(facts['encoding']):.1f} | | | |",
        "",
        f"Sentences fully compared per query: median {median(facts['compared']):.0f}, most "
        f"{max(facts['compared'])}.",
    ]


def thin(shard):
    """A shard without its words."""
    return with_vectors(shard.sentences, shard.vectors.pooled(slice(None)))


def brute_force(measured: WeightedSentences, row: int) -> np.ndarray:
    """Distances from one sentence to all."""
    targets = np.arange(len(measured.sentences))
    pairs = np.stack([np.full_like(targets, row), targets], axis=1)
    return scorer().between(measured, pairs)


def composed(rng, pool: list[str], vectors: np.ndarray, count: int, known: set[str]):
    """So many new sentences, and vectors between those that they are made of."""
    texts: list[str] = []
    pairs: list[tuple[int, int, float]] = []
    while len(texts) < count:
        a, b = (int(place) for place in rng.integers(len(pool), size=2))
        head, tail, cut = pool[a].split(), pool[b].split(), rng.uniform(0.3, 0.7)
        text = " ".join(head[: round(cut * len(head))] + tail[round(cut * len(tail)) :])
        if text not in known:
            known.add(text)
            texts.append(text)
            pairs.append((a, b, cut))
    left, right, share = (np.array(column) for column in zip(*pairs, strict=True))
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    made = share[:, None] * units[left] + (1 - share[:, None]) * units[right]
    noise = rng.standard_normal(made.shape)
    made += NOISE * noise / np.linalg.norm(noise, axis=1, keepdims=True)
    return texts, made.astype(np.float32)


def million_index(folder: Path) -> Index:
    """Real sentences and composed ones, shard by shard."""
    place = folder / "million"
    if not (place / "manifest.json").exists():
        index = real_index(folder)
        pool = index.sentences
        vectors = stored_vectors(index.corpus, np.arange(len(index)))
        layout = CosineLayout()

        def pieces():
            rng, known, done = np.random.default_rng(0), set(pool), 0
            while done < MILLION:
                size = min(layout.capacity, MILLION - done)
                if done < len(pool):
                    texts, made = pool[done : done + size], vectors[done : done + size]
                else:
                    texts, made = composed(rng, pool, vectors, size, known)
                yield texts, partial(with_vectors, texts, made)
                done += len(texts)

        Folder(place).fill(pieces(), scorer(), layout.name, lambda _: None)
    return Index.open(place, scorer=scorer())


def million(folder: Path, count: int) -> list[str]:
    """Size, opening, time, memory and exactness of a search among a million."""
    million_index(folder)
    opening = []
    for _ in range(5):
        started = time.perf_counter()
        index = Index.open(folder / "million", scorer=scorer())
        opening.append(1000 * (time.perf_counter() - started))
    size = sum(path.stat().st_size for path in (folder / "million").iterdir())
    queries = random.Random(5).sample(real_sentences(), count + 1)
    checking = processor_time(index.search, queries[0], 10)[1]
    taken, warm, compared, memory, exact = [], [], [], [], 0
    for query in queries[1:]:
        fresh_cache(index)
        index.scorer.weigh_each([query])
        answer, spent = processor_time(index.search, query, 10)
        taken.append(spent)
        warm.append(processor_time(index.search, query, 10)[1])
        compared.append(answer.compared)
        memory.append(own_memory())
        if len(taken) <= 5:
            exact += certificate_holds(index, query, answer)
    batch = queries[1:]
    fresh_cache(index)
    index.scorer.weigh_each(batch)
    together = processor_time(index.search_many, batch, 10)[1] / len(batch)
    return [
        f"{len(index):,} sentences, of which {len(real_sentences()):,} are real and the others "
        f"composed (vectors without the encoder); {count} real queries, top 10.",
        "",
        "| | |",
        "|---|---|",
        f"| bytes per sentence, text included | {size / len(index):,.0f} |",
        f"| opening, ms of wall-clock, median of 5 | {median(opening):.1f} |",
        "| first search: kernels loaded, every byte compared with its checksum, ms | "
        f"{checking:.0f} |",
        f"| search beyond encoding the query, ms, median (least to most) | {median(taken):.0f} "
        f"({min(taken):.0f} to {max(taken):.0f}) |",
        f"| the same, once the candidates are encoded, ms, median | {median(warm):.0f} |",
        f"| in a batch of {count}, ms per query | {together:.0f} |",
        f"| sentences fully compared, median (most) | {median(compared):.0f} ({max(compared)}) |",
        f"| own memory after the first and last query, MB | {memory[0]:.0f}, {memory[-1]:.0f} |",
        f"| no other sentence can be nearer, all {len(index):,} looked at | {exact} of 5 |",
    ]


def certificate_holds(index: Index, query: str, answer) -> bool:
    """Whether all sentences whose vectors are near enough were compared, looking at every one."""
    own = index.scorer.weigh_each([query])
    last, near = answer[len(answer) - 1].distance, 0
    for shard in index.shards:
        assert shard.vectors is not None
        pooled = np.concatenate([own.pooled, shard.vectors.pooled(slice(None))])
        targets = np.arange(1, len(pooled))
        pairs = np.stack([np.zeros_like(targets), targets], axis=1)
        near += int((sentence_distances(pooled, pairs) <= last).sum())
    return answer.certified and near <= answer.compared


def growth(folder: Path, count: int) -> list[str]:
    """Full comparisons for ten answers among parts of the million, and in a model beyond it."""
    index = million_index(folder)
    shards = index.shards
    rng = random.Random(7)
    queries = rng.sample(real_sentences(), count)
    lines = ["| sentences | fully compared for the nearest 10, mean (most) | 10th distance, mean |"]
    lines.append("|---|---|---|")
    order = np.random.default_rng(3).permutation(len(index))
    layout = CosineLayout()
    for size in SIZES:
        rows = np.sort(order[:size])
        whole = size == len(index)
        kept = shards if whole else parts_of(shards, index.corpus.starts, rows)
        part = in_memory(layout, [*kept])
        found = part.search_many(queries, 10)
        compared = [answer.compared for answer in found]
        last = np.mean([answer[9].distance for answer in found])
        lines.append(f"| {size:,} | {np.mean(compared):.1f} ({max(compared)}) | {last:.3f} |")
    return [*lines, "", *beyond(index, queries, layout)]


def parts_of(shards, starts, rows):
    """Some rows of some shards, as shards."""
    for number, shard in enumerate(shards):
        own = rows[(rows >= starts[number]) & (rows < starts[number + 1])] - starts[number]
        if len(own):
            texts = [shard.words.sentences[row] for row in own.tolist()]
            yield with_vectors(texts, shard.vectors.pooled(own))


def beyond(index: Index, queries: list[str], layout) -> list[str]:
    """A model of larger corpora: how many vectors lie near, and what structure adds.

    Near a query, the share of sentences with 1 - cos below x grows like a power of x; the power
    is fitted to the nearest thousand of the million, query by query. Structure is drawn from that
    of the pairs that were compared.
    """
    chance, rng = calibrate(scorer().encoder).chance, np.random.default_rng(0)
    words = scorer().weigh(queries)
    powers, scales, structure = [], [], []
    for nearest, query in zip(scan(index.corpus, words.pooled, 1000), queries, strict=True):
        near = np.maximum(nearest.bounds, 1e-6)
        ahead = near[20:]  # beyond the query itself and its variants
        power = 1.0 / np.mean(np.log(ahead[-1] / ahead))
        powers.append(power)
        scales.append(ahead[-1] * (len(index) / len(near)) ** (1 / power))
        answer = index.search(query, 10)
        for match in answer:
            comparison = scorer().compare(query, match.text)
            if comparison.gate > 0:
                structure.append(comparison.structural / (chance * PRICE))
    lines = [
        f"The model: P(1 − cos ≤ x) = (x / x₀)^m with m = {np.median(powers):.1f} (quartiles "
        f"{np.percentile(powers, 25):.1f} to {np.percentile(powers, 75):.1f}) and x₀ = "
        f"{np.median(scales):.2f}; S from {len(structure)} compared pairs, mean "
        f"{np.mean(structure):.2f}.",
        "",
        "| sentences | fully compared in the model, mean (95 %) | 10th distance |",
        "|---|---|---|",
    ]
    for size in BEYOND:
        counts, lasts = [], []
        for _ in range(2000):
            place = rng.integers(len(powers))
            arrivals = np.cumsum(rng.exponential(size=400)) / size
            sentence = scales[place] * arrivals ** (1 / powers[place])
            drawn = rng.choice(structure, len(sentence))
            distance = sentence + chance * PRICE * gates(sentence, chance) * drawn
            last = np.partition(distance, 9)[9]
            counts.append(int((sentence <= last).sum()))
            lasts.append(last)
        lines.append(
            f"| {size:,} | {np.mean(counts):.1f} ({np.percentile(counts, 95):.0f}) | "
            f"{np.mean(lasts):.3f} |"
        )
    return lines


CORPUS = 100_000
SAMPLE = 200
"""Sentences that brute force looks at."""


def reworded(rng: random.Random, text: str) -> str:
    """The same sentence with another case and a blank: what a crawl repeats."""
    others = [text.upper(), text.lower(), text.title(), text.replace(" ", "  ", 1)]
    # a dotless i is another letter once it is upper case
    return rng.choice([other for other in others if other.lower().split() == text.lower().split()])


def swapped(rng: random.Random, text: str) -> str:
    """The same words, two of them in each other's place."""
    words = text.split()
    long = [place for place, word in enumerate(words) if len(word) > 3 and word.isalpha()]
    first, second = rng.sample(long, 2)
    words[first], words[second] = words[second], words[first]
    return " ".join(words)


def planted(
    rng: random.Random, pool: list[str], change, count: int, known: set[str]
) -> list[tuple[int, str]]:
    """Changed copies of real sentences, and which they are copies of."""
    found: list[tuple[int, str]] = []
    while len(found) < count:
        row = rng.randrange(len(pool))
        if len({word for word in pool[row].split() if len(word) > 3 and word.isalpha()}) < 3:
            continue
        text = change(rng, pool[row])
        if text not in known:
            known.add(text)
            found.append((row, text))
    return found


def dedupe(folder: Path, count: int) -> list[str]:
    """Planted duplicates and swaps in a corpus, beside semhash on the same vectors.

    A fifth of the sentences are real, a fiftieth changed copies of each kind.
    """
    index, rng, known = real_index(folder), random.Random(8), set(real_sentences())
    pool, copies = random.Random(3).sample(real_sentences(), len(known)), count // 50
    pool = pool[: count // 5]
    same = planted(rng, pool, reworded, copies, known)
    swaps = planted(rng, pool, swapped, copies, known)
    texts = [*pool, *(text for _, text in same + swaps)]
    stored = index.corpus
    vectors = np.concatenate(
        [
            stored_vectors(stored, stored.find(pool)),
            pooled_vectors(scorer(), texts[len(pool) :]),
        ]
    )
    others = composed(np.random.default_rng(8), pool, vectors, count - len(texts), known)
    texts, vectors = texts + others[0], np.concatenate([vectors, others[1]])
    layout = CosineLayout()
    size = layout.capacity
    shards = [
        with_vectors(texts[low : low + size], vectors[low : low + size])
        for low in range(0, len(texts), size)
    ]
    made = in_memory(layout, shards)
    kept, dropped = folder / "kept.txt", folder / "dropped.jsonl"
    pairs: list = []

    def keeping(*arguments, **options):
        for block in mine(*arguments, **options):
            pairs.extend(block)
            yield block

    work = partial(dedupe_file, made, THRESHOLD, kept, dropped, blocks=keeping)
    report, taken = processor_time(work)
    rows = [json.loads(line) for line in dropped.read_text("utf-8").splitlines()]
    gone = {row["sentence"] for row in rows}
    near, near_taken = processor_time(with_semhash, texts, vectors)
    other_swaps = sum(text in near for _, text in swaps)
    right = sampled_right(pairs, pool, same, swaps)
    return [
        f"{len(texts):,} sentences: {len(pool):,} real, {copies:,} copies of real "
        f"ones in another case or with another blank, {copies:,} with two words swapped, the "
        f"others composed; threshold {THRESHOLD}, vectors made beforehand. semhash gets the same "
        f"vectors and the cosine {1 - THRESHOLD}.",
        "",
        "| | copies dropped | swaps dropped | all dropped | seconds |",
        "|---|---|---|---|---|",
        f"| movers dedupe | {sum(text in gone for _, text in same):,} | "
        f"{sum(text in gone for _, text in swaps):,} | {len(rows):,} | {taken / 1000:.0f} |",
        f"| semhash {version('semhash')} | {sum(text in near for _, text in same):,} | "
        f"{other_swaps:,} | {len(near):,} | {near_taken / 1000:.0f} |",
        "",
        right,
        f"({report})",
    ]


def sampled_right(pairs, pool: list[str], same, swaps) -> str:
    """Compare the near pairs among some sentences with brute force."""
    chosen = random.Random(9).sample([*same, *swaps], SAMPLE // 2)
    texts = list(dict.fromkeys([t for row, text in chosen for t in (pool[row], text)]))
    matrix, sample = scorer().matrix(texts), set(texts)
    first, second = np.nonzero(np.triu(matrix <= THRESHOLD, 1))
    expected = {frozenset((texts[a], texts[b])) for a, b in zip(first, second, strict=True)}
    found = {frozenset((pair.source, pair.target)) for pair in pairs}
    found = {pair for pair in found if pair <= sample}
    return (
        f"Brute force over {len(texts)} sentences, {matrix.size:,} distances: {len(expected):,} "
        f"near pairs, of which {len(expected & found):,} were found, and "
        f"{len(found - expected)} others."
    )


class LookedUpVectors:
    """An encoder for semhash that looks vectors up."""

    def __init__(self, texts: list[str], vectors: np.ndarray) -> None:
        units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        self.rows = dict(zip(texts, units, strict=True))

    def encode(self, inputs, **_) -> np.ndarray:
        """Vectors of texts."""
        return np.stack([self.rows[text] for text in inputs])


def with_semhash(texts: list[str], vectors: np.ndarray) -> set[str]:
    """What semhash drops."""
    from semhash import SemHash

    made = SemHash.from_records(records=texts, model=LookedUpVectors(texts, vectors))
    found = made.self_deduplicate(threshold=1 - THRESHOLD)
    return set(texts) - set(found.selected)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", choices=("all", *TASKS), default="all", nargs="?")
    parser.add_argument("--count", type=int, help="queries, or sentences for dedupe")
    parser.add_argument("--folder", type=Path, help="where indices are kept; default: nowhere")
    parser.add_argument("--report", type=Path, help="file to write")
    chosen = parser.parse_args()
    folder = chosen.folder or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    try:
        for name, (title, task, count) in TASKS.items():
            if chosen.task in ("all", name):
                found = [f"## {title}", "", *task(folder, chosen.count or count), ""]
                print("\n".join(found), flush=True)
                lines += found
        if chosen.report:
            chosen.report.write_text("\n".join(lines), "utf-8")
    finally:
        if chosen.folder is None:
            shutil.rmtree(folder)


TASKS = {
    "real": ("Real sentences", real, 100),
    "million": ("A million sentences", million, 30),
    "dedupe": ("Duplicates", dedupe, CORPUS),
    "growth": ("Growth", growth, 20),
}

if __name__ == "__main__":
    main()
