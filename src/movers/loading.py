"""`load`: from a method and a model to a scorer."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from movers.encode.parse import Parser, load_parser
from movers.encode.stopwords import load_stopwords
from movers.encode.tokens import Recipe, Subwords
from movers.encode.transformer import TransformerEncoder
from movers.measure.statistics import Statistics
from movers.measure.structure import Selection
from movers.methods import find_method
from movers.scorer import Scorer
from movers.settings import Empty, Settings, WhiteningChoice


def load(
    method: str = "movers",
    model: str | Path | None = None,
    *,
    embedding: int = -1,
    layers: Selection | None = None,
    heads: Selection = "all",
    mix: float = 0.5,
    null: float | None = None,
    recipe: Recipe = "paper",
    whitening: WhiteningChoice | None = None,
    stopwords: str | Path | Iterable[str] | None = "english",
    subwords: Subwords = "first",
    empty: Empty | None = None,
    statistics: str | Path | Statistics | None = None,
    device: str | None = None,
    dtype: str = "float32",
    threads: int | None = None,
    frequencies: str | Path | None = None,
    parser: str | Path | Parser | Iterable[str | Path] | None = None,
) -> Scorer:
    """Make a scorer. The model itself is loaded when first needed, once per process.

    Parameters
    ----------
    method
        A row of the table of methods: ``movers``, ``wmd``, ``wrd``, ``smd``, ``wsmd``, …
    model
        Hugging Face name or folder of an encoder; None is the one installed with movers.
    embedding
        Layer of the word vectors; 0 is the input layer, -1 the last.
    layers
        Attention layers, counted from 1: ``"5"``, ``"5-12"``, ``"all"``, ``"BV"`` (those picked
        by attention variability), a number or numbers. None takes the best single layer known
        for the model, or all; for ``movers`` always the middle two thirds.
    heads
        Heads within each layer, in the same notation.
    mix
        Share of structure in the distance, the paper's lambda.
    null
        Price for which a unit of mass may stay at home, so that words may match nothing: in mean
        costs of the pair, so that 1 is what it costs to go anywhere. For measures of words,
        structure or both; None moves everything, as their papers do.
    recipe
        ``"paper"`` follows the paper's definitions; ``"reference"`` what its published numbers
        were computed with: attention not re-normalised over the words compared, and the factor
        k averaged over all tokens.
    whitening
        What `Scorer.fit` makes: ``"clean"`` drops noise directions, ``"as-coded"`` keeps them
        as the published code does, ``"none"`` leaves vectors alone. None is the recipe's own.
    stopwords
        ``"english"``, a file, words, or None to keep every word and punctuation.
    subwords
        ``"first"`` piece stands for its word, or ``"mean"`` of all its pieces.
    empty
        What to do with a pair that has no distance because a side has no words left:
        ``"raise"``, ``"nan"``, or ``"keep"`` (compare the stop words where there is nothing
        else). None raises in `Scorer.compare` and gives NaN with a warning elsewhere.
    statistics
        Fitted statistics or the file they were saved to; None takes those shipped for the model.
    device
        ``"auto"``, ``"cuda"``, ``"mps"`` or ``"cpu"``.
    dtype
        ``"float32"``, or ``"bfloat16"`` / ``"float16"`` on a GPU.
    threads
        Threads of the solver and the measures; None is one per processor. Never changes a
        result. A process forked from this one has one thread for the model; spawn it for more.
    frequencies
        File with ``word count`` on each line, for sif and usif weights and, unless fitted, for
        idf; None takes English word frequencies from the wordfreq package.
    parser
        Where measures that look at syntax get dependency trees: ``"spacy:en_core_web_sm"``,
        ``"stanza:en"``, ``"conllu:PATH"``, paths of CoNLL-U files, a loaded spaCy pipeline, or
        an object with ``parse(sentences)``.

    Examples
    --------
    >>> import movers
    >>> scorer = movers.load()
    >>> sentence, paraphrase = "a dog chases a cat", "a dog runs after a cat"
    >>> scorer.rank(sentence, [paraphrase, "a cat chases a dog"], top_k=1)[0].text
    'a dog runs after a cat'
    """
    settings = Settings(
        find_method(method),
        embedding=embedding,
        layers=layers,
        heads=heads,
        mix=mix,
        null=null,
        recipe=recipe,
        whitening=whitening,
        stopwords=load_stopwords(stopwords),
        subwords=subwords,
        empty=empty,
        frequencies=frequencies,
        parser=load_parser(parser),
    )
    if isinstance(statistics, str | Path):
        statistics = Statistics.load(statistics)
    return Scorer(
        settings,
        partial(load_encoder, model, device, dtype),
        statistics=statistics,
        threads=threads,
    )


def load_encoder(
    model: str | Path | None = None, device: str | None = None, dtype: str = "float32"
) -> TransformerEncoder:
    """Load an encoder, or return the one loaded earlier in this process."""
    return _encoder(model, device, dtype)  # the cache tells given defaults from missing ones


@lru_cache(maxsize=4)
def _encoder(model: str | Path | None, device: str | None, dtype: str) -> TransformerEncoder:
    return TransformerEncoder(model, device=device, dtype=dtype)


def describe_model(model: str | Path | None = None, device: str | None = None) -> dict[str, Any]:
    """Facts about a model: size, limits, statistics, and the layers used by default."""
    encoder = load_encoder(model, device)
    shipped = Statistics.shipped(encoder.fingerprint)
    return {
        **encoder.describe(),
        "default_layers": encoder.default_layers,
        "statistics": shipped.origin if shipped else None,
        "variability": shipped.variability.mean(axis=1).round(4).tolist()
        if shipped and shipped.variability is not None
        else None,
    }
