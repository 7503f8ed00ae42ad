"""The command line: one function per command, in files by what they do."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from cyclopts import App, Parameter

from movers.cli.aligning import align
from movers.cli.comparing import compare, explain
from movers.cli.evaluating import evaluate, threshold
from movers.cli.examining import doctor, methods, models, warm_up
from movers.cli.messages import CommandLine, plain_messages, say, told
from movers.cli.scoring import fit, score
from movers.cli.search import dedupe, index, mine, rank, search
from movers.cli.serving import serve
from movers.errors import DependencyError, MoversError
from movers.plugins import add_outside_measures, outside_commands
from movers.runtime.atomic import FULL, room
from movers.runtime.interrupts import end_if_asked, ending_work
from movers.version import __version__

app = App(
    name="movers",
    version=__version__,
    help="Sentence similarity that sees word order and shows its reasons.",
    help_format="markdown",
    default_parameter=Parameter(negative=()),
    suppress_keyboard_interrupt=False,
)
RESEARCH = ("benchmark", "reproduce", "evaluate-alignment")
"""Commands that the distribution movers-research adds."""
COMMANDS: tuple[Callable[..., Any], ...] = (
    *(compare, explain, align, score, rank, fit, index, search, mine, dedupe, threshold),
    *(evaluate, serve, methods, models, doctor, warm_up),
)
for command in COMMANDS:
    app.command(command)
app.register_install_completion_command(help="Complete commands and options in this shell.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; what goes wrong becomes one line and an exit code.

    Errors movers raises on purpose give 1, signals what shells expect of them.
    """
    given = sys.argv[1:] if arguments is None else arguments
    name = given[0] if given else ""
    try:
        add_outside_commands()
    except MoversError as error:
        say(f"error: {error}")
        return 1
    # Remedies are options of the command, or of the one that built the index it reads.
    wording = CommandLine(_options(name), _options("index") if name == "search" else ())
    with plain_messages(wording), ending_work() as interrupts:
        try:
            return _run(name, arguments)
        except SystemExit:
            raise
        except BaseException:
            if not interrupts.seen:
                raise
            # Whatever a signal broke, it is an end that was asked for.
            with suppress(OSError):  # a terminal that hung up takes no message
                say(interrupts.told)
            return interrupts.code


def _run(name: str, arguments: Sequence[str] | None) -> int:
    try:
        if name in RESEARCH and name not in command_names():
            raise DependencyError(
                f"{name} is a command of movers-research, which is not installed; in a checkout of "
                "movers: pip install ./research"
            )
        add_outside_measures()
        app(arguments, exit_on_error=True, print_error=True)
    except MoversError as error:
        say(f"error: {told(error)}")
        return 1
    except BrokenPipeError:
        # The reader of our output (head, less) has gone; that is its right.
        sys.stderr.close()
        return 0
    except OSError as error:
        end_if_asked()
        why = f"{error.filename or 'file'}: {error.strerror or error}"
        if error.errno in FULL and error.filename:
            why = f"no room left for {error.filename!r}: {room(Path(error.filename))}"
        say(f"error: {why}")
        return 1
    return 0


@cache
def add_outside_commands() -> tuple[str, ...]:
    """Add the commands of installed packages to the command line, once, and name them.

    A name that is there already stays what it is.
    """
    commands = outside_commands()
    for command in commands:
        if _name(command) not in app:
            app.command(command)
    return tuple(map(_name, commands))


def command_names() -> list[str]:
    """What the commands are called on the command line, those of installed packages last."""
    return [*map(_name, COMMANDS), *add_outside_commands()]


def _name(command: Callable[..., Any]) -> str:
    return command.__name__.replace("_", "-")


def _options(command: str) -> set[str]:
    if command not in command_names():
        return set()
    arguments = app[command].assemble_argument_collection()
    return {name for argument in arguments for name in argument.names}
