"""Tables stand in columns, whatever the letters; styles are for terminals that want them."""

import io
import sys

import pytest

from movers.cli.drawing import echo, print_table, print_text, styled, width, wrap


@pytest.fixture
def narrow(monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("dog", 3),
        ("天安门", 6),
        ("e\u0301te\u0301", 3),
        ("🐶 x", 4),
        ("ｗｉｄｅ", 8),
        ("a\u200db", 2),
    ],
)
def test_width_is_that_of_a_terminal(text, columns):
    assert width(text) == columns


def test_columns_are_aligned_where_characters_are_wide(capsys, narrow):
    print_table(("word", "n", "to"), [("天安门", "1", "x"), ("dog", "20", "yy")], ["n"])
    assert capsys.readouterr().out.splitlines() == [
        "word     n  to",
        "天安门   1  x",
        "dog     20  yy",
    ]


def test_what_does_not_fit_goes_on_below(capsys, narrow):
    print_table(("n", "text"), [("1", "one two three four five six seven"), ("2", "a")], ["n"])
    assert capsys.readouterr().out.splitlines() == [
        "n  text",
        "1  one two three four five six",
        "   seven",
        "2  a",
    ]
    print_text("我爱北京天安门我爱北京天安门我爱北京 天安门")
    lines = capsys.readouterr().out.splitlines()
    assert [width(line) for line in lines] == [30, 6 + 1 + 6]


def test_no_text_moves_the_cursor():
    assert wrap("a\rb\x1b[2Jc\td", 80) == ["ab[2Jc  d"]


@pytest.mark.parametrize(
    ("name", "value", "bold", "red"),
    [
        ("TERM", "xterm", "\x1b[1mx\x1b[0m", "\x1b[31mx\x1b[0m"),
        ("TERM", "dumb", "x", "x"),
        ("NO_COLOR", "1", "\x1b[1mx\x1b[0m", "x"),
    ],
)
def test_styles_are_those_that_are_wanted(monkeypatch, name, value, bold, red):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv(name, value)
    assert (styled("x", "bold"), styled("x", "red")) == (bold, red)


def test_styles_reach_terminals_alone_unless_they_are_forced(capsys, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    print_text("x", "bold")
    assert capsys.readouterr().out == "x\n"
    monkeypatch.setenv("FORCE_COLOR", "1")
    print_text("x", "bold")
    assert capsys.readouterr().out == "\x1b[1mx\x1b[0m\n"


def test_letters_that_cannot_be_printed_become_others(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), "ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    echo("██▌ “é” – …")
    stream.flush()
    assert stream.buffer.getvalue() == b'##  "?" - ~\n'
