"""The smaller tables: mean gains, choice of layers, agreement of data sets, example, times."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from movers.evaluate.document import MISSING, Cell, Heading, Row, Table, change, percent, signed
from movers.evaluate.findings import (
    LINEAR,
    STRUCTURAL,
    VARIANTS,
    Agreement,
    Improvement,
    agreements,
    depth,
    embedding_name,
    find_bases,
    improvements,
)
from movers.evaluate.results import Column, Illustration, Results, Score
from movers.evaluate.score_tables import METRICS, metric_name


def glance_table(results: Results) -> Table | None:
    """Per data set: the best measure, and how often structure improves on its base."""
    questions = dict.fromkeys((score.column.dataset, score.metric) for score in results.scores)
    if not questions:
        return None
    headings = "metric", "pairs", "best measure", "score × 100", "structure improves its base"
    rows = (_glance(results, *question) for question in questions)
    return Table("", "data set", tuple(map(Heading, headings)), tuple(rows), verbal=True)


def _glance(results: Results, dataset: str, metric: str) -> Row:
    scores = [s for s in results.scores if (s.column.dataset, s.metric) == (dataset, metric)]
    whole = [s for s in scores if not s.column.method.startswith(LINEAR)] or scores
    best = max(whole, key=lambda score: (not np.isnan(score.value), score.value))
    gains = [
        score.value > base.value
        for score, base in find_bases(scores).items()
        if score.column.method.startswith(STRUCTURAL)
    ]
    return Row(
        dataset,
        (
            Cell(metric_name(metric)),
            Cell(f"{best.pairs}"),
            Cell(_described(best, depth(results))),
            Cell(percent(best.value), aside=f"±{50 * (best.high - best.low):.2f}"),
            Cell(f"in {sum(gains)} of {len(gains)} cells" if gains else MISSING),
        ),
    )


def _described(score: Score, layers: int | None) -> str:
    column = score.column
    where = f"{column.recipe}, {embedding_name(column.embedding, layers)}"
    return ", ".join(filter(None, (column.method, score.selection, where)))


def improvement_table(results: Results) -> Table | None:
    """Mean gain of structure over the variants."""
    found = improvements(results)
    places = sorted({(one.recipe, one.embedding) for one in found}, key=lambda place: place[1])
    recipes = list(dict.fromkeys(one.recipe for one in found))
    places.sort(key=lambda place: recipes.index(place[0]))
    known = {(one.recipe, one.embedding) for one in found if one.published is not None}
    headings = tuple(
        Heading(
            f"{recipe}, {embedding_name(embedding, depth(results))}",
            ("ours", *(("published", "difference") * ((recipe, embedding) in known))),
        )
        for recipe, embedding in places
    )
    rows = tuple(_improvement_rows(found, places, known))
    return Table("", "data set, selection", headings, rows) if rows else None


def _improvement_rows(
    found: tuple[Improvement, ...], places: list[tuple[str, int]], known: set[tuple[str, int]]
) -> Iterable[Row]:
    cells = {(_line(one), (one.recipe, one.embedding)): one for one in found}
    mixed = len({one.mix for one in found}) > 1
    last = None
    for line in dict.fromkeys(line for line, _ in cells):
        dataset, metric, selection, mix = line
        if (dataset, metric) != last:
            yield Row(f"{dataset}, {metric_name(metric)}")
        last = dataset, metric
        entries = (
            cell
            for place in places
            for cell in _improvement_cells(cells.get((line, place)), place in known)
        )
        yield Row(f"{selection}, mix {mix:g}" if mixed else selection, tuple(entries), indent=True)


def _line(one: Improvement) -> tuple[str, str, str, float | None]:
    return one.dataset, one.metric, one.selection, one.mix


def _improvement_cells(one: Improvement | None, known: bool) -> Iterable[Cell]:
    if one is None:
        yield from [Cell()] * (3 if known else 1)
        return
    ours = change(one.value, hint=", ".join(one.variants))
    count = len(one.variants)
    aside = "" if count == len(VARIANTS) else f"{count} of {len(VARIANTS)}"
    yield Cell(ours.text, aside=aside, tone=ours.tone, hint=ours.hint)
    if known:
        published = one.published
        yield Cell() if published is None else Cell(signed(published), tone="quiet")
        yield Cell() if published is None else Cell(signed(one.value - published), tone="quiet")


def variability_table(results: Results) -> Table | None:
    """BV_A of each layer and whether it is picked."""
    if not results.variability:
        return None
    headings = (Heading(dataset, ("mean", "heads", "picked")) for dataset in results.variability)
    layers = max(map(len, results.variability.values()))
    rows = (
        Row(
            str(layer),
            tuple(c for d in results.variability for c in _variability_cells(results, d, layer)),
        )
        for layer in range(1, layers + 1)
    )
    return Table("Variability of attention, BV_A", "layer", tuple(headings), tuple(rows))


def _variability_cells(results: Results, dataset: str, layer: int) -> Iterable[Cell]:
    array = results.variability[dataset]
    if layer > len(array):
        return [Cell()] * 3
    heads = array[layer - 1]
    picked = layer in results.contextual.get(dataset, ())
    spread = f"{heads.min():.3f} to {heads.max():.3f}"
    return [Cell(f"{heads.mean():.3f}"), Cell(spread), Cell("yes" if picked else "no", best=picked)]


def layer_tables(results: Results) -> tuple[Table, ...]:
    """Score of the mean over each layer's heads; all but development sets are folded."""
    metrics = {score.column.dataset: score.metric for score in results.scores}
    datasets = dict.fromkeys(column.dataset for column in results.layer_means)
    return tuple(_layer_table(results, dataset, metrics.get(dataset, "")) for dataset in datasets)


