"""The smaller tables: mean gains, choice of layers, agreement of data sets, example, times.

Each gives the tables it can make from `Results`: one, several, or none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

import numpy as np

from movers.evaluate.document import (
    MISSING,
    Cell,
    Heading,
    ReportTable,
    Row,
    change,
    percent,
    quiet,
    signed,
)
from movers.evaluate.findings import (
    VARIANTS,
    Agreement,
    Improvement,
    Place,
    agreements,
    by_question,
    find_bases,
    grouped,
    improvements,
    metric_name,
    sorted_places,
)
from movers.evaluate.metrics import METRICS
from movers.evaluate.outcomes import Column, Illustration, Results, Score, Stage
from movers.evaluate.score_tables import half_width


def glance_table(results: Results) -> Iterator[ReportTable]:
    """Per data set: the best measure, and how often structure improves on its base."""
    headings = "metric", "pairs", "best measure", "score × 100", "structure improves its base"
    rows = [_glance(results, scores) for scores in by_question(results.scores).values()]
    if rows:
        yield ReportTable("", "data set", tuple(map(Heading, headings)), tuple(rows), verbal=True)


def _glance(results: Results, scores: list[Score]) -> Row:
    dataset, metric = scores[0].question
    whole = [score for score in scores if not score.column.is_word_part] or scores
    best = max(whole, key=lambda score: (not np.isnan(score.value), score.value))
    gains = [
        score.value > base.value
        for score, base in find_bases(scores).items()
        if not score.column.is_word_part
    ]
    place = results.place_name(best.column.recipe, best.column.embedding)
    cells = (
        Cell(metric_name(metric)),
        Cell(f"{best.pairs}"),
        Cell(", ".join(filter(None, (best.column.method, best.selection, place)))),
        Cell(percent(best.value), aside=half_width(best)),
        Cell(f"in {sum(gains)} of {len(gains)} cells" if gains else MISSING),
    )
    return Row(dataset, cells)


def improvement_table(results: Results) -> Iterator[ReportTable]:
    """Mean gain of structure over the variants."""
    found = improvements(results)
    known = {(one.recipe, one.embedding) for one in found if one.published is not None}
    places = {place: place in known for place in sorted_places(found)}
    headings = tuple(
        Heading(results.place_name(*place), _compared(published))
        for place, published in places.items()
    )
    if found:
        rows = tuple(_improvement_rows(found, places))
        yield ReportTable("", "data set, selection", headings, rows)


def _compared(published: bool) -> tuple[str, ...]:
    """Columns below a heading, with or without published numbers to compare with."""
    return ("ours", "published", "difference") if published else ("ours",)


def _improvement_rows(
    found: tuple[Improvement, ...], places: Mapping[Place, bool]
) -> Iterator[Row]:
    lines = grouped(found, lambda one: (one.dataset, one.metric, one.selection, one.mix))
    mixed = len({one.mix for one in found}) > 1
    for (dataset, metric), members in groupby(lines, lambda line: line[:2]):
        yield Row(f"{dataset}, {metric_name(metric)}")
        for line in members:
            _, _, selection, mix = line
            cells = {(one.recipe, one.embedding): one for one in lines[line]}
            entries = (
                cell
                for place, known in places.items()
                for cell in _improvement_cells(cells.get(place), known)
            )
            label = f"{selection}, mix {mix:g}" if mixed else selection
            yield Row(label, tuple(entries), indent=True)


def _improvement_cells(one: Improvement | None, known: bool) -> Iterator[Cell]:
    if one is None:
        yield from (Cell() for _ in _compared(known))
        return
    count = len(one.variants)
    aside = "" if count == len(VARIANTS) else f"{count} of {len(VARIANTS)}"
    yield change(one.value, aside=aside, hint=", ".join(one.variants))
    if known:
        published = one.published
        yield quiet(None if published is None else signed(published))
        yield quiet(None if published is None else signed(one.value - published))


def variability_table(results: Results) -> Iterator[ReportTable]:
    """BV_A of each layer and whether it is picked."""
    found = results.variability
    headings = tuple(Heading(dataset, ("mean", "heads", "picked")) for dataset in found)
    rows = tuple(
        Row(str(layer), tuple(c for name in found for c in _variability(results, name, layer)))
        for layer in range(1, max(map(len, found.values()), default=0) + 1)
    )
    if found:
        yield ReportTable("Variability of attention, BV_A", "layer", headings, rows)


def _variability(results: Results, dataset: str, layer: int) -> tuple[Cell, ...]:
    array = results.variability[dataset]
    if layer > len(array):
        return (Cell(),) * 3
    heads = array[layer - 1]
    picked = layer in results.contextual.get(dataset, ())
    spread = f"{heads.min():.3f} to {heads.max():.3f}"
    return Cell(f"{heads.mean():.3f}"), Cell(spread), Cell("yes" if picked else "no", best=picked)


def layer_tables(results: Results) -> Iterator[ReportTable]:
    """Score of the mean over each layer's heads; all but development sets are folded."""
    metrics = {score.column.dataset: score.metric for score in results.scores}
    for dataset, columns in grouped(results.layer_means, lambda c: c.dataset).items():
        layers = max(len(results.layer_means[column]) for column in columns)
        headings = (*map(Heading, map(str, range(1, layers + 1))), Heading("top-1"))
        metric = metrics.get(dataset)
        name = METRICS[metric].title if metric in METRICS else "score"
        rows = tuple(_layer_row(results, column, layers) for column in columns)
        title, folded = f"{dataset}: {name} × 100 by layer", "dev" not in dataset
        yield ReportTable(title, "measure", headings, rows, folded=folded)


