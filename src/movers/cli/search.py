"""Commands that search a corpus: index, search, mine, dedupe."""

from __future__ import annotations

import shutil
import sys
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
    Json,
    Options,
    RayOptions,
    Sentence,
)
from movers.errors import InputError

if TYPE_CHECKING:
    from movers.search.index import Index

Method = Annotated[str, Parameter(name=["--method"])]
Target = Annotated[Path, Parameter(name=["--output", "-o"])]
Flag = Annotated[bool, Parameter(negative="", show_default=False)]
TopK = Annotated[int, Parameter(name=["--top-k", "-k"])]


def index(
    file: Path,
    /,
    *,
    output: Target | None = None,
    method: Method = "movers",
    keep: Literal["text", "words"] | None = None,
    vectors: Literal["float32", "int8"] | None = None,
    add: Flag = False,
    delete: Flag = False,
    compact: Flag = False,
    replace: Flag = False,
    check: Flag = False,
    engine: Engine = "local",
    ray: RayOptions = RAY_DEFAULTS,
    options: Options = DEFAULTS,
) -> None:
    """Encode a corpus for exact search.

    A build that is broken off leaves no index; the same command goes on where it stopped.

    Parameters
    ----------
    file
        Text with one sentence per line; with --check or --compact the folder of an index.
    output
        Folder of the index.
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
    started, progress = time.monotonic(), sys.stderr.isatty()
    if add:
        found = Index.open(output)
        say(f"added {found.add(file, progress=progress):,} sentences")
    elif delete:
        found = Index.open(output)
        say(f"deleted {found.delete(file):,} sentences")
    else:
        build = _engine(engine, ray).build
        found = build(
            options.load(method),
            file,
            output,
            keep=keep,
            vectors=vectors,
            replace=replace,
            progress=progress,
        )
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
    file: Path,
    /,
    *,
    threshold: float,
    output: Target,
    method: Method = "movers",
    engine: Engine = "local",
    ray: RayOptions = RAY_DEFAULTS,
    options: Options = DEFAULTS,
) -> None:
    """Find all pairs of sentences at most so far apart, exactly.

    Every pair is compared once, from the sentence that comes first. A run that is broken off,
    in whatever way, goes on where it stopped when it is started again.

    Parameters
    ----------
    file
        Text with one sentence per line, or the folder of an index.
    threshold
        Largest distance of a pair.
    output
        Table to write: .tsv, .csv, .jsonl or .parquet.
    method
        The default measure, or one of transport.
    engine
        "ray" mines blocks on many processes or machines, which see index and output folder under
        the same path.
    """
    from movers.search.mining import mine_file

    started, chosen = time.monotonic(), _engine(engine, ray)
    with _corpus(file, method, output, options, chosen) as corpus:
        pairs, resumed = mine_file(
            corpus, threshold, output, blocks=chosen.mine, progress=sys.stderr.isatty()
        )
    if resumed:
        say(f"resumed behind {resumed} finished blocks")
    say(f"{pairs:,} pairs among {len(corpus):,} sentences in {time.monotonic() - started:.1f} s")
    say(str(corpus.scorer.signature))


def dedupe(
    file: Path,
    /,
    *,
    threshold: float,
    output: Target,
    dropped: Path | None = None,
    align: Flag = False,
    method: Method = "movers",
    engine: Engine = "local",
    ray: RayOptions = RAY_DEFAULTS,
    options: Options = DEFAULTS,
) -> None:
    """Drop sentences that repeat an earlier one, word order respected.

    In file order, a sentence is kept unless it lies within the threshold of one that was kept.
    Lines that are blank or repeat another word by word are dropped as well.

    Parameters
    ----------
    file
        Text with one sentence per line, or the folder of an index.
    threshold
        Largest distance of a duplicate.
    output
        Text file for the sentences that are kept.
    dropped
        Table for all other lines, by number, with the reason and what they repeat: .tsv, .csv,
        .jsonl or .parquet.
    align
        In that table, also say which word went where.
    method
        The default measure, or one of transport.
    engine
        "ray" mines blocks on many processes or machines.
    """
    from movers.search.dedupe import dedupe_file

    chosen = _engine(engine, ray)
    with _corpus(file, method, output, options, chosen) as corpus:
        found = dedupe_file(
            corpus,
            threshold,
            output,
            dropped,
            lines=None if corpus.folder == file else file,
            align=align,
            blocks=chosen.mine,
            progress=sys.stderr.isatty(),
        )
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


@contextmanager
def _corpus(
    file: Path, method: str, output: Path, options: Options, engine: Any
) -> Iterator[Index]:
    """Open an index, or make one beside the output that lasts until the work is done."""
    from movers.runtime.locks import locked
    from movers.search.index import Index
    from movers.search.manifest import NAME

    if (file / NAME).is_file():
        yield Index.open(file)
        return
    folder = output.with_name(output.name + ".index")
    with locked(folder.with_name(folder.name + ".lock"), repr(str(output))):
        scorer = options.load(method)
        yield engine.build(scorer, file, folder, replace=True, progress=sys.stderr.isatty())
        shutil.rmtree(folder)
