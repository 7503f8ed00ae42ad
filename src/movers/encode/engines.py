"""What runs a model: onnxruntime the embedded one on a processor, torch any on any device."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from movers.encode.encoder import Encoder
from movers.encode.light import LightEncoder
from movers.encode.models import EMBEDDED, check_device, pick_device
from movers.encode.transformer import TransformerEncoder
from movers.errors import Choose, InputError, missing

Engine = Literal["auto", "light", "torch"]
GPU_FILES = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg", r"C:\Windows\System32\nvcuda.dll")
"""One of these is there where torch may find a GPU: NVIDIA's, AMD's, either under Windows."""


def make_encoder(
    model: str | Path | None, device: str, dtype: str, engine: Engine = "auto"
) -> Encoder:
    """Load a model into the engine that was asked for, or that suits model, device and type."""
    kind = pick_engine(model, device, dtype) if engine == "auto" else engine
    return ENGINES[kind](model, device, dtype)


def pick_engine(model: str | Path | None, device: str, dtype: str) -> Engine:
    """Return the light engine for the embedded model on a processor, torch for everything else."""
    if model not in (None, EMBEDDED) or dtype != "float32":
        return "torch"
    if device == "auto":
        return "torch" if may_have_gpu() and pick_device(device) != "cpu" else "light"
    return "light" if device == "cpu" else "torch"


def may_have_gpu() -> bool:
    """Tell whether it is worth to load torch, which takes seconds, and ask it for a GPU."""
    if find_spec("torch") is None:
        return False
    return sys.platform == "darwin" or any(map(os.path.exists, GPU_FILES))


def _light(model: str | Path | None, device: str, dtype: str) -> Encoder:
    check_device(device)
    chosen = {"model": model, "device": device, "dtype": dtype}
    known = {"model": (None, EMBEDDED), "device": ("auto", "cpu"), "dtype": ("float32",)}
    for name, value in chosen.items():
        if value not in known[name]:
            raise InputError(
                f"engine 'light' runs the embedded model in single precision on a processor, and "
                f"{name} is {str(value)!r}",
                Choose("engine", "torch"),
            )
    if find_spec("onnxruntime") is None:
        raise missing("onnxruntime", "engine 'light'")
    return LightEncoder()


def _torch(model: str | Path | None, device: str, dtype: str) -> Encoder:
    for package in ("torch", "transformers"):
        if find_spec(package) is None:
            name = EMBEDDED if model is None else str(model)
            what = f"model {name!r} on device {device!r} in {dtype}"
            raise missing(package, what)
    return TransformerEncoder(model, device=device, dtype=dtype)


ENGINES: dict[str, Callable[[str | Path | None, str, str], Encoder]] = {
    "light": _light,
    "torch": _torch,
}
