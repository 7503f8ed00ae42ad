"""A comparison in words: the verdict, what differs, and where the distance comes from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from movers.difference.misspelt import is_slip, knows_frequencies, repair
from movers.difference.plain_words import look_english, read
from movers.difference.polarity import share_words
from movers.difference.verdicts import HEADLINES, SAYS, judge, pronounce
from movers.explain.compared import Broken, Compared

SAMENESS = ("same", "spelling", "order", "words")
"""Verdicts that say so much that all has to be read for them."""
MOST = 5
"""Differences that are told in sentences; JSON holds all."""
SLIGHT = 0.01
"""Similarity that structure takes away where it has a part in the verdict."""
Sight = tuple[float, float]
TELLING = 0.02
"""Share of the way to unrelated that two sentences differ by if one is called nearer."""
TRACE = 5e-4
"""Share of a distance that rounds to nothing."""
WEIGHTY = 0.3
"""Log-odds from which a reason is named."""
NEITHER = "B and C are equally far from A."


def tell_verdict(found: Compared) -> str | None:
    """Return what similarity and differences say together; the similarity alone says little."""
    similarity = found.similarity
    if similarity is None or np.isnan(similarity):
        return None
    verdict = judge(found.differences, similarity, shared=share_words(found.source, found.target))
    if (found.source_unread or found.target_unread) and found.source != found.target:
        said = "" if verdict in SAMENESS else f"{HEADLINES[verdict]}; "
        return f"{said}not all was read: what was is {similarity:.2f} alike.".capitalize()
    vectors = found.alike(found.sentence)
    if "sentence" not in found.parts or vectors is None or vectors - similarity < SLIGHT:
        return f"{HEADLINES[verdict]}: {similarity:.2f} alike."
    return (
        f"{HEADLINES[verdict]}: by sentence vectors {vectors:.2f} alike, "
        f"with structure {similarity:.2f}."
    )


def tell_judgement(found: Compared) -> dict[str, Any] | None:
    """What a judge says, as plain values: its answer, probability, reasons, and all in words."""
    judged = found.judged
    if judged is None:
        return None
    says = SAYS[pronounce(found.differences, judged.probability)]
    sides = {
        side: next((about for about, weight in judged.reasons if sign * weight > WEIGHTY), None)
        for side, sign in (("for it", 1), ("against it", -1))
    }
    argued = (f"{side}: {about}" for side, about in sides.items() if about)
    why = "; ".join([f"probability of the same {judged.probability:.2f}", *argued])
    return {
        "judge": judged.judge,
        "says": says,
        "probability": judged.probability,
        "reasons": [[about, round(weight, 3)] for about, weight in judged.reasons],
        "text": f"Judge: {says} ({why}).",
    }


def _chance(found: Compared) -> float:
    """Return what the words would cost if every one went everywhere."""
    return float(found.plan.sum(axis=1) @ found.cost @ found.plan.sum(axis=0))


def tell_story(found: Compared) -> tuple[str, ...]:
    """Return what differs, and what was not compared, in plain sentences."""
    if not np.isfinite(found.distance):
        return ()
    told = [*_unread(found), *_foreign(found), *_mended(found)]
    if not found.differences and found.distance > 0:
        told.append("The words say the same; the model weighs how they are put.")
    told += (one.text for one in found.differences[:MOST])
    more = len(found.differences) - MOST
    told += [f"And {more} more."] if more > 0 else []
    return (*told, *_misspelt(found))


def _unread(found: Compared) -> Iterator[str]:
    for name, text in (("A", found.source_unread), ("B", found.target_unread)):
        unread = text.split()
        if unread:
            count = "The last word" if len(unread) == 1 else f"The last {len(unread)} words"
            where = f"{count} of {name}, from “{unread[0]}” on"
            yield f"{where}, the model does not read: not compared."


def _mended(found: Compared) -> Iterator[str]:
    for name, repairs in (("A", found.source_repairs), ("B", found.target_repairs)):
        if repairs:
            words = ", ".join(f"“{one.word}” as “{one.instead}”" for one in repairs)
            yield f"Read in {name}: {words}."


def _misspelt(found: Compared) -> Iterator[str]:
    """Name words that look misspelt, unless the other text has them spelt."""
    if not knows_frequencies():
        return
    spelt = [one for one in found.differences if one.kind == "spelling"]
    told = {word for one in spelt for word in (one.source, one.target)}
    texts = (("A", found.source, found.target), ("B", found.target, found.source))
    for name, text, other in texts:
        if not look_english(read(text), read(other)):
            continue
        for one in repair(text, beside=other).repairs:
            if one.word not in told and is_slip(one):
                yield f"“{one.word}” in {name} may be meant for “{one.instead}”."


def _foreign(found: Compared) -> Iterator[str]:
    """Say which text does not look English, and what is not looked for in it."""
    foreign = [
        name
        for name, text in (("A", found.source), ("B", found.target))
        if not look_english(read(text))
    ]
    misspelt = any(one.kind == "spelling" for one in found.differences)
    if foreign and not misspelt:  # words that the other text has spelt are English
        which = " and ".join(foreign)
        verb = "do" if len(foreign) > 1 else "does"
        yield (
            f"{which} {verb} not look English: numbers, names and other words are compared; "
            "negations, opposites and tenses are told of English alone."
        )


def tell_figures(found: Compared, broken: Sequence[Broken]) -> tuple[str, ...]:
    """Return what each part of the distance says in numbers, and which relation cost most."""
    if not np.isfinite(found.distance):
        return ()
    told: list[str] = []
    if "sentence" in found.parts and found.distance > 0:
        told += _priced(found)
    if found.at_home and found.at_home > TRACE * found.distance:
        told.append(_stayed(found))
    if broken and not _matters(found):
        return (*told, "Structure adds next to nothing: the words or the topic differ.")
    return (*told, *(f"Broken most: {tell_broken(one)}." for one in broken[:1]))


def _matters(found: Compared) -> bool:
    """Tell whether structure takes away enough similarity to be told of."""
    vectors, similarity = found.alike(found.sentence), found.similarity
    if "sentence" not in found.parts or vectors is None or similarity is None:
        return True
    return vectors - similarity >= SLIGHT


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
    """Return what words that match nothing pay, and which they are: most of their mass stays."""
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
    """Tell whether a part of the measure tells two sentences apart, and whether the whole does.

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
    """Return a broken relation with its cost, in words."""
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
