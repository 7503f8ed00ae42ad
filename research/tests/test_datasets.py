"""Labelled pairs: layouts, splits, order and complaints."""

import warnings

import pytest
from scipy.stats import spearmanr

from movers.errors import InputError
from movers_research.datasets import DATASETS, DatasetWarning, common_words, digest_of, read_dataset

PAWS_HEADER = "id\tsentence1\tsentence2\tlabel"


@pytest.fixture
def folder(tmp_path):
    """Write files of evaluation data; return their folder."""

    def write(**files):
        for name, content in files.items():
            path = tmp_path / NAMES[name]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path

    return write


NAMES = {
    "train": "PAWSQQP/train.tsv",
    "wiki": "PAWSWiki/dev.tsv",
    "stsb": "STSB/sts-dev.csv",
    "sick": "SICK/SICK_test_annotated.txt",
    "mrpc": "MRPC/msr_paraphrase_test.txt",
} | {
    f"{kind}{number}": f"STS/STS13-en-test/STS.{kind}.{part}.txt"
    for number, part in enumerate(("FNWN", "headlines", "OnWN"), 1)
    for kind in ("input", "gs")
}


def read_small(name, data, **options):
    """Read a data set that is smaller than it should be."""
    with pytest.warns(DatasetWarning):
        return read_dataset(name, data, **options)


@pytest.mark.parametrize(
    ("name", "pairs", "positives"),
    [
        ("paws-wiki-dev", 1500, 42.27),
        ("paws-wiki-dev-full", 8000, 44.24),
        ("paws-wiki-test", 8000, 44.20),
        ("stsb-dev", 1500, None),
        ("stsb-test", 1379, None),
        ("stsb-dev-tokenised", 1500, None),
        ("stsb-test-tokenised", 1379, None),
        ("sick-test", 4927, None),
    ],
)
def test_real_sets_have_their_known_sizes(data, name, pairs, positives):
    dataset = read_dataset(name, data)
    assert len(dataset) == pairs
    if positives is None:
        assert dataset.metric == "spearman" and dataset.empty == "drop"
    else:
        assert round(100 * dataset.gold.mean(), 2) == positives
        assert dataset.metric == "auc" and dataset.empty == "least"


def test_the_development_split_is_the_shortest_pairs(data):
    dataset = read_dataset("paws-wiki-dev", data)
    words = [[len(text.split()) for text in pair] for pair in dataset.pairs]
    keys = [(*pair, gold) for pair, gold in zip(words, dataset.gold, strict=True)]
    assert keys == sorted(keys)
    assert keys[-1][:2] <= (16, 16)
    assert read_dataset("paws-wiki-dev-full", data).pairs[:1500] == dataset.pairs


def test_common_words_correlate_as_documented(data):
    """Published are -0.85 and 59.37, for a count that the paper does not define."""
    for name, rho in (("paws-wiki-dev", -4.24), ("stsb-dev", 59.09)):
        dataset = read_dataset(name, data)
        found = 100 * spearmanr(common_words(dataset), dataset.gold).statistic
        assert round(found, 2) == rho


def test_common_words_are_distinct_and_without_case(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("source\ttarget\tlabel\nThe the cat, sat.\tthe Cat . ran\t1\n", "utf-8")
    assert common_words(read_dataset(path)).tolist() == [3]


def test_bytes_of_python_2_are_decoded(folder):
    rows = [
        PAWS_HEADER,
        r"""1	b'caf\xc3\xa9 or tea'	b"what's a b'c' ?"	1""",
        "2\tplain  text\tb' is a letter\t0",
    ]
    dataset = read_small("paws-qqp-train", folder(train="\n".join(rows)))
    assert dataset.pairs == [("plain text", "b' is a letter"), ("café or tea", "what's a b'c' ?")]
    assert dataset.gold.tolist() == [0.0, 1.0]


def test_bytes_that_are_not_text_are_refused(folder):
    data = folder(train=PAWS_HEADER + "\n" + r"1	b'caf\xe9'	tea	1")
    with pytest.raises(InputError, match=r"train\.tsv, line 2: cannot decode"):
        read_dataset("paws-qqp-train", data)


def test_benchmark_takes_further_columns_and_stray_quotes(folder):
    lines = 'g\tf\ty\t1\t4.5\tA "man\tA boy .\n' + "g\tf\ty\t2\t1\ta  b\tc\tsource\tterms\n"
    dataset = read_small("stsb-dev", folder(stsb=lines))
    assert dataset.pairs == [("a b", "c"), ('A "man', "A boy .")]
    assert dataset.gold.tolist() == [1.0, 4.5]


def test_sick_and_mrpc_layouts(folder):
    sick = "pair_ID\tA\tB\tscore\tjudgment\r\n1\tone two\tthree\t4.2\tNEUTRAL\r\n"
    mrpc = "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\r\n1\t70\t71\tone\ttwo\r\n"
    data = folder(sick=sick, mrpc=mrpc)
    assert read_small("sick-test", data).pairs == [("one two", "three")]
    assert read_small("mrpc-test", data).pairs == [("one", "two")]
    assert read_small("mrpc-test", data).gold.tolist() == [1.0]


def test_sts_tasks_join_parts_and_drop_pairs_without_score(folder):
    data = folder(
        input1="a a a\tb\n", gs1="2.5\n",
        input2="c\td\tsource of c\ne\tf\n", gs2="\n5\n",
        input3="g h\ti\n", gs3="0",
    )  # fmt: skip
    dataset = read_small("sts13", data)
    assert dataset.pairs == [("e", "f"), ("g h", "i"), ("a a a", "b")]
    assert dataset.gold.tolist() == [5.0, 0.0, 2.5]


def test_sts_files_of_different_length_are_refused(folder):
    texts = {f"input{number}": "a\tb\n" for number in (1, 2, 3)}
    scores = {f"gs{number}": "1\n2\n" for number in (1, 2, 3)}
    with pytest.raises(InputError, match=r"has 1 lines while .* has 2"):
        read_dataset("sts13", folder(**texts, **scores))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"1\tone\ttwo", r"dev\.tsv, line 3: 3 fields, expected 4"),
        (b"1\tone\ttwo\t1\t0", r"dev\.tsv, line 3: 5 fields, expected 4"),
        (b"1\tone\ttwo\tyes", r"dev\.tsv, line 3: 'yes' is not a number"),
        (b"1\tone\ttwo\tnan", r"dev\.tsv, line 3: 'nan' is not a finite number"),
        (b"1\tone\ttwo\t2", r"dev\.tsv, line 3: label '2', expected 0 or 1"),
        (b"1\tcaf\xe9\ttwo\t1", r"dev\.tsv, line 3: not UTF-8"),
    ],
)
def test_bad_rows_are_named(folder, line, message):
    data = folder(wiki=PAWS_HEADER.encode() + b"\n0\ta\tb\t1\n" + line + b"\n")
    with pytest.raises(InputError, match=message):
        read_dataset("paws-wiki-dev", data)


