"""Functions as commands: what signature, annotations and docstring say becomes options and help."""

from __future__ import annotations

import os
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, is_dataclass, replace
from difflib import get_close_matches
from enum import Enum
from functools import reduce
from inspect import BoundArguments, cleandoc, signature
from inspect import Parameter as Taken
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import click
from click import UsageError
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from movers.cli.drawing import printable, styled
from movers.cli.quick import paragraph, side_by_side

OPTION = re.compile(r"-[^\d.]")
"""How a word begins that is meant as an option, and not as a number or standard input."""
DESCRIBED = re.compile(r"^([*\w][*\w, ]*?)(?: *:.*)?\n((?: .*(?:\n|$)|\n)+)", re.MULTILINE)
"""Names and what is said of them in the section Parameters of a docstring."""


@dataclass(frozen=True, eq=False)
class Parameter:
    """What an annotation says of a parameter beside its type: ``Annotated[int, Parameter(…)]``."""

    name: str | Sequence[str] | None = None
    help: str = ""
    validator: Callable[[Any], object] | None = None
    allow_leading_hyphen: bool = False
    show_default: str | None = None
    env_var: str | None = None

    def but(self, other: Parameter) -> Parameter:
        """Return the same, but for what another says."""
        return replace(self, **{name: value for name, value in vars(other).items() if value})


class Section(NamedTuple):
    """Options that help shows together; an annotation or a dataclass (``section``) names it."""

    title: str
    help: str = ""


ARGUMENTS, OPTIONS = Section("Arguments"), Section("Options")


class Row(NamedTuple):
    """A parameter, where and by which names help shows it, and how a call has it."""

    section: Section
    parameter: click.Parameter
    names: str
    help: str
    usage: str = ""


class Kind(click.ParamType):  # type: ignore[type-arg]  # of releases from 8.5
    """What texts become: one of several values by their names, or what a type makes of them."""

    def __init__(self, kind: Any, facts: Parameter) -> None:
        kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
        self.choices = {text: value for one in kinds for text, value in _choices(one).items()}
        self.readers = [one for one in kinds if not _choices(one)]
        self.name = "choice" if self.choices else getattr(kinds[0], "__name__", "value")
        self.facts = facts

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return what a text stands for, or refuse it under the name that was used."""
        name = ctx.obj.get(param.name, param.opts[0]) if ctx and param else ""
        made = self._read(value, name)
        try:
            if self.facts.validator is not None:
                self.facts.validator(made)
        except ValueError as error:
            raise UsageError(f'Invalid value "{value}" for {name}. {error}') from None
        return made

    def _read(self, text: str, name: str) -> Any:
        if text in self.choices:
            return self.choices[text]
        for reader in self.readers:
            with suppress(ValueError):
                return click.BOOL.convert(text, None, None) if reader is bool else reader(text)
        if not self.choices:
            why = f'unable to convert "{text}" into {self.name}'
            raise UsageError(f"Invalid value for {name}: {why}.")
        quoted, every = f'"{text}"', [f'"{choice}"' for choice in self.choices]
        why = f"Choose from: {', '.join(every)}.{near(quoted, every)}"
        raise UsageError(f"Invalid value {quoted} for {name}. {why}")

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Offer choices, or files for a path."""
        if Path in self.readers:
            return [CompletionItem(incomplete, type="file")]
        return [CompletionItem(choice) for choice in self.choices if choice.startswith(incomplete)]


def _choices(kind: Any) -> dict[str, Any]:
    """Return the values of a type by what they are called, where they can be listed."""
    if get_origin(kind) is Literal:
        return {str(value): value for value in get_args(kind)}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {_spelt(value.name.lower()): value for value in kind}
    return {}


def _spelt(name: str) -> str:
    return name.strip("_").replace("_", "-")


def near(name: str, known: Iterable[str]) -> str:
    """Ask whether another name was meant, if there is one like it."""
    close = get_close_matches(name, known, n=1)
    return f" Did you mean {close[0]}?" if close else ""


def described(thing: Any) -> tuple[str, dict[str, str]]:
    """Return what a docstring says of the whole, and of every parameter."""
    text, _, rest = cleandoc(thing.__doc__ or "").partition("\n\nParameters\n----------\n")
    helps = DESCRIBED.findall(re.split(r"\n\n\w+\n-+\n", rest)[0])
    named = ((name.strip("* "), help) for names, help in helps for name in names.split(","))
    return text, {name: " ".join(help.split()) for name, help in named}


