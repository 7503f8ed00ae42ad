"""sentence-transformers: a reranker, an evaluator, and scorers on models in memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from movers.encode.models import quiet
from movers.encode.transformer import TransformerEncoder
from movers.errors import InputError, missing
from movers.io.pairs import read_pairs
from movers.loading import load
from movers.scorer import Scorer
from movers.settings import Settings

try:
    from sentence_transformers.base.evaluation import BaseEvaluator
    from sentence_transformers.base.model import BaseModel
    from sentence_transformers.cross_encoder import CrossEncoderModelCardData
except ImportError as error:
    raise missing("sentence-transformers", "movers.integrations") from error


class MoversReranker:
    """A stand-in for a ``CrossEncoder`` where pairs are scored or documents ranked.

    All who use cross-encoders expect the best document to have the highest score, so here, and
    only here, scores are negative distances. Further options of ``CrossEncoder`` are taken and
    have no effect.

    Parameters
    ----------
    scorer
        A scorer, or the name of a method for `movers.load`; by name, sentences without words
        to compare keep their stop words.

    Examples
    --------
    >>> reranker = MoversReranker("bow")
    >>> reranker.rank("a red car", ["a blue bike", "the car is red"], return_documents=True)[0]
    {'corpus_id': 1, 'score': -0.0, 'text': 'the car is red'}
    """

    def __init__(self, scorer: Scorer | str = "movers") -> None:
        self.scorer = load(scorer, empty="keep") if isinstance(scorer, str) else scorer
        self.model_card_data = CrossEncoderModelCardData()  # where evaluators leave their results

    def predict(
        self,
        inputs: Sequence[Sequence[str]] | Sequence[str],
        *,
        show_progress_bar: bool | None = None,
        convert_to_tensor: bool = False,
        **_: Any,
    ) -> Any:
        """Return scores of pairs, or of a single pair: an array, on request a tensor."""
        single = len(inputs) == 2 and all(isinstance(text, str) for text in inputs)
        pairs = read_pairs([inputs] if single else inputs)
        scores = -self.scorer.distances(pairs, progress=bool(show_progress_bar))
        if convert_to_tensor:
            import torch

            return torch.from_numpy(scores)[0 if single else slice(None)]
        return scores[0] if single else scores

    def rank(
        self,
        query: str,
        documents: Sequence[str],
        top_k: int | None = None,
        return_documents: bool = False,
        *,
        show_progress_bar: bool | None = None,
        **_: Any,
    ) -> list[dict[str, Any]]:
        """Return the best documents first: ``corpus_id``, ``score``, perhaps ``text`` of each."""
        ranking = self.scorer.rank(query, documents, top_k=top_k, progress=bool(show_progress_bar))
        return [
            {"corpus_id": match.index, "score": -match.distance}
            | ({"text": match.text} if return_documents else {})
            for match in ranking
        ]


class MoversEvaluator(BaseEvaluator):
    """An evaluator: how well distances by a model's tokens and attention agree with gold scores.

    Gives Pearson and Spearman correlation with the negative distance, and the area under the ROC
    curve if the scores are labels, 0 and 1. Use it like any other evaluator, also in training.

    Parameters
    ----------
    sentences1, sentences2
        The pairs.
    scores
        Gold similarity of every pair; large means similar.
    method
        A measure of the table of methods.
    name
        Comes before the names of the metrics.
    fit
        Fit whitening and document frequencies on the sentences each time, as the paper does;
        otherwise word vectors are used as they are.
    **settings
        Further settings of `movers.load`.
    """

    def __init__(
        self,
        sentences1: Sequence[str],
        sentences2: Sequence[str],
        scores: Sequence[float],
        *,
        method: str = "movers",
        name: str = "",
        fit: bool = False,
        **settings: Any,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        if not len(sentences1) == len(sentences2) == len(scores):
            raise InputError(
                f"every pair needs a score: got {len(sentences1)} and {len(sentences2)} sentences "
                f"and {len(scores)} scores"
            )
        self.pairs = read_pairs(zip(sentences1, sentences2, strict=True))
        self.scores = np.asarray(scores, float)
        self.labels = set(self.scores.tolist()) == {0, 1}
        self.method, self.name, self.fit = method, name, fit
        self.settings = {"empty": "keep", **({} if fit else {"whitening": "none"}), **settings}
        self.primary_metric = f"{'auc' if self.labels else 'spearman'}_{method}"

    def __call__(
        self, model: BaseModel, output_path: str | None = None, epoch: int = -1, steps: int = -1
    ) -> dict[str, float]:
        """Evaluate a model as it is now."""
        from scipy.stats import pearsonr, spearmanr
        from sklearn.metrics import roc_auc_score

        scorer = scorer_of(model, self.method, **self.settings)
        if self.fit:
            scorer.fit(text for pair in self.pairs for text in pair)
        similarity = -scorer.distances(self.pairs)
        values = {
            "pearson": pearsonr(self.scores, similarity)[0],
            "spearman": spearmanr(self.scores, similarity)[0],
            **({"auc": roc_auc_score(self.scores, similarity)} if self.labels else {}),
        }
        metrics = self.prefix_name_to_metrics(
            {f"{measure}_{self.method}": value for measure, value in values.items()}, self.name
        )
        self.store_metrics_in_model_card_data(model, metrics, epoch, steps)
        return metrics

    def get_config_dict(self) -> dict[str, Any]:
        """Return what the model card says of this evaluator."""
        return {"method": self.method, "fit": self.fit}


def scorer_of(model: BaseModel, method: str = "movers", **settings: Any) -> Scorer:
    """Make a scorer on the transformer inside a model in memory, as its weights are now.

    For a model on disk or on the hub, `movers.load` takes its folder or name.

    Parameters
    ----------
    model
        A sentence-transformers model whose first module is a transformer.
    method, **settings
        As for `movers.load`; what belongs to loading a model is settled already.
    """
    transformer: Any = model[0]
    if not hasattr(transformer, "auto_model"):
        kind = type(transformer).__name__
        raise InputError(f"the model begins with {kind}, not with a transformer")
    with TemporaryDirectory() as folder:
        with quiet():
            transformer.save(folder)
        encoder = TransformerEncoder(Path(folder), device=str(model.device))
        origin = getattr(model.model_card_data, "base_model", None)
        encoder.name = f"SentenceTransformer({origin or 'in memory'})"
        assert encoder.fingerprint  # kept from here on; it comes from the files
    return Scorer(Settings(method, **settings), encoder)
