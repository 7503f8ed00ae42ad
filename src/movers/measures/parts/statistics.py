"""Everything fitted on sentences in one pass: frozen, saved and loaded as one safetensors file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from hashlib import sha256
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np

from movers.arrays import Array, Floats
from movers.encode.encoder import Encoder
from movers.encode.encodings import Encodings, Request
from movers.encode.models import EMBEDDED, EMBEDDED_FINGERPRINT
from movers.encode.tokens import Recipe, TokenRules
from movers.encode.whiten import Moments, OrderedMoments, Whitening, WhiteningKind
from movers.errors import InputError
from movers.measures.parts.structure import attention_variability
from movers.measures.parts.word_tables import (
    WordTable,
    count_documents,
    count_words,
    idf_table,
    piece_idf_table,
)
from movers.runtime.json_text import parse_json
from movers.runtime.numbers_file import load_numbers, save_numbers

FORMAT = "movers-statistics-1"
SHIPPED = {EMBEDDED_FINGERPRINT: f"{EMBEDDED}.safetensors"}
"""Files of statistics that come with the package, by fingerprint of the weights."""


@dataclass(frozen=True)
class Statistics:
    """Frozen statistics of one model.

    Parameters
    ----------
    fingerprint
        Hash of the model they belong to.
    origin
        What they were fitted on, in words.
    corpus
        Hash of the sentences they were fitted on; empty if unknown.
    whitening
        Whitening by embedding layer.
    tables
        Word tables by name: ``"idf"`` and the like.
    arrays
        Anything else by name: ``"variability"`` (BV_A of every head, ``(layers, heads)``), and
        what single measures fit.
    """

    fingerprint: str
    origin: str = ""
    corpus: str = ""
    whitening: Mapping[int, Whitening] = field(default_factory=dict)
    tables: Mapping[str, WordTable] = field(default_factory=dict)
    arrays: Mapping[str, Floats] = field(default_factory=dict)

    @property
    def variability(self) -> Floats | None:
        """BV_A of every head, shape ``(layers, heads)``, if it was measured."""
        return self.arrays.get("variability")

    def fitted_on(
        self, counts: Mapping[str, int], layer: int, whitening: WhiteningKind | None, recipe: Recipe
    ) -> bool:
        """Tell whether a layer's whitening and idf were fitted on these sentences, in this way."""
        white, idf = self.whitening.get(layer), self.tables.get("idf")
        same = self.corpus == corpus_digest(counts) and (white and white.kind) == whitening
        return same and idf is not None and idf.recipe == recipe

    @cached_property
    def digest(self) -> str:
        """Eight hex digits that pin the content."""
        total = sha256()
        for name, array in sorted(self._tensors().items()):
            total.update(name.encode() + np.ascontiguousarray(array).tobytes())
        for name, table in sorted(self.tables.items()):
            total.update(json.dumps([name, table.recipe, *table.values]).encode())
        return total.hexdigest()[:8]

    def save(self, path: str | Path) -> None:
        """Write to a safetensors file, whole or not at all."""
        header = {
            "format": FORMAT,
            "fingerprint": self.fingerprint,
            "origin": self.origin,
            "corpus": self.corpus,
            "whitening": json.dumps(
                {layer: [white.kind, white.tokens] for layer, white in self.whitening.items()}
            ),
            "tables": json.dumps(
                {name: [table.recipe, list(table.values)] for name, table in self.tables.items()}
            ),
        }
        tensors = self._tensors()
        for name, array in tensors.items():
            single = array.astype(np.float32)
            if np.array_equal(single, array):  # half the size, and nothing lost
                tensors[name] = single
        save_numbers(Path(path), header, tensors)

    @classmethod
    def load(cls, path: str | Path) -> Statistics:
        """Read what `save` wrote."""
        from safetensors import SafetensorError

        if not Path(path).is_file():
            raise InputError(f"statistics file {str(path)!r} does not exist")
        try:
            header, stored = load_numbers(Path(path))
        except SafetensorError as error:
            raise InputError(f"{str(path)!r} is not a statistics file: {error}") from error
        except ValueError as error:
            raise InputError(f"{str(path)!r} is damaged ({error}); fit and save again") from error
        if header.get("format") != FORMAT:
            raise InputError(
                f"{str(path)!r} has format {header.get('format')!r}, expected {FORMAT!r}; "
                "fit and save again"
            )
        tensors = {name: array.astype(np.float64) for name, array in stored.items()}
        try:
            return cls._from_tensors(header, tensors)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"{str(path)!r} is damaged ({error}); fit and save again") from error

    @classmethod
    def shipped(cls, fingerprint: str) -> Statistics | None:
        """Return the statistics that come with the package for the weights of a model, if any."""
        if fingerprint not in SHIPPED:
            return None
        with as_file(files("movers").joinpath("data", SHIPPED[fingerprint])) as path:
            return cls.load(path)

    def _tensors(self) -> dict[str, Array]:
        tensors: dict[str, Array] = {}
        for layer, white in self.whitening.items():
            tensors[f"whitening.{layer}.mean"] = white.mean
            tensors[f"whitening.{layer}.matrix"] = np.ascontiguousarray(white.matrix)
        for name, table in self.tables.items():
            tensors[f"tables.{name}"] = np.array([*table.values.values(), table.missing])
        for name, array in self.arrays.items():
            tensors[f"arrays.{name}"] = np.ascontiguousarray(array)
        return tensors

    @classmethod
    def _from_tensors(cls, header: dict[str, str], tensors: dict[str, Array]) -> Statistics:
        whitening = {}
        for layer, (kind, tokens) in parse_json(header["whitening"]).items():
            mean, matrix = (tensors[f"whitening.{layer}.{part}"] for part in ("mean", "matrix"))
            whitening[int(layer)] = Whitening(mean, matrix, kind, tokens)
        tables = {}
        for name, (recipe, words) in parse_json(header["tables"]).items():
            *values, missing = tensors[f"tables.{name}"].tolist()
            tables[name] = WordTable(dict(zip(words, values, strict=True)), missing, recipe)
        names = [name for name in tensors if name.startswith("arrays.")]
        arrays = {name.removeprefix("arrays."): tensors[name] for name in names}
        model, origin, corpus = (header[name] for name in ("fingerprint", "origin", "corpus"))
        return cls(model, origin, corpus, whitening, tables, arrays)