def _members(thing: Any) -> Iterator[tuple[str, Taken, Any, list[Any]]]:
    """Yield what a function or dataclass takes: name, default, type without None, annotations."""
    hints = get_type_hints(thing, include_extras=True)
    for name, taken in signature(thing).parameters.items():
        hint = hints.get(name, str if taken.default in (None, Taken.empty) else type(taken.default))
        said: list[Any] = []
        while get_origin(hint) in (Annotated, Union, UnionType):
            if get_origin(hint) is Annotated:
                said, hint = [*hint.__metadata__, *said], hint.__origin__
                continue
            members = [one for one in get_args(hint) if one is not NoneType]
            if len(members) > 1:
                break
            hint = members[0]
        yield name, taken, hint, said


def _rows(thing: Any, within: str = "", section: Section = OPTIONS) -> Iterator[Row]:
    """Yield the parameters of a function, and in their places those of dataclasses it takes."""
    _, helps = described(thing)
    for name, taken, kind, said in _members(thing):
        if is_dataclass(kind):
            sections = (one for one in said if isinstance(one, Section))
            own = next(sections, getattr(kind, "section", section))
            yield from _rows(kind, f"{within}{name}__", own)
        elif taken.kind is not Taken.VAR_KEYWORD:
            named = within or taken.kind is Taken.KEYWORD_ONLY or kind is bool
            place = section if named else ARGUMENTS
            facts = (one for one in said if isinstance(one, Parameter))
            merged = reduce(Parameter.but, facts, Parameter(help=helps.get(name, "")))
            yield _row(within + name, taken, kind, merged, place)


def _row(place: str, taken: Taken, kind: Any, facts: Parameter, section: Section) -> Row:
    """Return a parameter; one that may be an argument or have a name is an option for click."""
    word, one = _spelt(taken.name), _item(kind)
    several = one is not None or taken.kind is Taken.VAR_POSITIONAL
    read = Kind(one or kind, facts)
    required = taken.default is Taken.empty and not (several or kind is bool)
    usage = (word.upper() if required else f"[{word.upper()}]") + "..." * several
    default = _shown(taken.default) if facts.show_default is None else facts.show_default
    notes = {"choices": ", ".join(read.choices), "env var": facts.env_var, "default": default}
    noted = [f"[{name}: {note}]" for name, note in notes.items() if note]
    noted = [note.replace(" ", "\xa0") for note in noted] + ["[required]"] * required
    help = " ".join([*filter(None, [facts.help]), *noted])
    if section is ARGUMENTS and taken.kind is not Taken.POSITIONAL_OR_KEYWORD:
        number = -1 if several else 1
        made = click.Argument([place], type=read, nargs=number, required=required, metavar=usage)
        return Row(section, made, word.upper(), help, usage)
    names = [facts.name] if isinstance(facts.name, str) else [*(facts.name or ())] or [f"--{word}"]
    if kind is bool:
        names[0] += f"/--no-{word}" * (taken.default is True)
        option = click.Option([*names, place], is_flag=True)
        return Row(section, option, ", ".join(option.opts + option.secondary_opts), help)
    option = click.Option(
        [*names, place], type=read, multiple=several, required=required, envvar=facts.env_var
    )
    value = f" {read.name.upper()}{'...' * several}"
    if section is ARGUMENTS:
        return Row(section, option, ", ".join([word.upper(), *names]) + value, help, usage)
    return Row(section, option, ", ".join(names) + value, help, (names[0] + value) * required)


def _item(kind: Any) -> Any:
    """Return the type of what is in a collection; None for what is none."""
    collections = (list, tuple, set, frozenset, Sequence, Iterable)
    return (*get_args(kind), str)[0] if (get_origin(kind) or kind) in collections else None


def _shown(default: Any) -> str:
    """Return a default as help shows it, nothing for one that says nothing."""
    if isinstance(default, Enum):
        return _spelt(default.name.lower())
    if isinstance(default, (list, tuple)):
        return ", ".join(map(str, default))
    return "" if default in (None, Taken.empty) or default is False else f"{default}"


def _filled(thing: Any, given: Mapping[str, Any], within: str = "") -> dict[str, Any]:
    """Return what a function or dataclass is called with; what was not given has its default."""
    made: dict[str, Any] = {}
    for name, taken, kind, _ in _members(thing):
        make: Any = get_origin(kind) or kind
        if is_dataclass(kind):
            fields, default = _filled(kind, given, f"{within}{name}__"), taken.default
            if fields or default is Taken.empty:
                unmade = default is None or default is Taken.empty
                made[name] = make(**fields) if unmade else replace(default, **fields)
        elif within + name in given:
            value = given[within + name]
            made[name] = make(value) if make in (list, set, frozenset) else value
    return made


