"""Texts found by their sentences: the nearest by comparing everything, from memory and disk."""

import json

import numpy as np
import pytest

import movers
from movers import cli
from movers.errors import InputError
from movers.search.passages import PassageIndex
from movers_research.long_texts import agreement


@pytest.fixture(scope="module")
def scorer():
    return movers.load()


@pytest.fixture(scope="module")
def texts():
    rng = np.random.default_rng(5)
    return [" ".join(agreement(rng, 150).sentences) for _ in range(12)]


@pytest.fixture(scope="module")
def index(scorer, texts):
    return PassageIndex.build(scorer, texts)


QUERIES = (
    "The buyer pays for the crane.",
    "The warranty of the lathe. Spare parts are kept in stock for years by the seller.",
)


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("top_k", [1, 4, 20])
def test_texts_are_those_of_comparing_everything(scorer, texts, index, query, top_k):
    asked = scorer.document(query).sentences
    weights = np.array([one.words for one in asked], float)
    expected = []
    for text in texts:
        parts = [one.text for one in scorer.document(text).sentences]
        nearest = scorer.matrix([one.text for one in asked], parts).min(axis=1)
        expected.append(float(weights @ nearest / weights.sum()))
    found = index.search(query, top_k)
    order = np.argsort(expected, kind="stable")[:top_k]
    assert [match.index for match in found] == order.tolist() and found.certified
    assert np.allclose([match.distance for match in found], np.array(expected)[order])
    for match in found:
        assert all(one.text in match.text for one in match.passages)
        assert match.similarity is not None


def test_an_index_of_a_folder_answers_alike(index, texts, scorer, tmp_path):
    PassageIndex.build(scorer, texts, tmp_path / "texts.index")
    opened = PassageIndex.open(tmp_path / "texts.index")
    assert len(opened) == len(texts)
    first, second = (one.search(QUERIES[0], 3) for one in (index, opened))
    assert [m.index for m in first] == [m.index for m in second]
    with pytest.raises(InputError, match=r"no texts\.jsonl"):
        PassageIndex.open(tmp_path)
    with pytest.raises(InputError, match="the query is empty"):
        opened.search("  ")


def test_commands_take_long_texts_as_they_are(tmp_path, capsys):
    rng = np.random.default_rng(6)
    texts = [" ".join(agreement(rng, 500).sentences) for _ in range(4)]
    file, folder = tmp_path / "texts.txt", tmp_path / "texts.index"
    file.write_text("\n".join([*texts, "The dog sleeps in the garden."]), "utf-8")
    for command in (
        ["index", str(file), "-o", str(folder), "--quiet"],
        ["search", str(folder), "the dog is asleep in the garden", "-k", "1", "--json"],
    ):
        with pytest.raises(SystemExit) as ended:
            cli.main(command)
        assert ended.value.code == 0
    (match,) = json.loads(capsys.readouterr().out)["matches"]
    assert match["index"] == 4 and match["passages"][0]["distance"] == match["distance"]
