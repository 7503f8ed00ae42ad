"""The English tables that differences are found with, distilled from WordNet's database.

python scripts/lexicon.py /usr/share/wordnet src/movers/data

Debian packages the database as wordnet-base. Three tables are written: words with what they can
be, irregular forms with their lemmas, and words with their antonyms; rare words are left out.
"""

import sys
from collections import defaultdict
from pathlib import Path

from wordfreq import zipf_frequency

PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
COMMON = 2.5
"""Words at least this frequent, on the scale of wordfreq, are kept."""
PEOPLE = {5, 8, 11, 13, 18, 20, 27}
"""Files of nouns whose antonyms exclude nothing: animals, bodies, foods, people, plants …"""
NEITHER = {("man", "woman"), ("boy", "girl"), ("male", "female"), ("black", "white"),
           ("day", "night"), ("son", "daughter"), ("man", "civilian"), ("be", "differ"),
           ("have", "lack"), ("first", "last"), ("first", "second"), ("take", "give"),
           ("go", "come"), ("old", "new"), ("old", "young"), ("get", "end"), ("have", "refuse"),
           ("man", "wife"), ("can", "hire"), ("one", "other"), ("here", "there"), ("this", "that"),
           ("use", "abstain"), ("stay", "leave"), ("more", "less"), ("go", "stop"),
           ("go", "malfunction"), ("make", "break"), ("make", "unmake"), ("then", "now"),
           ("left", "right"), ("north", "south"), ("east", "west")}  # fmt: skip
