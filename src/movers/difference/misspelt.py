"""Words that are misspelt, and what they may be: frequencies of wordfreq, distances of RapidFuzz."""

from __future__ import annotations

from functools import cache, lru_cache

from rapidfuzz.distance import OSA

from movers.difference import lexicon

RARE = 3.2
"""Words rarer than this, on the scale of wordfreq, may be misspelt."""
RARER = 1.0
"""How much rarer than what it stands for a misspelt word is."""


@cache
def _variants() -> list[tuple[str, str]]:
    return sorted(lexicon.pairs_of("variant"), key=lambda pair: -len(pair[0]))


def are_variants(first: str, second: str) -> bool:
    """Whether two words are the British and the American spelling of one."""
    return any(
        first.endswith(one) and first[: len(first) - len(one)] + other == second
        for one, other in _variants()
    )


@lru_cache(maxsize=1 << 16)
def frequency(word: str) -> float:
    """How common a word is in English, on the scale of wordfreq: 0 for one that is not known."""
    from wordfreq import zipf_frequency

    return float(zipf_frequency(word, "en"))


@lru_cache(maxsize=1 << 14)
def are_spellings(first: str, second: str) -> bool:
    """Whether two words are spellings of one, by a variant or by a typing error."""
    if min(len(first), len(second)) < 4 or abs(len(first) - len(second)) > 2:
        return first == second
    if are_variants(first, second):
        return True
    allowed = 1 if min(len(first), len(second)) < 6 else 2
    if OSA.distance(first, second, score_cutoff=allowed) > allowed:
        return False
    low, high = sorted((frequency(first), frequency(second)))
    rare = first if frequency(first) == low else second
    return low < RARE and high - low > RARER and rare not in lexicon.words()
