"""The one object most users need: sentences in, distances and their reasons out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from movers.align.aligners import DEFAULT as DEFAULT_ALIGNER
from movers.align.aligning import align_pairs
from movers.align.reading import Given
from movers.align.results import Alignment
from movers.arrays import Floats, Ints
from movers.difference.kinds import Difference
from movers.difference.misspelt import Spelling, repair
from movers.errors import Choose, Do, InputError
from movers.explain.compared import Home, Signature
from movers.explain.contrast import Contrast
from movers.explain.curve import STEPS, mix_curve, mixes_of
from movers.explain.explanation import Explanation
from movers.io.pairs import check_sentence, check_sentences, check_words, read_pairs
from movers.measure.measured import Bags
from movers.results import Comparison, HeadValue, Match, Ranking
from movers.scale import similarity_of
from movers.session import blocks
from movers.session.fitting import fit_session
from movers.session.session import Session
from movers.session.signature import scale_key, sign
from movers.settings import check_names, table
from movers.solve.solution import Many, joined, pick


class Scorer(Session):
    """Distances between sentences under one method, one model and one set of statistics.

    Make one with `movers.load`. The model is loaded on first use; the sentences of a call are
    kept for the next, also for scorers made from this one by `using`.
    """

    def __repr__(self) -> str:
        unloaded = f"{self.method.name}, model not loaded yet"
        return f"Scorer({self.signature if 'encoder' in vars(self) else unloaded})"

    @property
    def signature(self) -> Signature:
        """All settings that change a number."""
        return sign(self, self.far)

    @property
    def far(self) -> float | None:
        """Distance of unrelated sentences, where similarity is 0; None if not measured yet."""
        fitted = self.statistics.arrays.get(scale_key(self))
        if fitted is not None:
            return float(fitted[0])
        return self.encoder.chance if self.method.needs_pooled else None

    def scaled(self, distances: Floats) -> Floats | None:
        """Similarities that distances stand for; None if what is far has not been measured."""
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
            changes["method"] = method
        changes = {"statistics": self._statistics, "threads": self.threads, **changes}
        other = Scorer(replace(self.settings, **changes), self._source)
        other.follow(self)
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
        fit_session(self, check_sentences(sentences, "sentence"), origin, progress=progress)
        return self

    def save(self, path: str | Path) -> None:
        """Save the fitted statistics; ``movers.load(statistics=path)`` reads them."""
        self.statistics.save(path)

    def compare(self, source: str, target: str, *, spelling: Spelling = "keep") -> Comparison:
        """Compare two sentences, with differences, plan, alignment and values head by head.

        Parameters
        ----------
        source, target
            The sentences.
        spelling
            "repair" compares them with their typing errors mended, and names these.
        """
        check_sentence(source, "source")
        check_sentence(target, "target")
        if spelling == "repair":
            first, second = repair(source, beside=target), repair(target, beside=source)
            found = self.compare(first.text, second.text)
            return replace(found, source_repairs=first.repairs, target_repairs=second.repairs)
        if spelling != "keep":
            raise InputError(f"spelling must be 'keep' or 'repair', got {spelling!r}")
        measured = self._encoded([source, target])
        rows = measured.encodings.rows
        pair = np.array([[rows[source], rows[target]]])
        ((_, solved),) = blocks.solved_by_chunk(self, measured, pair, plans=True)
        values = blocks.settle(self, solved, measured, pair, "raise")
        shape = solved.shapes[0]
        plans = solved.values.plan.reshape(values.shape[1], *shape)
        home = None
        if solved.homes is not None:
            home = Home(solved.homes[0], *(measured.weights[row] for row in pair[0]))
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
            plans=plans,
            cost=solved.costs.data.reshape(shape) if self.method.cost else np.zeros((0, 0)),
            heads=tuple(
                HeadValue.of(layer, head, pick(solved.values, 0, k, plans[k]), solved.scales[0, k])
                for k, (layer, head) in enumerate(self.heads)
            ),
            signature=self.signature,
            source_spans=measured.encodings.places(rows[source]),
            target_spans=measured.encodings.places(rows[target]),
            source_attention=measured.encodings.attention(rows[source], len(self.heads)),
            target_attention=measured.encodings.attention(rows[target], len(self.heads)),
            sentence=0.0 if solved.sentence is None else float(solved.sentence[0]),
            gate=1.0 if solved.gate is None else float(solved.gate[0]),
            far=self.far,
            source_unread=self.encoder.unread(source),
            target_unread=self.encoder.unread(target),
            home=home,
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
        return self.align_all([(source, target)], aligner=aligner)[0]

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

        With ``links``, also link their words as `align` does.

        Examples
        --------
        >>> import movers
        >>> found = movers.load("wsmd").explain("a dog bites a man", "a man bites a dog")
        >>> len(found.every.heads), len(found.selected)
        (72, 12)
        """
        linked = self.align(source, target).to_dict() if links else None
        if not self.heads:
            found = self.compare(source, target)
            return Explanation(found, found, linked)
        # All heads first, so that the sentences are encoded once.
        every = self.using(layers="all", heads="all").compare(source, target)
        found = self.compare(source, target)
        if self.method.needs_pooled:
            every = every.priced_like(found)
        return Explanation(found, every, linked)

    def contrast(self, source: str, target: str, other: str, *, links: bool = False) -> Contrast:
        """Hold a sentence against two others; see `explain`.

        Examples
        --------
        >>> import movers
        >>> press = "the press greets the president", "the president is welcomed by the press"
        >>> print(movers.load().contrast(*press, "the president greets the press").verdict)
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
        if "mix" not in self.method.settings:
            raise InputError(
                f"{self.method.name} has no mix of words and structure", Choose("method", "wsmd")
            )
        mixed = (self.using(mix=mix) for mix in mixes_of(steps))
        return mix_curve([scorer.compare(source, target) for scorer in mixed])

    def similarities(
        self, pairs: Any, targets: Iterable[str] | None = None, *, progress: bool = False
    ) -> Floats:
        """Similarity of every pair, from 0 (unrelated) to 1 (the same), shape ``(pairs,)``.

        Parameters
        ----------
        pairs, targets, progress
            As in `distances`.
        """
        if self.far is None:
            raise InputError(
                f"what unrelated sentences are apart under {self.method.name} has not been "
                "measured",
                Do("fit"),
                Choose("method", "movers", ", which knows it"),
            )
        return similarity_of(self.distances(pairs, targets, progress=progress), self.far)

    def distances(
        self, pairs: Any, targets: Iterable[str] | None = None, *, progress: bool = False
    ) -> Floats:
        """Distance of every pair, shape ``(pairs,)``.

        Parameters
        ----------
        pairs
            Pairs of sentences: 2-tuples, or a data frame with two columns. With targets, the
            sources.
        targets
            The second sentence of every pair, in the order of the sources.
        progress
            Show progress bars.
        """
        texts = read_pairs(pairs, targets)
        return blocks.fill_distances(self, np.zeros(len(texts)), texts, progress=progress)

    def head_values(self, pairs: Any, *, progress: bool = False) -> Floats:
        """Distance of every pair under every head, shape ``(pairs, heads)``.

        Measures without structure have one column.
        """
        texts = read_pairs(pairs)
        return blocks.fill_distances(
            self, blocks.room_for(self, len(texts)), texts, progress=progress
        )

    def parts(self, pairs: Any) -> Many:
        """Distance of every pair under every head, with its parts, as they come.

        Nothing is done about pairs without a proper distance.
        """
        found = (
            solved.values
            for _, measured, rows in blocks.read_blocks(self, read_pairs(pairs))
            for _, solved in blocks.solved_by_chunk(self, measured, rows)
        )
        return joined(found, max(1, len(self.heads)))

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
        blocks.fill_matrix(self, out, left, right, mirrored=mirrored, progress=progress)
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

    def solve(self, bags: Bags, rows: Ints) -> Floats:
        """Distance of pairs of measured sentences under every head, ``(pairs, heads)``."""
        return blocks.solve_all(self, bags, rows)


def _unless_nan(values: Floats, part: Floats) -> float:
    """The mean of a part, or NaN where there is no distance."""
    return float("nan") if np.isnan(values).any() else float(part.mean())
