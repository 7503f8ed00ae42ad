import threading
import time

import pytest
from starlette.exceptions import HTTPException

from movers.errors import InputError
from movers.runtime.threads import end_if_unwanted
from movers.web.batcher import BATCH_PAIRS, Batcher, Job


class Desk:
    """Answers pairs by their text, and remembers the calls; waits while `open` is cleared."""

    def __init__(self):
        self.calls = []
        self.open = threading.Event()
        self.open.set()
        self.busy = threading.Event()

    def answer(self, setup, pairs):
        if setup == "impossible":
            raise ValueError("no such setup")
        self.calls.append((setup, [source for source, _ in pairs]))
        self.busy.set()
        self.open.wait()
        if any(source == "poison" for source, _ in pairs):
            raise RuntimeError("poisoned")
        return [
            InputError("no") if source == "refused" else f"{setup}:{source}" for source, _ in pairs
        ]

    def job(self, setup, *sources, effort=0.001):
        pairs = [(source, "") for source in sources]
        return Job(setup, pairs, [effort] * len(pairs))


@pytest.fixture
def desk():
    return Desk()


@pytest.fixture
def batcher(desk):
    batcher = Batcher(desk.answer, capacity=1000)
    yield batcher
    desk.open.set()
    batcher.close()


@pytest.fixture
def steady(monkeypatch):
    """Efforts are seconds, however quick the desk is."""
    monkeypatch.setattr(Batcher, "learn", lambda *_: None)


def block(desk, batcher):
    """Keep the idle thread busy, so that whatever comes next has to wait."""
    desk.open.clear()
    desk.busy.clear()
    first = desk.job("a", "first")
    batcher.submit([first])
    assert desk.busy.wait(10)
    return first


def finish(desk, batcher):
    """Have everything answered; the pairs of every call since the thread was kept busy."""
    desk.open.set()
    batcher.close()
    return [sources for _, sources in desk.calls[1:]]


def test_whatever_waits_is_answered_in_one_call_per_setup(desk, batcher):
    block(desk, batcher)
    jobs = [desk.job("ab"[k % 2], f"{k}") for k in range(6)]
    for job in jobs:
        batcher.submit([job])
    assert batcher.waiting == 6
    desk.open.set()
    results = [job.future.result(10) for job in jobs]
    assert results == [[f"{'ab'[k % 2]}:{k}"] for k in range(6)]
    assert desk.calls[1:] == [("a", ["0", "2", "4"]), ("b", ["1", "3", "5"])]


def test_a_long_job_lets_a_short_one_pass(desk, batcher):
    block(desk, batcher)
    long = desk.job("a", *map(str, range(3 * BATCH_PAIRS)))
    short = desk.job("a", "short")
    batcher.submit([long])
    batcher.submit([short])
    desk.open.set()
    assert short.future.result(10) == ["a:short"]
    assert long.future.result(10) == [f"a:{k}" for k in range(3 * BATCH_PAIRS)]
    sizes = [len(sources) for _, sources in desk.calls[1:]]
    assert sizes[0] == BATCH_PAIRS and max(sizes) == BATCH_PAIRS
    assert "short" in desk.calls[2][1]


def test_batches_take_no_longer_than_a_stride(desk, steady):
    batcher = Batcher(desk.answer, capacity=1000, stride=1.0)
    block(desk, batcher)
    batcher.submit([desk.job("a", *"xxxxxxxx", effort=0.4)])
    assert list(map(len, finish(desk, batcher))) == [2, 2, 2, 2]


def test_a_pair_longer_than_a_stride_is_a_batch_of_its_own(desk, steady):
    batcher = Batcher(desk.answer, capacity=1000, stride=1.0)
    block(desk, batcher)
    batcher.submit([desk.job("a", *"xyz", effort=5)])
    assert finish(desk, batcher) == [["x"], ["y"], ["z"]]


