"""Figures are valid, described, and keep to themselves."""

import re
from dataclasses import replace
from importlib.resources import files
from itertools import combinations
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text

from movers_research import figures
from movers_research.canvas import Label, Labels, place_labels
from movers_research.outcomes import Overlap
from movers_research.svg import PALETTE, inlined, slug
from synthetic import make_results

SVG = "{http://www.w3.org/2000/svg}"
MAKERS = [made for name, made in vars(figures).items() if name.endswith(("_figure", "_figures"))]


@pytest.fixture(scope="module")
def results():
    """Results with scores on one test set only."""
    full = make_results()
    kept = ("paws-wiki-test", "paws-wiki-dev")
    return replace(full, scores=tuple(s for s in full.scores if s.column.dataset in kept))


@pytest.fixture(scope="module")
def drawings(results):
    made = [drawing for make in MAKERS for drawing in make(results)]
    return {drawing.name: drawing for drawing in made}


def texts(drawing):
    return [element.text for element in ElementTree.fromstring(drawing.svg).iter(f"{SVG}text")]


def test_every_figure_has_its_name(drawings):
    assert len(MAKERS) == 6
    assert sorted(drawings) == [
        "common-words",
        "heads-paws-wiki-dev-paws-wiki-test",
        "improvement-paws-wiki-dev",
        "improvement-paws-wiki-test",
        "layers-paws-wiki-dev",
        "layers-paws-wiki-test",
        "stages",
        "variability",
    ]


def test_every_figure_is_valid_and_described(drawings):
    for drawing in drawings.values():
        root = ElementTree.fromstring(drawing.svg)
        assert root.tag == f"{SVG}svg" and root.get("role") == "img"
        title, description = root[0], root[1]
        assert (title.tag, title.text) == (f"{SVG}title", drawing.title)
        assert (description.tag, description.text) == (f"{SVG}desc", drawing.description)
        assert root.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
        assert not list(root.iter(f"{SVG}metadata"))
        assert all("matplotlib" not in (element.text or "") for element in root.iter())


def test_bases_are_labelled_and_layers_numbered(drawings):
    labels = texts(drawings["improvement-paws-wiki-test"])
    for name in ("wmd", "wmd-idf", "wrd", "wrd-idf", "synwmd", "synwmd-cos"):
        assert labels.count(name) == 4
    labels = texts(drawings["heads-paws-wiki-dev-paws-wiki-test"])
    assert all(labels.count(str(layer)) >= 4 for layer in range(1, 7))
    assert "ρ × 100 = " in drawings["heads-paws-wiki-dev-paws-wiki-test"].description


def test_panels_of_common_words_show_both_correlations(results, drawings):
    labels = texts(drawings["common-words"])
    for overlap in results.overlaps:
        told = f"ρ = {100 * overlap.rho:.2f} (published {100 * overlap.published:.2f})"
        assert told in labels


def test_common_words_of_one_label_can_be_drawn(results):
    one = Overlap("a", np.array([2, 3]), np.array([1.0, 1.0]), float("nan"))
    same = Overlap("b", np.array([0, 0]), np.array([3.0, 3.0]), 0.0)
    (drawing,) = figures.overlap_figure(replace(results, overlaps=(one, same)))
    assert "ρ = –" in texts(drawing)


def test_nothing_to_show_is_no_figure(results):
    empty = replace(
        results, scores=(), heads={}, variability={}, overlaps=(), stages=(), layer_means={}
    )
    assert all(make(empty) == () for make in MAKERS)


def test_inlined_figures_take_their_colours_from_the_page(drawings):
    for drawing in drawings.values():
        svg = inlined(drawing.svg)
        assert "http" not in svg and not re.search(r"(fill|stroke): #", svg)
        assert "var(--" in svg


@pytest.mark.parametrize("dark", [False, True])
def test_the_page_defines_every_colour(dark):
    css = files("movers_research").joinpath("templates/report.css").read_text("utf-8")
    light, _, rest = css.partition("@media (prefers-color-scheme: dark)")
    found = dict(re.findall(r"--(\w+): (#\w+);", rest.partition("* {")[0] if dark else light))
    assert set(PALETTE) <= set(found)
    assert dark or {name: found[name] for name in PALETTE} == PALETTE


def test_drawing_leaves_the_settings_alone(results):
    before = dict(matplotlib.rcParams)
    assert figures.stage_figure(results)
    assert dict(matplotlib.rcParams) == before


def test_labels_keep_apart():
    figure = Figure(figsize=(5, 5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.set(xlim=(0, 10), ylim=(0, 10))
    points = [(5 + 0.1 * k, 5 + 0.05 * k) for k in range(10)]
    labels = [Label(x, y, f"label {k}", "black") for k, (x, y) in enumerate(points)]
    place_labels(figure, [Labels(axes, labels, points)])
    notes = [text for text in axes.texts if isinstance(text, Annotation)]
    for note in notes:
        note.update_positions(figure.canvas.get_renderer())
    boxes = [Text.get_window_extent(note) for note in notes]
    assert len(boxes) == 10
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def test_a_label_without_room_is_left_out():
    figure = Figure(figsize=(2, 2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    crowd = [(x, y) for x in np.linspace(0, 1, 40) for y in np.linspace(0, 1, 40)]
    must, may = (Label(0.5, 0.5, "word", "black", optional=optional) for optional in (False, True))
    place_labels(figure, [Labels(axes, [must, may], crowd)])
    assert len(axes.texts) == 1


def test_altered_names_stay_apart():
    assert len({slug("a b"), slug("a/b"), slug("a-b"), slug("é"), slug("è")}) == 5
