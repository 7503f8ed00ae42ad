"""Settings and argument types that commands share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Group, Parameter

from movers.errors import InputError

if TYPE_CHECKING:
    from movers.integrations.ray import Workers
    from movers.scorer import Scorer

SETTINGS = Group("Settings", help="What the number depends on; the signature names all of it.")


@Parameter(name="*", group=SETTINGS)
@dataclass(frozen=True)
class ModelOptions:
    """Settings of all commands that run a model.

    Parameters
    ----------
    model
        Hugging Face name or folder of an encoder. Default: the model installed with movers.
    whitening
        What fitting makes of the vectors. Default: clean (paper), as-coded (reference).
    stopwords
        "english", "none", or a file with one word per line.
    subwords
        How the pieces of a word become one vector.
    device
        "auto", "cuda", "mps" or "cpu".
    dtype
        "float32"; on a GPU also "bfloat16" or "float16".
    threads
        Threads of the solver. Default: one per processor.
    frequencies
        File with "word count" on each line, for sif, usif and idf. Default: the wordfreq package.
    parser
        Dependency trees for measures of syntax: "spacy:NAME", "stanza:en" or "conllu:PATH".
    """

    model: str | None = None
    whitening: Literal["clean", "as-coded", "none"] | None = None
    stopwords: str = "english"
    subwords: Literal["first", "mean"] = "first"
    device: str = "auto"
    dtype: str = "float32"
    threads: int | None = None
    frequencies: Path | None = None
    parser: str | None = None

    def load(self, method: str) -> Scorer:
        """Make the scorer these options describe."""
        from movers.loading import load

        settings = dict(vars(self))
        if self.stopwords == "none":
            settings["stopwords"] = None
        return load(method, settings.pop("model"), **settings)


@Parameter(name="*", group=SETTINGS)
@dataclass(frozen=True)
class Options(ModelOptions):
    """Settings of commands that compute distances under one set of choices.

    Parameters
    ----------
    embedding
        Layer of the word vectors: 0 is the input layer, -1 the last.
    layers
        Attention layers from 1: "5", "5-12", "all", "BV". Default: the best known for the model.
    heads
        Heads within each layer: "3", "1-4", "all".
    mix
        Share of structure, the paper's lambda, from 0 to 1.
    null
        Price for which words may match nothing, in mean costs of the pair. Default: all match.
    recipe
        "paper": as the paper defines it. "reference": as its published numbers were computed.
    empty
        Pairs without a proper distance: raise an error, keep what there is, or give nan.
    statistics
        File of fitted statistics, made by `movers fit`. Default: those shipped with the model.
    """

    embedding: int = -1
    layers: str | None = None
    heads: str = "all"
    mix: float = 0.5
    null: float | None = None
    recipe: Literal["paper", "reference"] = "paper"
    empty: Literal["raise", "keep", "nan"] | None = None
    statistics: Path | None = None


DEFAULTS = Options()
MODEL_DEFAULTS = ModelOptions()
RAY = Group("Ray", help="Where --engine ray works; none of it changes a number.")
Engine = Literal["local", "ray"]


@Parameter(name="*", group=RAY)
@dataclass(frozen=True)
class RayOptions:
    """Where the Ray engine works.

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

    address: str | None = None
    workers: int | None = None
    cpus_per_worker: float = 1
    gpus_per_worker: float = 0

    def pool(self) -> Workers:
        """The workers these options ask for."""
        from movers.integrations.ray import Workers

        return Workers(self.workers, self.cpus_per_worker, self.gpus_per_worker)

    def refuse(self) -> None:
        """Refuse options that only the Ray engine has."""
        for name, value in vars(self).items():
            if value != getattr(RAY_DEFAULTS, name):
                raise InputError(f"--{name.replace('_', '-')} needs --engine ray")


RAY_DEFAULTS = RayOptions()
Sentence = Annotated[str, Parameter(allow_leading_hyphen=True)]
Input = Annotated[Path, Parameter(allow_leading_hyphen=True)]
Json = Annotated[bool, Parameter(negative="")]
Out = Annotated[Path, Parameter(name=["--output", "-o"], allow_leading_hyphen=True)]
Methods = Annotated[str, Parameter(name=["--methods", "--method"])]


def method_names(methods: str) -> list[str]:
    """The names in a list separated by commas."""
    names = [name.strip() for name in methods.split(",") if name.strip()]
    if not names or len(set(names)) < len(names):
        raise InputError(f"--methods needs distinct names separated by commas, got {methods!r}")
    return names


def make_scorers(methods: str, options: Options) -> list[Scorer]:
    """One scorer per measure, all sharing one model."""
    first, *others = method_names(methods)
    scorer = options.load(first)
    return [scorer, *(scorer.using(name) for name in others)]
