"""The numbers of Yamagiwa et al. (2023), to hold ours against.

``scripts/published_numbers.py`` takes them from the text of the paper.
"""

from __future__ import annotations

import csv
import json
from dataclasses import astuple, dataclass
from functools import cache
from pathlib import Path, PurePath
from typing import Any, Literal

End = Literal["first", "last"]
"""Which end of the model the word vectors come from: its input layer or its last one."""

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class PaperModel:
    """One model by the names of the paper and the hub, with the attention layers picked.

    ``top1`` was picked on the development set of PAWS-QQP, by the end of the vectors;
    ``contextual`` are those whose variability is high, from 1: "5-12" in the tables.
    """

    name: str
    hub: str
    layers: int
    top1: dict[End, int]
    contextual: tuple[int, ...]


@dataclass(frozen=True)
class PublishedScore:
    """One cell of the paper's tables: AUC or Spearman's correlation, in percent.

    The model has the paper's name, data set and method ours. ``embedding`` is empty for a method
    without word vectors, or that, as ``cls``, takes the last layer whatever the choice;
    ``selection`` for one without structure. ``gain`` is the change against it, where printed.
    """

    model: str
    dataset: str
    method: str
    embedding: Literal["", "first", "last"]
    selection: Literal["", "top1", "BV", "all"]
    value: float
    gain: float | None


@cache
def published_facts() -> dict[str, Any]:
    """What the paper reports beside its tables of scores.

    ``models``, ``sizes`` of the data sets, ``correlations`` under the scatter plots, and the
    opening example as ``illustration``.
    """
    facts: dict[str, Any] = json.loads((FOLDER / "facts.json").read_text("utf-8"))
    return facts


PAPER_MODELS: dict[str, PaperModel] = {
    name: PaperModel(
        *(name, row["hub"], row["layers"], row["top1"]),
        contextual=tuple(range(row["contextual_from"], row["layers"] + 1)),
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


@cache
def published_scores() -> tuple[PublishedScore, ...]:
    """Every cell of the paper's tables of scores."""
    return tuple(
        PublishedScore(
            *(model, dataset, method),
            embedding,  # type: ignore[arg-type]
            selection,  # type: ignore[arg-type]
            float(value),
            float(gain) if gain else None,
        )
        for model, dataset, method, embedding, selection, value, gain in _rows("scores.csv")
    )


@cache
def published_improvements() -> dict[tuple[str, ...], float]:
    """Average gain of structure by model, data set, embedding and selection, in percent."""
    return {tuple(names): float(value) for *names, value in _rows("improvements.csv")}


def find_published(
    model: str | Path, dataset: str, method: str, embedding: int, layers: int, selection: str = ""
) -> float | None:
    """What the paper reports, in percent; None if it does not.

    Parameters
    ----------
    model
        Hub name or folder of the model.
    dataset, method
        Names as `movers_research.datasets` and `movers.measures.registry` have them.
    embedding, layers
        Layer of the word vectors, and layers of the model; -1 is the last one.
    selection
        ``"top1"``, ``"BV"`` (the contextual layers) or ``"all"``; empty without structure.

    Examples
    --------
    >>> find_published("bert-base-uncased", "paws-wiki-test", "wsmd-wmd", 0, 12, "top1")
    66.44
    """
    row = paper_model(model)
    if row is None or row.layers != layers:
        return None
    end = {0: "first", -1: "last", layers: "last"}.get(embedding, "")
    free = _cells().get((row.name, dataset, method, "", selection))
    return _cells().get((row.name, dataset, method, end, selection)) if free is None else free


@cache
def _cells() -> dict[tuple[str, ...], float]:
    return {astuple(cell)[:5]: cell.value for cell in published_scores()}


def _rows(name: str) -> list[list[str]]:
    """The rows of a table, without its header."""
    with (FOLDER / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))[1:]
