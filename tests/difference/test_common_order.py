"""Sequences in common, against the distances of rapidfuzz."""

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from movers.difference.common_order import common_places, gains_of_exchanges

LCSseq = pytest.importorskip("rapidfuzz.distance").LCSseq
WORDS = st.lists(st.sampled_from("abcdef"), max_size=30)


def places(first, second):
    return [
        (step.src_start + k, step.dest_start + k)
        for step in LCSseq.opcodes(first, second)
        if step.tag == "equal"
        for k in range(step.src_end - step.src_start)
    ]


def gain(first, second, low, high):
    exchanged = [*second]
    exchanged[low], exchanged[high] = second[high], second[low]
    return LCSseq.similarity(first, exchanged) - LCSseq.similarity(first, second)


@given(WORDS, WORDS)
def test_places_and_gains(first, second):
    """Where several sequences are as long, it is the same one."""
    assert common_places(first, second) == places(first, second)
    exchanges = [*combinations(range(len(second)), 2)][::7]
    wanted = [gain(first, second, *exchange) for exchange in exchanges]
    assert [*gains_of_exchanges(first, second, exchanges)] == wanted


@pytest.mark.parametrize("length", [63, 64, 65, 200, 1000])
def test_long_sequences(length):
    drawn = random.Random(length)
    words = [f"word{number}" for number in range(length // 3)]
    for other in (length, length // 2, length + 7):
        first, second = drawn.choices(words, k=length), drawn.choices(words, k=other)
        assert common_places(first, second) == places(first, second)
        exchange = other // 3, other - 2
        gains = [*gains_of_exchanges(first, second, [exchange])]
        assert gains == [gain(first, second, *exchange)]
