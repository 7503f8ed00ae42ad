"""Long texts: made-up agreements that differ in one sentence, and documents that people compared.

Agreements are put together from sentences written for this (``data/clauses_english.tsv``), each
with the same in other words and with its denial. Lee's fifty documents, with the similarities that
people gave, are those in gensim's test data; nothing was chosen by them.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from movers.arrays import Floats
from movers.documents.comparison import TextComparison
from movers.errors import DependencyError
from movers.evaluate.metrics import score
from movers.scorer import Scorer

NAME = "long-texts"
PARTIES = (
    ("seller", "buyer"), ("landlord", "tenant"), ("supplier", "customer"), ("lender", "borrower"),
    ("contractor", "client"), ("licensor", "licensee"),
)  # fmt: skip
THINGS = """
machine; printing press; tractor; coffee roaster; water pump; warehouse; bakery oven; fishing boat;
crane; server; greenhouse; delivery van; elevator; power generator; weighing scale; milking robot;
solar panels; packing line; harvester; laser cutter; cooling unit; conveyor belt; sawmill; kiln;
software; telephone system; alarm system; loading ramp; storage tank; air compressor; forklift;
sewing machine; lathe; drilling rig; fuel tank; concrete mixer
"""
KINDS = ("roles", "negation", "number")
CASES, TEXTS = 50, 100
RESAMPLES = 1000
RULE = "|---|--:|--:|--:|--:|"


@dataclass(frozen=True)
class Agreement:
    """Sentences of an agreement, and how each may be put."""

    sentences: tuple[str, ...]
    reworded: tuple[str, ...]
    denied: tuple[str, ...]
    swapped: tuple[str, ...]
    recounted: tuple[str, ...]

    def changed(self, kind: str, place: int) -> list[str]:
        """The sentences with one changed in meaning."""
        other = {"negation": self.denied, "roles": self.swapped, "number": self.recounted}[kind]
        return [*self.sentences[:place], other[place], *self.sentences[place + 1 :]]

    def can_change(self, kind: str, place: int) -> bool:
        """Whether a sentence says something else after a change of this kind."""
        return self.changed(kind, place)[place] != self.sentences[place]


def clauses() -> list[dict[str, str]]:
    """Sentences of agreements with places for parties, things and numbers."""
    table = files("movers_research") / "data" / "clauses_english.tsv"
    return list(csv.DictReader(table.read_text("utf-8").splitlines(), delimiter="\t"))


def agreement(rng: np.random.Generator, words: int) -> Agreement:
    """Put an agreement of about so many words together; no sentence occurs twice."""
    rows = clauses()
    a, b = PARTIES[rng.integers(len(PARTIES))]
    things = [" ".join(thing.split()) for thing in THINGS.split(";")]
    every = [(row, thing) for row in rows for thing in things]
    versions: list[tuple[str, ...]] = []
    count = 0
    for number in rng.permutation(len(every)).tolist():
        row, thing = every[number]
        n, other = (int(value) for value in rng.choice(np.arange(2, 60), 2, replace=False))
        told = {"a": a, "b": b, "x": thing, "n": n}
        sentence = row["text"].format(**told)
        if any(sentence == known[0] for known in versions):
            continue
        versions.append(
            (
                sentence,
                row["reworded"].format(**told),
                row["denied"].format(**told),
                row["text"].format(**told | {"a": b, "b": a}) if "{b}" in row["text"] else sentence,
                row["text"].format(**told | {"n": other}),
            )
        )
        count += len(sentence.split())
        if count >= words:
            break
    return Agreement(*zip(*versions, strict=True))


@dataclass(frozen=True)
class Case:
    """One agreement against another that differs in one sentence, and what was found."""

    kind: str
    words: int
    similarity: float
    same: bool
    first: bool


def run_cases(scorer: Scorer, count: int = CASES, seed: int = 0) -> list[Case]:
    """Compare agreements of 300 to 3,000 words with one sentence changed near the end."""
    rng, found = np.random.default_rng(seed), []
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        whole = agreement(rng, int(rng.integers(300, 3001)))
        last = range(len(whole.sentences) - 1, 0, -1)
        place = next(one for one in last if whole.can_change(kind, one))
        texts = " ".join(whole.sentences), " ".join(whole.changed(kind, place))
        compared = scorer.compare_texts(*texts)
        first = compared.gravest[0] if compared.gravest else None
        found.append(
            Case(
                kind,
                len(texts[0].split()),
                float(compared.similarity or 0.0),
                _says_same(compared),
                first is not None and first.target == place and first.fate == "changed",
            )
        )
    return found


def _says_same(compared: TextComparison) -> bool:
    return (compared.verdict or "").startswith("The same")


def run_edits(scorer: Scorer, count: int = TEXTS, seed: int = 1) -> dict[str, Floats]:
    """Similarities of texts to themselves, reworded, shuffled and with one sentence changed."""
    rng = np.random.default_rng(seed)
    found: dict[str, list[float]] = {}
    for number in range(count):
        whole = agreement(rng, int(rng.integers(200, 500)))
        kind = KINDS[number % len(KINDS)]
        places = [p for p in range(len(whole.sentences)) if whole.can_change(kind, p)]
        place = places[int(rng.integers(len(places)))]
        shuffled = [whole.sentences[p] for p in rng.permutation(len(whole.sentences))]
        some = {p for p in range(len(whole.sentences)) if p % 3 == number % 3}
        mixed = [whole.reworded[p] if p in some else s for p, s in enumerate(whole.sentences)]
        edits = {
            "the same": whole.sentences,
            "a third of it reworded": mixed,
            "all of it reworded": whole.reworded,
            "shuffled": shuffled,
            "one sentence changed": whole.changed(kind, place),
        }
        for name, edited in edits.items():
            alike = scorer.compare_texts(whole.sentences, tuple(edited)).similarity
            found.setdefault(name, []).append(float(alike or 0.0))
    return {name: np.array(values) for name, values in found.items()}


def lee() -> tuple[list[str], Floats]:
    """Lee's documents, and the similarity that people gave to every two of them."""
    try:
        from gensim.test.utils import datapath
    except ImportError as error:
        raise DependencyError("Lee's documents come with gensim: pip install gensim") from error
    raw = Path(datapath("lee.cor")).read_bytes().decode("latin-1")
    values = re.split(r"\s+", Path(datapath("similarities0-1.txt")).read_text("utf-8").strip())
    return raw.strip().split("\n"), np.array(values, float).reshape(50, 50)


