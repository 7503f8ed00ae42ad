"""The judge "same": what it was learned from, and what it does on sets it has not seen.

Learned from PAWS-Wiki dev without the pairs of PAWS-X, STS-B dev (gold 4 and above is the same,
3 and below is not, what lies between is left out), one half of the triples and of the contrasts,
swaps with one more change, and sentences of the contrasts denied, with another number or the
opposite of a word, or beside another one that shares words with it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from movers.arrays import Floats, Ints
from movers.difference.lexicon import opposite_of
from movers.difference.plain_words import read
from movers.encode.encoder import Encoder
from movers.evaluate.labelled import Dataset
from movers.evaluate.metrics import Estimate, estimate, score
from movers.judge.knowledge import Knowledge, digest_of
from movers.judge.learning import calibration, expected_error
from movers.judge.logistic_fit import Labelled, blank, fit
from movers.measures.calibration import contrasts
from movers.measures.evidence import names_of
from movers.measures.judge import bound_judge, evidence_of, same_of
from movers.scorer import Scorer
from movers.version import __version__
from movers_research.datasets import data_folder, read_dataset
from movers_research.default_measure import load_triples
from movers_research.document import ReportTable, Section, percent, row, write_markdown
from movers_research.runs import open_run

Pairs = list[tuple[str, str]]
Rows = tuple[Pairs, list[float]]

NAME = "judge"
SHARES = {
    "PAWS-Wiki dev without PAWS-X": 0.46,
    "STS-B dev": 0.28,
    "contrasts": 0.06,
    "swaps with one more change": 0.09,
    "triples": 0.02,
    "denied, other numbers, opposites": 0.04,
    "other sentences that share words": 0.05,
}
"""What every source counts, by grouped cross-validation on these sources (results/judge.md)."""
RIDGE = 0.1
SAME, OTHER = 4.0, 3.0
"""Gold scores of STS-B from which a pair counts as the same, and up to which it does not."""
NEIGHBOURS = 1500
"""About so many sentences get another one beside them."""
SHARED = 2
"""Words that are neither grammar nor names and that these two share at least."""
AUXILIARY = re.compile(r"\b(is|was|are|were|will|can)\b")
NUMBER = re.compile(r"\d+")
SAMPLE = Path("PAWSQQP") / "train_sample.tsv"
LABELS = (10, 20, 50, 100, 1000)
DRAWS = 20


def sources(data: Path | None = None) -> Iterator[tuple[str, Rows]]:
    """Yield what "same" is learned from: pairs and labels by the name of the source."""
    names = iter(SHARES)
    unseen = set(read_dataset("paws-x-en-test", data).pairs)
    wiki = read_dataset("paws-wiki-dev-full", data)
    chosen = [pair not in unseen for pair in wiki.pairs]
    yield next(names), _rows(wiki, np.flatnonzero(chosen), wiki.gold)
    graded = read_dataset("stsb-dev", data)
    clear = np.flatnonzero((graded.gold >= SAME) | (graded.gold <= OTHER))
    yield next(names), _rows(graded, clear, (graded.gold >= SAME).astype(float))
    given = contrasts()
    given = given.take(given.fit)
    kinds = np.array(given.kinds)
    plain = ~np.isin(kinds, ("change", "paraphrase"))
    same = given.take(plain)
    yield next(names), (same.pairs, same.same.astype(float).tolist())
    changed = given.take(kinds == "change").pairs
    yield next(names), (changed, [0.0] * len(changed))
    triples = [one for one in load_triples() if one.half == "choose"]
    pairs = [(one.sentence, other) for one in triples for other in (one.paraphrase, one.swap)]
    yield next(names), (pairs, [1.0, 0.0] * len(triples))
    texts = sorted({source for source, _ in given.pairs})
    made = [(text, other) for text in texts for other in _turned(text)]
    yield next(names), (made, [0.0] * len(made))
    beside = [*_neighbours(given.pairs)]
    yield next(names), (beside, [0.0] * len(beside))


def _neighbours(pairs: Pairs) -> Iterator[tuple[str, str]]:
    """Yield sentences, each with the one that shares most words with it and says something else.

    Sentences that stand in a pair, or each in a pair with a third, may say the same.
    """
    mates: dict[str, set[str]] = defaultdict(set)
    for source, target in pairs:
        mates[source].add(target)
        mates[target].add(source)
    words = {
        text: frozenset(word.key for word in read(text) if word.part == "content")
        for text in sorted(mates)
    }
    having: dict[str, list[str]] = defaultdict(list)
    for text, own in words.items():
        for word in own:
            having[word].append(text)
    texts = [*words]
    for text in texts[:: max(1, len(texts) // NEIGHBOURS)]:
        own = words[text]
        family = mates[text].union(*(mates[mate] for mate in mates[text]), (text,))
        shared = Counter(
            other for word in sorted(own) for other in having[word] if other not in family
        )
        near = {
            other: count / len(own | words[other])
            for other, count in shared.items()
            if count >= SHARED and own - words[other] and words[other] - own
        }
        if near:
            yield text, max(near, key=lambda other: (near[other], other))


def _rows(dataset: Dataset, rows: Ints, labels: Floats) -> Rows:
    return [dataset.pairs[number] for number in rows], labels[rows].tolist()


def _turned(text: str) -> Iterator[str]:
    """Yield a sentence denied, with another number, and with an opposite, where it can be done."""
    if AUXILIARY.search(text):
        yield AUXILIARY.sub(r"\1 not", text, count=1)
    if NUMBER.search(text):
        yield NUMBER.sub(lambda number: str(int(number[0]) * 2 + 1), text, count=1)
    words = [word for word in read(text) if word.part == "content"]
    others = ((word, opposite_of(word.text)) for word in words)
    for word, other in islice((one for one in others if one[1]), 1):
        yield f"{text[: word.start]}{other}{text[word.end :]}"


def learn_same(encoder: Encoder, data: Path | None = None) -> Knowledge:
    """Learn the judge that ships for an encoder."""
    pairs: Pairs = []
    labels: list[float] = []
    weights: list[float] = []
    for name, (own, said) in sources(data):
        pairs += own
        labels += said
        weights += [SHARES[name] / len(own)] * len(own)
    numbers = evidence_of(encoder, pairs)
    counts = np.array(weights) * len(pairs)
    labelled = Labelled(pairs, np.array(labels), numbers, counts)
    facts = {
        "data": "; ".join(SHARES),
        "pairs": str(len(pairs)),
        "same": f"{sum(labels):g}",
        "digest": digest_of(pairs, labelled.labels),
        "date": datetime.now(UTC).date().isoformat(),
    }
    start = blank(encoder.fingerprint, names_of(bound_judge(encoder)), numbers)
    return fit(labelled, start, ridge=RIDGE, facts=facts)


@dataclass(frozen=True)
class Unseen:
    """A set that the judge has not seen: what is asked of it, and the answers."""

    title: str
    pairs: int
    metric: str
    judge: Estimate
    movers: Estimate | None = None
    error: float | None = None


@dataclass(frozen=True)
class Few:
    """What some labels of a set reach on its other pairs: median and least of the draws, AUC."""

    title: str
    labels: int
    median: float
    least: float


@dataclass(frozen=True)
class JudgeFindings:
    """What the run found; ``none`` is the AUC of a set without labels, by judge and movers."""

    facts: dict[str, str]
    unseen: tuple[Unseen, ...]
    none: dict[str, tuple[float, float]]
    few: tuple[Few, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def measure_judge(
    base: Scorer,
    folder: Path,
    *,
    data: Path | None = None,
    limit: int | None = None,
    resume: bool = False,
    progress: bool = False,
) -> JudgeFindings:
    """Hold "same" against sets it has not seen, and learn from few labels of three of them."""
    encoder, known = base.encoder, same_of(base.encoder)
    digests = {"movers": __version__, "model": encoder.fingerprint, "judge": known.digest}
    run = open_run(folder, digests | {"limit": str(limit)}, resume=resume)

    def measured(name: str, pairs: Pairs) -> tuple[Floats, Floats]:
        def kept(kind: str, compute: Callable[[], Floats]) -> Floats:
            return run.array(run.path / "evidence" / f"{name}-{kind}.npy", compute)

        numbers = kept("numbers", lambda: evidence_of(encoder, pairs))
        return numbers, kept("movers", lambda: base.distances(pairs, progress=progress))

    sets = dict(_sets(data, limit))
    found = {name: measured(name, pairs) for name, (_, pairs, _, _) in sets.items()}
    unseen = []
    none: dict[str, tuple[float, float]] = {}
    few: list[Few] = []
    for name, (title, pairs, gold, metric) in sets.items():
        numbers, distances = found[name]
        chances = known.probabilities(numbers)
        error = expected_error(calibration(chances, gold)) if name in CALIBRATED else None
        scores = (estimate(metric, gold, -chances), estimate(metric, gold, distances))
        unseen.append(Unseen(title, len(pairs), metric, *scores, error))
        if name in FEW:
            none[title] = (score("auc", gold, -chances), score("auc", gold, distances))
            labelled = Labelled(pairs, gold, numbers, np.ones(len(gold)))
            few += _few(title, labelled, known)
    unseen += _shares(known, measured)
    facts = {"judge": known.digest, **known.facts, "model": encoder.name.rsplit("/")[-1]}
    return JudgeFindings(facts, tuple(unseen), none, tuple(few))


CALIBRATED = ("paws-wiki-test", "paws-qqp-sample")
FEW = ("paws-qqp-sample", "paws-wiki-test", "stsb-test")
Set = tuple[str, Pairs, Floats, str]


def _sets(data: Path | None, limit: int | None) -> Iterator[tuple[str, Set]]:
    for name, metric in (("paws-wiki-test", "auc"), ("paws-x-en-test", "ap")):
        given = read_dataset(name, data, limit=limit)
        yield name, (given.title, given.pairs, given.gold, metric)
    path = data_folder(data, "paws-qqp-train") / SAMPLE
    if path.exists():
        given = read_dataset(path, limit=limit)
        yield "paws-qqp-sample", ("PAWS-QQP, a sample", given.pairs, given.gold, "auc")
    graded = read_dataset("stsb-test", data, limit=limit)
    clear = np.flatnonzero((graded.gold >= 4) | (graded.gold <= 2))
    pairs, labels = _rows(graded, clear, (graded.gold >= 4).astype(float))
    yield "stsb-test", ("STS-B test, gold ≥ 4 against ≤ 2", pairs, np.array(labels), "auc")


def _shares(
    known: Knowledge, measured: Callable[[str, Pairs], tuple[Floats, Floats]]
) -> Iterator[Unseen]:
    """Yield how often the paraphrase of a triple is the likelier, and a changed swap the same."""
    triples = [one for one in load_triples() if one.half == "report"]
    pairs = [(one.sentence, other) for one in triples for other in (one.paraphrase, one.swap)]
    chances = known.probabilities(measured("triples", pairs)[0])
    yield _share("triples, held out: paraphrase above swap", chances[::2] > chances[1::2])
    given = contrasts()
    changed = given.take(~given.fit & (np.array(given.kinds) == "change") & ~given.same).pairs
    chances = known.probabilities(measured("changes", changed)[0])
    yield _share("swap plus one more change called the same", chances >= 0.5)


def _share(title: str, right: Any) -> Unseen:
    value, count = float(right.mean()), len(right)
    spread = 1.96 * np.sqrt(value * (1 - value) / count)
    return Unseen(title, count, "share", Estimate(value, value - spread, value + spread))


def _few(title: str, labelled: Labelled, known: Knowledge) -> Iterator[Few]:
    """Yield what labels reach on the other pairs that share no sentence with them."""
    for count in LABELS:
        if 2 * count > len(labelled.labels):
            continue
        reached = []
        for draw in range(DRAWS if count < 500 else 3):
            order = np.random.default_rng(draw).permutation(len(labelled.labels))
            rows = order[:count]
            own = np.unique(labelled.groups[rows])
            rest = order[~np.isin(labelled.groups[order], own)]
            if min(len(set(labelled.labels[part].tolist())) for part in (rows, rest)) < 2:
                continue
            learned = fit(labelled.take(rows), known)
            reached.append(
                score("auc", labelled.labels[rest], -learned.odds(labelled.evidence[rest]))
            )
        yield Few(title, count, float(np.median(reached)), min(reached))


def describe(findings: JudgeFindings, command: str) -> str:
    """The findings as Markdown."""
    shown = [
        row(
            one.title,
            f"{one.pairs:,}",
            one.metric,
            _shown(one.judge),
            "" if one.movers is None else _shown(one.movers),
            "" if one.error is None else f"{one.error:.3f}",
        )
        for one in findings.unseen
    ]
    heads = ("pairs", "metric", "judge", "movers", "calibration error")
    few = [
        row(one.title, str(one.labels), percent(one.median), percent(one.least))
        for one in findings.few
    ]
    nothing = [row(title, *map(percent, both)) for title, both in findings.none.items()]
    sections = (
        Section("Sets it has not seen", (UNSEEN,), (ReportTable("set", _heads(heads), shown),)),
        Section(
            "Few labels",
            (LABELLED,),
            (
                ReportTable("no labels", _heads(("judge", "movers")), nothing),
                ReportTable("labels of", _heads(("labels", "median AUC", "least")), few),
            ),
        ),
        Section("This run", points=(command, *(f"{a}: {b}" for a, b in findings.facts.items()))),
    )
    return write_markdown('The judge "same"', sections)


UNSEEN = "All values × 100, with 95 % intervals; none of these pairs was learned from."
LABELLED = (
    "A judge learned from some labels of a set, starting from “same”, on the pairs of the set that "
    f"share no sentence with them: {DRAWS} draws, three of 1,000."
)


def _heads(names: tuple[str, ...]) -> Mapping[str, tuple[()]]:
    return dict.fromkeys(names, ())


def _shown(of: Estimate) -> str:
    return f"{percent(of.value)} ({percent(of.low)} to {percent(of.high)})"
