"""Results drawn for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from movers.documents.comparison import TextComparison

if TYPE_CHECKING:
    from movers.align.alignment import Alignment
    from movers.evaluate.evaluation import Evaluation
    from movers.evaluate.thresholds import Near, Thresholds
    from movers.results import Comparison, Ranking
    from movers.search.mining import Pair
    from movers.search.search_ranking import SearchRanking

BAR = 24
PARTS = ("sentence", "words", "structure")
"""What a distance may add up from, besides what is paid at home."""
FAILS = (
    "This measure hardly tells right from wrong pairs in these data: do not cut by it; try another "
    "--method, or a lower --precision."
)
EIGHTHS = " ▏▎▍▌▋▊▉█"


def _table(*headings: str, numbers: Sequence[str] = (), wrapped: bool = True) -> Table:
    """Return an empty table without lines, columns of numbers set to the right."""
    table = Table(box=None, header_style="dim", pad_edge=False)
    for heading in headings:
        right = "right" if heading in numbers else "left"
        table.add_column(heading, justify=right, no_wrap=not wrapped)  # type: ignore[arg-type]
    return table


def print_comparisons(
    console: Console, comparisons: Sequence[Comparison], *, figures: bool = False
) -> None:
    """Print a table of measures, and what differs and which word went where under the last."""
    last = comparisons[-1]
    if isinstance(last, TextComparison):
        return print_changes(console, last, all=True)
    home = ["at home"] * any("at home" in comparison.parts for comparison in comparisons)
    numbers = ("similarity", "distance", *PARTS, *home)
    table = _table("measure", *numbers, numbers=numbers)
    for comparison in comparisons:
        similarity = comparison.similarity
        alike = "–" if similarity is None else Text(f"{similarity:.2f}", "bold")
        parts = [comparison.parts.get(name) for name in (*PARTS, *home)]
        cells = ("–" if part is None else f"{part:.4f}" for part in parts)
        table.add_row(comparison.method, alike, Text(f"{comparison.distance:.4f}", "bold"), *cells)
    _print_pair(console, last, table)
    judged = last.judgement["text"] if last.judgement else None
    lines = [last.verdict, judged, *last.story, *(last.figures if figures else ())]
    if any(lines):
        console.print("", *filter(None, lines), sep="\n", highlight=False)
    if last.alignment:
        title = Text(f"\nWhich word went where under {last.method}", "bold")
        console.print(title, _alignment(last), sep="\n")
    _print_signature(console, last.signature)


FATES = {
    "changed": "!", "missing": "-", "new": "+", "replaced": "?", "more": "~", "reworded": "=",
    "same": "=",
}  # fmt: skip
"""The mark of every fate; a sentence that moved has another behind."""
COLOURS = {
    "changed": "yellow", "missing": "red", "new": "green", "replaced": "magenta", "more": "cyan",
}  # fmt: skip
PAIRED = ("changed", "replaced", "more", "reworded")
"""Fates of sentences that are shown below each other."""


def print_changes(console: Console, comparison: TextComparison, *, all: bool = False) -> None:
    """Print what became of the sentences of two texts, in the order of the second."""
    counts = comparison.counts
    for change in comparison.changes:
        if change.fate not in COLOURS and not (all and (change.moved or change.fate == "reworded")):
            continue
        mark = f"{FATES[change.fate]}{'↕' * change.moved}"
        style = COLOURS.get(change.fate, "dim")
        for side, number in (("-", change.source), ("+", change.target)):
            if number is not None and not (change.fate == "same" and side == "-"):
                words = comparison.source_words if side == "-" else comparison.target_words
                sign = side if change.fate in PAIRED else mark
                console.print(
                    Text(f"{sign} {number + 1:>4}  {words[number]}", style), soft_wrap=True
                )
        if change.fate in PAIRED and change.fate in COLOURS:
            console.print(Text(f"{mark}       {change.text}", "bold"), soft_wrap=True)
    tally = ", ".join(f"{counts[name]} {name}" for name in (*FATES, "moved") if counts[name])
    summary = f"\n{comparison.verdict} {tally} of {len(comparison.changes)} sentences."
    console.print(Text(summary, "bold"), soft_wrap=True)
    for line in comparison.story[: len(comparison.story) - len(comparison.gravest)]:
        console.print(line, highlight=False, soft_wrap=True)
    _print_signature(console, comparison.signature)


def _print_pair(console: Console, pair: Comparison | Alignment, table: Table) -> None:
    console.print(Text(pair.source, "bold"))
    console.print(Text(f"{pair.target}\n", "bold"))
    console.print(table)


def _print_signature(console: Console, signature: object) -> None:
    console.print(Text(f"\n{signature}", "dim"), soft_wrap=True)


def print_ranking(console: Console, ranking: SearchRanking) -> None:
    """Print ranked sentences, which word went where in the first, and what was spared."""
    print_matches(console, ranking)
    for comparison in ranking.comparisons:
        console.print(Text(f"\nWhich word went where: {comparison.target}", "bold"))
        console.print(_alignment(comparison))
    console.print()
    console.print(Text(str(ranking.pruning), "dim"), soft_wrap=True)
    console.print(Text(str(ranking.signature), "dim"), soft_wrap=True)


def print_matches(console: Console, ranking: Ranking) -> None:
    """Print the sentences of a ranking, nearest first, and the beginnings of longer texts."""
    console.print(Text(f"{_beginning(ranking.query)}\n", "bold"))
    scaled = any(match.similarity is not None for match in ranking)
    numbers = ("", "distance", *(["similarity"] if scaled else []))
    table = _table(*numbers, "sentence", numbers=numbers)
    for place, match in enumerate(ranking, 1):
        alike = [f"{match.similarity:.2f}"] if match.similarity is not None else []
        near = Text(f"{match.distance:.4f}", "bold")
        table.add_row(str(place), near, *alike, Text(_beginning(match.text)))
    console.print(table if ranking.matches else "no sentence lies that near")


def _beginning(text: str, letters: int = 400) -> str:
    """Return a text, or its beginning where it is longer than is shown."""
    return text if len(text) <= letters else f"{text[:letters].rstrip()}…"


def print_texts(console: Console, ranking: SearchRanking) -> None:
    """Print texts that were found, each with its nearest sentences."""
    console.print(Text(f"{_beginning(ranking.query)}\n", "bold"))
    for place, match in enumerate(ranking, 1):
        shown = _beginning(match.text, 70)
        console.print(Text(f"{place:3d}. {match.distance:.4f}  {shown}", "bold"))
        for passage in match.passages:
            console.print(Text(f"       {passage.distance:.4f}  {passage.text}"))
    _print_signature(console, ranking.signature)


def print_thresholds(console: Console, thresholds: Thresholds, precision: float) -> None:
    """Print possible cuts, the recommended one, and the pairs around a cut."""
    labelled = thresholds.best is not None
    console.print(Text(f"What lies within a threshold: {thresholds.about}", "bold"))
    what = ("share", "precision", "recall") if labelled else ("with one so near",)
    table = _table(*(numbers := ("threshold", "pairs", *what)), numbers=numbers)
    for cut in thresholds.cuts:
        shares = [cut.precision, cut.recall] if labelled else []
        cells = ["–" if share is None else f"{share:.1%}" for share in (cut.share, *shares)]
        table.add_row(f"{cut.threshold:.4f}", f"{cut.pairs:,}", *cells)
    console.print(table)
    recommended, recall = thresholds.recommended, thresholds.recall
    if labelled and recommended is None:
        best = f"the best: {thresholds.best:.1%}"
        console.print(f"\nNo threshold is right for {precision:.0%}; {best}.")
    elif recommended is not None:
        advice = f"\nRecommended: {recommended:.4f}, the largest right for {precision:.0%}"
        advice += "" if recall is None else f"; it finds {recall:.1%} of the right pairs"
        console.print(f"{advice}.", highlight=False, soft_wrap=True)
    if thresholds.fails:
        console.print(FAILS, highlight=False, soft_wrap=True)
    print_around(console, thresholds.cut, thresholds.around)
    _print_signature(console, thresholds.signature)


def print_around(console: Console, cut: float, pairs: Sequence[Near | Pair]) -> None:
    """Print the pairs next to a cut, with their labels if they have any."""
    console.print(Text(f"\nPairs around {cut:.4f}", "bold"))
    for near in pairs:
        label = {None: "", True: "  yes", False: "  no"}[getattr(near, "label", None)]
        side = "" if near.distance <= cut else "  beyond"
        console.print(Text(f"{near.distance:.4f}{label}{side}", "bold"))
        console.print(Text(f"  {near.source}\n  {near.target}"))


def print_alignment(console: Console, alignment: Alignment) -> None:
    """Print the links of two sentences, and the words that match nothing."""
    table = _table("link", "source", "confidence", "target", numbers=["source"])
    alone = Text("matches nothing", "dim")
    for link in alignment:
        bar = f"{_bar(link.confidence)} {link.confidence:4.0%}"
        name = f"{link.source_index}-{link.target_index}"
        table.add_row(name, Text(link.source), bar, Text(link.target))
    for number in alignment.unmatched_source:
        table.add_row(f"{number}-", Text(alignment.source_words[number]), alone, "")
    for number in alignment.unmatched_target:
        table.add_row(f"-{number}", "", alone, Text(alignment.target_words[number]))
    _print_pair(console, alignment, table)
    _print_signature(console, alignment.signature)


def print_scores(console: Console, results: Evaluation) -> None:
    """Print scores with their intervals, and what measures gain over the first."""
    first = results.scores[0]
    about = f"{results.dataset}: {results.metric} × 100, {first.pairs} pairs"
    if "labels" in results.facts:
        about += f", labels of {results.facts['labels']}"
    if first.dropped:
        about += f" ({first.dropped} without words on one side left out)"
    gained = ["gain", "p"] * (len(results.scores) > 1)
    numbers = ("vectors", "score", "95 %", *gained)
    table = _table("measure", "layers", *numbers, numbers=numbers, wrapped=False)
    for score in results.scores:
        cells = [score.method, score.layers, str(score.embedding)]
        cells += [f"{100 * score.value:.2f}", f"{100 * score.low:.1f}–{100 * score.high:.1f}"]
        if score.gain is not None:
            cells += [f"{100 * score.gain.value:+.2f}", f"{score.gain.p:.3f}"]
        table.add_row(*cells)
    console.print(Text(about, "bold"))
    console.print(table)


def print_facts(console: Console, facts: Mapping[str, Any]) -> None:
    """Print names and values, one a line."""
    table = Table(box=None, show_header=False, pad_edge=False)
    for name, value in facts.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        table.add_row(Text(name.replace("_", " "), "dim"), "–" if shown is None else str(shown))
    console.print(table)


def _alignment(comparison: Comparison) -> Table:
    from movers.results import SHOWN

    columns = "source", "share of the sentence", "target", "cost"
    table = _table(*columns, numbers=["source", "cost"])
    most = max((flow.mass for flow in comparison.alignment), default=1.0)
    flows, left_out = comparison.largest(SHOWN)
    for flow in flows:
        bar = _bar(flow.mass / most)
        cost = f"{flow.cost:.3f}" if comparison.cost.size else "–"
        table.add_row(flow.source, f"{bar} {flow.mass:6.1%}", flow.target, cost)
    if left_out:
        table.add_row("…", f"and {left_out} smaller moves (--json has all)", "…", "")
    return table


def _bar(share: float) -> str:
    """Return a bar of blocks, to an eighth of a character."""
    full, rest = divmod(round(share * BAR * 8), 8)
    return ("█" * full + (EIGHTHS[rest] if rest else "")).ljust(BAR)