def _layer_table(results: Results, dataset: str, metric: str) -> Table:
    found = {c: means for c, means in results.layer_means.items() if c.dataset == dataset}
    layers = max(map(len, found.values()))
    headings = (*map(Heading, map(str, range(1, layers + 1))), Heading("top-1"))
    title = f"{dataset}: {metric_name(metric) if metric in METRICS else 'score'} × 100 by layer"
    rows = []
    for column, means in found.items():
        best = int(np.nanargmax(means)) if np.isfinite(means).any() else None
        cells = [Cell(percent(v), best=layer == best) for layer, v in enumerate(means)]
        cells += [Cell()] * (layers - len(means))
        top = Cell(MISSING if best is None else str(best + 1))
        rows.append(Row(column_name(column, depth(results)), (*cells, top)))
    return Table(title, "measure", headings, tuple(rows), folded="dev" not in dataset)


def column_name(column: Column, layers: int | None) -> str:
    """Everything about a column but its data set."""
    where = f"{column.recipe}, {embedding_name(column.embedding, layers)}"
    return f"{column.method}, {where}"


def agreement_tables(results: Results) -> tuple[Table, ...]:
    """Correlation of heads and of layers, a table for each two data sets."""
    pairs: dict[str, list[Agreement]] = {}
    for one in agreements(results):
        pairs.setdefault(f"{one.first.dataset} and {one.second.dataset}", []).append(one)
    headings = tuple(Heading(of, ("ρ × 100", "count")) for of in ("heads", "layers"))
    return tuple(
        Table(
            title,
            "measure",
            headings,
            tuple(_agreement_row(one, depth(results)) for one in found),
            folded=number > 1,
        )
        for number, (title, found) in enumerate(pairs.items())
    )


def _agreement_row(one: Agreement, layers: int | None) -> Row:
    cells = (
        Cell(percent(one.heads)),
        Cell(str(one.head_count)),
        Cell(percent(one.layers)),
        Cell(str(one.layer_count)),
    )
    return Row(column_name(one.first, layers), cells)


def illustration_table(illustrations: tuple[Illustration, ...]) -> Table | None:
    """Distances by measure, a column for each pair."""
    measures = dict.fromkeys(name for one in illustrations for name in one.distances)
    headings = tuple(
        Heading(f"pair {number}", ("ours", *(("published", "difference") * bool(one.published))))
        for number, one in enumerate(illustrations, 1)
    )
    rows = (
        Row(name, tuple(cell for one in illustrations for cell in _distance_cells(one, name)))
        for name in measures
    )
    return Table("", "measure", headings, tuple(rows)) if measures else None


def _distance_cells(one: Illustration, name: str) -> Iterable[Cell]:
    ours, published = one.distances.get(name), one.published.get(name)
    yield Cell() if ours is None else Cell(f"{ours:.2f}")
    if one.published:
        gap = None if ours is None or published is None else ours - published
        yield Cell() if published is None else Cell(f"{published:.2f}", tone="quiet")
        yield Cell() if gap is None else Cell(f"{gap:+.2f}", tone="quiet")


def stage_table(results: Results) -> Table | None:
    """Time of each stage and its pace."""
    headings = tuple(map(Heading, ("seconds", "count", "per second")))
    rows = (
        Row(
            stage.name,
            (
                Cell(f"{stage.seconds:.1f}"),
                Cell(f"{stage.count} {stage.unit}"),
                Cell(f"{stage.count / stage.seconds:.1f}" if stage.seconds else MISSING),
            ),
        )
        for stage in results.stages
    )
    return Table("", "stage", headings, tuple(rows)) if results.stages else None


def fact_table(results: Results) -> Table | None:
    """What was run, on what."""
    rows = tuple(Row(name, (Cell(text),)) for name, text in results.facts.items())
    return Table("", "fact", (Heading("value"),), rows, verbal=True) if rows else None
