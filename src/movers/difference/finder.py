"""`differences`: everything two texts differ in, each with its words, places and a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from movers.difference import lexicon
from movers.difference.clauses import clauses_exchanged
from movers.difference.counterparts import Counterparts, Link, find_counterparts, preposition_before
from movers.difference.kinds import KINDS, Difference, Kind, Span, say
from movers.difference.misspelt import are_spellings
from movers.difference.plain_words import (
    CONTENT,
    DATE,
    FUNCTION,
    MODALITY,
    NAME,
    NUMBER,
    QUANTITY,
    UNIT,
    Reading,
    Word,
    look_english,
    read,
)
from movers.difference.polarity import TELLING, denies, is_converse, negations
from movers.difference.roles import judge_order, sort_of
from movers.io.pairs import check_sentence

CERTAIN, LIKELY, PERHAPS = 0.95, 0.8, 0.6
FEW = frozenset(("few", "little"))
"""Quantities that an article makes more of."""
VAGUE = frozenset(("some", "many", "several"))
"""Quantities that say little when only one text has them."""
CLAUSE = 80
"""Characters of a clause that is told whole where roles were exchanged."""
PAUSE = re.compile(r"\s*[,;:!?…–—]\s+|\s+-\s+|(?<=[^\W\d_]{4})\.\s+")  # not behind Mr. or p.
LONGEST = 200
"""Words left over in a text whose spellings are compared with those of the other."""


def differences(
    source: str,
    target: str,
    *,
    links: Iterable[tuple[Span, Span]] = (),
    broken: float | None = None,
) -> tuple[Difference, ...]:
    """Find what two texts differ in, the graver first; needs no model.

    Kinds: roles exchanged, negation, opposite, number, name, quantity, modality, question, tense,
    replaced, added, removed, spelling, reordered (without effect). Negations, opposites,
    quantities, modality, tense and spelling are told of English alone.

    Parameters
    ----------
    source, target
        The texts, called A and B in what is said.
    links
        Places of words that go together by somebody else's judgement, a transport plan say, as
        ``(start, end)`` in either text; equal words need none.
    broken
        Share of the relations between words that a model sees broken, from 0 to 1, if known.

    Examples
    --------
    >>> import movers
    >>> for one in movers.differences("Take 2 tablets.", "Do not take 20 tablets."):
    ...     print(one.kind, "–", one.text)
    negation – B denies it: “not”.
    number – “2” in A, “20” in B.
    """
    first, second = (read(check_sentence(text, "a text")) for text in (source, target))
    if first.words == second.words and first.question == second.question:
        return ()
    linked = _placed(first.words, second.words, links)
    words = find_counterparts(first.words, second.words, linked)
    return DifferenceFinder(first, second, words, broken).run()


def _placed(
    source: Sequence[Word], target: Sequence[Word], links: Iterable[tuple[Span, Span]]
) -> Iterable[Link]:
    """Return links of places as links of words."""
    if not (links := [*links]):
        return ()
    starts = [{word.start: place for place, word in enumerate(words)} for words in (source, target)]
    pairs = ((starts[0].get(one[0]), starts[1].get(two[0])) for one, two in links)
    return [(i, j) for i, j in pairs if i is not None and j is not None]


class DifferenceFinder:
    """Finds what one pair of texts differs in, step by step; a word is told of once."""

    def __init__(
        self, source: Reading, target: Reading, words: Counterparts, broken: float | None
    ) -> None:
        self.texts, self.words, self.broken = (source, target), words, broken
        self.english = look_english(source, target)
        self.found: list[Difference] = []

    def run(self) -> tuple[Difference, ...]:
        """Take the steps in order, and sort what they found."""
        self.order()
        if self.english:
            self.polarity()
            self.spelling()
        self.asked()
        self.counted()
        if self.english:
            only = [
                [p for p, word in enumerate(ws) if word.key == "only"] for ws in self.words.words
            ]
            self.scope("quantity", *only)
            self.steps(QUANTITY, "quantity")
            self.steps(MODALITY, "modality")
            self.small_words()
            self.times()
            self.tense()
        self.names()
        self.others()
        return tuple(sorted(self.found, key=lambda one: KINDS.index(one.kind)))

    def tell(self, kind: Kind, i: Sequence[int], j: Sequence[int], sure: float) -> None:
        """Tell of words by their places, and leave them out from then on."""
        self._take((i, j))
        self._add(kind, _span(self.words.words[0], i), _span(self.words.words[1], j), sure)

    def _add(self, kind: Kind, first: Span | None, second: Span | None, sure: float) -> None:
        """Tell of places in the texts."""
        source, target = (
            reading.text[slice(*span)] if span else ""
            for reading, span in zip(self.texts, (first, second), strict=True)
        )
        said = say(kind, source, target)
        self.found.append(Difference(kind, source, target, first, second, sure, said))

    def order(self) -> None:
        """Tell of roles exchanged, or an order without effect."""
        order = judge_order(self.words, self.broken)
        if order is None:
            return
        effect, sure, exchanged = order
        ranges = [range(len(words)) for words in self.words.words]
        if exchanged:
            ends = (sorted(link[side] for link in exchanged) for side in (0, 1))
            ranges = [range(low, high + 1) for low, high in ends]
        first, second = map(_clause, self.words.words, ranges)
        if effect:
            first, second = map(_widened, self.texts, (first, second))
        self._add("roles" if effect else "reordered", first, second, sure)

    def polarity(self) -> None:
        """Tell of negations that do not cancel, and of opposites."""
        negated, opposites = denies(self.words)
        source, target = self.words.words
        cues = negations(source), negations(target)
        if negated and len(opposites) % 2:
            i, j = opposites[0]
            self._take(cues)
            self.tell("replaced", _with(source, cues[0], i), _with(target, cues[1], j), LIKELY)
            opposites = opposites[1:]
        elif negated:
            side = 0 if len(cues[0]) > len(cues[1]) else 1
            other = [word.key for word in self.words.words[1 - side]]
            place = next(
                (p for p in cues[side] if self.words.words[side][p].key not in other), cues[side][0]
            )
            self._take(cues)
            self._take_quantities()
            shown = _whole(self.words.words[side], place)
            self.tell("negation", *((shown, []) if side == 0 else ([], shown)), CERTAIN)
        else:
            self._take(cues)
            self.scope("negation", *cues)
        for i, j in self._unless_turned(opposites):
            prefix = lexicon.denied_by_prefix(source[i].key, target[j].key)
            self.tell("negation" if prefix else "opposite", [i], [j], CERTAIN if prefix else LIKELY)

    def scope(self, kind: Kind, first: Sequence[int], second: Sequence[int]) -> None:
        """Tell of a word such as *not* or *only* that says something of another word than before.

        Nothing is told where a text has none or several, where either word is missing in the other
        text, or beside *only* or *think*: *I do not think it is*, *I think it is not*.
        """
        if len(first) != 1 or len(second) != 1:
            return
        places = [
            next((p for p in range(cue + 1, len(words)) if words[p].part in TELLING), -1)
            for words, cue in zip(self.words.words, (*first, *second), strict=True)
        ]
        links = dict((*self.words.same, *self.words.moved))
        keys = {self.words.words[0][places[0]].key, self.words.words[1][places[1]].key}
        keys |= {self.words.words[side][p].key for side in (0, 1) for p in self.words.left[side]}
        if links.get(places[0], places[1]) == places[1] or places[1] not in links.values():
            return
        if not keys & lexicon.cues()["no scope"].keys():
            self.tell(kind, [*first, places[0]], [*second, places[1]], PERHAPS)

    def _unless_turned(self, opposites: Sequence[Link]) -> list[Link]:
        """Return opposites but for converses with exchanged partners: *lends*, *borrows*."""
        turned = [link for link in opposites if is_converse(self.words, *link)]
        order = next((one for one in self.found if one.kind in ("roles", "reordered")), None)
        if not turned or order is None:
            return [*opposites]
        for i, j in turned:
            self.tell("replaced", [i], [j], LIKELY)
        if order.kind == "roles":
            self.found.remove(order)
            text = say("reordered", order.source, order.target)
            self.found.append(replace(order, kind="reordered", sure=PERHAPS, text=text))
        source = self.words.words[0]
        return [  # sells to, buys from
            (i, j) for i, j in opposites if (i, j) not in turned and source[i].part == CONTENT
        ]

    def _take(self, places: tuple[Sequence[int], Sequence[int]]) -> None:
        for side in (0, 1):
            for place in places[side]:
                self.words.take(side, place)

    def _take_quantities(self) -> None:
        """Drop what a negation stands in place of: *something* for *nothing*."""
        for side in (0, 1):
            for place in [*self.words.left[side]]:
                if self.words.words[side][place].part == QUANTITY:
                    self.words.take(side, place)

    def asked(self) -> None:
        """Tell of a question against a statement."""
        if self.texts[0].question == self.texts[1].question:
            return
        (source, target) = (reading.text for reading in self.texts)
        said = say("question", "A" if self.texts[0].question else "B", "")
        whole = (0, len(source)), (0, len(target))
        self.found.append(Difference("question", source, target, *whole, CERTAIN, said))
        for side in (0, 1):
            for place in [*self.words.left[side]]:
                word = self.words.words[side][place]
                if word.part == MODALITY or word.key in lexicon.cues()["question"]:
                    self.words.take(side, place)
        self.found = [one for one in self.found if one.kind != "reordered"]

    def counted(self) -> None:
        """Tell of figures, dates and units that differ."""
        for parts in ((NUMBER,), (DATE,), (UNIT,)):
            left = self._left(parts)
            for i, j in _paired(self.words, *left):
                self.tell("number", [i], [j], CERTAIN)
        for side in (0, 1):
            for place in [*self._left((NUMBER,))[side]]:
                self._single(side, place)
        self._join_units()

    def _single(self, side: int, place: int) -> None:
        """Tell of a number without one in the other text: an article or a quantity may be it."""
        word = self.words.words[side][place]
        for other in [*self.words.left[1 - side]]:
            pair = (place, other) if side == 0 else (other, place)
            against = self.words.words[1 - side][other]
            if not self.words.in_gap(*pair):
                continue
            if against.part == QUANTITY:
                self.tell("quantity", [pair[0]], [pair[1]], LIKELY)
                return
            if against.text.lower() in ("a", "an") and word.key != "1":
                self.tell("number", [pair[0]], [pair[1]], LIKELY)
                return
        if word.key == "1":
            self.words.take(side, place)

    def _join_units(self) -> None:
        """Make one difference of a number and its unit."""
        numbers = [one for one in self.found if one.kind == "number"]
        for one, two in pairwise(numbers):
            spans = (one.source_span, two.source_span)
            if None not in spans and abs(spans[1][0] - spans[0][1]) <= 1:  # type: ignore[index]
                self.found.remove(two)

    def steps(self, part: str, kind: Kind) -> None:
        """Tell of quantities or modalities of another strength."""
        left = self._left((part,))
        if part == MODALITY:
            for side in (0, 1):
                left[side].extend(
                    p for p in self.words.left[side] if self.words.words[side][p].key == "will"
                )
        for i, j in _paired(self.words, *left):
            first, second = self.words.words[0][i], self.words.words[1][j]
            if part == MODALITY and first.text.lower() == second.text.lower():
                self._take(([i], [j]))  # have to, do not have to: the negation was told
                continue
            if part == MODALITY and first.key == second.key:
                continue
            self.tell(kind, [i], [j], LIKELY)
        for side in (0, 1):
            for place in self._left((part,))[side]:
                key = self.words.words[side][place].key
                asking = any(reading.question for reading in self.texts)
                vague = key in VAGUE or (part == MODALITY and asking)
                if not vague and place + 1 not in self.words.left[side]:
                    self.tell(kind, *(([place], []) if side == 0 else ([], [place])), PERHAPS)
                else:
                    self.words.take(side, place)

    def times(self) -> None:
        """Tell of words such as *today* and *tomorrow*, *morning* and *evening*."""
        times = lexicon.cues()["time"]
        left = (
            [place for place in left if words[place].text.lower() in times]
            for words, left in zip(self.words.words, self.words.left, strict=True)
        )
        for i, j in _paired(self.words, *left):
            first, second = (
                words[place].text.lower()
                for words, place in zip(self.words.words, (i, j), strict=True)
            )
            if times[first] == times[second] and self.words.in_gap(i, j):
                self.tell("tense", [i], [j], LIKELY)

    def small_words(self) -> None:
        """Tell of *and* for *or*, of *few* for *a few*, and of *month* for *year*."""
        for kind, cue in (("quantity", "coordinator"), ("number", "period")):
            table = lexicon.cues()[cue]
            left = (
                [place for place in left if words[place].text.lower() in table]
                for words, left in zip(self.words.words, self.words.left, strict=True)
            )
            for i, j in _paired(self.words, *left):
                meant = {
                    table[words[place].text.lower()]
                    for words, place in zip(self.words.words, (i, j), strict=True)
                }
                if self.words.in_gap(i, j) and len(meant) == 2 and all(meant):
                    self.tell(kind, [i], [j], LIKELY)  # type: ignore[arg-type]
        for i, j in self.words.same:
            word = self.words.words[0][i]
            if word.part != QUANTITY or word.text.lower() not in FEW:
                continue
            articles = [
                place > 0 and words[place - 1].text.lower() == "a"
                for words, place in zip(self.words.words, (i, j), strict=True)
            ]
            if articles[0] != articles[1]:
                shown = ([i - 1, i] if articles[0] else [i]), ([j - 1, j] if articles[1] else [j])
                self.tell("quantity", *shown, LIKELY)

    def tense(self) -> None:
        """Tell of verbs that both texts have in another time."""
        if any(reading.question for reading in self.texts):
            return
        source, target = self.words.words
        for i, j in (*self.words.same, *self.words.moved):
            if not source[i].form:
                continue
            times = _time(source, i), _time(target, j)
            if None not in times and times[0] != times[1]:
                if not clauses_exchanged(self.words):
                    self.tell("tense", [i], [j], LIKELY)
                return

    def spelling(self) -> None:
        """Tell of words spelt in two ways."""
        left, right = (
            [(place, words[place].text.lower(), words[place].part) for place in places[:LONGEST]]
            for words, places in zip(self.words.words, self.words.left, strict=True)
        )
        for i, word, part in left:
            for j, other, beside in right:
                near = abs(len(word) - len(other)) <= 2 and CONTENT in (part, beside)
                if near and are_spellings(word, other):
                    self.tell("spelling", [i], [j], LIKELY)
                    break

    def names(self) -> None:
        """Tell of names that differ."""
        for runs in _paired_runs(self.words, *self._left((NAME,))):
            self.tell("name", *runs, LIKELY)

    def others(self) -> None:
        """Tell of words replaced, added and removed."""
        parts = (CONTENT, NAME, NUMBER, DATE, UNIT)
        for i, j in _linked(self.words, *self._left(parts)):
            self.tell("replaced", [i], [j], LIKELY)
        for runs in _paired_runs(self.words, *self._left(parts)):
            if self._is_party(*runs):
                self._take(runs)
                spans = map(_clause, self.words.words, runs)
                first, second = map(_widened, self.texts, spans)
                self._add("roles", first, second, LIKELY)
            else:
                self.tell("replaced", *runs, LIKELY)
        left = self._left(parts)
        if self._has("reordered") and all(len(one) == 1 for one in left):
            (i,), (j,) = left
            if sort_of(self.words.words[0][i]) == sort_of(self.words.words[1][j]):
                self.tell("replaced", [i], [j], PERHAPS)
        if not self.found and not any(self._left(parts)):  # nothing else tells them apart
            prepositions = (
                [place for place in left if words[place].key in lexicon.cues()["preposition"]]
                for words, left in zip(self.words.words, self.words.left, strict=True)
            )
            for i, j in _paired(self.words, *prepositions):
                self.tell("replaced", [i], [j], PERHAPS)
        for side, kind in ((0, "removed"), (1, "added")):
            for run in _runs(self._left(parts)[side], self.words.words[side]):
                self.tell(kind, *((run, []) if side == 0 else ([], run)), LIKELY)  # type: ignore[arg-type]

    def _is_party(self, first: Sequence[int], second: Sequence[int]) -> bool:
        """Tell whether a noun stands where the other text has one that both texts have elsewhere.

        *The tenant stays until the landlord pays*, *the tenant stays until the tenant pays*.
        """
        words = self.words.words
        if len(first) != 1 or len(second) != 1 or not self.words.in_gap(first[0], second[0]):
            return False
        for side, (place,) in zip(words, (first, second), strict=True):
            article = place > 0 and side[place - 1].text.lower() == "the"
            if not article or sort_of(side[place]) != "n":
                return False
        known = {words[0][i].key for i, _ in (*self.words.same, *self.words.moved)}
        return (words[0][first[0]].key in known) != (words[1][second[0]].key in known)

    def _left(self, parts: Sequence[str]) -> tuple[list[int], list[int]]:
        """Return words of some parts that nothing has been told of yet."""
        if not any(self.words.left):
            return [], []
        (first, second), (left, right) = self.words.words, self.words.left
        return (
            [place for place in left if first[place].part in parts],
            [place for place in right if second[place].part in parts],
        )

    def _has(self, kind: Kind) -> bool:
        return any(one.kind == kind for one in self.found)


def _whole(words: Sequence[Word], place: int) -> list[int]:
    """Return a negation with what it is written together with: *isn't*."""
    return [place - 1, place] if place and words[place - 1].end == words[place].start else [place]


