"""Filters by metadata: operators, and what they are not."""

import pytest

from movers.errors import InputError
from movers.integrations.metadata_filter import read_filter

PAGES = [{"page": 1}, {"page": 2}, {"page": 3}, {"page": "two"}, {"tags": ["a", "b"]}]


@pytest.mark.parametrize(
    ("wanted", "kept"),
    [
        ({}, [0, 1, 2, 3, 4]),
        ({"page": 2}, [1]),
        ({"page": {"$eq": 2}}, [1]),
        ({"page": {"$ne": 2}}, [0, 2, 3, 4]),
        ({"page": {"$in": [1, 2]}}, [0, 1]),
        ({"page": {"$nin": [1, 2]}}, [2, 3, 4]),
        ({"page": {"$gt": 2}}, [2]),
        ({"page": {"$gte": 2}}, [1, 2]),
        ({"page": {"$lt": 2}}, [0]),
        ({"page": {"$lte": 2}}, [0, 1]),
        ({"page": {"$gte": 2, "$lt": 3}}, [1]),
        ({"page": [1, 2]}, []),
        ({"tags": ["a", "b"]}, [4]),
        ({"page": {"not": "an operator"}}, []),
    ],
)
def test_what_holds_is_kept(wanted, kept):
    keep = read_filter(wanted)
    assert [number for number, metadata in enumerate(PAGES) if keep(metadata)] == kept


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ({"page": {"$inn": [1]}}, "filter of 'page': no operator '$inn'; did you mean '$in'"),
        ({"page": {"$gt": 1, "lt": 3}}, "no operator 'lt'"),
        ({"page": {"$in": "12"}}, "takes a list, got '12'"),
        ({"$and": [{"page": 1}]}, "a filter begins with keys of metadata, not '$and'"),
    ],
)
def test_what_is_no_operator_is_refused(wanted, why):
    with pytest.raises(InputError, match=why.replace("$", r"\$")):
        read_filter(wanted)
