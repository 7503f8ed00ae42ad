"""The command line: compare two sentences, score files, fit statistics, list what there is."""

from __future__ import annotations

import json as jsonlib
import logging
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Group, Parameter
from rich.console import Console

from movers.errors import InputError, MoversError
from movers.version import __version__

if TYPE_CHECKING:
    from movers.scorer import Scorer

app = App(
    name="movers",
    version=__version__,
    help="Sentence similarity that sees word order and shows its reasons.",
    help_format="markdown",
    suppress_keyboard_interrupt=False,
)
SETTINGS = Group("Settings", help="What the number depends on; the signature names all of it.")


@Parameter(name="*", group=SETTINGS)
@dataclass(frozen=True)
class Options:
    """Settings shared by all commands that compute distances.

    Parameters
    ----------
    model
        Hugging Face name or folder of an encoder. Default: the model installed with movers.
    embedding
        Layer of the word vectors: 0 is the input layer, -1 the last.
    layers
        Attention layers from 1: "5", "5-12", "all", "BV". Default: the best known for the model.
    heads
        Heads within each layer: "3", "1-4", "all".
    mix
        Share of structure, the paper's lambda, from 0 to 1.
    recipe
        "paper": as the paper defines it. "reference": as its published numbers were computed.
    whitening
        What fitting makes of the vectors. Default: clean (paper), as-coded (reference).
    stopwords
        "english", "none", or a file with one word per line.
    subwords
        How the pieces of a word become one vector.
    empty
        Pairs without a proper distance: raise an error, keep what there is, or give nan.
    statistics
        File of fitted statistics, made by `movers fit`. Default: those shipped with the model.
    device
        "auto", "cuda", "mps" or "cpu".
    dtype
        "float32"; on a GPU also "bfloat16" or "float16".
    threads
        Threads of the solver. Default: one per processor.
    frequencies
        File with "word count" on each line, for sif and usif. Default: the wordfreq package.
    parser
        Dependency trees for measures of syntax: "spacy:NAME", "stanza:en" or "conllu:PATH".
    """

    model: str | None = None
    embedding: int = -1
    layers: str | None = None
    heads: str = "all"
    mix: float = 0.5
    recipe: Literal["paper", "reference"] = "paper"
    whitening: Literal["clean", "as-coded", "none"] | None = None
    stopwords: str = "english"
    subwords: Literal["first", "mean"] = "first"
    empty: Literal["raise", "keep", "nan"] | None = None
    statistics: Path | None = None
    device: str = "auto"
    dtype: str = "float32"
    threads: int | None = None
    frequencies: Path | None = None
    parser: str | None = None

    def load(self, method: str) -> Scorer:
        """Make the scorer these options describe."""
        from movers.loading import load

        settings = dict(vars(self))
        if self.stopwords == "none":
            settings["stopwords"] = None
        return load(method, settings.pop("model"), **settings)


DEFAULTS = Options()
Sentence = Annotated[str, Parameter(allow_leading_hyphen=True)]
Input = Annotated[Path, Parameter(allow_leading_hyphen=True)]
Json = Annotated[bool, Parameter(negative="")]
Out = Annotated[Path, Parameter(name=["--output", "-o"], allow_leading_hyphen=True)]