def _with(words: Sequence[Word], places: Sequence[int], place: int) -> list[int]:
    """Return a word with the negation beside it."""
    near = {part for one in places if abs(one - place) <= 2 for part in _whole(words, one)}
    return sorted(near | {place})


def _paired(words: Counterparts, left: Sequence[int], right: Sequence[int]) -> list[Link]:
    """Pair words that stand for each other: in the same gap first, the others in order."""
    pairs, free = [], [*right]
    later = []
    for i in left:
        near = next((j for j in free if words.in_gap(i, j)), None)
        if near is None:
            later.append(i)
        else:
            pairs.append((i, near))
            free.remove(near)
    return sorted([*pairs, *zip(later, free, strict=False)])


def _linked(words: Counterparts, left: Sequence[int], right: Sequence[int]) -> list[Link]:
    """Return words that a plan moves to each other, each at most once."""
    pairs: list[Link] = []
    for i, j in sorted(words.linked):
        taken = any(i == one or j == other for one, other in pairs)
        if i in left and j in right and not taken and not words.in_gap(i, j):
            pairs.append((i, j))
    return pairs


def _runs(places: Sequence[int], words: Sequence[Word]) -> list[list[int]]:
    """Return places in runs with nothing but words of grammar between them."""
    runs: list[list[int]] = []
    for place in places:
        between = words[runs[-1][-1] + 1 : place] if runs else ()
        if runs and all(word.part == FUNCTION and word.key != "and" for word in between):
            runs[-1].append(place)
        else:
            runs.append([place])
    return runs


