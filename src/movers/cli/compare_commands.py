"""Commands that compare two sentences, and show why they are near or far."""

from __future__ import annotations

from functools import partial
from itertools import chain
from pathlib import Path

from movers.cli import options as given
from movers.cli.messages import print_json, refuse_unread, say, show, worded
from movers.cli.options import DEFAULTS, make_scorers
from movers.difference.misspelt import Spelling
from movers.documents.changes import TOLD
from movers.errors import InputError
from movers.runtime.atomic import write_text


def compare(
    source: given.FirstSentence,
    target: given.SecondSentence,
    /,
    *,
    methods: given.Methods = "movers",
    figures: bool = False,
    spelling: Spelling = "keep",
    strict: given.Strict = False,
    json: bool = False,
    options: given.Options = DEFAULTS,
) -> None:
    """Compare two sentences: what differs, how much, and which word went where.

    Texts longer than the model reads are compared sentence by sentence; `movers diff` takes files.

    Example: `movers compare "a dog chases a cat" "a cat chases a dog"`

    Parameters
    ----------
    methods
        Measures, separated by commas; `movers methods` lists them. The alignment shown is that
        of the last one.
    figures
        Also say in numbers where the distance comes from.
    spelling
        "repair" compares the sentences with their typing errors mended, and names these.
    json
        Print everything as JSON: distances, parts, plans, values head by head, signatures.
    """
    _ask_about_files(source, target)
    scorers = make_scorers(methods, options)
    for scorer in scorers.values():
        scorer.prepare()
    comparisons, failures = [], []
    for name, scorer in scorers.items():
        try:
            comparisons.append(scorer.compare(source, target, spelling=spelling))
        except InputError as error:
            failures.append(error.about(f"measure {name}") if len(scorers) > 1 else error)
    if not comparisons:
        raise failures[0]
    for failure in failures:
        say(worded(failure))
    if json:
        print_json([comparison.to_dict() for comparison in comparisons])
    else:
        from movers.cli.terminal import print_comparisons

        print_comparisons(comparisons, figures=figures)
    sides = ((comparison.source_unread, comparison.target_unread) for comparison in comparisons)
    refuse_unread(sum(map(bool, chain.from_iterable(sides))), strict)


def diff(
    old: given.Input,
    new: given.Input,
    /,
    *,
    all: bool = False,
    html: given.Written | None = None,
    json: bool = False,
    quiet: given.Quiet = False,
    options: given.Options = DEFAULTS,
) -> int:
    """Show what a text says otherwise than an older one, however it is worded.

    Sentences are matched by meaning. One that was reworded or moved is not a change; one that
    denies it, has another number, name or role, is missing or new, is. As with diff, the status is
    0 if there is no change and 1 if there is one.

    Example: `movers diff examples/data/lease_old.txt examples/data/lease_new.txt`

    Parameters
    ----------
    old, new
        Files of text.
    all
        Also show sentences that were reworded or moved.
    html
        File to write a page to: the two texts side by side.
    json
        Print what became of every sentence as JSON.
    """
    texts = [_text(file) for file in (old, new)]
    scorer = options.but(texts="sentences").load("movers")
    comparison = scorer.compare_texts(*texts, progress=not quiet)
    if html is not None:
        write_text(html, comparison.to_html())
        say(f"wrote {html}")
    from movers.cli.terminal import print_changes

    show(comparison, partial(print_changes, all=all), json=json)
    return int(any(change.fate in TOLD for change in comparison.changes))


def _text(file: Path) -> str:
    """Return the text of a file."""
    from movers.io.tables import read_lines

    text = "".join(line.replace("\r\n", "\n") for line in read_lines(file))
    if not text.strip():
        raise InputError(f"{file} is empty; there is nothing to compare")
    return text


def _ask_about_files(source: str, target: str) -> None:
    """Refuse two names of files, which nobody wants to compare letter by letter."""
    try:
        files = Path(source).is_file() and Path(target).is_file()
    except (OSError, ValueError):  # far too long for a name, or not one
        return
    if files:
        raise InputError(
            f"{source!r} and {target!r} are files. To compare them as texts: movers diff {source} "
            f"{target}. To compare them line by line: movers score --source-file {source} "
            f"--target-file {target}. To compare the names themselves, put a blank behind one of "
            "them"
        )


def explain(
    source: given.FirstSentence,
    target: given.SecondSentence,
    other: given.Sentence | None = None,
    /,
    *,
    html: given.Written | None = None,
    links: bool = False,
    method: str = "movers",
    json: bool = False,
    options: given.Options = DEFAULTS,
) -> None:
    """Show why two sentences are near or far, as a page that needs no server.

    Example: `movers explain "a dog chases a cat" "a cat chases a dog" --html why.html`

    Parameters
    ----------
    other
        A third one: is it nearer to the first than the second is?
    html
        File to write the page to.
    links
        Also link the words as `movers align` does: which goes with which, and which with none.
    method
        The measure; `movers methods` lists them. With structure it is shown beside words alone.
    json
        Print what the page shows as JSON.
    """
    if html is None and not json:
        raise InputError("say where the page goes: --html out.html (or --json to print it)")
    scorer = options.load(method)
    explanation = (
        scorer.explain(source, target, links=links)
        if other is None
        else scorer.contrast(source, target, other, links=links)
    )
    if html is not None:
        page = explanation.to_html()
        write_text(html, page)
        say(f"wrote {html}, {len(page.encode()) / 1000:.0f} kB")
    if json:
        print_json(explanation.to_dict())
