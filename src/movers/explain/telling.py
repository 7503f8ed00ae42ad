"""A comparison in words: the verdict on the scale of similarity, and where it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from movers.explain.compared import Broken, Compared

GRADES = (
    (0.85, "Nearly the same"),
    (0.6, "Much the same, in other words"),
    (0.25, "Related, not the same"),
    (0.0, "Unrelated"),
)
"""What a similarity is called from which value on, where structure has little part in it."""
CHEAP = 0.25
"""Share of chance that the words of two sentences cost where they are called the same."""
Sight = tuple[float, float]
TELLING = 0.02
"""Share of the way to unrelated that two sentences differ by if one is called nearer."""
TRACE = 5e-4
"""Share of a distance that rounds to nothing."""
NEITHER = "B and C are equally far from A."


def tell_verdict(found: Compared) -> str | None:
    """What the similarity says, chosen by what the distance consists of."""
    similarity = found.similarity
    if similarity is None or np.isnan(similarity):
        return None
    if found.distance == 0:
        return f"The same to this measure: {similarity:.2f} alike."
    headline = next(name for least, name in GRADES if similarity >= least)
    vectors = found.alike(found.sentence)
    if "sentence" not in found.parts or vectors is None:
        return f"{headline}: {similarity:.2f} alike."
    if vectors - similarity > max(0.05, 1 - vectors):  # relations take away more than vectors do
        same = found.linear < CHEAP * _chance(found)
        headline = "Same words, other relations" if same else "Alike, but put together differently"
    return f"{headline}: by sentence vectors {vectors:.2f} alike, with structure {similarity:.2f}."


def _chance(found: Compared) -> float:
    """What the words would cost if every one went everywhere."""
    return float(found.plan.sum(axis=1) @ found.cost @ found.plan.sum(axis=0))


def tell_story(found: Compared, broken: Sequence[Broken]) -> tuple[str, ...]:
    """What each part said, and which relation cost most."""
    if not np.isfinite(found.distance):
        return ()
    sides = (("A", found.source_unread), ("B", found.target_unread))
    told = []
    for name, unread in ((name, unread.split()) for name, unread in sides if unread):
        count = "The last word" if len(unread) == 1 else f"The last {len(unread)} words"
        where = f"{count} of {name}, from “{unread[0]}” on"
        told.append(f"{where}, the model does not read: not compared.")
    if "sentence" in found.parts and found.distance > 0:
        told += _priced(found)
    if found.at_home and found.at_home > TRACE * found.distance:
        told.append(_stayed(found))
    return (*told, *(f"Broken most: {tell_broken(one)}." for one in broken[:1]))


def _priced(found: Compared) -> Iterator[str]:
    far = "" if found.far is None else f", of {found.far:.3f} for unrelated sentences"
    yield f"The sentence vectors are {found.sentence:.3f} apart{far}."
    if not found.plan.size:
        yield "There are no words on one side, so no structure either."
        return
    chance = _chance(found)
    cost = f", {_percent(found.linear / chance)} of chance" if chance else ""
    yield (
        f"Moving the words costs {found.linear:.3f}{cost}; this says which relations to compare "
        "and adds nothing by itself."
    )
    if not found.gate:
        yield "The gate is shut: so far apart, structure does not count."
        return
    structure = found.parts["structure"]
    yield (
        f"The gate is {_percent(found.gate)} open, and structure adds {structure:.3f}, "
        f"{_percent(structure / found.distance)} of the distance."
    )


def _stayed(found: Compared) -> str:
    """What words that match nothing pay, and which they are: most of their mass stays."""
    sides = (
        ("A", found.source_words, found.plan.sum(axis=1), found.weights[0]),
        ("B", found.target_words, found.plan.sum(axis=0), found.weights[1]),
    )
    told = [
        ", ".join(f"“{words[k]}”" for k in np.flatnonzero(moved < weights / 2)) + f" in {name}"
        for name, words, moved, weights in sides
        if (moved < weights / 2).any()
    ]
    named = f": {'; '.join(told)}" if told else ""
    paid = found.parts["at home"]
    share = _percent(paid / found.distance)
    return f"What stays at home pays {paid:.3f}, {share} of the distance{named}."


def tell_contrast(by: str, alone: Sight, whole: Sight) -> str:
    """Whether a part of the measure tells two sentences apart, and whether the whole does.

    ``by`` says what the part looks at. Either sight has how far each of the two is from the first
    sentence, as a share of what unrelated sentences are.
    """
    # None if it can hardly be said which of the two is nearer.
    before, after = (
        None if abs(first - second) < TELLING else "B" if first < second else "C"
        for first, second in (alone, whole)
    )
    if before == after:
        return f"{before} is nearer to A, {by} and with structure." if before else NEITHER
    if before and after:
        return f"{by.capitalize()} {before} is nearer to A; with structure, {after} is."
    if after:
        return f"{by.capitalize()} B and C cannot be told apart; with structure {after} is nearer."
    return f"{by.capitalize()} {before} is nearer to A; with structure they are equally far."


def tell_broken(broken: Broken) -> str:
    """A broken relation with its cost, in words."""
    source, target = (
        "“{}” looks at “{}” ".format(*side) for side in (broken.source, broken.target)
    )
    shares = (broken.source_attention, broken.target_attention, broken.share)
    first, second, lost = map(_percent, shares)
    other = "" if broken.source == broken.target else target
    return f"{source}{first} in A, {other}{second} in B; {lost} of the distance"


def _percent(share: float) -> str:
    digits = 1 if 0 < share < 0.0995 else 0
    return f"{100 * share:.{digits}f}\N{NO-BREAK SPACE}%"
