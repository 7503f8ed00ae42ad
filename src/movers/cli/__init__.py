"""The command line: one function per command, in files by what they do."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from cyclopts import App, Parameter

from movers.cli.aligning import align, evaluate_alignment
from movers.cli.comparing import compare, explain
from movers.cli.evaluating import evaluate, reproduce, threshold
from movers.cli.examining import doctor, methods, models, warm_up
from movers.cli.messages import CommandLine, plain_messages, say, told
from movers.cli.scoring import fit, score
from movers.cli.search import dedupe, index, mine, rank, search
from movers.cli.serving import serve
from movers.errors import MoversError
from movers.plugins import add_outside_measures
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
COMMANDS = (
    *(compare, explain, align, score, rank, fit, index, search, mine, dedupe, threshold),
    *(evaluate, evaluate_alignment, reproduce, serve, methods, models, doctor, warm_up),
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
    # Remedies are options of the command, or of the one that built the index it reads.
    wording = CommandLine(_options(name), _options("index") if name == "search" else ())
    with plain_messages(wording), ending_work() as interrupts:
        try:
            return _run(arguments)
        except SystemExit:
            raise
        except BaseException:
            if not interrupts.seen:
                raise
            # Whatever a signal broke, it is an end that was asked for.
            with suppress(OSError):  # a terminal that hung up takes no message
                say(interrupts.told)
            return interrupts.code


def _run(arguments: Sequence[str] | None) -> int:
    try:
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


def command_names() -> list[str]:
    """What the commands are called on the command line."""
    return [known.__name__.replace("_", "-") for known in COMMANDS]


def _options(command: str) -> set[str]:
    if command not in command_names():
        return set()
    arguments = app[command].assemble_argument_collection()
    return {name for argument in arguments for name in argument.names}
