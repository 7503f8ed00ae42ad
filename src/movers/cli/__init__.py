"""The command line: one function per command, in files by what they do."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from cyclopts import App

from movers.cli.comparing import compare, methods, models
from movers.cli.evaluating import evaluate, reproduce
from movers.cli.examining import doctor, warm_up
from movers.cli.explaining import explain
from movers.cli.messages import CommandLine, plain_messages, say, told
from movers.cli.scoring import fit, score
from movers.cli.search import dedupe, index, mine, search
from movers.cli.serving import serve
from movers.errors import MoversError
from movers.version import __version__

app = App(
    name="movers",
    version=__version__,
    help="Sentence similarity that sees word order and shows its reasons.",
    help_format="markdown",
    suppress_keyboard_interrupt=False,
)
COMMANDS = (
    *(compare, explain, score, fit, index, search, mine, dedupe),
    *(evaluate, reproduce, serve, methods, models, doctor, warm_up),
)
for command in COMMANDS:
    app.command(command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; errors movers raises on purpose become one line and exit code 1."""
    given = sys.argv[1:] if arguments is None else arguments
    with plain_messages(_wording(given)):
        try:
            app(arguments, exit_on_error=True, print_error=True)
        except MoversError as error:
            say(f"error: {told(error)}")
            return 1
        except KeyboardInterrupt:
            say("interrupted")
            return 130
        except BrokenPipeError:
            # The reader of our output (head, less) has gone; that is its right.
            sys.stderr.close()
            return 0
        except OSError as error:
            say(f"error: {error.filename or 'file'}: {error.strerror or error}")
            return 1
    return 0


def _wording(given: Sequence[str]) -> CommandLine:
    """How remedies are worded under a command: by its options, or those of the index it reads."""
    name = given[0] if given else ""
    return CommandLine(_options(name), _options("index") if name == "search" else ())


def _options(command: str) -> set[str]:
    if command not in {known.__name__ for known in COMMANDS}:
        return set()
    arguments = app[command].assemble_argument_collection()
    return {name for argument in arguments for name in argument.names}
