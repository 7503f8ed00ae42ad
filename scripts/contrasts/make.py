"""Make the contrasts that calibrate an encoder: plain text, from a grammar and marked sentences.

    python scripts/contrasts/make.py

writes into ``src/movers/data``

``contrasts_english.tsv``
    Pairs of sentences whose words change places, with and without a change of meaning: from the
    grammar below, from marked sentences (``sentences.txt``), and from sentences that were restated
    and twisted by hand (``restated.tsv``).
``changes_english.tsv``
    A sentence, one with its roles exchanged, and the latter with one more change.
``replaced_english.tsv``
    Pairs with other words in the same places.
"""

from __future__ import annotations

import csv
import random
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from words import FIT, REPORT, SYNONYMS, Words

SAME, DIFFERENT = "same", "different"
HALVES = ["fit", "report"]
Row = tuple[str, str, str, str]
"""Kind, side, source and target."""

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "src" / "movers" / "data"
TRIPLES = ROOT / "research" / "src" / "movers_research" / "data" / "triples_english.tsv"
EACH = {"fit": 40, "report": 30}
"""Times that every rule of the grammar is used in a half."""
CHANGED = {"fit": 140, "report": 40}
"""Sentences of a half that are swapped and changed."""
REWORDED = 8
"""Sentences of a kind that are reworded."""
KEEPING = {"c": "coordination, natural", "s": "symmetric, natural", "f": "fronting, natural"}
CHANGING = {
    "r": "roles, natural",
    "p": "directions, natural",
    "m": "modifiers, natural",
    "n": "names, natural",
    "d": "numbers, natural",
    "v": "verbs, natural",
    "q": "attachment, natural",
}
NOT_NAMES = {
    "the", "a", "an", "in", "on", "at", "her", "his", "my", "two", "after", "before", "during",
    "because", "although", "when", "if", "until", "as", "according", "for", "while", "near",
    "behind", "electrons", "police", "airlines", "shares", "oil", "why", "how", "what", "which",
    "do", "can", "does", "please",
}  # fmt: skip


class Scene:
    """Draws words for one generated sentence, no word twice."""

    def __init__(self, words: Words, seed: str) -> None:
        self.words = words
        self.random = random.Random(seed)

    def some(self, phrases: Iterable[str], count: int) -> list[str]:
        """Draw phrases, no two alike."""
        return self.random.sample(list(phrases), count)

    def one(self, choices):
        """Draw one of several."""
        return self.random.choice(choices)

    def maybe(self, phrases: list[str], chance: float) -> str:
        """Draw a phrase, or nothing."""
        return self.one(phrases) if self.random.random() < chance else ""

    def persons(self, count: int = 2, *, plain: float = 0.5) -> list[str]:
        """People: names, or nouns with or without more about them."""
        if self.random.random() < 0.3:
            return self.some(self.words.names, count)
        nouns = self.some(self.words.people, count)
        if self.random.random() < plain:
            return [f"the {noun}" for noun in nouns]
        traits = self.some(self.words.traits, count)
        tails = self.some(self.words.tails, count)
        out = []
        for noun, trait, tail in zip(nouns, traits, tails, strict=True):
            shape = self.one(["the {t} {n}", "the {n} {r}", "the {t} {n} {r}", "the {n}"])
            out.append(shape.format(t=trait, n=noun, r=tail))
        return out

    def adjunct(self, chance: float = 0.5) -> str:
        """A time, a place, both or nothing, with a blank before it."""
        words = self.words
        found = [self.maybe(words.places, chance), self.maybe(words.times, chance)]
        return "".join(f" {part}" for part in found if part)

    def work(self):
        """A verb and a thing that goes with it."""
        verbs, things = self.one(self.words.works)
        return self.one(verbs), self.one(things)


def passive(scene: Scene, first: str, second: str, verb, tail: str) -> list[str]:
    """Active sentence, right passive, wrong passive, roles exchanged."""
    return [
        f"{first} {verb.past} {second}{tail}.",
        f"{second} was {verb.participle} by {first}{tail}.",
        f"{first} was {verb.participle} by {second}{tail}.",
        f"{second} {verb.past} {first}{tail}.",
    ]