@app.command
def compare(
    source: Sentence,
    target: Sentence,
    /,
    *,
    methods: Annotated[str, Parameter(name=["--methods", "--method"])] = "wmd,wrd,smd,wsmd",
    json: Json = False,
    options: Options = DEFAULTS,
) -> None:
    """Compare two sentences under several measures and show which word went where.

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
    from movers.terminal import print_comparisons

    scorers = _scorers(methods, options)
    for scorer in scorers:
        scorer.prepare()
    comparisons, failures = [], {}
    for name, scorer in zip(_names(methods), scorers, strict=True):
        try:
            comparisons.append(scorer.compare(source, target))
        except InputError as error:
            failures[name] = InputError(f"{name}: {error}")
    if not comparisons:
        raise next(iter(failures.values()))
    for failure in failures.values():
        _say(str(failure))
    if json:
        _print_json([comparison.to_dict() for comparison in comparisons])
    else:
        print_comparisons(Console(), comparisons)


@app.command
def score(
    file: Input,
    /,
    *,
    output: Out = Path("-"),
    source: str | None = None,
    target: str | None = None,
    methods: Annotated[str, Parameter(name=["--methods", "--method"])] = "wsmd",
    format: str | None = None,
    fit: Annotated[bool, Parameter(negative="")] = False,
    json: Json = False,
    options: Options = DEFAULTS,
) -> None:
    """Add distances to a table of sentence pairs.

    Reads TSV (no quoting), CSV, JSON lines or Parquet and writes all its columns plus one per
    measure. An output file appears only when it is complete; if the run is broken off, the rows
    done so far are kept beside it in a file ending in .partial.

    Parameters
    ----------
    file
        The table, or - for standard input.
    output
        Where to write, in the format its name ends in; - is standard output.
    source
        Column of the first sentence. Default: source, sentence1 and the like, or the only two.
    target
        Column of the second sentence.
    methods
        Measures, separated by commas; each becomes a column of that name.
    format
        Format of the input if its name does not tell: tsv, csv, jsonl, parquet.
    fit
        First fit whitening and idf on the sentences of this file, as the paper does.
    json
        Write JSON lines.
    """
    from movers.scoring import score_table

    scorers = dict(zip(_names(methods), _scorers(methods, options), strict=True))
    report = score_table(
        file,
        output,
        scorers,
        columns=(source, target),
        input_format=format,
        output_format="jsonl" if json else None,
        fit=fit,
        progress=sys.stderr.isatty(),
    )
    _say(f"{report.rows} row{'s' if report.rows != 1 else ''} in {report.seconds:.1f} s")
    for name, count in report.undefined.items():
        if count:
            _say(f"{name}: {count} pairs without a proper distance; see --empty")
    for scorer in scorers.values():
        _say(str(scorer.signature))


@app.command
def fit(
    file: Path,
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    embeddings: str | None = None,
    options: Options = DEFAULTS,
) -> None:
    """Fit whitening, idf and attention variability on sentences, and save them.

    Parameters
    ----------
    file
        Text with one sentence per line.
    output
        Statistics file to write (safetensors); use it with --statistics.
    embeddings
        Embedding layers to whiten: "0", "0,6" or "all". Default: the one of --embedding.
    """
    from movers.scoring import fit_file

    statistics = fit_file(file, options.load("wsmd"), embeddings, progress=sys.stderr.isatty())
    statistics.save(output)
    layers = ", ".join(map(str, sorted(statistics.whitening))) or "none"
    _say(f"wrote {output}: {statistics.origin}, whitened layers {layers}, {statistics.digest}")


@app.command
def methods(*, json: Json = False) -> None:
    """List the measures.

    Parameters
    ----------
    json
        Print as JSON.
    """
    from movers.methods import ALIASES, METHODS
    from movers.terminal import print_methods

    if json:
        _print_json([asdict(method) for method in METHODS.values()])
    else:
        print_methods(Console(), METHODS, ALIASES)


@app.command
def models(model: str | None = None, /, *, device: str = "auto", json: Json = False) -> None:
    """Show a model: layers, heads, limits, statistics, what would be used by default.

    Parameters
    ----------
    model
        Hugging Face name or folder. Default: the model installed with movers.
    device
        "auto", "cuda", "mps" or "cpu".
    json
        Print as JSON.
    """
    from movers.loading import describe_model
    from movers.terminal import print_facts

    facts = describe_model(model, device)
    if json:
        _print_json(facts)
    else:
        print_facts(Console(), facts)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; errors movers raises on purpose become one line and exit code 1."""
    with _plain_messages():
        try:
            app(arguments, exit_on_error=True, print_error=True)
        except MoversError as error:
            _say(f"error: {error}")
            return 1
        except KeyboardInterrupt:
            _say("interrupted")
            return 130
        except BrokenPipeError:
            # The reader of our output (head, less) has gone; that is its right.
            sys.stderr.close()
            return 0
        except OSError as error:
            _say(f"error: {error.filename or 'file'}: {error.strerror or error}")
            return 1
    return 0


@contextmanager
def _plain_messages() -> Iterator[None]:
    """Show warnings and log messages of the library as plain lines on standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("movers: %(message)s"))
    logger = logging.getLogger("movers")
    logger.addHandler(handler)
    shown = warnings.showwarning

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        _say(str(message))

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = shown
        logger.removeHandler(handler)


def _names(methods: str) -> list[str]:
    names = [name.strip() for name in methods.split(",") if name.strip()]
    if not names or len(set(names)) < len(names):
        raise InputError(f"--methods needs distinct names separated by commas, got {methods!r}")
    return names


def _scorers(methods: str, options: Options) -> list[Scorer]:
    """One scorer per measure, all sharing one model."""
    first, *others = _names(methods)
    scorer = options.load(first)
    return [scorer, *(scorer.using(name) for name in others)]


def _print_json(value: Any) -> None:
    print(jsonlib.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))


SPOKEN = {
    "stopwords=None": "--stopwords none",
    "empty='keep'": "--empty keep",
    "whitening='none'": "--whitening none",
    "device='auto'": "--device auto",
    "parser='": "--parser '",
    "call fit(sentences) first or pass statistics=… saved by an earlier fit": "pass --fit, or "
    "--statistics with a file made by movers fit",
    "call fit(sentences)": "pass --fit, or --statistics with a file made by movers fit",
    " (on the command line --parser)": "",
}
"""Advice of the library in the words of the command line."""


def _say(message: str) -> None:
    for python, spoken in SPOKEN.items():
        message = message.replace(python, spoken)
    print(f"movers: {message}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
