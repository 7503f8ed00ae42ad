"""The table of settings: everything a user can choose, told once.

`movers.load`, the options of the command line, the fields of requests over HTTP and the manifest
of an index are all made from the fields of `Settings`; a new field appears on each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, fields
from functools import cache
from math import isfinite
from numbers import Integral, Real
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

from movers.encode.encoder import Encoder
from movers.encode.engines import Engine
from movers.encode.stopwords import describe_stopwords, load_stopwords
from movers.encode.tokens import Recipe, Subwords, TokenRules
from movers.encode.whiten import WhiteningKind
from movers.errors import InputError, no_such
from movers.explain.compared import Signature
from movers.measures.base import Measure
from movers.measures.judge import Judge, find_judge
from movers.measures.parts.context import Context, Parser, load_parser
from movers.measures.parts.statistics import Statistics, load_statistics
from movers.measures.parts.structure import Selection, check_notation
from movers.measures.registry import find_measure
from movers.version import __version__

Empty = Literal["raise", "keep", "nan"]
Texts = Literal["auto", "whole", "sentences"]
WhiteningChoice = Literal["clean", "as-coded", "none"]
Value = TypeVar("Value")


@dataclass(frozen=True)
class HttpField:
    """The field of a request over HTTP that chooses a setting.

    ``kind`` is the type in a request, None that of the field, ``bounds`` the least and the greatest
    number, and ``help`` what the API says of it where that is not what all others say. ``control``
    is what its control on the page is called, if it has one, and ``options`` are values that this
    calls otherwise.
    """

    kind: Any = None
    bounds: tuple[float, float] | None = None
    help: str = ""
    control: str = ""
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SettingFacts:
    """All that is known of a setting: what users are told of it, and where they meet it.

    ``help`` says what it is on every surface, and ``python`` what holds in Python only. ``read``
    turns what users pass into what is kept, or refuses it; it takes its own results, too. ``typed``
    is its type on the command line, None that of the field, and ``http`` how requests choose it,
    None if that is left to whoever starts the server. ``write`` turns what is kept into what a
    manifest can hold and `read` understands; None where an index does not depend on it. ``varied``
    tells whether an evaluation tries several values, and so has a way of its own to name them, and
    ``of_model`` whether it settles which model is loaded, and so cannot be changed afterwards.
    ``unless`` is what the default measure has in place of the default.
    ``option`` is what the command line calls it where that is not its name.
    """

    help: str
    python: str = ""
    read: Callable[[Any], Any] | None = None
    typed: Any = None
    http: HttpField | None = None
    write: Callable[[Any], Any] | None = None
    varied: bool = False
    of_model: bool = False
    unless: str = ""
    option: str = ""


def setting(default: Value, help: str, python: str = "", **facts: Any) -> Value:
    """Return a field of `Settings`; `SettingFacts` explains the facts."""
    return field(default=default, metadata={"facts": SettingFacts(help, python, **facts)})


def itself(value: Value) -> Value:
    """Return the value as it is."""
    return value


def _share(mix: Any) -> Any:
    if not isinstance(mix, Real) or not 0.0 <= float(mix) <= 1.0:
        raise InputError(f"mix must lie between 0 and 1, got {mix!r}")
    return mix


def _price(null: Any) -> float | None:
    """Return the price of staying at home; None where it is infinite, for then nobody stays."""
    if null is None:
        return None
    if not isinstance(null, Real) or not float(null) >= 0.0:
        raise InputError(f"null must be a price of at least 0, or None, got {null!r}")
    return float(null) if isfinite(null) else None


def _layer(embedding: Any) -> Any:
    if not isinstance(embedding, Integral):
        raise InputError(f"embedding must be a whole number, got {embedding!r}")
    return embedding


def _of(what: str) -> Callable[[Selection | None], Selection | None]:
    """Return what refuses a choice of layers or heads that cannot be read."""

    def read(choice: Selection | None) -> Selection | None:
        check_notation(choice, what)
        return choice

    return read


def _threads(threads: Any) -> int | None:
    if threads is None:
        return None
    if not isinstance(threads, Integral) or threads < 1:
        raise InputError(
            f"threads must be a whole number of at least 1, got {threads!r}; "
            "left out, there is one per processor"
        )
    return int(threads)


@dataclass(frozen=True)
class Settings:
    """All choices behind a distance, read and checked when they are made.

    Fields are typed as users pass them; the properties give what is made of them.
    """

    method: str | Measure = setting(
        "movers",
        "A row of the table of methods: movers, wmd, wrd, smd, wsmd, …",
        read=find_measure,
        typed=str,
        write=attrgetter("name"),
    )
    model: str | Path | None = setting(
        None,
        "Hugging Face name or folder of an encoder. Default: the model installed with movers.",
        typed=str | None,
        write=itself,
        of_model=True,
    )
    _: KW_ONLY
    embedding: int = setting(
        -1,
        "Layer of the word vectors: 0 is the input layer, -1 the last.",
        read=_layer,
        http=HttpField(bounds=(-200, 200), control="Word vectors"),
        write=itself,
        varied=True,
        unless="the middle layer",
    )
    layers: Selection | None = setting(
        None,
        'Attention layers from 1: "5", "5-12", "all", or "BV" for those that attention variability '
        "picks. Default: the best known for the model, for movers the middle two thirds.",
        "A number or numbers will do as well.",
        read=_of("layer"),
        typed=str | None,
        http=HttpField(control="Layers"),
        write=itself,
        varied=True,
    )
    heads: Selection = setting(
        "all",
        'Heads within each layer, in the same notation: "3", "1-4", "all".',
        read=_of("head"),
        typed=str,
        http=HttpField(control="Heads"),
        write=itself,
        varied=True,
    )
    mix: float = setting(
        0.5,
        "Share of structure in the distance, the paper's lambda, from 0 to 1.",
        read=_share,
        http=HttpField(bounds=(0, 1), control="Structure"),
        write=float,
        varied=True,
        unless="none",
    )
    null: float | None = setting(
        None,
        "Price for which words may match nothing, in mean costs of the pair: 1 is what it costs to "
        "go anywhere. Default: all words match, as in the papers.",
        "For measures of words, structure or both; None moves everything.",
        read=_price,
        http=HttpField(bounds=(0, 1e9)),
        write=itself,
    )
    recipe: Recipe = setting(
        "paper",
        '"paper": as the paper defines it. "reference": as its published numbers were computed.',
        "These have attention not re-normalised over the words compared, and the factor k averaged "
        "over all tokens.",
        http=HttpField(
            control="Recipe", options={"paper": "as in the paper", "reference": "as in its code"}
        ),
        write=itself,
        varied=True,
    )
    whitening: WhiteningChoice | None = setting(
        None,
        'What fitting makes of word vectors: "clean" drops noise directions, "as-coded" keeps them '
        'as the published code does, "none" leaves vectors alone. Default: clean (paper), as-coded '
        "(reference).",
        http=HttpField(help="What is done to word vectors; null for what the statistics have."),
        write=itself,
    )
    stopwords: str | Path | Iterable[str] | None = setting(
        "english",
        'Words to leave out: "english", "none", or a file with one word per line.',
        "The words themselves, or None to keep every word and punctuation.",
        read=load_stopwords,
        typed=str,
        http=HttpField(
            Literal["english", "none"],
            help="Words to leave out of the comparison.",
            control="Stop words",
            options={"english": "dropped", "none": "kept"},
        ),
        write=lambda words: None if words is None else sorted(words),
        unless="punctuation alone",
    )
    subwords: Subwords = setting(
        "first",
        "What stands for a word of several pieces: the first, or their mean.",
        http=HttpField(),
        write=itself,
    )
    empty: Empty | None = setting(
        None,
        "Pairs without a proper distance, for a side has no words left: raise an error, keep the "
        "stop words where there is nothing else, or give nan.",
        "None raises in `Scorer.compare` and gives NaN with a warning elsewhere.",
        http=HttpField(help="Pairs without a proper distance: an error, what there is, or null."),
        write=itself,
        varied=True,
    )
    texts: Texts = setting(
        "auto",
        'Texts longer than the model reads: "auto" compares a pair with one of them sentence by '
        'sentence, "sentences" every pair, and "whole" none: what the model does not read is then '
        "left out, and told.",
        "`movers.documents` says how; measures that cannot do it leave out and tell, too.",
        http=HttpField(),
        write=itself,
    )
    statistics: str | Path | Statistics | None = setting(
        None,
        "File of fitted statistics, made by `movers fit`. Default: those shipped with the model.",
        "Or the statistics themselves; `Scorer.save` writes files, too.",
        read=load_statistics,
        typed=Path | None,
        varied=True,
    )
    device: str = setting("auto", '"auto", "cuda", "mps" or "cpu".', of_model=True)
    dtype: str = setting(
        "float32",
        '"float32", or "bfloat16": half the time, less exact; on a GPU also "float16".',
        write=itself,
        of_model=True,
    )
    engine: Engine = setting(
        "auto",
        'What runs the model: "light" (onnxruntime) the embedded one on a processor, "torch" any '
        'on any device. "auto" takes the light one where it can.',
        option="model-engine",
        of_model=True,
    )
    threads: int | None = setting(
        None,
        "Threads of the solver and the measures; none changes a result. Default: one per "
        "processor.",
        "A process forked from this one has one thread for the model; spawn it for more.",
        read=_threads,
    )
    frequencies: str | Path | None = setting(
        None,
        'File with "word count" on each line, for sif weights and, unless fitted, for '
        "idf. Default: English word frequencies of the wordfreq package.",
        typed=Path | None,
        write=lambda path: None if path is None else str(path),
    )
    judge: str | Path | Judge | None = setting(
        None,
        'A judge in place of the measure: "same", which comes with the package, or a file made by '
        "`movers learn`. The distance is one minus the probability of saying the same.",
        "Or the judge itself.",
        read=find_judge,
        typed=str | None,
    )
    parser: str | Path | Parser | Iterable[str | Path] | None = setting(
        None,
        'Dependency trees for measures of syntax: "spacy:NAME", "stanza:en" or "conllu:PATH".',
        "Paths of CoNLL-U files, a loaded spaCy pipeline, or an object with ``parse(sentences)``.",
        read=load_parser,
        typed=str | None,
    )

    def __post_init__(self) -> None:
        for name, facts in table(type(self)).items():
            value = getattr(self, name)
            if facts.read is not None:
                object.__setattr__(self, name, facts.read(value))
            if (choices := choices_of(types(type(self))[name])) and value not in choices:
                raise InputError(f"{name} must be one of {choices}, got {value!r}")

    @property
    def measure(self) -> Measure:
        """The judge, or else the measure that method and recipe pick."""
        judge = cast("Judge | None", self.judge)
        return judge or cast(Measure, self.method).under(self.recipe)

    @property
    def fitted(self) -> Statistics | None:
        """Statistics that were named; None for those of the model."""
        return cast("Statistics | None", self.statistics)

    @property
    def rules(self) -> TokenRules:
        """Which words are compared."""
        return self.measure.token_rules(
            cast("frozenset[str] | None", self.stopwords),
            self.recipe,
            self.subwords,
            keep=self.empty == "keep",
        )

    def context(
        self,
        encoder: Encoder,
        statistics: Statistics | Callable[[], Statistics],
        warned: set[int],
    ) -> Context:
        """Return what a measure is bound to: a model, its statistics and these settings."""
        names = ("recipe", "embedding", "layers", "heads", "null", "whitening", "frequencies")
        return Context(
            encoder,
            statistics,
            self.rules,
            mix=float(self.mix),
            parser=cast("Parser | None", self.parser),
            threads=self.threads,
            warned=warned,
            **{name: getattr(self, name) for name in names},
        )

    def signature(
        self, encoder: Encoder, measured: Mapping[str, str], far: float | None
    ) -> Signature:
        """Return all settings that change a number, with what the measure adds and its scale."""
        fields = {
            "movers": __version__,
            "method": self.measure.name,
            "model": f"{Path(encoder.name).name}@{encoder.fingerprint}",
            **measured,
            "recipe": self.recipe,
            "stopwords": describe_stopwords(self.rules.stopwords),
            "subwords": self.subwords,
            "dtype": encoder.dtype,
            "engine": encoder.engine,
            "empty": "keep" if self.empty == "keep" else "",
            "texts": "" if self.texts == "auto" else self.texts,
            "scale": "" if far is None else f"{far:.4g}",
        }
        return Signature(tuple((name, value) for name, value in fields.items() if value))

    @property
    def by_variability(self) -> bool:
        """Whether attention variability picks the layers."""
        return isinstance(self.layers, str) and self.layers.upper() == "BV"

    @property
    def whitening_to_fit(self) -> WhiteningKind | None:
        """The kind of whitening a fit makes: the recipe's own unless one was named."""
        if self.whitening is None:
            return "clean" if self.recipe == "paper" else "as-coded"
        return None if self.whitening == "none" else self.whitening


def table(kind: type[Settings] = Settings) -> dict[str, SettingFacts]:
    """Return what is known of every setting, in the order of `movers.load`."""
    return {one.name: one.metadata["facts"] for one in fields(kind)}


def check_names(names: Iterable[str], kind: type[Settings] = Settings) -> None:
    """Refuse names of settings that there are none of."""
    known = table(kind)
    for name in names:
        if name not in known:
            raise TypeError(no_such("setting", name, known))


def types(kind: type[Settings] = Settings) -> dict[str, Any]:
    """Return the type of every setting, as users pass it."""
    return _types(cast(Hashable, kind))


@cache
def _types(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {name: hints[name] for name in table(kind)}


def choices_of(hint: Any) -> tuple[Any, ...]:
    """Return the values of a type, if they can be listed; None is the last where it is one."""
    for part in (hint, *get_args(hint)):
        if get_origin(part) is Literal:
            return (*get_args(part), *([None] if part is not hint else []))
    return ()


def defaults(kind: type[Settings] = Settings) -> dict[str, Any]:
    """Return what every setting is where nobody chooses."""
    return {one.name: one.default for one in fields(kind)}
