"""The main tables: a row per measure and selection, a column per recipe and embedding layer."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from movers.evaluate.document import MISSING, Cell, Heading, Row, Table, change, percent, signed
from movers.evaluate.findings import LINEAR, base_name, depth, embedding_name, find_bases
from movers.evaluate.results import Column, Gain, Results, Score
from movers.methods import METHODS

GROUPS = {
    "WMD": ("wmd", "wmd-idf"),
    "WRD": ("wrd", "wrd-idf"),
    "SynWMD": ("synwmd-cos", "synwmd"),
    "SMD": ("smd", "smd-idf", "smd-norm"),
}
BASELINES = "Baselines"
SURE = 0.05
METRICS = {"auc": "AUC", "spearman": "Spearman's ρ", "pearson": "Pearson's r"}

Line = tuple[str, str, float | None]
"""Method, selection and mix: what a row stands for."""
Place = tuple[str, int]
"""Recipe and embedding layer: what a column stands for."""


def group_of(method: str) -> str:
    """The group of rows that a method belongs to."""
    name = base_name(method)
    return next((group for group, names in GROUPS.items() if name in names), BASELINES)


def metric_name(metric: str) -> str:
    """How a metric is written."""
    return METRICS.get(metric, metric)


def score_tables(results: Results) -> tuple[Table, ...]:
    """One table per data set and metric, each followed by a folded one of the word parts."""
    questions = dict.fromkeys((score.column.dataset, score.metric) for score in results.scores)
    grids = (
        _Grid(results, *question, word_parts=word_parts)
        for question in questions
        for word_parts in (False, True)
    )
    return tuple(grid.table for grid in grids if grid.scores)


@dataclass(frozen=True)
class _Grid:
    """The scores of one table."""

    results: Results
    dataset: str
    metric: str
    word_parts: bool

    @cached_property
    def scores(self) -> tuple[Score, ...]:
        return tuple(
            score
            for score in self.results.scores
            if (score.column.dataset, score.metric) == (self.dataset, self.metric)
            and score.column.method.startswith(LINEAR) == self.word_parts
        )

    @cached_property
    def cells(self) -> dict[tuple[Line, Place], Score]:
        return {(_line(score), _place(score)): score for score in self.scores}

    @cached_property
    def bases(self) -> dict[Score, Score]:
        return find_bases(self.results.scores)

    @cached_property
    def _gains(self) -> dict[tuple[Column, str], Gain]:
        return {(gain.column, gain.selection): gain for gain in self.results.gains}

    @cached_property
    def places(self) -> list[Place]:
        recipes = list(dict.fromkeys(score.column.recipe for score in self.scores))
        return sorted(
            {_place(score) for score in self.scores},
            key=lambda place: (recipes.index(place[0]), place[1]),
        )

    @cached_property
    def mixes(self) -> set[float]:
        return {score.column.mix for score in self.scores if score.column.mix is not None}

    @property
    def table(self) -> Table:
        title = f"{self.dataset}: {metric_name(self.metric)} × 100"
        layers = depth(self.results)
        return Table(
            f"{title}, word part under the structural plan" if self.word_parts else title,
            "method",
            tuple(
                Heading(f"{recipe}, {embedding_name(embedding, layers)}", self._parts(place))
                for place in self.places
                for recipe, embedding in [place]
            ),
            tuple(self._rows()),
            folded=self.word_parts,
        )

    def _parts(self, place: Place) -> tuple[str, ...]:
        """What is said about each score of a column."""
        scores = self._column(place)
        gains = ("vs base",) * any(score in self.bases for score in scores)
        known = any(score.published is not None for score in scores)
        return ("score", *gains, *(("published", "difference") * known))

    def _column(self, place: Place) -> list[Score]:
        return [score for (_, where), score in self.cells.items() if where == place]

    def _rows(self) -> Iterable[Row]:
        lines = dict.fromkeys(line for line, _ in self.cells)
        for group in (BASELINES, *GROUPS):
            members = [line for line in lines if group_of(line[0]) == group]
            if members:
                yield Row(group)
            yield from (self._row(line) for line in sorted(members, key=_rank))

    def _row(self, line: Line) -> Row:
        method, selection, mix = line
        found = [self.cells[line, place] for place in self.places if (line, place) in self.cells]
        spans = {score.layers for score in found}
        layers = f" ({_layers(spans.pop())})" if selection and len(spans) == 1 else ""
        mixed = f", mix {mix:g}" if mix is not None and len(self.mixes) > 1 else ""
        label = f"{method}, {selection}{layers}{mixed}" if selection else f"{method}{mixed}"
        cells = tuple(cell for place in self.places for cell in self._entry(line, place))
        return Row(label, cells, indent=base_name(method) != method)

    def _entry(self, line: Line, place: Place) -> Iterable[Cell]:
        score = self.cells.get((line, place))
        for part in self._parts(place):
            yield Cell() if score is None else getattr(self, f"_{part.replace(' ', '_')}")(score)

    def _score(self, score: Score) -> Cell:
        if math.isnan(score.value):
            return Cell(MISSING)
        return Cell(
            percent(score.value),
            aside=f"±{50 * (score.high - score.low):.2f}",
            best=percent(score.value) == self._best[_place(score)],
            hint=_hint(score),
        )

    def _vs_base(self, score: Score) -> Cell:
        base = self.bases.get(score)
        if base is None:
            return Cell()
        gain = self._gains.get((score.column, score.selection))
        if gain is None:
            return change(score.value - base.value)
        interval = f"95 % interval {signed(gain.low)} to {signed(gain.high)}; p = {gain.p:.3f}"
        return replace(
            change(score.value - base.value, hint=interval), aside="*" if gain.p < SURE else ""
        )

    def _published(self, score: Score) -> Cell:
        return Cell() if score.published is None else Cell(percent(score.published), tone="quiet")

    def _difference(self, score: Score) -> Cell:
        if score.published is None:
            return Cell()
        return Cell(signed(score.value - score.published), tone="quiet")

    @cached_property
    def _best(self) -> dict[Place, str]:
        """The best value of each column, as it is shown: equal digits are equally good."""
        return {
            place: percent(
                max(
                    (score.value for score in self._column(place) if not math.isnan(score.value)),
                    default=None,
                )
            )
            for place in self.places
        }


def _line(score: Score) -> Line:
    return score.column.method, score.selection, score.column.mix


def _place(score: Score) -> Place:
    return score.column.recipe, score.column.embedding


def _rank(line: Line) -> tuple[int, bool]:
    """Bases as in the table of methods, each before what builds on it; others at the end."""
    base = base_name(line[0])
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