def test_short_jobs_overtake_long_ones_which_still_get_every_other_turn(desk, steady):
    batcher = Batcher(desk.answer, capacity=1000, stride=1.0)
    block(desk, batcher)  # the turn of the shortest
    for name in "ABC":
        batcher.submit([desk.job("a", name, effort=5)])
    for name in "wxyz":
        batcher.submit([desk.job("a", name, effort=0.6)])
    assert finish(desk, batcher) == [[name] for name in "AwBxCyz"]


def test_a_full_queue_turns_away_all_or_nothing(desk, batcher):
    block(desk, batcher)
    batcher.submit([desk.job("a", *["x"] * 600)])
    with pytest.raises(HTTPException, match="600 pairs are waiting") as error:
        batcher.submit([desk.job("a", *["x"] * 300), desk.job("b", *["x"] * 300)])
    assert error.value.status_code == 429
    assert 1 <= int(error.value.headers["Retry-After"]) <= 60
    assert batcher.waiting == 600
    batcher.submit([desk.job("a", *["x"] * 400)])


def test_a_long_job_keeps_every_other_turn_until_it_is_done(desk, steady):
    batcher = Batcher(desk.answer, capacity=1000, stride=1.0)
    block(desk, batcher)  # the turn of the shortest
    for name in "AB":
        batcher.submit([desk.job("a", name, name, name, effort=1)])
    for name in "wxyz":
        batcher.submit([desk.job("a", name, effort=0.9)])
    assert finish(desk, batcher) == [[name] for name in "AwAxAyBzBB"]


def test_jobs_that_would_come_too_late_are_turned_away(desk, steady):
    batcher = Batcher(desk.answer, capacity=1000, timeout=30)
    desk.open.clear()
    first = desk.job("a", "x", effort=60)
    batcher.submit([first])  # nothing else is there to do, so that this is taken in any case
    assert desk.busy.wait(10)
    with pytest.raises(HTTPException, match="0 pairs are waiting") as error:
        batcher.submit([desk.job("a", "y", effort=1)])
    assert error.value.headers == {
        "Retry-After": "50"
    }  # 60 in work, of which a third of 30 may be waited for
    first.future.cancel()
    batcher.submit([desk.job("a", "z", effort=1)])  # in work, but nobody waits for it
    desk.open.set()
    batcher.close()


def test_a_long_job_needs_twice_its_time_for_others_overtake(desk, steady):
    batcher = Batcher(desk.answer, capacity=1000, timeout=30)
    block(desk, batcher)
    batcher.submit([desk.job("a", "x", effort=9)])
    batcher.submit([desk.job("a", "short", effort=0.1)])  # overtakes
    batcher.submit([desk.job("a", "y", effort=10)])  # after 9.1, and 20 for itself
    with pytest.raises(HTTPException) as error:
        batcher.submit([desk.job("a", "z", effort=10)])
    assert error.value.headers == {"Retry-After": "10"}  # 19.1 to wait for
    finish(desk, batcher)


def test_a_job_that_proves_too_long_is_given_up_after_its_first_share(desk, steady):
    batcher = Batcher(desk.answer, capacity=1000, timeout=30, stride=1.0)
    long, longer = (desk.job("a", *["x"] * 100, effort=effort) for effort in (0.5, 0.7))
    batcher.submit([long])
    assert long.future.result(10)  # 50 at a pace that may double
    batcher.submit([longer])
    with pytest.raises(HTTPException, match="no answer within 30 s"):
        longer.future.result(10)
    batcher.close()
    assert sum(len(sources) for _, sources in desk.calls) == 101  # and one for the first share


def test_short_jobs_are_turned_away_when_too_many_are_as_short(desk, steady):
    batcher = Batcher(desk.answer, capacity=1000, timeout=30)
    block(desk, batcher)
    batcher.submit([desk.job("a", "long", effort=9)])
    for _ in range(5):
        batcher.submit([desk.job("a", "x", effort=1)])
    with pytest.raises(HTTPException, match="6 pairs are waiting"):
        batcher.submit([desk.job("a", "x", effort=1)])
    finish(desk, batcher)


