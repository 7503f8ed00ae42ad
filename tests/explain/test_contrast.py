"""Three sentences: which of two is nearer to the first, and what tells."""

import pytest

from movers.explain.contrast import tell_contrast
from tiny_models import SENTENCES

TRIPLE = SENTENCES[0], SENTENCES[1], SENTENCES[2]
CASES = {
    "By vectors C is nearer to A; with structure, B is.": ((0.2, 0.01), (0.24, 0.4)),
    "By vectors B and C cannot be told apart; with structure C is nearer.": (
        (0.1, 0.1),
        (0.3, 0.1),
    ),
    "B is nearer to A, by vectors and with structure.": ((0.1, 0.3), (0.2, 0.4)),
    "By vectors B is nearer to A; with structure they are equally far.": ((0.1, 0.3), (0.3, 0.3)),
    "B and C are equally far from A.": ((0.1, 0.11), (0.2, 0.2)),
}


@pytest.mark.parametrize("verdict", CASES)
def test_each_case_has_its_words(verdict):
    assert tell_contrast("by vectors", *CASES[verdict]) == verdict


@pytest.mark.parametrize("method", ["movers", "wsmd", "smd", "wmd"])
def test_a_contrast_is_two_explanations_and_what_they_say_together(bert, method):
    scorer = bert.using(method)
    found = scorer.contrast(*TRIPLE)
    first, second = scorer.compare(*TRIPLE[:2]), scorer.compare(TRIPLE[0], TRIPLE[2])
    assert (found.first.distance, found.second.distance) == (first.distance, second.distance)
    told = found.to_dict()
    assert told["verdict"] == found.verdict
    assert (told["first"]["target"], told["second"]["target"]) == TRIPLE[1:]
    if method in ("movers", "wsmd"):
        nearer = "B" if first.distance < second.distance else "C"
        assert f"{nearer} is" in found.verdict or "equally far" in found.verdict
    else:
        assert found.verdict is None


def test_a_contrast_shows_itself_in_a_page(bert):
    found = bert.contrast(*TRIPLE)
    assert " | ".join(TRIPLE) in found.to_html()
    assert found._repr_html_().startswith("<iframe")