def passive_people(scene: Scene) -> Iterator[Row]:
    a, b = scene.persons(plain=0.7)
    source, right, wrong, swapped = passive(scene, a, b, scene.one(scene.words.deeds), "")
    yield from _rows("passive, people", source, [right], [wrong, swapped])


def passive_adjuncts(scene: Scene) -> Iterator[Row]:
    a, b = scene.persons()
    verb, tail = scene.one(scene.words.deeds), scene.adjunct(0.8)
    source, right, wrong, swapped = passive(scene, a, b, verb, tail)
    yield from _rows("passive, adjuncts", source, [right], [wrong, swapped])


def passive_things(scene: Scene) -> Iterator[Row]:
    (a,) = scene.persons(1)
    verb, thing = scene.work()
    tail = scene.adjunct(0.3)
    source, right, wrong, _ = passive(scene, a, thing, verb, tail)
    yield from _rows("passive, things", source, [right], [wrong])


def question(scene: Scene) -> Iterator[Row]:
    a, b = scene.persons(plain=0.8)
    verb, tail = scene.one(scene.words.deeds), scene.adjunct(0.3)
    asked = f"did {a} {verb.base} {b}{tail}?"
    turned = f"was {b} {verb.participle} by {a}{tail}?"
    wrong = [f"did {b} {verb.base} {a}{tail}?", f"was {a} {verb.participle} by {b}{tail}?"]
    why = scene.maybe(["why ", "when ", "how often "], 0.4)
    yield from _rows("questions", why + asked, [why + turned], [why + one for one in wrong])


def choice(scene: Scene) -> Iterator[Row]:
    ask, a, b = scene.one(scene.words.choices)
    tail = scene.maybe([" this year", " next week", " with my sister", " for the trip"], 0.4)
    same = f"{ask} {b} or {a}{tail}?"
    yield from _rows(
        "choice", f"{ask} {a} or {b}{tail}?", [same], [f"{ask} both {a} and {b}{tail}?"]
    )


def conjoined_nouns(scene: Scene) -> Iterator[Row]:
    a, b, c = scene.persons(3, plain=0.8)
    verb, tail = scene.one(scene.words.deeds), scene.adjunct(0.4)
    word = scene.one(["and", "and", "or"])
    if scene.random.random() < 0.5:
        source, same = (
            f"{a} {word} {b} {verb.past} {c}{tail}.",
            f"{b} {word} {a} {verb.past} {c}{tail}.",
        )
        wrong = f"{c} {word} {b} {verb.past} {a}{tail}."
    else:
        source, same = (
            f"{c} {verb.past} {a} {word} {b}{tail}.",
            f"{c} {verb.past} {b} {word} {a}{tail}.",
        )
        wrong = f"{a} {verb.past} {c} {word} {b}{tail}."
    yield from _rows("coordination, nouns", source, [same], [wrong])


def conjoined_clauses(scene: Scene) -> Iterator[Row]:
    a, b = scene.persons(plain=0.9)
    first, second = scene.some(scene.words.intransitive, 2)
    tail = scene.adjunct(0.2)
    source, same = f"{a} {first} and {b} {second}{tail}.", f"{b} {second} and {a} {first}{tail}."
    yield from _rows(
        "coordination, clauses", source, [same], [f"{b} {first} and {a} {second}{tail}."]
    )


def conjoined_verbs(scene: Scene) -> Iterator[Row]:
    a, b, c = scene.persons(3, plain=0.9)
    first, second = (one.past for one in scene.random.sample(scene.words.deeds, 2))
    source, same = f"{a} {first} and {second} {b}.", f"{a} {second} and {first} {b}."
    wrong = f"{b} {first} and {second} {a}."
    if scene.random.random() < 0.5:
        source, same = f"{a} {first} {b} and {second} {c}.", f"{a} {second} {c} and {first} {b}."
        wrong = f"{a} {first} {c} and {second} {b}."
    yield from _rows("coordination, verbs", source, [same], [wrong])


