"""The tables of a report, each made from `Results` alone: one, several, or none."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby

import numpy as np

from movers.measures.registry import METHODS
from movers_research import structure_gains
from movers_research.baselines import MEASURES
from movers_research.document import (
    MISSING,
    Cell,
    ReportTable,
    Row,
    change,
    percent,
    quiet,
    row,
    signed,
)
from movers_research.outcomes import Results
from movers_research.scores import Column, Gain, Score, grouped
from movers_research.structure_gains import VARIANTS, Place, metric_name

GROUPS = {
    "WMD": ("wmd", "wmd-idf"),
    "WRD": ("wrd", "wrd-idf"),
    "SynWMD": ("synwmd-cos", "synwmd"),
    "SMD": ("smd", "smd-idf", "smd-norm"),
}
BASELINES = "Baselines"
GROUP_OF = {name: group for group, names in GROUPS.items() for name in names}
ORDER = [*GROUP_OF, *MEASURES, *METHODS]
SURE = 0.05

Line = tuple[str, str, float | None]
"""Method, selection and mix: what a row stands for."""
Based = tuple[Score, Gain | None]
"""The score of a base, and what was tested about the gain over it."""
PUBLISHED = ("published", "difference")
PARTS = ("score", "vs base", *PUBLISHED)


def score_tables(results: Results) -> Iterator[ReportTable]:
    """One table per data set and metric, each followed by a folded one of the word parts."""
    gains = {(gain.column, gain.selection): gain for gain in results.gains}
    bases = {
        score: (base, gains.get((score.column, score.selection)))
        for score, base in structure_gains.find_bases(results.scores).items()
    }
    for (dataset, metric), scores in structure_gains.by_question(results.scores).items():
        title = f"{dataset}: {metric_name(metric)} × 100"
        words = f"{title}, word part under the structural plan"
        for part, name in ((False, title), (True, words)):
            chosen = [score for score in scores if score.column.is_word_part == part]
            if chosen:
                rows, headings = _scored(results, chosen, bases)
                yield ReportTable("method", headings, rows, name, folded=part)


def _scored(
    results: Results, scores: list[Score], bases: Mapping[Score, Based]
) -> tuple[list[Row], dict[str, list[str]]]:
    """Measures by group, each with its selections of layers; what is told of each in a column."""
    lines = grouped(scores, _line)
    columns = {
        place: _column(scores, place, bases)
        for place in structure_gains.sorted_places(score.column for score in scores)
    }
    parts = {
        place: [part for part in PARTS if any(part in cells for cells in column.values())]
        for place, column in columns.items()
    }
    mixed = len({score.column.mix for score in scores} - {None}) > 1
    rows = []
    for group in (BASELINES, *GROUPS):
        members = [line for line in lines if GROUP_OF.get(_base(line[0]), BASELINES) == group]
        rows += [Row(group)] if members else []
        for line in sorted(members, key=_rank):
            told = (
                column.get(line, {}).get(part, Cell())
                for place, column in columns.items()
                for part in parts[place]
            )
            label = _label(lines[line], mixed)
            rows.append(row(label, *told, indent=_base(line[0]) != line[0]))
    return rows, {results.place_name(*place): told for place, told in parts.items()}


def _line(score: Score) -> Line:
    """The line of a table that a score belongs to."""
    return score.column.method, score.selection, score.column.mix


def _column(
    scores: list[Score], place: Place, bases: Mapping[Score, Based]
) -> dict[Line, dict[str, Cell]]:
    """What there is in every line of the scores of one recipe and embedding."""
    own = [one for one in scores if (one.column.recipe, one.column.embedding) == place]
    best = max((one.value for one in own if not math.isnan(one.value)), default=None)
    return {_line(one): _score_cells(one, bases, percent(best)) for one in own}


def _score_cells(score: Score, bases: Mapping[Score, Based], best: str) -> dict[str, Cell]:
    """Those of `PARTS` that there are of a score; best is whatever has the best one's digits."""
    text, cells = percent(score.value), {}
    cells["score"] = Cell(text, half_width(score), best=text == best, hint=_hint(score))
    if math.isnan(score.value):
        cells["score"] = Cell(MISSING)
    if score in bases:
        base, gain = bases[score]
        star = interval = ""
        if gain is not None:
            interval = f"95 % interval {signed(gain.low)} to {signed(gain.high)}; p = {gain.p:.3f}"
            star = "*" if gain.p < SURE else ""
        cells["vs base"] = change(score.value - base.value, aside=star, hint=interval)
    if score.published is not None:
        beside = _beside(score.value, score.published, percent)
        cells |= zip(PUBLISHED, beside, strict=True)
    return cells


