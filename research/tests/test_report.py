"""The report says what the results say, escapes what it is given and needs nothing else."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from statistics import mean

import numpy as np
import pytest

from movers_research.outcomes import Illustration, Results, Stage
from movers_research.report import write_report
from movers_research.scores import Column, Gain, Score
from movers_research.structure_gains import VARIANTS, agreements, improvements
from synthetic import METRICS, make_results

VOID = {"meta", "br", "img", "link", "hr"}


@pytest.fixture(scope="module")
def results():
    return make_results()


@pytest.fixture(scope="module")
def folder(results, tmp_path_factory):
    """A complete report."""
    path = tmp_path_factory.mktemp("report")
    write_report(results, path)
    return path


def small(published=True, **changes):
    """Scores on one data set, and nothing else."""
    scores = make_results(published).scores
    return replace(
        Results(facts={}, scores=tuple(s for s in scores if s.column.dataset == "stsb-test")),
        **changes,
    )


def written(results, folder):
    write_report(results, folder)
    return (folder / "report.md").read_text("utf-8"), (folder / "report.html").read_text("utf-8")


def tables(markdown):
    """Every table by the heading above it: a list of rows, the first one its header."""
    found, title = {}, ""
    for line in markdown.splitlines():
        if line.startswith("#"):
            title = unescape(line.lstrip("# "))
        elif line.startswith("|") and not set(line) <= set("|-: "):
            cells = re.split(r"(?<!\\)\|", line)[1:-1]
            found.setdefault(title, []).append([unescape(cell.strip()) for cell in cells])
    return found


def unescape(text):
    return re.sub(r"\\(.)", r"\1", text)


class Page(HTMLParser):
    """A page that was closed properly: its tags, attributes and text."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.attributes, self.text = [], [], [], []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def expected_cells(results, score):
    """What a row of the reference recipe says about a score."""
    column = score.column
    base = [
        other.value
        for other in results.scores
        if other.column == replace(column, method=column.method.removeprefix("wsmd-"), mix=None)
        and column.method.startswith("wsmd-")
    ]
    shown = f"{100 * score.value:.2f} ±{50 * (score.high - score.low):.2f}"
    gain = f"{100 * (score.value - base[0]):+.2f}" if base else ""
    difference = 100 * (score.value - score.published)
    return [shown, gain, f"{100 * score.published:.2f}", f"{difference:+.2f}"]


@pytest.mark.parametrize("dataset", METRICS)
def test_scores_stand_beside_their_gains_and_the_published_ones(results, folder, dataset):
    found = tables((folder / "report.md").read_text("utf-8"))
    name = {"auc": "AUC", "spearman": "Spearman's ρ"}[METRICS[dataset]]
    header, *rows = found[f"{dataset}: {name} × 100"]
    start = header.index("reference, last (6): score")
    assert header[start + 1 : start + 4] == ["vs base", "published", "difference"]
    lines = {row[0]: row[start : start + 4] for row in rows}
    wanted = [
        score
        for score in results.scores
        if score.column.dataset == dataset
        and (score.column.recipe, score.column.embedding) == ("reference", 6)
        and not score.column.method.startswith("lambda-")
    ]
    assert len(wanted) > 40
    for score in wanted:
        layers = {"top1": "layer 5", "BV": "layers 4-6", "all": "layers 1-6"}.get(score.selection)
        label = f"{score.column.method}, {score.selection} ({layers})"
        label = label if score.selection else score.column.method
        mark = "↳ " if score.column.method.startswith("wsmd-") else ""
        cells = [cell.replace("*", "").replace("+0.00", "0.00") for cell in lines[mark + label]]
        expected = [re.sub(r"^[+-]0\.00$", "0.00", cell) for cell in expected_cells(results, score)]
        assert cells == expected


def test_a_star_marks_gains_that_are_sure(tmp_path):
    plain = small()
    column = Column("stsb-test", "wsmd-wmd", "reference", 6, 0.5)
    gains = (
        Gain(column, "all", "wmd", 0.02, 0.01, 0.03, 0.002),
        Gain(column, "BV", "wmd", 0.02, -0.01, 0.05, 0.2),
    )
    markdown, page = written(replace(plain, gains=gains), tmp_path)
    header, *rows = tables(markdown)["stsb-test: Spearman's ρ × 100"]
    heads = [re.fullmatch(r"reference, .*6.*: score", text) is not None for text in header]
    place = heads.index(True) + 1
    cells = {row[0]: row[place] for row in rows}
    assert cells["↳ wsmd-wmd, all (layers 1-6)"].endswith(" *")
    assert not cells["↳ wsmd-wmd, BV (layers 4-6)"].endswith("*")
    assert "95 % interval -1.00 to +5.00; p = 0.200" in page


