"""A comparison in words: the verdict, what differs, and where the distance comes from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from movers.difference.misspelt import is_slip, lacking_package, repair
from movers.difference.plain_words import look_english
from movers.difference.polarity import share_words
from movers.difference.verdicts import HEADLINES, SAYS, judge, pronounce
from movers.explain.compared import Broken, Compared

SAMENESS = ("same", "spelling", "order", "words")
"""Verdicts that say so much that all has to be read for them."""
MOST = 5
"""Differences that are told in sentences; JSON holds all."""
SLIGHT = 0.01
"""Similarity that structure takes away where it has a part in the verdict."""
TRACE = 5e-4
"""Share of a distance that rounds to nothing."""
WEIGHTY = 0.3
"""Log-odds from which a reason is named."""


def tell_verdict(pair: Compared) -> str | None:
    """Return what similarity and differences say together; the similarity alone says little."""
    similarity = pair.similarity
    if similarity is None or np.isnan(similarity):
        return None
    verdict = judge(pair.differences, similarity, shared=share_words(pair.source, pair.target))
    if (pair.source_unread or pair.target_unread) and pair.source != pair.target:
        headline = "" if verdict in SAMENESS else f"{HEADLINES[verdict]}; "
        return f"{headline}not all was read: what was is {similarity:.2f} alike.".capitalize()
    vectors = _by_vectors(pair)
    if vectors is None or vectors - similarity < SLIGHT:
        return f"{HEADLINES[verdict]}: {similarity:.2f} alike."
    return (
        f"{HEADLINES[verdict]}: by sentence vectors {vectors:.2f} alike, "
        f"with structure {similarity:.2f}."
    )


def _by_vectors(pair: Compared) -> float | None:
    """Return how similar the sentence vectors are, where they have a part in the distance."""
    return pair.alike(pair.sentence) if "sentence" in pair.parts else None


def tell_judgement(pair: Compared) -> dict[str, Any] | None:
    """Return what a judge says, as plain values: answer, probability, reasons, all in words."""
    judged = pair.judged
    if judged is None:
        return None
    says = SAYS[pronounce(pair.differences, judged.probability)]
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


def _chance(pair: Compared) -> float:
    """Return what the words would cost if every one went everywhere."""
    return float(pair.plan.sum(axis=1) @ pair.cost @ pair.plan.sum(axis=0))


def tell_story(pair: Compared) -> tuple[str, ...]:
    """Return what differs, and what was not compared, in plain sentences."""
    if not np.isfinite(pair.distance):
        return ()
    story = [*_unread(pair), *_foreign(pair), *_mended(pair)]
    if not pair.differences and pair.distance > 0:
        story.append("The words say the same; the model weighs how they are put.")
    story += (one.text for one in pair.differences[:MOST])
    more = len(pair.differences) - MOST
    story += [f"And {more} more."] if more > 0 else []
    return (*story, *_misspelt(pair))


def _unread(pair: Compared) -> Iterator[str]:
    for name, text in (("A", pair.source_unread), ("B", pair.target_unread)):
        unread = text.split()
        if unread:
            count = "The last word" if len(unread) == 1 else f"The last {len(unread)} words"
            where = f"{count} of {name}, from “{unread[0]}” on"
            yield f"{where}, the model does not read: not compared."


def _mended(pair: Compared) -> Iterator[str]:
    for name, repairs in (("A", pair.source_repairs), ("B", pair.target_repairs)):
        if repairs:
            words = ", ".join(f"“{one.word}” as “{one.instead}”" for one in repairs)
            yield f"Read in {name}: {words}."


def _misspelt(pair: Compared) -> Iterator[str]:
    """Name words that look misspelt, unless the other text has them spelt."""
    if lacking_package():
        return
    spelt = [one for one in pair.differences if one.kind == "spelling"]
    known = {word for one in spelt for word in (one.source, one.target)}
    texts = (
        ("A", pair.source, pair.target),
        ("B", pair.target, pair.source),
    )
    for name, text, other in texts:
        if not look_english(text, other):
            continue
        for one in repair(text, beside=other)[1]:
            if one.word not in known and is_slip(one):
                yield f"“{one.word}” in {name} may be meant for “{one.instead}”."


def _foreign(pair: Compared) -> Iterator[str]:
    """Say which text does not look English, and what is not looked for in it."""
    foreign = [
        name for name, text in (("A", pair.source), ("B", pair.target)) if not look_english(text)
    ]
    misspelt = any(one.kind == "spelling" for one in pair.differences)
    if foreign and not misspelt:  # words that the other text has spelt are English
        which = " and ".join(foreign)
        verb = "do" if len(foreign) > 1 else "does"
        yield (
            f"{which} {verb} not look English: numbers, names and other words are compared; "
            "negations, opposites and tenses are told of English alone."
        )


def tell_figures(pair: Compared, broken: Sequence[Broken]) -> tuple[str, ...]:
    """Return what each part of the distance says in numbers, and which relation cost most."""
    if not np.isfinite(pair.distance):
        return ()
    figures: list[str] = []
    if "sentence" in pair.parts and pair.distance > 0:
        figures += _priced(pair)
    if pair.at_home and pair.at_home > TRACE * pair.distance:
        figures.append(_stayed(pair))
    vectors, similarity = _by_vectors(pair), pair.similarity
    if broken and vectors is not None and similarity is not None and vectors - similarity < SLIGHT:
        return (*figures, "Structure adds next to nothing: the words or the topic differ.")
    return (*figures, *(f"Broken most: {tell_broken(one)}." for one in broken[:1]))


def _priced(pair: Compared) -> Iterator[str]:
    far = "" if pair.far is None else f", of {pair.far:.3f} for unrelated sentences"
    yield f"The sentence vectors are {pair.sentence:.3f} apart{far}."
    if not pair.plan.size:
        yield "There are no words on one side, so no structure either."
        return
    chance = _chance(pair)
    cost = f", {_percent(pair.linear / chance)} of chance" if chance else ""
    yield (
        f"Moving the words costs {pair.linear:.3f}{cost}; this says which relations to compare "
        "and adds nothing by itself."
    )
    if not pair.gate:
        yield "The gate is shut: so far apart, structure does not count."
        return
    structure = pair.parts["structure"]
    yield (
        f"The gate is {_percent(pair.gate)} open, and structure adds {structure:.3f}, "
        f"{_percent(structure / pair.distance)} of the distance."
    )


def _stayed(pair: Compared) -> str:
    """Return what words that match nothing pay, and which they are: most of their mass stays."""
    sides = (
        ("A", pair.source_words, pair.plan.sum(axis=1), pair.weights[0]),
        ("B", pair.target_words, pair.plan.sum(axis=0), pair.weights[1]),
    )
    staying = [
        ", ".join(f"“{words[k]}”" for k in np.flatnonzero(moved < weights / 2)) + f" in {name}"
        for name, words, moved, weights in sides
        if (moved < weights / 2).any()
    ]
    named = f": {'; '.join(staying)}" if staying else ""
    paid = pair.parts["at home"]
    share = _percent(paid / pair.distance)
    return f"What stays at home pays {paid:.3f}, {share} of the distance{named}."


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
