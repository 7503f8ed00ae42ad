"""Processor time of a first distance, beyond importing torch and loading the model.

    python bench/first.py

A process that asks for one distance, beside one that imports torch and transformers, and loads
tokenizer and model, only. With an empty cache of kernels the first compiles what it needs; the one
after it does not. Medians of several runs, in turn.
"""

import os
import subprocess
import sys
import tempfile
from statistics import median

from movers.encode.models import embedded_folder

RUNS = 7
MODEL = f"""
import time
import torch
from transformers import AutoModel, AutoTokenizer
AutoTokenizer.from_pretrained({str(embedded_folder())!r})
AutoModel.from_pretrained({str(embedded_folder())!r})
print(time.process_time())
"""
DISTANCE = """
import time
import movers
movers.load().distances([("the press greets the president", "the president greets the press")])
print(time.process_time())
"""


def seconds(code: str, cache: str) -> float:
    """Processor time of a process of its own, which keeps kernels in a folder."""
    environment = dict(os.environ)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is byte-compiled
    told = subprocess.run(
        [sys.executable, "-c", code],
        env=environment | {"MOVERS_CACHE": cache, "GOMP_SPINCOUNT": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(told.stdout)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as cache:
        first = seconds(DISTANCE, cache)
        model, distance = zip(
            *((seconds(MODEL, cache), seconds(DISTANCE, cache)) for _ in range(RUNS)), strict=True
        )
    alone = median(model)
    print(f"torch, transformers and the model     {alone:5.2f} s of processor time")
    print(f"first distance, empty cache          {first - alone:+6.2f} s")
    print(f"first distance, next process         {median(distance) - alone:+6.2f} s")
