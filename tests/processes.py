"""Processes of their own, to be killed or stopped, that need not import everything again."""

import multiprocessing
import os
import sys

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(
    [
        "movers_research.evaluation",
        "movers.loading",
        "movers.search.mining",
        "pandas",
        "tiny_models",
        "transformers.models.bert.modeling_bert",
        "wordfreq",
    ]
)


def unsynced():
    """Do not wait for the disk: a killed process loses nothing that it has written."""
    os.fsync = lambda number: None


def go_on_as(arguments):
    """Be the command line."""
    from movers.__main__ import run

    sys.argv = ["movers", *arguments]
    sys.exit(run())


def go_on_apart(arguments, environment, errors):
    """Be the command line with variables, and a place for its messages, of its own."""
    os.environ.update(environment)
    os.dup2(errors.fileno(), 2)
    errors.close()
    go_on_as(arguments)


class Command:
    """The command line in a process of its own; the same to ask as `subprocess.Popen`."""

    def __init__(self, *arguments, **environment):
        received, errors = PROCESSES.Pipe(duplex=False)
        self.process = PROCESSES.Process(target=go_on_apart, args=(arguments, environment, errors))
        self.process.start()
        errors.close()
        self.stderr = os.fdopen(os.dup(received.fileno()), encoding="utf-8")
        received.close()
        self.kill, self.terminate = self.process.kill, self.process.terminate

    def wait(self, patience=None):
        """The exit code."""
        self.process.join(patience)
        return self.process.exitcode
