"""Labelled sentence pairs by name, prepared as the paper prepares them.

`movers.evaluate.labelled` says what is done to them; "the first 1500 pairs" of the paper are the
1500 shortest ones.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from movers.arrays import Ints
from movers.errors import InputError, no_such
from movers.evaluate.labelled import (
    Dataset,
    MetricName,
    check_limit,
    make_dataset,
    prepare_rows,
    read_labelled,
)
from movers.io.tables import SUFFIXES
from movers.runtime.notices import Notice, notify
from movers_research.dataset_files import SCORED, Columns, read_scored

SHORTEST = 1500
TREES = "parses"
COUNTS = "sif/enwiki_vocab_min200.txt"
TOKENISED = "-tokenised"
"""Ending of a data set's other copy, which the published table most likely used."""
WORD = re.compile(r"\w+|[^\w\s]")


class DatasetWarning(Notice):
    """A data set has another size or balance than the one that its name stands for."""


@dataclass(frozen=True)
class Source:
    """Where a named data set comes from and what it should look like.

    Parameters
    ----------
    title, origin
        What a table shows, and where users get the files.
    files
        Files below the folder of evaluation data; for the STS tasks texts and scores in turns.
    columns
        Layout of the files; None for texts and scores in files of their own.
    metric
        How distances are held against the gold values.
    rows, positives
        Pairs, and the percentage of paraphrases among them, once read.
    shortest
        How many of the shortest pairs to keep; None for all.
    ids
        File that lists the pairs to keep by what stands in their first column, some of them
        twice; None for all.
    """

    title: str
    origin: str
    files: tuple[str, ...]
    columns: Columns | None
    metric: MetricName
    rows: int
    positives: float | None = None
    shortest: int | None = None
    ids: str | None = None

    @property
    def needed(self) -> tuple[str, ...]:
        """Every file it is read from."""
        return (*self.files, *([self.ids] if self.ids else []))


PAWS = "google-research-datasets/paws"
QUORA = f"{PAWS}, generated from Quora Question Pairs"
QUORA_SAMPLE = f"{QUORA}: 4,000 of its training pairs as plain text"
WIKI = f"{PAWS}, Wiki labeled (final)"
CROSS = f"{WIKI}, whose development set holds the English test pairs of PAWS-X"
STSB = "the STS Benchmark of Cer et al. (2017)"
MOSES = "amao0o0/SynWMD, whose scripts split and lower-case the STS Benchmark"
MARELLI = "SemEval-2014 task 1, Marelli et al. (2014)"
SEMEVAL = "facebookresearch/SentEval, from the SemEval STS task"
DOLAN = "the Microsoft Research Paraphrase Corpus of Dolan and Brockett (2005)"

LABELLED = Columns(1, 2, 3, fields=4, label=True)
WRAPPED = Columns(1, 2, 3, fields=4, label=True, wrapped=True)
BENCHMARK = Columns(5, 6, 4, fields=7, header=False, extra=True)
RELATED = Columns(1, 2, 3, fields=5)
PARAPHRASES = Columns(3, 4, 0, fields=5, label=True)

QQP_TRAIN, QQP_TEST = ("PAWSQQP/train.tsv",), ("PAWSQQP/dev_and_test.tsv",)
QQP_SAMPLE = ("PAWSQQP/train_sample.tsv",)
WIKI_DEV, WIKI_TEST = ("PAWSWiki/dev.tsv",), ("PAWSWiki/test.tsv",)
EN_TEST = "PAWSX/en_test_ids.txt"
SICK, MRPC = ("SICK/SICK_test_annotated.txt",), ("MRPC/msr_paraphrase_test.txt",)


def _graded(part: str, rows: int, copy: str = "", origin: str = STSB) -> Source:
    """The row of a part of the STS Benchmark, as it is or as another copy has it."""
    title = f"STS-B {part}, {copy}" if copy else f"STS-B {part}"
    files = (f"STSB{copy and '_'}{copy}/sts-{part}.csv",)
    return Source(title, origin, files, BENCHMARK, "spearman", rows)