"""Antonyms of WordNet that more often stand for another thing than for a denial."""
NAMES = """
anna arsenal beck ben beth billy bobby brazil brent clarence cole costa dale dell donna gale glen
griffin hank harper heath heather ira jasmine jean kat khan kirk kris leone lily mac mack malik marc
maria max molly monte murphy robin sherlock silva teddy toby
"""
"""Words that are names before all, whatever else WordNet knows of them."""
ADDED = [
    ("up", "down"), ("on", "off"), ("in", "out"), ("above", "below"), ("over", "under"),
    ("from", "to"), ("against", "for"), ("on", "under"), ("out", "within"), ("cancel", "renew"),
    ("cancel", "continue"), ("subscribe", "unsubscribe"),
    ("inside", "outside"), ("before", "after"), ("before", "behind"), ("upstairs", "downstairs"),
    ("accept", "reject"), ("accept", "refuse"), ("accept", "decline"), ("grant", "refuse"),
    ("grant", "deny"), ("approve", "reject"), ("approve", "disapprove"), ("allow", "forbid"),
    ("allow", "prohibit"), ("allow", "ban"), ("permit", "forbid"), ("permit", "prohibit"),
    ("beat", "lose"), ("defeat", "lose"),
    ("rise", "fall"), ("rise", "drop"), ("rise", "decline"), ("rise", "sink"), ("grow", "shrink"),
    ("increase", "decrease"), ("increase", "reduce"), ("increase", "fall"), ("gain", "lose"),
    ("win", "lose"), ("buy", "sell"), ("enter", "leave"), ("enter", "exit"), ("arrive", "depart"),
    ("arrive", "leave"), ("open", "close"), ("open", "shut"), ("open", "closed"), ("start", "stop"),
    ("start", "end"), ("start", "finish"), ("begin", "end"), ("begin", "finish"), ("begin", "stop"),
    ("push", "pull"), ("lift", "lower"), ("raise", "lower"), ("raise", "drop"), ("add", "remove"),
    ("attach", "detach"), ("attack", "defend"), ("praise", "criticise"), ("praise", "criticize"),
    ("praise", "blame"), ("love", "hate"), ("like", "hate"), ("like", "dislike"),
    ("agree", "disagree"), ("support", "oppose"), ("confirm", "deny"), ("admit", "deny"),
    ("succeed", "fail"), ("pass", "fail"), ("remember", "forget"), ("find", "lose"),
    ("build", "destroy"), ("create", "destroy"), ("fill", "empty"), ("full", "empty"),
    ("load", "unload"), ("lock", "unlock"), ("pack", "unpack"), ("tie", "untie"),
    ("wear", "remove"), ("enable", "disable"), ("activate", "deactivate"),
    ("connect", "disconnect"),
    ("ascend", "descend"), ("awake", "asleep"), ("alive", "dead"), ("hot", "cold"),
    ("warm", "cool"), ("warm", "cold"), ("happy", "sad"), ("easy", "difficult"), ("easy", "hard"),
    ("cheap", "expensive"), ("safe", "dangerous"), ("right", "wrong"), ("true", "false"),
    ("good", "bad"), ("better", "worse"), ("best", "worst"), ("early", "late"), ("fast", "slow"),
    ("quickly", "slowly"), ("bright", "dark"), ("light", "dark"), ("clean", "dirty"),
    ("wet", "dry"), ("dry", "soak"), ("loud", "quiet"), ("loudly", "quietly"), ("strong", "weak"),
    ("positive", "negative"), ("legal", "illegal"), ("guilty", "innocent"), ("healthy", "sick"),
    ("healthy", "ill"), ("rich", "poor"), ("thick", "thin"), ("wide", "narrow"),
    ("deep", "shallow"),
    ("high", "low"), ("tall", "short"), ("long", "short"), ("large", "small"), ("big", "small"),
    ("huge", "tiny"), ("big", "little"), ("empty", "crowded"), ("sit", "stand"), ("stand", "lie"),
    ("present", "absent"), ("public", "private"), ("future", "past"), ("profit", "loss"),
    ("success", "failure"), ("victory", "defeat"), ("majority", "minority"), ("calm", "stormy"),
    ("more", "fewer"), ("increase", "decline"), ("freeze", "melt"), ("freeze", "thaw"),
    ("cruel", "kind"), ("rude", "polite"), ("sunny", "cloudy"), ("float", "sink"),
    ("cover", "uncover"), ("dress", "undress"), ("assemble", "disassemble"), ("hire", "fire"),
    ("borrow", "lend"), ("teach", "learn"), ("import", "export"), ("encourage", "discourage"),
    ("appear", "disappear"), ("appear", "vanish"), ("trust", "distrust"), ("obey", "disobey"),
    ("wake", "sleep"), ("laugh", "cry"), ("sharp", "blunt"), ("sharp", "dull"), ("rough", "smooth"),
    ("mix", "separate"), ("join", "leave"), ("join", "separate"), ("forward", "backward"),
    ("forwards", "backwards"), ("near", "far"), ("fresh", "stale"), ("raw", "cooked"),
    ("peel", "unpeel"), ("crowded", "deserted"), ("noisy", "quiet"), ("noisy", "silent"),
    ("climb", "descend"), ("shut", "open"), ("insert", "remove"), ("put", "remove"),
    ("switch", "unplug"), ("plug", "unplug"), ("guard", "abandon"), ("smile", "frown"),
    ("earn", "spend"), ("save", "waste"), ("save", "delete"), ("improve", "worsen"),
    ("expand", "shrink"), ("expand", "contract"), ("north", "south"), ("east", "west"),
    ("northern", "southern"), ("eastern", "western"), ("left", "right"), ("odd", "even"),
    ("major", "minor"), ("maximum", "minimum"), ("internal", "external"), ("upper", "lower"),
    ("older", "younger"), ("older", "newer"), ("oldest", "youngest"), ("oldest", "newest"),
    ("within", "after"), ("by", "after"), ("until", "after"), ("greater", "less"),
    ("allow", "block"),
]  # fmt: skip
"""Antonyms in everyday use that WordNet has not, or not of these forms."""


def common(word):
    return word.isalpha() and word.isascii() and zipf_frequency(word, "en") >= COMMON


