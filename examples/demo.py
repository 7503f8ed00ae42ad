"""Word order seen: paraphrases and role swaps, the paper's example, and one swap explained.

Embeddings find the same words in other roles nearer than the same meaning in other words. The
default measure does not, and says why.
"""

import os
from collections.abc import Iterator

import movers
from movers.cli.drawing import Cell, echo, print_table, print_text
from movers.cli.terminal import print_comparisons

TRIPLES = (
    ("a dog chases a cat", "a dog runs after a cat", "a cat chases a dog"),
    (
        "the bank sued the newspaper",
        "the bank took the newspaper to court",
        "the newspaper sued the bank",
    ),
    (
        "she borrowed money from her uncle",
        "her uncle lent her money",
        "her uncle borrowed money from her",
    ),
)
SENTENCE = "Obama speaks to the media in Illinois."
PARAPHRASE = "The President greets the press in Chicago."
SWAPPED = "The press greets the President in Chicago."
MEASURES = {
    "wmd": "words, input vectors",
    "wsmd-wmd": "words + structure, input vectors",
    "wrd": "words, contextual vectors",
    "wsmd-wrd": "words + structure, contextual vectors",
    "movers": "sentence vectors + broken structure",
}


def main() -> None:
    os.environ.setdefault("COLUMNS", "100")
    scorer = movers.load()
    numbers = ("sentence vectors", "movers")
    print_table(("similarity to …", *numbers), triples(scorer), numbers)
    print_text(f"\n\n(a) {SENTENCE}\n(b) {PARAPHRASE}\n(c) {SWAPPED}\n")
    numbers = ("(a) to (b)", "(a) to (c)", "(c) is farther by")
    print_table(("measure", "looks at", *numbers), example(scorer), numbers)
    echo("\n")
    swap = ("the press greets the president", "the president greets the press")
    print_comparisons([scorer.using(name).compare(*swap) for name in ("wrd", "movers")])


def triples(scorer: movers.Scorer) -> Iterator[list[Cell]]:
    """Similarity by sentence vectors alone and by movers, 1 for the same and 0 for unrelated."""
    for sentence, *others in TRIPLES:
        yield [(sentence, "bold"), "", ""]
        for name, other in zip(("same meaning", "roles swapped"), others, strict=True):
            found = scorer.compare(sentence, other)
            assert found.similarity is not None and scorer.far is not None
            vectors = 1 - found.sentence / scorer.far
            yield [f"  {other}  {name}", f"{vectors:.2f}", f"{found.similarity:.2f}"]


def example(scorer: movers.Scorer) -> Iterator[list[Cell]]:
    """The paper's example under measures with and without structure."""
    for name, what in MEASURES.items():
        measure = scorer.using(name, embedding=0 if "input" in what else -1)
        near, far = measure.distances([(SENTENCE, PARAPHRASE), (SENTENCE, SWAPPED)])
        yield [name, what, f"{near:.4f}", f"{far:.4f}", (f"{far / near - 1:+.1%}", "bold")]


if __name__ == "__main__":
    main()
