import errno
import os
import warnings
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

import movers
from movers.errors import InputError
from movers.io.tables import open_table
from movers.search import mining
from movers.search.dedupe import Deduplicated, dedupe_file
from movers.search.index import Index
from movers.search.mining import mine, mine_file


@pytest.fixture(scope="module")
def index(bert, corpus):
    return Index.build(bert, corpus[:70])


@pytest.fixture(scope="module")
def matrix(index):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", movers.runtime.notices.UndefinedWarning)
        return index.scorer.matrix(index.sentences)


@pytest.fixture
def small_blocks(index, monkeypatch):
    monkeypatch.setattr(index, "layout", replace(index.layout, block=8))


def found_by_brute_force(matrix, threshold):
    i, j = np.triu_indices(len(matrix), 1)
    near = matrix[i, j] <= threshold
    return {(a, b): matrix[a, b] for a, b in zip(i[near], j[near], strict=True)}


@pytest.mark.parametrize("quantile", [0.0, 0.02, 0.3])
def test_mining_finds_just_the_pairs_of_the_matrix(index, matrix, small_blocks, quantile):
    values = matrix[np.triu_indices(len(matrix), 1)]
    threshold = float(np.nanquantile(values, quantile))
    expected = found_by_brute_force(matrix, threshold)
    found = [pair for block in mine(index, threshold) for pair in block]
    assert {(pair.first, pair.second): pair.distance for pair in found} == expected
    assert len(found) == len(expected) > 0
    assert all(pair.source == index.sentence(pair.first) for pair in found)


def test_a_pair_just_at_the_threshold_is_found(index, matrix):
    values = np.unique(matrix[np.triu_indices(len(matrix), 1)])
    for threshold in values[:60:4].tolist():
        found = [pair for block in mine(index, threshold) for pair in block]
        assert len(found) == len(found_by_brute_force(matrix, threshold))


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".jsonl", ".parquet"])
def test_pairs_are_written_in_the_format_of_the_name(index, matrix, tmp_path, suffix):
    output = tmp_path / f"pairs{suffix}"
    threshold = float(np.nanquantile(matrix, 0.1))
    count, resumed = mine_file(index, threshold, output)
    assert (count, resumed) == (len(found_by_brute_force(matrix, threshold)), 0)
    if suffix == ".parquet":
        assert pq.read_table(output).num_rows == count
    else:
        assert len(output.read_text().splitlines()) == count + (suffix != ".jsonl")
    assert list(tmp_path.iterdir()) == [output]


