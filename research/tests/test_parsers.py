"""Parsers of every kind."""

import gzip
import sys
import types
import warnings

import pytest

import movers
from movers.measures.parts import context
from movers.measures.parts.context import Context, load_parser
from movers.measures.parts.statistics import Statistics
from movers_research.datasets import read_dataset
from movers_research.parsers import CachedParser, ConlluParser, SpacyParser, parse
from tree_parsers import EXAMPLES, MadeUp, train_spacy

CONLLU = """# text = Don't  see the-fox.
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\t_\t_\t_\t_\t3\taux\t_\t_
2\tn't\t_\t_\t_\t_\t3\tneg\t_\t_
3\tsee\t_\t_\t_\t_\t0\troot\t_\t_
3.1\tsaw\t_\t_\t_\t_\t_\t_\t_\t_
4\tthe-fox\t_\t_\t_\t_\t3\tobj\t_\t_
5\t.\t_\t_\t_\t_\t3\tpunct\t_\t_

# text = Yes
1\tYes\t_\t_\t_\t_\t0\troot\t_\t_
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "some.conllu"
    path.write_text(CONLLU, "utf-8")
    return path


@pytest.fixture(scope="module")
def nlp():
    return train_spacy()


def cut(sentence, tree):
    return [sentence[start:end] for start, end in tree.spans]


def test_conllu_finds_sentences_whatever_their_blanks(file):
    sentence = " Don't see   the-fox. "
    tree, other, nothing = ConlluParser(file).parse([sentence, "Yes", "  "])
    assert cut(sentence, tree) == ["Don't", "Don't", "see", "the-fox", "."]
    assert tree.heads.tolist() == [2, 2, -1, 2, 2]
    assert (other.heads.tolist(), len(nothing)) == ([-1], 0)


def test_conllu_from_folders_compressed_files_and_lists(file, tmp_path):
    packed = tmp_path / "packed"
    packed.mkdir()
    with gzip.open(packed / "x.conllu.gz", "wt", encoding="utf-8") as stream:
        stream.write("# text = No\n1\tNo\t_\t_\t_\t_\t0\troot\t_\t_")
    assert len(load_parser(f"conllu:{packed}").parse(["No"])) == 1
    assert len(load_parser([file, packed]).parse(["No", "Yes"])) == 2
    assert load_parser(str(file)).name == "conllu:some.conllu"


@pytest.mark.parametrize(
    ("content", "sentence", "message"),
    [
        (CONLLU, "Nobody knows", "no tree for 'Nobody knows' among the 2 sentences"),
        ("# text = Yes\n1\tNo\t_\t_\t_\t_\t0\t_\t_\t_\n", "Yes", "a word 'No' that its text"),
        ("# text = Yes\n1\tYes\n", "Yes", r"end: not CoNLL-U"),
        ("# text = Yes\n1\tYes\t_\t_\t_\t_\t7\t_\t_\t_\n", "Yes", "between -1 and 0, got"),
    ],
)
def test_what_conllu_cannot_answer(tmp_path, content, sentence, message):
    path = tmp_path / "bad.conllu"
    path.write_text(content, "utf-8")
    with pytest.raises(movers.InputError, match=message):
        ConlluParser(path).parse([sentence])


def test_conllu_of_the_evaluation_data(data):
    parser = load_parser(data / "parses" / "STSB_test.conllu.gz")
    sentence = "A girl is styling her hair."
    (tree,) = parser.parse([sentence])
    assert cut(sentence, tree) == ["A", "girl", "is", "styling", "her", "hair", "."]
    assert tree.heads.tolist() == [1, 3, 3, -1, 5, 3, 3]
    assert len(parser.parser._known) == 2551  # one of 2552 differs in blanks alone


def test_conllu_finds_a_tokenised_lower_cased_copy(data):
    parser = load_parser(data / "parses" / "STSB_test.conllu.gz")
    tokenised = "a girl is styling her hair ."
    (tree,) = parser.parse([tokenised])
    assert cut(tokenised, tree) == tokenised.split()
    pairs = read_dataset("stsb-test-tokenised", data).pairs
    sentences = [text for pair in pairs for text in pair]
    trees = parser.parse(sentences)
    for text, one in zip(sentences, trees, strict=True):
        spelled = "".join("".join(word.split()) for word in cut(text, one))
        assert spelled == "".join(text.split())


def test_spacy_learns_and_parses(nlp):
    parser = load_parser(nlp)
    assert isinstance(parser.parser, SpacyParser)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trees = parser.parse([*(text for text, _ in EXAMPLES), "the   dog \n sleeps", ""])
    for (text, heads), tree in zip(EXAMPLES, trees, strict=False):
        assert cut(text, tree) == text.split()
        assert tree.heads.tolist() == [-1 if h == k else h for k, h in enumerate(heads)]
    assert cut("the   dog \n sleeps", trees[-2]) == ["the", "dog", "sleeps"]
    assert len(trees[-1]) == 0


def test_spacy_without_what_it_needs(nlp):
    import spacy

    with pytest.raises(movers.InputError, match="has no dependency parser"):
        load_parser(spacy.blank("en")).parse(["a fox"])
    with pytest.raises(movers.DependencyError, match="spacy download en_nothing_sm"):
        load_parser("spacy:en_nothing_sm").parse(["a fox"])


@pytest.mark.parametrize(
    ("parser", "remedy"),
    [("spacy:en", r"pip install movers\[parse\]"), ("stanza:en", "pip install stanza")],
)
def test_missing_packages_name_their_remedy(monkeypatch, parser, remedy):
    monkeypatch.setitem(sys.modules, parser.split(":")[0], None)
    with pytest.raises(movers.DependencyError, match=remedy):
        load_parser(parser).parse(["a fox"])


def test_stanza_counts_heads_over_sentences(monkeypatch):
    def word(head):
        return types.SimpleNamespace(head=head)

    def token(start, end, *heads):
        return types.SimpleNamespace(
            start_char=start, end_char=end, words=[word(head) for head in heads]
        )

    class Pipeline:
        def __init__(self, language, **options):
            assert (language, options["processors"]) == ("en", "tokenize,mwt,pos,lemma,depparse")

        def __call__(self, text):
            first = [token(0, 3, 0), token(3, 4, 1)]
            second = [token(5, 10, 3, 3), token(11, 13, 0)]
            sentences = [types.SimpleNamespace(tokens=tokens) for tokens in (first, second)]
            return types.SimpleNamespace(sentences=sentences)

    monkeypatch.setitem(sys.modules, "stanza", types.SimpleNamespace(Pipeline=Pipeline))
    sentence = "Yes. Don't go"
    tree, nothing = load_parser("stanza:en").parse([sentence, " "])
    assert cut(sentence, tree) == ["Yes", ".", "Don't", "Don't", "go"]
    assert tree.heads.tolist() == [-1, 0, 4, 4, -1]
    assert len(nothing) == 0


@pytest.mark.parametrize("wrong", ["spacy", "nowhere.conllu", "conllu:nowhere", 7])
def test_what_is_no_parser(wrong):
    with pytest.raises(movers.InputError, match=r"no parser|no CoNLL-U file|parser must be"):
        load_parser(wrong)


def test_a_sentence_is_parsed_once():
    made_up = MadeUp()
    parser = load_parser(made_up)
    parser.parse(["a fox", "a dog", "a fox"])
    parser.parse(["a dog", "the fox"])
    assert made_up.calls == ["a fox", "a dog", "the fox"]
    assert load_parser(parser) is parser and isinstance(parser, CachedParser)
    assert load_parser(None) is None


def test_no_parser_names_option_and_extra():
    with pytest.raises(movers.InputError, match=r"pass parser='spacy.*movers\[parse\]"):
        parse(Context(None, Statistics("")), ["a fox"])


def test_parsers_by_name_say_where_they_come_from(monkeypatch):
    monkeypatch.setattr(context, "load_entries", lambda group: [])
    with pytest.raises(movers.DependencyError, match=r"'spacy:x' needs .*pip install \./research"):
        load_parser("spacy:x")
