"""Commands that hold measures against labelled pairs: scores, experiments, thresholds."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from json import dumps
from math import isnan
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from cyclopts import Parameter

from movers.cli import options as given
from movers.cli.messages import command_line, say, show
from movers.cli.options import DEFAULTS, MODEL_DEFAULTS, method_names
from movers.cli.terminal import print_scores, print_thresholds
from movers.errors import InputError
from movers.io.pairs import known_columns
from movers.io.tables import SUFFIXES, open_table
from movers.io.texts import read_texts
from movers.measures.registry import METHODS

if TYPE_CHECKING:
    from movers.evaluate.outcomes import Results

Resume = Annotated[given.Flag, Parameter(help="Go on with the run in --output.")]
Scores = Annotated[given.Flag, Parameter(help="Print the scores as JSON.")]
Number = TypeVar("Number", int, float)


def evaluate(
    dataset: str,
    /,
    *,
    methods: given.Methods = "movers,wmd,wsmd-wmd,wrd,wsmd-wrd",
    protocol: Literal["default", "paper"] = "default",
    source: str | None = None,
    target: str | None = None,
    gold: str | None = None,
    statistics: Path | None = None,
    recipes: str = "paper",
    embeddings: str = "-1",
    mixes: str = "0.5",
    layers: str | None = None,
    dev: str | None = None,
    data: Path | None = None,
    limit: int | None = None,
    output: given.Target | None = None,
    resume: Resume = False,
    json: Scores = False,
    quiet: given.Quiet = False,
    options: given.ModelOptions = MODEL_DEFAULTS,
) -> None:
    """Hold measures against labelled pairs: scores with intervals, gains with tests.

    The distances are those that `movers score` gives. With --protocol paper, statistics are fitted
    on the data set itself and all attention layers are averaged, as in the paper.

    Example: `movers evaluate examples/data/labelled.tsv --methods movers,wmd`

    Parameters
    ----------
    dataset
        paws-wiki-test, stsb-test and the like, or a file of pairs with a label or score column.
    methods
        Measures, separated by commas, or "every".
    protocol
        "default": measures as they come. "paper": as the paper evaluates them.
    source
        Column of the first sentence of a file. Default: source, sentence1 and the like.
    target
        Column of the second sentence of a file.
    gold
        Column of the label (0 and 1, yes and no) or score. Default: label, score and the like.
    statistics
        File of fitted statistics, made by `movers fit`. Default: those shipped with the model.
    recipes
        "paper", "reference" or both, separated by commas.
    embeddings
        Layers of the word vectors, separated by commas: 0 is the input layer, -1 the last.
    mixes
        Shares of structure from 0 to 1, separated by commas.
    layers
        Attention layers to average, separated by blanks: "all", "5-12", "1,3", "BV". For the
        paper's protocol, whose default is all, "top1", "best" and "BV" are picked on --dev.
    dev
        Data set to pick layers on; for the paper's protocol.
    data
        Folder of evaluation data. Default: MOVERS_DATA.
    limit
        Take only so many of the shortest pairs.
    output
        Folder for values, report and figures; a run broken off goes on in it with --resume.
    """
    from movers.evaluate.benchmark import MeasureGrid
    from movers.evaluate.datasets import read_dataset
    from movers.evaluate.evaluation import Task
    from movers.evaluate.evaluation import evaluate as run
    from movers.evaluate.usual import evaluate_as_used

    if protocol == "paper" and statistics is not None:
        raise InputError("--protocol paper fits statistics of its own; leave out --statistics")
    if protocol == "default" and dev is not None:
        raise InputError("--dev picks layers for --protocol paper; name that as well")
    pairs = read_dataset(dataset, data, limit=limit, source=source, target=target, gold=gold)
    scorer = _with_files(options, data).load("wsmd")
    if statistics is not None:
        scorer = scorer.using(statistics=statistics)
    grid = MeasureGrid(
        tuple(METHODS) if methods == "every" else tuple(method_names(methods)),
        tuple(recipes.split(",")),
        tuple(scorer.using(embedding=layer).embedding for layer in _listed(embeddings, int)),
        tuple(_listed(mixes, float)),
    )
    with ExitStack() as stack:
        folder = output or Path(stack.enter_context(TemporaryDirectory(prefix="movers-"))) / "run"
        keeping: dict[str, Any] = {"resume": resume, "progress": not quiet}
        if protocol == "paper":
            chosen = (layers or "all").split()
            picking = None if dev is None else read_dataset(dev, data)
            tasks = [Task(pairs, grid)]
            results = run(scorer, tasks, folder, selections=chosen, dev=picking, **keeping)
        else:
            chosen = (layers or "").split() or [""]
            results = evaluate_as_used(scorer, pairs, grid, folder, selections=chosen, **keeping)
        _show(results, output, json=json)


def reproduce(
    *tables: str,
    output: given.Target = Path("reproduction"),
    data: Path | None = None,
    recipes: str = "reference",
    limit: int | None = None,
    sample: int | None = None,
    resume: Resume = False,
    json: Scores = False,
    quiet: given.Quiet = False,
    options: given.ModelOptions = MODEL_DEFAULTS,
) -> None:
    """Rerun the paper's experiments; published numbers stand beside ours for its models.

    Example: `movers reproduce main --data DATA -o run`

    Parameters
    ----------
    tables
        main, scatter, variability, sick, qqp-train, common-words, example, other-models.
        Default: all but the last. By itself: default-measure, which is not of the paper.
    output
        Folder for values, report and figures; a run broken off goes on in it with --resume.
    data
        Folder of evaluation data; docs/datasets.md tells what goes where. Default: MOVERS_DATA.
    recipes
        "reference" is what the published numbers were computed with; or "paper", or both.
    limit
        Take only so many of the shortest pairs of each data set, to try things out.
    sample
        For default-measure, take so many pairs of each data set at random; for slow models.
    """
    from movers.evaluate.default_measure import NAME

    keeping: dict[str, Any] = {"data": data, "limit": limit}
    keeping |= {"resume": resume, "progress": not quiet}
    if NAME in tables:
        if len(tables) > 1:
            raise InputError(f"{NAME} has a report of its own; name it alone")
        return _default_measure(options, output, keeping | {"sample": sample}, json=json)
    if sample is not None:
        raise InputError(f"--sample belongs to {NAME}; take --limit")
    from movers.evaluate.experiments import ONE_MODEL, find_experiment
    from movers.evaluate.experiments import reproduce as run

    names = tables or ONE_MODEL
    own = {find_experiment(name).models for name in names}
    if options.model is None and len(own) > 1:
        raise InputError("other-models runs models of its own; name it alone, or pass --model")
    others = () if options.model else own.pop()
    for model in others or (options.model,):
        folder = output / model.replace("/", "--") if model and others else output
        scorer = _with_files(options.but(model=model), data).load("wsmd")
        results = run(scorer, names, folder, recipes=recipes.split(","), **keeping)
        _show(results, folder, json=json)


def _default_measure(
    options: given.ModelOptions, folder: Path, settings: dict[str, Any], *, json: bool
) -> None:
    """Hold the default measure against others; write report.md and report.json."""
    from movers.evaluate.default_measure import describe, measure_default

    findings = measure_default(options.load("movers"), folder, **settings)
    report = describe(findings, command_line())
    (folder / "report.md").write_text(report, "utf-8")
    (folder / "report.json").write_text(dumps(findings.to_dict(), indent=1), "utf-8")
    show(findings, lambda *_: print(report), json=json)
    say(f"report: {folder / 'report.md'}")


def threshold(
    file: Path,
    /,
    *,
    cut: float | None = None,
    precision: float = 0.9,
    sample: int = 400,
    column: str | None = None,
    source: str | None = None,
    target: str | None = None,
    gold: str | None = None,
    method: given.Measure = "movers",
    json: given.Json = False,
    quiet: given.Quiet = False,
    options: given.Options = DEFAULTS,
) -> None:
    """Help to choose the threshold of `movers dedupe`, `mine` and `search --within`.

    Shows what lies within several distances, and the pairs next to a cut. For labelled pairs it
    tells how many of them are right, and recommends the largest threshold that is precise enough;
    for sentences, how many of a sample have another so near.

    Example: `movers threshold examples/data/labelled.tsv --precision 0.9`

    Parameters
    ----------
    file
        A table of pairs, with a column of labels if there are any; or sentences, one per line or
        in --column of a table.
    cut
        A threshold to look at closely. Default: the recommended one.
    precision
        Share of right pairs that the recommended threshold should have.
    sample
        How many of the sentences to compare with one another.
    column
        Column of a table that holds sentences, not pairs.
    source
        Column of the first sentence of a pair. Default: source, sentence1 and the like.
    target
        Column of the second sentence of a pair.
    gold
        Column of the labels: 0 and 1, yes and no. Default: label and the like.
    """
    from movers.evaluate.layouts import read_table
    from movers.evaluate.thresholds import thresholds_of_corpus, thresholds_of_pairs

    common: dict[str, Any] = {"cut": cut, "progress": not quiet}
    if sentences := _sentences(file, column, pairs=bool(source or target or gold)):
        found = thresholds_of_corpus(options.load(method), sentences, sample=sample, **common)
    else:
        rows = list(read_table(file, source, target, gold, labelled=False))
        pairs, labels = [(first, second) for first, second, _ in rows], [row[2] for row in rows]
        known, scorer = None if any(map(isnan, labels)) else labels, options.load(method)
        found = thresholds_of_pairs(scorer, pairs, known, precision=precision, **common)
    show(found, partial(print_thresholds, precision=precision), json=json)


def _sentences(file: Path, column: str | None, *, pairs: bool) -> list[str]:
    """The sentences of a file, or none if it is a table of pairs."""
    table = file.suffix.lower() in SUFFIXES and file.suffix.lower() != ".txt"
    if pairs or (table and column is None):
        with open_table(file) as opened:
            if pairs or known_columns(opened.columns):
                return []
    return list(read_texts(file, column=column))


def _listed(text: str, kind: Callable[[str], Number]) -> list[Number]:
    """Numbers separated by commas."""
    try:
        return [kind(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"expected numbers separated by commas, got {text!r}") from None


def _with_files(options: given.ModelOptions, data: Path | None) -> given.ModelOptions:
    """The options, with trees and word counts of the data folder where none were named."""
    from movers.evaluate.datasets import auxiliary_files

    found = auxiliary_files(data)
    return options.but(
        parser=options.parser or found.get("parser"),
        frequencies=options.frequencies or found.get("frequencies"),
    )


def _show(results: Results, folder: Path | None, *, json: bool) -> None:
    """Print the scores, and write the report if there is a folder for it."""
    from movers.evaluate.report import write_report

    results = replace(results, facts={"command": command_line(), **results.facts})
    show(results, print_scores, json=json)
    if folder is not None:
        write_report(results, folder)
        say(f"report and figures: {folder / 'report.html'}")