def conjoined_adjectives(scene: Scene) -> Iterator[Row]:
    first, second = scene.one(scene.words.states).split(" and ")
    _, thing = scene.work()
    _, other = scene.work()
    while other == thing:
        _, other = scene.work()
    tail = scene.adjunct(0.3)
    source, same = (
        f"{thing}{tail} was {x} and {y}." for x, y in ((first, second), (second, first))
    )
    yield from _rows("coordination, adjectives", source, [same], [])
    both = f"{thing} was {first} and {other} was {second}{tail}."
    yield "modifiers", DIFFERENT, both, f"{thing} was {second} and {other} was {first}{tail}."


def symmetric(scene: Scene) -> Iterator[Row]:
    a, b = scene.persons(plain=0.7)
    tail = scene.maybe(scene.words.times, 0.2)
    tail = tail and f" {tail}"
    mutual, onesided = scene.one(scene.words.mutual), scene.one(scene.words.onesided)
    yield "symmetric", SAME, f"{a} {mutual} {b}{tail}.", f"{b} {mutual} {a}{tail}."
    yield "symmetric", DIFFERENT, f"{a} {onesided} {b}{tail}.", f"{b} {onesided} {a}{tail}."


def fronted(scene: Scene) -> Iterator[Row]:
    a, b = scene.persons()
    verb = scene.one(scene.words.deeds)
    moved = scene.one([*scene.words.places, *scene.words.times])
    core = f"{a} {verb.past} {b}"
    wrong = [f"{moved}, {b} {verb.past} {a}.", f"{b} {verb.past} {a} {moved}."]
    yield from _rows("fronted adjunct", f"{core} {moved}.", [f"{moved}, {core}."], wrong)


def clause_order(scene: Scene) -> Iterator[Row]:
    first, second = scene.one(scene.words.events)
    word = scene.one(["because", "when", "after", "as soon as"])
    source, same = f"{second} {word} {first}.", f"{word} {first}, {second}."
    wrong = [f"{word} {second}, {first}.", f"{first} {word} {second}."]
    yield from _rows("fronted clause", source, [same], wrong)
    yield "before and after", SAME, f"{first} before {second}.", f"{second} after {first}."
    yield "before and after", DIFFERENT, f"{first} before {second}.", f"{second} before {first}."


def dative(scene: Scene) -> Iterator[Row]:
    a, b = scene.persons()
    verb, gift = scene.one(scene.words.offers), scene.one(scene.words.gifts)
    tail = scene.adjunct(0.3)
    source, same = f"{a} {verb.past} {b} {gift}{tail}.", f"{a} {verb.past} {gift} to {b}{tail}."
    wrong = [f"{b} {verb.past} {gift} to {a}{tail}.", f"{b} {verb.past} {a} {gift}{tail}."]
    yield from _rows("datives", source, [same], wrong)


def trade(scene: Scene) -> Iterator[Row]:
    a, b = scene.persons(plain=0.7)
    first, second, things = scene.one(scene.words.trades)
    thing, tail = scene.one(things), scene.adjunct(0.3)
    took, gave = first.format(t=thing), second.format(t=thing)
    source, same = f"{a} {took} {b}{tail}.", f"{b} {gave} {a}{tail}."
    wrong = [f"{b} {took} {a}{tail}.", f"{a} {gave} {b}{tail}."]
    yield from _rows("converse verbs", source, [same], wrong)


def relation(scene: Scene) -> Iterator[Row]:
    a, b = scene.persons(plain=0.9)
    if scene.random.random() < 0.5:
        first, second = (f"is the {word} of" for word in scene.one(scene.words.bonds))
    else:
        first, second = (f"is {word}" for word in scene.one(scene.words.sides))
        (_, a), (_, b) = scene.work(), scene.work()
        if a == b:
            return
    source, same = f"{a} {first} {b}.", f"{b} {second} {a}."
    yield from _rows("converse relations", source, [same], [f"{b} {first} {a}."])


