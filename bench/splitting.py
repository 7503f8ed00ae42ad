"""Splitting into sentences: F1 of the boundaries by movers and by libraries that are installed.

    python bench/splitting.py [--golden FILE]

The labelled texts are those of the tests. Real sentences are those of the STS benchmark, news and
forums of the development part, ten in a row with one blank between them; they are read where the
data lie (bench/sentences.py). The golden rules of pragmatic segmenter are read from a Python file
with a list of texts and their sentences, as sentencex has it (benchmarks/en_golden_rules.py; the
lists stand in comments there).
"""

import argparse
import random
import re
import runpy
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from sentences import DATA

from movers.documents.splitting import split

Case = tuple[str, list[str]]
Splitter = Callable[[str], list[str]]
LABELLED = Path(__file__).resolve().parents[1] / "tests" / "documents"
TOGETHER = 10
"""Real sentences of a text."""


def splitters() -> Iterator[tuple[str, Splitter]]:
    """Those that are installed, by name."""
    yield "movers", lambda text: [sentence.text for sentence in split(text)]
    try:
        import pysbd

        segmenter = pysbd.Segmenter(language="en", clean=False)
        yield "pysbd", lambda text: list(segmenter.segment(text))
    except ImportError:
        pass
    try:
        from syntok import segmenter as syntok

        yield (
            "syntok",
            lambda text: [
                text[sentence[0].offset : sentence[-1].offset + len(sentence[-1].value)]
                for paragraph in syntok.analyze(text)
                for sentence in map(list, paragraph)
            ],
        )
    except ImportError:
        pass
    try:
        import sentencex

        yield "sentencex", lambda text: list(sentencex.segment("en", text))
    except ImportError:
        pass
    try:
        import blingfire

        yield "blingfire", lambda text: blingfire.text_to_sentences(text).split("\n")
    except ImportError:
        pass


def labelled(name: str) -> Iterator[Case]:
    """Texts of the tests; ¶ stands for a new line."""
    for block in (LABELLED / name).read_text("utf-8").strip().split("\n\n"):
        text, gold = "", []
        for line in block.split("\n"):
            if line == "¶":
                text += "\n"
            else:
                text += (" " if text and not text.endswith("\n") else "") + line
                gold.append(line)
        yield text, gold


def real() -> Iterator[Case]:
    """Sentences of news and forums with a stop at their end, in random order."""
    found: dict[str, None] = {}
    for line in (DATA / "STSB" / "sts-dev.csv").read_text("utf-8").split("\n"):
        genre, *cells = line.split("\t")
        for text in cells[4:6] if genre in ("main-news", "main-forums") else ():
            ended = re.match(r"[\"'(]?[A-Z0-9].*[.!?][\"')]?$", text.strip())
            if ended and len(text.split()) >= 5:
                found[text.strip()] = None
    every = list(found)
    random.Random(0).shuffle(every)
    for low in range(0, len(every) - TOGETHER + 1, TOGETHER):
        yield " ".join(every[low : low + TOGETHER]), every[low : low + TOGETHER]


def golden(file: Path) -> Iterator[Case]:
    """Rules of a Python file."""
    yield from runpy.run_path(str(file))["GOLDEN_EN_RULES"]


def ends(sentences: list[str]) -> set[int]:
    """Where sentences end but the last, in letters without blanks."""
    places, total = set(), 0
    for sentence in sentences:
        total += len("".join(sentence.split()))
        places.add(total)
    return places - {total}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--golden", type=Path)
    given = parser.parse_args()
    sets: dict[str, list[Case]] = {
        name: list(labelled(f"{name}.txt"))
        for name in ("labelled_splits", "labelled_splits_held_out")
    }
    if (DATA / "STSB" / "sts-dev.csv").is_file():
        sets["real"] = list(real())
    if given.golden:
        sets["golden"] = list(golden(given.golden))
    for name, cases in sets.items():
        for splitter, run in splitters():
            right = hits = wrong = missed = 0
            started = time.process_time()
            for text, gold in cases:
                found, expected = ends(run(text)), ends(gold)
                right += found == expected
                hits += len(found & expected)
                wrong, missed = wrong + len(found - expected), missed + len(expected - found)
            seconds, score = time.process_time() - started, 2 * hits / (2 * hits + wrong + missed)
            told = f"F1 {score:.3f}, {right} of {len(cases)} texts, {seconds:.2f} s"
            print(f"{name}: {splitter} {told}")


if __name__ == "__main__":
    main()
