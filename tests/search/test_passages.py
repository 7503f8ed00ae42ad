"""Texts found by their sentences: the nearest by comparing everything, from memory and disk."""

import errno
import io
import json

import numpy as np
import pytest

import movers
from movers import cli
from movers.errors import InputError, StorageError
from movers.search import cosine
from movers.search import folder as folder_module
from movers.search.index import Index
from movers.search.mining import mine
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
    return Index.build(scorer.using(texts="sentences"), texts)


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
    Index.build(scorer.using(texts="sentences"), texts, tmp_path / "texts.index")
    opened = Index.open(tmp_path / "texts.index", verify=True)
    assert len(opened) == len(texts) and opened.sentences == texts
    first, second = (one.search(QUERIES[0], 3) for one in (index, opened))
    assert first.matches == second.matches
    with pytest.raises(InputError, match="the query is empty"):
        opened.search("  ")


@pytest.fixture(scope="module")
def long():
    rng = np.random.default_rng(6)
    return [" ".join(agreement(rng, 450).sentences) for _ in range(3)]


@pytest.fixture(scope="module")
def mixed(scorer, long):
    """Short texts, of which one is a sentence of a long one as well, and long ones."""
    inner = scorer.document(long[1]).sentences[4].text
    return ["A dog barks.", long[0], inner, "It rains. It snows.", long[1], "A dog barks.", long[2]]


@pytest.mark.parametrize("where", ["memory", "disk"])
def test_short_texts_stay_whole_beside_long_ones(scorer, mixed, tmp_path, where):
    folder = None if where == "memory" else tmp_path / "index"
    index = Index.build(scorer, iter(mixed), folder)
    distinct = list(dict.fromkeys(mixed))
    assert index.sentences == distinct and len(index) == 6 < len(index.corpus)
    assert repr(index).startswith("Index(6 texts of ")
    found = index.search("It rains. It snows.", top_k=6)
    assert found[0].text == "It rains. It snows." and found[0].distance == 0.0
    assert sorted(match.index for match in found) == [*range(6)] and found.certified
    assert not any(match.unread for match in found)
    whole = scorer.distances([(found.query, text) for text in (distinct[0], distinct[2])])
    assert [m.distance for n in (0, 2) for m in found if m.index == n] == whole.tolist()
    inner = index.search(distinct[2], top_k=2, align=1)
    assert [match.distance for match in inner] == [0.0, 0.0]
    assert {match.index for match in inner} == {2, 4}  # by itself, and in the long text
    assert inner.comparisons[0].distance == 0.0


def test_texts_are_added_and_deleted(scorer, mixed, long, tmp_path):
    index = Index.build(scorer, mixed[:1], tmp_path / "index")
    assert index.texts.table is None and index.add(mixed[1:]) == 5
    assert index.sentences == list(dict.fromkeys(mixed))
    assert index.add([long[0], *mixed[:2]]) == 0
    sentence = scorer.document(long[1]).sentences[-1].text
    assert index.search(sentence, 1)[0].text == long[1]
    assert index.delete([long[1], "no such text"]) == 1
    assert index.search(sentence, 1)[0].text != long[1]
    assert index.search(mixed[2], 1)[0].distance == 0.0  # it is also a text of its own
    assert index.compact() > 0
    opened = Index.open(tmp_path / "index")
    assert opened.sentences == index.sentences and long[1] not in opened.sentences
    assert opened.search(mixed[2], 3).matches == index.search(mixed[2], 3).matches
    opened.save(tmp_path / "copy")
    assert Index.open(tmp_path / "copy").search(mixed[2], 3).matches == (
        index.search(mixed[2], 3).matches
    )


def test_a_text_of_more_sentences_than_a_shard_is_added(scorer, mixed, long, tmp_path, monkeypatch):
    monkeypatch.setattr(cosine, "CAPACITY", {"text": 3, "words": 3})
    for folder in (None, tmp_path / "index"):
        index = Index.build(scorer, mixed[:1], folder)
        assert index.add([long[0]]) == 1 and index.sentences[-1] == long[0]


