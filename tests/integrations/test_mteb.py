"""A scorer runs as a model of MTEB's own tasks, on small datasets in memory."""

from typing import ClassVar

import mteb
import numpy as np
import pytest
from datasets import Dataset, DatasetDict
from mteb.abstasks import (
    AbsTaskClustering,
    AbsTaskPairClassification,
    AbsTaskRetrieval,
    AbsTaskSTS,
)
from mteb.abstasks.retrieval_dataset_loaders import RetrievalSplitData
from mteb.abstasks.task_metadata import TaskMetadata
from mteb.models import EncoderProtocol
from mteb.models.cache_wrappers import CachedEmbeddingWrapper
from scipy.stats import ConstantInputWarning, pearsonr, spearmanr
from sklearn.metrics import average_precision_score

from movers.errors import InputError
from movers.integrations.mteb import MoversEncoder, by_distance
from tiny_models import PAIRS, SENTENCES

SOURCES, TARGETS = zip(*PAIRS, strict=True)
GOLD = [len(set(a.split()) & set(b.split())) for a, b in PAIRS]


def describe(kind, main_score):
    return TaskMetadata(
        name=f"Toy{kind}",
        description="made up",
        dataset={"path": "nowhere/toy", "revision": "1"},
        type=kind,
        eval_langs=["eng-Latn"],
        main_score=main_score,
    )


class InMemory:
    """A task whose data are made, not downloaded."""

    def load_data(self, **_):
        self.dataset = DatasetDict(test=Dataset.from_dict(self.columns))
        self.data_loaded = True


class ToySTS(InMemory, AbsTaskSTS):
    metadata = describe("STS", "cosine_spearman")
    columns: ClassVar = {"sentence1": SOURCES, "sentence2": TARGETS, "score": GOLD}


class ToyPairs(InMemory, AbsTaskPairClassification):
    metadata = describe("PairClassification", "max_ap")
    columns: ClassVar = {
        "sentence1": SOURCES,
        "sentence2": TARGETS,
        "labels": [int(score > 1) for score in GOLD],
    }


class ToyClustering(InMemory, AbsTaskClustering):
    metadata = describe("Clustering", "v_measure")
    columns: ClassVar = {"sentences": SENTENCES, "labels": [k % 2 for k in range(len(SENTENCES))]}


class ToySearch(AbsTaskRetrieval):
    metadata = describe("Retrieval", "ndcg_at_10")
    candidates = None

    def load_data(self, **_):
        texts = {f"d{k}": text for k, text in enumerate(SENTENCES)}
        split = RetrievalSplitData(
            corpus=Dataset.from_dict({"id": list(texts), "text": list(texts.values())}),
            queries=Dataset.from_dict({"id": ["q"], "text": [SENTENCES[3]]}),
            relevant_docs={"q": {"d3": 1}},
            top_ranked=self.candidates,
        )
        self.dataset = {"default": {"test": split}}
        self.data_loaded = True


class ToyReranking(ToySearch):
    metadata = describe("Reranking", "map_at_1000")
    candidates: ClassVar = {"q": ["d0", "d3", "d7"]}


@pytest.fixture
def encoder(bert):
    return MoversEncoder(bert)


def scores_of(encoder, task):
    result = mteb.evaluate(encoder, task, cache=None, co2_tracker=False, show_progress_bar=False)
    return result.task_results[0].scores["test"][0]


def test_sts_goes_by_the_distance(encoder, bert):
    similarity = -bert.distances(PAIRS)
    with pytest.warns(ConstantInputWarning):  # cosine means nothing here, and says so
        found = scores_of(encoder, by_distance(ToySTS()))
    assert found["spearman"] == pytest.approx(spearmanr(GOLD, similarity)[0])
    assert found["pearson"] == pytest.approx(pearsonr(GOLD, similarity)[0])
    assert found["main_score"] == found["spearman"]
    assert np.isnan(found["cosine_spearman"])


