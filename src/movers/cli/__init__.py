"""The command line: one function per command, in files by what they do.

Files and what they need are imported for the command at hand alone; help, version, the list of
measures and a quick look at the installation need next to nothing (`movers.cli.quick`).
"""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from movers.cli.quick import COMPLETING, QUICK, answer, side_by_side, summary
from movers.errors import EXTRAS, DependencyError, InputError, MoversError, missing
from movers.plugins import command_places, outside_commands

if TYPE_CHECKING:
    from movers.cli.parameters import Command

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
INSTALL = "--install-completion"
RESEARCH = ("benchmark", "reproduce", "evaluate-alignment")
"""Commands that the distribution movers-research adds."""


@cache
def added_commands() -> dict[str, Callable[..., Any]]:
    """Return the commands of installed packages by name; a name of ours stays what it is."""
    named = {command.__name__.replace("_", "-"): command for command in outside_commands()}
    return {name: command for name, command in named.items() if name not in COMMANDS}


def function_of(command: str) -> Callable[..., Any]:
    """Import what a command runs."""
    if command not in COMMANDS and command != INSTALL:
        return added_commands()[command]
    module = import_module(f"movers.cli.{COMMANDS.get(command, 'completion')}")
    function: Callable[..., Any] = getattr(module, command.lstrip("-").replace("-", "_"))
    return function


def command_named(name: str) -> Command:
    """Return a command with its options."""
    from click import UsageError

    from movers.cli.parameters import Command, near

    if name not in COMMANDS and name != INSTALL and name not in added_commands():
        known = command_names()
        raise UsageError(
            f'Unknown command "{name}".{near(name, known)} Available commands: {", ".join(known)}'
        )
    return Command(name, function_of(name))


def summaries() -> dict[str, str]:
    """Return the first line of every command, without importing one."""
    rows = {
        name: summary(Path(__file__).with_name(f"{file}.py"), name.replace("-", "_"))
        for name, file in COMMANDS.items()
    }
    return rows | {name: summary(*place) for name, place in command_places().items()}


def print_help() -> None:
    """Print all commands, each with a line."""
    rows = dict(sorted(summaries().items())) | {
        "--help (-h)": "Display this message and exit.",
        INSTALL: "Complete commands and options in this shell.",
        "--version": "Display application version.",
    }
    print(f"Usage: movers COMMAND\n\n{HELP}\n\nCommands:\n{side_by_side(rows)}")
    print("\n`movers COMMAND --help` tells about one of them.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; what goes wrong becomes one line and an exit code.

    Errors movers raises on purpose give 1, unread text under --strict 3, signals what shells expect
    of them.
    """
    if COMPLETING in os.environ:
        from movers.cli.completion import complete

        return complete(summaries(), command_named)
    given = [*(sys.argv[1:] if arguments is None else arguments)]
    if not given or given[0] in ("--help", "-h"):
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
    from click import UsageError

    from movers.cli.messages import say, worded
    from movers.cli.mistaken import meant
    from movers.cli.parameters import run
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
        sys.exit(run(command_named(given[0]), given[1:]))
    except UsageError as error:
        say(f"error: {error.message}")
        return 2
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


def command_names() -> list[str]:
    """Return what the commands are called on the command line, those of installed packages last."""
    return [*COMMANDS, *added_commands()]


def _options(command: str) -> set[str]:
    if command not in command_names():
        return set()
    return {name for parameter in command_named(command).params for name in parameter.opts}