def comparative(scene: Scene) -> Iterator[Row]:
    a, b = scene.persons(plain=0.6)
    more, less = scene.one(scene.words.degrees)
    source, same = f"{a} is {more} than {b}.", f"{b} is {less} than {a}."
    wrong = [f"{b} is {more} than {a}.", f"{a} is {less} than {b}."]
    yield from _rows("comparatives", source, [same], wrong)


def genitive(scene: Scene) -> Iterator[Row]:
    relative = scene.one(scene.words.relatives)
    (person,) = scene.persons(1, plain=1.0)
    (other,) = scene.persons(1, plain=1.0)
    if person == other:
        return
    verb = scene.one(scene.words.deeds)
    start = f"the {relative} of {person} {verb.past} {other}."
    same = f"{person}'s {relative} {verb.past} {other}."
    wrong = [
        f"the {relative} of {other} {verb.past} {person}.",
        f"{other}'s {relative} {verb.past} {person}.",
    ]
    yield from _rows("genitives", start, [same], wrong)


def cleft(scene: Scene) -> Iterator[Row]:
    a, b = scene.persons(plain=0.7)
    verb, tail = scene.one(scene.words.deeds), scene.adjunct(0.3)
    source, same = f"{a} {verb.past} {b}{tail}.", f"it was {a} who {verb.past} {b}{tail}."
    other = f"it was {b} whom {a} {verb.past}{tail}."
    wrong = [f"it was {b} who {verb.past} {a}{tail}.", f"it was {a} whom {b} {verb.past}{tail}."]
    yield from _rows("clefts", source, [same, other], wrong)


def according(scene: Scene) -> Iterator[Row]:
    a, b = scene.persons(plain=0.7)
    verb, thing = scene.work()
    tail = scene.adjunct(0.2)
    core, other = f"{b} {verb.past} {thing}{tail}", f"{a} {verb.past} {thing}{tail}"
    source, same = f"according to {a}, {core}.", f"{core}, according to {a}."
    wrong = [f"according to {b}, {other}.", f"{other}, according to {b}."]
    yield from _rows("according to", source, [same], wrong)


def relative_clause(scene: Scene) -> Iterator[Row]:
    a, b = scene.some(scene.words.people, 2)
    verb, town = scene.one(scene.words.deeds), scene.one(scene.words.towns)
    tail = f"lives in {town}"
    source = f"the {a} who was {verb.participle} by the {b} {tail}."
    same = f"the {a} whom the {b} {verb.past} {tail}."
    wrong = [
        f"the {a} who {verb.past} the {b} {tail}.",
        f"the {b} whom the {a} {verb.past} {tail}.",
    ]
    yield from _rows("relative clauses", source, [same], wrong)


def particle(scene: Scene) -> Iterator[Row]:
    a, b = scene.some(scene.words.switches, 2)
    please = scene.maybe(["please ", "could you please "], 0.5)
    source = f"{please}turn the {a} off and the {b} on."
    same = [
        f"{please}turn off the {a} and turn on the {b}.",
        f"{please}turn the {b} on and the {a} off.",
    ]
    yield from _rows("particles", source, same, [f"{please}turn the {b} off and the {a} on."])


def adverb(scene: Scene) -> Iterator[Row]:
    a, b = scene.persons(plain=0.9)
    first, second = scene.some(scene.words.adverbs, 2)
    one, two = (verb.past for verb in scene.random.sample(scene.words.deeds, 2))
    source = f"{a} {first} {one} {b}."
    wrong = f"{b} {first} {one} {a}."
    yield from _rows(
        "adverbs", source, [f"{first}, {a} {one} {b}.", f"{a} {one} {b} {first}."], [wrong]
    )
    both = f"{a} {first} {one} {b} and {second} {two} the crowd."
    yield "modifiers", DIFFERENT, both, f"{a} {second} {one} {b} and {first} {two} the crowd."


def location(scene: Scene) -> Iterator[Row]:
    (_, x), (_, y) = scene.work(), scene.work()
    if x == y:
        return
    here, there = scene.some(scene.words.places, 2)
    source = f"{x} is {here} and {y} is {there}."
    same = [f"{y} is {there} and {x} is {here}.", f"{here} is {x} and {there} is {y}."]
    yield from _rows("locations", source, same, [f"{y} is {here} and {x} is {there}."])


