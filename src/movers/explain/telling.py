"""A comparison in words: the verdict on the scale of similarity, and where it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from movers.explain.compared import Broken, Compared

MEANING = "1: the same sentence; 0: no nearer than unrelated sentences"
"""What the ends of the scale stand for."""
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
    if "sentence" not in found.parts:
        return f"{_grade(similarity)}: {similarity:.2f} alike."
    vectors = found.alike(found.sentence)
    assert vectors is not None
    said = f"by sentence vectors {vectors:.2f} alike, with structure {similarity:.2f}."
    return f"{_headline(found, vectors, similarity)}: {said}"


def _headline(found: Compared, vectors: float, similarity: float) -> str:
    """Relations are named where they take away more than the sentence vectors do."""
    if vectors - similarity <= max(0.05, 1 - vectors):
        return _grade(similarity)
    if found.linear < CHEAP * _chance(found):
        return "Same words, other relations"
    return "Alike, but put together differently"


def _grade(similarity: float) -> str:
    return next(name for least, name in GRADES if similarity >= least)


def _chance(found: Compared) -> float:
    """What the words would cost if every one went everywhere."""
    return float(found.plan.sum(axis=1) @ found.cost @ found.plan.sum(axis=0))


def tell_story(found: Compared, broken: Sequence[Broken]) -> tuple[str, ...]:
    """What each part said, and which relation cost most."""
    if not np.isfinite(found.distance):
        return ()
    sides = (("A", found.source_unread), ("B", found.target_unread))
    told = [tell_unread(name, unread) for name, unread in sides if unread]
    if "sentence" in found.parts and found.distance > 0:
        told += _priced(found)
    if (found.at_home or 0.0) > TRACE * found.distance:
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


def tell_unread(name: str, unread: str) -> str:
    """What was not compared, because the model does not read that far."""
    words = unread.split()
    count = "The last word" if len(words) == 1 else f"The last {len(words)} words"
    return f"{count} of {name}, from “{words[0]}” on, the model does not read: not compared."


def tell_contrast(by: str, alone: Sight, whole: Sight) -> str:
    """Whether a part of the measure tells two sentences apart, and whether the whole does.

    ``by`` says what the part looks at. Either sight has how far each of the two is from the first
    sentence, as a share of what unrelated sentences are.
    """
    before, after = (_nearer(sight) for sight in (alone, whole))
    if before == after:
        return f"{before} is nearer to A, {by} and with structure." if before else NEITHER
    if before and after:
        return f"{by.capitalize()} {before} is nearer to A; with structure, {after} is."
    if after:
        return f"{by.capitalize()} B and C cannot be told apart; with structure {after} is nearer."
    return f"{by.capitalize()} {before} is nearer to A; with structure they are equally far."


def _nearer(sight: Sight) -> str | None:
    """Which of two sentences is nearer; None if that can hardly be said."""
    first, second = sight
    if abs(first - second) < TELLING:
        return None
    return "B" if first < second else "C"


def tell_broken(broken: Broken) -> str:
    """A broken relation with its cost, in words."""
    looks = "“{}” looks at “{}”"
    said = f"{looks.format(*broken.source)} {_percent(broken.source_attention)} in A"
    if broken.source != broken.target:
        said += f", {looks.format(*broken.target)}"
    else:
        said += ","
    said += f" {_percent(broken.target_attention)} in B"
    return f"{said}; {_percent(broken.share)} of the distance"


def _percent(share: float) -> str:
    digits = 1 if 0 < share < 0.0995 else 0
    return f"{100 * share:.{digits}f}\N{NO-BREAK SPACE}%"
