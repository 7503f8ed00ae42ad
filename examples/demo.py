"""Word order seen: paraphrases and role swaps, the paper's example, and one swap explained.

Embeddings find the same words in other roles nearer than the same meaning in other words. The
default measure does not, and says why.
"""

from rich.console import Console
from rich.table import Table

import movers
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
    console = Console(width=100)
    scorer = movers.load()
    console.print(triples(scorer), "\n")
    console.print(f"(a) {SENTENCE}\n(b) {PARAPHRASE}\n(c) {SWAPPED}\n", highlight=False)
    console.print(example(scorer), "\n")
    swap = ("the press greets the president", "the president greets the press")
    print_comparisons(console, [scorer.using(name).compare(*swap) for name in ("wrd", "movers")])


def triples(scorer: movers.Scorer) -> Table:
    """Similarity by sentence vectors alone and by movers, 1 for the same and 0 for unrelated."""
    table = Table(box=None, header_style="dim", pad_edge=False)
    table.add_column("similarity to …")
    for heading in ("sentence vectors", "movers"):
        table.add_column(heading, justify="right")
    for sentence, *others in TRIPLES:
        table.add_row(f"[bold]{sentence}[/bold]")
        for name, other in zip(("same meaning", "roles swapped"), others, strict=True):
            found = scorer.compare(sentence, other)
            assert found.similarity is not None and scorer.far is not None
            vectors = 1 - found.sentence / scorer.far
            table.add_row(
                f"  {other}  [dim]{name}[/dim]", f"{vectors:.2f}", f"{found.similarity:.2f}"
            )
    return table


def example(scorer: movers.Scorer) -> Table:
    """The paper's example under measures with and without structure."""
    table = Table(box=None, header_style="dim", pad_edge=False)
    table.add_column("measure")
    table.add_column("looks at")
    for heading in ("(a) to (b)", "(a) to (c)", "(c) is farther by"):
        table.add_column(heading, justify="right")
    for name, what in MEASURES.items():
        measure = scorer.using(name, embedding=0 if "input" in what else -1)
        near, far = measure.distances([(SENTENCE, PARAPHRASE), (SENTENCE, SWAPPED)])
        table.add_row(
            name, what, f"{near:.4f}", f"{far:.4f}", f"[bold]{far / near - 1:+.1%}[/bold]"
        )
    return table


if __name__ == "__main__":
    main()
