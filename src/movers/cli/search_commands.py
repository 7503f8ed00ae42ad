"""Commands that search a corpus: rank, index, search, mine, dedupe."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal

from movers.cli import options as given
from movers.cli.drawing import print_text
from movers.cli.messages import refuse_unread, say, show
from movers.cli.options import DEFAULTS, RAY_DEFAULTS
from movers.cli.terminal import print_around, print_matches, print_ranking, print_texts
from movers.difference.guards import DEFAULT
from movers.errors import InputError
from movers.io.tables import STANDARD, format_of
from movers.io.texts import Texts, read_column, read_texts
from movers.runtime.locks import locked
from movers.search.manifest import NAME

if TYPE_CHECKING:
    from movers.search.dedupe import Deduplicated
    from movers.search.index import Index


@dataclass(frozen=True)
class CorpusOptions:
    """Options of commands that read a corpus or an index.

    Parameters
    ----------
    method
        The default measure, or one of transport: wsmd, wmd, wrd, smd, lambda, …
    engine
        "ray" works on many processes or machines, which see index and output folder under the same
        path.
    """

    column: given.Column = None
    format: given.TextFormat = None
    delimiter: given.Delimiter = None
    method: str = "movers"
    quiet: given.Quiet = False
    engine: given.Engine = "local"
    ray: given.RayOptions = RAY_DEFAULTS
    options: given.Options = DEFAULTS

    def texts(self, file: Path) -> Texts:
        """Return the sentences of a file, of which the first can be read."""
        texts = Texts(file, self.column, given.format_with(self.format, self.delimiter))
        texts.check()
        return texts

    def unless_index(self, file: Path) -> Texts | None:
        """Return the sentences of a file; None for an index, which has them encoded."""
        return None if (file / NAME).is_file() else self.texts(file)

    def guards(self, named: str, at_least: float) -> tuple[str, ...]:
        """Return the guards named, and the judge, whose word counts after the exact search."""
        from movers.search.keep_apart import judge_guard

        return (*given.guard_names(named), *judge_guard(self.options.judge, at_least))

    @property
    def by(self) -> Any:
        """What builds, mines and searches: this process, or workers of Ray."""
        return chosen_engine(self.engine, self.ray)

    def build(self, texts: Texts, folder: Path | None = None, **options: Any) -> Index:
        """Make an index, in memory without a folder."""
        scorer = self.options.but(judge=None).load(self.method)
        built: Index = self.by.build(scorer, texts, folder, progress=not self.quiet, **options)
        return built

    @contextmanager
    def corpus(
        self, file: Path, texts: Texts | None, output: Path | None, *, keep: bool = False
    ) -> Iterator[Index]:
        """Open the index, or make one beside the output that lasts until the work is done.

        To ``keep`` it lets the next run begin with what is encoded; without output it is in memory.
        """
        from movers.search.index import Index

        if texts is None or output is None:
            yield Index.open(file) if texts is None else self.build(texts)
            return
        folder = _beside(output)
        with locked(folder.with_name(folder.name + ".lock"), repr(str(output))):
            yield self.build(texts, folder, replace=True)
            if not keep:
                shutil.rmtree(folder)

    def preview(
        self,
        file: Path,
        texts: Texts | None,
        threshold: float,
        output: Path | None,
        summary: Callable[[Deduplicated], str],
        **options: Any,
    ) -> None:
        """Show what would come of it; what is encoded is kept for the output, if that is named."""
        from movers.search.dedupe import preview

        if self.engine != "local":
            raise InputError("--dry-run works in this process; leave out --engine ray")
        with self.corpus(file, texts, output, keep=True) as index:
            outcome = preview(index, threshold, lines=texts, progress=not self.quiet, **options)
        written = "nothing was written"
        if texts is not None:
            written += (
                f" but {str(_beside(output))!r}, with which the run itself will begin"
                if output is not None
                else "; with -o, what was encoded is kept for the run itself"
            )
        print_text(f"{summary(outcome)}; {written}", wrapped=False)
        print_around(threshold, outcome.around)


def _beside(output: Path) -> Path:
    """Return the index that lasts as long as the work on an output."""
    return output.with_name(output.name + ".index")


def chosen_engine(engine: given.Engine, ray: given.RayOptions) -> Any:
    """Return what builds, mines and searches: this process, or workers of Ray."""
    if engine == "ray":
        from movers.integrations.ray_search import RayEngine

        return RayEngine(ray.pool(), ray.address)
    from movers.search.index import Index
    from movers.search.mining import mine

    ray.refuse()
    return SimpleNamespace(build=Index.build, mine=mine)


CORPUS_DEFAULTS = CorpusOptions()
GUARDED = ",".join(DEFAULT)


def rank(
    query: given.Query,
    file: given.Input,
    /,
    *,
    top_k: given.TopK = 10,
    column: given.Column = None,
    format: given.TextFormat = None,
    delimiter: given.Delimiter = None,
    method: given.Measure = "movers",
    strict: given.Strict = False,
    json: given.Json = False,
    quiet: given.Quiet = False,
    options: given.Options = DEFAULTS,
) -> None:
    """Rank the sentences of a file by their distance to a query.

    For many queries, `movers index` and `movers search` do the same without reading the file anew.

    Example: `movers rank "a dog runs after a cat" examples/data/sentences.txt -k 3`

    Parameters
    ----------
    file
        Text with one sentence per line, a table with a column of sentences, or - for lines from
        standard input.
    top_k
        How many sentences to show.
    """
    table = given.format_with(format, delimiter)
    corpus = list(read_texts(file, column=column, format=table))
    ranking = options.load(method).rank(query, corpus, top_k=top_k, progress=not quiet)
    show(ranking, print_matches, json=json)
    if not (json or quiet):
        say(f"{len(corpus):,} sentences; {ranking.signature}")
    refuse_unread(sum(match.unread > 0 for match in ranking), strict)


def index(
    file: given.Input,
    /,
    *,
    output: given.Target | None = None,
    keep: Literal["text", "words"] | None = None,
    vectors: Literal["float32", "int8"] | None = None,
    add: bool = False,
    delete: bool = False,
    compact: bool = False,
    replace: bool = False,
    check: bool = False,
    work: CorpusOptions = CORPUS_DEFAULTS,
) -> None:
    """Encode a corpus for exact search.

    A build that is broken off leaves no index; the same command goes on where it stopped. Texts
    longer than the model reads are kept by their sentences, and searches answer with texts.

    Example: `movers index examples/data/sentences.txt -o corpus.index`

    Parameters
    ----------
    file
        Text with one sentence per line, a table with a column of sentences, or - for lines from
        standard input; with --check or --compact the folder of an index.
    output
        Folder of the index.
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
    """
    from movers.search.index import Index

    if work.options.judge is not None:
        raise InputError("an index is of a measure; name --judge when you search, mine or dedupe")
    if check or compact:
        opened = Index.open(file, verify=check)
        say(f"removed {opened.compact():,} sentences" if compact else f"{opened!r} is sound")
        return
    if output is None:
        raise InputError("where should the index go? name a folder with -o")
    started, texts, done = time.monotonic(), work.texts(file), ""
    if add:
        opened = Index.open(output)
        done = f"added {opened.add(texts, progress=not work.quiet):,} sentences"
    elif delete:
        opened = Index.open(output)
        done = f"deleted {opened.delete(texts):,} sentences"
    else:
        options: dict[str, Any] = {"keep": keep, "vectors": vectors, "replace": replace}
        opened = work.build(texts, output, **options)
    if work.quiet:
        return
    if done:
        say(done)
    size = sum(path.stat().st_size for path in output.iterdir()) / 1e6
    say(f"{opened!r}: {size:,.1f} MB in {time.monotonic() - started:.1f} s")
    say(str(opened.scorer.signature))


def search(
    folder: Path,
    query: given.Query,
    /,
    *,
    top_k: given.TopK = 10,
    within: float | None = None,
    candidates: int | None = None,
    guard: given.Guards = "",
    judge: str | None = None,
    at_least: given.AtLeast = 0.9,
    align: int = 1,
    strict: given.Strict = False,
    json: given.Json = False,
    engine: given.Engine = "local",
    ray: given.RayOptions = RAY_DEFAULTS,
) -> None:
    """Find the sentences of an index nearest to a query, exactly.

    Example: `movers search corpus.index "a dog runs after a cat" -k 3`

    Parameters
    ----------
    folder
        The index, made by `movers index`.
    top_k
        How many sentences to find.
    within
        Leave out sentences farther away than this; quicker, as most need not be compared.
    candidates
        Compare only so many, those with the nearest vectors: quicker, not certain to be exact.
    guard
        Leave out sentences that differ from the query in these, separated by commas: numbers,
        names, renamed, negation, opposites, roles, unread.
    judge
        "same" or a file made by `movers learn`: leave out sentences that it is not sure of, until
        there are as many as asked for; still the nearest of those it is sure of.
    align
        Show which word went where for so many of the first matches.
    engine
        "ray" gives every worker some of the files of the index.
    """
    from movers.search.index import Index
    from movers.search.keep_apart import judge_guard
    from movers.search.passages import TextMatch

    index = Index.open(folder)
    if engine == "ray":
        if candidates is not None:
            raise InputError("--engine ray searches exactly; leave out --candidates")
        if guard or judge:
            raise InputError("--guard and --judge work in this process; leave out --engine ray")
        ranking = chosen_engine(engine, ray).search_many(index, [query], top_k, within, align)[0]
    else:
        ray.refuse()
        guards = (*given.guard_names(guard), *judge_guard(judge, at_least))
        ranking = index.search(
            query, top_k, within=within, candidates=candidates, guards=guards, align=align
        )
    texts = any(isinstance(match, TextMatch) for match in ranking)
    show(ranking, print_texts if texts else print_ranking, json=json)
    refuse_unread(sum(match.unread > 0 for match in ranking), strict)


def mine(
    file: given.Input,
    /,
    *,
    threshold: float,
    output: given.Target | None = None,
    guard: given.Guards = "",
    at_least: given.AtLeast = 0.9,
    dry_run: bool = False,
    work: CorpusOptions = CORPUS_DEFAULTS,
) -> None:
    """Find all pairs of sentences at most so far apart, exactly.

    Every pair is compared once, from the sentence that comes first. A run that is broken off,
    in whatever way, goes on where it stopped when it is started again.

    Example: `movers mine examples/data/sentences.txt --threshold 0.05 -o pairs.tsv`

    Parameters
    ----------
    file
        Text with one sentence per line, a table with a column of sentences, - for lines from
        standard input, or the folder of an index.
    threshold
        Largest distance of a pair; `movers threshold` helps to choose it.
    output
        Table to write: .tsv, .csv, .jsonl or .parquet.
    guard
        Leave out pairs that differ in these, separated by commas: numbers, names, negation,
        opposites, roles, unread.
    dry_run
        Only say how many pairs there are, and show those nearest to the threshold. With -o, what
        was encoded is kept beside it for the run itself; without, nothing is written.
    """
    from movers.search.mining import check_threshold, mine_file

    check_threshold(threshold)
    guards = work.guards(guard, at_least)
    texts = work.unless_index(file)
    if dry_run:
        summary = f"pairs within {threshold:g}: {{0.pairs:,}}".format
        return work.preview(file, texts, threshold, output, summary)
    output = _named(output)
    format_of(output)
    started, progress = time.monotonic(), not work.quiet
    with work.corpus(file, texts, output) as corpus:
        pairs, resumed = mine_file(
            corpus, threshold, output, guards=guards, blocks=work.by.mine, progress=progress
        )
    if work.quiet:
        return
    if resumed:
        say(f"resumed behind {resumed} finished blocks")
    found = f"{pairs:,} pair{'s' * (pairs != 1)}"
    say(f"{found} among {len(corpus):,} sentences in {time.monotonic() - started:.1f} s")
    say(str(corpus.scorer.signature))


def dedupe(
    file: given.Input,
    /,
    *,
    threshold: float,
    output: given.Target | None = None,
    dropped: given.Written | None = None,
    guard: given.Guards = GUARDED,
    at_least: given.AtLeast = 0.9,
    group_by: str | None = None,
    strict: given.Strict = False,
    dry_run: bool = False,
    work: CorpusOptions = CORPUS_DEFAULTS,
) -> None:
    """Drop sentences that repeat an earlier one, word order respected.

    In file order, a sentence is kept unless it lies within the threshold of one that was kept.
    Lines that are blank or repeat another word by word are dropped as well. Look first at what
    --dry-run shows.

    Example: `movers dedupe examples/data/sentences.txt --threshold 0.05 -o distinct.txt`

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
        Table for all other lines or rows, by number, with the reason, what they repeat and what
        they differ in: .tsv, .csv, .jsonl or .parquet.
    guard
        Keep sentences that differ in these, separated by commas, however near they are: numbers,
        names, renamed, negation, opposites, roles, unread; "none" for none.
    group_by
        Column of the table: rows that differ in it never stand for each other.
    dry_run
        Only say what would be dropped, and show the pairs nearest to the threshold. With -o, what
        was encoded is kept beside it for the run itself; without, nothing is written.
    """
    from movers.search.dedupe import dedupe_file
    from movers.search.mining import check_threshold

    check_threshold(threshold)
    if file == STANDARD:
        raise InputError("what is deduplicated is read twice; put it into a file")
    guards, texts = work.guards(guard, at_least), work.unless_index(file)
    groups = None if group_by is None else _groups(file, texts, group_by)
    if dry_run:
        summary = "would have {}".format
        options = {"guards": guards, "groups": groups}
        return work.preview(file, texts, threshold, output, summary, **options)
    output = _named(output)
    if dropped is not None:
        format_of(dropped)
    blocks, progress = work.by.mine, not work.quiet
    with work.corpus(file, texts, output) as corpus:
        report = dedupe_file(
            corpus,
            threshold,
            output,
            dropped,
            lines=texts,
            groups=groups,
            guards=guards,
            blocks=blocks,
            progress=progress,
        )
    if not work.quiet:
        say(str(report))
        say(str(corpus.scorer.signature))
    refuse_unread(sum(bool(corpus.scorer.unread(text)) for text in corpus.sentences), strict)


def _groups(file: Path, texts: Texts | None, column: str) -> list[object]:
    """Return what every row of a table belongs to."""
    if texts is None or texts.plain:
        raise InputError(f"--group-by {column} needs a table with that column, got {str(file)!r}")
    return read_column(texts.file, column, texts.format)


def _named(output: Path | None) -> Path:
    if output is None:
        raise InputError("where should it go? name a file with -o, or look first with --dry-run")
    return output
