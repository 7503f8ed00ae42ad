"""Commands that this distribution adds to the command line."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from json import dumps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from movers.cli import options as given
from movers.cli.evaluate_commands import Scores
from movers.cli.messages import command_line, say, show
from movers.cli.options import MODEL_DEFAULTS, method_names
from movers.cli.parameters import Parameter
from movers.errors import InputError
from movers.measures.registry import METHODS
from movers.runtime.atomic import replacing
from movers_research.printed_scores import print_scores

if TYPE_CHECKING:
    from movers.scorer import Scorer
    from movers_research.outcomes import Results
    from movers_research.scores import MeasureGrid

Number = TypeVar("Number", int, float)

Aligners = Annotated[str, Parameter(name=["--aligners", "--aligner"])]
Resume = Annotated[bool, Parameter(help="Go on with the run in --output.")]


def benchmark(
    dataset: str,
    /,
    *,
    methods: given.Methods = "movers,wmd,wsmd-wmd,wrd,wsmd-wrd",
    protocol: Literal["paper", "default"] = "paper",
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
    """Evaluate measures as the paper does, on data sets by name, with a report and figures.

    Statistics are fitted on the data set itself and all attention layers are averaged. With
    --protocol default, the distances are those that `movers score` gives, as in `movers evaluate`.

    Example: `movers benchmark paws-wiki-test --layers "BV all" --dev paws-wiki-dev -o run`

    Parameters
    ----------
    dataset
        paws-wiki-test, stsb-test and the like, or a file of pairs with a label or score column.
    methods
        Measures, separated by commas, or "every".
    protocol
        "paper": as the paper evaluates measures. "default": as they come.
    source
        Column of the first sentence of a file. Default: source, sentence1 and the like.
    target
        Column of the second sentence of a file.
    gold
        Column of the label (0 and 1, yes and no) or score. Default: label, score and the like.
    statistics
        File of fitted statistics, made by `movers fit`; for the default protocol.
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
    from movers_research.datasets import read_dataset
    from movers_research.evaluation import Task, evaluate, evaluate_as_used

    if protocol == "paper" and statistics is not None:
        raise InputError("--protocol paper fits statistics of its own; leave out --statistics")
    if protocol == "default" and dev is not None:
        raise InputError("--dev picks layers for --protocol paper; leave one of them out")
    pairs = read_dataset(dataset, data, limit=limit, source=source, target=target, gold=gold)
    scorer = _with_files(options, data).load("wsmd")
    if statistics is not None:
        scorer = scorer.using(statistics=statistics)
    grid = make_grid(scorer, methods, recipes, embeddings, mixes)
    with ExitStack() as stack:
        folder = output or Path(stack.enter_context(TemporaryDirectory(prefix="movers-"))) / "run"
        keeping: dict[str, Any] = {"resume": resume, "progress": not quiet}
        if protocol == "paper":
            chosen = (layers or "all").split()
            picking = None if dev is None else read_dataset(dev, data)
            tasks = [Task(pairs, grid)]
            results = evaluate(scorer, tasks, folder, selections=chosen, dev=picking, **keeping)
        else:
            chosen = (layers or "").split() or [""]
            results = evaluate_as_used(scorer, pairs, grid, folder, selections=chosen, **keeping)
        _show(results, output, json=json)


def make_grid(
    scorer: Scorer, methods: str, recipes: str, embeddings: str, mixes: str
) -> MeasureGrid:
    """The measures and choices that options name, each a list separated by commas."""
    from movers_research.scores import MeasureGrid

    return MeasureGrid(
        tuple(METHODS) if methods == "every" else tuple(method_names(methods)),
        tuple(recipes.split(",")),
        tuple(scorer.using(embedding=layer).embedding for layer in _listed(embeddings, int)),
        tuple(_listed(mixes, float)),
    )


