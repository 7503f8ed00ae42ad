"""Settings and argument types that commands share."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, make_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from movers.cli.parameters import Parameter, Section
from movers.errors import InputError
from movers.settings import SettingFacts, Settings, defaults, table, types

if TYPE_CHECKING:
    from movers.integrations.ray import Workers
    from movers.scorer import Scorer

SEVERAL = {"model", "statistics"}
"""Settings of which a server takes several."""
NOT_SERVED = {*SEVERAL, "judge"}
"""Settings that are no option of a server; a judge that ships is a method of requests."""
SETTINGS = Section("Settings", "What the number depends on; the signature names all of it.")


class SettingOptions:
    """Options made from the table of settings, as a frozen dataclass of their names."""

    section: ClassVar = SETTINGS
    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def load(self, method: str) -> Scorer:
        """Make the scorer these options describe."""
        from movers.loading import load

        return load(method, **vars(self))

    def but(self, **changes: Any) -> Self:
        """Return the same with other values."""
        return type(self)(**{**vars(self), **changes})


def offering(settings: Mapping[str, SettingFacts], known: type[Settings] = Settings) -> Any:
    """Give a class one option for each of some settings."""

    def offer(options: type[SettingOptions]) -> Any:
        hints, values = types(known), defaults(known)
        fields = []
        for name, facts in settings.items():
            named = f"--{facts.option}" if facts.option else None
            shown = f"{values[name]}; for movers: {facts.unless}" if facts.unless else None
            parameter = Parameter(name=named, help=facts.help, show_default=shown)
            kind: Any = Annotated[facts.typed or hints[name], parameter]
            fields.append((name, kind, values[name]))
        space = {"__doc__": options.__doc__, "__module__": options.__module__}
        bases = (options,)
        return make_dataclass(options.__name__, fields, bases=bases, namespace=space, frozen=True)

    return offer


OFFERED = {name: facts for name, facts in table().items() if name != "method"}
"""Settings that commands take; the measure has a place of its own in each of them."""


@offering({name: facts for name, facts in OFFERED.items() if not facts.varied})
class ModelOptions(SettingOptions):
    """Settings of all commands that run a model."""


@offering(OFFERED)
class Options(ModelOptions):
    """Settings of commands that compute distances under one set of choices."""


@offering(
    {name: facts for name, facts in OFFERED.items() if name not in NOT_SERVED and not facts.http}
)
class ServerOptions(SettingOptions):
    """Settings that are the server's, not a request's, to choose."""


DEFAULTS = Options()
MODEL_DEFAULTS = ModelOptions()
SERVER_DEFAULTS = ServerOptions()
Engine = Literal["local", "ray"]


@dataclass(frozen=True)
class RayOptions:
    """Options of the Ray engine.

    Parameters
    ----------
    address
        A running cluster, HOST:PORT or "auto". Default: start Ray on this machine.
    workers
        Most worker processes. Default: as many as there is room for.
    cpus_per_worker
        Processors of each worker.
    gpus_per_worker
        GPUs of each worker.
    """

    section: ClassVar = Section("Ray", "Where --engine ray works; none of it changes a number.")
    address: str | None = None
    workers: int | None = None
    cpus_per_worker: float = 1
    gpus_per_worker: float = 0

    def pool(self) -> Workers:
        """Return the workers these options ask for."""
        from movers.integrations.ray import Workers

        return Workers(self.workers, self.cpus_per_worker, self.gpus_per_worker)

    def where(self, *, quiet: bool) -> dict[str, Any]:
        """Return workers, cluster, and whether bars are shown, which need a terminal."""
        bars = not quiet and sys.stderr.isatty()
        return {"workers": self.pool(), "address": self.address, "progress": bars}

    def refuse(self) -> None:
        """Refuse options that only the Ray engine has."""
        for name, value in vars(self).items():
            if value != getattr(RAY_DEFAULTS, name):
                raise InputError(f"--{name.replace('_', '-')} needs --engine ray")


def in_a_folder(output: Path) -> None:
    """Refuse an output whose folder is not there, before any work is done for it."""
    if not output.parent.is_dir():
        raise InputError(f"there is no folder {str(output.parent)!r}; make it first")


def some(count: int) -> None:
    """Refuse to look for nothing."""
    if count < 1:
        raise InputError("Must be >= 1.")


RAY_DEFAULTS = RayOptions()
Sentence = Annotated[str, Parameter(allow_leading_hyphen=True)]
FirstSentence = Annotated[Sentence, Parameter(help="The first sentence.")]
SecondSentence = Annotated[Sentence, Parameter(help="The second sentence.")]
Query = Annotated[Sentence, Parameter(help="A sentence.")]
Input = Annotated[Path, Parameter(allow_leading_hyphen=True)]
Json = Annotated[bool, Parameter(help="Print as JSON.")]
Quiet = Annotated[bool, Parameter(help="Say nothing but warnings and errors.")]
Written = Annotated[Path, Parameter(validator=in_a_folder)]
Target = Annotated[Written, Parameter(name=["--output", "-o"])]
Out = Annotated[Target, Parameter(allow_leading_hyphen=True)]
TopK = Annotated[int, Parameter(name=["--top-k", "-k"], validator=some)]
Methods = Annotated[str, Parameter(name=["--methods", "--method"])]
Measure = Annotated[str, Parameter(help="The measure; `movers methods` lists them.")]
Model = Annotated[str | None, Parameter(help=table()["model"].help)]
Device = Annotated[str, Parameter(help=table()["device"].help)]
Dtype = Annotated[str, Parameter(help=table()["dtype"].help)]
FIRST = "Column of the first sentence. Default: source, sentence1 and the like, or the only two."
First = Annotated[str | None, Parameter(help=FIRST)]
Second = Annotated[str | None, Parameter(help="Column of the second sentence.")]
GOLD = "Column of the label (0 and 1, yes and no) or grade. Default: label, score and the like."
Gold = Annotated[str | None, Parameter(help=GOLD)]
COLUMN = (
    "Column of a table that holds the sentences. Default: sentence, text and the like, or the "
    "only one."
)
Column = Annotated[str | None, Parameter(help=COLUMN)]
FORMAT = "if its name does not tell"
FORMATS = "tsv, csv, jsonl, parquet, arrow."
DELIMITER = "What is between cells of a CSV. Default: comma, semicolon or tab, as in its header."
Delimiter = Annotated[str | None, Parameter(help=DELIMITER, allow_leading_hyphen=True)]
TextFormat = Annotated[str | None, Parameter(help=f"Format of the file {FORMAT}: lines, {FORMATS}")]
TableFormat = Annotated[str | None, Parameter(help=f"Format of the input {FORMAT}: {FORMATS}")]
RESUME = "Go on behind the rows that a run broken off has left beside the output."
Resume = Annotated[bool, Parameter(help=RESUME)]
BATCH = "Most sentences the model reads at once. Default: as many as suit the device."
Guards = Annotated[str, Parameter(name="--guard")]
STRICT = "End with status 3 if the model did not read a text to its end."
Strict = Annotated[bool, Parameter(help=STRICT)]
LEAST = "With --judge: the probability of saying the same that it must find at least."
AtLeast = Annotated[float, Parameter(help=LEAST)]
BatchSize = Annotated[int | None, Parameter(help=BATCH)]


def format_with(format: str | None, delimiter: str | None) -> str | None:
    """Return the format of a table whose cells a delimiter separates."""
    if delimiter is None:
        return format
    if len(delimiter) != 1:
        raise InputError(f"--delimiter is one character, got {delimiter!r}")
    if format not in (None, "csv"):
        raise InputError(f"--delimiter is for CSV, not for --format {format}")
    return f"csv:{delimiter}"


def guard_names(guards: str) -> tuple[str, ...]:
    """Return the names of guards in a list separated by commas; none for "none"."""
    from movers.difference.guards import check_guards

    names = [name.strip() for name in guards.split(",") if name.strip()]
    return check_guards([] if names == ["none"] else names)


def method_names(methods: str) -> list[str]:
    """Return the names in a list separated by commas."""
    names = [name.strip() for name in methods.split(",") if name.strip()]
    if not names or len(set(names)) < len(names):
        raise InputError(f"--methods needs distinct names separated by commas, got {methods!r}")
    return names


def make_scorers(methods: str, options: Options) -> dict[str, Scorer]:
    """Return one scorer per measure, by name, all sharing one model."""
    first, *others = method_names(methods)
    scorer = options.load(first)
    return {first: scorer, **{name: scorer.using(name) for name in others}}
