"""Signals end the work, not the process; what must be whole is not disturbed."""

import gc
import os
import signal
import weakref

import pytest

from movers.runtime.interrupts import Ended, end_if_asked, ending_work, undisturbed

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sends signals")
NUMBERS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP] if os.name == "posix" else []


@pytest.fixture(autouse=True)
def heard():
    """Signals that whoever started the tests may have had ignored."""
    wanted = {signal.SIGINT: signal.default_int_handler}
    if hasattr(signal, "SIGHUP"):
        wanted[signal.SIGHUP] = signal.SIG_DFL
    before = {number: signal.signal(number, handler) for number, handler in wanted.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_signal_ends_the_work_and_leaves_the_handlers_as_they_were(number):
    before = signal.getsignal(number)
    with pytest.raises(Ended), ending_work() as interrupts:
        os.kill(os.getpid(), number)
    assert interrupts.code == 128 + number and interrupts.description
    assert signal.getsignal(number) is before


def test_what_must_be_whole_is_finished_first():
    done = []

    def work():
        with undisturbed():
            os.kill(os.getpid(), signal.SIGTERM)
            done.append("whole")
        done.append("more")

    with pytest.raises(Ended), ending_work():
        work()
    assert done == ["whole"]


def test_an_end_that_got_lost_comes_again(capsys):
    class Thing:
        pass

    def work():
        thing = Thing()
        weakref.finalize(thing, os.kill, os.getpid(), signal.SIGINT)
        del thing
        gc.collect()
        end_if_asked()

    with pytest.raises(Ended), ending_work():
        work()
    end_if_asked()  # outside there is nothing to end
    assert not capsys.readouterr().err


def test_a_signal_that_is_ignored_stays_so():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with ending_work():
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)
