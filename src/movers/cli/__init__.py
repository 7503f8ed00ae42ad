"""The command line: one function per command, in files by what they do.

Files and what they need are imported for the command at hand alone; help, version, the list of
measures and a quick look at the installation need next to nothing (`movers.cli.quick`).
"""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from movers.cli.quick import QUICK, answer, print_rows, summary
from movers.errors import EXTRAS, DependencyError, InputError, MoversError, missing
from movers.plugins import command_places, outside_commands
from movers.version import __version__

if TYPE_CHECKING:
    from cyclopts import App

HELP = "Sentence similarity that sees word order and shows its reasons."
FILES = {
    "compare_commands": ("compare", "diff", "explain"),
    "align_commands": ("align",),
    "score_commands": ("score", "fit"),
    "search_commands": ("rank", "index", "search", "mine", "dedupe"),
    "evaluate_commands": ("threshold", "evaluate"),
    "learn_commands": ("learn",),
    "check_commands": ("check",),
    "serve_commands": ("serve",),
    "examine_commands": ("methods", "models", "doctor", "warm-up"),
}
COMMANDS = {command: file for file, commands in FILES.items() for command in commands}
"""The file of every command."""
HANGING_UP = 0.2
"""Seconds from the first failure of a terminal that hangs up within which its signal comes."""
RESEARCH = ("benchmark", "reproduce", "evaluate-alignment")
"""Commands that the distribution movers-research adds."""


@cache
def added_commands() -> dict[str, Callable[..., Any]]:
    """Return the commands of installed packages by name; a name of ours stays what it is."""
    named = {command.__name__.replace("_", "-"): command for command in outside_commands()}
    return {name: command for name, command in named.items() if name not in COMMANDS}


def function_of(command: str) -> Callable[..., Any]:
    """Import what a command runs."""
    if command not in COMMANDS:
        return added_commands()[command]
    module = import_module(f"movers.cli.{COMMANDS[command]}")
    function: Callable[..., Any] = getattr(module, command.replace("-", "_"))
    return function


def make_app(commands: Iterable[str]) -> App:
    """Return the command line with some of its commands."""
    from cyclopts import App, Parameter

    made = App(
        name="movers",
        version=__version__,
        help=HELP,
        help_format="markdown",
        default_parameter=Parameter(negative=()),
        suppress_keyboard_interrupt=False,
    )
    for command in commands:
        made.command(function_of(command))
    made.register_install_completion_command(help="Complete commands and options in this shell.")
    return made


def whole_app() -> App:
    """Return the command line with all of its commands."""
    return make_app(command_names())


def print_help() -> None:
    """Print all commands, each with a line."""
    rows = {
        name: summary(Path(__file__).with_name(f"{file}.py"), name.replace("-", "_"))
        for name, file in COMMANDS.items()
    }
    rows |= {name: summary(*place) for name, place in command_places().items()}
    rows = dict(sorted(rows.items())) | {
        "--help (-h)": "Display this message and exit.",
        "--install-completion": "Complete commands and options in this shell.",
        "--version": "Display application version.",
    }
    print(f"Usage: movers COMMAND\n\n{HELP}\n\nCommands:")
    print_rows(rows)
    print("\n`movers COMMAND --help` tells about one of them.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; what goes wrong becomes one line and an exit code.

    Errors movers raises on purpose give 1, unread text under --strict 3, signals what shells expect
    of them.
    """
    given = [*(sys.argv[1:] if arguments is None else arguments)]
    if given in ([], ["--help"], ["-h"]):
        return answer(print_help)
    if " ".join(given) in QUICK:
        return answer(QUICK[" ".join(given)])
    from movers.cli.messages import CommandLine, plain_messages, say
    from movers.runtime.interrupts import ending_work

    name = given[0]
    # Remedies are options of the command, or of the one that built the index it reads.
    wording = CommandLine(lambda: _options(name), lambda: _options("index" * (name == "search")))
    with plain_messages(wording), ending_work() as interrupts:
        try:
            return _run(given)
        except SystemExit:
            raise
        except BaseException:
            if not interrupts.seen:
                raise
            # Whatever a signal broke, it is an end that was asked for.
            with suppress(OSError):  # a terminal that hung up takes no message
                say(interrupts.description)
            _drop_unwritten()
            return interrupts.code


def _drop_unwritten() -> None:
    """Let go of output that nobody takes, lest the end of the process fails over it."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            with open(os.devnull, "wb") as nowhere:
                os.dup2(nowhere.fileno(), stream.fileno())


def _run(given: Sequence[str]) -> int:
    from movers.cli.messages import say, worded
    from movers.cli.mistaken import meant
    from movers.plugins import add_outside_measures
    from movers.runtime.atomic import FULL, room
    from movers.runtime.interrupts import end_if_asked

    try:
        if given[0] in RESEARCH and given[0] not in command_names():
            raise DependencyError(
                f"{given[0]} is a command of movers-research, which is not installed; in a "
                "checkout of movers: pip install ./research"
            )
        if (instead := meant(given)) is not None:
            raise InputError(instead)
        add_outside_measures()
        app = make_app([given[0]]) if given[0] in COMMANDS else whole_app()
        app(given, exit_on_error=True, print_error=True)
    except MoversError as error:
        say(f"error: {worded(error)}")
        return error.exit_status
    except ModuleNotFoundError as error:
        if error.name not in EXTRAS:
            raise
        say(f"error: {missing(error.name)}")
        return 1
    except BrokenPipeError:
        # The reader of our output (head, less) has gone; that is its right.
        sys.stderr.close()
        return 0
    except OSError as error:
        if error.errno == errno.EIO and error.filename is None:
            time.sleep(HANGING_UP)
        end_if_asked()
        why = f"{error.filename or 'file'}: {error.strerror or error}"
        if error.errno in FULL and error.filename:
            why = f"no room left for {error.filename!r}: {room(Path(error.filename))}"
        say(f"error: {why}")
        return 1
    return 0


def command_names() -> list[str]:
    """Return what the commands are called on the command line, those of installed packages last."""
    return [*COMMANDS, *added_commands()]


def _options(command: str) -> set[str]:
    if command not in COMMANDS and command not in added_commands():
        return set()
    arguments = make_app([command])[command].assemble_argument_collection()
    return {name for argument in arguments for name in argument.names}


def __getattr__(name: str) -> App:
    """Make ``app``, the whole command line, when somebody asks for it."""
    if name == "app":
        return whole_app()
    raise AttributeError(f"module 'movers.cli' has no attribute {name!r}")
