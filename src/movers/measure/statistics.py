"""Everything fitted on sentences: frozen, saved and loaded as one safetensors file."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from movers.atomic import replacing
from movers.encode.whiten import Whitening
from movers.errors import InputError
from movers.measure.idf import DocumentFrequency

FORMAT = "movers-statistics-1"


@dataclass(frozen=True)
class Statistics:
    """Frozen statistics of one model.

    Parameters
    ----------
    fingerprint
        Hash of the model they belong to.
    origin
        What they were fitted on, in words.
    whitening
        Whitening by embedding layer.
    idf
        Inverse document frequencies.
    variability
        BV_A of every head, shape ``(layers, heads)``.
    """

    fingerprint: str
    origin: str = ""
    whitening: dict[int, Whitening] = field(default_factory=dict)
    idf: DocumentFrequency | None = None
    variability: NDArray[np.float64] | None = None

    @cached_property
    def digest(self) -> str:
        """Eight hex digits that pin the content."""
        total = sha256()
        for name, array in sorted(self._tensors().items()):
            total.update(name.encode() + np.ascontiguousarray(array).tobytes())
        if self.idf is not None:
            total.update(json.dumps([self.idf.recipe, *self.idf.values]).encode())
        return total.hexdigest()[:8]

    def save(self, path: str | Path) -> None:
        """Write to a safetensors file, whole or not at all."""
        from safetensors.numpy import save_file

        header = {
            "format": FORMAT,
            "fingerprint": self.fingerprint,
            "origin": self.origin,
            "whitening": json.dumps(
                {layer: [white.kind, white.tokens] for layer, white in self.whitening.items()}
            ),
        }
        if self.idf is not None:
            header["idf"] = json.dumps([self.idf.recipe, list(self.idf.values)])
        tensors = {name: _compact(array) for name, array in self._tensors().items()}
        with replacing(Path(path)) as temporary:
            save_file(tensors, temporary, metadata=header)

    @classmethod
    def load(cls, path: str | Path) -> Statistics:
        """Read what `save` wrote."""
        from safetensors import SafetensorError, safe_open

        if not Path(path).is_file():
            raise InputError(f"statistics file {str(path)!r} does not exist")
        try:
            with safe_open(path, framework="numpy") as stream:
                header: dict[str, str] = stream.metadata() or {}
                tensors = {name: stream.get_tensor(name) for name in stream.keys()}  # noqa: SIM118
        except SafetensorError as error:
            raise InputError(f"{str(path)!r} is not a statistics file: {error}") from error
        if header.get("format") != FORMAT:
            raise InputError(
                f"{str(path)!r} has format {header.get('format')!r}, expected {FORMAT!r}; "
                "fit and save again"
            )
        try:
            return cls._from_tensors(header, tensors)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{str(path)!r} is damaged ({error}); fit and save again") from error

    @classmethod
    def shipped(cls, name: str) -> Statistics | None:
        """The statistics that come with the package for a model, if any."""
        resource = files("movers").joinpath("data", f"{name}.safetensors")
        if not resource.is_file():
            return None
        with as_file(resource) as path:
            return cls.load(path)

    def _tensors(self) -> dict[str, NDArray[Any]]:
        tensors: dict[str, NDArray[Any]] = {}
        for layer, white in self.whitening.items():
            tensors[f"whitening.{layer}.mean"] = white.mean
            tensors[f"whitening.{layer}.matrix"] = np.ascontiguousarray(white.matrix)
        if self.idf is not None:
            tensors["idf.values"] = np.array([*self.idf.values.values(), self.idf.missing])
        if self.variability is not None:
            tensors["variability"] = np.ascontiguousarray(self.variability)
        return tensors

    @classmethod
    def _from_tensors(cls, header: dict[str, str], tensors: dict[str, NDArray[Any]]) -> Statistics:
        whitening = {
            int(layer): Whitening(
                tensors[f"whitening.{layer}.mean"].astype(np.float64),
                tensors[f"whitening.{layer}.matrix"].astype(np.float64),
                kind,
                tokens,
            )
            for layer, (kind, tokens) in json.loads(header["whitening"]).items()
        }
        idf = None
        if "idf" in header:
            recipe, words = json.loads(header["idf"])
            values = tensors["idf.values"].astype(np.float64).tolist()
            idf = DocumentFrequency(dict(zip(words, values[:-1], strict=True)), values[-1], recipe)
        variability = tensors.get("variability")
        return cls(
            header["fingerprint"],
            header["origin"],
            whitening,
            idf,
            None if variability is None else variability.astype(np.float64),
        )


def _compact(array: NDArray[Any]) -> NDArray[Any]:
    """The array in single precision if that loses nothing."""
    single = array.astype(np.float32)
    return single if np.array_equal(single, array) else array
