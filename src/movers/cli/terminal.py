"""Results drawn for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from movers.cli.drawing import Cell, echo, print_table, print_text
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


def print_comparisons(comparisons: Sequence[Comparison], *, figures: bool = False) -> None:
    """Print a table of measures, and what differs and which word went where under the last."""
    last = comparisons[-1]
    if isinstance(last, TextComparison):
        return print_changes(last, all=True)
    home = ["at home"] * any("at home" in comparison.parts for comparison in comparisons)
    rows: list[list[Cell]] = []
    for comparison in comparisons:
        similarity = comparison.similarity
        alike = "–" if similarity is None else (f"{similarity:.2f}", "bold")
        parts = [comparison.parts.get(name) for name in (*PARTS, *home)]
        cells = ("–" if part is None else f"{part:.4f}" for part in parts)
        rows.append([comparison.method, alike, (f"{comparison.distance:.4f}", "bold"), *cells])
    _print_pair(last)
    numbers = ("similarity", "distance", *PARTS, *home)
    print_table(("measure", *numbers), rows, numbers)
    judged = last.judgement["text"] if last.judgement else None
    lines = [last.verdict, judged, *last.story, *(last.figures if figures else ())]
    for line in ["", *filter(None, lines)] if any(lines) else ():
        print_text(line)
    if last.alignment:
        print_text(f"\nWhich word went where under {last.method}", "bold")
        _print_alignment(last)
    _print_signature(last.signature)


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


def print_changes(comparison: TextComparison, *, all: bool = False) -> None:
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
                print_text(f"{sign} {number + 1:>4}  {words[number]}", style, wrapped=False)
        if change.fate in PAIRED and change.fate in COLOURS:
            print_text(f"{mark}       {change.text}", "bold", wrapped=False)
    tally = ", ".join(f"{counts[name]} {name}" for name in (*FATES, "moved") if counts[name])
    summary = f"\n{comparison.verdict} {tally} of {len(comparison.changes)} sentences."
    print_text(summary, "bold", wrapped=False)
    for line in comparison.story[: len(comparison.story) - len(comparison.gravest)]:
        print_text(line, wrapped=False)
    _print_signature(comparison.signature)


def _print_pair(pair: Comparison | Alignment) -> None:
    print_text(f"{pair.source}\n{pair.target}\n", "bold")


def _print_signature(signature: object) -> None:
    print_text(f"\n{signature}", "dim", wrapped=False)


def print_ranking(ranking: SearchRanking) -> None:
    """Print ranked sentences, which word went where in the first, and what was spared."""
    print_matches(ranking)
    for comparison in ranking.comparisons:
        print_text(f"\nWhich word went where: {comparison.target}", "bold")
        _print_alignment(comparison)
    _print_signature(f"{ranking.pruning}\n{ranking.signature}")


def print_matches(ranking: Ranking) -> None:
    """Print the sentences of a ranking, nearest first, and the beginnings of longer texts."""
    print_text(f"{_beginning(ranking.query)}\n", "bold")
    if not ranking.matches:
        return echo("no sentence lies that near")
    scaled = any(match.similarity is not None for match in ranking)
    numbers = ("", "distance", *(["similarity"] if scaled else []))
    rows: list[list[Cell]] = []
    for place, match in enumerate(ranking, 1):
        alike = [f"{match.similarity:.2f}"] if match.similarity is not None else []
        rows.append([f"{place}", (f"{match.distance:.4f}", "bold"), *alike, _beginning(match.text)])
    print_table((*numbers, "sentence"), rows, numbers)


def _beginning(text: str, letters: int = 400) -> str:
    """Return a text, or its beginning where it is longer than is shown."""
    return text if len(text) <= letters else f"{text[:letters].rstrip()}…"


def print_texts(ranking: SearchRanking) -> None:
    """Print texts that were found, each with its nearest sentences."""
    print_text(f"{_beginning(ranking.query)}\n", "bold")
    for place, match in enumerate(ranking, 1):
        shown = _beginning(match.text, 70)
        print_text(f"{place:3d}. {match.distance:.4f}  {shown}", "bold")
        for passage in match.passages:
            print_text(f"       {passage.distance:.4f}  {passage.text}")
    _print_signature(ranking.signature)


def print_thresholds(thresholds: Thresholds, precision: float) -> None:
    """Print possible cuts, the recommended one, and the pairs around a cut."""
    labelled = thresholds.best is not None
    print_text(f"What lies within a threshold: {thresholds.about}", "bold")
    what = ("share", "precision", "recall") if labelled else ("with one so near",)
    rows = []
    for cut in thresholds.cuts:
        shares = [cut.precision, cut.recall] if labelled else []
        cells = ["–" if share is None else f"{share:.1%}" for share in (cut.share, *shares)]
        rows.append([f"{cut.threshold:.4f}", f"{cut.pairs:,}", *cells])
    print_table(numbers := ("threshold", "pairs", *what), rows, numbers)
    recommended, recall = thresholds.recommended, thresholds.recall
    if labelled and recommended is None:
        best = f"the best: {thresholds.best:.1%}"
        print_text(f"\nNo threshold is right for {precision:.0%}; {best}.")
    elif recommended is not None:
        advice = f"\nRecommended: {recommended:.4f}, the largest right for {precision:.0%}"
        advice += "" if recall is None else f"; it finds {recall:.1%} of the right pairs"
        print_text(f"{advice}.", wrapped=False)
    if thresholds.fails:
        print_text(FAILS, wrapped=False)
    print_around(thresholds.cut, thresholds.around)
    _print_signature(thresholds.signature)


def print_around(cut: float, pairs: Sequence[Near | Pair]) -> None:
    """Print the pairs next to a cut, with their labels if they have any."""
    print_text(f"\nPairs around {cut:.4f}", "bold")
    for near in pairs:
        label = {None: "", True: "  yes", False: "  no"}[getattr(near, "label", None)]
        side = "" if near.distance <= cut else "  beyond"
        print_text(f"{near.distance:.4f}{label}{side}", "bold")
        print_text(f"  {near.source}\n  {near.target}")


def print_alignment(alignment: Alignment) -> None:
    """Print the links of two sentences, and the words that match nothing."""
    rows: list[list[Cell]] = []
    alone: Cell = ("matches nothing", "dim")
    for link in alignment:
        bar = f"{_bar(link.confidence)} {link.confidence:4.0%}"
        rows.append([f"{link.source_index}-{link.target_index}", link.source, bar, link.target])
    sources, targets = alignment.source_words, alignment.target_words
    rows += [[f"{number}-", sources[number], alone, ""] for number in alignment.unmatched_source]
    rows += [[f"-{number}", "", alone, targets[number]] for number in alignment.unmatched_target]
    _print_pair(alignment)
    print_table(("link", "source", "confidence", "target"), rows, ["source"])
    _print_signature(alignment.signature)


def print_scores(results: Evaluation) -> None:
    """Print scores with their intervals, and what measures gain over the first."""
    first = results.scores[0]
    about = f"{results.dataset}: {results.metric} × 100, {first.pairs} pairs"
    if "labels" in results.facts:
        about += f", labels of {results.facts['labels']}"
    if first.dropped:
        about += f" ({first.dropped} without words on one side left out)"
    gained = ["gain", "p"] * (len(results.scores) > 1)
    numbers = ("vectors", "score", "95 %", *gained)
    rows = []
    for score in results.scores:
        cells = [score.method, score.layers, str(score.embedding)]
        cells += [f"{100 * score.value:.2f}", f"{100 * score.low:.1f}–{100 * score.high:.1f}"]
        if score.gain is not None:
            cells += [f"{100 * score.gain.value:+.2f}", f"{score.gain.p:.3f}"]
        rows.append(cells + [""] * (2 + len(numbers) - len(cells)))
    print_text(about, "bold")
    print_table(("measure", "layers", *numbers), rows, numbers)


def print_facts(facts: Mapping[str, Any]) -> None:
    """Print names and values, one a line."""
    rows: list[list[Cell]] = []
    for name, value in facts.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        rows.append([(name.replace("_", " "), "dim"), "–" if shown is None else str(shown)])
    print_table(("", ""), rows)


def _print_alignment(comparison: Comparison) -> None:
    from movers.results import SHOWN

    most = max((flow.mass for flow in comparison.alignment), default=1.0)
    flows, left_out = comparison.largest(SHOWN)
    rows = []
    for flow in flows:
        bar = _bar(flow.mass / most)
        cost = f"{flow.cost:.3f}" if comparison.cost.size else "–"
        rows.append([flow.source, f"{bar} {flow.mass:6.1%}", flow.target, cost])
    if left_out:
        rows.append(["…", f"and {left_out} smaller moves (--json has all)", "…", ""])
    columns = "source", "share of the sentence", "target", "cost"
    print_table(columns, rows, ["source", "cost"])


def _bar(share: float) -> str:
    """Return a bar of blocks, to an eighth of a character."""
    full, rest = divmod(round(share * BAR * 8), 8)
    return ("█" * full + (EIGHTHS[rest] if rest else "")).ljust(BAR)
