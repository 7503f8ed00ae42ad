"""Commands that search a corpus: index, search, mine, dedupe."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter
from rich.console import Console

from movers.cli.messages import print_json, say
from movers.cli.options import (
    DEFAULTS,
    RAY_DEFAULTS,
    Engine,
    Flag,
    Input,
    Json,
    Options,
    RayOptions,
    Sentence,
)
from movers.errors import InputError

if TYPE_CHECKING:
    from movers.io.texts import Texts
    from movers.search.dedupe import Preview
    from movers.search.index import Index

Method = Annotated[str, Parameter(name=["--method"])]
Target = Annotated[Path, Parameter(name=["--output", "-o"])]
TopK = Annotated[int, Parameter(name=["--top-k", "-k"])]


def index(
    file: Input,
    /,
    *,
    output: Target | None = None,
    column: str | None = None,
    format: str | None = None,
    method: Method = "movers",
    keep: Literal["text", "words"] | None = None,
    vectors: Literal["float32", "int8"] | None = None,
    add: Flag = False,
    delete: Flag = False,
    compact: Flag = False,
    replace: Flag = False,
    check: Flag = False,
    quiet: Flag = False,
    engine: Engine = "local",
    ray: RayOptions = RAY_DEFAULTS,
    options: Options = DEFAULTS,
) -> None:
    """Encode a corpus for exact search.

    A build that is broken off leaves no index; the same command goes on where it stopped.

    Example: `movers index examples/data/sentences.txt -o corpus.index`

    Parameters
    ----------
    file
        Text with one sentence per line, a table with a column of sentences, or - for lines from
        standard input; with --check or --compact the folder of an index.
    output
        Folder of the index.
    column
        Column of a table that holds the sentences. Default: sentence, text and the like, or the
        only one.
    format
        Format of the file if its name does not tell: lines, tsv, csv, jsonl, parquet, arrow.
    method
        The default measure, or one of transport: wsmd, wmd, wrd, smd, lambda, …
    keep
        For the default measure: "text" (default), or "words" for quicker searches in fifty times
        the space.
    vectors
        For the default measure: "float32" (default), or "int8" for a quarter of the bytes.
    add
        Add the sentences to an index that is there already, with its own settings.
    delete
        Delete the sentences from an index that is there.
    compact
        Remove what deleted sentences left behind, and do nothing else.
    replace
        Build anew over an index that is there already.
    check
        Compare every byte of an index with its checksums, and do nothing else.
    quiet
        Say nothing but warnings and errors.
    engine
        "ray" encodes on many processes or machines, which see the folder under the same path.
    """
    from movers.search.index import Index

    if check or compact:
        found = Index.open(file, verify=check)
        say(f"removed {found.compact():,} sentences" if compact else f"{found!r} is sound")
        return
    if output is None:
        raise InputError("where should the index go? name a folder with -o")
    started, texts, told = time.monotonic(), _texts(file, column, format), ""
    if add:
        found = Index.open(output)
        told = f"added {found.add(texts, progress=not quiet):,} sentences"
    elif delete:
        found = Index.open(output)
        told = f"deleted {found.delete(texts):,} sentences"
    else:
        build = _engine(engine, ray).build
        found = build(
            options.load(method),
            texts,
            output,
            keep=keep,
            vectors=vectors,
            replace=replace,
            progress=not quiet,
        )
    if quiet:
        return
    if told:
        say(told)
    size = sum(path.stat().st_size for path in output.iterdir()) / 1e6
    say(f"{found!r}: {size:,.1f} MB in {time.monotonic() - started:.1f} s")
    say(str(found.scorer.signature))


def search(
    folder: Path,
    query: Sentence,
    /,
    *,
    top_k: TopK = 10,
    within: float | None = None,
    candidates: int | None = None,
    exact: Flag = False,
    align: int = 1,
    json: Json = False,
    engine: Engine = "local",
    ray: RayOptions = RAY_DEFAULTS,
) -> None:
    """Find the sentences of an index nearest to a query, exactly.

    Example: `movers search corpus.index "a dog runs after a cat" -k 3`

    Parameters
    ----------
    folder
        The index, made by `movers index`.
    query
        A sentence.
    top_k
        How many sentences to find.
    within
        Leave out sentences farther away than this; quicker, as most need not be compared.
    candidates
        Compare only so many, those with the nearest vectors: quicker, not certain to be exact.
    exact
        With --candidates: search exactly as well, and report the recall.
    align
        Show which word went where for so many of the first matches.
    json
        Print as JSON.
    engine
        "ray" gives every worker some of the files of the index.
    """
    from movers.cli.terminal import print_ranking
    from movers.search.index import Index

    index = Index.open(folder)
    if engine == "ray":
        if candidates is not None or exact:
            raise InputError("--engine ray searches exactly; leave out --candidates and --exact")
        (found,) = _engine(engine, ray).search_many(index, [query], top_k, within, align)
    else:
        ray.refuse()
        found = index.search(
            query, top_k, within=within, candidates=candidates, exact=exact, align=align
        )
    if json:
        print_json(found.to_dict())
    else:
        print_ranking(Console(), found)


def mine(
    file: Input,
    /,
    *,
    threshold: float,
    output: Target | None = None,
    column: str | None = None,
    format: str | None = None,
    method: Method = "movers",
    dry_run: Flag = False,
    quiet: Flag = False,
    engine: Engine = "local",
    ray: RayOptions = RAY_DEFAULTS,
    options: Options = DEFAULTS,
) -> None:
    """Find all pairs of sentences at most so far apart, exactly.

    Every pair is compared once, from the sentence that comes first. A run that is broken off,
    in whatever way, goes on where it stopped when it is started again.

    Example: `movers mine examples/data/sentences.txt --threshold 0.09 -o pairs.tsv`

    Parameters
    ----------
    file
        Text with one sentence per line, a table with a column of sentences, - for lines from
        standard input, or the folder of an index.
    threshold
        Largest distance of a pair; `movers threshold` helps to choose it.
    output
        Table to write: .tsv, .csv, .jsonl or .parquet.
    column
        Column of a table that holds the sentences. Default: sentence, text and the like, or the
        only one.
    format
        Format of the file if its name does not tell: lines, tsv, csv, jsonl, parquet, arrow.
    method
        The default measure, or one of transport.
    dry_run
        Write nothing: say how many pairs there are, and show those nearest to the threshold.
    quiet
        Say nothing but warnings and errors.
    engine
        "ray" mines blocks on many processes or machines, which see index and output folder under
        the same path.
    """
    from movers.io.tables import format_of
    from movers.search.mining import check_threshold, mine_file

    check_threshold(threshold)
    work = _Work(file, column, format, method, options, engine, ray, progress=not quiet)
    if dry_run:
        found = work.preview(threshold)
        return _show(found, threshold, f"{found.pairs:,} pairs lie within {threshold:g}")
    output = _named(output)
    format_of(output)
    started = time.monotonic()
    with work.corpus(output) as corpus:
        pairs, resumed = mine_file(
            corpus, threshold, output, blocks=work.engine.mine, progress=not quiet
        )
    if quiet:
        return
    if resumed:
        say(f"resumed behind {resumed} finished blocks")
    say(f"{pairs:,} pairs among {len(corpus):,} sentences in {time.monotonic() - started:.1f} s")
    say(str(corpus.scorer.signature))


def dedupe(
    file: Input,
    /,
    *,
    threshold: float,
    output: Target | None = None,
    dropped: Path | None = None,
    align: Flag = False,
    column: str | None = None,
    format: str | None = None,
    method: Method = "movers",
    dry_run: Flag = False,
    quiet: Flag = False,
    engine: Engine = "local",
    ray: RayOptions = RAY_DEFAULTS,
    options: Options = DEFAULTS,
) -> None:
    """Drop sentences that repeat an earlier one, word order respected.

    In file order, a sentence is kept unless it lies within the threshold of one that was kept.
    Lines that are blank or repeat another word by word are dropped as well. Look first at what
    --dry-run shows.

    Example: `movers dedupe examples/data/sentences.txt --threshold 0.09 -o distinct.txt`

    Parameters
    ----------
    file
        Text with one sentence per line, a table with a column of sentences, or the folder of an
        index.
    threshold
        Largest distance of a duplicate; `movers threshold` helps to choose it.
    output
        File for what is kept: a table with all columns, if it is named like one (.tsv, .csv,
        .jsonl, .parquet), or one sentence on each line.
    dropped
        Table for all other lines or rows, by number, with the reason and what they repeat: .tsv,
        .csv, .jsonl or .parquet.
    align
        In that table, also say which word went where.
    column
        Column of a table that holds the sentences. Default: sentence, text and the like, or the
        only one.
    format
        Format of the file if its name does not tell: lines, tsv, csv, jsonl, parquet, arrow.
    method
        The default measure, or one of transport.
    dry_run
        Write nothing: say what would be dropped, and show the pairs nearest to the threshold.
    quiet
        Say nothing but warnings and errors.
    engine
        "ray" mines blocks on many processes or machines.
    """
    from movers.io.tables import STANDARD, format_of
    from movers.search.dedupe import dedupe_file
    from movers.search.mining import check_threshold

    check_threshold(threshold)
    if file == STANDARD:
        raise InputError("what is deduplicated is read twice; put it into a file")
    work = _Work(file, column, format, method, options, engine, ray, progress=not quiet)
    if dry_run:
        previewed = work.preview(threshold)
        return _show(previewed, threshold, f"would have {previewed.found}")
    output = _named(output)
    if dropped is not None:
        format_of(dropped)
    with work.corpus(output) as corpus:
        found = dedupe_file(
            corpus,
            threshold,
            output,
            dropped,
            lines=work.texts,
            align=align,
            blocks=work.engine.mine,
            progress=not quiet,
        )
    if not quiet:
        say(str(found))
        say(str(corpus.scorer.signature))


def _engine(engine: Engine, ray: RayOptions) -> Any:
    """What builds, mines and searches: this process, or workers of Ray."""
    if engine == "ray":
        from movers.integrations.ray_search import RayEngine

        return RayEngine(ray.pool(), ray.address)
    from movers.search.local import LocalEngine

    ray.refuse()
    return LocalEngine()


def _texts(file: Path, column: str | None, format: str | None) -> Texts:
    """The sentences of a file, of which the first can be read."""
    from movers.io.texts import Texts

    texts = Texts(file, column, format)
    texts.check()
    return texts


def _named(output: Path | None) -> Path:
    if output is None:
        raise InputError("where should it go? name a file with -o, or look first with --dry-run")
    return output


class _Work:
    """A corpus that pairs are looked for in, and what does it.

    Parameters
    ----------
    file, column, format
        The folder of an index, or sentences to make one of.
    method, options, engine, ray
        How.
    """

    def __init__(
        self,
        file: Path,
        column: str | None,
        format: str | None,
        method: str,
        options: Options,
        engine: Engine,
        ray: RayOptions,
        *,
        progress: bool,
    ) -> None:
        from movers.search.manifest import NAME

        self.file, self.method, self.options, self.progress = file, method, options, progress
        self.texts = None if (file / NAME).is_file() else _texts(file, column, format)
        self.engine = _engine(engine, ray)
        self.local = engine == "local"

    @contextmanager
    def corpus(self, output: Path) -> Iterator[Index]:
        """Open the index, or make one beside the output that lasts until the work is done."""
        from movers.runtime.locks import locked
        from movers.search.index import Index

        if self.texts is None:
            yield Index.open(self.file)
            return
        folder = output.with_name(output.name + ".index")
        with locked(folder.with_name(folder.name + ".lock"), repr(str(output))):
            yield self._built(self.texts, folder, replace=True)
            shutil.rmtree(folder)

    def preview(self, threshold: float) -> Preview:
        """What would come of it; everything stays in memory."""
        from movers.search.dedupe import preview
        from movers.search.index import Index

        if not self.local:
            raise InputError("--dry-run works in this process; leave out --engine ray")
        index = Index.open(self.file) if self.texts is None else self._built(self.texts)
        return preview(index, threshold, lines=self.texts, progress=self.progress)

    def _built(self, texts: Texts, folder: Path | None = None, **options: bool) -> Index:
        scorer = self.options.load(self.method)
        built: Index = self.engine.build(scorer, texts, folder, progress=self.progress, **options)
        return built


def _show(found: Preview, threshold: float, summary: str) -> None:
    from movers.cli.terminal import print_around

    console = Console()
    console.print(f"{summary}; nothing was written", highlight=False, soft_wrap=True)
    print_around(console, threshold, found.around)
