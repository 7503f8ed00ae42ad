"""`differences`: everything two texts differ in, each with its words, places and a sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Literal

from movers.difference import clauses, lexicon, orders
from movers.difference.counterparts import Counterparts, Link, find_counterparts, runs
from movers.difference.kinds import KINDS, Difference, Kind, Span, say
from movers.difference.misspelt import are_spellings
from movers.difference.plain_words import Part, Word, asks, look_english, read
from movers.difference.polarity import TELLING, denies, is_converse, negations
from movers.difference.roles import judge_order, sort_of
from movers.io.pairs import check_sentence

CERTAIN, LIKELY, PERHAPS = 0.95, 0.8, 0.6
FIGURES: tuple[Part, ...] = ("number", "date", "unit")
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

    Examples
    --------
    >>> import movers
    >>> for one in movers.differences("Take 2 tablets.", "Do not take 20 tablets."):
    ...     print(one.kind, "–", one.text)
    negation – B denies it: “not”.
    number – “2” in A, “20” in B.
    """
    texts = check_sentence(source, "a text"), check_sentence(target, "a text")
    if read(source) == read(target) and asks(source) == asks(target):
        return ()
    return DifferenceFinder(texts, find_counterparts(source, target, links)).run()


class DifferenceFinder:
    """Finds what one pair of texts differs in, step by step; a word is told of once."""

    def __init__(self, texts: tuple[str, str], matched: Counterparts) -> None:
        self.texts, self.matched = texts, matched
        self.words, self.left = matched.words, matched.left
        self.asking = asks(texts[0]), asks(texts[1])
        self.found: list[Difference] = []

    def run(self) -> tuple[Difference, ...]:
        """Take the steps in order, and sort what they found."""
        english = look_english(*self.texts)
        self.order()
        if english:
            self.polarity()
            self.spelling()
        self.asked()
        self.counted()
        if english:
            only = ([p for p, word in enumerate(some) if word.key == "only"] for some in self.words)
            self.scope("quantity", *only)
            self.quantities()
            self.modalities()
            self.small_words("quantity", "coordinator", alike=False)
            self.small_words("number", "period", alike=False)
            self.small_words("tense", "time", alike=True)
            self.few()
            self.tense()
        self.names()
        self.others()
        return tuple(sorted(self.found, key=lambda one: KINDS.index(one.kind)))

    def tell(self, kind: Kind, i: Sequence[int], j: Sequence[int], sure: float) -> None:
        """Tell of words by their places, and leave them out from then on."""
        self.matched.take(i, j)
        self._add(kind, _span(self.words[0], i), _span(self.words[1], j), sure)

    def tell_alone(self, kind: Kind, side: int, places: Sequence[int], sure: float) -> None:
        """Tell of words that one text alone has."""
        self.tell(kind, *((places, []) if side == 0 else ([], places)), sure)

    def _add(self, kind: Kind, first: Span | None, second: Span | None, sure: float) -> None:
        """Tell of places in the texts."""
        source, target = (
            text[slice(*span)] if span else ""
            for text, span in zip(self.texts, (first, second), strict=True)
        )
        said = say(kind, source, target)
        self.found.append(Difference(kind, source, target, first, second, sure, said))

    def _add_roles(self, first: Sequence[int], second: Sequence[int], sure: float) -> None:
        """Tell of roles exchanged, with the whole clauses around the words."""
        spans = map(_clause, self.words, (first, second))
        source, target = map(_widened, self.texts, spans)
        self._add("roles", source, target, sure)

    def order(self) -> None:
        """Tell of roles exchanged, or an order without effect."""
        told = orders.effect_of_order(*self.texts)
        order = (told == orders.TELLING, CERTAIN, ()) if told else judge_order(self.matched)
        if order is None:
            return
        effect, sure, exchanged = order
        first, second = (range(len(words)) for words in self.words)
        if exchanged:
            ends = (sorted(link[side] for link in exchanged) for side in (0, 1))
            first, second = (range(low, high + 1) for low, high in ends)
        if effect:
            self._add_roles(first, second, sure)
        else:
            source, target = map(_clause, self.words, (first, second))
            self._add("reordered", source, target, sure)

    def polarity(self) -> None:
        """Tell of negations that do not cancel, and of opposites."""
        negated, opposites = denies(self.matched)
        source, target = self.words
        cues = negations(source), negations(target)
        self.matched.take(*cues)
        if negated and len(opposites) % 2:
            i, j = opposites[0]
            self.tell("replaced", _with(source, cues[0], i), _with(target, cues[1], j), LIKELY)
            opposites = opposites[1:]
        elif negated:
            side = 0 if len(cues[0]) > len(cues[1]) else 1
            other = {word.key for word in self.words[1 - side]}
            own = (place for place in cues[side] if self.words[side][place].key not in other)
            self.matched.take(*self.matched.left_of("quantity"))  # something, in place of nothing
            shown = _whole(self.words[side], next(own, cues[side][0]))
            self.tell_alone("negation", side, shown, CERTAIN)
        else:
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
        i, j = (
            next((p for p in range(cue + 1, len(words)) if words[p].part in TELLING), -1)
            for words, cue in zip(self.words, (*first, *second), strict=True)
        )
        links = dict(self.matched.links)
        if links.get(i, j) == j or j not in links.values():
            return
        keys = {self.words[0][i].key, self.words[1][j].key}
        keys |= {self.words[side][p].key for side in (0, 1) for p in self.left[side]}
        if not keys & lexicon.cues()["no scope"].keys():
            self.tell(kind, [*first, i], [*second, j], PERHAPS)

    def _unless_turned(self, opposites: Sequence[Link]) -> list[Link]:
        """Return opposites but for converses with exchanged partners: *lends*, *borrows*."""
        turned = [link for link in opposites if is_converse(self.matched, *link)]
        order = next((one for one in self.found if one.kind in ("roles", "reordered")), None)
        if not turned or order is None:
            return [*opposites]
        for i, j in turned:
            self.tell("replaced", [i], [j], LIKELY)
        if order.kind == "roles":
            self.found.remove(order)
            text = say("reordered", order.source, order.target)
            self.found.append(replace(order, kind="reordered", sure=PERHAPS, text=text))
        source = self.words[0]
        return [  # sells to, buys from
            (i, j) for i, j in opposites if (i, j) not in turned and source[i].part == "content"
        ]

    def spelling(self) -> None:
        """Tell of words spelt in two ways."""
        left, right = (
            [(place, words[place].lower, words[place].part) for place in places[:LONGEST]]
            for words, places in zip(self.words, self.left, strict=True)
        )
        for i, word, part in left:
            for j, other, beside in right:
                near = abs(len(word) - len(other)) <= 2 and "content" in (part, beside)
                if near and are_spellings(word, other):
                    self.tell("spelling", [i], [j], LIKELY)
                    break

    def asked(self) -> None:
        """Tell of a question against a statement."""
        first, second = self.texts
        if self.asking[0] == self.asking[1]:
            return
        said = say("question", "A" if self.asking[0] else "B", "")
        whole = (0, len(first)), (0, len(second))
        asked = Difference("question", first, second, *whole, CERTAIN, said)
        self.found = [*(one for one in self.found if one.kind != "reordered"), asked]
        asking = lexicon.cues()["question"]
        self.matched.take(
            *self.matched.left_where(lambda word: word.part == "modality" or word.key in asking)
        )

    def counted(self) -> None:
        """Tell of figures, dates and units that differ."""
        for part in FIGURES:
            for i, j in self.matched.pair(*self.matched.left_of(part)):
                self.tell("number", [i], [j], CERTAIN)
        for side, places in enumerate(self.matched.left_of("number")):
            for place in places:
                self._single(side, place)
        self._join_units()

    def _single(self, side: int, place: int) -> None:
        """Tell of a number without one in the other text: an article or a quantity may be it."""
        is_one = self.words[side][place].key == "1"
        for other in self.left[1 - side]:
            i, j = (place, other) if side == 0 else (other, place)
            against = self.words[1 - side][other]
            quantity, article = against.part == "quantity", against.lower in ("a", "an")
            if self.matched.in_gap(i, j) and (quantity or (article and not is_one)):
                self.tell("quantity" if quantity else "number", [i], [j], LIKELY)
                return
        if is_one:
            self.left[side].remove(place)

    def _join_units(self) -> None:
        """Make one difference of a number and its unit."""
        numbers = [one for one in self.found if one.kind == "number"]
        for one, two in pairwise(numbers):
            first, second = one.source_span, two.source_span
            if first and second and abs(second[0] - first[1]) <= 1:
                self.found.remove(two)

    def quantities(self) -> None:
        """Tell of quantities of another strength: *all* for *most*."""
        for i, j in self.matched.pair(*self.matched.left_of("quantity")):
            self.tell("quantity", [i], [j], LIKELY)
        vague = lexicon.cues()["vague"]
        self._unpaired("quantity", lambda word: word.key in vague)

    def modalities(self) -> None:
        """Tell of what is more or less certain or binding: *must* for *may*."""
        left, right = self.matched.left_of("modality")
        will = self.matched.left_where(lambda word: word.key == "will")
        for i, j in self.matched.pair([*left, *will[0]], [*right, *will[1]]):
            first, second = self.words[0][i], self.words[1][j]
            if first.lower == second.lower:  # have to, do not have to: the negation was told
                self.matched.take([i], [j])
            elif first.key != second.key:
                self.tell("modality", [i], [j], LIKELY)
        self._unpaired("modality", lambda _: any(self.asking))

    def _unpaired(
        self, kind: Literal["quantity", "modality"], vague: Callable[[Word], bool]
    ) -> None:
        """Tell of words that one text alone has, unless vague or beside others of that kind."""
        for side, places in enumerate(self.matched.left_of(kind)):
            for place in places:
                if vague(self.words[side][place]) or place + 1 in self.left[side]:
                    self.left[side].remove(place)
                else:
                    self.tell_alone(kind, side, [place], PERHAPS)

    def small_words(self, kind: Kind, cue: str, *, alike: bool) -> None:
        """Tell of words of a table that stand for each other: *and* for *or*, *today* for *then*.

        Either those that the table gives one meaning, or those that it gives two.
        """
        table = lexicon.cues()[cue]
        for i, j in self.matched.pair(
            *self.matched.left_where(lambda word: word.text.lower() in table)
        ):
            first, second = table[self.words[0][i].lower], table[self.words[1][j].lower]
            telling = first == second if alike else first != second and first and second
            if telling and self.matched.in_gap(i, j):
                self.tell(kind, [i], [j], LIKELY)

    def few(self) -> None:
        """Tell of *few* for *a few*: an article makes more of it."""
        for i, j in self.matched.same:
            word = self.words[0][i]
            if word.part != "quantity" or word.lower not in lexicon.cues()["few"]:
                continue
            first, second = (
                [place - 1, place] if place and words[place - 1].lower == "a" else [place]
                for words, place in zip(self.words, (i, j), strict=True)
            )
            if len(first) != len(second):
                self.tell("quantity", first, second, LIKELY)

    def tense(self) -> None:
        """Tell of verbs that both texts have in another time."""
        if any(self.asking):
            return
        source, target = self.words
        for i, j in self.matched.links:
            if not source[i].form:
                continue
            times = _time(source, i), _time(target, j)
            if None not in times and times[0] != times[1]:
                if not clauses.exchanged(self.matched):
                    self.tell("tense", [i], [j], LIKELY)
                return

    def names(self) -> None:
        """Tell of names that differ."""
        for first, second in self.matched.pair_runs(*self.matched.left_of("name")):
            self.tell("name", first, second, LIKELY)

    def others(self) -> None:
        """Tell of words replaced, added and removed."""
        parts: tuple[Part, ...] = ("content", "name", *FIGURES)
        for i, j in self.matched.pair_linked(*self.matched.left_of(*parts)):
            self.tell("replaced", [i], [j], LIKELY)
        for first, second in self.matched.pair_runs(*self.matched.left_of(*parts)):
            if self._is_other_party(first, second):
                self.matched.take(first, second)
                self._add_roles(first, second, LIKELY)
            else:
                self.tell("replaced", first, second, LIKELY)
        left, right = self.matched.left_of(*parts)
        reordered = any(one.kind == "reordered" for one in self.found)
        if reordered and len(left) == len(right) == 1:
            sorts = {sort_of(self.words[0][left[0]]), sort_of(self.words[1][right[0]])}
            if len(sorts) == 1:
                self.tell("replaced", left, right, PERHAPS)
        if not self.found and not left and not right:  # nothing else tells them apart
            prepositions = lexicon.cues()["preposition"]
            small = self.matched.left_where(lambda word: word.key in prepositions)
            for i, j in self.matched.pair(*small):
                self.tell("replaced", [i], [j], PERHAPS)
        kinds: tuple[Kind, Kind] = ("removed", "added")
        for side, kind in enumerate(kinds):
            for run in runs(self.matched.left_of(*parts)[side], self.words[side]):
                self.tell_alone(kind, side, run, LIKELY)

    def _is_other_party(self, first: Sequence[int], second: Sequence[int]) -> bool:
        """Tell whether a noun stands where the other text has one that both texts have elsewhere.

        *The tenant stays until the landlord pays*, *the tenant stays until the tenant pays*.
        """
        if len(first) != 1 or len(second) != 1 or not self.matched.in_gap(first[0], second[0]):
            return False
        for words, (place,) in zip(self.words, (first, second), strict=True):
            article = place > 0 and words[place - 1].lower == "the"
            if not article or sort_of(words[place]) != "n":
                return False
        known = {self.words[0][i].key for i, _ in self.matched.links}
        return (self.words[0][first[0]].key in known) != (self.words[1][second[0]].key in known)


