"""Guards: what keeps texts apart, and what it says."""

import pytest

from movers.difference.guards import DEFAULT, GUARDS, check_guards, guarded
from movers.errors import InputError

APART = {
    "numbers": ("Order 8291 is late.", "Order 8194 is late."),
    "names": ("Call Anna back.", "Call Petra back."),
    "negation": ("It works.", "It does not work."),
    "opposites": ("The door is open.", "The door is closed."),
    "roles": ("The dog bit the cat.", "The cat bit the dog."),
}


@pytest.mark.parametrize("name", APART)
def test_each_guard_has_its_own_objection_and_no_other(name):
    assert APART.keys() == GUARDS.keys() - {"renamed"}
    assert guarded([name], *APART[name]) is not None
    others = [other for other in GUARDS if other not in (name, "renamed")]
    assert guarded(others, *APART[name]) is None
    assert guarded([*GUARDS], APART[name][0], APART[name][0]) is None


def test_a_name_that_is_missing_is_not_another_name():
    for pair in (APART["names"], ("Call Anna back.", "Call her back.")):
        assert guarded(["names"], *pair) is not None
    assert guarded(["renamed"], *APART["names"]) is not None
    assert guarded(["renamed"], "Call Anna back.", "Call back.") is None


def test_an_order_number_on_one_side_alone_is_another_number():
    assert guarded(["numbers"], "Order 8291 is late.", "The order is late.") is not None
    assert guarded(["numbers"], "It costs 1,000 euros.", "It costs €1000.") is None


def test_unknown_guards_are_refused_with_those_there_are():
    assert check_guards(DEFAULT) == DEFAULT
    with pytest.raises(InputError, match="no guard 'number'; did you mean 'numbers'"):
        check_guards(["number"])
