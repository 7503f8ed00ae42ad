"""A process forked from one that has computed computes too."""

import multiprocessing
import os
import threading
import warnings

import numpy as np
import pytest
import torch

import movers
from movers.runtime import compiling, machine_code, threads
from movers.runtime.machine_code import compile_here
from movers.solve import emd
from processes import PROCESSES

PAIRS = [(f"the cat of house {k} sleeps", f"house {k} sleeps in the cat") for k in range(64)]
OTHERS = [(f"a dog of street {k} runs", f"street {k} runs in a dog") for k in range(64)]
COST = np.random.default_rng(0).random((300, 300))
SCORERS = []
"""What children find as their parent left it."""


def compute(pairs):
    return SCORERS[0].distances(pairs).sum() + emd(COST).value


def compute_and_fork():
    """Compute with several threads, then in children."""
    warnings.simplefilter("ignore")
    threads.WORTH_A_THREAD = 1.0
    torch.set_num_threads(2)
    SCORERS.append(movers.load(method="wmd", threads=2))
    compute(PAIRS)
    if (child := os.fork()) == 0:
        os._exit(int(np.isfinite(compute(OTHERS))))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map(compute, [OTHERS, OTHERS])
    assert torch.get_num_threads() == 2
    np.testing.assert_allclose(found, compute(OTHERS), rtol=1e-5)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_children_of_a_process_that_has_computed_compute():
    process = PROCESSES.Process(target=compute_and_fork)
    process.start()
    process.join(250)  # a child that waits for threads it has not got waits for ever
    process.kill()
    assert process.exitcode == 0


def compile_and_fork():
    """Fork while another thread compiles; parent and child then call what it made."""
    began, go_on = threading.Event(), threading.Event()

    def slowly(*given):
        began.set()
        go_on.wait(60)
        return compile_here(*given)

    machine_code.compile_here = slowly
    compiling.library = lambda: None
    thread = threading.Thread(target=emd, args=(COST[:3, :4],))
    thread.start()
    began.wait(60)
    threading.Timer(0.5, go_on.set).start()
    if (child := os.fork()) == 0:
        os._exit(int(emd(COST[:3, :4]).converged))
    thread.join()
    assert emd(COST[:3, :4]).converged
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_child_forked_while_a_kernel_is_compiled_computes():
    process = PROCESSES.Process(target=compile_and_fork)
    process.start()
    process.join(120)  # a child that waits for a lock of its parent's threads waits for ever
    process.kill()
    assert process.exitcode == 0