def test_a_long_query_is_asked_by_its_sentences(scorer, mixed, long):
    plain = Index.build(scorer, ["A dog barks.", "The buyer pays for the crane."])
    found = plain.search(long[0], top_k=2)
    asked = scorer.document(long[0]).sentences
    words = np.array([one.words for one in asked], float)
    apart = scorer.matrix([one.text for one in asked], plain.sentences)
    expected = words @ apart / words.sum()
    assert [match.index for match in found] == np.argsort(expected).tolist()
    assert np.allclose([match.distance for match in found], np.sort(expected))
    assert Index.build(scorer, mixed).search(long[2], top_k=1)[0].distance == 0.0


def test_candidates_guards_and_within_hold_of_sentences(scorer, mixed, long):
    index = Index.build(scorer, mixed)
    sentence = scorer.document(long[0]).sentences[2].text
    (first,) = index.search(sentence, 3, within=1e-9)
    assert first.text == long[0] and first.passages[0].index == 2
    some = index.search(sentence, 2, candidates=[0, 3])
    assert [match.index for match in some] == [0, 3] and not some.certified
    other = scorer.document(long[0]).sentences[0].text.replace("55", "56")
    index.add(["He stores the rig for 56 years."])
    free, guarded = (index.search(other, 1, guards=one)[0] for one in ((), ["numbers"]))
    assert free.text == long[0] and "55" in free.passages[0].text
    assert guarded.text == "He stores the rig for 56 years."


def test_mining_compares_whole_texts_and_long_ones(scorer, mixed, long):
    near = long[0].replace(" pays ", " has to pay ", 1)
    index = Index.build(scorer, [*mixed, "The dog barks.", near])
    pairs = [pair for block in mine(index, 0.2) for pair in block]
    found = {(pair.source, pair.target): pair for pair in pairs}
    assert set(found) == {("A dog barks.", "The dog barks."), (long[0], near)}
    for pair in pairs:
        assert (index.sentence(pair.first), index.sentence(pair.second)) == (
            pair.source, pair.target,
        )  # fmt: skip
        assert pair.distance == scorer.distances([(pair.source, pair.target)])[0]


@pytest.mark.parametrize("piped", [False, True])
def test_commands_take_long_texts_as_they_are(tmp_path, capsys, monkeypatch, piped):
    rng = np.random.default_rng(6)
    texts = [" ".join(agreement(rng, 500).sentences) for _ in range(4)]
    file, folder = tmp_path / "texts.txt", tmp_path / "texts.index"
    file.write_text("\n".join([*texts, "The dog sleeps in the garden."]), "utf-8")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(file.read_bytes())))
    for command in (
        ["index", "-" if piped else str(file), "-o", str(folder), "--quiet"],
        ["search", str(folder), "the dog is asleep in the garden", "-k", "1", "--json"],
    ):
        with pytest.raises(SystemExit) as ended:
            cli.main(command)
        assert ended.value.code == 0
    (match,) = json.loads(capsys.readouterr().out)["matches"]
    assert match["index"] == 4 and match["passages"][0]["distance"] == match["distance"]
    found = Index.open(folder).search(texts[2], 1)[0]
    assert found.index == 2 and found.distance == 0.0


def test_a_table_that_cannot_be_written_changes_nothing(scorer, long, tmp_path, monkeypatch):
    index = Index.build(scorer, ["A dog barks.", long[0]], tmp_path / "index")
    replacing = folder_module.replacing

    def full(path):
        if path.name.startswith("texts-"):
            raise OSError(errno.ENOSPC, "No space left on device")
        return replacing(path)

    before = {path.name for path in (tmp_path / "index").iterdir()}
    with monkeypatch.context() as patch:
        patch.setattr(folder_module, "replacing", full)
        with pytest.raises(StorageError, match=r"No space left .*; the index keeps its old state"):
            index.add([long[1]])
    assert {path.name for path in (tmp_path / "index").iterdir()} == before
    assert Index.open(tmp_path / "index", verify=True).sentences == ["A dog barks.", long[0]]
    assert index.add([long[1]]) == 1 and len(index) == 3
