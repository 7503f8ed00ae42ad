"""Commands that compare two sentences and list what there is."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from movers.cli.messages import print_json, say, told
from movers.cli.options import (
    DEFAULTS,
    Device,
    Flag,
    Json,
    Methods,
    Options,
    Sentence,
    make_scorers,
    method_names,
)
from movers.errors import InputError


def compare(
    source: Sentence,
    target: Sentence,
    /,
    *,
    methods: Methods = "wmd,wsmd,movers",
    json: Flag = False,
    options: Options = DEFAULTS,
) -> None:
    """Compare two sentences under several measures and show which word went where.

    Example: `movers compare "a dog chases a cat" "a cat chases a dog"`

    Parameters
    ----------
    source
        The first sentence.
    target
        The second sentence.
    methods
        Measures, separated by commas; `movers methods` lists them. The alignment shown is that
        of the last one.
    json
        Print everything as JSON: distances, parts, plans, values head by head, signatures.
    """
    from movers.cli.terminal import print_comparisons

    _ask_about_files(source, target)
    scorers = make_scorers(methods, options)
    for scorer in scorers:
        scorer.prepare()
    comparisons, failures = [], {}
    for name, scorer in zip(method_names(methods), scorers, strict=True):
        try:
            comparisons.append(scorer.compare(source, target))
        except InputError as error:
            failures[name] = error.about(name)
    if not comparisons:
        raise next(iter(failures.values()))
    for failure in failures.values():
        say(told(failure))
    if json:
        print_json([comparison.to_dict() for comparison in comparisons])
    else:
        print_comparisons(Console(), comparisons)


def _ask_about_files(source: str, target: str) -> None:
    """Refuse two names of files, which nobody wants to compare letter by letter."""
    try:
        files = Path(source).is_file() and Path(target).is_file()
    except (OSError, ValueError):  # far too long for a name, or not one
        return
    if files:
        raise InputError(
            f"{source!r} and {target!r} are files. To compare them line by line: movers score "
            f"--source-file {source} --target-file {target}. To compare the names themselves, "
            "put a blank behind one of them"
        )


def methods(*, json: Json = False) -> None:
    """List the measures.

    Example: `movers methods --json`
    """
    from movers.cli.terminal import print_methods
    from movers.methods import ALIASES, METHODS

    if json:
        print_json([asdict(method) for method in METHODS.values()])
    else:
        print_methods(Console(), METHODS, ALIASES)


def models(model: str | None = None, /, *, device: Device = "auto", json: Json = False) -> None:
    """Show a model: layers, heads, limits, statistics, what would be used by default.

    Example: `movers models bert-base-uncased`

    Parameters
    ----------
    model
        Hugging Face name or folder. Default: the model installed with movers.
    """
    from movers.cli.terminal import print_facts
    from movers.loading import describe_model

    facts = describe_model(model, device)
    if json:
        print_json(facts)
    else:
        print_facts(Console(), facts)
