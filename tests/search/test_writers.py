"""What writers leave of an index: each other's sentences, its statistics, and few shards."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
from corpus import make_corpus

import movers
from movers.errors import InputError
from movers.search import layouts
from movers.search.index import Index

QUERY = "the press greets the president"


@pytest.fixture
def folder(bert, corpus, small_shards, tmp_path):
    Index.build(bert, corpus[:40], tmp_path / "index")
    return tmp_path / "index"


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_two_handles_see_what_the_other_adds(bert, corpus, folder):
    one, two = (Index.open(folder, scorer=bert) for _ in range(2))
    one.add(corpus[40:50])
    two.add(corpus[45:60])
    assert two.sentences == corpus[:60]
    found = one.search(corpus[55], 1)
    assert found[0].index == 55 and found.pruning.corpus == 60 and len(one) == 60
    assert Index.open(folder, scorer=bert, verify=True).sentences == corpus[:60]


def test_writers_at_the_same_time_are_refused(bert, corpus, folder):
    holder = Index.open(folder, scorer=bert)

    def source():
        yield corpus[40]
        for meddle in (
            lambda: Index.open(folder, scorer=bert).add(corpus[41:]),
            lambda: Index.build(bert, corpus[:3], folder, replace=True),
        ):
            with pytest.raises(InputError, match=r"index' is being written by process \d+ on "):
                meddle()

    assert holder.add(source()) == 1
    assert Index.open(folder, scorer=bert, verify=True).sentences == corpus[:41]


@pytest.mark.parametrize("corpus_left", [0, 1, 40])
def test_a_replacement_that_fails_leaves_the_old(bert, folder, corpus_left):
    before = files(folder)

    def source():
        yield from make_corpus(50, seed=1)[:corpus_left]
        if corpus_left:
            raise OSError("the source is gone")

    with pytest.raises((InputError, OSError), match=r"no sentence to index|^the source is gone$"):
        Index.build(bert, source(), folder, replace=True)
    assert before.items() <= files(folder).items()
    Index.open(folder, scorer=bert).add(["a dog"])
    assert len(Index.open(folder, scorer=bert, verify=True)) in (40, 41)
    assert len(files(folder)) == len(before), "the next writer removes what the other left"


def test_a_replacement_removes_the_old_shards(bert, corpus, folder):
    old = Index.open(folder, scorer=bert)
    expected = old.search(QUERY, 5)
    Index.build(bert, corpus[40:], folder, replace=True)
    assert old.search(QUERY, 5).matches != expected.matches, "an open index follows"
    names = {path.name for path in folder.iterdir()}
    assert names == Index.open(folder).files.manifest.names | {"manifest.json"}
    assert Index.open(folder, verify=True).sentences == corpus[40:]
    Index.build(bert.using("wmd"), corpus, folder, replace=True)
    with pytest.raises(InputError, match=r"was replaced by .*method:wmd.*; open it again"):
        old.search(QUERY)


def test_failed_adds_leave_nothing(bert, corpus, folder):
    before = files(folder)

    def source():
        yield from corpus[40:]
        raise KeyboardInterrupt

    index = Index.open(folder, scorer=bert)
    with pytest.raises(KeyboardInterrupt):
        index.add(source())
    assert files(folder) == before and index.sentences == corpus[:40]
    (folder / "shard-of-a-killed-writer.safetensors").touch()
    index.add(corpus[40:42])
    assert not (folder / "shard-of-a-killed-writer.safetensors").exists()


def test_an_index_that_is_gone_gets_no_sentences(bert, corpus, folder):
    index = Index.open(folder, scorer=bert)
    expected = index.search(QUERY, 3).matches
    shutil.rmtree(folder)
    assert index.search(QUERY, 3).matches == expected
    with pytest.raises(InputError, match="no index in"):
        index.add(["a dog"])
    assert not (folder / "manifest.json").exists()


def test_an_index_keeps_its_own_statistics(tiny, corpus, tmp_path):
    scorer = movers.load("wsmd", tiny("bert")).fit(corpus[:30])
    index = Index.build(scorer, corpus[:30], tmp_path / "index")
    kept, signature = Index.build(scorer, corpus[:30]), str(scorer.signature)
    expected = index.search(QUERY, 5).matches
    scorer.fit(corpus[60:])
    index.scorer.fit(corpus[60:])
    assert str(scorer.signature) != signature
    assert index.search(QUERY, 5).matches == kept.search(QUERY, 5).matches == expected
    index.add(corpus[30:40])
    opened = Index.open(tmp_path / "index")
    assert str(opened.scorer.signature) == str(index.scorer.signature) == signature
    assert opened.search(QUERY, 5).matches == index.search(QUERY, 5).matches
    given = Index.open(tmp_path / "index", scorer=scorer)
    with pytest.raises(InputError, match="the index was built with"):
        given.search(QUERY)


@pytest.mark.parametrize("stored", [True, False])
def test_sentences_added_one_by_one_stay_in_few_shards(bert, tmp_path, monkeypatch, stored):
    texts = make_corpus(140)
    monkeypatch.setattr(layouts, "WORDS", replace(layouts.WORDS, capacity=100))
    once = Index.build(bert, texts)
    index = Index.build(bert, texts[:1], tmp_path / "index" if stored else None)
    for text in texts[1:]:
        assert index.add([text, texts[0]]) == 1
    assert index.sentences == texts and len(index.shards) <= 5
    assert max(map(len, index.shards)) <= 100
    assert index.search(QUERY, 20).matches == once.search(QUERY, 20).matches
    if stored:
        assert len(list((tmp_path / "index").iterdir())) == len(index.shards) + 2


def broken_off(bert, corpus, folder, monkeypatch):
    """A build that stopped after its first shards; how many shards were made is counted."""
    made, original = [], layouts.WORDS.make

    def counting(scorer, chunk, *, progress=False):
        made.append(list(chunk))
        if len(made) == 3:
            raise KeyboardInterrupt
        return original(scorer, chunk, progress=progress)

    monkeypatch.setattr(layouts, "WORDS", replace(layouts.WORDS, make=counting))
    with pytest.raises(KeyboardInterrupt):
        Index.build(bert, corpus, folder)
    return made


@pytest.mark.parametrize("tail", [0, 1, 4096])
def test_a_resumed_build_trusts_only_what_is_whole(
    bert, corpus, small_shards, tmp_path, monkeypatch, tail
):
    made = broken_off(bert, corpus, tmp_path / "index", monkeypatch)
    first, _ = sorted((tmp_path / "index").glob("shard-*"))
    content = first.read_bytes()
    first.write_bytes(content[: len(content) - tail] + bytes(tail))
    Index.build(bert, corpus, tmp_path / "index")
    assert len(made) == 3 + (2 if tail == 0 else 3)
    opened = Index.open(tmp_path / "index", scorer=bert, verify=True)
    assert opened.sentences == corpus
    assert opened.search(QUERY, 9).matches == Index.build(bert, corpus).search(QUERY, 9).matches


def test_lines_that_hold_line_breaks_are_not_mixed_up(bert, small_shards, tmp_path):
    Index.build(bert, ["a dog\na fox"], tmp_path / "index")
    Index.build(bert, ["a dog", "a fox"], tmp_path / "index", replace=True)
    assert Index.open(tmp_path / "index", scorer=bert).sentences == ["a dog", "a fox"]


def places(size):
    """Bytes to damage: the first, the last, and some between."""
    return sorted({0, 1, 7, size - 1, *np.linspace(8, size - 2, 25).astype(int).tolist()})


def answer(folder):
    """What a search finds, or the error."""
    try:
        return Index.open(folder).search(QUERY, 40).matches
    except InputError as error:
        return str(error)


@pytest.mark.parametrize("kind", ["flipped", "zeroed"])
def test_damage_anywhere_is_found_on_first_use_or_changes_nothing(folder, kind):
    expected = answer(folder)
    assert len(expected) == 40
    for path in sorted(folder.iterdir()):
        original = path.read_bytes()
        for place in places(len(original)):
            content = bytearray(original)
            if kind == "flipped":
                content[place] ^= 1 << place % 8
            else:
                content[place:] = bytes(len(content) - place)
            path.write_bytes(content)
            found = answer(folder)
            harmless = content == original or path.name == "manifest.json"  # spaces between words
            assert str(path) in found or (harmless and found == expected), (path, place, found)
        path.write_bytes(original)


def test_an_open_index_finds_damage_before_it_is_used(bert, folder):
    index = Index.open(folder, scorer=bert)
    shard = sorted(folder.glob("shard-*"))[0]
    with shard.open("r+b") as stream:
        stream.seek(-9, 2)
        stream.write(b"\xff")
    for use in (lambda: index.search(QUERY), lambda: index.sentences, lambda: index.add(["x y"])):
        with pytest.raises(InputError, match=rf"{shard.name}' is damaged \(its checksum differs\)"):
            use()
    shard.write_bytes(shard.read_bytes()[:-1])
    with pytest.raises(InputError, match=r"damaged \(\d+ bytes, expected \d+\)"):
        Index.open(folder)
    shard.unlink()
    with pytest.raises(InputError, match=f"lacks {shard.name}"):
        Index.open(folder)
