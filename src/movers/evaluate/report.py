"""The report of an evaluation: Markdown, one HTML file, and every figure by itself."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from types import ModuleType

from movers.atomic import replacing
from movers.errors import DependencyError
from movers.evaluate.document import Drawing, Section, Table
from movers.evaluate.finding_tables import (
    agreement_tables,
    fact_table,
    glance_table,
    illustration_table,
    improvement_table,
    layer_tables,
    stage_table,
    variability_table,
)
from movers.evaluate.findings import VARIANTS
from movers.evaluate.markdown import write_markdown
from movers.evaluate.results import Results
from movers.evaluate.score_tables import score_tables
from movers.evaluate.webpage import write_webpage

TITLE = "Words and structure: evaluation"


def write_report(results: Results, folder: Path, *, title: str = TITLE) -> None:
    """Write ``report.md``, ``report.html`` and ``figures/NAME.svg`` into ``folder``.

    The same results give the same bytes. What `results` does not hold is absent from the report.

    Parameters
    ----------
    results
        What the evaluation found.
    folder
        Where to write; made if it is not there, files of these names are replaced.
    title
        Heading of the report.

    Raises
    ------
    DependencyError
        If matplotlib is not installed.
    """
    sections = tuple(filter(None, report_sections(results)))
    for drawing in (b for section in sections for b in section.blocks if isinstance(b, Drawing)):
        _write(folder / "figures" / f"{drawing.name}.svg", drawing.svg)
    _write(folder / "report.md", write_markdown(title, sections))
    _write(folder / "report.html", write_webpage(title, sections))


def _write(path: Path, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(text, "utf-8", newline="\n")


def report_sections(results: Results) -> Iterable[Section]:
    """What a report says, in order; a section without content is false."""
    figures = _figures()
    improved = figures.improvement_figures(results)
    datasets = {column.dataset for column in results.heads}
    yield Section("At a glance", (GLANCE,), _present(glance_table(results)))
    yield Section("Scores", (SCORES,), score_tables(results))
    yield Section(
        "What structure adds", (ADDS,), (*_present(improvement_table(results)), *improved)
    )
    yield Section(
        "Choice of layers",
        (LAYERS,),
        (
            *figures.variability_figure(results),
            *_present(variability_table(results)),
            *layer_tables(results),
            *figures.layer_figures(results),
        ),
    )
    yield Section(
        "Do data sets agree on heads?",
        (AGREE, *([PUBLISHED] if {"paws-qqp-dev", "paws-wiki-dev"} <= datasets else [])),
        (*agreement_tables(results), *figures.head_figures(results)),
    )
    yield Section("Common words", (WORDS,), figures.overlap_figure(results))
    yield Section(
        "An example", _pairs(results), _present(illustration_table(results.illustrations))
    )
    yield Section("Time", (), (*figures.stage_figure(results), *_present(stage_table(results))))
    yield Section("This run", (), _present(fact_table(results)), results.notes)


GLANCE = "The best measure of each data set, with half the width of its 95 % interval."
SCORES = (
    "Agreement with the labels, higher is better; ± is half the width of a 95 % interval. Measures "
    "with attention structure (wsmd) stand below the measure they build on, once for each "
    "selection of attention layers; “vs base” is what structure adds, with a star where a "
    "paired bootstrap test gives p < 0.05. The best score of a column is bold."
)
ADDS = f"Mean difference between a measure with structure and without, over {', '.join(VARIANTS)}."
LAYERS = (
    "Structure may come from all attention layers, from the one that did best on a development "
    "set (top-1), or from those whose attention depends most on the sentence (BV)."
)
AGREE = (
    "Spearman's ρ between the scores of single heads, and of layers, on two data sets: where it "
    "is high, heads chosen on one data set are good on the other."
)
PUBLISHED = (
    "The paper reports 69.30 over 144 heads and 74.50 over 12 layers of BERT between PAWS-QQP dev "
    "and PAWS-Wiki dev."
)
WORDS = "How far the gold scores can be told from the number of words two sentences share."


def _present(table: Table | None) -> tuple[Table, ...]:
    return () if table is None else (table,)


def _pairs(results: Results) -> tuple[str, ...]:
    return tuple(
        f"Pair {number}: “{one.source}” and “{one.target}”"
        for number, one in enumerate(results.illustrations, 1)
    )


def _figures() -> ModuleType:
    try:
        return import_module("movers.evaluate.figures")
    except ImportError as error:
        raise DependencyError(
            f"a report draws figures and needs the extra 'eval' ({error.name} is missing): "
            "pip install movers[eval]"
        ) from error
