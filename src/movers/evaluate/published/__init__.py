"""The numbers of Yamagiwa et al. (2023), to hold ours against.

``scripts/published_numbers.py`` takes them from the text of the paper.
"""

from movers.evaluate.published.models import PAPER_MODELS, PaperModel, paper_model, published_facts
from movers.evaluate.published.scores import (
    PublishedScore,
    find_published,
    published_improvements,
    published_scores,
)

__all__ = [
    "PAPER_MODELS",
    "PaperModel",
    "PublishedScore",
    "find_published",
    "paper_model",
    "published_facts",
    "published_improvements",
    "published_scores",
]