def _label(found: list[Score], mixed: bool) -> str:
    """Method, selection and, where there are several, mix of some scores."""
    column, selection, spans = found[0].column, found[0].selection, {one.layers for one in found}
    layers = f" ({_layers(spans.pop())})" if selection and len(spans) == 1 else ""
    mix = f", mix {column.mix:g}" if column.mix is not None and mixed else ""
    return f"{column.method}{selection and ', '}{selection}{layers}{mix}"


def _beside(
    ours: float | None,
    known: float | None,
    shown: Callable[[float], str],
    apart: Callable[[float], str] = signed,
) -> tuple[Cell, Cell]:
    """A published number, and how far ours is from it, as far as both are there."""
    gap = None if ours is None or known is None else apart(ours - known)
    return quiet(None if known is None else shown(known)), quiet(gap)


def half_width(score: Score) -> str:
    """Half the width of a score's interval."""
    return f"±{50 * (score.high - score.low):.2f}"


def _base(method: str) -> str:
    row = METHODS.get(method)
    return row.base if row and row.base else method


def _rank(line: Line) -> tuple[int, bool]:
    """Bases as in the table of methods, each before what builds on it; others at the end."""
    base = _base(line[0])
    return ORDER.index(base) if base in ORDER else len(ORDER), base != line[0]


def _layers(layers: str) -> str:
    return f"layers {layers}" if "-" in layers or "," in layers else f"layer {layers}"


def _hint(score: Score) -> str:
    parts = [f"95 % interval {percent(score.low)} to {percent(score.high)}", f"{score.pairs} pairs"]
    if score.dropped:
        parts.append(f"{score.dropped} without a distance left out")
    if score.selection:
        parts.append(_layers(score.layers))
    return "; ".join(parts)


def glance_table(results: Results) -> Iterator[ReportTable]:
    """Per data set: the best measure, and how often structure improves on its base."""
    headings = "metric", "pairs", "best measure", "score × 100", "structure improves its base"
    rows = []
    for (dataset, metric), scores in structure_gains.by_question(results.scores).items():
        whole = [score for score in scores if not score.column.is_word_part]
        best = max(whole or scores, key=lambda score: (not np.isnan(score.value), score.value))
        bases = structure_gains.find_bases(scores)
        gains = [score.value > bases[score].value for score in whole if score in bases]
        place = results.place_name(best.column.recipe, best.column.embedding)
        rows.append(
            row(
                dataset,
                metric_name(metric),
                f"{best.pairs}",
                ", ".join(filter(None, (best.column.method, best.selection, place))),
                Cell(percent(best.value), aside=half_width(best)),
                f"in {sum(gains)} of {len(gains)} cells" if gains else MISSING,
            )
        )
    yield ReportTable("data set", dict.fromkeys(headings, ()), rows, verbal=True)


def improvement_table(results: Results) -> Iterator[ReportTable]:
    """Mean gain of structure over the variants."""
    found = structure_gains.improvements(results)
    known = {(one.recipe, one.embedding) for one in found if one.published is not None}
    parts = {
        place: ["ours", *(PUBLISHED if place in known else ())]
        for place in structure_gains.sorted_places(found)
    }
    lines = grouped(found, lambda one: (one.dataset, one.metric, one.selection, one.mix))
    mixed = len({one.mix for one in found}) > 1
    rows = []
    for (dataset, metric), members in groupby(lines, lambda line: line[:2]):
        rows.append(Row(f"{dataset}, {metric_name(metric)}"))
        for line in members:
            cells = {(one.recipe, one.embedding): _gain_cells(one) for one in lines[line]}
            told = (
                cell
                for place, names in parts.items()
                for cell in cells.get(place, (Cell(),) * 3)[: len(names)]
            )
            label = f"{line[2]}, mix {line[3]:g}" if mixed else line[2]
            rows.append(row(label, *told, indent=True))
    headings = {results.place_name(*place): names for place, names in parts.items()}
    yield ReportTable("data set, selection", headings, rows)


def _gain_cells(found: structure_gains.Improvement) -> tuple[Cell, Cell, Cell]:
    """A mean gain, the published one, and the difference; tells where variants are missing."""
    count = len(found.variants)
    aside = "" if count == len(VARIANTS) else f"{count} of {len(VARIANTS)}"
    ours = change(found.value, aside=aside, hint=", ".join(found.variants))
    return ours, *_beside(found.value, found.published, signed)