def _listed(text: str, kind: Callable[[str], Number]) -> list[Number]:
    """Numbers separated by commas."""
    try:
        return [kind(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"expected numbers separated by commas, got {text!r}") from None


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
        Default: all but the last. By themselves: default-measure, judge and long-texts, which are
        not of the paper.
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
    from movers_research import long_texts
    from movers_research import same_judge as judge
    from movers_research.default_measure import NAME

    if long_texts.NAME in tables:
        if len(tables) > 1:
            raise InputError(f"{long_texts.NAME} has a report of its own; name it alone")
        output.mkdir(parents=True, exist_ok=True)
        report = long_texts.describe(options.load("movers"), command_line())
        (output / "report.md").write_text(report, "utf-8")
        return print(report)
    keeping: dict[str, Any] = {"data": data, "limit": limit}
    keeping |= {"resume": resume, "progress": not quiet}
    if (own := {NAME, judge.NAME} & {*tables}) and len(tables) > 1:
        raise InputError(f"{own.pop()} has a report of its own; name it alone")
    if judge.NAME in tables:
        findings = judge.measure_judge(options.load("movers"), output, **keeping)
        return _reported(findings, judge.describe(findings, command_line()), output, json=json)
    if NAME in tables:
        return _default_measure(options, output, keeping | {"sample": sample}, json=json)
    if sample is not None:
        raise InputError(f"--sample belongs to {NAME}; take --limit")
    from movers_research.experiments import ONE_MODEL, find_experiment
    from movers_research.experiments import reproduce as run

    names = tables or ONE_MODEL
    models = {find_experiment(name).models for name in names}
    if options.model is None and len(models) > 1:
        raise InputError("other-models runs models of its own; name it alone, or pass --model")
    others = () if options.model else models.pop()
    for model in others or (options.model,):
        folder = output / model.replace("/", "--") if model and others else output
        scorer = _with_files(options.but(model=model), data).load("wsmd")
        results = run(scorer, names, folder, recipes=recipes.split(","), **keeping)
        _show(results, folder, json=json)


def _default_measure(
    options: given.ModelOptions, folder: Path, settings: dict[str, Any], *, json: bool
) -> None:
    """Hold the default measure against others; write report.md and report.json."""
    from movers_research.default_measure import describe, measure_default

    findings = measure_default(options.load("movers"), folder, **settings)
    _reported(findings, describe(findings, command_line()), folder, json=json)


def _reported(findings: Any, report: str, folder: Path, *, json: bool) -> None:
    """Write report.md and report.json, and show them."""
    (folder / "report.md").write_text(report, "utf-8")
    (folder / "report.json").write_text(dumps(findings.to_dict(), indent=1), "utf-8")
    show(findings, lambda _: print(report), json=json)
    say(f"report: {folder / 'report.md'}")


def evaluate_alignment(
    *files: Path,
    aligners: Aligners = "shares,argmax,itermax,match,balanced,partial,unbalanced",
    one_based: bool = False,
    limit: int | None = None,
    json: given.Json = False,
    output: given.Target | None = None,
    model: given.Model = None,
    device: given.Device = "auto",
) -> None:
    """Hold aligners against links that people made.

    Prints a table in Markdown: precision, recall and F1 of all links, F1 of links between
    identical and between other words, of words without a link, and of sure links alone, exact
    matches, and the alignment error rate where there are possible links; intervals by bootstrap.

    Example: movers evaluate-alignment mtref-dev.tsv --aligners shares,argmax

    Parameters
    ----------
    files
        Gold links: one file (MultiMWA, JSON as Jacana has it, or words ||| words ||| links), or
        three: words, words and links, a pair on every line.
    aligners
        Aligners, separated by commas; also "identical words" and "plan:METHOD", the links of a
        measure's plan.
    one_based
        The links count words from 1.
    limit
        Take only the first so many pairs.
    output
        File for the table; it is printed as well.
    """
    from movers.loading import load
    from movers_research.aligner_scores import evaluate_alignment as run
    from movers_research.gold_links import read_gold

    gold = read_gold(files, one_based=one_based)[:limit]
    names = [name.strip() for name in aligners.split(",")]
    scorer = load("movers", model, device=device)
    report = run(scorer, gold, names, name=files[-1].name, progress=True)
    if output is not None:
        with replacing(output) as temporary:
            temporary.write_text(f"`{command_line()}`\n\n{report}\n", "utf-8")
    show(report, print, json=json)


def _with_files(options: given.ModelOptions, data: Path | None) -> given.ModelOptions:
    """The options, with trees and word counts of the data folder where none were named."""
    from movers_research.datasets import auxiliary_files

    found = auxiliary_files(data)
    return options.but(
        parser=options.parser or found.get("parser"),
        frequencies=options.frequencies or found.get("frequencies"),
    )


def _show(results: Results, folder: Path | None, *, json: bool) -> None:
    """Print the scores, and write the report if there is a folder for it."""
    from movers_research.report import write_report

    results = replace(results, facts={"command": command_line(), **results.facts})
    show(results, print_scores, json=json)
    if folder is not None:
        write_report(results, folder)
        say(f"report and figures: {folder / 'report.html'}")