def exchanged(scene: Scene) -> Iterator[Row]:
    x, y = scene.some(scene.words.objects, 2)
    colours = scene.some(scene.words.colours, 2)
    (person,) = scene.persons(1, plain=0.8)
    tail = scene.adjunct(0.3)
    source, same, wrong = (
        f"{person} saw a {i} {p} next to a {j} {q}{tail}."
        for i, p, j, q in (
            (colours[0], x, colours[1], y),
            (colours[1], y, colours[0], x),
            (colours[1], x, colours[0], y),
        )
    )
    yield from _rows("modifiers", source, [same], [wrong])


def figures(scene: Scene) -> Iterator[Row]:
    a, b = scene.persons(plain=0.9)
    first, second = sorted(scene.some(scene.words.years, 2))
    town, other = scene.some(scene.words.towns, 2)
    source = f"{a} was born in {town} in {first} and died in {other} in {second}."
    same = f"born in {town} in {first}, {a} died in {other} in {second}."
    wrong = [
        f"{a} was born in {other} in {first} and died in {town} in {second}.",
        f"{a} was born in {town} in {second} and died in {other} in {first}.",
    ]
    yield from _rows("dates and places", source, [same], wrong)
    low, high = scene.random.randint(2, 9), scene.random.randint(11, 60)
    start = f"{a} has {low} sheep and {b} has {high} cows."
    kept = f"{b} has {high} cows and {a} has {low} sheep."
    yield from _rows("numbers", start, [kept], [f"{a} has {high} sheep and {b} has {low} cows."])


def direction(scene: Scene) -> Iterator[Row]:
    (a,) = scene.persons(1)
    here, there = scene.some(scene.words.towns, 2)
    verb = scene.one(["travelled", "walked", "moved", "flew", "sent a parcel"])
    tail = scene.maybe(scene.words.times, 0.4)
    tail = tail and f" {tail}"
    source = f"{a} {verb} from {here} to {there}{tail}."
    same = f"{a} {verb} to {there} from {here}{tail}."
    wrong = [
        f"{a} {verb} from {there} to {here}{tail}.",
        f"{a} {verb} to {here} from {there}{tail}.",
    ]
    yield from _rows("directions", source, [same], wrong)


RULES: list[Callable[[Scene], Iterator[Row]]] = [
    passive_people, passive_adjuncts, passive_things, question, choice, conjoined_nouns,
    conjoined_clauses, conjoined_verbs, conjoined_adjectives, symmetric, fronted, clause_order,
    dative, trade, relation, comparative, genitive, cleft, according, relative_clause, particle,
    adverb, location, exchanged, figures, direction,
]  # fmt: skip


def _rows(kind: str, source: str, same: list[str], different: list[str]) -> Iterator[Row]:
    yield from ((kind, SAME, source, target) for target in same)
    yield from ((kind, DIFFERENT, source, target) for target in different)


def _sentence(text: str) -> str:
    """A text with one capital at its beginning and single blanks."""
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"\ban? (?=[aeio])", "an ", re.sub(r"\ban (?=[^aeioh])", "a ", text))
    return text[:1].upper() + text[1:]


def generated(words: Words, half: str) -> Iterator[Row]:
    """Pairs from the grammar."""
    for rule in RULES:
        for number in range(EACH[half]):
            for kind, side, source, target in rule(
                Scene(words, f"{half} {rule.__name__} {number}")
            ):
                yield kind, side, _sentence(source), _sentence(target)


PART = re.compile(r"\[(\w)(\d?) ((?:[^\[\]]|\[[^\[\]]*\])*)\]")


def plain(marked: str) -> str:
    """A marked sentence without its marks."""
    while (text := PART.sub(r"\3", marked)) != marked:
        marked = text
    return marked


def _lower(text: str) -> str:
    """A part that stood first, as it stands elsewhere."""
    first = re.split(r"[\s,]", text, maxsplit=1)[0]
    return text[:1].lower() + text[1:] if first.lower() in NOT_NAMES else text


