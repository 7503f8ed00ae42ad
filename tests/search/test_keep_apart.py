"""Support tickets: copies are found, and no two orders become one."""

import random
import re

import pytest

import movers
from movers import checks
from movers.cache import SemanticCache
from movers.errors import InputError
from movers.io.tables import open_table
from movers.search.dedupe import dedupe_file, preview
from movers.search.index import Index
from movers.search.mining import mine_file

SAID = [
    "Order {} has not arrived yet.",
    "Where is my order {}?",
    "I want to return order {}.",
    "Please cancel order {}.",
    "The parcel of order {} was damaged.",
    "I was charged twice for order {}.",
    "Can you change the address of order {}?",
    "The invoice for order {} is missing.",
    "Two shirts of order {} are the wrong size.",
    "When will order {} be shipped?",
    "The courier never rang for order {}.",
    "I would like a refund for order {}.",
    "The voucher was not applied to order {}.",
    "Order {} says delivered, but nothing came.",
    "Please gift-wrap order {}.",
    "The lamp from order {} does not work.",
    "Add batteries to order {}.",
    "Who signed for order {}?",
    "The colour in order {} differs from the picture.",
    "My neighbour received order {} by mistake.",
]


@pytest.fixture(scope="module")
def tickets():
    """3,000 tickets: 2,400 of distinct orders, 600 copies of them with other signs."""
    draw = random.Random(0)
    orders = draw.sample(range(1000, 10000), 2400)
    first = [draw.choice(SAID).format(order) for order in orders]
    copies = [text.rstrip(".?") + draw.choice(["!", "", " ."]) for text in draw.sample(first, 600)]
    return [*first, *copies]


@pytest.fixture(scope="module")
def index(tickets):
    return Index.build(movers.load(), tickets)


def orders_of(text):
    return re.findall(r"\d{4}", text)


def test_no_two_orders_are_merged_and_copies_are_found(index, tickets, tmp_path):
    output, dropped = tmp_path / "kept.txt", tmp_path / "dropped.tsv"
    report = dedupe_file(index, 0.09, output, dropped, lines=tickets)
    with open_table(dropped) as table:
        rows = [dict(zip(chunk, row, strict=True)) for chunk in table.chunks
                for row in zip(*(_listed(one) for one in chunk.values()), strict=True)]  # fmt: skip
    assert all(orders_of(row["sentence"]) == orders_of(row["repeats"]) for row in rows)
    assert len(rows) == report.near + report.repeated >= 540
    assert report.guarded > 100
    assert all(row["why"] for row in rows if row["reason"] == "near")
    kept = output.read_text("utf-8").splitlines()
    assert {*map(tuple, map(orders_of, kept))} == {*map(tuple, map(orders_of, tickets))}


def test_without_guards_different_orders_are_merged(index, tickets):
    bare = preview(index, 0.09, lines=tickets, guards=())
    spared = preview(index, 0.09, lines=tickets)
    assert bare.near > spared.near and bare.guarded == 0 < spared.guarded


def test_guarded_pairs_are_not_mined(tmp_path):
    small = Index.build(
        movers.load(), ["Order 8291 is late.", "Order 8194 is late.", "order 8291 is late"]
    )
    counts = [
        mine_file(small, 0.3, tmp_path / f"{number}.tsv", guards=guards)[0]
        for number, guards in enumerate([(), ("numbers",)])
    ]
    assert counts == [3, 1]


def test_a_guarded_search_goes_on_until_it_has_enough():
    orders = [f"Order {number} is late." for number in range(1001, 1031)]
    small = Index.build(movers.load(), [*orders, "The order 1030 has been delayed."])
    found = small.search("Order 1030 is late.", 2, guards=["numbers"], align=1)
    assert [match.text for match in found] == [
        "Order 1030 is late.",
        "The order 1030 has been delayed.",
    ]
    assert len(found.comparisons) == 1
    with pytest.raises(InputError, match="no guard 'orders'"):
        small.search("Order 1030 is late.", guards=["orders"])


def test_one_guard_is_taken_by_its_name(bert, tmp_path):
    lines = ["Order 8291 is late.", "Order 8194 is late.", "order 8291 is late"]
    small = Index.build(bert.using("movers"), lines)
    one, several = (
        small.search(lines[0], guards="numbers"),
        small.search(lines[0], guards=["numbers"]),
    )
    assert one.matches == several.matches and len(one) == 2
    for guards, name in (("numbers", "one.tsv"), (["numbers"], "several.tsv")):
        mine_file(small, 10.0, tmp_path / name, guards=guards)
    assert (tmp_path / "one.tsv").read_text() == (tmp_path / "several.tsv").read_text()
    assert checks.check([lines[:2]], guard="numbers")[0].objection == "another number: 8291 / 8194"
    assert SemanticCache(guard="numbers", scorer=bert.using("movers")).get("a").answer is None
    with pytest.raises(InputError, match="no guard 'number'; did you mean 'numbers'"):
        small.search(lines[0], guards="number")


def test_groups_are_never_merged(bert, tmp_path):
    lines = ["the dog greets the fox", "THE DOG GREETS THE FOX", "the dog greets the fox"]
    index = Index.build(bert, lines)
    counts = [
        dedupe_file(index, 1e-6, tmp_path / "kept.txt", lines=lines, groups=groups).kept
        for groups in (None, ["a", "b", "a"], ["a", "b", "c"])
    ]
    assert counts == [1, 2, 3]


def _listed(column):
    return column if isinstance(column, list) else column.to_pylist()
