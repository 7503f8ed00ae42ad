"""The tables of a report, each made from `Results` alone: one, several, or none."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np

from movers.evaluate import findings
from movers.evaluate.document import (
    MISSING,
    Cell,
    Heading,
    ReportTable,
    Row,
    change,
    percent,
    quiet,
    row,
    signed,
    table,
)
from movers.evaluate.findings import VARIANTS, Improvement, Place, metric_name
from movers.evaluate.outcomes import Column, Gain, Illustration, Results, Score, grouped
from movers.methods import METHODS

GROUPS = {
    "WMD": ("wmd", "wmd-idf"),
    "WRD": ("wrd", "wrd-idf"),
    "SynWMD": ("synwmd-cos", "synwmd"),
    "SMD": ("smd", "smd-idf", "smd-norm"),
}
BASELINES = "Baselines"
SURE = 0.05

Line = tuple[str, str, float | None]
"""Method, selection and mix: what a row stands for."""


def score_tables(results: Results) -> Iterator[ReportTable]:
    """One table per data set and metric, each followed by a folded one of the word parts."""
    bases = findings.find_bases(results.scores)
    gains = {(gain.column, gain.selection): gain for gain in results.gains}
    for (dataset, metric), scores in findings.by_question(results.scores).items():
        title = f"{dataset}: {metric_name(metric)} × 100"
        words = f"{title}, word part under the structural plan"
        for part, name in ((False, title), (True, words)):
            chosen = [score for score in scores if score.column.is_word_part == part]
            if chosen:
                made = ScoreTable(results, chosen, bases, gains)
                yield table("method", made.headings, made.rows, title=name, folded=part)


@dataclass(frozen=True)
class ScoreTable:
    """The scores of one table, with their bases and gains among others."""

    results: Results
    scores: list[Score]
    bases: dict[Score, Score]
    gains: dict[tuple[Column, str], Gain]

    @cached_property
    def columns(self) -> dict[Place, dict[Line, Score]]:
        """Scores by line, for each column."""
        columns: dict[Place, dict[Line, Score]] = {
            place: {} for place in findings.sorted_places(score.column for score in self.scores)
        }
        for score in self.scores:
            columns[_place(score)][_line(score)] = score
        return columns

    @cached_property
    def parts(self) -> dict[Place, dict[str, Callable[[Score], Cell]]]:
        """What is said about each score of a column, and how."""
        found: dict[Place, dict[str, Callable[[Score], Cell]]] = {}
        for place, column in self.columns.items():
            gains = any(score in self.bases for score in column.values())
            known = any(score.published is not None for score in column.values())
            found[place] = {
                "score": self._score,
                **({"vs base": self._gain} if gains else {}),
                **(PUBLISHED if known else {}),
            }
        return found

    @cached_property
    def best(self) -> dict[Place, str]:
        """The best value of each column, as it is shown: equal digits are equally good."""
        return {
            place: percent(
                max((s.value for s in column.values() if not math.isnan(s.value)), default=None)
            )
            for place, column in self.columns.items()
        }

    @property
    def headings(self) -> Iterator[Heading]:
        """Recipes and embedding layers, with what is said below each."""
        for place, parts in self.parts.items():
            yield Heading(self.results.place_name(*place), tuple(parts))

    @property
    def rows(self) -> Iterator[Row]:
        """Measures by group, each with its selections of layers."""
        lines = dict.fromkeys(map(_line, self.scores))
        for group in (BASELINES, *GROUPS):
            members = [line for line in lines if _group(line[0]) == group]
            if members:
                yield Row(group)
            yield from (self._row(line) for line in sorted(members, key=_rank))

    def _row(self, line: Line) -> Row:
        method, selection, mix = line
        mixes = {score.column.mix for score in self.scores} - {None}
        spans = {column[line].layers for column in self.columns.values() if line in column}
        layers = f" ({_layers(spans.pop())})" if selection and len(spans) == 1 else ""
        mixed = f", mix {mix:g}" if mix is not None and len(mixes) > 1 else ""
        label = f"{method}, {selection}{layers}{mixed}" if selection else f"{method}{mixed}"
        cells = (
            show(column[line]) if line in column else Cell()
            for place, column in self.columns.items()
            for show in self.parts[place].values()
        )
        return row(label, *cells, indent=_base(method) != method)

    def _score(self, score: Score) -> Cell:
        if math.isnan(score.value):
            return Cell(MISSING)
        return Cell(
            percent(score.value),
            aside=half_width(score),
            best=percent(score.value) == self.best[_place(score)],
            hint=_hint(score),
        )

    def _gain(self, score: Score) -> Cell:
        base = self.bases.get(score)
        if base is None:
            return Cell()
        gain = self.gains.get((score.column, score.selection))
        if gain is None:
            return change(score.value - base.value)
        interval = f"95 % interval {signed(gain.low)} to {signed(gain.high)}; p = {gain.p:.3f}"
        star = "*" if gain.p < SURE else ""
        return change(score.value - base.value, aside=star, hint=interval)


def half_width(score: Score) -> str:
    """Half the width of a score's interval."""
    return f"±{50 * (score.high - score.low):.2f}"


def _published(score: Score, shown: Callable[[float], str]) -> Cell:
    return quiet(None if score.published is None else shown(score.published))


PUBLISHED: dict[str, Callable[[Score], Cell]] = {
    "published": lambda score: _published(score, percent),
    "difference": lambda score: _published(score, lambda known: signed(score.value - known)),
}


def _line(score: Score) -> Line:
    return score.column.method, score.selection, score.column.mix


