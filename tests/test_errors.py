"""Errors carry their remedies as data, and every surface words them in its own way."""

import pickle

import pytest

from movers.cli import _options, command_names, main
from movers.cli.messages import CommandLine
from movers.errors import Choose, Do, InputError, StorageError
from movers.runtime.notices import UndefinedWarning, notify
from movers.web.failures import HTTP

WORDS = InputError("no words left", Choose("stopwords", None), Choose("empty", "keep"))
UNFITTED = InputError("nothing known:", Do("fit", "for more"), Choose("whitening", "none"))
TREES = InputError("no trees", Choose("parser", "conllu:PATH", "if parsed"), Do("drop the pair"))
INDEXED = InputError("there is an index", Do("add"), Choose("replace", True))
RANKED = InputError("no index", Do("rank"), Choose("method", "wsmd", ", which has one"))


@pytest.mark.parametrize(
    ("error", "python", "command", "http"),
    [
        (
            WORDS,
            "no words left; pass stopwords=None or empty='keep'",
            "no words left; pass --stopwords none or --empty keep",
            'no words left; pass "stopwords": "none" or "empty": "keep"',
        ),
        (
            UNFITTED,
            "nothing known: call fit(sentences) for more, or pass whitening='none'",
            "nothing known: pass --fit for more, or --statistics with a file made by movers fit, "
            "or --whitening none",
            "nothing known: start the server with --statistics with a file made by movers fit for "
            'more, or pass "whitening": "none"',
        ),
        (
            TREES,
            "no trees; pass parser='conllu:PATH' if parsed, or drop the pair",
            "no trees; pass --parser conllu:PATH if parsed, or drop the pair",
            "no trees; start the server with --parser conllu:PATH if parsed, or drop the pair",
        ),
        (
            INDEXED,
            "there is an index; open it and add to it, or pass replace=True",
            "there is an index; pass --add or --replace",
            None,
        ),
        (
            RANKED,
            "no index; use Scorer.rank, which compares every sentence, or pass method='wsmd', "
            "which has one",
            "no index; pass --method wsmd, which has one",
            'no index; pass "method": "wsmd", which has one',
        ),
    ],
)
def test_every_surface_has_its_words(error, python, command, http):
    every = set.union(*map(_options, command_names()))
    assert str(error) == python
    assert error.worded(CommandLine(lambda: every)) == command
    if http is not None:
        assert error.worded(HTTP) == http


def test_only_options_of_the_command_are_named():
    assert UNFITTED.worded(CommandLine(lambda: _options("compare"))) == (
        "nothing known: pass --statistics with a file made by movers fit for more, or "
        "--whitening none"
    )
    assert UNFITTED.worded(CommandLine(lambda: _options("methods"))) == "nothing known"
    assert WORDS.worded(CommandLine(lambda: _options("search"))) == "no words left"
    options = (lambda: _options("search")), (lambda: _options("index"))
    assert WORDS.worded(CommandLine(*options)) == (
        "no words left; build the index with --stopwords none or --empty keep"
    )


@pytest.mark.filterwarnings("default")
def test_a_warning_names_options_of_its_command(capsys, tiny):
    sentences = ["compare", "quick fox", "lazy dog", "--methods", "wmd", "--model"]
    with pytest.raises(SystemExit, match="0"):
        main([*sentences, str(tiny("bert"))])
    said = capsys.readouterr().err
    assert "or --whitening none to stay with this" in said
    assert "--fit" not in said and "fit(sentences)" not in said


def test_remedies_stay_through_pickling_and_prefixes():
    for error in (WORDS, StorageError("full", Do("make room"))):
        again = pickle.loads(pickle.dumps(error)).about("wmd")
        assert again.remedies == error.remedies
        assert str(again) == f"wmd: {error}"


def test_warnings_carry_remedies():
    with pytest.warns(UndefinedWarning, match="gone; pass empty='keep'") as caught:
        notify("gone", UndefinedWarning, Choose("empty", "keep"))
    assert caught[0].message.remedies == (Choose("empty", "keep"),)
    assert caught[0].filename == __file__
