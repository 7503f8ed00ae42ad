"""The transformer keeps scikit-learn's contract and works in its pipelines."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import DBSCAN, AgglomerativeClustering
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError, SkipTestWarning
from sklearn.metrics import silhouette_score
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted, validate_data

import movers
from movers.errors import InputError
from movers.integrations.sklearn import SentenceDistances
from tiny_models import SENTENCES

ANIMALS = ["the dog barks at the cat", "a cat runs from the dog", "the dog and the cat sleep"]
MONEY = ["interest rates rose again", "economists expected higher rates", "rates of interest rise"]
TEXTS, TOPICS = [*ANIMALS, *MONEY], ["animals"] * 3 + ["money"] * 3


class Spelled(SentenceDistances):
    """Rows of numbers spelled out as sentences: what scikit-learn's checks can be run on."""

    def __init__(self, method="bow", *, model=None):
        super().__init__(method, model=model)

    def fit(self, X, y=None):
        return super().fit(self.spell(X, reset=True))

    def transform(self, X):
        check_is_fitted(self)
        return super().transform(self.spell(X, reset=False))

    def spell(self, X, reset):
        numbers = validate_data(self, X, reset=reset)
        return [" ".join(f"c{k}v{x:.1f}" for k, x in enumerate(row)) for row in numbers]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.one_d_array = True, False
        return tags


def test_check_estimator_has_little_for_text():
    with pytest.warns(SkipTestWarning, match="Can't test estimator"):
        assert all(result["status"] == "passed" for result in check_estimator(SentenceDistances()))
    tags = get_tags(SentenceDistances()).input_tags
    assert (tags.string, tags.one_d_array, tags.two_d_array) == (True, True, False)


def test_a_sentence_without_words_is_named(tiny):
    distances = SentenceDistances("wmd", model=tiny("bert"), settings={"whitening": "none"})
    with pytest.raises(InputError, match=r"sentence 0 .* fitted sentence 2 \(''\).*drop it"):
        make_pipeline(distances, DBSCAN(metric="precomputed")).fit([*ANIMALS[:2], "", *MONEY])
    distances.fit(TEXTS)
    with pytest.raises(InputError, match=r"sentence 1 \(' '\) is infinitely far"):
        distances.transform([TEXTS[0], " "])
    assert np.isfinite(distances.transform(["the", "..."])).all()


def test_a_measure_that_is_not_symmetric_has_no_symmetric_matrix(tiny):
    distances = SentenceDistances("bertscore-recall", model=tiny("bert"))
    found = distances.fit_transform(TEXTS)
    np.testing.assert_array_equal(found, distances.transform(TEXTS))
    assert not np.allclose(found, found.T)


def test_check_estimator_passes_on_numbers_spelled_out(tiny):
    results = check_estimator(Spelled(model=tiny("bert")), on_skip=None)
    others = {
        result["check_name"]: result["status"] for result in results if result["status"] != "passed"
    }
    # needs SCIPY_ARRAY_API, which has to be set before scipy is imported
    assert set(others) <= {"check_array_api_input"}
    assert len(results) > 40


def test_distances_are_the_scorers(tiny):
    transformer = SentenceDistances("wmd", model=tiny("bert"), settings={"whitening": "none"})
    scorer = movers.load("wmd", tiny("bert"), whitening="none", empty="keep")
    among = transformer.fit_transform(SENTENCES[:6])
    np.testing.assert_array_equal(among, scorer.matrix(SENTENCES[:6]))
    np.testing.assert_array_equal(among, among.T)
    new = transformer.transform(SENTENCES[6:])
    np.testing.assert_array_equal(new, scorer.matrix(SENTENCES[6:], SENTENCES[:6]))


def test_parameters_reach_the_scorer(tiny):
    transformer = SentenceDistances(
        "wsmd-wmd", model=tiny("bert"), embedding=0, layers=2, heads="1", mix=0.3
    )
    fitted = transformer.set_params(mix=0.2, fit_statistics=True).fit(SENTENCES)
    scorer = fitted.scorer_
    assert (scorer.measure.name, scorer.embedding, scorer.measure.share) == ("wsmd-wmd", 0, 0.2)
    assert scorer.heads == ((2, 1),)
    assert scorer.measure.whitening
    assert scorer.settings.empty == "keep"


def test_neighbours_and_clusters_in_pipelines(embedded):
    neighbours = make_pipeline(
        SentenceDistances(), KNeighborsClassifier(n_neighbors=1, metric="precomputed")
    )
    neighbours.fit(TEXTS, TOPICS)
    assert neighbours.predict(["a dog chases a cat", "the rates fell"]).tolist() == [
        "animals",
        "money",
    ]
    clusters = AgglomerativeClustering(n_clusters=2, metric="precomputed", linkage="average")
    found = make_pipeline(SentenceDistances(), clusters).fit_predict(TEXTS)
    assert len(set(found[:3])) == len(set(found[3:])) == 1 and found[0] != found[3]
    among = SentenceDistances().fit_transform(TEXTS)
    assert silhouette_score(among, found, metric="precomputed") > 0
    within = max(among[:3, :3].max(), among[3:, 3:].max())
    assert set(DBSCAN(eps=within, min_samples=1, metric="precomputed").fit_predict(among)) <= {0, 1}


def test_grid_search_clones_and_picks(tiny):
    pipeline = make_pipeline(
        SentenceDistances(model=tiny("bert"), settings={"whitening": "none"}),
        KNeighborsClassifier(n_neighbors=1, metric="precomputed"),
    )
    grid = {"sentencedistances__mix": [0, 0.5], "sentencedistances__method": ["wsmd", "bow"]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(TEXTS, TOPICS)
    assert len(search.cv_results_["params"]) == 4
    assert search.predict(TEXTS[:1]).tolist() == ["animals"]


def test_pickles_clones_and_names_its_columns(tiny):
    transformer = SentenceDistances("bow", model=tiny("bert")).fit(ANIMALS)
    copy = pickle.loads(pickle.dumps(transformer))
    np.testing.assert_array_equal(copy.transform(MONEY), transformer.transform(MONEY))
    assert not hasattr(clone(transformer), "sentences_")
    assert clone(transformer).get_params() == transformer.get_params()
    frame = clone(transformer).set_output(transform="pandas").fit_transform(ANIMALS)
    assert frame.columns.tolist() == [f"sentencedistances{k}" for k in range(3)]


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series, lambda x: np.array(x)[:, None]])
def test_sentences_come_in_many_forms(kind, tiny):
    transformer = SentenceDistances("bow", model=tiny("bert")).fit(kind(ANIMALS))
    assert transformer.sentences_ == ANIMALS
    assert transformer.transform(kind(MONEY)).shape == (3, 3)


def test_a_column_of_a_frame(tiny):
    frame = pd.DataFrame({"text": TEXTS, "size": range(6)})
    for column in ("text", ["text"]):
        columns = ColumnTransformer(
            [("near", SentenceDistances("bow", model=tiny("bert")), column)],
            remainder="passthrough",
        )
        assert columns.fit_transform(frame).shape == (6, 7)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("one sentence", "got one string"),
        ([], "no sentences"),
        (["a", None], "sentence 1 is None"),
        (np.array([["a", "b"]]), r"one column of sentences, got shape \(1, 2\)"),
    ],
)
def test_bad_input_says_why(texts, message, tiny):
    transformer = SentenceDistances("bow", model=tiny("bert"))
    with pytest.raises(InputError, match=message):
        transformer.fit(texts)
    with pytest.raises(NotFittedError):
        transformer.transform(["a"])