def _paired_runs(
    words: Counterparts, left: Sequence[int], right: Sequence[int]
) -> list[tuple[list[int], list[int]]]:
    """Return runs of words that stand in the same gap of either text."""
    pairs, free = [], _runs(right, words.words[1])
    for run in _runs(left, words.words[0]):
        near = next((one for one in free if _in_place(words, run[0], one[0])), None)
        if near is not None:
            pairs.append((run, near))
            free.remove(near)
    return pairs


def _in_place(words: Counterparts, i: int, j: int) -> bool:
    """Tell whether two words stand in the same gap, and not behind two different prepositions."""
    if not words.in_gap(i, j):
        return False
    heads = {
        preposition_before(side, place) for side, place in zip(words.words, (i, j), strict=True)
    }
    return len(heads) == 1 or None in heads or (i, j) in words.linked


def _time(words: Sequence[Word], place: int) -> str | None:
    """Return the time of a verb by its form and what stands before it; None if it has none."""
    word = words[place]
    if not word.form or (word.part not in (CONTENT, FUNCTION)):
        return None
    if word.form == "future":
        return word.form
    for near in range(place - 1, max(-1, place - 4), -1):
        before = words[near]
        if before.key == "have":
            return "past" if word.form == "past" else None
        if before.part == MODALITY:
            return None
        if before.part == FUNCTION and before.form:
            return before.form
        if before.key == "to" and not (near and words[near - 1].form == "future"):
            return None
        if before.part in (CONTENT, NAME) and before.form != "participle":
            break
    if word.form == "participle" or word.text.lower() in lexicon.cues()["unchanged"]:
        return None
    return "present" if word.form == "base" else word.form


def _span(words: Sequence[Word], places: Sequence[int]) -> Span | None:
    return (words[places[0]].start, words[places[-1]].end) if places else None


def _clause(words: Sequence[Word], places: Sequence[int]) -> Span:
    """Return the place of a range of words, with the article before the first."""
    low, high = places[0], places[-1]
    while low > 0 and words[low - 1].text.lower() in lexicon.cues()["determiner"]:
        low -= 1
    return words[low].start, words[high].end


def _widened(reading: Reading, span: Span) -> Span:
    """Return the whole clause around words, up to the next pauses, unless it is long."""
    low, high = span
    starts = [0, *(found.end() for found in PAUSE.finditer(reading.text, 0, low))]
    end = PAUSE.search(reading.text, high)
    wide = starts[-1], end.start() if end else len(reading.text.rstrip(" .!?"))
    return wide if wide[1] - wide[0] <= CLAUSE else span