def test_a_missing_file_is_named_with_layout_and_origin(tmp_path):
    with pytest.raises(
        InputError,
        match=r"needs PAWSQQP/train\.tsv .*sentences in columns 2 and 3, label 0 or 1 in column 4"
        r".*google-research-datasets/paws",
    ):
        read_dataset("paws-qqp-dev", tmp_path)
    with pytest.raises(InputError, match=r"STS\.input\.MSRpar\.txt.*score on the same line"):
        read_dataset("sts12", tmp_path)


def test_the_folder_comes_from_the_environment(folder, monkeypatch):
    monkeypatch.delenv("MOVERS_DATA", raising=False)
    with pytest.raises(InputError, match="set MOVERS_DATA"):
        read_dataset("stsb-dev")
    monkeypatch.setenv("MOVERS_DATA", str(folder(stsb="g\tf\ty\t1\t4\ta\tb\n")))
    assert len(read_small("stsb-dev", None)) == 1


def test_another_balance_is_noticed(folder):
    rows = "".join(f"{number}\ta\tb\t1\n" for number in range(8000))
    data = folder(wiki=f"{PAWS_HEADER}\n{rows}")
    message = r"8000 pairs with 100\.00 % paraphrases, expected 8000 pairs with 44\.24 %"
    with pytest.warns(DatasetWarning, match=message):
        read_dataset("paws-wiki-dev-full", data)


def test_a_limit_keeps_the_shortest_without_a_warning(data):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dataset = read_dataset("stsb-dev", data, limit=7)
    assert dataset.pairs == read_dataset("stsb-dev", data).pairs[:7]
    with pytest.raises(InputError, match="limit must be at least 1, got 0"):
        read_dataset("stsb-dev", data, limit=0)


def test_the_digest_follows_the_contents(folder):
    def digest(score, text="a b"):
        row = f"g\tf\ty\t1\t{score}\t{text}\tc\n"
        return digest_of(read_small("stsb-dev", folder(stsb=row)))

    assert digest("4.0") == digest("4", "a  b")
    assert len({digest("4"), digest("3"), digest("4", "a c")}) == 3
    assert len(digest("4")) == 8


def test_unknown_names_get_a_hint():
    with pytest.raises(InputError, match="did you mean 'paws-wiki-dev'"):
        read_dataset("paws-wikidev")
    with pytest.raises(InputError, match=r"no file 'nothing\.tsv'"):
        read_dataset("nothing.tsv")


def test_every_row_of_the_table_says_where_to_get_it():
    for name, row in DATASETS.items():
        assert name == name.lower() and row.origin and row.files
        assert (row.positives is None) == (row.metric == "spearman")
        assert row.shortest is None or row.shortest == row.rows


def test_pairs_are_picked_by_id_as_often_as_it_is_listed(tmp_path):
    for name, text in (
        ("PAWSWiki/dev.tsv", "id\ts1\ts2\tlabel\n7\ta\tb\t1\n8\tc\td\t0\n9\te\tf\t0\n"),
        ("PAWSX/en_test_ids.txt", "9\n7\n7\n"),
    ):
        (tmp_path / name).parent.mkdir()
        if name.startswith("PAWSX"):
            with pytest.raises(InputError, match=r"paws-x-en-test needs PAWSX/en_test_ids\.txt"):
                read_dataset("paws-x-en-test", tmp_path)
        (tmp_path / name).write_text(text, "utf-8")
    with pytest.warns(match="3 pairs with 66.67 % paraphrases, expected 2000"):
        found = read_dataset("paws-x-en-test", tmp_path)
    assert sorted(found.pairs) == [("a", "b"), ("a", "b"), ("e", "f")]
