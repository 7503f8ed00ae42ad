"""The verdict on two texts, made from how similar they are and from what differs."""

from __future__ import annotations

from collections.abc import Sequence

from movers.difference.kinds import Difference, Kind

HEADLINES = {
    "same": "The same",
    "spelling": "The same but for the spelling",
    "order": "The same in another order",
    "words": "Alike, but for some words",
    "more": "Alike, but one says more",
    "question": "Alike, but one asks and the other states",
    "tense": "Alike, but at another time",
    "strength": "Alike, but not as strong",
    "name": "Alike, but about another name",
    "number": "Alike, but for a number",
    "opposite": "Alike, but one says the opposite",
    "negation": "Alike, but one denies it",
    "roles": "Same words, other roles",
    "related": "Related, not the same",
    "unrelated": "Unrelated",
}
"""Every verdict and what it is called."""
GRAVE: dict[Kind, str] = {
    "roles": "roles",
    "negation": "negation",
    "opposite": "opposite",
    "number": "number",
    "name": "name",
    "quantity": "strength",
    "modality": "strength",
    "question": "question",
    "tense": "tense",
}
"""Kinds that no similarity outweighs, the graver first, and the verdict that each one brings."""
UNRELATED = 0.25
"""Similarity below which texts are called unrelated."""
REWORDED = 0.78
"""Similarity from which replaced words are called other words for the same."""
FEW = 3
"""Differences beyond those of spelling and order from which texts that are not near are related."""
NEAR = 0.5
"""Similarity, or share of words, from which texts are about the same."""
SAME, OTHER = 0.8, 0.2
"""Probabilities of saying the same from which, and up to which, a judge is believed."""
SAYS = {"same": "the same", "other": "not the same", "unsure": "cannot say"}
"""What a judge can say, and how that is put."""


def pronounce(differences: Sequence[Difference], probability: float) -> str:
    """Choose what is said of a probability, a key of `SAYS`.

    Differences that were found have a say: texts with a grave one are not called the same, nor
    texts that differ in order and spelling alone anything else.
    """
    kinds = {one.kind for one in differences}
    if probability >= SAME and not kinds & GRAVE.keys():
        return "same"
    return "other" if probability <= OTHER and kinds - {"spelling", "reordered"} else "unsure"


def judge(differences: Sequence[Difference], similarity: float | None, *, shared: float) -> str:
    """Choose the verdict, a key of `HEADLINES`, from what differs and how similar the texts are.

    The similarity is None where the measure has no scale; ``shared`` is the share of the words of
    the shorter text that the other has too.
    """
    kinds = {one.kind for one in differences}
    alike = shared if similarity is None else similarity
    if not kinds:
        return "same" if alike >= NEAR else "related"
    if kinds <= {"spelling", "reordered"}:
        return "spelling" if "spelling" in kinds else "order"
    if alike < UNRELATED and shared < NEAR:
        return "unrelated"
    if alike < NEAR and shared < NEAR:
        return "related"
    if grave := [verdict for kind, verdict in GRAVE.items() if kind in kinds]:
        return grave[0]
    if "replaced" in kinds or {"added", "removed"} <= kinds:
        reworded = alike >= REWORDED and not {"added", "removed"} & kinds
        return "words" if reworded else "related"
    return "more"
