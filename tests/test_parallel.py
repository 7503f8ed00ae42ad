"""Work is covered once, whatever the threads."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from movers.parallel import available_threads, share_out


@given(
    st.lists(st.integers(0, 10**7), max_size=40),
    st.sampled_from([None, 1, 2, 3, 8]),
)
def test_every_item_is_handled_exactly_once(work, threads):
    seen, lock = [], threading.Lock()

    def solve(low, high):
        with lock:
            seen.extend(range(low, high))

    share_out(solve, np.array(work, np.int64), threads)
    assert sorted(seen) == list(range(len(work)))


def test_small_work_stays_in_the_calling_thread():
    threads = set()
    share_out(lambda low, high: threads.add(threading.get_ident()), np.ones(100, np.int64), 8)
    assert threads == {threading.get_ident()}


def test_errors_come_through():
    def solve(low, high):
        raise RuntimeError("inside")

    with pytest.raises(RuntimeError, match="inside"):
        share_out(solve, np.full(100, 10**6), 2)


def test_available_threads():
    assert available_threads() >= 1
