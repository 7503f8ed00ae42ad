"""A process forked from one that has computed computes too."""

import subprocess
import sys

import pytest

SCRIPT = """
import multiprocessing
import os

import numpy as np
import torch

import movers
from movers.runtime import threads as parallel
from movers.solve import emd

parallel.WORTH_A_THREAD = 1.0
torch.set_num_threads(2)
scorer = movers.load(method="wmd", threads=2)
pairs = [(f"the cat of house {k} sleeps", f"house {k} sleeps in the cat") for k in range(64)]
others = [(f"a dog of street {k} runs", f"street {k} runs in a dog") for k in range(64)]
cost = np.random.default_rng(0).random((300, 300))
scorer.distances(pairs)
emd(cost, threads=2)


def compute(pairs):
    return scorer.distances(pairs).sum() + emd(cost, threads=2).value


if (child := os.fork()) == 0:
    os._exit(int(np.isfinite(compute(others))))
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
with multiprocessing.get_context("fork").Pool(2) as pool:
    found = pool.map(compute, [others, others])
assert torch.get_num_threads() == 2
np.testing.assert_allclose(found, compute(others), rtol=1e-5)
print("all the same")
"""


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="no fork on this system")
def test_children_of_a_process_that_has_computed_compute():
    # the time limit is a net: a child that waits for threads it has not got waits for ever
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT], capture_output=True, text=True, timeout=300
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout == "all the same\n"
