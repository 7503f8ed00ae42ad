"""MTEB: run a task of sentence pairs with distances in place of embeddings.

The task here is made up so that nothing is downloaded; ``mteb.get_task("STSBenchmark")`` takes
its place where there is a network.
"""

import warnings
from typing import Any

import mteb
from datasets import Dataset, DatasetDict
from mteb.abstasks import AbsTaskSTS
from mteb.abstasks.task_metadata import TaskMetadata
from scipy.stats import ConstantInputWarning

import movers
from movers.integrations.mteb import MoversEncoder, by_distance

PAIRS = [
    ("A man is playing a guitar.", "A man plays the guitar.", 5.0),
    ("The king gave the knight the sword.", "The king gave the sword to the knight.", 4.9),
    ("The king gave the knight the sword.", "The knight gave the sword to the king.", 2.0),
    ("The nurse called the doctor today.", "Today the nurse called the doctor.", 4.8),
    ("The nurse called the doctor today.", "The doctor called the nurse today.", 2.2),
    ("A woman is cutting onions.", "A woman is slicing an onion.", 4.6),
    ("A child is riding a horse.", "A child is riding a bike.", 1.8),
    ("A plane is taking off.", "A cat is drinking milk.", 0.0),
]


class MadeUpSTS(AbsTaskSTS):
    """Pairs with similarities between 0 and 5."""

    metadata = TaskMetadata(
        name="MadeUpSTS",
        description="Pairs that differ in words or in order.",
        dataset={"path": "made/up", "revision": "1"},
        type="STS",
        eval_langs=["eng-Latn"],
        main_score="cosine_spearman",
    )

    def load_data(self, **_: Any) -> None:
        """Make the dataset instead of fetching it."""
        first, second, scores = zip(*PAIRS, strict=True)
        columns = {"sentence1": first, "sentence2": second, "score": scores}
        self.dataset = DatasetDict(test=Dataset.from_dict(columns))
        self.data_loaded = True


def main() -> None:
    # MTEB also correlates with the cosine of our numbers, which is constant.
    warnings.simplefilter("ignore", ConstantInputWarning)
    scorer = movers.load("wsmd")
    for method in ("average", "wmd", "wsmd"):
        model = MoversEncoder(scorer.using(method))
        results = mteb.evaluate(
            model, by_distance(MadeUpSTS()), cache=None, co2_tracker=False, show_progress_bar=False
        )
        meta = model.mteb_model_meta
        spearman = 100 * results.task_results[0].get_score()
        print(f"{meta.name:35} revision {meta.revision}: Spearman {spearman:5.1f}")


if __name__ == "__main__":
    main()