def entries(folder, part):
    """Offset, file, words and antonym pointers of every synset of a part of speech."""
    for line in (folder / f"data.{part}").read_text("utf-8").splitlines():
        if line.startswith("  "):
            continue
        fields = line.partition(" | ")[0].split()
        count = int(fields[3], 16)
        words = [fields[4 + 2 * k].partition("(")[0] for k in range(count)]
        rest = fields[4 + 2 * count :]
        pointers = [rest[1 + 4 * k : 5 + 4 * k] for k in range(int(rest[0]))]
        antonyms = [(p[1], int(p[3][:2], 16), int(p[3][2:], 16)) for p in pointers if p[0] == "!"]
        yield fields[0], int(fields[1]), words, antonyms


def tagged(folder):
    """How often a word was tagged as each part of speech."""
    counts: dict = defaultdict(lambda: defaultdict(int))
    for line in (folder / "cntlist.rev").read_text("utf-8").splitlines():
        key, _, count = line.split()
        word, _, sense = key.partition("%")
        counts[word]["nvara"[int(sense[0]) - 1]] += int(count)
    return counts


def vocabulary(folder):
    """Every common word with its parts of speech, the most usual first."""
    counts, found = tagged(folder), defaultdict(set)
    for part, letter in PARTS.items():
        for _, _, words, _ in entries(folder, part):
            for word in words:
                if common(word) and word.islower():
                    found[word].add(letter)
    capital = {
        word.lower()
        for part in PARTS
        for _, _, words, _ in entries(folder, part)
        for word in words
        if word.istitle()
    }
    rows = []
    for word, letters in sorted(found.items()):
        tags = counts[word]
        if word in NAMES.split() or (word in capital and not sum(tags.values())):
            continue  # a name before all
        rows.append(
            (word, "".join(sorted(letters, key=lambda one: (-tags[one], "nvar".index(one)))))
        )
    return rows


def forms(folder, known):
    """Irregular forms with their lemmas."""
    rows = set()
    for part in ("noun", "verb", "adj"):
        for line in (folder / f"{part}.exc").read_text("utf-8").splitlines():
            form, *lemmas = line.split()
            if common(form) and lemmas[0] in known and form != lemmas[0]:
                rows.add((form, lemmas[0], PARTS[part]))
    return sorted(rows)


def opposites(folder, known):
    """Words with their antonyms, each pair once."""
    rows = {tuple(sorted(pair)): "w" for pair in ADDED}
    for part in PARTS:
        synsets = {offset: words for offset, _, words, _ in entries(folder, part)}
        for _, file, words, antonyms in entries(folder, part):
            if file in PEOPLE and part == "noun":
                continue
            for other, here, there in antonyms:
                pair = tuple(sorted((words[here - 1], synsets[other][there - 1])))
                if all(word in known for word in pair) and pair[0] != pair[1]:
                    rows.setdefault(pair, PARTS[part])
    dropped = {tuple(sorted(pair)) for pair in NEITHER} - {tuple(sorted(pair)) for pair in ADDED}
    return sorted((*pair, part) for pair, part in rows.items() if pair not in dropped)


ORIGIN = (
    "# From WordNet 3.0 (Debian's wordnet-base), words common by wordfreq; scripts/lexicon.py\n"
    "# WordNet 3.0 Copyright 2006 by Princeton University. All rights reserved. See wordnet.txt\n"
)


def write(path, rows):
    lines = "\n".join("\t".join(row) for row in rows)
    path.write_text(f"{ORIGIN}{lines}\n", "utf-8")
    print(f"{path}: {len(rows):,} rows, {path.stat().st_size / 1000:.0f} kB")


def main(database, target):
    folder, data = Path(database), Path(target)
    words = vocabulary(folder)
    known = {word for word, _ in words} | {word for pair in ADDED for word in pair}
    write(data / "words_english.tsv", words)
    write(data / "forms_english.tsv", forms(folder, known))
    write(data / "opposites_english.tsv", opposites(folder, known))


if __name__ == "__main__":
    main(*sys.argv[1:])