def test_groups_follow_each_other_and_structure_its_base(folder):
    rows = tables((folder / "report.md").read_text("utf-8"))["stsb-test: Spearman's ρ × 100"]
    labels = [row[0] for row in rows[1:]]
    groups = [label.strip("*") for label in labels if label.startswith("**")]
    assert groups == ["Baselines", "WMD", "WRD", "SynWMD", "SMD"]
    place = labels.index("wrd-idf")
    assert [label.split(",")[0] for label in labels[place + 1 : place + 4]] == [
        "↳ wsmd-wrd-idf"
    ] * 3
    assert not any("lambda" in label for label in labels)


def test_the_best_of_a_column_is_bold(folder, results):
    rows = tables((folder / "report.md").read_text("utf-8"))["stsb-test: Spearman's ρ × 100"]
    place = rows[0].index("paper, input: score")
    bold = {row[place].split("**")[1] for row in rows[1:] if "**" in row[place]}
    best = max(
        score.value
        for score in results.scores
        if score.column.dataset == "stsb-test"
        and (score.column.recipe, score.column.embedding) == ("paper", 0)
        and not score.column.method.startswith("lambda-")
    )
    assert bold == {f"{100 * best:.2f}"}


def test_improvements_average_over_the_variants(results):
    found = {
        (one.dataset, one.recipe, one.embedding, one.selection): one
        for one in improvements(results)
    }
    assert len(found) == 3 * 2 * 2 * 3
    one = found["stsb-test", "reference", 0, "BV"]
    cells = {
        (score.column.method, score.selection): score
        for score in results.scores
        if score.column.dataset == "stsb-test"
        and (score.column.recipe, score.column.embedding) == ("reference", 0)
    }
    pairs = [(cells[f"wsmd-{name}", "BV"], cells[name, ""]) for name in VARIANTS]
    assert one.variants == VARIANTS
    assert one.value == pytest.approx(mean(a.value - b.value for a, b in pairs))
    assert one.published == pytest.approx(mean(a.published - b.published for a, b in pairs))
    assert found["stsb-test", "paper", 0, "BV"].published is None


def test_a_published_mean_needs_the_same_variants():
    scores = [s for s in small().scores if "synwmd" not in s.column.method]
    assert all(len(one.variants) == 4 for one in improvements(small(scores=tuple(scores))))
    some = [replace(s, published=None) if s.column.method == "wsmd-wrd" else s for s in scores]
    assert all(one.published is None for one in improvements(small(scores=tuple(some))))


def test_the_improvement_table_joins_ours_and_published(results, folder):
    header, *rows = tables((folder / "report.md").read_text("utf-8"))["What structure adds"]
    start = header.index("reference, input: ours")
    place = [row[0] for row in rows].index("**stsb-test, Spearman's ρ**")
    row = next(row for row in rows[place:] if row[0] == "↳ BV")
    one = next(
        one
        for one in improvements(results)
        if (one.dataset, one.recipe, one.embedding, one.selection)
        == ("stsb-test", "reference", 0, "BV")
    )
    numbers = one.value, one.published, one.value - one.published
    assert row[start : start + 3] == [f"{100 * number:+.2f}" for number in numbers]


def test_agreement_is_the_correlation_of_ranks(results):
    found = agreements(results)
    assert len(found) == 12
    for one in found:
        ranks = [results.heads[c].ravel().argsort().argsort() for c in (one.first, one.second)]
        assert one.heads == pytest.approx(np.corrcoef(ranks)[0, 1])
        assert (one.head_count, one.layer_count) == (72, 6)
        assert replace(one.first, dataset="") == replace(one.second, dataset="")


def test_agreement_of_nothing_is_not_a_number():
    first, second = (Column(name, "wsmd-wmd", "paper", 0, 0.5) for name in "ab")
    heads = {first: np.ones((2, 3)), second: np.arange(6.0).reshape(2, 3)}
    (one,) = agreements(Results(facts={}, scores=(), heads=heads))
    assert np.isnan(one.heads) and np.isnan(one.layers)
    assert (one.head_count, one.layer_count) == (6, 0)


