"""The models of the paper, and how to recognise them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePath
from typing import Any, Literal

End = Literal["first", "last"]
"""Which end of the model the word vectors come from: its input layer or its last one."""

FACTS = Path(__file__).with_name("facts.json")


@dataclass(frozen=True)
class PaperModel:
    """One model of the paper.

    Parameters
    ----------
    name, hub
        What the paper and the model hub call it.
    layers
        Number of layers.
    top1
        Attention layer picked on the development set of PAWS-QQP, by the end of the vectors.
    contextual
        Attention layers whose variability is high, from 1: "5-12" in the tables.
    """

    name: str
    hub: str
    layers: int
    top1: dict[End, int]
    contextual: tuple[int, ...]


@cache
def published_facts() -> dict[str, Any]:
    """What the paper reports beside its tables of scores.

    ``models``, ``sizes`` of the data sets, ``correlations`` under the scatter plots, and the
    opening example as ``illustration``.
    """
    facts: dict[str, Any] = json.loads(FACTS.read_text("utf-8"))
    return facts


PAPER_MODELS: dict[str, PaperModel] = {
    name: PaperModel(
        name,
        row["hub"],
        row["layers"],
        row["top1"],
        tuple(range(row["contextual_from"], row["layers"] + 1)),
    )
    for name, row in published_facts()["models"].items()
}


def paper_model(name: str | Path) -> PaperModel | None:
    """The paper's model with this hub name, or in a folder named like it; None for any other.

    Examples
    --------
    >>> paper_model("models/roberta-base").name
    'RoBERTa'
    """
    last = PurePath(name).name
    return next((row for row in PAPER_MODELS.values() if PurePath(row.hub).name == last), None)
