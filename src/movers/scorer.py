"""The one object most users need: sentences in, distances and their reasons out."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from movers import blocks
from movers.align.align_texts import align_pairs
from movers.align.aligners import DEFAULT as DEFAULT_ALIGNER
from movers.align.alignment import Alignment
from movers.align.reading import Given
from movers.arrays import Floats, Ints, Singles
from movers.difference.kinds import Difference
from movers.difference.misspelt import Spelling, repair
from movers.documents.comparison import TextComparison
from movers.documents.measure import TextMeasure
from movers.documents.splitting import Document, Text, read_document
from movers.encode.encoder import Encoder
from movers.encode.encoding_cache import EncodingCache, Store
from movers.encode.encodings import Encodings, Head, Request
from movers.encode.stopwords import describe_stopwords
from movers.errors import Choose, Do, InputError
from movers.explain.compared import Judged, Signature
from movers.explain.contrast import Contrast
from movers.explain.curve import STEPS, curve_step, mix_curve, mixes_of
from movers.explain.explanation import Explanation
from movers.io.labels import read_labels
from movers.io.pairs import (
    check_asked,
    check_count,
    check_sentences,
    check_text,
    check_words,
    read_pairs,
)
from movers.judge.learning import learn, suggest
from movers.judge.report import JudgeReport
from movers.measures.base import Measure
from movers.measures.evidence import names_of
from movers.measures.judge import SAME, SHIPPED, Judge, judge_of
from movers.measures.parts.statistics import (
    Statistics,
    corpus_digest,
    fit_statistics,
    statistics_of_model,
)
from movers.measures.sentences import FitCorpus, WeightedSentences
from movers.results import Comparison, Match, Ranking
from movers.runtime.notices import UndefinedWarning
from movers.runtime.progress import progress_bar
from movers.scale import random_pairs, similarity_of
from movers.settings import Empty, Settings, check_names, table
from movers.version import __version__

KEPT = 4096
"""Sentences of texts that are encoded together with all that comparing them takes."""
TEXTS = ("comparing", "texts")
"""What a progress bar says."""
SCALE = "scale"
"""What the names of fitted scales begin with."""


class Scorer:
    """Distances between sentences under one measure, one model and one set of statistics.

    Make one with `movers.load`. The model is loaded on first use; the sentences of a call are
    kept for the next, also for scorers made from this one by `using`.

    Parameters
    ----------
    settings
        What a user chose.
    encoder
        The model, or what loads it when it is first needed.
    """

    def __init__(self, settings: Settings, encoder: Encoder | Callable[[], Encoder]) -> None:
        self.settings, self.cache = settings, EncodingCache()
        self._source, self._statistics = encoder, settings.fitted
        self._warned: set[int] = set()
        self._sentences: WeightedSentences | None = None
        self.report: JudgeReport | None = None

    def __repr__(self) -> str:
        unloaded = f"{self.settings.measure.name}, model not loaded yet"
        return f"Scorer({self.signature if 'encoder' in vars(self) else unloaded})"

    def __getstate__(self) -> dict[str, object]:
        """Leave model and encodings behind; a copy in another process loads its own."""
        state = {name: value for name, value in vars(self).items() if name not in DERIVED}
        return {**state, "_sentences": None}

    # what a scorer is made of

    @cached_property
    def encoder(self) -> Encoder:
        """The model, loaded when first needed."""
        return self._source() if callable(self._source) else self._source

    @cached_property
    def measure(self) -> Measure:
        """The measure, bound to the model, its statistics and the settings."""
        shipped = partial(statistics_of_model, self.encoder.fingerprint)  # many read none of it
        statistics = shipped if self._statistics is None else self.statistics
        context = self.settings.context(self.encoder, statistics, self._warned)
        return self.settings.measure.bind(context)

    @property
    def statistics(self) -> Statistics:
        """Fitted, loaded or shipped statistics; empty ones if there are none."""
        if self._statistics is None:
            self._statistics = statistics_of_model(self.encoder.fingerprint)
        if self._statistics.fingerprint != self.encoder.fingerprint:
            raise InputError(
                f"the statistics belong to model {self._statistics.fingerprint}, but "
                f"{self.encoder.name} is {self.encoder.fingerprint}; fit again"
            )
        return self._statistics

    def _adopt(self, statistics: Statistics) -> None:
        """Go on with other statistics; forget what was weighed by the old ones."""
        self._statistics, self._sentences = statistics, None
        for name in FITTED:
            vars(self).pop(name, None)

    @property
    def threads(self) -> int | None:
        """Threads of the solver and the measures; None is one per processor."""
        return self.settings.threads

    @threads.setter
    def threads(self, threads: int | None) -> None:
        self.settings = replace(self.settings, threads=threads)
        vars(self).pop("measure", None)

    @property
    def heads(self) -> tuple[Head, ...]:
        """Attention heads in use, as (layer, head) counted from 1."""
        return self.measure.heads

    @property
    def embedding(self) -> int:
        """Layer of the word vectors; 0 is the input layer."""
        return self.measure.embedding

    @cached_property
    def signature(self) -> Signature:
        """All settings that change a number."""
        return self._sign(self.far)

    def _sign(self, far: float | None) -> Signature:
        settings, encoder = self.settings, self.encoder
        fields = {
            "movers": __version__,
            "method": settings.measure.name,
            "model": f"{Path(encoder.name).name}@{encoder.fingerprint}",
            **self.measure.signature(),
            "recipe": settings.recipe,
            "stopwords": describe_stopwords(settings.rules.stopwords),
            "subwords": settings.subwords,
            "dtype": encoder.dtype,
            "engine": encoder.engine,
            "empty": "keep" if settings.empty == "keep" else "",
            "texts": "" if settings.texts == "auto" else settings.texts,
            "scale": "" if far is None else f"{far:.4g}",
        }
        return Signature(tuple((name, value) for name, value in fields.items() if value))

    @cached_property
    def far(self) -> float | None:
        """Distance of unrelated sentences, where similarity is 0; None if not measured yet."""
        fitted = self.statistics.arrays.get(self._scale_key)
        return self.measure.far if fitted is None else float(fitted[0])

    @property
    def _scale_key(self) -> str:
        """Name under which statistics keep the scale of one measure with all its settings."""
        named = (field for field in self._sign(None).fields if field[0] not in UNSCALED)
        fields = "|".join(f"{name}:{value}" for name, value in named)
        return f"{SCALE}.{sha256(fields.encode()).hexdigest()[:8]}"

    def scaled(self, distances: Floats) -> Floats | None:
        """Return similarities that distances stand for; None if `far` has not been measured."""
        far = self.far
        return None if far is None else similarity_of(distances, far)

    def using(self, method: str | None = None, **changes: Any) -> Scorer:
        """Make a scorer with other settings that shares model, statistics and encodings.

        Takes the settings of `movers.load` by name, except for the model's own.
        """
        known = table(type(self.settings))
        check_names(changes, type(self.settings))
        fixed = [name for name in changes if name in known and known[name].of_model]
        if fixed:
            raise InputError(f"{fixed[0]} belongs to the model; make another scorer with load")
        if method is not None:
            changes = {"judge": None, **changes, "method": method}
        changes = {"statistics": self._statistics, "threads": self.threads, **changes}
        other = Scorer(replace(self.settings, **changes), self._source)
        other.cache, other._warned = self.cache, self._warned
        if "encoder" in vars(self):
            other.encoder = self.encoder
        return other

    # texts longer than the model

    @property
    def _by_sentences(self) -> bool:
        """Whether longer texts are compared sentence by sentence."""
        return self.settings.texts != "whole" and self.measure.by_sentences and self.far is not None

    def unread(self, text: Text) -> str:
        """Return the end of a text that no number of this scorer depends on."""
        if self._by_sentences or not isinstance(text, str):
            return ""
        return self.encoder.unread(text)

    def unread_words(self, pairs: Sequence[tuple[Text, Text]]) -> Ints:
        """Count the words of every pair that no number of this scorer depends on, ``(pairs,)``."""
        given = read_pairs(pairs, check=check_text)
        counts = {text: len(self.unread(text).split()) for pair in given for text in pair}
        return np.array([counts[one] + counts[two] for one, two in given], np.int64)

    def _long(self, texts: Iterable[Text]) -> set[Text]:
        """Return those of some texts that are compared sentence by sentence, whatever others."""
        known, choice = {*texts}, self.settings.texts
        asked = {text for text in known if choice == "sentences" or not isinstance(text, str)}
        long = asked
        if choice == "auto" and self.measure.by_sentences:
            long = {text for text in known if text in asked or self.encoder.unread(str(text))}
        if not long or self._by_sentences:
            return long
        if asked:
            raise InputError(
                f"{self.measure.name} does not compare texts sentence by sentence",
                Choose("method", "movers"),
                Choose("texts", "auto"),
            )
        return set()

    def takes_sentences(self, text: Text) -> bool:
        """Tell whether a text is compared sentence by sentence, with whatever other."""
        return self._by_sentences and bool(self._long((text,)))

    def document(self, text: Text) -> Document:
        """Cut a text into sentences that the model reads to their end."""
        return read_document(text, lambda sentence: not self.encoder.unread(sentence))

    def _text_measure(self, *, progress: bool = False) -> TextMeasure:
        """Return what compares texts by their sentences."""
        assert self.far is not None
        return TextMeasure(
            partial(self._vectors, progress=progress),
            partial(self._sentence_distances, progress=progress),
            self.far,
        )

    def _vectors(self, sentences: Sequence[str], *, progress: bool) -> Singles:
        """Return vectors of sentences; of many, nothing else is kept."""
        each = list(dict.fromkeys(sentences))
        if len(each) <= KEPT:
            weighed = self.weigh(each, progress=progress)
            return weighed.pooled[weighed.numbers(sentences)]
        rows = {text: row for row, text in enumerate(each)}
        encoded = self.encoder.encode(each, Request(pooled=True), progress=progress)
        numbers = encoded.numbers(each)
        return encoded.pooled[numbers[[rows[text] for text in sentences]]]

    def _sentence_distances(
        self, pairs: Sequence[tuple[str, str]], *, progress: bool = False
    ) -> Floats:
        """Return distances of sentences, some pairs at a time; `far` where there are no words."""
        out = np.zeros(len(pairs))
        with progress_bar(*blocks.PAIRS, len(pairs), progress=progress) as bar:
            for start in range(0, len(pairs), KEPT // 2):
                sides = [text for pair in pairs[start : start + KEPT // 2] for text in pair]
                weighed = self.weigh(sides)
                rows = weighed.numbers(sides).reshape(-1, 2)
                out[start : start + len(rows)] = self.between(weighed, rows)
                bar.update(len(rows))
        return np.where(np.isnan(out), self.far or 1.0, out)

    def _text_distances(
        self, pairs: Sequence[tuple[Text, Text]], *, progress: bool = False
    ) -> Floats:
        """Return distances of texts by their sentences, which are encoded together."""
        documents = {text: self.document(text) for pair in pairs for text in pair}
        read = [(documents[one], documents[two]) for one, two in pairs]
        with progress_bar(*TEXTS, len(pairs), progress=progress) as bar:
            return self._text_measure(progress=progress).distances(read, KEPT, bar)

    # encoding and weighing

    def prepare(self, sentences: Sequence[str] = ()) -> None:
        """Register what this scorer needs, so that scorers sharing encodings encode once.

        Sentences given here are encoded together now; calls that need them find them.
        """
        store = self._store()
        if sentences:
            store.get(check_sentences(sentences, "sentence"), self._encode)

    @property
    def kept_bytes(self) -> int:
        """What the sentences encoded so far take."""
        return self.cache.nbytes

    def forget(self) -> None:
        """Forget the sentences encoded so far, for the scorers that share them too."""
        self.cache.clear()
        self._sentences = None

    def weigh(self, sentences: Sequence[str], *, progress: bool = False) -> WeightedSentences:
        """Encode and weigh sentences, reusing those of earlier calls.

        Sentences of earlier calls may be among the rows; `WeightedSentences.numbers` finds each.
        """
        known = self._sentences
        if known is None or not all(text in known.encoded.rows for text in sentences):
            encodings = self._store().get(sentences, partial(self._encode, progress=progress))
            known = self._sentences = self.measure.weigh(encodings)
        return known

    def weigh_each(
        self, sentences: Sequence[str], store: Store | None = None, *, progress: bool = False
    ) -> WeightedSentences:
        """Encode and weigh sentences and no others, each in its place, repeated ones included.

        They are looked for and kept in a store of the caller's, or else in that of this scorer.
        """
        request = self.measure.requirements if store is None else store.request
        store = self._store() if store is None else store
        encodings = store.get(sentences, partial(self._encode, progress=progress))
        taken = encodings.take(encodings.numbers(sentences), request, store.request.heads)
        return self.measure.weigh(taken).take(slice(None))

    def _store(self) -> Store:
        return self.cache.find(self.measure.requirements, self.measure.whitening_key)

    def _encode(self, missing: list[str], request: Request, *, progress: bool = False) -> Encodings:
        encodings = self.encoder.encode(missing, request, progress=progress)
        self.measure.whiten(encodings)
        return encodings

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
        learned = self.measure.fit(FitCorpus(counts, partial(self.weigh, progress=progress)))
        if learned is not self.statistics:
            self._adopt(learned)
        self._fit_scale(list(counts))
        return self

    def _fitted_on(self, counts: Counter[str]) -> bool:
        """Tell whether whitening and idf were fitted on just these sentences, in the same way."""
        whitening = self.statistics.whitening.get(self.embedding)
        idf = self.statistics.tables.get("idf")
        return (
            self.statistics.corpus == corpus_digest(counts)
            and (whitening and whitening.kind) == self.settings.whitening_to_fit
            and idf is not None
            and idf.recipe == self.settings.recipe
            and not self.settings.by_variability
        )

    def _fit_common(self, corpus: list[str], origin: str, *, progress: bool) -> None:
        """Fit what any measure may need, and keep the sentences encoded on the way."""
        request = self.measure.fit_request((self.embedding,))
        statistics, fresh = fit_statistics(
            self.encoder,
            corpus,
            request,
            whitening=self.settings.whitening_to_fit,
            variability=self.settings.by_variability,
            origin=origin,
            progress=progress,
        )
        self._adopt(statistics)
        if self.measure.requirements.union(request) == request:
            self.measure.whiten(fresh)
            # In place: scorers that share the cache and get these statistics find it there.
            self.cache.new(request, self.measure.whitening_key).add(fresh)

    def _fit_scale(self, sentences: list[str]) -> None:
        """Measure what unrelated sentences are apart, on random pairs."""
        pairs = random_pairs([text for text in sentences if text.strip()])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedWarning)
            distances = self.distances(pairs)
        if np.isfinite(distances).any():
            far = np.median(distances[np.isfinite(distances)])
            arrays = {**self.statistics.arrays, self._scale_key: np.array([far])}
            self._adopt(replace(self.statistics, arrays=arrays))

    def save(self, path: str | Path) -> None:
        """Save the fitted statistics; ``movers.load(statistics=path)`` reads them.

        Of a judge, save what it learned; ``movers.load(judge=path)`` reads that.
        """
        measure = self.measure
        (measure.knowledge if isinstance(measure, Judge) else self.statistics).save(path)

    def learn(
        self, pairs: Any, labels: Iterable[Any], *, report: bool = True, progress: bool = False
    ) -> Scorer:
        """Learn a judge from labelled pairs: a scorer whose distance is one minus a probability.

        Few labels are held near what is known without any: the judge "same", or this scorer's
        own if it is a judge already. The attribute ``report`` of what comes back has what
        cross-validation says of it; `save` keeps the judge.

        Parameters
        ----------
        pairs
            Pairs of sentences, as in `distances`.
        labels
            For every pair 1 if it says the same, 0 if not, which may be written yes and no or true
            and false; or grades, such as 0 to 5.
        report
            Whether to cross-validate, which fits some dozen times.
        progress
            Show progress bars.
        """
        texts, given = read_pairs(pairs), np.array(read_labels(labels))
        measure = self.measure
        scorer = self if isinstance(measure, Judge) else self.using(judge=SAME)
        before = scorer._judge.knowledge
        evidence = scorer.evidence(texts, progress=progress)
        others = None
        if report:
            others = {"cosine": evidence[:, 0], measure.name: self.distances(texts)}
        known, tested = learn(texts, given, evidence, before, others=others)
        judge = scorer.using(judge=judge_of(known))
        judge.report = tested
        return judge

    def evidence(self, pairs: Any, *, progress: bool = False) -> Floats:
        """Return numbers that a judge looks at, ``(pairs, columns)``, in the order of its names.

        What cannot be compared, for a side is empty, is refused.
        """
        texts, measure = read_pairs(pairs), self._judge
        out = np.zeros((len(texts), len(names_of(measure))))
        for place, sentences, rows in self._blocks(texts, progress=progress):
            out[place] = self._compare(measure.evidence, sentences, rows, policy="raise")
        return out

    def probabilities(
        self, pairs: Any, targets: Iterable[str] | None = None, *, progress: bool = False
    ) -> Floats:
        """Return the probability that every pair says the same, ``(pairs,)``; of a judge alone.

        A graded judge gives the grade as a share of its scale.

        Parameters
        ----------
        pairs, targets, progress
            As in `distances`.

        Examples
        --------
        >>> import movers
        >>> judge = movers.load(judge="same")
        >>> swapped, passive = "a man bites a dog", "a man is bitten by a dog"
        >>> (judge.probabilities(["a dog bites a man"] * 2, [swapped, passive]) > 0.5).tolist()
        [False, True]
        """
        assert self._judge  # refuses measures
        return np.asarray(1.0 - self.distances(pairs, targets, progress=progress))

    def suggest(self, pairs: Any, count: int = 50, *, labelled: Any = ()) -> list[int]:
        """Return numbers of the pairs whose labels would teach a judge most, the best first.

        Parameters
        ----------
        pairs
            Pairs to choose from, as in `distances`.
        count
            How many to name.
        labelled
            Pairs that the judge was learned from.
        """
        evidence, seen = self.evidence(read_pairs(pairs)), self.evidence(read_pairs(labelled))
        chosen = suggest(self._judge.knowledge, evidence, count, labelled=seen)
        return [int(row) for row in chosen]

    @property
    def _judge(self) -> Judge:
        if not isinstance(self.measure, Judge):
            raise InputError(
                f"{self.measure.name} is no judge", Choose("judge", SAME.name), Do("learn")
            )
        return self.measure

    def _judged(self, source: str, target: str) -> Judged | None:
        """Return what the shipped judge says beside the default measure."""
        if not self.measure.asks_judge or self.encoder.fingerprint not in SHIPPED:
            return None
        judge = self.using(judge=SAME)
        sentences = judge.weigh([source, target])
        rows = sentences.numbers([source, target])[None]
        measure = judge._judge
        return None if measure.undefined(sentences, rows)[0] else measure.judge(sentences, rows)

    def compare(self, source: Text, target: Text, *, spelling: Spelling = "keep") -> Comparison:
        """Compare two sentences, with differences, plan, alignment and values head by head.

        Texts longer than the model reads are compared sentence by sentence, and a
        `movers.documents.comparison.TextComparison` says what became of each.

        Parameters
        ----------
        source, target
            The sentences, texts of any length, or lists of sentences.
        spelling
            "repair" compares them with their typing errors mended, and names these.
        """
        source, target = check_text(source, "source"), check_text(target, "target")
        if spelling == "repair" and isinstance(source, str) and isinstance(target, str):
            first, second = repair(source, beside=target), repair(target, beside=source)
            comparison = self.compare(first.text, second.text)
            return replace(comparison, source_repairs=first.repairs, target_repairs=second.repairs)
        if spelling != "keep":
            raise InputError(f"spelling must be 'keep' or 'repair' of texts, got {spelling!r}")
        if self._long((source, target)):
            return self.compare_texts(source, target)
        return self._compare_sentences(str(source), str(target))

    def compare_texts(
        self, source: Text, target: Text, *, progress: bool = False
    ) -> TextComparison:
        """Compare two texts sentence by sentence, however short they are; see `compare`."""
        source, target = check_text(source, "source"), check_text(target, "target")
        self.using(texts="sentences")._long((source, target))  # refuses a measure that cannot
        read = self.document(source), self.document(target)
        for side, document in zip(("source", "target"), read, strict=True):
            if not document.sentences:
                raise InputError(f"the {side} is empty; drop the pair or fill it in")
        matched = self._text_measure(progress=progress).compare(*read)
        return TextComparison.of(matched, self.measure.name, self.signature)

    def _compare_sentences(self, source: str, target: str) -> Comparison:
        """Compare two sentences word by word."""
        judged = self._judged(source, target)  # first, so that the sentences are encoded once
        sentences = self.weigh([source, target])
        rows = sentences.numbers([source, target])
        why, policy = self.measure.undefined(sentences, rows[None]), self.settings.empty or "raise"
        if why.any() and policy == "raise":
            raise blocks.without_words(sentences, rows[None], why)
        comparison = self.measure.explain(sentences, *rows.tolist())
        if why.any() and policy == "nan":
            comparison = comparison.undefined()
        ends = self.unread(source), self.unread(target)
        # No judge says that texts are the same whose ends nobody read.
        judged = None if any(ends) and source != target else judged or comparison.judged
        return replace(
            comparison,
            signature=self.signature,
            far=self.far,
            source_unread=ends[0],
            target_unread=ends[1],
            judged=judged,
        )

    def differences(self, source: str, target: str) -> tuple[Difference, ...]:
        """Find what two sentences differ in; the plan says which other words go together.

        `movers.differences` does the same without a model.

        Examples
        --------
        >>> import movers
        >>> (one,) = movers.load().differences("the drug is safe", "the drug is not safe")
        >>> one.kind, one.text
        ('negation', 'B denies it: “not”.')
        """
        return self.compare(source, target).differences

    def align(self, source: Given, target: Given, *, aligner: str = DEFAULT_ALIGNER) -> Alignment:
        """Link the words of two sentences: which goes with which, and which with none.

        All words take part, stop words and punctuation too, whatever the measure.

        Parameters
        ----------
        source, target
            Sentences, as text or as lists of words.
        aligner
            Row of `movers.align.aligners.ALIGNERS`.
        """
        pair = check_asked(source, "source"), check_asked(target, "target")
        return self.align_all([pair], aligner=aligner)[0]

    def align_all(
        self, pairs: Any, *, aligner: str = DEFAULT_ALIGNER, progress: bool = False
    ) -> list[Alignment]:
        """Link the words of every pair; see `align`.

        Parameters
        ----------
        pairs
            Pairs of sentences: 2-tuples of texts or lists of words, or a data frame of texts.
        progress
            Show a progress bar.
        """
        given = read_pairs(pairs, check=check_words)
        return list(align_pairs(self.encoder, given, aligner=aligner, progress=progress))

    def explain(self, source: str, target: str, *, links: bool = False) -> Explanation:
        """Compare two sentences under every head of the model, not only those of the distance.

        Parameters
        ----------
        source, target
            The sentences; texts longer than the model reads are refused.
        links
            Whether to link their words too, as `align` does.

        Examples
        --------
        >>> import movers
        >>> found = movers.load("wsmd").explain("a dog bites a man", "a man bites a dog")
        >>> len(found.every.heads), len(found.selected)
        (72, 12)
        """
        linked = self.align_all([(source, target)])[0].to_dict() if links else None
        if self._long((source, target)):
            raise InputError(
                "words are explained of sentences; these texts are longer than the model reads",
                Do("compare", ", which takes them sentence by sentence"),
            )
        if not self.heads:
            return Explanation.of(self.compare(source, target), linked)
        # All heads first, so that the sentences are encoded once.
        every = self.using(layers="all", heads="all").compare(source, target)
        chosen = self.compare(source, target)
        return Explanation(chosen, self.measure.under_every_head(every, chosen), linked)

    def contrast(self, source: str, target: str, other: str, *, links: bool = False) -> Contrast:
        """Hold a sentence against two others, and say which of the two is nearer.

        Parameters
        ----------
        source, target, other
            The sentence, and the two.
        links
            As in `explain`.

        Examples
        --------
        >>> import movers
        >>> beaten = "Germany beat Brazil in the final", "Brazil lost to Germany in the final"
        >>> print(movers.load().contrast(*beaten, "Brazil beat Germany in the final").verdict)
        By sentence vectors C is nearer to A; with structure, B is.
        """
        first, second = (self.explain(source, one, links=links) for one in (target, other))
        return Contrast(first, second)

    def curve(self, source: str, target: str, *, steps: int = STEPS) -> dict[str, Any]:
        """Compare two sentences at mixes from 0, words alone, to 1, structure alone.

        Plain values for JSON: lists of ``mixes``, ``distances``, ``linear`` and ``structural``
        parts, ``plans`` (mean over the heads: source word, target word, mass, price of structure),
        and ``moved``, the share of the sentence that goes elsewhere than one step before.

        Examples
        --------
        >>> import movers
        >>> movers.load("wsmd").curve("a dog bites", "a man bites", steps=3)["mixes"]
        [0.0, 0.5, 1.0]
        """
        mixes = mixes_of(self.measure.name, self.measure.settings, steps)
        mixed = (self.using(mix=mix) for mix in mixes)
        return mix_curve(curve_step(scorer.compare(source, target)) for scorer in mixed)

    def similarities(
        self, pairs: Any, targets: Iterable[str] | None = None, *, progress: bool = False
    ) -> Floats:
        """Return the similarity of every pair, 0 (unrelated) to 1 (the same), shape ``(pairs,)``.

        Parameters
        ----------
        pairs, targets, progress
            As in `distances`.
        """
        if self.far is None:
            raise InputError(
                f"what unrelated sentences are apart under {self.measure.name} has not been "
                "measured",
                Do("fit"),
                Choose("method", "movers", ", which knows it"),
            )
        return similarity_of(self.distances(pairs, targets, progress=progress), self.far)

    def distances(
        self, pairs: Any, targets: Iterable[str] | None = None, *, progress: bool = False
    ) -> Floats:
        """Return the distance of every pair, shape ``(pairs,)``.

        Parameters
        ----------
        pairs
            Pairs of sentences or texts of any length: 2-tuples, or a data frame with two columns.
            With targets, the sources.
        targets
            The second sentence of every pair, in the order of the sources.
        progress
            Show progress bars.
        """
        texts = read_pairs(pairs, targets, check=check_text)
        long = self._long(text for pair in texts for text in pair)
        apart = np.array([not long.isdisjoint(pair) for pair in texts], bool)
        out, short = np.zeros(len(texts)), np.flatnonzero(~apart)
        words = texts if not long else [texts[number] for number in short]
        for place, sentences, rows in self._blocks(words, progress=progress):
            out[short[place]] = self._compare(self.measure.distances, sentences, rows)
        if long:
            some = [texts[number] for number in np.flatnonzero(apart)]
            out[apart] = self._text_distances(some, progress=progress)
        if (undefined := np.isnan(out)).any():
            blocks.warn_undefined(undefined)
        return out

    def _blocks(
        self, texts: Sequence[tuple[str, str]], *, progress: bool = False
    ) -> Iterator[tuple[slice, WeightedSentences, Ints]]:
        """Yield pairs a few at a time: their places, weighted sentences, the pairs by row."""
        size = self._block_size()
        for start in range(0, len(texts), size):
            sides = [text for pair in texts[start : start + size] for text in pair]
            sentences = self.weigh(sides, progress=progress)
            rows = sentences.numbers(sides).reshape(-1, 2)
            with progress_bar(*blocks.PAIRS, len(rows), progress=progress) as bar:
                for low in range(0, len(rows), blocks.CHUNK):
                    part = rows[low : low + blocks.CHUNK]
                    yield slice(start + low, start + low + len(part)), sentences, part
                    bar.update(len(part))

    def _block_size(self) -> int:
        """Return how many pairs of rather long sentences fit into `blocks.BLOCK_BYTES`."""
        request = self.measure.requirements
        layers = max(1, len(request.embeddings))
        numbers = len(request.heads) * blocks.WORDS + layers * self.encoder.dimension
        return max(blocks.CHUNK, blocks.BLOCK_BYTES // (2 * 4 * numbers * blocks.WORDS))

    def _compare(
        self,
        compare: Callable[[WeightedSentences, Ints], Floats],
        sentences: WeightedSentences,
        rows: Ints,
        policy: Empty | None = None,
    ) -> Floats:
        """Compare the pairs that have a distance, and treat the others by a policy.

        Parameters
        ----------
        compare
            Method of the measure: from sentences and pairs to a number, or a row of them, per pair.
        sentences, rows
            Weighted sentences and the pairs by row.
        policy
            ``"raise"`` refuses pairs without a distance, ``"nan"`` gives NaN, and ``"keep"`` the
            limit: infinitely far from nothing, nothing at 0 from nothing. None is that of the
            settings, or else NaN.
        """
        why = self.measure.undefined(sentences, rows)
        if not why.any():
            return compare(sentences, rows)
        policy = policy or self.settings.empty or "nan"
        if policy == "raise":
            raise blocks.without_words(sentences, rows, why)
        values = compare(sentences, rows[why == 0])
        out = np.full((len(rows), *values.shape[1:]), np.nan)
        if policy == "keep":
            out.T[:] = self.measure.limits(sentences, rows).value[:, 0]
        out[why == 0] = values
        return out

    def head_values(self, pairs: Any, *, progress: bool = False) -> Floats:
        """Return the distance of every pair under every head, shape ``(pairs, heads)``.

        Measures without structure have one column.
        """
        texts = read_pairs(pairs)
        out = np.zeros((len(texts), max(1, len(self.heads))))
        for place, sentences, rows in self._blocks(texts, progress=progress):
            out[place] = self._compare(self.measure.head_values, sentences, rows)
        if (undefined := np.isnan(out[:, 0])).any():
            blocks.warn_undefined(undefined)
        return out

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
        ``NAME_similarity`` beside a column of another name; the last, "unread" or ``NAME_unread``,
        counts the words of a pair that the model did not read. `movers.io.frames.score_frame`
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

    def matrix(
        self,
        sources: Iterable[str],
        targets: Iterable[str] | None = None,
        *,
        progress: bool = False,
    ) -> Floats:
        """Return all distances between sources and targets, shape ``(sources, targets)``.

        Parameters
        ----------
        sources
            Sentences, or texts of any length.
        targets
            The same; None stands for the sources, and a symmetric measure then gives a symmetric
            matrix.
        progress
            Show a progress bar.
        """
        left = check_sentences(sources, "source", check_text)
        right = left if targets is None else check_sentences(targets, "target", check_text)
        mirrored = targets is None and self.measure.symmetric
        if long := self._long((*left, *right)):
            return self._matrix_of_texts(left, right, long, mirrored, progress=progress)
        out = np.zeros((len(left), len(right)))
        total = len(left) * (len(left) + 1) // 2 if mirrored else out.size
        size = self._block_size()
        with progress_bar(*blocks.PAIRS, total, progress=progress) as bar:
            for i, j in blocks.blocks(out.shape, size, triangle=mirrored):
                sentences = self.weigh([*left[i], *right[j]], progress=progress)
                a, b = sentences.numbers(left[i]), sentences.numbers(right[j])
                triangle = mirrored and i == j
                for r, c in blocks.cells(len(a), len(b), blocks.CHUNK, triangle=triangle):
                    pairs = np.stack([a[r], b[c]], axis=1)
                    distances = self._compare(self.measure.distances, sentences, pairs)
                    out[i, j][r, c] = distances
                    if mirrored:
                        out[j, i][c, r] = distances
                    bar.update(len(distances))
        if (undefined := np.isnan(out)).any():
            blocks.warn_undefined(undefined)
        return out

    def _matrix_of_texts(
        self,
        left: list[Text],
        right: list[Text],
        long: set[Text],
        mirrored: bool,
        *,
        progress: bool,
    ) -> Floats:
        """Return the matrix where some texts are compared sentence by sentence."""
        out = np.zeros((len(left), len(right)))
        i, j = np.indices(out.shape).reshape(2, -1)
        apart = np.array([text in long for text in left])[:, None] | [x in long for x in right]
        asked = apart.ravel() & ((j >= i) | (not mirrored))
        pairs = [(left[a], right[b]) for a, b in zip(i[asked], j[asked], strict=True)]
        out[i[asked], j[asked]] = distances = self._text_distances(pairs, progress=progress)
        if mirrored:
            out[j[asked], i[asked]] = distances
        short = [[k for k, text in enumerate(side) if text not in long] for side in (left, right)]
        if all(short):
            sources, targets = ([str(left[k]) for k in short[0]], [str(right[k]) for k in short[1]])
            others = None if mirrored else targets
            out[np.ix_(*short)] = self.matrix(sources, others, progress=progress)
        return out

    def rank(
        self,
        query: str,
        corpus: Iterable[Any],
        *,
        top_k: int | None = 10,
        key: Callable[[Any], str] | None = None,
        progress: bool = False,
    ) -> Ranking:
        """Rank a corpus by distance to a query, exactly.

        Parameters
        ----------
        query
            The sentence, or text, that all others are compared with.
        corpus
            What to rank: sentences, texts, or with ``key`` documents of any kind. A match has the
            place of its document as ``index``.
        top_k
            How many to return; None ranks all.
        key
            Gives the text of a document.
        progress
            Show a progress bar.
        """
        if top_k is not None:
            check_count("top_k", top_k)
        given = corpus if key is None else map(key, corpus)
        texts = check_sentences(given, "corpus sentence", check_text)
        check_asked(check_text(query, "query"), "query")
        distances = self.matrix([query], texts, progress=progress)[0]
        best = np.argsort(distances, kind="stable")[:top_k]
        matches = self.matches(best, distances[best], texts.__getitem__)
        return Ranking(query, matches, self.signature)

    def matches(
        self,
        rows: Ints,
        distances: Floats,
        sentence: Callable[[int], Any],
        unread: Callable[[str], str] | None = None,
    ) -> tuple[Match, ...]:
        """Return rows of a corpus as matches, with their similarities where there is a scale.

        Parameters
        ----------
        rows, distances
            The rows, nearest first, and their distances.
        sentence
            Gives the text of a row.
        unread
            Gives the end of a text that was not read; None is that of this scorer.
        """
        scaled, rest = self.scaled(distances), unread or self.unread
        alike = [None] * len(rows) if scaled is None else scaled.tolist()
        return tuple(
            Match(row, text := sentence(row), distance, similarity, len(rest(text).split()))
            for row, distance, similarity in zip(
                rows.tolist(), distances.tolist(), alike, strict=True
            )
        )

    def between(self, sentences: WeightedSentences, rows: Ints) -> Floats:
        """Return the distance of pairs of weighted sentences by row, ``(pairs,)``."""
        out = np.zeros(len(rows))
        for low in range(0, len(rows), blocks.CHUNK):
            part = slice(low, low + blocks.CHUNK)
            out[part] = self._compare(self.measure.distances, sentences, rows[part])
        return out


UNSCALED = ("movers", "engine", "texts")
"""Fields of the signature that leave unrelated sentences as far apart as they are."""
FITTED = ("measure", "far", "signature")
"""What is worked out once for settings, model and statistics."""
DERIVED = ("encoder", *FITTED)
"""What is not pickled, for a copy works it out again."""
