"""Processor time of the first distance, beyond importing torch and loading the model.

    python bench/first.py

A process with an empty cache of kernels compiles what it needs; the one after it does not.
"""

import os
import subprocess
import sys
import tempfile

ASK = """
import time
import torch, transformers
import movers
scorer = movers.load()
scorer.encoder
started = time.process_time()
scorer.distances([("the press greets the president", "the president greets the press")])
print(time.process_time() - started)
"""


def seconds(cache: str) -> float:
    """Processor time of a process of its own, which keeps kernels in a folder."""
    told = subprocess.run(
        [sys.executable, "-c", ASK],
        env={**os.environ, "MOVERS_CACHE": cache},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(told.stdout)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as cache:
        print(f"first distance, empty cache    {seconds(cache):5.2f} s of processor time")
        print(f"first distance, next process   {seconds(cache):5.2f} s of processor time")