def lee_measures(scorer: Scorer, texts: Sequence[str]) -> Iterator[tuple[str, Floats]]:
    """Yield what measures say of every two documents, small for similar."""
    from movers.documents.splitting import split

    yield "movers, sentence by sentence", scorer.using(texts="sentences").matrix(texts)
    whole = scorer.using(texts="whole").weigh(texts)
    yield "cosine of the text as far as it is read", _apart(whole.pooled[whole.numbers(texts)])
    sentences = [[one.text for one in split(text)] for text in texts]
    weighed = scorer.weigh([one for text in sentences for one in text])
    means = [_units(weighed.pooled[weighed.numbers(text)]).mean(axis=0) for text in sentences]
    yield "cosine of mean sentence vectors", _apart(np.array(means))
    yield "movers, the text as far as it is read", scorer.using(texts="whole").matrix(texts)
    yield from _gensim(texts)


def _gensim(texts: Sequence[str]) -> Iterator[tuple[str, Floats]]:
    """WMD as gensim computes it, with word vectors trained on Lee's background corpus."""
    from gensim.models import Word2Vec
    from gensim.parsing.preprocessing import STOPWORDS
    from gensim.test.utils import datapath
    from gensim.utils import simple_preprocess

    def words(text: str) -> list[str]:
        return [word for word in simple_preprocess(text) if word not in STOPWORDS]

    background = Path(datapath("lee_background.cor")).read_bytes().decode("latin-1").split("\n")
    model = Word2Vec(list(map(words, background)), vector_size=100, epochs=40, min_count=2,
                     workers=1, seed=0)  # fmt: skip
    out = np.zeros((len(texts), len(texts)))
    for i, j in combinations(range(len(texts)), 2):
        out[i, j] = out[j, i] = model.wv.wmdistance(words(texts[i]), words(texts[j]))
    yield "gensim's WMD, its word2vec of the background corpus", out


