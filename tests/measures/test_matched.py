"""Measures that match words greedily, against definitions in loops and the bert_score package."""

import numpy as np
import pytest

import movers
from movers.references import best_of
from tiny_models import PAIRS, SENTENCES

TEXTS = [*SENTENCES, *SENTENCES[:3]]
PARTS = {"bertscore": 2, "bertscore-precision": 0, "bertscore-recall": 1}
METHODS = [*PARTS, "bertscore-idf"]
RECIPES = ["paper", "reference"]


@pytest.fixture(scope="module", params=RECIPES)
def base(request, tiny):
    return movers.load("wmd", tiny("bert"), recipe=request.param).fit(TEXTS)


def sides(scorer, pair):
    """Vectors and raw weights of both sentences."""
    measured = scorer.weigh(SENTENCES)
    rows = [measured.encodings.rows[text] for text in pair]
    return [(measured.vectors[row].astype(float), measured.weights[row]) for row in rows]


def bertscore(source, target, *, cosine):
    (x, u), (y, v) = source, target
    if cosine:
        x, y = (z / np.linalg.norm(z, axis=1, keepdims=True) for z in (x, y))
    precision = sum(w * max(a @ b for b in y) for w, a in zip(u, x, strict=True))
    recall = sum(w * max(a @ b for a in x) for w, b in zip(v, y, strict=True))
    return precision, recall, 2 * precision * recall / (precision + recall)


@pytest.mark.parametrize("name", METHODS)
def test_bertscore(base, name):
    scorer = base.using(name)
    found = scorer.distances(PAIRS)
    for pair, distance in zip(PAIRS, found, strict=True):
        expected = bertscore(*sides(scorer, pair), cosine=base.settings.recipe == "paper")
        assert 1 - distance == pytest.approx(expected[PARTS.get(name, 2)], rel=1e-9)


def test_special_tokens_weigh_nothing_but_may_be_matched(bert):
    found = bert.using("bertscore").compare(*SENTENCES[:2])
    assert found.source_words[0] == "[CLS]" and found.source_words[-1] == "[SEP]"
    assert not found.plan[[0, -1]].any()
    masses = found.plan[1:-1].sum(axis=1)
    np.testing.assert_allclose(masses, 1 / len(masses))
    assert (np.count_nonzero(found.plan[1:-1], axis=1) == 1).all()


def test_plans_show_the_best_match(base):
    scorer = base.using("bertscore-precision")
    for pair in PAIRS[:8]:
        (x, u), (y, _) = sides(scorer, pair)
        if base.settings.recipe == "paper":
            x, y = (z / np.linalg.norm(z, axis=1, keepdims=True) for z in (x, y))
        expected = np.zeros((len(x), len(y)))
        expected[np.arange(len(x)), (x @ y.T).argmax(axis=1)] = u
        np.testing.assert_allclose(scorer.compare(*pair).plan, expected)


def test_precision_and_recall_change_places(bert):
    precision, recall = (bert.using(f"bertscore-{part}") for part in ("precision", "recall"))
    turned = [(b, a) for a, b in PAIRS]
    np.testing.assert_allclose(precision.distances(PAIRS), recall.distances(turned), atol=1e-12)


@pytest.mark.parametrize("name", METHODS)
def test_every_way_to_ask_gives_the_same(base, name):
    scorer = base.using(name)
    forth = scorer.distances(PAIRS)
    if name not in ("bertscore-precision", "bertscore-recall"):
        back = scorer.distances([(b, a) for a, b in PAIRS])
        np.testing.assert_allclose(back, forth, rtol=1e-10, atol=1e-12)
    for number in (0, 11):
        assert base.using(name).distances([PAIRS[number]])[0] == forth[number]
    if base.settings.recipe == "paper":
        same = scorer.distances([(text, text) for text in [*SENTENCES, "dog"]])
        np.testing.assert_allclose(same, 0, atol=1e-9)
        assert (forth >= 0).all()
    assert np.isfinite(scorer.distances([("dog", "fox"), ("dog", SENTENCES[3])])).all()


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.filterwarnings("ignore::movers.runtime.notices.UndefinedWarning")
def test_empty_sides_have_no_distance(base, name):
    found = base.using(name).distances([("", "lazy dog"), ("lazy dog", ""), SENTENCES[:2]])
    assert np.isnan(found).tolist() == [True, True, False]


def test_pieces_that_are_everywhere_weigh_the_same(tiny):
    scorer = movers.load("bertscore-idf", tiny("bert"), whitening="none").fit(["lazy dog"] * 3)
    found = scorer.compare("lazy dog", "lazy dog")
    assert found.distance == pytest.approx(0, abs=1e-9)
    assert found.plan[[0, -1]].sum() == 0 and found.plan.sum() == pytest.approx(1)


CANDIDATES = [*SENTENCES[:6], "Lazy, unbelievable dogs!"]
REFERENCES = [*SENTENCES[3:9], "don't [SEP] them"]


@pytest.fixture(scope="module")
def official(embedded):
    """The bert_score package itself, on the embedded model."""
    score = pytest.importorskip("bert_score").score

    def call(references, **options):
        folder = str(embedded.encoder.folder)
        found = score(
            CANDIDATES, references, model_type=folder, num_layers=6, device="cpu", **options
        )
        return [part.numpy() for part in found]

    return call


def test_scores_are_those_of_the_package(embedded, official):
    pairs = list(zip(CANDIDATES, REFERENCES, strict=True))
    expected = official(REFERENCES)
    for name, part in PARTS.items():
        found = 1 - embedded.using(name).distances(pairs)
        np.testing.assert_allclose(found, expected[part], atol=1e-4)


def test_idf_scores_are_those_of_the_package(embedded, official):
    pairs = list(zip(CANDIDATES, REFERENCES, strict=True))
    scorer = embedded.using("bertscore-idf").fit(REFERENCES)
    expected = official(REFERENCES, idf=True, nthreads=0)[2]
    np.testing.assert_allclose(1 - scorer.distances(pairs), expected, atol=1e-4)
    assert np.abs(expected - official(REFERENCES)[2]).max() > 0.01


def test_several_references_as_in_the_package(embedded, official):
    references = [[text, other] for text, other in zip(REFERENCES, SENTENCES[2:9], strict=True)]
    found = best_of(embedded.using("bertscore"), CANDIDATES, references)
    np.testing.assert_allclose(1 - found, official(references)[2], atol=1e-4)


def test_the_best_reference_counts(bert):
    scorer = bert.using("bertscore")
    candidates, references = SENTENCES[:2], [SENTENCES[3:6], SENTENCES[5:7]]
    expected = [
        min(scorer.compare(text, one).distance for one in many)
        for text, many in zip(candidates, references, strict=True)
    ]
    assert best_of(scorer, candidates, references).tolist() == expected
    assert best_of(scorer, [], []).shape == (0,)


@pytest.mark.parametrize(
    ("references", "message"),
    [
        ([["a dog"]], "got 2 candidates and 1 lists"),
        ([["a dog"], []], r"references 1 must be a list of texts, got \[\]"),
        ([["a dog"], "a dog"], "references 1 must be a list of texts, got 'a dog'"),
    ],
)
def test_references_are_checked(bert, references, message):
    with pytest.raises(movers.InputError, match=message):
        best_of(bert, SENTENCES[:2], references)
