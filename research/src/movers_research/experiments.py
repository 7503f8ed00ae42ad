"""The paper's experiments by name: which data sets, which measures, what to show of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from movers.errors import InputError
from movers.evaluate.labelled import Dataset
from movers.evaluate.metrics import score
from movers.measures.registry import DEFAULT, METHODS, find_measure
from movers.scorer import Scorer
from movers_research import datasets
from movers_research.baselines import MEASURES
from movers_research.datasets import DATASETS, TOKENISED
from movers_research.evaluation import CRITERION, Task, evaluate
from movers_research.outcomes import Illustration, Overlap, Results
from movers_research.published import paper_model, published_facts
from movers_research.scores import MeasureGrid

SELECTIONS = ("top1", "BV", "all", "best")
EVERY = tuple(name for name in {**METHODS, **MEASURES} if name != DEFAULT.name)
"""The measures of the paper and those it compares with; the default measure came later."""
BASELINES = (
    *("average", "bertscore", "bertscore-idf", "dynamax", "sif", "usif"),
    *("conceptor", "rots", "opwd", "opwd-cos", "wmdo"),
)
STRUCTURE_ON_WMD = ("wmd", "wsmd-wmd", "wmd-idf", "wsmd-wmd-idf")
MAIN = ("paws-qqp-test", "paws-wiki-test", "stsb-test", f"stsb-test{TOKENISED}")
DEVELOPMENT = ("paws-qqp-dev", "paws-wiki-dev")
OTHER_MODELS = ("distilbert-base-uncased", "google/multiberts-seed_0")


@dataclass(frozen=True)
class Experiment:
    """One experiment of the paper: what it shows, and what to run.

    Without methods the model does not look at the data sets; without models it is the one
    installed with movers, unless others are named.
    """

    title: str
    datasets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


EXPERIMENTS = {
    "main": Experiment("main tables and average improvements", MAIN, EVERY),
    "scatter": Experiment("heads and layers on two data sets", DEVELOPMENT, ("wmd", CRITERION)),
    "variability": Experiment("attention variability by layer", DEVELOPMENT, ("wmd", CRITERION)),
    "sick": Experiment("relatedness of SICK", ("sick-test",), EVERY),
    "qqp-train": Experiment("PAWS-QQP train", ("paws-qqp-train",), (*BASELINES, *STRUCTURE_ON_WMD)),
    "common-words": Experiment("common words against gold", (*DEVELOPMENT, "stsb-dev")),
    "example": Experiment("the opening example"),
    "other-models": Experiment("main tables of other models", MAIN, EVERY, OTHER_MODELS),
}
ONE_MODEL = tuple(name for name, row in EXPERIMENTS.items() if not row.models)


def reproduce(
    base: Scorer,
    experiments: Sequence[str],
    folder: Path,
    *,
    data: Path | None = None,
    recipes: Sequence[str] = ("reference",),
    limit: int | None = None,
    resume: bool = False,
    progress: bool = False,
) -> Results:
    """Run experiments of the paper with one model.

    Data sets that are not there are left out, with a note.

    Parameters
    ----------
    base
        Model, parser, word frequencies and the like.
    experiments
        Rows of `EXPERIMENTS`.
    data
        Folder of evaluation data; None reads ``MOVERS_DATA``.
    recipes
        ``"reference"`` is what the published numbers were computed with.
    limit
        Take only the shortest so many pairs of each data set, to try things out.
    folder, resume, progress
        As in `evaluate`.
    """
    rows = [find_experiment(name) for name in experiments]
    there, notes = _read_available(rows, data, limit)
    tasks = _tasks(base, rows, there.values(), recipes)
    results = Results({}, ())
    if tasks:
        dev = next((there[name] for name in DEVELOPMENT if name in there), None)
        if missing := [name for name in METHODS if not _possible(base, name, recipes)]:
            notes.append(f"left out without a parser: {', '.join(missing)}")
        if dev is None:
            notes.append("without a development set no layers are picked: no top1, BV, best")
        elif dev.name != DEVELOPMENT[0]:
            notes.append(f"layers were picked on {dev.title}; in the paper, on PAWS-QQP dev")
        keeping = {"resume": resume, "progress": progress}
        chosen = SELECTIONS if dev else ("all",)
        results = evaluate(base, tasks, folder, selections=chosen, dev=dev, **keeping)
    counted = EXPERIMENTS["common-words"].datasets if "common-words" in experiments else ()
    return replace(
        results,
        overlaps=tuple(_overlap(there[name]) for name in counted if name in there),
        illustrations=illustrations(base) if "example" in experiments else (),
        notes=tuple(notes),
    )


def _read_available(
    rows: Sequence[Experiment], data: Path | None, limit: int | None
) -> tuple[dict[str, Dataset], list[str]]:
    """The data sets that are there, and a note on each that is not."""
    wanted = dict.fromkeys(name for row in rows for name in row.datasets)
    if not wanted:
        return {}, []
    folder = datasets.data_folder(data)
    present = [
        name for name in wanted if all((folder / file).exists() for file in DATASETS[name].needed)
    ]
    # With nothing there, reading the first says what is missing and where to get it.
    found = {name: datasets.read_dataset(name, folder, limit=limit) for name in present or wanted}
    return found, [f"{DATASETS[name].title} is not there" for name in wanted if name not in found]


def find_experiment(name: str) -> Experiment:
    """Look an experiment up by name."""
    if name not in EXPERIMENTS:
        raise InputError(f"no experiment {name!r}; there are: {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[name]


def _tasks(
    base: Scorer, rows: Sequence[Experiment], there: Iterable[Dataset], recipes: Sequence[str]
) -> list[Task]:
    """Data sets with all the measures that any experiment wants of them."""
    tasks = []
    for dataset in there:
        wanting = [row for row in rows if dataset.name in row.datasets]
        methods = dict.fromkeys(method for row in wanting for method in row.methods)
        if kept := [method for method in methods if _possible(base, method, recipes)]:
            grid = MeasureGrid(tuple(kept), tuple(recipes), (0, base.encoder.layers))
            tasks.append(Task(dataset, grid))
    return tasks


def _possible(base: Scorer, method: str, recipes: Sequence[str]) -> bool:
    return base.settings.parser is not None or not any(
        "parser" in find_measure(method).under(recipe).settings  # type: ignore[arg-type]
        for recipe in recipes
    )


def _overlap(dataset: Dataset) -> Overlap:
    common, name = datasets.common_words(dataset), dataset.name
    known = published_facts()["correlations"]["common_words"]
    rho = score("spearman", dataset.gold, -common.astype(float))
    return Overlap(name, common, dataset.gold, rho, known[name] / 100 if name in known else None)


OBAMA = (
    "obama speaks to the media in illinois.",
    ("the president greets the press in chicago.", "the press greets the president in chicago."),
)
OBAMA_HEAD = (8, 2)
"""Attention layer and head behind the numbers of the paper's example."""


def illustrations(base: Scorer) -> tuple[Illustration, ...]:
    """The paper's opening example: raw input vectors, and one head where the model has it.

    A smaller model shows the layers it would use by default.
    """
    (layer, head), model = OBAMA_HEAD, base.encoder
    same = model.layers >= layer and model.heads >= head
    heads = {"layers": str(layer), "heads": str(head)} if same else {}
    scorers = {
        name: base.using(name, embedding=0, recipe="reference", whitening="none", **heads)
        for name in ("wmd", "lambda-wmd", "wsmd-wmd")
    }
    source, targets = OBAMA
    out = []
    for target, row in zip(targets, published_facts()["illustration"]["cases"], strict=True):
        distances = {name: one.compare(source, target).distance for name, one in scorers.items()}
        published = row["first"] if paper_model(model.name) else {}
        out.append(Illustration(source, target, distances, published))
    return tuple(out)
