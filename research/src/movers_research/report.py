"""The report of an evaluation: Markdown, one HTML file, and every figure by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

from movers.runtime.atomic import replacing
from movers_research import figures, tables
from movers_research.document import Drawing, ReportTable, Section, write_markdown, write_webpage
from movers_research.outcomes import Results
from movers_research.structure_gains import VARIANTS

TITLE = "Words and structure: evaluation"


def write_report(results: Results, folder: Path, *, title: str = TITLE) -> None:
    """Write ``report.md``, ``report.html`` and ``figures/NAME.svg`` into ``folder``.

    The same results give the same bytes. What `results` does not hold is absent from the report.

    The folder is made if it is not there; files of these names are replaced.
    """
    sections = tuple(filter(None, report_sections(results)))
    files = {
        f"figures/{block.name}.svg": block.svg
        for section in sections
        for block in section.blocks
        if isinstance(block, Drawing)
    }
    files["report.md"] = write_markdown(title, sections)
    files["report.html"] = write_webpage(title, sections)
    for name, text in files.items():
        with replacing(folder / name) as temporary:
            temporary.write_text(text, "utf-8", newline="\n")


def report_sections(results: Results) -> Iterator[Section]:
    """What a report says, in order; a section without content is false."""

    def blocks(*makers: Callable[[Results], Iterable[Block]]) -> tuple[Block, ...]:
        made = chain.from_iterable(make(results) for make in makers)
        return tuple(block for block in made if isinstance(block, Drawing) or block.rows)

    yield Section("At a glance", (GLANCE,), blocks(tables.glance_table))
    yield Section("Scores", (SCORES,), blocks(tables.score_tables))
    adding = blocks(tables.improvement_table, figures.improvement_figures)
    yield Section("What structure adds", (ADDS,), adding)
    picking = blocks(figures.variability_figure, tables.variability_table)
    layers = blocks(tables.layer_tables, figures.layer_figures)
    yield Section("Choice of layers", (LAYERS,), picking + layers)
    known = {"paws-qqp-dev", "paws-wiki-dev"}
    yield Section(
        "Do data sets agree on heads?",
        (AGREE, PUBLISHED) if known <= {column.dataset for column in results.heads} else (AGREE,),
        blocks(tables.agreement_tables, figures.head_figures),
    )
    yield Section("Common words", (WORDS,), blocks(figures.overlap_figure))
    pairs = tuple(
        f"Pair {number}: “{one.source}” and “{one.target}”"
        for number, one in enumerate(results.illustrations, 1)
    )
    yield Section("An example", pairs, blocks(tables.illustration_table))
    yield Section("Time", (), blocks(figures.stage_figure, tables.stage_table))
    yield Section("This run", (), blocks(tables.fact_table), results.notes)


Block = ReportTable | Drawing
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