def exchanges(marked: str, letter: str) -> str | None:
    """The sentence with the two parts of a letter exchanged, or None without two."""
    parts = {
        found[2]: found for found in PART.finditer(_opened(marked, letter)) if found[1] == letter
    }
    if {*parts} != {"1", "2"}:
        return None
    text = _opened(marked, letter)
    first, second = parts["1"], parts["2"]
    if first.start() > second.start():
        first, second = second, first
    moved = [first[3], second[3]]
    if not plain(text[: first.start()]).strip():
        moved[0] = _lower(moved[0])
    return _sentence(
        plain(
            text[: first.start()]
            + moved[1]
            + text[first.end() : second.start()]
            + moved[0]
            + text[second.end() :]
        )
    )


def _opened(marked: str, letter: str) -> str:
    """Without the marks of other letters, so that parts inside others are found."""
    while True:
        text = PART.sub(lambda part: part[0] if part[1] == letter else part[3], marked)
        if text == marked:
            return text
        marked = text


def fronting(marked: str) -> str | None:
    """The sentence with its movable part at the other end, or None without one."""
    text = _opened(marked, "f")
    part = PART.search(text)
    if part is None:
        return None
    before, after = text[: part.start()].strip(), text[part.end() :].strip()
    if not before:
        rest, stop = after.lstrip(", "), after[-1]
        return _sentence(plain(f"{rest[:-1]} {_lower(part[3])}{stop}"))
    if len(after) > 1:
        return None
    return _sentence(plain(f"{part[3]}, {_lower(before)}{after}"))


def natural(marked: Iterable[str]) -> Iterator[Row]:
    """Pairs from marked sentences."""
    for line in marked:
        source = plain(line)
        for letter, kind in KEEPING.items():
            target = fronting(line) if letter == "f" else exchanges(line, letter)
            if target is not None:
                yield kind, SAME, source, target
        for letter, kind in CHANGING.items():
            if (target := exchanges(line, letter)) is not None:
                yield kind, DIFFERENT, source, target


SYNONYM = re.compile(rf"\b({'|'.join(sorted(map(re.escape, SYNONYMS), key=len, reverse=True))})\b")


def reworded(rows: Iterable[Row]) -> Iterator[Row]:
    """Sentences with one or two words replaced where they stand: other words, the same order."""
    sources: dict[str, list[str]] = {}
    for kind, _, source, _ in rows:
        sources.setdefault(kind, []).append(source)
    for texts in sources.values():
        for source in list(dict.fromkeys(texts))[:REWORDED]:
            target = SYNONYM.sub(lambda word: SYNONYMS[word[0]], source, count=2)
            yield "rewording", SAME, source, _sentence(target)


def paraphrases() -> Iterator[Row]:
    """The choosing half of the triples: a paraphrase, and the same words with roles swapped."""
    with TRIPLES.open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["half"] == "choose":
                yield "paraphrase", SAME, row["sentence"], row["paraphrase"]
                yield "paraphrase", DIFFERENT, row["sentence"], row["swap"]


def changes(words: Words, half: str) -> Iterator[tuple[str, str, str, str]]:
    """Sentences, their swaps, and the swaps with one more change, by kind of change."""
    for number in range(CHANGED[half]):
        scene = Scene(words, f"{half} change {number}")
        a, b = scene.persons(plain=0.7)
        verb = scene.one(scene.words.deeds)
        if number % 4 == 3:
            verb, thing = scene.one(words.offers), scene.one(words.gifts)
            source, swap = f"{a} {verb.past} {b} {thing}.", f"{b} {verb.past} {a} {thing}."
        else:
            source, swap = f"{a} {verb.past} {b}.", f"{b} {verb.past} {a}."
        added = scene.one(words.additions)
        (third,) = scene.persons(1, plain=1.0)
        other = scene.one([one for one in words.deeds if one != verb])
        changed = {
            "adjunct added": f"{swap[:-1]} {added}.",
            "adjunct in front": f"{scene.one(words.times)}, {swap}",
            "adverb added": swap.replace(
                f" {verb.past} ", f" {scene.one(words.replies)} {verb.past} ", 1
            ),
            "clause added": f"{swap[:-1]} and {scene.one(words.intransitive)}.",
            "tense changed": swap.replace(f" {verb.past} ", f" will {verb.base} ", 1),
            "verb replaced": swap.replace(f" {verb.past} ", f" {other.past} ", 1),
            "partner added": f"{swap[:-1]} and {third}.",
        }
        kinds = [
            kind
            for kind in changed
            if number % 4 != 3 or kind not in ("verb replaced", "partner added")
        ]
        for kind in kinds[number % 2 :: 2]:
            yield kind, _sentence(source), _sentence(swap), _sentence(changed[kind])


