"""What is reported of a judge: as text, as plain values, and as a page with plots."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any

from movers.errors import InputError
from movers.explain.page import html_table
from movers.runtime.atomic import write_text

WORTH = 0.005
"""Gain by twice as many labels from which they are said to help."""
KINDS = (".html", ".json", ".txt")
SIDE, EDGE = 320, 40
STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;"
    "color-scheme:light dark}table{border-collapse:collapse}td,th{padding:.2rem .8rem;"
    "text-align:left}svg{max-width:100%}line,path{stroke:currentColor;fill:none}"
    "text{fill:currentColor;font-size:12px}"
)
Row = Mapping[str, Any]


@dataclass(frozen=True)
class JudgeReport:
    """A report on a judge: what it does on pairs that it has not seen.

    Parameters
    ----------
    pairs, groups, folds
        How many pairs, groups of pairs that share a sentence, and parts of the cross-validation.
    grades
        The ends of the scale, if labels are grades.
    scores
        For every "metric" and "method" the "value" with an interval, "low" and "high", and how far
        the judge is ahead of it, "behind", with an interval too; None of the judge itself.
    brier, error
        Brier score and expected calibration error.
    bins
        Pairs of about one probability: the mean "probability", the "share" that says the same, and
        how many "pairs".
    curve, gain
        Numbers of labels and the first metric reached with them; what twice as many labels would
        add to it, about.
    surprises
        Pairs whose label the judge would not have thought, maybe errors: "source", "target",
        "label" and "probability".
    cuts
        For every "precision" the "probability" from which it is reached, and the "recall" there;
        None where it is not.
    """

    pairs: int
    groups: int
    folds: int
    grades: tuple[float, float] | None
    scores: tuple[Row, ...] = ()
    brier: float | None = None
    error: float | None = None
    bins: tuple[Row, ...] = ()
    curve: tuple[tuple[int, float], ...] = ()
    gain: float | None = None
    surprises: tuple[Row, ...] = ()
    cuts: tuple[Row, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {**asdict(self), "advice": self.advice}

    @property
    def advice(self) -> str:
        """Whether more labels would help, in a sentence."""
        if self.gain is None:
            return "Too few labels to tell what more would bring; label a hundred."
        labels = self.curve[-1][0]
        if self.gain < WORTH:
            return f"More labels than these {self.pairs:,} would hardly help."
        metric = self.scores[0]["metric"]
        return (
            f"More labels would help: twice as many, about {2 * labels:,}, may add "
            f"{100 * self.gain:.1f} to {metric} × 100."
        )

    @property
    def about(self) -> str:
        """How the scores were found, in words."""
        return (
            f"{self.pairs:,} labelled pairs in {self.groups:,} groups that share no sentence; "
            f"cross-validated in {self.folds} parts"
        )

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield self.about
        for one in self.scores:
            value, ahead = f"{100 * one['value']:5.1f} ({_interval(one)})", _ahead(one)
            ahead = f"   judge {ahead}" if ahead else ""
            yield f"  {one['method']:<8} {one['metric']:<18} {value}{ahead}"
        if self.brier is not None:
            yield f"  Brier score {self.brier:.3f}, calibration error {self.error:.3f}"
        for cut in self.cuts:
            yield f"  precision {100 * cut['precision']:.0f} %: {_where(cut)}"
        yield self.advice
        if self.surprises:
            yield "Labels that surprise most, maybe errors:"
        for pair in self.surprises:
            yield "  {label:g} but {probability:.2f}: {source} | {target}".format_map(pair)

    def save(self, path: str | Path) -> None:
        """Write the report as the name ends: .html, .json or .txt."""
        path = check_kind(Path(path))
        text = f"{self}\n"
        if path.suffix == ".html":
            text = self.to_html()
        elif path.suffix == ".json":
            text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False)
        write_text(path, text)

    def to_html(self) -> str:
        """Return one page with plots that needs neither server nor network."""
        return _page_of("What the judge does on pairs it has not seen", self._parts())

    def _parts(self) -> Iterator[str]:
        yield f"<p>{escape(self.about)}.</p>"
        scores = (
            (one["method"], one["metric"], f"{100 * one['value']:.1f}", _interval(one), _ahead(one))
            for one in self.scores
        )
        yield html_table(("", "metric", "× 100", "95 %", "judge ahead"), scores)
        if self.bins:
            yield "<h2>Calibration</h2>"
            points = [(one["probability"], one["share"]) for one in self.bins]
            yield _plot(points, "probability", "share the same", diagonal=True)
            yield f"<p>Brier score {self.brier:.3f}, expected error {self.error:.3f}.</p>"
            cuts = ((f"{cut['precision']:.2f}", _where(cut)) for cut in self.cuts)
            yield html_table(("precision", ""), cuts)
        if len(self.curve) > 1:
            yield "<h2>More labels</h2>"
            most = self.curve[-1][0]
            points = [(labels / most, value) for labels, value in self.curve]
            yield _plot(points, f"labels, up to {most:,}", self.scores[0]["metric"])
        yield f"<p>{escape(self.advice)}</p>"
        if self.surprises:
            yield "<h2>Labels that surprise most, maybe errors</h2>"
            rows = (
                (f"{one['label']:g}", f"{one['probability']:.2f}", one["source"], one["target"])
                for one in self.surprises
            )
            yield html_table(("label", "judge", "A", "B"), rows)


def _interval(score: Row) -> str:
    """Return the interval of a score in words, × 100."""
    return f"{100 * score['low']:.1f} to {100 * score['high']:.1f}"


def _ahead(score: Row) -> str:
    """Return how far the judge is ahead, in words; nothing of the judge itself."""
    if score["behind"] is None:
        return ""
    value, low, high = (100 * part for part in score["behind"])
    return f"{value:+.1f} ({low:+.1f} to {high:+.1f})"


def _where(cut: Row) -> str:
    """Return where a precision is reached, in words."""
    if cut["probability"] is None:
        return "not reached"
    return f"from probability {cut['probability']:.2f} on, recall {100 * cut['recall']:.0f} %"


def check_kind(path: Path) -> Path:
    """Return a path that a report can be written to; refuse any other."""
    if path.suffix not in KINDS:
        raise InputError(f"a report ends in {', '.join(KINDS)}, got {path.name!r}")
    return path


def _page_of(title: str, parts: Iterable[str]) -> str:
    """Return a page of parts that are HTML already."""
    body = "\n".join(parts)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>movers: {escape(title)}'
        f"</title><style>{STYLE}</style><h1>{escape(title)}</h1>{body}</html>"
    )


def _plot(
    points: Sequence[tuple[float, float]], across: str, up: str, *, diagonal: bool = False
) -> str:
    """Draw points of the unit square; on request the diagonal too."""
    places = [
        (EDGE + SIDE * min(1.0, max(0.0, x)), EDGE / 2 + SIDE * (1 - min(1.0, max(0.0, y))))
        for x, y in points
    ]
    path = " ".join(f"{'ML'[k > 0]}{x:.1f} {y:.1f}" for k, (x, y) in enumerate(places))
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"/>' for x, y in places)
    left, low, right, top = EDGE, EDGE / 2 + SIDE, EDGE + SIDE, EDGE / 2
    ideal = (
        f'<line x1="{left}" y1="{low}" x2="{right}" y2="{top}" stroke-dasharray="4"/>'
        if diagonal
        else ""
    )
    return (
        f'<svg role="img" aria-label="{escape(up)} by {escape(across)}" width="{right + EDGE}" '
        f'height="{low + EDGE}"><path d="M{left} {top}V{low}H{right}"/>{ideal}<path d="{path}"/>'
        f'{dots}<text x="{left}" y="{low + 25}">{escape(across)}</text>'
        f'<text x="{left + 5}" y="{top + 5}">{escape(up)}</text></svg>'
    )