def variability_table(results: Results) -> Iterator[ReportTable]:
    """BV_A of each layer and whether it is picked."""
    found, rows = results.variability, []
    for layer in range(1, max(map(len, found.values()), default=0) + 1):
        cells: list[Cell] = []
        for dataset, array in found.items():
            if layer > len(array):
                cells += [Cell()] * 3
                continue
            heads, picked = array[layer - 1], layer in results.contextual.get(dataset, ())
            cells += [Cell(f"{heads.mean():.3f}"), Cell(f"{heads.min():.3f} to {heads.max():.3f}")]
            cells.append(Cell("yes" if picked else "no", best=picked))
        rows.append(row(str(layer), *cells))
    headings = dict.fromkeys(found, ("mean", "heads", "picked"))
    yield ReportTable("layer", headings, rows, "Variability of attention, BV_A")


def layer_tables(results: Results) -> Iterator[ReportTable]:
    """Score of the mean over each layer's heads; all but development sets are folded."""
    metrics = {score.column.dataset: score.metric for score in results.scores}
    for dataset, columns in grouped(results.layer_means, lambda c: c.dataset).items():
        layers = max(len(results.layer_means[column]) for column in columns)
        rows = []
        for column in columns:
            means = results.layer_means[column]
            best = int(np.nanargmax(means)) if np.isfinite(means).any() else None
            cells = [Cell(percent(v), best=layer == best) for layer, v in enumerate(means)]
            cells += [Cell()] * (layers - len(means))
            picked = MISSING if best is None else str(best + 1)
            rows.append(row(_column_name(results, column), *cells, picked))
        headings = dict.fromkeys([*map(str, range(1, layers + 1)), "top-1"], ())
        title = f"{dataset}: {metric_name(metrics.get(dataset, 'score'))} × 100 by layer"
        yield ReportTable("measure", headings, rows, title, folded="dev" not in dataset)


def _column_name(results: Results, column: Column) -> str:
    return f"{column.method}, {results.place_name(column.recipe, column.embedding)}"


def agreement_tables(results: Results) -> Iterator[ReportTable]:
    """Correlation of heads and of layers, a table for each two data sets."""
    found = structure_gains.agreements(results)
    pairs = grouped(found, lambda one: (one.first.dataset, one.second.dataset))
    headings = dict.fromkeys(("heads", "layers"), ("ρ × 100", "count"))
    for number, (datasets, agreeing) in enumerate(pairs.items()):
        rows = [
            row(
                _column_name(results, one.first),
                *(percent(one.heads), f"{one.head_count}"),
                *(percent(one.layers), f"{one.layer_count}"),
            )
            for one in agreeing
        ]
        yield ReportTable("measure", headings, rows, " and ".join(datasets), folded=number > 1)


def illustration_table(results: Results) -> Iterator[ReportTable]:
    """Distances by measure, a column for each pair."""
    parts = [["ours", *(PUBLISHED if one.published else ())] for one in results.illustrations]
    rows = []
    for name in dict.fromkeys(name for one in results.illustrations for name in one.distances):
        cells: list[Cell] = []
        for one, told in zip(results.illustrations, parts, strict=True):
            ours, known = one.distances.get(name), one.published.get(name)
            beside = _beside(ours, known, "{:.2f}".format, "{:+.2f}".format)
            cells += [Cell("" if ours is None else f"{ours:.2f}"), *beside][: len(told)]
        rows.append(row(name, *cells))
    yield ReportTable("measure", {f"pair {k}": told for k, told in enumerate(parts, 1)}, rows)


def stage_table(results: Results) -> Iterator[ReportTable]:
    """Time of each stage and its pace."""
    rows = [
        row(
            stage.name,
            f"{stage.seconds:.1f}",
            f"{stage.count} {stage.unit}",
            f"{stage.count / stage.seconds:.1f}" if stage.seconds else MISSING,
        )
        for stage in results.stages
    ]
    yield ReportTable("stage", dict.fromkeys(("seconds", "count", "per second"), ()), rows)


def fact_table(results: Results) -> Iterator[ReportTable]:
    """What was run, on what."""
    rows = [row(name, text) for name, text in results.facts.items()]
    yield ReportTable("fact", {"value": ()}, rows, verbal=True)
