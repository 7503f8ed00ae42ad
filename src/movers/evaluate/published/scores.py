"""The paper's tables of scores, cell by cell."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from movers.evaluate.published.models import End, paper_model

Selection = Literal["", "top1", "BV", "all"]
Key = tuple[str, str, str, str, str]

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class PublishedScore:
    """One cell.

    Parameters
    ----------
    model, dataset, method
        The paper's name of the model, our names of the data set and of the method.
    embedding
        Layer of the word vectors; empty for a method that does not use them, or, as ``cls``,
        takes the last layer whatever the choice.
    selection
        Attention layers that are averaged; empty for a method without structure.
    value
        AUC or Spearman's correlation, in percent.
    gain
        Change against the method without structure as printed; None where none is.
    """

    model: str
    dataset: str
    method: str
    embedding: Literal["", "first", "last"]
    selection: Selection
    value: float
    gain: float | None


@cache
def published_scores() -> tuple[PublishedScore, ...]:
    """Every cell of the paper's tables of scores."""
    return tuple(
        PublishedScore(
            row["model"],
            row["dataset"],
            row["method"],
            row["embedding"],  # type: ignore[arg-type]
            row["selection"],  # type: ignore[arg-type]
            float(row["value"]),
            float(row["gain"]) if row["gain"] else None,
        )
        for row in _read("scores.csv")
    )


@cache
def published_improvements() -> dict[tuple[str, str, str, str], float]:
    """Average gain of structure by model, data set, embedding and selection, in percent."""
    return {
        (row["model"], row["dataset"], row["embedding"], row["selection"]): float(row["value"])
        for row in _read("improvements.csv")
    }


def find_published(
    model: str | Path,
    dataset: str,
    method: str,
    embedding: int,
    layers: int,
    selection: str = "",
) -> float | None:
    """What the paper reports, in percent; None if it does not.

    Parameters
    ----------
    model
        Hub name or folder of the model.
    dataset, method
        Names as `movers.evaluate.datasets` and `movers.methods` have them.
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
    ends: dict[int, End] = {0: "first", -1: "last", layers: "last"}
    for end in ("", ends.get(embedding, "")):
        found = _cells().get((row.name, dataset, method, end, selection))
        if found is not None:
            return found
    return None


@cache
def _cells() -> dict[Key, float]:
    return {
        (cell.model, cell.dataset, cell.method, cell.embedding, cell.selection): cell.value
        for cell in published_scores()
    }


def _read(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))
