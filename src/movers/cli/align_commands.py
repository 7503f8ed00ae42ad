"""The command that links words."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from movers.cli import options as given
from movers.cli.messages import say, show
from movers.cli.terminal import print_alignment
from movers.io.pairs import check_asked
from movers.io.tables import STANDARD
from movers.runtime.atomic import write_text

if TYPE_CHECKING:
    from movers.encode.encoder import Encoder


def align(
    file: given.Sentence,
    target_sentence: given.Sentence | None = None,
    /,
    *,
    output: given.Out = STANDARD,
    aligner: str = "shares",
    tokens: bool = False,
    json: bool = False,
    resume: given.Resume = False,
    quiet: given.Quiet = False,
    source: given.First = None,
    target: given.Second = None,
    format: given.TableFormat = None,
    delimiter: given.Delimiter = None,
    model: given.Model = None,
    device: given.Device = "auto",
    dtype: given.Dtype = "float32",
) -> None:
    """Link the words of sentence pairs: which goes with which, and which with none.

    Reads a table of pairs as `movers score` does and writes a line of links `i-j` for each,
    counted from 0. Or takes two sentences and shows their links. An output file appears only when
    it is complete; if the run is broken off, the lines done so far are kept beside it in a file
    ending in .partial, and --resume goes on behind them.

    Example: movers align examples/data/pairs.tsv -o links.txt

    Parameters
    ----------
    file
        The table, or - for standard input; or, before a second sentence, the first.
    target_sentence
        The second sentence.
    output
        Where to write; - is standard output.
    aligner
        shares; with movers-research installed also argmax, itermax, match, balanced, partial,
        unbalanced, of the literature.
    tokens
        The cells hold words separated by blanks, or lists of words. Default: text, which is split
        into words as the model splits it.
    json
        Write JSON lines with everything: words, character ranges, confidence, unmatched words.
    """
    from movers.align.align_texts import signature
    from movers.bulk.align_files import align_table
    from movers.loading import load_encoder

    encoder = load_encoder(model, device=device, dtype=dtype)
    style = "json" if json else "pharaoh"
    if target_sentence is not None:
        pair = (file.split(), target_sentence.split()) if tokens else (file, target_sentence)
        return _align_two(encoder, pair, output, aligner, style)
    aligned = partial(align_table, Path(file), output, encoder, aligner=aligner, tokens=tokens)
    table = given.format_with(format, delimiter)
    reading = partial(aligned, columns=(source, target), input_format=table)
    report = reading(style=style, resume=resume, progress=not quiet)
    if report.cut.count:
        say(f"words behind the last one that the model reads match nothing in {report.cut}")
    if not quiet:
        before = f", {report.resumed:,} of them from the run before" if report.resumed else ""
        say(f"{report.rows} pairs{before}, {report.links} links in {report.seconds:.1f} s")
        say(signature(encoder, aligner))


def _align_two(
    encoder: Encoder,
    pair: tuple[str | list[str], str | list[str]],
    output: Path,
    aligner: str,
    style: str,
) -> None:
    """Write the links of two sentences, or show them on a terminal."""
    from movers.align.align_texts import align_pairs
    from movers.bulk.align_files import STYLES

    check_asked(pair[0], "source")
    check_asked(pair[1], "target")
    (alignment,) = align_pairs(encoder, [pair], aligner=aligner)
    if output == STANDARD:
        return show(alignment, print_alignment, json=style == "json")
    write_text(output, STYLES[style](alignment))
