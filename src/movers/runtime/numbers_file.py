"""Arrays by name with a header, in one safetensors file that tells whether it is as it was written.

Files without a checksum, as those that come with the package, are taken as they are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from movers.arrays import Array
from movers.runtime.atomic import replacing

CHECKSUM = "checksum"


def save_numbers(path: Path, header: Mapping[str, str], arrays: Mapping[str, Array]) -> None:
    """Write a header and arrays, whole or not at all."""
    from safetensors.numpy import save

    tensors = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    marked = {**header, CHECKSUM: _checksum(header, tensors)}
    with replacing(path) as temporary:
        temporary.write_bytes(save(tensors, metadata=marked))


def load_numbers(path: Path) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the header and the arrays; a `ValueError` if they are not as they were written.

    What is no safetensors file at all raises a `SafetensorError`.
    """
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as stream:
        header: dict[str, str] = stream.metadata() or {}
        arrays = {name: stream.get_tensor(name) for name in stream.keys()}  # noqa: SIM118
    if header.pop(CHECKSUM, None) not in (None, _checksum(header, arrays)):
        raise ValueError("its checksum differs")
    return header, arrays


def _checksum(header: Mapping[str, str], arrays: Mapping[str, Array]) -> str:
    total = crc32(json.dumps(header, sort_keys=True).encode())
    for name, array in sorted(arrays.items()):
        total = crc32(f"{name} {array.dtype.str} {array.shape}".encode(), total)
        total = crc32(array.tobytes(), total)
    return f"{total:08x}"
