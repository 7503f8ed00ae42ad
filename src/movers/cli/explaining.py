"""The command that shows why two sentences are near or far."""

from __future__ import annotations

from pathlib import Path

from movers.cli.messages import print_json, say
from movers.cli.options import DEFAULTS, Flag, Options, Sentence
from movers.errors import InputError


def explain(
    source: Sentence,
    target: Sentence,
    other: Sentence | None = None,
    /,
    *,
    html: Path | None = None,
    links: Flag = False,
    method: str = "movers",
    json: Flag = False,
    options: Options = DEFAULTS,
) -> None:
    """Show why two sentences are near or far, as a page that needs no server.

    Example: `movers explain "a dog chases a cat" "a cat chases a dog" --html why.html`

    Parameters
    ----------
    source
        The first sentence.
    target
        The second sentence.
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
    from movers.runtime.atomic import replacing

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
        with replacing(html) as temporary:
            temporary.write_text(page, "utf-8")
        say(f"wrote {html}, {len(page.encode()) / 1000:.0f} kB")
    if json:
        print_json(explanation.to_dict())
