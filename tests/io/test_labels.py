"""Labels as people write them."""

import numpy as np
import pytest

from movers.errors import InputError
from movers.io.labels import read_labels


@pytest.mark.parametrize(
    "labels", [["yes", "No", "TRUE", "false"], [1, 0, True, False], np.array([1.0, 0, 1, 0])]
)
def test_labels_are_numbers_or_words(labels):
    assert read_labels(labels) == [1.0, 0.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        (["yes", "maybe"], "label 2: 'maybe' is not a number, and not yes, no, true or false"),
        (["yes", None], "label 2: the label is blank"),
        ("10", "labels must be a list"),
        (None, "labels must be a list"),
    ],
)
def test_other_labels_are_refused(labels, why):
    with pytest.raises(InputError, match=why):
        read_labels(labels)
