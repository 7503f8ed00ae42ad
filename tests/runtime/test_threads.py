"""Work is covered once, whatever the threads."""

import signal
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from movers.runtime import threads as parallel
from movers.runtime.threads import (
    UnwantedError,
    available_threads,
    only_while,
    read_ahead,
    share_out,
)


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


@pytest.mark.parametrize("threads", [1, 2])
def test_work_that_is_not_wanted_any_more_ends_early(threads):
    stop, begun = np.zeros(1, np.int64), []

    def solve(low, high):
        begun.append(low)
        while not stop[0]:
            time.sleep(0.001)

    with pytest.raises(UnwantedError), only_while(lambda: not begun):
        share_out(solve, np.full(100, 10**7), threads, stop)
    assert 1 <= len(begun) <= threads
    share_out(lambda low, high: None, np.full(100, 10**7), threads)  # nothing is unwanted again


def test_available_threads():
    assert available_threads() >= 1


@pytest.fixture
def heard():
    """Signals that whoever started the tests may have had ignored."""
    wanted = {signal.SIGINT: signal.default_int_handler}
    if hasattr(signal, "SIGHUP"):
        wanted[signal.SIGHUP] = signal.SIG_DFL
    before = {number: signal.signal(number, handler) for number, handler in wanted.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.usefixtures("heard")
def test_an_interrupt_ends_what_is_under_way_and_starts_nothing_new(threads):
    """Ctrl-C in the first of many ranges: the rest is not run, and kernels are told to end."""
    main, stop = threading.main_thread().ident, np.zeros(1, np.int64)
    seen = []

    def solve(low, high):
        seen.append(low)
        if len(seen) == 1:
            signal.pthread_kill(main, signal.SIGINT)
        time.sleep(0.01)

    work = np.full(400, int(parallel.LONGEST_RANGE))
    with pytest.raises(KeyboardInterrupt):
        share_out(solve, work, threads, stop)
    assert len(seen) < len(work)
    assert stop[0] == 1


def test_the_next_one_is_under_way_while_one_is_used():
    begun = [threading.Event() for _ in range(4)]

    def make(number):
        begun[number].set()
        return -number

    used = []
    for made in read_ahead(make, range(4)):
        if made > -3:
            assert begun[1 - made].wait(10)
        used.append(made)
    assert used == [0, -1, -2, -3] and list(read_ahead(make, [])) == []


def test_what_fails_ahead_fails_in_its_turn():
    made = read_ahead(lambda number: 6 // number, [3, 2, 0])
    assert next(made) == 2 and next(made) == 3
    with pytest.raises(ZeroDivisionError):
        next(made)
