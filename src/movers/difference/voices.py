"""A sentence and its passive: *the dog bit the man*, *the man was bitten by the dog*."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from movers.difference import lexicon

AGENT = "by"
AGENTS, BEFORE = 2, 8
"""Agents of a sentence that are looked at, and words before its subject."""
TURNED = frozenset(("be", "get"))
"""Lemmas before the participle of a passive."""
ADVERBS = frozenset(
    "also always already even ever just never not often once still soon then".split()
)
"""Words that stand beside verbs, wherever their subjects stand."""


def keeps_roles(source: list[str], target: list[str]) -> bool | None:
    """Tell whether a sentence says the same in the other voice; None if it is no such pair.

    Words are lower-case, and nothing but the voice may differ.

    Examples
    --------
    >>> keeps_roles("the dog bit ann".split(), "ann was bitten by the dog".split())
    True
    >>> keeps_roles("the dog bit ann".split(), "the dog was bitten by ann".split())
    False
    >>> keeps_roles("the dog bit ann".split(), "ann bit the dog".split())
    """
    agents = source.count(AGENT), target.count(AGENT)
    if agents[0] == agents[1] or max(agents) > AGENTS:
        return None
    active, passive = sorted((source, target), key=lambda words: words.count(AGENT))
    turned = [
        sum(lexicon.lemma_of(word)[0] in TURNED for word in words) for words in (active, passive)
    ]
    if turned[0] >= turned[1] or _beside_verbs(active) != _beside_verbs(passive):
        return None
    active, passive = _without_them(active), _without_them(passive)
    alike = 0
    while alike < min(len(active), len(passive), BEFORE) and active[alike] == passive[alike]:
        alike += 1
    readings = (
        found
        for shared in range(alike + 1)  # what both begin with may belong to neither side
        for found in _readings(active[shared:], passive[shared:])
    )
    return next(readings, None)


def _readings(active: list[str], passive: list[str]) -> Iterator[bool]:
    """Yield whether subject and object have changed places with the voice, where both fit."""
    for by in (place for place, word in enumerate(passive) if word == AGENT and place):
        for verb in range(by - 1, 0, -1):
            lemma = lexicon.lemma_of(passive[verb])[0]
            if not _is_participle(passive[verb]):
                continue
            subject, inside, tail = passive[:verb], passive[verb + 1 : by], passive[by + 1 :]
            for place in range(1, len(active)):
                if lexicon.lemma_of(active[place])[0] != lemma:
                    continue
                before, after = active[:place], active[place + 1 :]
                agent, rest = tail[:place], tail[place:]
                if before == agent and after in (subject + inside + rest, subject + rest + inside):
                    yield True
                if before == subject and after in (inside + tail, tail + inside):
                    yield False


def _is_participle(word: str) -> bool:
    """Tell whether a word looks like the past."""
    return lexicon.lemma_of(word)[1] == "past" or word in lexicon.cues()["unchanged"]


def _beside_verbs(words: list[str]) -> Counter[str]:
    """Count the words beside verbs that say something, such as *not* and *may*."""
    return Counter(word for word in words if word in ADVERBS or word in lexicon.cues()["modality"])


def _without_them(words: list[str]) -> list[str]:
    """Return the words but those beside verbs, and pronouns in one case: *he* for *him*.

    *Her* before a word that it may belong to stays as it is.
    """
    cues = lexicon.cues()
    beside = cues["auxiliary"].keys() | cues["modality"].keys() | ADVERBS
    apart = beside | cues["preposition"].keys() | cues["determiner"].keys() | {""}
    return [
        cues["case"].get(word, word) if word != "her" or then in apart else word
        for word, then in pairwise([*words, ""])
        if word not in beside
    ]
