"""Whatever arrays `movers.solve` is given, it answers or says what is wrong, and soon."""

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FUZZ = Path(__file__).with_name("fuzz.py")
PATIENCE = 1200
"""Seconds of waiting for a thousand calls."""


def sweep(first, last, at_once=1000):
    """Make the calls of these seeds; returns how many were solved, refused, and the faults."""
    counts, faults = np.zeros(2, int), {}
    while first < last:
        until = min(last, first + at_once)
        done = subprocess.run(
            [sys.executable, str(FUZZ), str(first), str(until)],
            capture_output=True,
            text=True,
            timeout=PATIENCE,  # of a call that waits for something and takes no processor time
        )
        end = done.stdout.splitlines()[-1]
        if done.returncode == 0:
            counts += np.array(end.split(), int)
            first = until
        else:
            faults[int(end)] = done.returncode, done.stderr[-2000:]
            first = int(end) + 1
    return *counts, faults


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no clock of processor time")
def test_a_few_hundred_nasty_calls():
    solved, refused, faults = sweep(0, 300)
    assert not faults
    assert solved > 100 and refused > 100


@pytest.mark.published
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no clock of processor time")
@pytest.mark.timeout(3600)
def test_ten_thousand_nasty_calls():
    solved, refused, faults = sweep(1000, 13_000)
    assert not faults
    assert solved > 4000 and refused > 4000