def _place(score: Score) -> Place:
    return score.column.recipe, score.column.embedding


def _base(method: str) -> str:
    row = METHODS.get(method)
    return row.base if row and row.base else method


def _group(method: str) -> str:
    """The group of rows that a method belongs to."""
    return next((group for group, names in GROUPS.items() if _base(method) in names), BASELINES)


def _rank(line: Line) -> tuple[int, bool]:
    """Bases as in the table of methods, each before what builds on it; others at the end."""
    base = _base(line[0])
    known = [name for names in GROUPS.values() for name in names] + list(METHODS)
    return known.index(base) if base in known else len(known), base != line[0]


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
    questions = findings.by_question(results.scores).values()
    rows = (_glance(results, scores) for scores in questions)
    yield table("data set", headings, rows, verbal=True)


def _glance(results: Results, scores: list[Score]) -> Row:
    dataset, metric = scores[0].question
    whole = [score for score in scores if not score.column.is_word_part] or scores
    best = max(whole, key=lambda score: (not np.isnan(score.value), score.value))
    gains = [
        score.value > base.value
        for score, base in findings.find_bases(scores).items()
        if not score.column.is_word_part
    ]
    place = results.place_name(best.column.recipe, best.column.embedding)
    return row(
        dataset,
        metric_name(metric),
        f"{best.pairs}",
        ", ".join(filter(None, (best.column.method, best.selection, place))),
        Cell(percent(best.value), aside=half_width(best)),
        f"in {sum(gains)} of {len(gains)} cells" if gains else MISSING,
    )


def improvement_table(results: Results) -> Iterator[ReportTable]:
    """Mean gain of structure over the variants."""
    found = findings.improvements(results)
    known = {(one.recipe, one.embedding) for one in found if one.published is not None}
    places = {place: place in known for place in findings.sorted_places(found)}
    headings = (
        Heading(results.place_name(*place), _compared(published))
        for place, published in places.items()
    )
    yield table("data set, selection", headings, _improvement_rows(found, places))


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
            yield row(label, *entries, indent=True)


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
    headings = (Heading(dataset, ("mean", "heads", "picked")) for dataset in found)
    rows = (
        row(str(layer), *(c for name in found for c in _variability(results, name, layer)))
        for layer in range(1, max(map(len, found.values()), default=0) + 1)
    )
    yield table("layer", headings, rows, title="Variability of attention, BV_A")


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
        headings = (*map(str, range(1, layers + 1)), "top-1")
        rows = (_layer_row(results, column, layers) for column in columns)
        title = f"{dataset}: {metric_name(metrics.get(dataset, 'score'))} × 100 by layer"
        yield table("measure", headings, rows, title=title, folded="dev" not in dataset)


def _layer_row(results: Results, column: Column, layers: int) -> Row:
    means = results.layer_means[column]
    best = int(np.nanargmax(means)) if np.isfinite(means).any() else None
    cells = [Cell(percent(v), best=layer == best) for layer, v in enumerate(means)]
    cells += [Cell()] * (layers - len(means))
    return row(_column_name(results, column), *cells, MISSING if best is None else str(best + 1))


def _column_name(results: Results, column: Column) -> str:
    return f"{column.method}, {results.place_name(column.recipe, column.embedding)}"


def agreement_tables(results: Results) -> Iterator[ReportTable]:
    """Correlation of heads and of layers, a table for each two data sets."""
    found = findings.agreements(results)
    pairs = grouped(found, lambda one: (one.first.dataset, one.second.dataset))
    headings = [Heading(of, ("ρ × 100", "count")) for of in ("heads", "layers")]
    for number, (datasets, agreeing) in enumerate(pairs.items()):
        rows = (
            row(
                _column_name(results, one.first),
                *(percent(one.heads), f"{one.head_count}"),
                *(percent(one.layers), f"{one.layer_count}"),
            )
            for one in agreeing
        )
        title = " and ".join(datasets)
        yield table("measure", headings, rows, title=title, folded=number > 1)


def illustration_table(results: Results) -> Iterator[ReportTable]:
    """Distances by measure, a column for each pair."""
    cases = results.illustrations
    headings = (
        Heading(f"pair {number}", _compared(bool(one.published)))
        for number, one in enumerate(cases, 1)
    )
    rows = (
        row(name, *(cell for one in cases for cell in _distance_cells(one, name)))
        for name in dict.fromkeys(name for one in cases for name in one.distances)
    )
    yield table("measure", headings, rows)


def _distance_cells(one: Illustration, name: str) -> Iterator[Cell]:
    ours, published = one.distances.get(name), one.published.get(name)
    yield Cell("" if ours is None else f"{ours:.2f}")
    if one.published:
        yield quiet(None if published is None else f"{published:.2f}")
        gap = None if ours is None or published is None else ours - published
        yield quiet(None if gap is None else f"{gap:+.2f}")


def stage_table(results: Results) -> Iterator[ReportTable]:
    """Time of each stage and its pace."""
    rows = (
        row(
            stage.name,
            f"{stage.seconds:.1f}",
            f"{stage.count} {stage.unit}",
            f"{stage.count / stage.seconds:.1f}" if stage.seconds else MISSING,
        )
        for stage in results.stages
    )
    yield table("stage", ("seconds", "count", "per second"), rows)


def fact_table(results: Results) -> Iterator[ReportTable]:
    """What was run, on what."""
    rows = (row(name, text) for name, text in results.facts.items())
    yield table("fact", ["value"], rows, verbal=True)