def test_the_pace_is_what_was_answered_in_the_time(batcher):
    assert batcher.pace == 1
    for _ in range(100):
        batcher.learn(6, 2)
    batcher.learn(0, 50)
    batcher.learn(0.01, 50)  # something else kept the machine busy
    assert batcher.pace == 3
    for _ in range(9):
        batcher.learn(6, 6)
    assert batcher.pace == 1


@pytest.mark.parametrize("source", ["refused", "poison"])
def test_failures_do_not_count_as_served(desk, batcher, source):
    jobs = [desk.job("a", *[source] * 200, effort=10) for _ in range(3)]
    batcher.submit(jobs)
    for job in jobs:
        assert job.future.exception(10) or job.future.result(0)
    batcher.close()
    assert batcher.pace == 1


def test_cancelled_jobs_make_room_and_are_never_computed(desk, batcher):
    block(desk, batcher)
    job = desk.job("a", *["late"] * 1000)
    batcher.submit([job])
    job.future.cancel()
    other = desk.job("a", *["next"] * 1000)
    batcher.submit([other])
    desk.open.set()
    other.future.result(10)
    assert not any("late" in sources for _, sources in desk.calls)


def test_cancelling_everything_leaves_the_thread_alive(desk):
    sizes = []
    batcher = Batcher(
        desk.answer, capacity=1000, observe=lambda pairs, seconds: sizes.append(pairs)
    )
    block(desk, batcher)
    job = desk.job("a", "late")
    batcher.submit([job])
    job.future.cancel()
    desk.open.set()
    while batcher.waiting:
        time.sleep(0.001)
    again = desk.job("a", "again", "and again")
    batcher.submit([again])
    assert again.future.result(10) == ["a:again", "a:and again"]
    assert batcher.alive
    batcher.close()
    assert sizes == [1, 2]  # a batch of nothing would make the pace look slow


def test_a_cancelled_long_job_stops_between_batches(desk, batcher):
    desk.open.clear()
    job = desk.job("a", *["x"] * 1000)
    batcher.submit([job])
    assert desk.busy.wait(10)
    job.future.cancel()
    desk.open.set()
    after = desk.job("a", "after")
    batcher.submit([after])
    after.future.result(10)
    assert sum(len(sources) for _, sources in desk.calls) == BATCH_PAIRS + 1


def test_a_cancelled_job_stops_within_a_batch(desk):
    def answer(setup, pairs):
        if setup != "endless":
            return desk.answer(setup, pairs)
        desk.busy.set()
        while True:
            end_if_unwanted()
            time.sleep(0.001)

    batcher = Batcher(answer, capacity=1000)
    jobs = [Job("endless", [("x", "")], [0.001]) for _ in range(2)]
    batcher.submit(jobs)
    assert desk.busy.wait(10)
    after = desk.job("a", "after")
    batcher.submit([after])
    jobs[0].future.cancel()
    time.sleep(0.05)
    assert not after.future.done()  # the other one is still waited for
    jobs[1].future.cancel()
    assert after.future.result(10) == ["a:after"]
    batcher.close()


def test_one_bad_job_does_not_spoil_its_neighbours(desk, batcher):
    block(desk, batcher)
    good, bad = desk.job("a", "good"), desk.job("a", "poison")
    lost = desk.job("impossible", "x")
    for job in (good, bad, lost):
        batcher.submit([job])
    desk.open.set()
    assert good.future.result(10) == ["a:good"]
    with pytest.raises(RuntimeError, match="poisoned"):
        bad.future.result(10)
    with pytest.raises(ValueError, match="no such setup"):
        lost.future.result(10)


def test_closing_finishes_what_was_accepted(desk):
    batcher = Batcher(desk.answer, capacity=1000)
    block(desk, batcher)
    job = desk.job("a", *map(str, range(900)))
    batcher.submit([job])
    closing = threading.Thread(target=batcher.close)
    closing.start()
    while batcher.alive:
        time.sleep(0.001)
    with pytest.raises(HTTPException, match="shutting down"):
        batcher.submit([desk.job("a", "late")])
    desk.open.set()
    closing.join(10)
    assert len(job.future.result(0)) == 900