def _layer_row(results: Results, column: Column, layers: int) -> Row:
    means = results.layer_means[column]
    best = int(np.nanargmax(means)) if np.isfinite(means).any() else None
    cells = [Cell(percent(v), best=layer == best) for layer, v in enumerate(means)]
    cells += [Cell()] * (layers - len(means))
    top = Cell(MISSING if best is None else str(best + 1))
    return Row(_column_name(results, column), (*cells, top))


def _column_name(results: Results, column: Column) -> str:
    return f"{column.method}, {results.place_name(column.recipe, column.embedding)}"


def agreement_tables(results: Results) -> Iterator[ReportTable]:
    """Correlation of heads and of layers, a table for each two data sets."""
    pairs = grouped(agreements(results), lambda one: (one.first.dataset, one.second.dataset))
    headings = tuple(Heading(of, ("ρ × 100", "count")) for of in ("heads", "layers"))
    for number, (datasets, found) in enumerate(pairs.items()):
        rows = tuple(_agreement_row(results, one) for one in found)
        yield ReportTable(" and ".join(datasets), "measure", headings, rows, folded=number > 1)


def _agreement_row(results: Results, one: Agreement) -> Row:
    shown = percent(one.heads), f"{one.head_count}", percent(one.layers), f"{one.layer_count}"
    return Row(_column_name(results, one.first), tuple(map(Cell, shown)))


def illustration_table(results: Results) -> Iterator[ReportTable]:
    """Distances by measure, a column for each pair."""
    cases = results.illustrations
    headings = tuple(
        Heading(f"pair {number}", _compared(bool(one.published)))
        for number, one in enumerate(cases, 1)
    )
    rows = tuple(
        Row(name, tuple(cell for one in cases for cell in _distance_cells(one, name)))
        for name in dict.fromkeys(name for one in cases for name in one.distances)
    )
    if rows:
        yield ReportTable("", "measure", headings, rows)


def _distance_cells(one: Illustration, name: str) -> Iterator[Cell]:
    ours, published = one.distances.get(name), one.published.get(name)
    yield Cell("" if ours is None else f"{ours:.2f}")
    if one.published:
        yield quiet(None if published is None else f"{published:.2f}")
        gap = None if ours is None or published is None else ours - published
        yield quiet(None if gap is None else f"{gap:+.2f}")


def stage_table(results: Results) -> Iterator[ReportTable]:
    """Time of each stage and its pace."""
    rows = tuple(_stage_row(stage) for stage in results.stages)
    if rows:
        headings = tuple(map(Heading, ("seconds", "count", "per second")))
        yield ReportTable("", "stage", headings, rows)


def _stage_row(stage: Stage) -> Row:
    pace = f"{stage.count / stage.seconds:.1f}" if stage.seconds else MISSING
    shown = f"{stage.seconds:.1f}", f"{stage.count} {stage.unit}", pace
    return Row(stage.name, tuple(map(Cell, shown)))


def fact_table(results: Results) -> Iterator[ReportTable]:
    """What was run, on what."""
    rows = tuple(Row(name, (Cell(text),)) for name, text in results.facts.items())
    if rows:
        yield ReportTable("", "fact", (Heading("value"),), rows, verbal=True)