def _task(year: int, rows: int, *parts: str) -> Source:
    """The row of an STS task, whose parts are put together."""
    folder = f"STS/STS{year}-en-test"
    files = tuple(f"{folder}/STS.{kind}.{part}.txt" for part in parts for kind in ("input", "gs"))
    return Source(f"STS{year}", f"{SEMEVAL} of 20{year}", files, None, "spearman", rows)


DATASETS: dict[str, Source] = {
    "paws-qqp-dev": Source("PAWS-QQP dev", QUORA, QQP_TRAIN, WRAPPED, "auc", 1500, 24.67, SHORTEST),
    "paws-qqp-test": Source("PAWS-QQP test", QUORA, QQP_TEST, WRAPPED, "auc", 677, 28.21),
    "paws-qqp-train": Source("PAWS-QQP train", QUORA, QQP_TRAIN, WRAPPED, "auc", 11988, 31.50),
    "paws-qqp-sample": Source(
        "PAWS-QQP sample", QUORA_SAMPLE, QQP_SAMPLE, LABELLED, "auc", 4000, 31.12
    ),
    "paws-wiki-dev": Source(
        "PAWS-Wiki dev", WIKI, WIKI_DEV, LABELLED, "auc", 1500, 42.27, SHORTEST
    ),
    "paws-wiki-dev-full": Source(
        "PAWS-Wiki dev, all", WIKI, WIKI_DEV, LABELLED, "auc", 8000, 44.24
    ),
    "paws-wiki-test": Source("PAWS-Wiki test", WIKI, WIKI_TEST, LABELLED, "auc", 8000, 44.20),
    "paws-x-en-test": Source(
        "PAWS-X English test", CROSS, WIKI_DEV, LABELLED, "auc", 2000, 45.35, ids=EN_TEST
    ),
    "stsb-dev": _graded("dev", 1500),
    "stsb-test": _graded("test", 1379),
    "stsb-dev-tokenised": _graded("dev", 1500, "tokenised", MOSES),
    "stsb-test-tokenised": _graded("test", 1379, "tokenised", MOSES),
    "sick-test": Source("SICK-R test", MARELLI, SICK, RELATED, "spearman", 4927),
    "sts12": _task(
        12, 3108, "MSRpar", "MSRvid", "SMTeuroparl", "surprise.OnWN", "surprise.SMTnews"
    ),
    "sts13": _task(13, 1500, "FNWN", "headlines", "OnWN"),
    "sts14": _task(
        14, 3750, "deft-forum", "deft-news", "headlines", "images", "OnWN", "tweet-news"
    ),
    "sts15": _task(15, 3000, "answers-forums", "answers-students", "belief", "headlines", "images"),
    "sts16": _task(
        16, 1186, "answer-answer", "headlines", "plagiarism", "postediting", "question-question"
    ),
    "mrpc-test": Source("MRPC test", DOLAN, MRPC, PARAPHRASES, "auc", 1725, 66.49),
}


def read_dataset(
    name: str | Path,
    data: str | Path | None = None,
    *,
    limit: int | None = None,
    source: str | None = None,
    target: str | None = None,
    gold: str | None = None,
) -> Dataset:
    """Read labelled pairs.

    Parameters
    ----------
    name
        A row of `DATASETS`, or a TSV, CSV, JSON lines or Parquet file with a column of labels
        (0 and 1: area under the ROC curve) or scores (Spearman's correlation).
    data
        Folder of evaluation data, for a row of `DATASETS`; by default ``MOVERS_DATA``.
    limit
        Keep so many of the shortest pairs.
    source, target, gold
        Columns of a file, where their names are not well known.
    """
    check_limit(limit)
    if str(name) in DATASETS:
        return _read_named(str(name), data_folder(data, str(name)), limit)
    path = Path(name)
    if path.suffix.lower() not in SUFFIXES and not path.exists():
        raise InputError(
            f"{no_such('data set', str(name), DATASETS)}; "
            f"or name a file that ends in {', '.join(SUFFIXES)}"
        )
    return read_labelled(path, limit=limit, source=source, target=target, gold=gold)


