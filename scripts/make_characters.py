"""Write what becomes of characters where BERT without capitals reads them, as tokenizers has it.

python scripts/make_characters.py src/movers/data/characters.tsv

A row has what becomes of characters, code points joined by ``+``, and ranges of these characters;
who is in no row stays. Characters that come to stand between blanks, and syllables of Hangul, which
come apart by a rule, have a name there instead. The last row is of another kind: characters that
are a word each, once they became what they are.
"""

import sys
from itertools import groupby
from pathlib import Path
from unicodedata import normalize

from tokenizers import normalizers, pre_tokenizers

from movers.encode.word_pieces import APART, JAMO, SIGN

CODES = (*range(0xD800), *range(0xE000, 0x110000))


def main(target: str) -> None:
    """Ask for every character."""
    becomes = normalizers.BertNormalizer().normalize_str
    split = pre_tokenizers.BertPreTokenizer().pre_tokenize_str
    rows: dict[str, list[int]] = {}
    signs: list[int] = []
    for code in CODES:
        if (form := becomes(chr(code))) != chr(code):
            rows.setdefault(named(chr(code), form), []).append(code)
        if len(split(f"a{chr(code)}a")) == 3:
            signs.append(code)
    lines = (f"{name}\t{ranges(codes)}\n" for name, codes in (*rows.items(), (SIGN, signs)))
    Path(target).write_text("".join(lines), "utf-8")


def named(char: str, form: str) -> str:
    """Name what becomes of a character."""
    if form == f" {char} ":
        return APART
    if "가" <= char <= "힣" and form == normalize("NFD", char):
        return JAMO
    return "+".join(f"{ord(part):x}" for part in form)


def ranges(codes: list[int]) -> str:
    """Return code points as ranges of hexadecimal numbers."""
    runs = groupby(enumerate(codes), lambda one: one[1] - one[0])
    spans = ([code for _, code in run] for _, run in runs)
    return " ".join(f"{run[0]:x}" if len(run) == 1 else f"{run[0]:x}-{run[-1]:x}" for run in spans)


if __name__ == "__main__":
    main(sys.argv[1])
