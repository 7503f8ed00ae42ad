"""Processes of their own, to be killed or stopped, that need not import everything again."""

import multiprocessing
import os

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(
    [
        "movers.evaluate.evaluation",
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