def has_dataset(name: str, data: str | Path | None = None) -> bool:
    """Say whether the files of a row of `DATASETS` are there."""
    folder = data_folder(data, name)
    return all((folder / file).is_file() for file in DATASETS[name].needed)


def _read_named(name: str, folder: Path, limit: int | None) -> Dataset:
    """Read a row of `DATASETS`; warn if it is not the data set that the name stands for."""
    row = DATASETS[name]
    for file in row.needed:
        if not (folder / file).is_file():
            raise InputError(
                f"{name} needs {file} in the folder of evaluation data, and "
                f"{str(folder / file)!r} is not there ({row.columns or SCORED}); "
                f"get it from {row.origin}"
            )
    paths = [folder / file for file in row.files]
    if row.columns is not None:
        ids = Counter((folder / row.ids).read_text("utf-8").split()) if row.ids else None
        found = chain.from_iterable(row.columns.read(path, ids) for path in paths)
    else:
        found = chain.from_iterable(map(read_scored, paths[::2], paths[1::2]))
    rows = prepare_rows(found)[: row.shortest]
    dataset = make_dataset(name, row.title, rows, row.metric)
    counted, expected = f"{len(dataset)} pairs", f"{row.rows} pairs"
    if row.positives is not None:
        counted += f" with {100 * dataset.gold.mean():.2f} % paraphrases"
        expected += f" with {row.positives:.2f} % paraphrases"
    if counted != expected:
        notify(
            f"{name} has {counted}, expected {expected}; its scores do not compare with "
            f"published ones. The files are {', '.join(row.needed)} from {row.origin}",
            DatasetWarning,
        )
    return make_dataset(name, row.title, rows[:limit], row.metric) if limit else dataset


def data_folder(data: str | Path | None = None, name: str = "evaluation data") -> Path:
    """The folder of evaluation data: the one named, or ``MOVERS_DATA``."""
    folder = data or os.environ.get("MOVERS_DATA")
    if not folder:
        raise InputError(
            f"{name} does not come with movers: docs/datasets.md tells where it is to be had; name "
            "the folder that holds it, or set MOVERS_DATA"
        )
    return Path(folder)


def auxiliary_files(data: str | Path | None = None) -> dict[str, Any]:
    """Trees and word counts that lie beside the data sets, as settings of `movers.load`."""
    if not (data or os.environ.get("MOVERS_DATA")):
        return {}
    folder = data_folder(data)
    trees, counts = folder / TREES, folder / COUNTS
    return {
        **({"parser": f"conllu:{trees}"} if trees.is_dir() else {}),
        **({"frequencies": counts} if counts.is_file() else {}),
    }


def digest_of(dataset: Dataset) -> str:
    """Return eight hexadecimal digits that change with any sentence or gold value."""
    lines = (
        f"{source}\t{target}\t{gold!r}\n"
        for (source, target), gold in zip(dataset.pairs, dataset.gold.tolist(), strict=True)
    )
    return sha256("".join(lines).encode()).hexdigest()[:8]


def common_words(dataset: Dataset) -> Ints:
    """Count the distinct words that the two sentences of each pair share.

    Words are runs of letters and digits, lower-cased, and single punctuation marks. The paper
    does not say what it counts, and none of the counts tried gives both of its correlations with
    the gold scores (by type or token; between blanks or with punctuation split off, kept or
    dropped; with and without case, stop words and word pieces). This one gives 59.09 on the
    development set of STS-B (59.37 published) and -4.24 on that of PAWS-Wiki (-0.85 published).
    Only splitting contractions as well comes a little closer in sum (58.75 and -3.70).
    """
    words = ([set(WORD.findall(text.lower())) for text in pair] for pair in dataset.pairs)
    return np.array([len(first & second) for first, second in words], dtype=np.int64)
