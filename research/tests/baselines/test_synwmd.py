"""SynWMD as users meet it: methods, parser option, command line."""

import json

import numpy as np
import ot
import pytest

import movers
from movers.cli import main
from movers.measures.registry import METHODS
from tiny_models import PAIRS, SENTENCES
from tree_parsers import MadeUp

NAMES = ("synwmd", "synwmd-cos")


@pytest.fixture(scope="module")
def scorer(tiny):
    return movers.load("synwmd", tiny("bert"), parser=MadeUp()).fit(SENTENCES)


@pytest.mark.parametrize("name", NAMES)
def test_rows_and_their_structural_versions(name):
    for prefix in ("", "wsmd-", "lambda-"):
        row = METHODS[prefix + name]
        assert (row.weights, row.stopwords, row.parsed) == ("swf", False, True)
    assert "mix" in METHODS[f"wsmd-{name}"].settings
    assert METHODS[f"lambda-{name}"].word_part
    assert not METHODS["wmd"].parsed


def test_stop_words_stay(scorer):
    found = scorer.compare(*SENTENCES[:2])
    assert found.source_words == (
        "The",
        "press",
        "greets",
        "the",
        "president",
        "in",
        "Chicago",
        ".",
    )


@pytest.mark.parametrize("name", NAMES)
def test_distances_are_those_of_pot(scorer, name):
    other = scorer.using(name)
    measured = other.weigh(SENTENCES)
    rows = measured.encodings.rows
    for source, target in PAIRS[:8]:
        found = other.compare(source, target)
        u, v = measured.weights[rows[source]], measured.weights[rows[target]]
        assert found.distance == pytest.approx(ot.emd2(u, v, found.cost), abs=1e-9)
        assert found.plan.sum(axis=1) == pytest.approx(u)
        words = [word.lower() for word in found.source_words]
        raw = np.array([other.statistics.tables["swf"].values[word] for word in words])
        assert u == pytest.approx(raw / raw.sum())


def test_sub_trees_only_add_to_the_cost(scorer):
    plain = scorer.using("synwmd-cos").distances(PAIRS)
    assert (scorer.distances(PAIRS) >= plain - 1e-9).all()


def test_structural_versions_run(scorer):
    both = scorer.using("wsmd-synwmd", layers="2").distances(PAIRS[:5])
    alone = scorer.using("wsmd-synwmd", layers="2", mix=0.0).distances(PAIRS[:5])
    assert alone == pytest.approx(scorer.distances(PAIRS[:5]))
    assert np.isfinite(both).all()


def test_statistics_carry_the_weights(scorer, tiny, tmp_path):
    scorer.save(tmp_path / "s.safetensors")
    again = movers.load(
        "synwmd", tiny("bert"), statistics=tmp_path / "s.safetensors", parser=MadeUp()
    )
    assert np.array_equal(again.distances(PAIRS), scorer.distances(PAIRS))
    assert "parser:made-up" in str(again.signature) and "swf:" in str(again.signature)


def test_another_parser_makes_other_distances(scorer):
    class Flat(MadeUp):
        @staticmethod
        def tree(sentence):
            tree = MadeUp.tree(sentence)
            tree.heads[1:] = 0
            return tree

    assert not np.allclose(scorer.using(parser=Flat()).distances(PAIRS), scorer.distances(PAIRS))


def test_nothing_works_without_a_parser(tiny):
    with pytest.raises(movers.InputError, match=r"no parser is set; pass parser='spacy"):
        movers.load("synwmd", tiny("bert")).fit(SENTENCES)
    with pytest.raises(movers.InputError, match="swf weights need the trees of a corpus"):
        movers.load("synwmd-cos", tiny("bert"), whitening="none").distances(PAIRS)


def test_fitting_another_method_parses_nothing(tiny):
    parser = MadeUp()
    scorer = movers.load("wmd", tiny("bert"), parser=parser).fit(SENTENCES)
    assert not parser.calls and "swf" not in scorer.statistics.tables
    scorer.using("synwmd").fit(SENTENCES).distances(PAIRS)
    assert sorted(parser.calls) == sorted(SENTENCES)


@pytest.fixture
def files(tmp_path):
    """Pairs as a table, their trees as CoNLL-U."""
    table, trees = tmp_path / "pairs.tsv", tmp_path / "trees.conllu"
    lines = ["source\ttarget", *(f"{a}\t{b}" for a, b in PAIRS[:6])]
    table.write_text("\n".join(lines) + "\n", "utf-8")
    blocks = []
    for sentence in SENTENCES:
        tree = MadeUp.tree(sentence)
        words = [
            f"{k + 1}\t{sentence[start:end]}\t_\t_\t_\t_\t{head + 1}\tdep\t_\t_"
            for k, ((start, end), head) in enumerate(zip(tree.spans, tree.heads, strict=True))
        ]
        blocks.append("\n".join([f"# text = {sentence}", *words]))
    trees.write_text("\n\n".join(blocks) + "\n", "utf-8")
    return table, trees


def test_the_command_line_takes_a_parser(tiny, files, capsys):
    table, trees = files
    options = ["--model", str(tiny("bert")), "--parser", f"conllu:{trees}"]
    with pytest.raises(SystemExit) as stop:
        main(["score", str(table), "--methods", "synwmd,wmd", "--fit", "--json", *options])
    assert not stop.value.code
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    scorer = movers.load("synwmd", tiny("bert"), parser=trees)
    sides = [a for a, _ in PAIRS[:6]] + [b for _, b in PAIRS[:6]]
    expected = scorer.fit(sides).distances(PAIRS[:6])
    assert [row["synwmd"] for row in rows] == pytest.approx(expected)


def test_fitted_files_hold_the_weights_if_there_is_a_parser(tiny, files, tmp_path, capsys):
    _, trees = files
    text, output = tmp_path / "text.txt", tmp_path / "fitted.safetensors"
    text.write_text("\n".join(SENTENCES), "utf-8")
    options = ["--model", str(tiny("bert")), "--parser", str(trees), "--embeddings", "0,3"]
    with pytest.raises(SystemExit):
        main(["fit", str(text), "-o", str(output), *options])
    scorer = movers.load("synwmd", tiny("bert"), statistics=output, parser=trees)
    assert sorted(scorer.statistics.whitening) == [0, 3]
    assert scorer.statistics.variability is not None
    expected = movers.load("synwmd", tiny("bert"), parser=trees).fit(SENTENCES).distances(PAIRS)
    assert scorer.distances(PAIRS) == pytest.approx(expected)
    with pytest.raises(SystemExit) as stop:
        main(
            ["compare", *PAIRS[0], "--methods", "synwmd", "--statistics", str(output), *options[:4]]
        )
    assert not stop.value.code
    assert f"{expected[0]:.4f}" in capsys.readouterr().out


def test_the_command_line_asks_for_a_parser(tiny, files, capsys):
    table, _ = files
    arguments = ["score", str(table), "--methods", "synwmd", "--fit", "--model", str(tiny("bert"))]
    assert main(arguments) == 1
    assert "--parser" in capsys.readouterr().err
