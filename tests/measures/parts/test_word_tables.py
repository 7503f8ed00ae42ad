"""Word frequencies and the weights made of them."""

import numpy as np
import pytest

from movers.errors import InputError
from movers.measures.parts.word_tables import Frequencies, load_frequencies


def test_constants_of_the_published_file(data):
    table = load_frequencies(data / "sif" / "enwiki_vocab_min200.txt")
    assert len(table.shares) == 188_033
    assert 200 / table.shares[min(table.shares, key=table.shares.get)] == pytest.approx(
        3_484_135_472
    )
    assert table.sif(["zzzzzz"])[0] == 1
    the = 167485604 / 3_484_135_472
    assert table.sif(["the"])[0] == pytest.approx(1e-3 / (1e-3 + the))
    assert table.name.startswith("enwiki_vocab_min200.txt@")


def test_the_package_is_the_default():
    table = load_frequencies()
    assert len(table.shares) > 300_000 and table.name.startswith("wordfreq-")
    frequent, rare, unknown = table.sif(["the", "ozone", "qqzzy"])
    assert 0 < frequent < 0.05 < 0.9 < rare < unknown == 1
    assert table.sif(["1999"])[0] == table.sif(["00"])[0] == 1


def test_look_ups_mind_the_case():
    """The published code never lower-cases what it looks up."""
    table = Frequencies("table", {"dog": 0.5})
    np.testing.assert_allclose(table.sif(["dog", "Dog"]), [1e-3 / 0.501, 1])


def test_idf_by_hand():
    table = Frequencies("table", {"the": 0.5, "dog": 0.1})
    size = 1 / (1 - 0.9**11)
    expected = [(size + 1) / (size * (1 - 0.5**11) + 1), (size + 1) / 2, size + 1, 1, 1]
    found = table.idf(["the", "dog", "fox", "!", "…"])
    np.testing.assert_allclose(found, np.log(expected), atol=1e-12)
    assert table.idf(["fox"], table.most) == table.idf(["the"])


def test_counts_are_read_once_and_repeats_added(tmp_path):
    path = tmp_path / "counts.txt"
    path.write_text("the 6\n\ndog 1\nthe 1\n", "utf-8")
    table = load_frequencies(path)
    assert table.shares == {"the": 7 / 8, "dog": 1 / 8}
    assert load_frequencies(path) is table


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"the 5\ndog", r"line 2: expected 'word count'.*'dog'"),
        (b"the five", "line 1: expected 'word count'"),
        (b"the 0", "with a positive count"),
        (b"the nan", "with a positive count"),
        (b"a b 3", "line 1"),
        (b"\n\n", "holds no word"),
        (b"\xff 3", "not UTF-8"),
    ],
)
def test_bad_files_are_refused(tmp_path, content, message):
    path = tmp_path / "counts.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        load_frequencies(path)


def test_a_missing_file_is_named():
    with pytest.raises(InputError, match=r"no file of word frequencies 'nowhere\.txt'"):
        load_frequencies("nowhere.txt")
