"""Texts of any length: the distance, what changed, and that nothing unread is ever the same."""

import itertools
import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import movers
from movers import cli
from movers.documents.changes import judge_pair
from movers.documents.comparison import TextComparison
from movers.errors import InputError
from movers.runtime.notices import TruncationWarning
from movers.search.mining import near_texts
from movers_research.long_texts import agreement, run_cases, run_edits

OPENING = (
    "The parties to this agreement have met on the third of May and agreed on these terms. "
    "The house at Mill Lane has four rooms, a kitchen and a garden behind the wall. "
    "The landlord lets the house to the tenant for five years, with all that belongs to it. "
) * 12
ENDINGS = {
    "own": "The tenant shall pay the landlord 900 pounds a month.",
    "roles": "The landlord shall pay the tenant 900 pounds a month.",
    "negation": "The tenant shall not pay the landlord 900 pounds a month.",
    "number": "The tenant shall pay the landlord 950 pounds a month.",
}
CONTRACTS = {name: OPENING + ending for name, ending in ENDINGS.items()}
OWN = CONTRACTS["own"]


@pytest.fixture(scope="module")
def scorer(embedded):
    return embedded.using("movers", layers=None)


@pytest.fixture(scope="module")
def whole(scorer):
    return scorer.using(texts="whole")


@pytest.mark.parametrize("kind", ["roles", "negation", "number"])
def test_contracts_with_another_end_are_not_the_same(scorer, kind):
    found = scorer.compare(OWN, CONTRACTS[kind])
    assert isinstance(found, TextComparison)
    assert (
        found.verdict == f"Alike, but 1 sentence says something else: {found.similarity:.2f} alike."
    )
    first = found.gravest[0]
    assert (first.fate, first.verdict) == ("changed", kind)
    assert found.target_words[first.target] == ENDINGS[kind]
    assert found.similarity < 0.75
    span = found.differences[0].target_span
    assert span is None or found.target[slice(*span)] in ENDINGS[kind]


def test_the_same_text_is_the_same(scorer):
    found = scorer.compare(OWN, OWN)
    assert (
        found.distance == 0.0 and found.gravest == () and found.verdict == "The same: 1.00 alike."
    )


def test_distance_is_symmetric_and_on_the_scale(scorer):
    texts = [*CONTRACTS.values(), "A dog barks."]
    matrix = scorer.matrix(texts)
    assert np.array_equal(matrix, matrix.T) and not matrix.diagonal().any()
    assert (matrix <= scorer.far + 1e-12).all()
    back = [scorer.distances([(b, a)])[0] for a, b in itertools.pairwise(texts)]
    assert np.allclose(back, np.diagonal(matrix, 1))


def test_short_texts_keep_every_bit(scorer, whole):
    pairs = [("a dog chases a cat", "a cat chases a dog"), ("One. Two!", "Three. One.")]
    assert np.array_equal(scorer.distances(pairs), whole.distances(pairs))
    beside = scorer.distances([*pairs, (OWN, CONTRACTS["roles"])])
    assert np.array_equal(beside[:2], whole.distances(pairs))
    assert beside[2] == scorer.compare(OWN, CONTRACTS["roles"]).distance
    assert np.array_equal(scorer.matrix(pairs[0]), whole.matrix(pairs[0]))


def test_one_sentence_costs_what_the_sentence_costs(scorer):
    pair = "The dog sleeps in the garden.", "The dog is asleep in the garden."
    found = scorer.compare_texts(*pair)
    assert found.parts["sentences"] == pytest.approx(scorer.distances([pair])[0])