def restated(half: str) -> Iterator[Row]:
    """Every other sentence that was written in three ways: restated, and twisted."""
    with Path(__file__).with_name("restated.tsv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    for row in rows[HALVES.index(half) :: 2]:
        kind = f"restated, {row['style']}"
        yield kind, SAME, row["source"], row["restated"]
        yield kind, DIFFERENT, row["source"], row["twisted"]


def replaced(marked: list[str], seed: str) -> Iterator[tuple[str, str]]:
    """Marked sentences with another name, number or place, and without their adjunct."""
    scene = random.Random(seed)
    pool: dict[str, set[str]] = {}
    for line in marked:
        for part in _simple_parts(line):
            pool.setdefault(part[1], set()).add(part[3])
    for line in marked:
        parts = list(_simple_parts(line))
        if replaceable := [part for part in parts if part[1] != "f"]:
            part = scene.choice(replaceable)
            alike = sorted(
                text for text in pool[part[1]] - {part[3]} if _shape(text) == _shape(part[3])
            )
            if alike:
                target = line[: part.start()] + scene.choice(alike) + line[part.end() :]
                yield plain(line), _sentence(plain(target))
        for part in [part for part in parts if part[1] == "f"][:1]:
            rest = plain(line[: part.start()] + line[part.end() :])
            yield plain(line), _sentence(re.sub(r"\s+([.,?])", r"\1", rest).lstrip(", "))


def _simple_parts(line: str) -> Iterator[re.Match[str]]:
    """Parts of names, numbers, places, roles and adjuncts without other parts inside."""
    return (part for part in PART.finditer(line) if part[1] in "ndprf" and "[" not in part[3])


def _shape(text: str) -> tuple[bool, bool, bool]:
    """What a phrase has to share with another that takes its place."""
    article = text.split()[0].lower() in ("the", "a", "an")
    return text[:1].isupper(), text.isdigit(), article


def main() -> None:
    """Write all files."""
    lines = Path(__file__).with_name("sentences.txt").read_text("utf-8").splitlines()
    marked = [line for line in lines if line and not line.startswith("#")]
    pairs: list[tuple[str, ...]] = []
    further: list[tuple[str, ...]] = []
    for start, (half, words) in enumerate({"fit": FIT, "report": REPORT}.items()):
        rows = [*generated(words, half), *natural(marked[start::2])]
        rows += reworded(rows)
        rows += restated(half)
        rows = [row for row in dict.fromkeys(rows) if row[2] != row[3]]
        pairs += [(kind, side, half, source, target) for kind, side, source, target in rows]
        further += [(kind, half, *texts) for kind, *texts in changes(words, half)]
    pairs += [(kind, side, "fit", *texts) for kind, side, *texts in paraphrases()]
    _write("contrasts_english.tsv", "kind side half source target", pairs)
    _write("changes_english.tsv", "change half sentence swap changed", further)
    others = [*replaced(marked[::2], "fit"), *(row[-2:] for row in further if row[1] == "fit")]
    others = [pair for pair in dict.fromkeys(others) if pair[0] != pair[1]]
    _write("replaced_english.tsv", "source target", others)


def _write(name: str, header: str, rows: list[tuple[str, ...]]) -> None:
    text = "".join("\t".join(row) + "\n" for row in [tuple(header.split()), *rows])
    (DATA / name).write_text(text, "utf-8")
    print(f"{name}: {len(rows)} rows")


if __name__ == "__main__":
    main()
