"""The one object most users need: sentences in, distances and their reasons out."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm.auto import tqdm

from movers.baselines import Blocks, find_baseline
from movers.encode.encodings import Encodings, Head, Request
from movers.encode.parse import load_parser
from movers.encode.stopwords import load_stopwords
from movers.encode.store import EncodingStore, Stores
from movers.encode.transformer import TransformerEncoder
from movers.encode.whiten import Whitening
from movers.errors import InputError, ModelError
from movers.grids import blocks, cells
from movers.io.pairs import check_sentence, check_sentences, read_pairs
from movers.measure.fitting import corpus_digest, fit_statistics
from movers.measure.measured import Context, Measured, measure
from movers.measure.statistics import Statistics
from movers.measure.structure import middle_layers, select_heads
from movers.measure.swf import fit_swf
from movers.methods import Method, find_method
from movers.pipeline import EMPTY, REASONS, Parts, Solved, solve_pairs
from movers.results import Comparison, HeadValue, Match, Ranking, Signature
from movers.runtime.notices import UndefinedWarning, UnwhitenedWarning, notify
from movers.scale import random_pairs, scale_key, similarity_of
from movers.settings import Settings
from movers.signature import sign

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CHUNK = 4096
BLOCK_BYTES = 1 << 30
TYPICAL = 14
"""Words kept of a rather long sentence."""
STORES = 4
"""Encoding stores a family of scorers keeps, one for each set of words or heads it compares."""


class Scorer:
    """Distances between sentences under one method, one model and one set of statistics.

    Make one with `movers.load`. The model is loaded on first use; the sentences of a call are
    kept for the next, also for scorers made from this one by `using`.
    """

    def __init__(
        self,
        settings: Settings,
        encoder: TransformerEncoder | Callable[[], TransformerEncoder],
        *,
        statistics: Statistics | None = None,
        threads: int | None = None,
    ) -> None:
        if threads is not None and threads < 1:
            raise InputError(f"threads must be at least 1, or None for all, got {threads}")
        self.settings = settings
        self.threads = threads
        self._source = encoder
        self._statistics = statistics
        self._stores = Stores()
        self._measured: Measured | None = None
        self._warned: set[int] = set()

    def __repr__(self) -> str:
        loaded = "encoder" in vars(self)
        return (
            f"Scorer({self.signature if loaded else f'{self.method.name}, model not loaded yet'})"
        )

    def __getstate__(self) -> dict[str, Any]:
        """Leave model and encodings behind; a copy in another process loads its own."""
        state = {name: value for name, value in vars(self).items() if name != "encoder"}
        return {**state, "_measured": None}

    @cached_property
    def encoder(self) -> TransformerEncoder:
        """The model, loaded when first needed."""
        return self._source() if callable(self._source) else self._source

    @property
    def method(self) -> Method:
        """The measure in use, as the recipe defines it."""
        return self.settings.row

    @cached_property
    def embedding(self) -> int:
        """Layer of the word vectors; 0 is the input layer."""
        layer, count = self.settings.layer, self.encoder.layers
        if layer == "middle":
            return count // 2
        if not -count - 1 <= layer <= count:
            raise InputError(
                f"embedding layer {layer} is out of range; {self.encoder.name} has "
                f"0 (input) to {count}"
            )
        return layer % (count + 1)

    @property
    def heads(self) -> tuple[Head, ...]:
        """Attention heads in use, as (layer, head) counted from 1."""
        if not self.method.needs_attention:
            return ()
        if not self.encoder.heads:
            raise ModelError(
                f"model {self.encoder.name!r} has no attention; use a measure without structure "
                "(wmd, wrd) or another model"
            )
        layers = self.settings.layers
        if layers is None and self.method.transport == "priced":
            layers = middle_layers(self.encoder.layers)
        if layers is None:
            layers = self.encoder.default_layers
        return select_heads(
            layers,
            self.settings.heads,
            available=(self.encoder.layers, self.encoder.heads),
            variability=self.statistics.variability,
        )

    @property
    def share(self) -> float:
        """Share of structure in the distance: the mix, 0 or 1 as the method has it."""
        shares = {"both": float(self.settings.mix), "structure": 1.0, "priced": 1.0}
        return shares.get(self.method.transport or "words", 0.0)

    @property
    def statistics(self) -> Statistics:
        """Fitted, loaded or shipped statistics; empty ones if there are none."""
        if self._statistics is None:
            shipped = Statistics.shipped(self.encoder.fingerprint)
            self._statistics = shipped or Statistics(self.encoder.fingerprint)
        if self._statistics.fingerprint != self.encoder.fingerprint:
            raise InputError(
                f"the statistics belong to model {self._statistics.fingerprint}, but "
                f"{self.encoder.name} is {self.encoder.fingerprint}; fit again"
            )
        return self._statistics

    @property
    def signature(self) -> Signature:
        """All settings that change a number."""
        return sign(self)

    @property
    def whitening(self) -> Whitening | None:
        """What is done to the word vectors; None if nothing."""
        if self.settings.whitening == "none" or not self.method.whitened:
            return None
        return self.statistics.whitening.get(self.embedding)

    def using(self, method: str | None = None, **changes: Any) -> Scorer:
        """Make a scorer with other settings that shares model, statistics and encodings.

        Takes the settings of `movers.load` by name, except for the model's own.
        """
        statistics = changes.pop("statistics", self._statistics)
        if isinstance(statistics, str | Path):
            statistics = Statistics.load(statistics)
        threads = changes.pop("threads", self.threads)
        if method is not None:
            changes["method"] = find_method(method)
        if "stopwords" in changes:
            changes["stopwords"] = load_stopwords(changes["stopwords"])
        if "parser" in changes:
            changes["parser"] = load_parser(changes["parser"])
        other = Scorer(
            replace(self.settings, **changes),
            self._source,
            statistics=statistics,
            threads=threads,
        )
        other._stores, other._warned = self._stores, self._warned
        if "encoder" in vars(self):
            other.encoder = self.encoder
        return other

    def fit(self, sentences: Iterable[str], *, origin: str = "", progress: bool = False) -> Scorer:
        """Fit whitening and document frequencies on sentences, and freeze them.

        Afterwards the distance of a pair no longer depends on any other pair.

        Parameters
        ----------
        sentences
            Sentences like those to be compared; a repeated one counts as often as it occurs.
        origin
            What the sentences are, kept with the statistics.
        progress
            Show a progress bar.
        """
        corpus = check_sentences(sentences, "sentence")
        counts = Counter(corpus)
        if not self._fitted_on(counts):
            self._fit_common(corpus, origin, progress=progress)
        if self.method.weights == "swf":
            self._fit_swf(counts)
        baseline = self.method.baseline and find_baseline(self.method.baseline)
        if baseline and hasattr(baseline, "fit"):
            blocks = self._blocks(counts, progress=progress)
            fitted = baseline.fit(blocks, self.context, self.embedding)
            self._add_arrays(fitted)
        self._fit_scale(list(counts))
        return self

    def _add_arrays(self, fitted: dict[str, Floats]) -> None:
        arrays = {**self.statistics.arrays, **fitted}
        self._statistics = replace(self.statistics, arrays=arrays)

    def _fit_scale(self, sentences: list[str]) -> None:
        """Measure what unrelated sentences are apart, on random pairs."""
        pairs = random_pairs([text for text in sentences if text.strip()])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedWarning)
            found = self.distances(pairs)
        if np.isfinite(found).any():
            far = np.median(found[np.isfinite(found)])
            self._add_arrays({scale_key(sign(self, scaled=False)): np.array([far])})

    def _fitted_on(self, counts: Counter[str]) -> bool:
        """Whether whitening and idf were fitted on just these sentences, in the same way."""
        statistics, kind = self.statistics, self.settings.whitening_to_fit
        whitening = statistics.whitening.get(self.embedding)
        idf = statistics.tables.get("idf")
        return (
            statistics.corpus == corpus_digest(counts)
            and (whitening and whitening.kind) == kind
            and idf is not None
            and idf.recipe == self.settings.recipe
            and not self.settings.by_variability
        )

    def _fit_common(self, corpus: list[str], origin: str, *, progress: bool) -> None:
        request = self.fit_request((self.embedding,))
        self._measured = None  # its weights may come from what is being replaced
        self._statistics, fresh = fit_statistics(
            self.encoder,
            corpus,
            request,
            whitening=self.settings.whitening_to_fit,
            variability=self.settings.by_variability,
            origin=origin,
            progress=progress,
        )
        if self.request.union(request) == request:
            self._whiten(fresh)
            # In place: scorers that share the stores and get these statistics find it there.
            self._stores.insert(0, EncodingStore(request, self._whitening_key(), (fresh,)))
            del self._stores[STORES:]

    def _blocks(self, counts: Counter[str], *, progress: bool) -> Blocks:
        """The corpus encoded and weighed, a few sentences at a time."""
        every = list(counts)
        for start in range(0, len(every), CHUNK):
            texts = every[start : start + CHUNK]
            measured = self._encoded(texts, progress=progress)
            rows = measured.encodings.numbers(texts)
            yield measured, rows, np.array([counts[text] for text in texts], np.int64)

    def _fit_swf(self, counts: Counter[str]) -> None:
        """Fit the weights that come from the trees of the sentences."""
        encodings = self.encoder.encode(list(counts), Request(rules=self.settings.rules))
        trees = self.context.trees(encodings.sentences)
        times = [counts[text] for text in encodings.sentences]
        table = fit_swf(encodings, times, trees, self.settings.recipe)
        tables = {**self.statistics.tables, "swf": table}
        self._statistics, self._measured = replace(self.statistics, tables=tables), None

    def fit_request(self, embeddings: tuple[int, ...]) -> Request:
        """What fitting keeps of each sentence: what comparing it will need, if known yet."""
        heads = () if self.settings.by_variability else self.heads
        return Request(embeddings, heads, self.settings.rules, self.method.needs_pooled)

    def save(self, path: str | Path) -> None:
        """Save the fitted statistics; ``movers.load(statistics=path)`` reads them."""
        self.statistics.save(path)

    def compare(self, source: str, target: str) -> Comparison:
        """Compare two sentences, with plan, alignment and values head by head."""
        check_sentence(source, "source"), check_sentence(target, "target")
        measured = self._encoded([source, target])
        rows = measured.encodings.rows
        pair = np.array([[rows[source], rows[target]]])
        solved = self._solve(measured, pair, plans=True)
        values = self._settle(solved, measured, pair, self.settings.empty or "raise")
        return Comparison(
            source=source,
            target=target,
            source_words=tuple(measured.encodings.surface(rows[source])),
            target_words=tuple(measured.encodings.surface(rows[target])),
            method=self.method.name,
            distance=float(values.mean()),
            linear=_unless_nan(values, solved.values.linear),
            structural=_unless_nan(values, solved.values.structural),
            mix=self.share,
            plans=solved.plans_of_one(),
            cost=solved.cost_of_one() if self.method.cost else np.zeros((0, 0)),
            heads=tuple(
                HeadValue(layer, head, **solved.facts_of_one(place))
                for place, (layer, head) in enumerate(self.heads)
            ),
            signature=self.signature,
            source_spans=measured.encodings.places(rows[source]),
            target_spans=measured.encodings.places(rows[target]),
            source_attention=measured.encodings.attention(rows[source], len(self.heads)),
            target_attention=measured.encodings.attention(rows[target], len(self.heads)),
            sentence=0.0 if solved.sentence is None else float(solved.sentence[0]),
            gate=1.0 if solved.gate is None else float(solved.gate[0]),
            far=self.far,
        )

    @property
    def far(self) -> float | None:
        """Distance of unrelated sentences, where similarity is 0; None if not measured yet."""
        fitted = self.statistics.arrays.get(scale_key(sign(self, scaled=False)))
        if fitted is not None:
            return float(fitted[0])
        return self.encoder.chance if self.method.needs_pooled else None

    def scaled(self, distances: Floats) -> Floats | None:
        """Similarities that distances stand for; None if what is far has not been measured."""
        far = self.far
        return None if far is None else similarity_of(distances, far)

    def similarities(self, pairs: Any, *, progress: bool = False) -> Floats:
        """Similarity of every pair, from 0 (unrelated) to 1 (the same), shape ``(pairs,)``.

        Parameters
        ----------
        pairs, progress
            As in `distances`.
        """
        if self.far is None:
            raise InputError(
                f"what unrelated sentences are apart under {self.method.name} has not been "
                "measured; call fit(sentences), or use method='movers', which knows it"
            )
        return similarity_of(self.distances(pairs, progress=progress), self.far)

    def distances(self, pairs: Any, *, progress: bool = False) -> Floats:
        """Distance of every pair, shape ``(pairs,)``.

        Parameters
        ----------
        pairs
            Pairs of sentences: 2-tuples, or a data frame with two columns.
        progress
            Show progress bars.
        """
        texts = read_pairs(pairs)
        return self._fill(np.zeros(len(texts)), texts, progress=progress)

    def head_values(self, pairs: Any, *, progress: bool = False) -> Floats:
        """Distance of every pair under every head, shape ``(pairs, heads)``.

        Measures without structure have one column.
        """
        texts = read_pairs(pairs)
        return self._fill(self._room(len(texts)), texts, progress=progress)

    def _fill(self, out: Floats, texts: list[tuple[str, str]], *, progress: bool) -> Floats:
        """Write distances of pairs: of every head, or the mean where there is room for no more."""
        for place, measured, rows in self._read(texts, progress=progress):
            with _bar(len(rows), progress) as bar:
                for chunk, values in self._values(measured, rows):
                    out[place][chunk] = values if out.ndim > 1 else values.mean(axis=1)
                    bar.update(len(values))
        self._warn_undefined(np.isnan(out if out.ndim == 1 else out[:, 0]))
        return out

    def _room(self, pairs: int) -> Floats:
        return np.zeros((pairs, max(1, len(self.heads))))

    def parts(self, pairs: Any) -> Parts:
        """Distance of every pair under every head, with its parts, as they come.

        Nothing is done about pairs without a proper distance; ``undefined`` says which these are.
        """
        texts = read_pairs(pairs)
        out = Parts.zeros(len(texts), max(1, len(self.heads)))
        for place, measured, rows in self._read(texts):
            for chunk, solved in self._chunks(measured, rows):
                out.put(place.start + chunk.start, solved)
        return out

    def _read(
        self, texts: list[tuple[str, str]], *, progress: bool = False
    ) -> Iterator[tuple[slice, Measured, Ints]]:
        """Blocks of pairs whose sentences fit into memory, encoded, the pairs by row."""
        size = self._pairs_at_once()
        for start in range(0, len(texts), size):
            block = texts[start : start + size]
            measured = self._encoded([text for pair in block for text in pair], progress=progress)
            sides = [measured.encodings.numbers(side) for side in zip(*block, strict=True)]
            yield slice(start, start + len(block)), measured, np.stack(sides, axis=1)

    def score(
        self,
        frame: Any,
        *,
        source: Any = None,
        target: Any = None,
        name: str = "distance",
        progress: bool = False,
    ) -> Any:
        """Add a column of distances to a data frame; the same kind of frame comes back.

        Where the measure has a scale, a column of similarities follows: "similarity", or
        ``NAME_similarity`` beside a column of another name. `movers.io.frames.score_frame`
        lists the kinds of frames, and takes several measures at once.

        Parameters
        ----------
        frame
            A frame with two columns of sentences, and any others.
        source, target
            Names of the two; None finds a well-known pair, or takes the only two.
        name
            Name of the new column.
        progress
            Show progress bars.
        """
        from movers.io.frames import score_frame

        return score_frame(frame, {name: self}, source=source, target=target, progress=progress)

    def _pairs_at_once(self) -> int:
        """Pairs whose sentences, if all of them differ, fill about a gigabyte."""
        layers = max(1, len(self.request.embeddings))
        bytes_each = 4 * (len(self.heads) * TYPICAL**2 + layers * self.encoder.dimension * TYPICAL)
        return max(CHUNK, BLOCK_BYTES // (2 * bytes_each))

    def matrix(
        self,
        sources: Iterable[str],
        targets: Iterable[str] | None = None,
        *,
        progress: bool = False,
    ) -> Floats:
        """All distances between sources and targets, shape ``(sources, targets)``.

        Without targets, between the sources themselves; a symmetric measure then gives a
        symmetric matrix.
        """
        left = check_sentences(sources, "source")
        right = left if targets is None else check_sentences(targets, "target")
        mirrored = targets is None and self.method.symmetric
        out = np.zeros((len(left), len(right)))
        total = len(left) * (len(left) + 1) // 2 if mirrored else out.size
        with _bar(total, progress) as bar:
            for i, j in blocks(out.shape, self._pairs_at_once(), triangle=mirrored):
                measured = self._encoded([*left[i], *right[j]], progress=progress)
                a, b = measured.encodings.numbers(left[i]), measured.encodings.numbers(right[j])
                for r, c in cells(len(a), len(b), CHUNK, triangle=mirrored and i == j):
                    found = self.solve(measured, np.stack([a[r], b[c]], axis=1)).mean(axis=1)
                    out[i, j][r, c] = found
                    if mirrored:
                        out[j, i][c, r] = found
                    bar.update(len(found))
        self._warn_undefined(np.isnan(out))
        return out

    def rank(
        self, query: str, corpus: Sequence[str], *, top_k: int | None = 10, progress: bool = False
    ) -> Ranking:
        """Rank a corpus by distance to a query, exactly; ``top_k=None`` ranks all of it."""
        if top_k is not None and top_k < 1:
            raise InputError(f"top_k must be at least 1 or None, got {top_k}")
        texts = check_sentences(corpus, "corpus sentence")
        found = self.matrix([check_sentence(query, "query")], texts, progress=progress)[0]
        best = np.argsort(found, kind="stable")[:top_k]
        return Ranking(query, self.matches(best, found[best], texts.__getitem__), self.signature)

    def matches(
        self, rows: Ints, distances: Floats, sentence: Callable[[int], str]
    ) -> tuple[Match, ...]:
        """Rows of a corpus as matches, with their similarities where there is a scale."""
        scaled = self.scaled(distances)
        alike = [None] * len(rows) if scaled is None else scaled.tolist()
        return tuple(
            Match(row, sentence(row), distance, similarity)
            for row, distance, similarity in zip(
                rows.tolist(), distances.tolist(), alike, strict=True
            )
        )

    def measure(self, sentences: Iterable[str], *, progress: bool = False) -> Measured:
        """Encode and weigh sentences: all that the solver needs of them.

        Sentences of earlier calls may be among the rows; ``encodings.rows`` finds each.
        """
        return self._encoded(check_sentences(sentences, "sentence"), progress=progress)

    def solve(self, measured: Measured, rows: Ints) -> Floats:
        """Distance of pairs of measured sentences under every head, ``(pairs, heads)``."""
        out = self._room(len(rows))
        for chunk, values in self._values(measured, rows):
            out[chunk] = values
        return out

    @property
    def request(self) -> Request:
        """What of a sentence enters the distance."""
        embeddings = (self.embedding,) if self.method.needs_vectors else ()
        return Request(embeddings, self.heads, self.settings.rules, self.method.needs_pooled)

    @property
    def context(self) -> Context:
        """What measures may look at besides the sentences."""
        settings = self.settings
        return Context(
            self.statistics,
            settings.recipe,
            settings.frequencies,
            settings.parser,
            lambda texts, rules: self.encoder.located(texts, rules or settings.rules),
            self.encoder.chance if self.method.needs_pooled else 1.0,
            tuple(layer for layer, _ in self.heads),
        )

    def prepare(self, sentences: Sequence[str] = ()) -> None:
        """Register what this scorer needs, so that scorers sharing encodings encode once.

        Sentences given here are encoded together now; calls that need them find them.
        """
        self._store()
        if sentences:
            self._encodings(check_sentences(sentences, "sentence"))

    def _store(self) -> EncodingStore:
        """The store that serves this scorer, shared with the scorers it was made from."""
        request, key = self.request, self._whitening_key()
        for layer in request.embeddings:
            self._whitening_of(layer)  # refuse the wrong kind also for sentences known already
        for store in self._stores:
            if store.serve(request, key):
                return store
        self._stores.insert(0, EncodingStore(request, key))
        del self._stores[STORES:]
        return self._stores[0]

    def _encodings(self, sentences: Iterable[str], *, progress: bool = False) -> Encodings:
        """All the sentences encoded, reusing those of earlier calls."""

        def encode(missing: list[str], request: Request) -> Encodings:
            fresh = self.encoder.encode(missing, request, progress=progress)
            self._whiten(fresh)
            return fresh

        return self._store().get(sentences, encode)

    def _encoded(self, sentences: Iterable[str], *, progress: bool = False) -> Measured:
        """All the sentences encoded and weighed."""
        encodings = self._encodings(sentences, progress=progress)
        measured = self._measured
        if measured is None or measured.encodings is not encodings:
            measured = measure(
                encodings,
                self.context,
                weights=self.method.weights,
                cost=self.method.cost,
                embedding=self.embedding if self.method.needs_vectors else None,
            )
            self._measured = measured
        return measured

    def _whiten(self, encodings: Encodings) -> None:
        """Whiten the word vectors in place."""
        for layer, vectors in encodings.vectors.items():
            if (whitening := self._whitening_of(layer)) is not None:
                whitening.apply(vectors.data, self.threads)

    def _whitening_of(self, layer: int) -> Whitening | None:
        """What is done to the vectors of a layer; warns if that is nothing for want of a fit."""
        if self.settings.whitening == "none" or not self.method.whitened:
            return None
        whitening = self.statistics.whitening.get(layer)
        if whitening is None:
            self._warn_unwhitened(layer)
        elif self.settings.whitening not in (None, whitening.kind):
            raise InputError(
                f"whitening={self.settings.whitening!r} was asked for, but the statistics at "
                f"hand are {whitening.kind!r}; call fit(sentences)"
            )
        return whitening

    def _warn_unwhitened(self, layer: int) -> None:
        if layer not in self._warned:
            self._warned.add(layer)
            notify(
                f"no whitening statistics for layer {layer} of {self.encoder.name}: word vectors "
                "are used as they are. Models differ in which is better, so try both on labelled "
                "pairs: call fit(sentences) for the paper's whitening, or pass whitening='none' "
                "to stay with this and silence the warning",
                UnwhitenedWarning,
            )

    def _whitening_key(self) -> str:
        """Names what is done to vectors, so that only scorers that do the same share them."""
        if self.settings.whitening == "none" or not self.method.whitened:
            return "none"
        whitening = self.statistics.whitening
        return ",".join(f"{layer}:{white.digest}" for layer, white in sorted(whitening.items()))

    def _values(self, measured: Measured, rows: Ints) -> Iterator[tuple[slice, Floats]]:
        """Distances of pairs of encoded sentences under every head, a few at a time."""
        policy = self.settings.empty or "nan"
        for chunk, solved in self._chunks(measured, rows):
            yield chunk, self._settle(solved, measured, rows[chunk], policy)

    def _chunks(self, measured: Measured, rows: Ints) -> Iterator[tuple[slice, Solved]]:
        """Pairs solved a few at a time, so that their costs never fill the memory."""
        for start in range(0, len(rows), CHUNK):
            chunk = slice(start, start + CHUNK)
            yield chunk, self._solve(measured, rows[chunk])

    def _warn_undefined(self, undefined: NDArray[np.bool_]) -> None:
        if undefined.any():
            notify(
                f"{undefined.sum()} of {undefined.size} pairs have no distance, for one side has "
                "no words left, and got NaN; pass empty='keep' to compare the stop words",
                UndefinedWarning,
            )

    def _solve(self, measured: Measured, rows: Ints, *, plans: bool = False) -> Solved:
        return solve_pairs(
            self.method,
            measured,
            rows,
            self.context,
            mix=self.settings.mix,
            null=self.settings.null,
            threads=self.threads,
            plans=plans,
        )

    def _settle(self, solved: Solved, measured: Measured, rows: Ints, policy: str) -> Floats:
        """The reported values, with the policy applied to pairs that have no proper distance."""
        values: Floats = getattr(solved.values, self.method.reports).copy()
        undefined = np.flatnonzero(solved.undefined)
        if len(undefined) and policy == "raise":
            pair = undefined[0]
            source, target = (measured.encodings.sentences[row] for row in rows[pair])
            for side, text in (("source", source), ("target", target)):
                if not text.strip():
                    raise InputError(EMPTY.format(side=side))
            reason = REASONS[solved.undefined[pair]]
            raise InputError(reason.format(source=source, target=target))
        if policy == "nan":
            values[undefined] = np.nan
        return values


def _bar(total: int, progress: bool) -> Any:
    return tqdm(total=total, desc="comparing", unit="pair", disable=not progress)


def _unless_nan(values: Floats, part: Floats) -> float:
    """The mean of a part, or NaN where there is no distance."""
    return float("nan") if np.isnan(values).any() else float(part.mean())