def test_what_becomes_of_sentences(scorer):
    old = (
        "The landlord lets the house to the tenant.",
        "The tenant pays 900 pounds a month.",
        "Dogs are not allowed.",
        "The garden may be used by the neighbours.",
        "The tenant must tell the landlord about any damage at once.",
    )
    new = (
        "The tenant must inform the landlord about any damage immediately.",
        "The landlord lets the house to the tenant.",
        "The tenant pays 950 pounds a month.",
        "Dogs are not allowed.",
        "Smoking is forbidden in all rooms.",
    )
    found = scorer.compare(old, new)
    fates = {one.source: (one.fate, one.target, one.moved) for one in found.changes}
    assert fates[0] == ("same", 1, False) and fates[2] == ("same", 3, False)
    assert fates[1] == ("changed", 2, False) and fates[4] == ("reworded", 0, True)
    assert fates[3] == ("missing", None, False)
    assert [one.target for one in found.changes if one.fate == "new"] == [4]
    assert [one.target for one in found.changes] == [0, 1, 2, 3, None, 4]
    assert [one.fate for one in found.gravest] == ["changed", "missing", "new", "reworded"]
    assert json.loads(json.dumps(found.to_dict()))["changes"][2]["verdict"] == "number"
    assert sum(found.parts.values()) == found.distance
    assert "950" in found.story[0] and str(found).startswith("movers 0.")


def test_a_term_in_place_of_another_is_a_change(scorer):
    old = (*CONTRACTS["own"].split(". ")[:6], "The landlord keeps the roof in repair.")
    new = (*old[:-1], "The tenant keeps the roof in repair.")
    assert scorer.compare(old, new).gravest[0].verdict == "term"


def test_other_words_are_told_from_words_that_mean_something_else(scorer):
    table = Path(__file__).with_name("labelled_replacements.tsv").read_text("utf-8")
    rows = [line.split("\t") for line in table.splitlines()[1:]]
    similarities = scorer.similarities([(source, target) for _, source, target in rows])
    found = [
        judge_pair(source, target, float(alike))[0] == "replaced"
        for (_, source, target), alike in zip(rows, similarities, strict=True)
    ]
    right = [one == (label == "1") for one, (label, *_) in zip(found, rows, strict=True)]
    assert len(rows) > 50 and sum(right) >= 0.9 * len(rows)


@pytest.mark.parametrize(
    ("source", "target", "says"),
    [
        ("return x + 77", "return x - 77", "A alone has “+”."),
        ("if x < 3:", "if x > 3:", "“<” in A, “>” in B."),
        ("a = 3;", "a += 3;", "“=” in A, “+” in B."),
        ("He’s “here”, now.", "He's here now.", ""),
        ("- `code` and *more*", "* code and more", ""),
    ],
)
def test_a_sign_in_place_of_another_is_told(source, target, says):
    fate, _, found = judge_pair(source, target, 0.99)
    assert (fate, "".join(one.text for one in found)) == ("replaced" if says else "reworded", says)


def test_a_change_counts_however_much_of_its_sentence_is_new(scorer):
    owed = "On termination the Buyer shall pay the Supplier a compensation of 5,000 pounds."
    none = "On termination no party shall pay the other any compensation."
    found = scorer.compare(OPENING + owed, OPENING + none)
    (change,) = found.gravest
    assert change.verdict == "negation" and len(change.differences) > 3
    assert change.weight > 0.3 and found.similarity < 0.85
    nearer = [replace(change, similarity=alike).weight for alike in (0.5, 0.6, 0.8, 0.99)]
    assert nearer[0] == 1.0 and nearer == sorted(nearer, reverse=True) and nearer[-1] < 0.01


def test_order_reworded_shuffled_changed(scorer):
    found = {name: float(np.median(values)) for name, values in run_edits(scorer, 6).items()}
    values = list(found.values())
    assert values == sorted(values, reverse=True) and values[0] == 1.0 and values[1] < 1.0, found


def test_generated_agreements_name_the_change_first(scorer):
    found = run_cases(scorer, 9, seed=7)
    assert not any(one.same for one in found)
    assert sum(one.first for one in found) >= 8


