"""The default measure held against others: every result of docs/default_measure.md.

Nothing is fitted: the measures of words take the statistics shipped for the model, and raw
vectors where there are none. A pair that a measure cannot compare counts as its least similar.
"""

from __future__ import annotations

import re
import shutil
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from movers.agreement import METRICS, TITLES, Weights, draw_weights
from movers.arrays import Floats
from movers.errors import InputError
from movers.evaluate.labelled import Dataset
from movers.evaluate.metrics import RESAMPLES, Estimate, apply_empty_policy, interval
from movers.measures.calibration import Contrasts, contrasts
from movers.measures.default import calibrate
from movers.measures.sentences import sentence_distances
from movers.runtime.notices import UndefinedWarning
from movers.runtime.progress import progress_bar
from movers.scale import similarity_of
from movers.scorer import Scorer
from movers.version import __version__
from movers_research.benchmark import joined_requests
from movers_research.datasets import digest_of, has_dataset, read_dataset
from movers_research.document import (
    Cell,
    ReportTable,
    Section,
    percent,
    row,
    signed,
    write_markdown,
)
from movers_research.encoded_corpus import CorpusEncoder
from movers_research.runs import RunFolder, open_run
from movers_research.scores import grouped

Pairs = list[tuple[str, str]]

NAME = "default-measure"
COSINE = "cosine"
OTHERS = ("wrd", "wsmd", "lambda", "opwd-cos", "bertscore", "average")
METHODS = ("movers", COSINE, *OTHERS)
QUESTIONS = {
    "paws-wiki-test": ("auc",),
    "paws-qqp-sample": ("auc",),
    "paws-x-en-test": ("ap", "auc"),
    "stsb-test": ("spearman",),
    "sick-test": ("spearman",),
}
OPTIONAL = ("paws-qqp-sample",)
"""Left out where it is not there: its licence lets nobody pass it on."""
ANCHORS = "stsb-dev"
BANDS = ((5.0, 5.0), (4.0, 5.0), (3.0, 4.0), (2.0, 3.0), (1.0, 2.0), (0.0, 1.0))
"""Gold scores of STS-B; a band ends below its second number, unless it is that number alone."""

ROLES = (
    "according to|datives|fronted adjunct|names, natural|passive, (adjuncts|people)|questions|"
    "roles, natural"
)
"""Kinds of contrasts whose other side exchanges who does it and to whom."""
FAMILIES = {
    "natural": (".*natural", ".*natural"),
    "coordination against roles": ("coordination.*", ROLES),
    "fronting against roles": ("front.*", ROLES),
    "symmetric against roles": ("symmetric.*", ROLES),
    "A or B": ("choice", "choice"),
    "passives of things": ("passive, things", "passive, things"),
    "passives of people": ("passive, people", "passive, people"),
}
"""Which kinds of contrasts should be near, and which farther, as patterns."""
CHANGED = "swap with one more change"


@dataclass(frozen=True)
class Triple:
    """A sentence, one that says the same in other words, and one with its roles swapped.

    ``half`` is ``"choose"`` for those that the measure was chosen on, else ``"report"``.
    """

    kind: str
    half: str
    sentence: str
    paraphrase: str
    swap: str


@dataclass(frozen=True)
class Instance:
    """A pair of sentences that shows one kind of change."""

    kind: str
    source: str
    target: str


@dataclass(frozen=True)
class Trial:
    """Pairs to compare, and by title the value of their distances under each row of weights.

    A resample draws units: pairs, or triples.
    """

    name: str
    pairs: Pairs
    units: int
    scores: Mapping[str, Callable[[Floats, Weights], Floats]]


@dataclass(frozen=True)
class Answer:
    """How well a measure does, and how much better the default measure is on the same pairs."""

    question: str
    units: int
    method: str
    score: Estimate
    gain: Estimate


@dataclass(frozen=True)
class Group:
    """Pairs of one kind: mean distance of the sentence vectors and of the measure, similarity."""

    table: str
    kind: str
    pairs: int
    cosine: float
    distance: float
    similarity: float