def _whole(words: Sequence[Word], place: int) -> list[int]:
    """Return a negation with what it is written together with: *isn't*."""
    return [place - 1, place] if place and words[place - 1].end == words[place].start else [place]


def _with(words: Sequence[Word], places: Sequence[int], place: int) -> list[int]:
    """Return a word with the negation beside it."""
    near = {part for one in places if abs(one - place) <= 2 for part in _whole(words, one)}
    return sorted(near | {place})


def _time(words: Sequence[Word], place: int) -> str | None:
    """Return the time of a verb by its form and what stands before it; None if it has none."""
    word = words[place]
    if not word.form or (word.part not in ("content", "function")):
        return None
    if word.form == "future":
        return word.form
    for near in range(place - 1, max(-1, place - 4), -1):
        before = words[near]
        if before.key == "have":
            return "past" if word.form == "past" else None
        if before.part == "modality":
            return None
        if before.part == "function" and before.form and before.lower != "be":
            return before.form
        if before.key == "to" and not (near and words[near - 1].form == "future"):
            return None
        if before.part in ("content", "name") and before.form != "participle":
            break
    if word.form == "participle" or word.lower in lexicon.cues()["unchanged"]:
        return None
    return "present" if word.form == "base" else word.form


def _span(words: Sequence[Word], places: Sequence[int]) -> Span | None:
    return (words[places[0]].start, words[places[-1]].end) if places else None


def _clause(words: Sequence[Word], places: Sequence[int]) -> Span:
    """Return the place of a range of words, with the article before the first."""
    low, high = places[0], places[-1]
    while low > 0 and words[low - 1].lower in lexicon.cues()["determiner"]:
        low -= 1
    return words[low].start, words[high].end


def _widened(text: str, span: Span) -> Span:
    """Return the whole clause around words, up to the next pauses, unless it is long."""
    low, high = span
    starts = [0, *(found.end() for found in PAUSE.finditer(text, 0, low))]
    end = PAUSE.search(text, high)
    wide = starts[-1], end.start() if end else len(text.rstrip(" .!?"))
    return wide if wide[1] - wide[0] <= CLAUSE else span