def test_a_sentence_longer_than_the_model_is_cut_and_told(scorer):
    clause = "the garden belongs to house number {}, which has a red roof and a green door"
    text = "It is agreed that " + ", and ".join(clause.format(n) for n in range(60)) + "."
    other = text.replace("number 58", "number 85")
    found = scorer.compare(text, other)
    assert "1 sentence of A, longer than the model reads" in found.story[0]
    assert found.gravest[0].verdict == "number" and found.similarity < 1


def test_blank_texts_have_no_distance(scorer):
    with pytest.raises(InputError, match="the target is empty"):
        scorer.compare(OWN, "  ")
    with pytest.warns(movers.runtime.notices.UndefinedWarning):
        assert np.isnan(scorer.distances([(OWN, "")])[0])


def test_a_measure_that_cannot_says_so(scorer):
    words = scorer.using("wmd")
    with pytest.raises(InputError, match="wmd does not compare texts sentence by sentence"):
        words.compare(["A dog barks."], ["A cat sleeps."])
    with pytest.raises(InputError, match="texts='auto'"):
        words.using(texts="sentences").distances([("a dog", "a cat")])
    with pytest.raises(InputError, match="longer than the model"):
        scorer.explain(OWN, CONTRACTS["roles"])


@pytest.mark.filterwarnings("ignore::movers.runtime.notices.TruncationWarning")
def test_nothing_unread_is_the_same(whole):
    found = whole.compare(OWN, OWN.replace("shall pay", "must pay"))
    assert found.distance < 1e-9 and found.source_unread and found.judged is None
    assert "ot all was read" in found.verdict and not found.verdict.startswith("The same")
    assert whole.compare(OWN, OWN).verdict == "The same: 1.00 alike."
    ranking = whole.rank("a house", [OWN, "a dog"])
    assert {match.text: match.unread > 10 for match in ranking} == {OWN: True, "a dog": False}


