"""Reranker and evaluator do what sentence-transformers expects of its own."""

import numpy as np
import pytest
import torch
from scipy.stats import pearsonr, spearmanr
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.evaluation import SequentialEvaluator
from sentence_transformers.cross_encoder.evaluation import (
    CrossEncoderCorrelationEvaluator,
    CrossEncoderRerankingEvaluator,
)
from sentence_transformers.sentence_transformer.modules import Pooling, StaticEmbedding, Transformer
from sklearn.metrics import roc_auc_score

import movers
from movers.encode.models import embedded_folder
from movers.errors import InputError
from movers.integrations.sentence_transformers import MoversEvaluator, MoversReranker, scorer_of
from tiny_models import PAIRS, SENTENCES

SOURCES, TARGETS = zip(*PAIRS, strict=True)
GOLD = [len(set(a.split()) & set(b.split())) for a, b in PAIRS]


@pytest.fixture(scope="module")
def model(tiny):
    transformer = Transformer(str(tiny("bert")))
    return SentenceTransformer(modules=[transformer, Pooling(16)], device="cpu")


@pytest.fixture(scope="module")
def reranker(bert):
    return MoversReranker(bert)


def test_predict_gives_high_scores_to_near_pairs(reranker, bert):
    scores = reranker.predict(PAIRS)
    np.testing.assert_array_equal(scores, -bert.distances(PAIRS))
    assert reranker.predict(PAIRS[3]) == scores[3]
    assert reranker.predict(list(PAIRS[:2])).shape == (2,)
    tensor = reranker.predict(PAIRS[:4], convert_to_tensor=True, batch_size=2)
    assert isinstance(tensor, torch.Tensor) and tensor.tolist() == scores[:4].tolist()


def test_rank_agrees_with_predict(reranker):
    documents = list(SENTENCES[1:])
    ranked = reranker.rank(SENTENCES[0], documents, return_documents=True)
    scores = reranker.predict([(SENTENCES[0], text) for text in documents])
    assert [hit["corpus_id"] for hit in ranked] == np.argsort(-scores, kind="stable").tolist()
    for hit in ranked:
        assert hit["score"] == scores[hit["corpus_id"]]
        assert hit["text"] == documents[hit["corpus_id"]]
    assert reranker.rank(SENTENCES[0], documents, 2) == [
        {"corpus_id": hit["corpus_id"], "score": hit["score"]} for hit in ranked[:2]
    ]


def test_rerankers_by_name_keep_sentences_without_words():
    reranker = MoversReranker("bow")
    assert np.isfinite(reranker.predict(["to be or not", "the of"]))


def test_cross_encoder_evaluators_take_the_reranker(reranker, bert):
    correlation = CrossEncoderCorrelationEvaluator(list(PAIRS), GOLD, write_csv=False)
    found = correlation(reranker)
    assert found["spearman"] == pytest.approx(spearmanr(GOLD, -bert.distances(PAIRS))[0])
    samples = [
        {"query": SENTENCES[0], "positive": [SENTENCES[0]], "negative": list(SENTENCES[1:])},
        {"query": SENTENCES[5], "positive": [SENTENCES[5]], "negative": list(SENTENCES[:5])},
    ]
    reranking = CrossEncoderRerankingEvaluator(samples, write_csv=False)
    assert reranking(reranker)["map"] == 1


def test_scorer_of_a_model_in_memory(model, tiny):
    found = scorer_of(model, "wsmd", whitening="none", layers=2)
    loaded = movers.load("wsmd", tiny("bert"), whitening="none", layers=2)
    np.testing.assert_array_equal(found.distances(PAIRS), loaded.distances(PAIRS))
    assert "SentenceTransformer(" in str(found.signature)


def test_scorer_of_sees_the_weights_as_they_are(model):
    before = scorer_of(model, "wmd", whitening="none")
    weights = model[0].auto_model.embeddings.word_embeddings.weight
    kept = weights.detach().clone()
    with torch.no_grad():
        weights.mul_(2)
    try:
        after = scorer_of(model, "wmd", whitening="none")
    finally:
        weights.data.copy_(kept)
    assert before.encoder.fingerprint != after.encoder.fingerprint
    assert (before.distances(PAIRS[:3]) != after.distances(PAIRS[:3])).all()


def test_scorer_of_the_embedded_model_is_that_of_load():
    model = SentenceTransformer(str(embedded_folder()), device="cpu")
    for method in ("movers", "wsmd"):
        found, loaded = scorer_of(model, method), movers.load(method, engine="torch")
        np.testing.assert_array_equal(found.distances(PAIRS), loaded.distances(PAIRS))
        assert found.heads == loaded.heads
        assert found.measure.whitening_key == loaded.measure.whitening_key


def test_other_models_are_refused(tokenizers):
    static = SentenceTransformer(
        modules=[StaticEmbedding(tokenizers["wordpiece"], embedding_dim=4)], device="cpu"
    )
    with pytest.raises(InputError, match="begins with StaticEmbedding, not with a transformer"):
        scorer_of(static)


@pytest.mark.parametrize("fit", [False, True])
def test_evaluator_measures_the_model(model, tiny, fit):
    evaluator = MoversEvaluator(SOURCES, TARGETS, GOLD, method="wmd", name="toy", fit=fit)
    found = evaluator(model)
    scorer = movers.load("wmd", tiny("bert"), **({} if fit else {"whitening": "none"}))
    similarity = -(scorer.fit([*SOURCES, *TARGETS]) if fit else scorer).distances(PAIRS)
    assert set(found) == {"toy_pearson_wmd", "toy_spearman_wmd"}
    assert found["toy_pearson_wmd"] == pytest.approx(pearsonr(GOLD, similarity)[0])
    assert found["toy_spearman_wmd"] == pytest.approx(spearmanr(GOLD, similarity)[0])
    assert evaluator.primary_metric == "toy_spearman_wmd"
    assert evaluator.description == "Movers"
    assert evaluator(model) == found


def test_labels_add_the_area_under_the_curve(model):
    labels = [int(score > 1) for score in GOLD]
    evaluator = MoversEvaluator(SOURCES, TARGETS, labels, method="bow")
    similarity = -scorer_of(model, "bow").distances(PAIRS)
    assert evaluator(model)["auc_bow"] == pytest.approx(roc_auc_score(labels, similarity))
    assert evaluator.primary_metric == "auc_bow"


def test_evaluators_run_in_sequence_and_reach_the_model_card(model):
    evaluators = [
        MoversEvaluator(SOURCES, TARGETS, GOLD, method=method, name="toy", layers=2)
        for method in ("wmd", "wsmd")
    ]
    found = SequentialEvaluator(evaluators)(model)
    assert {"toy_spearman_wmd", "toy_spearman_wsmd"} <= set(found)
    assert evaluators[1] in model.model_card_data.eval_results_dict


def test_every_pair_needs_a_score():
    with pytest.raises(InputError, match="got 2 and 2 sentences and 1 scores"):
        MoversEvaluator(SOURCES[:2], TARGETS[:2], [1])
