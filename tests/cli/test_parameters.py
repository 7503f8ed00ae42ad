"""A plain function becomes a command by its signature, annotations and docstring."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Literal

import pytest
from click import UsageError

from movers.cli.parameters import Command, Parameter, Section, run


class Colour(Enum):
    DARK_RED = 1
    BLUE = 2


@dataclass(frozen=True)
class Depth:
    """Where to look.

    Parameters
    ----------
    depth
        How deep.
    """

    section = Section("Places", "None of it matters.")
    depth: int = 3
    where: Path | None = None


def even(number):
    if number % 2:
        raise ValueError("Must be even.")


SEEN = []


def paint(
    sentence: Annotated[str, Parameter(allow_leading_hyphen=True)],
    /,
    name: str,
    count: Annotated[int, Parameter(validator=even)] = 2,
    loud: bool = False,
    *rest: Path,
    colour: Colour = Colour.BLUE,
    tags: list[str] | None = None,
    sizes: Sequence[float] = (),
    kind: int | Literal["auto"] = "auto",
    quiet: bool = True,
    token: Annotated[str | None, Parameter(env_var="PAINT_TOKEN", name=["--token", "-t"])] = None,
    depth: Depth = Depth(where=Path("here")),  # noqa: B008
    **_: object,
):
    """Paint something.

    A second `paragraph`.

    Parameters
    ----------
    sentence : str
        What it says.
    count, colour
        Both of them:

        how many.

    Examples
    --------
    >>> 1
    1
    """
    SEEN.append((sentence, name, count, loud, rest))
    SEEN.append((colour, tags, sizes, kind, quiet, token, depth))


def called(*words):
    SEEN.clear()
    assert run(Command("paint", paint), words) == 0
    return SEEN


USUAL = (Colour.BLUE, None, (), "auto", True, None, Depth(where=Path("here")))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["s", "me"], ("s", "me", 2, False, ())),
        (["s", "me", "4"], ("s", "me", 4, False, ())),
        (["s", "--name", "me", "-4", "--loud"], ("s", "me", -4, True, ())),
        (["--count=6", "s", "me", "a", "b"], ("s", "me", 6, False, (Path("a"), Path("b")))),
        (["- s", "me"], ("- s", "me", 2, False, ())),
        (["--", "s", "--loud"], ("s", "--loud", 2, False, ())),
    ],
)
def test_arguments_may_have_a_name(words, expected):
    assert called(*words) == [expected, USUAL]


def test_options_are_read_by_their_types(monkeypatch):
    monkeypatch.setenv("PAINT_TOKEN", "secret")
    given = ["--colour", "dark-red", "--tags", "a", "--tags", "b", "--sizes", "1", "--sizes=.5"]
    given += ["--kind", "7", "--no-quiet", "--depth", "9"]
    depth = Depth(9, Path("here"))
    expected = (Colour.DARK_RED, ["a", "b"], (1.0, 0.5), 7, False, "secret", depth)
    assert called("s", "me", *given)[1] == expected
    assert called("s", "me", "-tmine")[1][5] == "mine"
    monkeypatch.setenv("PAINT_TOKEN", "")
    assert called("s", "me")[1][5] == ""
    assert called("s", "me", "--where", "-")[1][6] == Depth(where=Path("-"))


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["s"], "movers paint requires NAME, --name STR; movers paint --help tells about it"),
        (["s", "me", "--count", "3"], 'Invalid value "3" for --count. Must be even.'),
        (["s", "me", "--depth", "x"], 'Invalid value for --depth: unable to convert "x" into int.'),
        (["s", "me", "--depth"], "--depth requires an argument."),
        (["s", "me", "--where", "--loud"], "--where requires an argument."),
        (["s", "me", "--dept", "3"], "Unknown option: --dept. Did you mean --depth?"),
        (["s", "me", "-x"], "Unknown option: -x."),
        (
            ["s", "me", "--colour", "blu"],
            'Invalid value "blu" for --colour. Choose from: "dark-red", "blue". '
            'Did you mean "blue"?',
        ),
    ],
)
def test_what_is_not_taken_is_told_with_what_is(words, why):
    with pytest.raises(UsageError) as refused:
        run(Command("paint", paint), words)
    assert refused.value.message == why


def test_help_shows_sections_types_defaults_and_what_the_docstring_says(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "90")
    assert run(Command("paint", paint), ["--help"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "Usage: movers paint [OPTIONS] SENTENCE NAME [COUNT] [REST]...",
        "",
        "Paint something.",
        "",
        "A second paragraph.",
        "",
        "Arguments:",
        "  SENTENCE            What it says. [required]",
        "  NAME, --name STR    [required]",
        "  COUNT, --count INT  Both of them: how many. [default: 2]",
        "  REST",
        "",
        "Options:",
        "  --loud",
        "  --colour CHOICE      Both of them: how many. [choices: dark-red, blue] [default: blue]",
        "  --tags STR...",
        "  --sizes FLOAT...",
        "  --kind CHOICE        [choices: auto] [default: auto]",
        "  --quiet, --no-quiet  [default: True]",
        "  --token, -t STR      [env var: PAINT_TOKEN]",
        "",
        "Places:",
        "None of it matters.",
        "",
        "  --depth INT   How deep. [default: 3]",
        "  --where PATH",
    ]


@pytest.mark.parametrize(
    ("result", "code", "printed"),
    [(None, 0, ""), (3, 3, ""), (True, 0, ""), (False, 1, ""), ("done", 0, "done\n")],
)
def test_a_result_is_an_exit_code_or_printed(capsys, result, code, printed):
    assert run(Command("tell", lambda: result), []) == code
    assert capsys.readouterr().out == printed