def test_frames_count_what_was_not_read(scorer, whole):
    frame = pd.DataFrame({"source": [OWN, "a dog"], "target": [CONTRACTS["roles"], "a cat"]})
    with pytest.warns(TruncationWarning):
        cut = whole.score(frame)
    assert cut["unread"].tolist()[1] == 0 < cut["unread"].tolist()[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read = scorer.score(frame)
    assert read["unread"].tolist() == [0, 0] and read["similarity"][0] < 0.75


def main(arguments):
    """The status that a command ends with."""
    try:
        return cli.main(arguments)
    except SystemExit as ended:
        return ended.code


def lines(tmp_path):
    file = tmp_path / "contracts.txt"
    file.write_text("\n".join([*CONTRACTS.values(), "a dog barks"]), "utf-8")
    return file


@pytest.mark.filterwarnings("ignore::movers.runtime.notices.TruncationWarning")
@pytest.mark.parametrize("options", [[], ["--texts", "whole"], ["--guard", "none"]])
def test_dedupe_drops_no_contract(tmp_path, options):
    output, dropped = tmp_path / "kept.txt", tmp_path / "dropped.tsv"
    given = [str(lines(tmp_path)), "--threshold", "0.05", "-o", str(output), "--quiet"]
    assert main(["dedupe", *given, "--dropped", str(dropped), *options]) == 0
    assert output.read_text("utf-8").splitlines() == [*CONTRACTS.values(), "a dog barks"]
    assert "unread" in dropped.read_text("utf-8").splitlines()[0].split("\t")


def test_dedupe_drops_long_texts_that_repeat(tmp_path):
    file, output, dropped = (tmp_path / name for name in ("texts.txt", "kept.txt", "dropped.jsonl"))
    reworded = OWN.replace("agreed on these terms", "agreed upon these terms")
    file.write_text("\n".join([OWN, "a dog barks", reworded, CONTRACTS["number"]]), "utf-8")
    given = [str(file), "--threshold", "0.05", "-o", str(output), "--dropped", str(dropped)]
    assert main(["dedupe", *given, "--quiet"]) == 0
    assert output.read_text("utf-8").splitlines() == [OWN, "a dog barks", CONTRACTS["number"]]
    (row,) = map(json.loads, dropped.read_text("utf-8").splitlines())
    assert (row["line"], row["of_line"], row["unread"]) == (3, 1, 0) and row["distance"] <= 0.05


def test_dedupe_takes_long_texts_alone(tmp_path):
    file, output = tmp_path / "texts.txt", tmp_path / "kept.txt"
    file.write_text("\n".join([OWN, OWN.replace("on these", "upon these")]), "utf-8")
    assert main(["dedupe", str(file), "--threshold", "0.05", "-o", str(output), "--quiet"]) == 0
    assert output.read_text("utf-8").splitlines() == [OWN]


@pytest.mark.filterwarnings("ignore::movers.runtime.notices.TruncationWarning")
def test_mine_finds_pairs_of_long_texts(tmp_path):
    output = tmp_path / "pairs.jsonl"
    given = ["--threshold", "0.35", "-o", str(output), "--quiet"]
    assert main(["mine", str(lines(tmp_path)), *given]) == 0
    found = list(map(json.loads, output.read_text("utf-8").splitlines()))
    assert len(found) == 6 and all(0.2 < one["distance"] < 0.35 for one in found)
    assert {one["source"] for one in found} <= {*CONTRACTS.values()}
    assert {one["unread"] for one in found} == {0}
    output.unlink()
    assert main(["mine", str(lines(tmp_path)), *given, "--texts", "whole"]) == 0
    found = list(map(json.loads, output.read_text("utf-8").splitlines()))
    assert len(found) == 6 and all(one["unread"] > 0 for one in found)


def test_near_texts_are_those_of_the_whole_matrix(scorer):
    rng = np.random.default_rng(3)
    base = [agreement(rng, 500).sentences for _ in range(4)]
    texts = []
    for number, sentences in enumerate(base):
        texts += [" ".join(sentences), " ".join(sentences[: len(sentences) - number])]
    matrix = scorer.using(texts="sentences").matrix(texts)
    for threshold in (0.0, 0.35, 0.5):
        index = movers.Index.build(scorer, texts)
        found = near_texts(scorer, dict(enumerate(texts)), threshold, index.vectors)
        near = np.argwhere(np.triu(matrix <= threshold, 1))
        assert [one[:2] for one in found] == list(map(tuple, near.tolist()))


@pytest.mark.filterwarnings("ignore::movers.runtime.notices.TruncationWarning")
def test_strict_ends_with_a_status_of_its_own(tmp_path, capsys):
    table = tmp_path / "pairs.tsv"
    table.write_text(f"source\ttarget\n{OWN}\t{CONTRACTS['roles']}\n", "utf-8")
    score = ["score", str(table), "-o", str(tmp_path / "out.tsv"), "--quiet", "--strict"]
    assert main(score) == 0
    assert (tmp_path / "out.tsv").read_text("utf-8").splitlines()[1].endswith("\t0")
    assert main([*score, "--texts", "whole"]) == 3
    assert "did not read 1 text" in capsys.readouterr().err
    assert not (tmp_path / "out.tsv").read_text("utf-8").splitlines()[1].endswith("\t0")
    compare = ["compare", OWN, CONTRACTS["roles"], "--strict"]
    assert main(compare) == 0 and main([*compare, "--texts", "whole"]) == 3
    assert main(["rank", "a house", str(lines(tmp_path)), "--strict", "--texts", "whole"]) == 3


def test_diff_shows_what_says_something_else(tmp_path, capsys):
    folder = [f"examples/data/lease_{name}.txt" for name in ("old", "new")]
    assert main(["diff", *folder, "--html", str(tmp_path / "page.html")]) == 1
    shown = capsys.readouterr().out
    assert "950 pounds" in shown and "Smoking" in shown and "garden" in shown
    assert "inform the landlord" not in shown  # reworded and moved
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "950 pounds" in page and "//" not in page.split("<script")[0]
    assert main(["diff", folder[0], folder[0], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["distance"] == 0
