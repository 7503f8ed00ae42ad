"""The metric keeps the order of the pairs through batches, copies and processes."""

import pickle
import warnings
from copy import deepcopy

import numpy as np
import pytest
import torch
from torchmetrics import MetricCollection

from movers.errors import InputError
from movers.integrations.torchmetrics import MoversDistance
from movers.references import best_of
from processes import PROCESSES
from tiny_models import PAIRS

PREDS = [source for source, _ in PAIRS]
TARGET = [target for _, target in PAIRS]


@pytest.fixture
def metric(bert):
    return MoversDistance(bert)


@pytest.fixture(scope="module")
def expected(bert):
    return bert.distances(PAIRS).astype(np.float32)


def test_mean_over_batches(metric, expected):
    for start in (0, 10, 20):
        metric.update(PREDS[start : start + 10], TARGET[start : start + 10])
    assert metric.compute().item() == pytest.approx(expected[:30].mean(), rel=1e-6)
    assert metric.distances.tolist() == expected[:30].tolist()


def test_pairs_keep_their_order_whatever_their_lengths(bert, expected):
    """Encoders sort sentences by length; every pair must get its own number back."""
    order = np.random.default_rng(0).permutation(len(PAIRS))
    lengths = np.array([len(PREDS[k]) for k in order])
    assert (np.diff(lengths) > 0).any() and (np.diff(lengths) < 0).any()
    assert len(set(expected.tolist())) > len(PAIRS) / 2
    metric = MoversDistance(bert)
    for part in np.array_split(order, 5):
        metric.update([PREDS[k] for k in part], [TARGET[k] for k in part])
    assert metric.distances.tolist() == expected[order].tolist()


def test_forward_gives_the_batch_and_keeps_all(metric, expected):
    first = metric(PREDS[:4], TARGET[:4])
    second = metric(PREDS[4:6], TARGET[4:6])
    assert first.item() == pytest.approx(expected[:4].mean(), rel=1e-6)
    assert second.item() == pytest.approx(expected[4:6].mean(), rel=1e-6)
    assert metric.distances.tolist() == expected[:6].tolist()


def test_reset_merge_and_copies(metric, expected):
    metric.update(PREDS[:3], TARGET[:3])
    for copy in (deepcopy(metric), pickle.loads(pickle.dumps(metric)), metric.clone()):
        copy.update(PREDS[3:5], TARGET[3:5])
        assert copy.distances.tolist() == expected[:5].tolist()
    other = metric.clone()
    other.reset()
    assert other.distances.tolist() == []
    other.update(PREDS[3:5], TARGET[3:5])
    # torchmetrics puts what comes in before what is there
    metric.merge_state(other)
    assert sorted(metric.distances.tolist()) == sorted(expected[:5].tolist())


def test_state_can_be_saved(metric, expected):
    metric.persistent(True)
    metric.update(PREDS[:3], TARGET[:3])
    fresh = MoversDistance(metric.scorer)
    fresh.persistent(True)
    fresh.load_state_dict(metric.state_dict())
    assert fresh.distances.tolist() == expected[:3].tolist()


def test_double_precision_on_demand(bert):
    metric = MoversDistance(bert).set_dtype(torch.float64)
    metric.update(PREDS[:3], TARGET[:3])
    assert metric.distances.tolist() == bert.distances(PAIRS[:3]).tolist()


def test_the_nearest_of_several_references_counts(metric):
    references = [[TARGET[0], PREDS[0]], TARGET[1], (TARGET[2], TARGET[3])]
    metric.update(PREDS[:3], references)
    listed = [[one] if isinstance(one, str) else one for one in references]
    found = best_of(metric.scorer, PREDS[:3], listed)
    assert metric.distances.tolist() == found.astype(np.float32).tolist()
    metric.reset()
    metric.update(PREDS[0], [TARGET[0], PREDS[0]])
    assert metric.distances.tolist() == found[:1].astype(np.float32).tolist()


def test_works_in_a_collection(bert):
    metrics = MetricCollection(
        {"wmd": MoversDistance(bert.using("wmd")), "wsmd": MoversDistance(bert)}
    )
    metrics.update(PREDS[:3], TARGET[:3])
    found = metrics.compute()
    for name in ("wmd", "wsmd"):
        mean = bert.using(name).distances(PAIRS[:3]).mean()
        assert found[name].item() == pytest.approx(mean, rel=1e-6)


def test_pairs_without_a_distance_do_not_spoil_the_mean(bert):
    metric = MoversDistance(bert.using("wmd", empty="nan"))
    with pytest.warns(UserWarning, match="1 of 2 pairs have no distance"):
        metric.update([PREDS[0], "the of"], [TARGET[0], TARGET[1]])
    assert metric.compute().item() == metric.distances[0].item()
    assert metric.distances[1].isnan()


def test_a_name_makes_a_scorer_and_nothing_loads_before_it_is_needed():
    metric = MoversDistance("wmd")
    assert metric.scorer.settings.measure.name == "wmd" and "encoder" not in vars(metric.scorer)
    with pytest.warns(UserWarning, match="before the ``update``"):
        assert metric.compute().isnan()


def test_uneven_lists_are_refused(metric):
    with pytest.raises(InputError, match="got 2 candidates and 1 lists"):
        metric.update(PREDS[:2], TARGET[:1])


class Lengths:
    """A scorer that needs no model."""

    def distances(self, pairs, progress=False):
        return np.array([len(a) - len(b) for a, b in pairs], float)


def gather(rank, address, rounds, answer):
    """Add a share of every round, and send what all shares come to."""
    torch.distributed.init_process_group("gloo", init_method=address, rank=rank, world_size=2)
    warnings.simplefilter("ignore", UserWarning)  # about computing with nothing added
    for shares in rounds:
        metric = MoversDistance(Lengths())
        for length in shares[rank]:
            metric.update(["x" * length], [""])
        mean = metric.compute().item()
        with metric.sync_context():
            answer.send([mean, metric.distances.tolist()])
    torch.distributed.destroy_process_group()


def test_processes_are_gathered_in_order(tmp_path):
    """Two processes with shares of different size, then one of them with nothing to add."""
    rounds = [[[4, 0, 9], [7, 2]], [[], [5]]]
    pipes = [PROCESSES.Pipe(duplex=False) for _ in range(2)]
    workers = [
        PROCESSES.Process(target=gather, args=(rank, f"file://{tmp_path}/meeting", rounds, pipe[1]))
        for rank, pipe in enumerate(pipes)
    ]
    try:
        for worker, (_, answer) in zip(workers, pipes, strict=True):
            worker.start()
            answer.close()
        for received, _ in pipes:
            assert received.recv() == [pytest.approx(22 / 5), [4, 0, 9, 7, 2]]
            assert received.recv() == [5, [5]]
        for worker in workers:
            worker.join(60)
            assert worker.exitcode == 0
    finally:
        for worker in workers:
            worker.kill()  # one of them may wait for the other in vain