def test_a_broken_off_run_goes_on_where_it_stopped(
    index, matrix, small_blocks, tmp_path, monkeypatch
):
    output = tmp_path / "pairs.tsv"
    threshold = float(np.nanquantile(matrix, 0.1))
    original, blocks = mining.WholeTexts.mine, []

    def failing(whole, threshold, numbers, **options):
        blocks.append(number := numbers.start // 8)
        if number == 3 and blocks.count(number) == 1:
            raise KeyboardInterrupt
        return original(whole, threshold, numbers)

    monkeypatch.setattr(mining.WholeTexts, "mine", failing)
    with pytest.raises(KeyboardInterrupt):
        mine_file(index, threshold, output)
    journal = tmp_path / "pairs.tsv.journal"
    with journal.open("a") as stream:
        stream.write('[{"first": 3')  # what a kill may leave of a line
    with pytest.raises(InputError, match="other sentences or settings"):
        mine_file(index, threshold / 2, output)
    count, resumed = mine_file(index, threshold, output)
    assert resumed == 3 and blocks.count(2) == 1 and blocks.count(3) == 2
    assert count == len(found_by_brute_force(matrix, threshold))
    assert not journal.exists()


def test_thresholds_must_be_distances(index, tmp_path):
    for threshold in (-1.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match="threshold must be"):
            mine_file(index, threshold, tmp_path / "pairs.tsv")
    with pytest.raises(InputError, match="cannot tell the format"):
        mine_file(index, 0.1, tmp_path / "pairs.xyz")


def test_kept_sentences_are_far_apart_and_dropped_ones_near_one(index, matrix, tmp_path):
    threshold = float(np.nanquantile(matrix, 0.1))
    output, dropped = tmp_path / "kept.txt", tmp_path / "dropped.tsv"
    report = dedupe_file(index, threshold, output, dropped)
    kept = output.read_text().splitlines()
    rows = [index.sentences.index(text) for text in kept]
    among = matrix[np.ix_(rows, rows)][np.triu_indices(len(kept), 1)]
    assert len(kept) == report.kept and not np.any(among <= threshold)
    lines = [line.split("\t") for line in dropped.read_text().splitlines()[1:]]
    assert len(lines) == report.near == len(index) - len(kept) > 0
    for number, reason, text, of, repeats, distance, *_ in lines:
        assert index.sentence(int(number) - 1) == text and index.sentence(int(of) - 1) == repeats
        assert reason == "near" and repeats in kept and text not in kept
        assert float(distance) <= threshold
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dropped.tsv", "kept.txt"]


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_every_line_is_kept_or_accounted_for(bert, tmp_path, suffix):
    dog, fox = "the dog greets the fox", "a fox\u2028jumps over soup"
    texts = [dog, "", fox, dog.upper(), " ", dog, fox, dog.upper(), "brother sold house"]
    source, output = tmp_path / "corpus.txt", tmp_path / "kept.txt"
    source.write_text("\n".join([*texts, "tourists expected\x85press"]), "utf-8")
    dropped = tmp_path / f"dropped{suffix}"
    report = dedupe_file(Index.build(bert, source), 1e-6, output, dropped, lines=source)
    with open_table(dropped) as table:
        [chunk] = table.chunks
    rows = list(zip(*map(_plain, chunk.values()), strict=True))
    assert [row[:4] for row in rows] == [
        (2, "blank", "", None),
        (4, "near", dog.upper(), 1),
        (5, "blank", "", None),
        (6, "repeated", dog, 1),
        (7, "repeated", fox, 3),
        (8, "near", dog.upper(), 1),
    ]
    assert output.read_text("utf-8").split("\n") == [
        *(dog, fox, "brother sold house", "tourists expected\x85press", ""),
    ]
    assert report == Deduplicated(lines=10, kept=4, repeated=2, near=2, blank=2)
    with pytest.raises(InputError, match=r"line 2 \('new'\) is not in the index"):
        dedupe_file(Index.build(bert, source), 1e-6, output, lines=[dog, "new"])


def _plain(column):
    return column if isinstance(column, list) else column.to_pylist()


def test_a_second_run_at_the_same_time_is_refused(index, matrix, small_blocks, tmp_path):
    output, threshold = tmp_path / "pairs.tsv", float(np.nanquantile(matrix, 0.1))
    original, tried = mining.WholeTexts.mine, []

    def meddling(whole, threshold, numbers, **options):
        if numbers.start == 16:
            for task in (mine_file, dedupe_file):
                with pytest.raises(InputError, match=r"pairs.tsv' is being written by process \d+"):
                    task(index, threshold, output)
                tried.append(task)
        return original(whole, threshold, numbers)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mining.WholeTexts, "mine", meddling)
        count, _ = mine_file(index, threshold, output)
    assert len(tried) == 2 and count == len(found_by_brute_force(matrix, threshold))
    assert list(tmp_path.iterdir()) == [output]


def test_a_damaged_journal_is_used_as_far_as_it_is_sound(
    index, matrix, small_blocks, tmp_path, monkeypatch
):
    output, threshold = tmp_path / "pairs.jsonl", float(np.nanquantile(matrix, 0.1))
    with monkeypatch.context() as patch:
        patch.setattr(mining, "table_writer", failing)
        with pytest.raises(OSError, match="No space left") as caught:
            mine_file(index, threshold, output)
    assert caught.value.errno == errno.ENOSPC
    journal = tmp_path / "pairs.jsonl.journal"
    lines = journal.read_bytes().splitlines(keepends=True)
    assert len(lines) == 1 + -(-len(index) // 8)
    for place, finished in ((0, 0), (4, 3)):
        broken = bytearray(lines[place])
        broken[len(broken) // 2] ^= 1
        journal.write_bytes(b"".join([*lines[:place], broken, *lines[place + 1 :]]))
        count, resumed = mine_file(index, threshold, output)
        assert resumed == finished
        assert count == len(found_by_brute_force(matrix, threshold))


def failing(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
