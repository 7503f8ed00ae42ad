"""Word order seen: the paper's example, and a sentence with its words swapped.

(a) and (b) say the same in other words; (a) and (c) do not, with the same words as (b).
Word mover's distance cannot tell (b) from (c); with structure it can.
"""

from rich.console import Console
from rich.table import Table

import movers
from movers.cli.terminal import print_comparisons

SENTENCE = "Obama speaks to the media in Illinois."
PARAPHRASE = "The President greets the press in Chicago."
SWAPPED = "The press greets the President in Chicago."

MEASURES = {
    "wmd": "words, input vectors",
    "wsmd-wmd": "words + structure, input vectors",
    "wrd": "words, contextual vectors",
    "wsmd-wrd": "words + structure, contextual vectors",
}


def main() -> None:
    console = Console(width=100)
    console.print(f"(a) {SENTENCE}\n(b) {PARAPHRASE}\n(c) {SWAPPED}\n", highlight=False)
    table = Table(box=None, header_style="dim", pad_edge=False)
    table.add_column("measure")
    table.add_column("looks at")
    for heading in ("(a) to (b)", "(a) to (c)", "(c) is farther by"):
        table.add_column(heading, justify="right")
    scorer = movers.load("wsmd")
    for name, what in MEASURES.items():
        measure = scorer.using(name, embedding=0 if "input" in what else -1)
        near, far = measure.distances([(SENTENCE, PARAPHRASE), (SENTENCE, SWAPPED)])
        table.add_row(
            name, what, f"{near:.4f}", f"{far:.4f}", f"[bold]{far / near - 1:+.1%}[/bold]"
        )
    console.print(table, "\n")
    swapped = ("the press greets the president", "the president greets the press")
    print_comparisons(
        console, [scorer.using(name).compare(*swapped) for name in ("wmd", "wrd", "smd", "wsmd")]
    )


if __name__ == "__main__":
    main()