def _units(vectors: Any) -> Floats:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True), float)


def _apart(vectors: Any) -> Floats:
    units = _units(vectors)
    return np.asarray(1.0 - units @ units.T)


def correlations(scorer: Scorer) -> dict[str, tuple[float, ...]]:
    """Pearson correlation with people, with a 95 % interval from resampled documents.

    Behind it, for all but the first, what the first has more, with its interval.
    """
    texts, people = lee()
    rng = np.random.default_rng(0)
    draws = [np.arange(50), *(rng.integers(50, size=50) for _ in range(RESAMPLES))]
    found: dict[str, tuple[float, ...]] = {}
    first: Floats | None = None
    for name, distances in lee_measures(scorer, texts):
        values = np.array([_pearson(distances, people, draw) for draw in draws])
        told = [values] if first is None else [values, first - values]
        found[name] = tuple(
            float(x) for one in told for x in (one[0], *np.quantile(one[1:], (0.025, 0.975)))
        )
        first = values if first is None else first
    return found


def _pearson(distances: Floats, people: Floats, chosen: Any) -> float:
    """Correlation over the pairs of two different documents among those chosen."""
    i, j = np.triu_indices(len(chosen), 1)
    i, j = chosen[i], chosen[j]
    kept = i != j
    low, high = np.minimum(i, j)[kept], np.maximum(i, j)[kept]
    return float(np.corrcoef(-distances[low, high], people[low, high])[0, 1])


def describe(scorer: Scorer, command: str, *, cases: int = CASES, texts: int = TEXTS) -> str:
    """Run everything, and tell of it in Markdown."""
    found, edits, people = run_cases(scorer, cases), run_edits(scorer, texts), correlations(scorer)
    lines = ["# Long texts", "", f"    {command}", "", str(scorer.signature), ""]
    lines += ["## One sentence changed near the end of 300 to 3,000 words", ""]
    lines += ["| change | texts | called the same | named first | similarity |", RULE]
    for kind in (*KINDS, "all"):
        some = [one for one in found if kind in (one.kind, "all")]
        same, first = (sum(getattr(one, name) for one in some) for name in ("same", "first"))
        alike = np.mean([one.similarity for one in some])
        lines.append(f"| {kind} | {len(some)} | {same} | {first / len(some):.0%} | {alike:.2f} |")
    lines += ["", f"## The same, reworded, shuffled, changed: {texts} texts each", ""]
    lines += ["| text | similarity, median | 5 % to 95 % | AUC against the next |", RULE[:-4]]
    names = list(edits)
    for name, after in zip(names, [*names[1:], None], strict=True):
        low, middle, high = np.quantile(edits[name], (0.05, 0.5, 0.95))
        value = "" if after is None else f"{_auc(edits[name], edits[after]):.3f}"
        lines.append(f"| {name} | {middle:.3f} | {low:.3f} to {high:.3f} | {value} |")
    lines += ["", "## Lee's 50 documents: correlation with people", ""]
    lines += ["Pearson, 1,225 pairs; intervals from 1,000 resamples of the documents.", ""]
    lines += ["| measure | Pearson | 95 % | movers is above by |", RULE[:-4]]
    for name, (pearson, low, high, *gain) in people.items():
        above = "{:.3f} ({:.3f} to {:.3f})".format(*gain) if gain else ""
        lines.append(f"| {name} | {pearson:.3f} | {low:.3f} to {high:.3f} | {above} |")
    return "\n".join([*lines, ""])


def _auc(near: Floats, far: Floats) -> float:
    """How often the first of two texts is more similar than the second."""
    labels = np.r_[np.ones(len(near)), np.zeros(len(far))]
    return score("auc", labels, -np.r_[near, far])
