"""The one object most users need: sentences in, distances and their reasons out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from movers import blocks
from movers.align.align_texts import align_pairs
from movers.align.aligners import DEFAULT as DEFAULT_ALIGNER
from movers.align.alignment import Alignment
from movers.align.reading import Given
from movers.arrays import Floats, Ints
from movers.difference.kinds import Difference
from movers.difference.misspelt import Spelling, repair
from movers.distances import Distances
from movers.documents.comparison import TextComparison
from movers.documents.splitting import Text
from movers.errors import Do, InputError
from movers.explain.contrast import Contrast
from movers.explain.curve import STEPS, curve_step, mix_curve, mixes_of
from movers.explain.explanation import Explanation
from movers.fitting import evidence, fit, judge_in, learn
from movers.fitting import judged as judged_beside
from movers.io.labels import read_labels
from movers.io.pairs import (
    check_asked,
    check_count,
    check_sentences,
    check_text,
    check_words,
    read_pairs,
)
from movers.judge.logistic_fit import suggest
from movers.measures.judge import Judge
from movers.results import Comparison, Match, Ranking


class Scorer(Distances):
    """Distances between sentences under one measure, one model and one set of statistics.

    Make one with `movers.load`. The model is loaded on first use; the sentences of a call are
    kept for the next, also for scorers made from this one by `using`.
    """

    # numbers

    def head_values(self, pairs: Any, *, progress: bool = False) -> Floats:
        """Return the distance of every pair under every head, shape ``(pairs, heads)``.

        Measures without structure have one column.
        """
        columns = max(1, len(self.heads))
        out = self.table(read_pairs(pairs), self.measure.head_values, columns, progress=progress)
        if (undefined := np.isnan(out[:, 0])).any():
            blocks.warn_undefined(undefined)
        return out

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
        weigh = partial(self.weigh, progress=progress)
        compare, size = partial(self._compare, self.measure.distances), self._block_size()

        def of_sentences(rows: list[str], columns: list[str]) -> Floats:
            options = {"mirrored": mirrored, "progress": progress}
            return blocks.fill_matrix(rows, columns, weigh, compare, size, **options)

        if not (long := self._long((*left, *right))):
            return of_sentences(left, right)
        out = np.zeros((len(left), len(right)))
        texts, short = blocks.long_cells(left, right, long, mirrored=mirrored)
        pairs = [(left[i], right[j]) for i, j in texts.tolist()]
        out[tuple(texts.T)] = distances = self._text_distances(pairs, progress=progress)
        if mirrored:
            out[tuple(texts.T[::-1])] = distances
        if all(map(len, short)):
            sides = [left[i] for i in short[0]], [right[j] for j in short[1]]
            out[np.ix_(*short)] = of_sentences(*sides)
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
        query, corpus
            The sentence, or text, that all others are compared with, and these: sentences, texts,
            or with ``key`` documents of any kind. A match has the place of its document as
            ``index``.
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
        """Return rows of a corpus, nearest first, as matches, with similarities where far is known.

        ``sentence`` gives the text of a row, and ``unread`` the end of a text that was not read;
        None is that of this scorer.
        """
        scaled, rest = self.scaled(distances), unread or self.unread
        alike = [None] * len(rows) if scaled is None else scaled.tolist()
        return tuple(
            Match(row, text := sentence(row), distance, similarity, len(rest(text).split()))
            for row, distance, similarity in zip(
                rows.tolist(), distances.tolist(), alike, strict=True
            )
        )

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
        name, progress
            Name of the new column; whether to show progress bars.
        """
        from movers.io.frames import score_frame

        return score_frame(frame, {name: self}, source=source, target=target, progress=progress)

    # reasons

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
            first, repairs = repair(source, beside=target)
            second, others = repair(target, beside=source)
            comparison = self.compare(first, second)
            return replace(comparison, source_repairs=repairs, target_repairs=others)
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
        matched = self._match(*read, progress=progress)
        return TextComparison.of(matched, self.measure.name, self.signature)

    def _compare_sentences(self, source: str, target: str) -> Comparison:
        """Compare two sentences word by word."""
        judged = judged_beside(
            self, source, target
        )  # first, so that the sentences are encoded once
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

        The sentences are texts or lists of words, and the aligner is a row of
        `movers.align.aligners.ALIGNERS`.
        """
        pair = check_asked(source, "source"), check_asked(target, "target")
        return self.align_all([pair], aligner=aligner)[0]

    def align_all(
        self, pairs: Any, *, aligner: str = DEFAULT_ALIGNER, progress: bool = False
    ) -> list[Alignment]:
        """Link the words of every pair; see `align`.

        Pairs are 2-tuples of texts or of lists of words, or a data frame of texts.
        """
        given = read_pairs(pairs, check=check_words)
        return list(align_pairs(self.encoder, given, aligner=aligner, progress=progress))

    def explain(self, source: str, target: str, *, links: bool = False) -> Explanation:
        """Compare two sentences under every head of the model, not only those of the distance.

        Texts longer than the model reads are refused; ``links`` links the words too, as `align`
        does.

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
            compared = self.compare(source, target)
            return Explanation(compared, compared, linked)
        # All heads first, so that the sentences are encoded once.
        every = self.using(layers="all", heads="all").compare(source, target)
        chosen = self.compare(source, target)
        return Explanation(chosen, self.measure.under_every_head(every, chosen), linked)

    def contrast(self, source: str, target: str, other: str, *, links: bool = False) -> Contrast:
        """Hold a sentence against two others, and say which is nearer; ``links`` as in `explain`.

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

    # what is learned

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
        fit(self, check_sentences(sentences, "sentence"), origin, progress=progress)
        return self

    def save(self, path: str | Path) -> None:
        """Save the fitted statistics; ``movers.load(statistics=path)`` reads them.

        Of a judge, save what it learned; ``movers.load(judge=path)`` reads that.
        """
        measure = self.measure
        (measure.knowledge if isinstance(measure, Judge) else self.statistics).save(path)

    # judges

    def learn(
        self, pairs: Any, labels: Iterable[Any], *, report: bool = True, progress: bool = False
    ) -> Scorer:
        """Learn a judge from labelled pairs: a scorer whose distance is one minus a probability.

        Few labels are held near what is known without any: the judge "same", or this scorer's
        own if it is a judge already. The attribute ``report`` of what comes back has what
        cross-validation says of it; `save` keeps the judge.

        Parameters
        ----------
        pairs, labels
            Pairs of sentences, as in `distances`, and for each 1 if it says the same, 0 if not,
            which may be written yes and no or true and false; or grades, such as 0 to 5.
        report
            Whether to cross-validate, which fits some dozen times.
        progress
            Show progress bars.
        """
        given = read_pairs(pairs), read_labels(labels)
        return learn(self, *given, report=report, progress=progress)

    def evidence(self, pairs: Any, *, progress: bool = False) -> Floats:
        """Return numbers that a judge looks at, ``(pairs, columns)``, in the order of its names.

        What cannot be compared, for a side is empty, is refused.
        """
        return evidence(self, read_pairs(pairs), progress=progress)

    def probabilities(
        self, pairs: Any, targets: Iterable[str] | None = None, *, progress: bool = False
    ) -> Floats:
        """Return the probability that every pair says the same, ``(pairs,)``; of a judge alone.

        Takes what `distances` takes. A graded judge gives the grade as a share of its scale.

        Examples
        --------
        >>> import movers
        >>> judge = movers.load(judge="same")
        >>> swapped, passive = "a man bites a dog", "a man is bitten by a dog"
        >>> (judge.probabilities(["a dog bites a man"] * 2, [swapped, passive]) > 0.5).tolist()
        [False, True]
        """
        judge_in(self)  # refuses measures
        return np.asarray(1.0 - self.distances(pairs, targets, progress=progress))

    def suggest(self, pairs: Any, count: int = 50, *, labelled: Any = ()) -> list[int]:
        """Return numbers of the pairs whose labels would teach a judge most, the best first.

        Parameters
        ----------
        pairs, count
            Pairs to choose from, as in `distances`, and how many.
        labelled
            Pairs that the judge was learned from.
        """
        given, seen = self.evidence(pairs), self.evidence(labelled)
        return [*map(int, suggest(judge_in(self).knowledge, given, count, labelled=seen))]
