import json

import pytest

import movers
from movers.errors import InputError
from movers_research.aligner_scores import IDENTICAL_WORDS, evaluate_alignment, score_links
from movers_research.gold_links import GoldPair, read_gold

SOURCE, TARGET = ("The", "big", "dog", "barks"), ("the", "dog", "howls", "loud")
GOLD = GoldPair(SOURCE, TARGET, frozenset({(0, 0), (2, 1)}), frozenset({(3, 2), (3, 3)}))


def test_metrics_by_hand():
    found = score_links([GOLD], [frozenset({(0, 0), (2, 1), (1, 1), (3, 2)})])
    values = {name: one.value for name, one in found.items()}
    assert values == pytest.approx(
        {
            "f1": 2 * 3 / (4 + 4),
            "precision": 3 / 4,
            "recall": 3 / 4,
            "f1_identical": 1.0,
            "f1_other": 2 * 1 / (2 + 2),
            "f1_null": 2 * 0 / (1 + 1),
            "exact": 0.0,
            "f1_sure": 2 * 2 / (4 + 2),
            "aer": 1 - (2 + 3) / (4 + 2),
        }
    )
    perfect = score_links([GOLD], [GOLD.links])
    assert perfect["f1_sure"].value == 2 * 2 / (4 + 2)
    assert perfect["aer"].value == 0.0
    assert all(perfect[name].value == 1.0 for name in ("f1", "f1_other", "f1_null", "exact"))


def test_intervals_hold_the_value_and_repeat():
    gold = [GOLD, GoldPair(SOURCE, TARGET, frozenset({(0, 0)}))] * 20
    links = [frozenset({(0, 0)})] * 40
    found = score_links(gold, links)
    assert found == score_links(gold, links)
    assert found["f1"].low < found["f1"].value < found["f1"].high


def test_no_error_rate_without_possible_links():
    assert "aer" not in score_links([GoldPair(("a",), ("a",), frozenset({(0, 0)}))], [frozenset()])


def test_every_layout_holds_the_same_links(tmp_path):
    words = " ".join(SOURCE), " ".join(TARGET)
    record = {"source": words[0], "target": words[1], "sureAlign": "0-0 2-1"}
    record["possibleAlign"] = "3-2 3-3"
    layouts = {
        "multimwa.tsv": f"7\t{words[0]}\tN/A\t{words[1]}\tN/A\t1\t1\t0-0 2-1\t3-2 3-3\t\t \n",
        "jacana.json": json.dumps([record]),
        "jacana.jsonl": json.dumps(record) + "\n",
        "bars.txt": f"{words[0]} ||| {words[1]} ||| 0-0 2-1 3?2 3p3\n",
        "source": words[0] + "\n",
        "target": words[1] + "\n",
        "pharaoh": "0-0 2-1 3p2 3?3\n",
        "from_one": "1-1 3-2 4?3 4?4\n",
        "numbered": "1 1 1 S\n1 3 2\n0001 4 3 P\n1 4 4 P\n",
    }
    for name, text in layouts.items():
        (tmp_path / name).write_text(text, "utf-8")
    for name in ("multimwa.tsv", "jacana.json", "jacana.jsonl", "bars.txt"):
        assert read_gold([tmp_path / name]) == [GOLD], name
    for name in ("pharaoh", "from_one", "numbered"):
        files = [tmp_path / part for part in ("source", "target", name)]
        assert read_gold(files, one_based=name == "from_one") == [GOLD], name


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("gold.txt", "a b ||| c ||| 0-1\n", r"outside the 2 and 1 words.*one_based=True"),
        ("gold.txt", "a b ||| c ||| 0:0\n", "'0:0' is no link"),
        ("gold.txt", "a b ||| c ||| 0-0\na\n", "line 2: 1 fields"),
        ("gold.txt", "a b c\n", "no known layout"),
        ("gold.txt", "", "no known layout"),
        (
            "gold.json",
            '{"source": "a", "target": "a", "sureAlign": ""}\n\n{"source": \n',
            "line 3: not JSON",
        ),
        (
            "gold.json",
            '[{"source": 3, "target": "a", "sureAlign": ""}]',
            "record 1, source is 3",
        ),
        (
            "gold.json",
            '[{"source": "a", "target": "a", "sureAlign": [[0, 0]]}]',
            "record 1: links are",
        ),
        ("gold.json", '{"source": "a", "target": "a"}', "line 1: expected an object"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(tmp_path, name, text, complaint):
    path = tmp_path / name
    path.write_text(text, "utf-8")
    with pytest.raises(InputError, match=complaint):
        read_gold([path])


def test_a_wrong_link_of_a_numbered_file_is_named_by_its_sentence(tmp_path):
    for name, text in (("a", "x\ny\n"), ("b", "x\ny\n"), ("c", "1 1 1\n1 1 1\n2 1 7 P\n")):
        (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(InputError, match="c, sentence 2: link 1p7 is outside"):
        read_gold([tmp_path / name for name in "abc"])


def test_files_must_belong_together(tmp_path):
    for name, text in (("a", "x\ny\n"), ("b", "x\n"), ("c", "0-0\n\n")):
        (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(InputError, match="2, 1 and 2 lines"):
        read_gold([tmp_path / name for name in "abc"])
    with pytest.raises(InputError, match="got 2"):
        read_gold([tmp_path / "a", tmp_path / "b"])


def test_a_report_has_a_row_for_every_aligner():
    rows = ["shares", IDENTICAL_WORDS, "plan:wrd"]
    report = evaluate_alignment(movers.load(), [GOLD] * 3, rows, name="tiny")
    assert [*report.scores] == rows
    assert report.to_dict()["scores"]["shares"]["f1"]["value"] > 0.5
    assert str(report).count("\n| ") == 4 and "3 pairs, 6 sure and 6 possible" in str(report)


def test_the_default_aligner_on_development_data(data):
    """A slice of what results/alignment.md has in full: ahead of every other row."""
    path = data / "MTRef" / "mtref-dev.tsv"
    if not path.is_file():
        pytest.skip("no MTRef")
    gold = read_gold([path])[:40]
    report = evaluate_alignment(movers.load(), gold, ["shares", "argmax", "balanced"])
    shares, *others = (metrics["f1"].value for metrics in report.scores.values())
    assert shares > 0.8 and shares > max(others) + 0.01