@lru_cache(maxsize=8)
def statistics_of_model(fingerprint: str) -> Statistics:
    """Return the statistics that ship for the weights of a model, or else empty ones."""
    return Statistics.shipped(fingerprint) or Statistics(fingerprint)


def load_statistics(choice: str | Path | Statistics | None) -> Statistics | None:
    """Return statistics as users name them: a file, or themselves; None stays None."""
    return Statistics.load(choice) if isinstance(choice, str | Path) else choice


def fit_statistics(
    encoder: Encoder,
    sentences: Iterable[str],
    request: Request,
    *,
    whitening: WhiteningKind | None = "clean",
    variability: bool = False,
    origin: str = "",
    progress: bool = False,
) -> tuple[Statistics, Encodings]:
    """Fit whitening, document frequencies and, if asked, attention variability.

    Parameters
    ----------
    encoder
        The model.
    sentences
        A repeated one counts as often as it occurs.
    request
        What to keep of each; its embedding layers are the ones whitened.
    whitening
        Which kind; None for none.
    variability
        Whether to measure BV_A of every head, which takes two more passes.
    origin
        What the sentences are, in words.
    progress
        Show a progress bar.

    Returns
    -------
    The statistics, and the encodings of the distinct sentences, not yet whitened.
    """
    corpus = list(sentences)
    counts = Counter(corpus)
    if not counts:
        raise InputError("fit needs at least one sentence, got none")
    distinct, times = list(counts), list(counts.values())
    layers = request.embeddings if whitening else ()
    kind = OrderedMoments if whitening == "as-coded" else Moments
    moments = {layer: kind(encoder.dimension) for layer in layers}
    encodings = encoder.encode(distinct, request, moments=moments, counts=times, progress=progress)
    statistics = statistics_of(
        encoder, corpus, moments, request.rules, whitening=whitening, origin=origin
    )
    if variability:
        every = list(counts.elements())
        variabilities = attention_variability(lambda: encoder.attentions(every))
        arrays = {"variability": variabilities.reshape(encoder.layers, encoder.heads)}
        statistics = replace(statistics, arrays=arrays)
    return statistics, encodings


def statistics_of(
    encoder: Encoder,
    corpus: Iterable[str],
    moments: Mapping[int, Moments],
    rules: TokenRules,
    *,
    whitening: WhiteningKind | None = "clean",
    origin: str = "",
) -> Statistics:
    """Make statistics of a corpus whose token vectors have been added up already.

    Parameters
    ----------
    encoder, corpus
        The model, and its sentences.
    moments
        Those of the token vectors by embedding layer, of the distinct sentences in the order in
        which they first occur.
    rules
        How words are spelled; document frequencies are those of all, whatever the rules drop.
    whitening, origin
        As in `fit_statistics`.
    """
    texts = list(corpus)
    counts = Counter(texts)
    distinct, times = list(counts), list(counts.values())
    for one in moments.values():
        if isinstance(one, OrderedMoments):
            numbers = {text: number for number, text in enumerate(distinct)}
            one.order = [numbers[text] for text in texts]
    every = TokenRules(recipe=rules.recipe, subwords=rules.subwords)
    words = count_words(encoder.encode(distinct, Request(rules=every)), times, rules.recipe)
    pieces = count_documents(encoder.pieces(distinct), times)
    kind = whitening or "clean"
    return Statistics(
        fingerprint=encoder.fingerprint,
        origin=origin or f"{len(texts)} sentences",
        corpus=corpus_digest(counts),
        whitening={layer: Whitening.fit(one, kind) for layer, one in moments.items()},
        tables={
            "idf": idf_table(words, len(texts), rules.recipe),
            "piece-idf": piece_idf_table(pieces, len(texts)),
        },
    )


def corpus_digest(counts: Mapping[str, int]) -> str:
    """Eight hex digits that pin a corpus, whatever the order of its sentences."""
    total = sha256()
    for text, count in sorted(counts.items()):
        total.update(f"{count} {text}\n".encode())
    return total.hexdigest()[:8]
