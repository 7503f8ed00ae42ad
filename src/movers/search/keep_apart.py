"""Which of the sentences that lie near each other are kept apart all the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np

from movers.difference.guards import check_guards, guarded
from movers.errors import InputError
from movers.scorer import Scorer

AT_LEAST = ">="
"""Between a judge and the probability it must give, in the name of a guard: ``same>=0.9``."""


class Objection:
    """A function that says why two sentences are kept apart: a difference, or an unsure judge.

    Parameters
    ----------
    scorer
        Whose model reads the sentences.
    guards
        Name or names of `movers.difference.guards.GUARDS`, "unread", or a judge and the least
        probability of saying the same, ``same>=0.9`` or ``FILE>=0.8``. Texts with another end that
        the model does not read are kept apart whatever they are.
    """

    def __init__(self, scorer: Scorer, guards: str | Sequence[str]) -> None:
        names = listed(guards)
        judges = [name for name in names if AT_LEAST in name]
        self.names = check_guards([name for name in names if name not in judges])
        self.judges = [_judge(scorer, name) for name in judges]
        self._unread = cache(scorer.unread)
        self._known = [dict[tuple[str, str], float]() for _ in judges]

    def prepare(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Let judges look at pairs together, which is quicker than one by one."""
        if not self.judges:
            return
        asked = [pair for pair in pairs if self._differ(*pair) is None]
        for (judge, _), known in zip(self.judges, self._known, strict=True):
            missing = [pair for pair in dict.fromkeys(asked) if pair not in known]
            known.update(zip(missing, judge.probabilities(missing).tolist(), strict=True))

    def __call__(self, source: str, target: str) -> str | None:
        """Return the reason; None if nothing speaks against joining them."""
        reason = self._differ(source, target)
        if reason is not None:
            return reason
        self.prepare([(source, target)])
        for (judge, least), known in zip(self.judges, self._known, strict=True):
            chance = known[source, target]
            if not chance >= least:
                name = judge.settings.measure.name
                return f"{name} finds them the same with probability {chance:.2f}"
        return None

    def _differ(self, source: str, target: str) -> str | None:
        reason = guarded(self.names, source, target)
        if reason is None and self._unread(source) != self._unread(target):
            reason = "another end, which the model does not read"
        return reason


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
