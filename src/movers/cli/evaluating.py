"""Commands that hold measures against labelled pairs, and rerun the paper's experiments."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from cyclopts import Parameter
from rich.console import Console

from movers.cli.messages import print_json, say
from movers.cli.options import MODEL_DEFAULTS, Json, Methods, ModelOptions, method_names
from movers.errors import InputError

if TYPE_CHECKING:
    from movers.evaluate.outcomes import Results

Folder = Annotated[Path, Parameter(name=["--output", "-o"])]
Resume = Annotated[bool, Parameter(negative="")]
Number = TypeVar("Number", int, float)


def evaluate(
    dataset: str,
    /,
    *,
    methods: Methods = "movers,wmd,wsmd-wmd,wrd,wsmd-wrd",
    recipes: str = "paper",
    embeddings: str = "-1",
    mixes: str = "0.5",
    layers: str = "all",
    dev: str | None = None,
    data: Path | None = None,
    limit: int | None = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    resume: Resume = False,
    json: Json = False,
    options: ModelOptions = MODEL_DEFAULTS,
) -> None:
    """Hold measures against labelled pairs: scores with intervals, gains with tests.

    Statistics are fitted on the data set itself, as in the paper.

    Parameters
    ----------
    dataset
        paws-wiki-test, stsb-test and the like, or a file of pairs with a label or score column.
    methods
        Measures, separated by commas, or "every".
    recipes
        "paper", "reference" or both, separated by commas.
    embeddings
        Layers of the word vectors, separated by commas: 0 is the input layer, -1 the last.
    mixes
        Shares of structure from 0 to 1, separated by commas.
    layers
        Attention layers to average, separated by blanks: "all", "5-12", "1,3"; "top1", "best" and
        "BV" are picked on --dev.
    dev
        Data set to pick layers on.
    data
        Folder of evaluation data. Default: MOVERS_DATA.
    limit
        Take only so many of the shortest pairs.
    output
        Folder for values, report and figures; a run broken off goes on in it with --resume.
    resume
        Go on with the run in --output.
    json
        Print the scores as JSON.
    """
    from movers.evaluate.benchmark import MeasureGrid
    from movers.evaluate.datasets import read_dataset
    from movers.evaluate.evaluation import Task
    from movers.evaluate.evaluation import evaluate as run
    from movers.methods import METHODS

    pairs = read_dataset(dataset, data, limit=limit)
    picking = None if dev is None else read_dataset(dev, data)
    scorer = _with_files(options, data).load("wsmd")
    grid = MeasureGrid(
        tuple(METHODS) if methods == "every" else tuple(method_names(methods)),
        tuple(recipes.split(",")),
        tuple(scorer.using(embedding=layer).embedding for layer in _listed(embeddings, int)),
        tuple(_listed(mixes, float)),
    )
    with _folder(output) as folder:
        results = run(
            scorer,
            [Task(pairs, grid)],
            folder,
            selections=layers.split(),
            dev=picking,
            resume=resume,
            progress=sys.stderr.isatty(),
        )
        _show(results, output, json=json)


def reproduce(
    *tables: str,
    output: Folder = Path("reproduction"),
    data: Path | None = None,
    recipes: str = "reference",
    limit: int | None = None,
    sample: int | None = None,
    resume: Resume = False,
    json: Json = False,
    options: ModelOptions = MODEL_DEFAULTS,
) -> None:
    """Rerun the paper's experiments; published numbers stand beside ours for its models.

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
    resume
        Go on with the run in --output.
    json
        Print the scores as JSON.
    """
    from movers.evaluate.default_measure import NAME

    if NAME in tables:
        if len(tables) > 1:
            raise InputError(f"{NAME} has a report of its own; name it alone")
        settings = {"data": data, "sample": sample, "limit": limit, "resume": resume}
        return _default_measure(options, output, settings, json=json)
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
        results = run(
            _with_files(options.but(model=model), data).load("wsmd"),
            names,
            folder,
            data=data,
            recipes=recipes.split(","),
            limit=limit,
            resume=resume,
            progress=sys.stderr.isatty(),
        )
        _show(results, folder, json=json)


def _default_measure(
    options: ModelOptions, folder: Path, settings: dict[str, Any], *, json: bool
) -> None:
    """Hold the default measure against others; write report.md and report.json."""
    from json import dumps

    from movers.evaluate.default_measure import describe, measure_default

    findings = measure_default(
        options.load("movers"), folder, progress=sys.stderr.isatty(), **settings
    )
    report = describe(findings, shlex.join(["movers", *sys.argv[1:]]))
    (folder / "report.md").write_text(report, "utf-8")
    (folder / "report.json").write_text(dumps(findings.to_dict(), indent=1), "utf-8")
    if json:
        print_json(findings.to_dict())
    else:
        print(report)
    say(f"report: {folder / 'report.md'}")


def _listed(text: str, kind: Callable[[str], Number]) -> list[Number]:
    """Numbers separated by commas."""
    try:
        return [kind(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"expected numbers separated by commas, got {text!r}") from None


def _with_files(options: ModelOptions, data: Path | None) -> ModelOptions:
    """The options, with trees and word counts of the data folder where none were named."""
    from movers.evaluate.datasets import auxiliary_files

    found = auxiliary_files(data)
    return options.but(
        parser=options.parser or found.get("parser"),
        frequencies=options.frequencies or found.get("frequencies"),
    )


@contextmanager
def _folder(named: Path | None) -> Iterator[Path]:
    if named is not None:
        yield named
        return
    with TemporaryDirectory(prefix="movers-") as temporary:
        yield Path(temporary) / "run"


def _show(results: Results, folder: Path | None, *, json: bool) -> None:
    """Print the scores, and write the report if there is a folder for it."""
    from movers.cli.terminal import print_scores
    from movers.evaluate.report import write_report

    command = shlex.join(["movers", *sys.argv[1:]])
    results = replace(results, facts={"command": command, **results.facts})
    if json:
        print_json(results.to_dict())
    else:
        print_scores(Console(), results)
    if folder is not None:
        write_report(results, folder)
        say(f"report and figures: {folder / 'report.html'}")
