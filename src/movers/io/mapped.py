"""Arrays in a safetensors file, mapped: nothing of them is read before it is used."""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any

import numpy as np

from movers.arrays import Array
from movers.runtime.json_text import parse_json

DTYPES: dict[str, Any] = {
    "F64": np.float64,
    "F32": np.float32,
    "I64": np.int64,
    "I32": np.int32,
    "I16": np.int16,
    "I8": np.int8,
    "U8": np.uint8,
}


def map_arrays(path: Path) -> tuple[mmap.mmap, dict[str, Array]]:
    """Map a file, and the arrays in it; a header that makes no sense is a `ValueError` or so."""
    with path.open("rb") as stream:
        mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    size = int.from_bytes(mapped[:8], "little")
    arrays = {}
    header = parse_json(mapped[8 : 8 + size])
    header.pop("__metadata__", None)
    for name, entry in header.items():
        low, high = entry["data_offsets"]
        dtype = DTYPES[entry["dtype"]]
        flat = np.frombuffer(mapped, dtype, (high - low) // dtype().itemsize, 8 + size + low)
        arrays[name] = flat.reshape(entry["shape"])
    return mapped, arrays