@dataclass(frozen=True)
class Findings:
    """What the run found, in the order of display."""

    facts: dict[str, str]
    answers: tuple[Answer, ...]
    groups: tuple[Group, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {**asdict(self), "published": published_peers()}


def load_triples() -> list[Triple]:
    """The triples shipped with the package."""
    return [Triple(*row) for row in _shipped("triples_english.tsv")]


def load_behaviour() -> list[Instance]:
    """The pairs shipped with the package that show what the measure sees."""
    return [Instance(*row) for row in _shipped("behaviour_english.tsv")]


def published_peers() -> dict[str, float]:
    """Average precision of the cosine under other models on the English test pairs of PAWS-X."""
    return {name: float(value) for name, value in _shipped("peers_paws_x.tsv")}


def _shipped(name: str) -> Iterator[list[str]]:
    text = files("movers_research").joinpath("data", name).read_text("utf-8")
    return (line.split("\t") for line in text.splitlines()[1:])


def measure_default(
    base: Scorer,
    folder: Path,
    *,
    data: Path | None = None,
    sample: int | None = None,
    limit: int | None = None,
    resume: bool = False,
    progress: bool = False,
) -> Findings:
    """Hold the default measure against others on all its questions, with the model of ``base``.

    Distances stay in the run folder data set by data set; with ``resume`` a run broken off goes
    on. ``sample`` takes so many pairs of each data set at random, always the same ones, for slow
    models, and ``limit`` the shortest so many, to try things out.
    """
    if sample is not None and sample < 1:
        raise InputError(f"sample must be at least 1, got {sample}")
    missing = {name for name in OPTIONAL if not has_dataset(name, data)}
    asked = [name for name in (*QUESTIONS, ANCHORS) if name not in missing]
    read = [read_dataset(name, data, limit=limit) for name in asked]
    datasets = [_sampled(dataset, sample) for dataset in read]
    digests = {dataset.name: digest_of(dataset) for dataset in datasets}
    settings = {"movers": __version__, "model": base.encoder.fingerprint, **digests}
    run = open_run(folder, settings, resume=resume)
    measured = partial(_distances, base, run, progress=progress)
    trials = list(_trials(datasets[:-1]))
    answers: list[Answer] = []
    total = sum(len(trial.pairs) for trial in trials)
    with progress_bar("all data sets", "pairs", total, progress=progress) as overall:
        for trial in trials:
            answers += _answers(trial, measured(trial.name, trial.pairs, METHODS))
            overall.update(len(trial.pairs))
    groups: list[Group] = []
    for name, kinds in _kinds(datasets[-1]).items():
        pairs = [pair for members in kinds.values() for pair in members]
        found = measured(name, pairs, ("movers", COSINE))
        groups += _groups(name, kinds, found, calibrate(base.encoder).chance)
    facts = {
        "model": f"{Path(base.encoder.name).name}@{base.encoder.fingerprint}",
        "chance": f"{calibrate(base.encoder).chance:.4g}",
        "pairs": "all" if sample is None else f"at most {sample} random ones of each set",
        "words": "shipped statistics" if base.statistics.whitening else "raw vectors",
    }
    return Findings(facts, tuple(answers), tuple(groups))


def _sampled(dataset: Dataset, count: int | None) -> Dataset:
    if count is None or count >= len(dataset):
        return dataset
    rows = np.sort(np.random.default_rng(0).choice(len(dataset), count, replace=False))
    return replace(dataset, pairs=[dataset.pairs[row] for row in rows], gold=dataset.gold[rows])


def _trials(datasets: Sequence[Dataset]) -> Iterator[Trial]:
    """Labelled pairs under the metrics asked for, and either half of the triples."""
    for one in datasets:
        scores = {
            f"{one.title}, {TITLES[metric]}": partial(_agreement, metric, one.gold)
            for metric in QUESTIONS[one.name]
        }
        yield Trial(one.name, one.pairs, len(one), scores)
    for half, title in (("report", "held out"), ("choose", "chosen on")):
        own = [triple for triple in load_triples() if triple.half == half]
        pairs = [(one.sentence, one.paraphrase) for one in own]
        pairs += [(one.sentence, one.swap) for one in own]
        yield Trial(f"triples-{half}", pairs, len(own), {f"triples, {title}": _nearer})
    yield from _contrast_trials(contrasts())


def _contrast_trials(given: Contrasts) -> Iterator[Trial]:
    """Contrasts of the reporting half by family, and swaps with one more change."""
    change = np.array([kind == "change" for kind in given.kinds])
    for title, sides in FAMILIES.items():
        wanted = (sides[0] if same else sides[1] for same in given.same)
        rows = zip(wanted, given.kinds, strict=True)
        own = given.take(~given.fit & np.array([bool(re.fullmatch(*row)) for row in rows]))
        score = partial(_agreement, "auc", own.same.astype(float))
        yield Trial(
            f"contrasts-{title.replace(' ', '-')}", own.pairs, len(own.pairs), {title: score}
        )
    changes = given.take(~given.fit & change).pairs
    yield Trial("changes", changes[::2] + changes[1::2], len(changes) // 2, {CHANGED: _as_far})


def _agreement(metric: str, gold: Floats, found: Floats, weights: Weights) -> Floats:
    return METRICS[metric](gold, -found, weights)


def _as_far(found: Floats, weights: Weights) -> Floats:
    """How often a swap with one more change is at least as far as the swap."""
    swap, changed = found.reshape(2, -1)
    return np.asarray(weights @ (changed >= swap).astype(float) / len(swap))


def _nearer(found: Floats, weights: Weights) -> Floats:
    """How often the paraphrase is nearer than the swap."""
    near, far = found.reshape(2, -1)
    return np.asarray(weights @ (near < far).astype(float) / len(near))


def _kinds(anchors: Dataset) -> dict[str, dict[str, Pairs]]:
    """Pairs by kind, for either table of means: STS-B by what people say, triples, behaviour."""
    similarity = {}
    for low, high in BANDS:
        inside = (anchors.gold >= low) & ((anchors.gold < high) | (low == high))
        title = f"STS-B dev, gold {low:g}" + ("" if low == high else f" to {high:g}")
        similarity[title] = [anchors.pairs[row] for row in np.flatnonzero(inside)]
    for kind in ("paraphrase", "swap"):
        own = [(one.sentence, getattr(one, kind)) for one in load_triples()]
        similarity[f"triples: {kind}"] = own
    behaviour = {
        kind: [(one.source, one.target) for one in shown]
        for kind, shown in grouped(load_behaviour(), lambda one: one.kind).items()
    }
    return {"similarity": similarity, "behaviour": behaviour}


def _answers(trial: Trial, found: Mapping[str, Floats]) -> Iterator[Answer]:
    """The score of every measure, and by how much the default one is better: paired resamples."""
    once = np.ones((1, trial.units), np.uint8)
    weights = np.vstack([once, draw_weights(trial.units, RESAMPLES, 0)])
    settled = {
        name: apply_empty_policy(np.zeros(len(one)), one, "least").distances
        for name, one in found.items()
    }
    for question, score in trial.scores.items():
        drawn = {name: score(one, weights) for name, one in settled.items()}
        for name, values in drawn.items():
            own, gain = (
                Estimate(float(one[0]), *interval(one[1:]))
                for one in (values, drawn["movers"] - values)
            )
            yield Answer(question, trial.units, name, own, gain)


def _groups(
    name: str, kinds: Mapping[str, Pairs], found: Mapping[str, Floats], far: float
) -> Iterator[Group]:
    """Means over the pairs of each kind, which lie one kind after another."""
    start = 0
    for kind, members in kinds.items():
        rows = slice(start, start := start + len(members))
        if members:
            distances = found["movers"][rows]
            means = (found[COSINE][rows], distances, similarity_of(distances, far))
            yield Group(name, kind, len(members), *(float(one.mean()) for one in means))


def _distances(
    base: Scorer, run: RunFolder, name: str, pairs: Pairs, methods: Sequence[str], *, progress: bool
) -> dict[str, Floats]:
    """Distances of pairs under every measure: one forward pass, kept in the run folder.

    The cosine is that of the vectors of the sentences: the sentence part of the default alone.
    """

    def computed() -> Floats:
        raw = {} if base.statistics.whitening else {"whitening": "none"}
        named = [method for method in methods if method != COSINE]
        scorers = {method: base.using(method, empty="nan", **raw) for method in named}
        requests = joined_requests(scorer.measure.requirements for scorer in scorers.values())
        store = run.encodings(name)
        counts = Counter(text for pair in pairs for text in pair)
        corpus = CorpusEncoder(base.encoder, store, counts, requests)
        corpus.run(progress=progress)
        request = replace(scorers["movers"].measure.requirements, embeddings=(), heads=())
        encodings = corpus.encode(list(counts), request)
        sides = [encodings.numbers(side) for side in zip(*pairs, strict=True)]
        found = {COSINE: sentence_distances(encodings.pooled, np.stack(sides, axis=1))}
        for method, scorer in scorers.items():
            reader = Scorer(replace(scorer.settings, statistics=base.statistics), corpus)
            with warnings.catch_warnings(action="ignore", category=UndefinedWarning):
                found[method] = reader.distances(pairs, progress=progress)
        shutil.rmtree(store, ignore_errors=True)
        return np.stack([found[method] for method in methods])

    found = run.array(run.path / "distances" / f"{name}.npy", computed)
    return dict(zip(methods, found, strict=True))


def describe(findings: Findings, command: str) -> str:
    """The findings as Markdown."""
    rows = [row(name, f"{value:.1f}") for name, value in published_peers().items()]
    peers = ReportTable("model", {"average precision": ()}, rows)
    units = (f"{question}: {count}" for question, count in units_of(findings).items())
    facts = (f"{name}: {value}" for name, value in findings.facts.items())
    told_apart = (*FAMILIES, CHANGED)
    asked = [one for one in units_of(findings) if one not in told_apart]
    gains = _table(findings, "gain", METHODS[1:], signed, asked)
    families = _table(findings, "score", METHODS, percent, told_apart)
    sections = (
        Section("Scores", (SCORES,), (_table(findings, "score", METHODS, percent, asked),)),
        Section("Contrasts", (CONTRASTS,), (families,)),
        Section("What the default measure adds", (GAINS,), (gains,)),
        Section("Published", (PEERS_SOURCE,), (peers,)),
        Section("Similarity", (SIMILARITY,), (_grouped(findings, "similarity"),)),
        Section("Behaviour", (BEHAVIOUR,), (_grouped(findings, "behaviour"),)),
        Section("This run", points=(command, *facts, *units)),
    )
    return write_markdown("The default measure", sections)


def units_of(findings: Findings) -> dict[str, int]:
    """Return the questions in order of display, with how many pairs or triples each asks about."""
    return {one.question: one.units for one in findings.answers}


def _table(
    findings: Findings,
    asked: str,
    methods: Sequence[str],
    shown: Callable[[float], str],
    questions: Sequence[str],
) -> ReportTable:
    """Scores or gains of methods, a column for each question."""
    found = {(one.method, one.question): getattr(one, asked) for one in findings.answers}

    def cell(of: Estimate) -> Cell:
        return Cell(shown(of.value), f"({shown(of.low)} to {shown(of.high)})")

    rows = [row(name, *(cell(found[name, title]) for title in questions)) for name in methods]
    return ReportTable("measure", dict.fromkeys(questions, ()), rows)


def _grouped(findings: Findings, name: str) -> ReportTable:
    rows = []
    for one in (group for group in findings.groups if group.table == name):
        distances = f"{one.cosine:.3f}", f"{one.distance:.3f}"
        rows.append(row(one.kind, f"{one.pairs}", *distances, f"{one.similarity:.2f}"))
    headings = ("pairs", "1 − cosine", "movers", "similarity")
    return ReportTable("pairs", dict.fromkeys(headings, ()), rows)


SCORES = (
    "All values × 100, with 95 % intervals from 1,000 bootstrap resamples. “cosine” is that of the "
    "sentence vectors, the sentence part of movers alone; triples: how often the paraphrase is "
    "nearer than the sentence with its roles swapped."
)
CONTRASTS = (
    "Contrasts of the reporting half, which no weight was fitted on: the area under the curve with "
    "which pairs of the same meaning are nearer than pairs of another, and how often a swap with "
    "one more change is at least as far as the swap."
)
GAINS = "movers minus each measure, with 95 % intervals from the same resamples for both."
PEERS_SOURCE = (
    "embeddings-benchmark/results at f4cc6c8b3, results/*/*/PawsXPairClassification.json: average "
    "precision of the cosine on the same 2,000 pairs. Some of these models may have been trained "
    "on PAWS; the lists do not say."
)
SIMILARITY = "Means over the pairs of each kind."
BEHAVIOUR = "Means over the pairs of each kind; these pairs were used in choosing the measure."
