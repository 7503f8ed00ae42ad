"""The main tables: a row per measure and selection, a column per recipe and embedding layer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

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
from movers.evaluate.findings import Place, by_question, find_bases, metric_name, sorted_places
from movers.evaluate.outcomes import Column, Gain, Results, Score
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
    bases = find_bases(results.scores)
    gains = {(gain.column, gain.selection): gain for gain in results.gains}
    for (dataset, metric), scores in by_question(results.scores).items():
        title = f"{dataset}: {metric_name(metric)} × 100"
        words = f"{title}, word part under the structural plan"
        for part, name in ((False, title), (True, words)):
            chosen = [score for score in scores if score.column.is_word_part == part]
            if chosen:
                yield ScoreTable(results, chosen, bases, gains).table(name, folded=part)


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
            place: {} for place in sorted_places(score.column for score in self.scores)
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
                **({"published": _published, "difference": _difference} if known else {}),
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

    def table(self, title: str, *, folded: bool) -> ReportTable:
        """The table itself."""
        headings = (
            Heading(self.results.place_name(*place), tuple(parts))
            for place, parts in self.parts.items()
        )
        return ReportTable(title, "method", tuple(headings), tuple(self._rows()), folded=folded)

    def _rows(self) -> Iterator[Row]:
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
        return Row(label, tuple(cells), indent=_base(method) != method)

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


def _published(score: Score) -> Cell:
    return quiet(None if score.published is None else percent(score.published))


def _difference(score: Score) -> Cell:
    return quiet(None if score.published is None else signed(score.value - score.published))


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
