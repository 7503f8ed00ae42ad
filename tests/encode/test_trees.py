"""Trees carried over to other words, and what makes them."""

import pytest

import movers
from movers.encode import trees
from movers.encode.trees import CachedParser, load_parser
from movers.measures.parts.context import Context
from movers.measures.parts.statistics import Statistics
from tree_parsers import MadeUp


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
        Context(None, Statistics("")).trees(["a fox"])


def test_parsers_by_name_say_where_they_come_from(monkeypatch):
    monkeypatch.setattr(trees, "load_entries", lambda group: [])
    with pytest.raises(movers.DependencyError, match=r"'spacy:x' needs .*pip install \./research"):
        load_parser("spacy:x")
