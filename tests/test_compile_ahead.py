"""After warming up nothing is left to compile."""

import warnings

import movers
from movers import compile_ahead
from movers.runtime import compiling
from processes import PROCESSES

PAIR = "the dog bites the old man", "the old man bites the big dog"
METHODS = ("movers", "wsmd", "wmd", "average", "sif", "bow", "bertscore", "moverscore")


def compute_after_warming_up(model):
    warnings.simplefilter("ignore")
    list(compile_ahead.warm_up())
    assert [one.name for one in compiling.entries if not one.calls] == []
    before = {one.name: set(one.calls) for one in compiling.entries}
    assert len(before) > 15
    for method in METHODS:
        scorer = movers.load(method, model, whitening="none", threads=1)
        scorer.fit([*PAIR, "one more"]).distances([PAIR])
    scorer.rank(PAIR[0], [PAIR[1], "one more", "and another"], top_k=1)
    for one in compiling.entries:
        assert set(one.calls) == before.get(one.name, set()), one.name


def test_warming_up_leaves_nothing_to_compile(tiny):
    """In a process of its own: here, other tests may have compiled before."""
    process = PROCESSES.Process(target=compute_after_warming_up, args=[tiny("bert")])
    process.start()
    process.join()
    assert process.exitcode == 0