class Command(click.Command):
    """A command that calls a function with what is given, and leaves the rest to its defaults."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.function, self.rows = function, [*_rows(function)]
        settings = {"help_option_names": ["--help", "-h"]}
        parameters = [row.parameter for row in self.rows]
        super().__init__(name, settings, None, parameters, described(function)[0])
        usage = (row.usage for row in self.rows if row.usage)
        self.usage = " ".join([f"movers {name} [OPTIONS]", *usage])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Have click read the words; what is missing is told with the way to help."""
        ctx.obj = {}
        try:
            words = args if ctx.resilient_parsing else self._sorted(ctx, args)
            return super().parse_args(ctx, words)
        except click.MissingParameter as error:
            missing = next(row.names for row in self.rows if row.parameter is error.param)
            what = f"{ctx.info_name} requires {missing}"
            raise UsageError(f"{what}; {ctx.info_name} --help tells about it") from None

    def _sorted(self, ctx: click.Context, given: Sequence[str]) -> list[str]:
        """Return options with their values, then all other words; note which names were used."""
        every = [one for one in self.get_params(ctx) if isinstance(one, click.Option)]
        known = {name: one for one in every for name in (*one.opts, *one.secondary_opts)}
        places = [row.parameter for row in self.rows if row.section is ARGUMENTS]
        options, words, rest = list[str](), list[str](), iter(given)
        for word in rest:
            name, equals, value = word.partition("=")
            if word[:2] in known and name[2:]:  # -k3
                name, equals, value = word[:2], "=", word[2:]
            if word == "--":
                words += rest
            elif name in known:
                ctx.obj[known[name].name] = name
                value = value if equals or known[name].is_flag else next(rest, "--")
                if not equals and OPTION.match(value) and not _takes_hyphens(known[name]):
                    raise UsageError(f"{name} requires an argument.")
                options += [word] if known[name].is_flag else [known[name].opts[0], value]
            elif not OPTION.match(word) or any(map(_takes_hyphens, places[len(words) :][:1])):
                words.append(word)
            else:
                raise UsageError(f"Unknown option: {name}.{near(name, known)}")
        for one in every:  # click takes an empty variable for none
            if one.name not in ctx.obj and str(one.envvar) in os.environ:
                options += [one.opts[0], os.environ[str(one.envvar)]]
        before = sum(place not in every and place.nargs == 1 for place in places)
        for place in places:
            if place in every and place.name not in ctx.obj and words[before:]:
                options += [place.opts[0], words.pop(before)]
        return [*options, "--", *words]

    def get_help(self, ctx: click.Context) -> str:
        """Return usage, what it does, and its parameters section by section."""
        blocks = [*map(paragraph, [f"Usage: {self.usage}", *(self.help or "").split("\n\n")])]
        for section in dict.fromkeys(row.section for row in self.rows):
            rows = {row.names: row.help for row in self.rows if row.section is section}
            title = [
                styled(section.title, "bold") + ":",
                *[f"{section.help}\n"] * bool(section.help),
            ]
            blocks.append("\n".join([*title, side_by_side(rows, styled("{}", "bold"))]))
        return printable("\n\n".join(blocks).replace("`", ""))

    def invoke(self, ctx: click.Context) -> Any:
        """Call the function with what does not come from a default."""
        default, source = ParameterSource.DEFAULT, ctx.get_parameter_source
        given = {name: value for name, value in ctx.params.items() if source(name) is not default}
        bound = BoundArguments(signature(self.function), OrderedDict(_filled(self.function, given)))
        bound.apply_defaults()
        return self.function(*bound.args, **bound.kwargs)


def _takes_hyphens(parameter: click.Parameter) -> bool:
    """Tell whether a parameter takes words that begin like options."""
    return isinstance(parameter.type, Kind) and parameter.type.facts.allow_leading_hyphen


def run(command: Command, words: Sequence[str]) -> int:
    """Run a command and return its exit code; what is no code is printed."""
    try:
        with command.make_context(f"movers {command.name}", [*words]) as context:
            result = command.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    if isinstance(result, int):
        return int(not result) if isinstance(result, bool) else result
    if result is not None:
        print(result)
    return 0