def test_the_papers_correlation_stands_beside_the_same_data_sets(tmp_path):
    columns = [Column(f"paws-{name}-dev", "wsmd-wmd", "paper", 0, 0.5) for name in ("qqp", "wiki")]
    heads = {column: np.arange(6.0).reshape(2, 3) for column in columns}
    assert "69.30 over 144 heads" in written(Results({}, (), heads=heads), tmp_path)[0]
    heads = {replace(column, dataset=column.dataset + "2"): heads[column] for column in columns}
    assert "69.30" not in written(Results({}, (), heads=heads), tmp_path)[0]


def test_without_published_numbers_nothing_speaks_of_them(tmp_path):
    markdown, html = written(small(published=False), tmp_path)
    assert "published" not in markdown and "published" not in html
    assert "vs base" in markdown and "vs base" in html


def test_what_is_not_there_is_absent(tmp_path):
    markdown, html = written(Results(facts={}, scores=()), tmp_path)
    assert markdown == "# Words and structure: evaluation\n"
    assert "<section" not in html
    assert not (tmp_path / "figures").exists()
    markdown, _ = written(Results(facts={}, scores=(), stages=(Stage("a", 0.0, 1, "b"),)), tmp_path)
    assert re.findall("^## (.*)", markdown, re.MULTILINE) == ["Time"]
    assert [path.name for path in (tmp_path / "figures").iterdir()] == ["stages.svg"]


def test_a_score_that_is_not_a_number_is_a_dash(tmp_path):
    score = Score(Column("a", "wmd", "paper", 0), "", "", "auc", *[float("nan")] * 3, pairs=0)
    markdown, _ = written(Results(facts={}, scores=(score,)), tmp_path)
    assert tables(markdown)["a: AUC × 100"][-1] == ["wmd", "–"]


def test_odd_names_come_out_as_they_went_in(tmp_path):
    dataset, method = 'a|b<i>&amp;"$x$', "*m*_<script>alert(1)</script>"
    score = Score(Column(dataset, method, "paper", 0), "", "", "auc", 0.5, 0.4, 0.6, pairs=9)
    pair = Illustration("<b>|</b>", "`x` & \\y", {"w|m": 1.0})
    facts = {"<k>|": "v|</style><b>"}
    odd = Results(facts, (score,), illustrations=(pair,), notes=("<a> & [b](c)",))
    odd = replace(odd, variability={dataset: np.ones((2, 2))}, contextual={dataset: (1,)})
    markdown, html = written(odd, tmp_path)
    found = tables(markdown)
    assert found[f"{dataset}: AUC × 100"][-1] == [method, "**50.00** ±10.00"]
    assert found["This run"][-1] == ["<k>|", "v|</style><b>"]
    for rows in found.values():
        assert len({len(row) for row in rows}) == 1
    page = Page(html)
    assert "script" not in page.tags and "b" in page.tags
    for text in (dataset, method, "v|</style><b>", "<a> & [b](c)"):
        assert text in "\n".join(page.text)


def test_the_page_is_complete_in_itself(folder):
    html = (folder / "report.html").read_text("utf-8")
    page = Page(html)
    assert not re.search("https?:", html)
    assert not {"script", "link", "img", "iframe"} & set(page.tags)
    targets = [value for name, value in page.attributes if name in ("href", "xlink:href", "src")]
    ids = [value for name, value in page.attributes if name == "id"]
    assert targets and all(target.startswith("#") and target[1:] in ids for target in targets)
    assert len(ids) == len(set(ids))
    assert page.tags.count("svg") == len(list((folder / "figures").iterdir()))
    assert all(name in html for name in ("prefers-color-scheme: dark", "@media print"))


def test_markdown_links_every_figure(folder):
    linked = re.findall(r"\]\((figures/.*?)\)", (folder / "report.md").read_text("utf-8"))
    assert sorted(linked) == sorted(f"figures/{p.name}" for p in (folder / "figures").iterdir())


def test_a_second_report_has_the_same_bytes(results, tmp_path):
    """A panel in each kind of figure is enough to see it."""

    def chosen(column):
        return (column.recipe, column.embedding) == ("paper", 0)

    some = replace(
        results,
        scores=tuple(score for score in results.scores if chosen(score.column)),
        heads={column: heads for column, heads in results.heads.items() if chosen(column)},
        layer_means={c: means for c, means in results.layer_means.items() if chosen(c)},
    )
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        write_report(some, folder)
    paths = [path.relative_to(first) for path in first.rglob("*.*")]
    assert len(paths) > 10
    for path in paths:
        assert (second / path).read_bytes() == (first / path).read_bytes(), path