def test_without_by_distance_the_main_score_is_nan_rather_than_wrong(encoder):
    with pytest.warns(ConstantInputWarning):
        assert np.isnan(scores_of(encoder, ToySTS())["main_score"])


def test_pair_classification(encoder, bert):
    found = scores_of(encoder, by_distance(ToyPairs()))
    precision = average_precision_score(ToyPairs.columns["labels"], -bert.distances(PAIRS))
    assert found["main_score"] == pytest.approx(precision)


@pytest.mark.parametrize("task", [ToySearch, ToyReranking])
def test_ranking_finds_the_sentence_itself(encoder, task):
    assert scores_of(encoder, by_distance(task()))["main_score"] == 1


def test_tasks_on_vectors_are_refused(encoder):
    with pytest.raises(
        InputError, match=r"ToyClustering is a task of type Clustering, .* pairs: STS"
    ):
        scores_of(encoder, ToyClustering())
    with pytest.raises(InputError, match="no score of a task of type Clustering"):
        by_distance(ToyClustering())


def test_by_distance_leaves_the_task_alone():
    task = ToySTS()
    assert by_distance(task).metadata.main_score == "spearman"
    assert task.metadata.main_score == ToySTS.metadata.main_score == "cosine_spearman"


def test_vectors_stand_for_their_sentences(encoder, bert):
    first = encoder.encode([{"text": ["a", "b"]}, {"text": ["a"]}], task_metadata=ToySTS.metadata)
    second = encoder.encode([{"text": ["c", "b"]}], task_metadata=ToySTS.metadata)
    assert len(np.unique([*first, *second], axis=0)) == 3
    assert (first[0] == first[2]).all() and (first[1] == second[1]).all()
    batches = [{"text": list(SENTENCES)}]
    vectors = encoder.encode(batches, task_metadata=ToySTS.metadata).astype(np.float32)
    expected = -bert.matrix(SENTENCES[:2], SENTENCES)
    np.testing.assert_array_equal(encoder.similarity(vectors[:2], vectors), expected)
    with pytest.raises(InputError, match=r"10 of 10 vectors stand for sentences .* not encoded"):
        encoder.similarity_pairwise(vectors, vectors + 1000)
    with pytest.raises(InputError, match=r"got an array of shape \(10, 1\)"):
        encoder.similarity_pairwise(vectors, vectors[:, :1])


@pytest.mark.filterwarnings("ignore::scipy.stats.ConstantInputWarning")
@pytest.mark.filterwarnings("ignore:Hash collision or duplicate item")
@pytest.mark.filterwarnings("ignore:(Dimension file not|No existing files) found")
def test_a_cache_on_disk_gives_the_right_sentences_or_none(bert, tmp_path):
    similarity = -bert.distances(PAIRS)
    encoder = MoversEncoder(bert)
    for order in ([ToySTS], [ToyPairs, ToySTS]):
        cached = CachedEmbeddingWrapper(MoversEncoder(bert), tmp_path / str(len(order)))
        for _ in range(2):
            for task in order:
                found = scores_of(cached, by_distance(task()))
            assert found["spearman"] == pytest.approx(spearmanr(GOLD, similarity)[0])
    other = CachedEmbeddingWrapper(encoder, tmp_path / "1")
    encoder.encode(
        [{"text": [f"{text} once more" for text in SENTENCES]}], task_metadata=ToySTS.metadata
    )
    with pytest.raises(InputError, match="not encoded, as a cache of another run"):
        scores_of(other, by_distance(ToySTS()))


def test_the_revision_stands_for_the_signature(encoder, bert):
    assert isinstance(encoder, EncoderProtocol)
    meta = encoder.mteb_model_meta
    assert meta.name == "movers/wsmd-wrd-bert"
    assert meta.revision == MoversEncoder(bert.using()).mteb_model_meta.revision
    assert meta.revision != MoversEncoder(bert.using(mix=0.4)).mteb_model_meta.revision
    assert MoversEncoder("bow").scorer.settings.empty == "keep"
