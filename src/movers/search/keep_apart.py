"""Which of the sentences that lie near each other are kept apart all the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from movers.difference.guards import check_guards, guarded
from movers.errors import InputError
from movers.scorer import Scorer

AT_LEAST = ">="
"""Between a judge and the probability it must give, in the name of a guard: ``same>=0.9``."""


Objections = Callable[[Sequence[tuple[str, str]]], list[str | None]]
"""Gives for every pair why it is kept apart; None where nothing speaks against joining it."""


def objections(scorer: Scorer, guards: str | Sequence[str]) -> Objections:
    """Return what says why two sentences are kept apart: a difference, or an unsure judge.

    Parameters
    ----------
    scorer
        Whose model reads the sentences.
    guards
        Name or names of `movers.difference.guards.GUARDS`, "unread", or a judge and the least
        probability of saying the same, ``same>=0.9`` or ``FILE>=0.8``. Texts with another end that
        the model does not read are kept apart whatever they are.
    """
    names, unread = listed(guards), cache(scorer.unread)
    judges = [_judge(scorer, name) for name in names if AT_LEAST in name]
    kinds = check_guards([name for name in names if AT_LEAST not in name])

    def differ(source: str, target: str) -> str | None:
        reason = guarded(kinds, source, target)
        if reason is None and unread(source) != unread(target):
            reason = "another end, which the model does not read"
        return reason

    def object_to(pairs: Sequence[tuple[str, str]]) -> list[str | None]:
        reasons = [differ(*pair) for pair in pairs]
        for judge, least in judges:
            asked = [place for place, reason in enumerate(reasons) if reason is None]
            chances = judge.probabilities([pairs[place] for place in asked]).tolist()
            for place, chance in zip(asked, chances, strict=True):
                if not chance >= least:
                    name = judge.settings.measure.name
                    reasons[place] = f"{name} finds them the same with probability {chance:.2f}"
        return reasons

    return object_to


def _judge(scorer: Scorer, guard: str) -> tuple[Scorer, float]:
    """Read a guard that is a judge."""
    name, _, least = guard.rpartition(AT_LEAST)
    try:
        share = float(least)
    except ValueError:
        share = np.nan
    if not 0.0 <= share <= 1.0:
        raise InputError(f"a judge's probability lies between 0 and 1, got {least!r} in {guard!r}")
    return scorer.using(judge=name), share


def listed(guards: str | Sequence[str]) -> tuple[str, ...]:
    """Return guards as names, given one or several.

    Examples
    --------
    >>> listed("numbers"), listed(["numbers", "roles"])
    (('numbers',), ('numbers', 'roles'))
    """
    return (guards,) if isinstance(guards, str) else tuple(guards)


def judge_guard(judge: str | None, at_least: float) -> tuple[str, ...]:
    """Return the guard that a judge is, if there is one."""
    return () if judge is None else (f"{judge}{AT_LEAST}{at_least:g}",)
