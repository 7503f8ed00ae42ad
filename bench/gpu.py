"""The encoder on a GPU beside the same machine's CPU: sentences per second, and how far apart.

    python bench/gpu.py [--model FOLDER] [--sentences 20000]

Keeps what a WSMD over one layer needs: last-layer vectors and the twelve heads of layer 2.
"""

import argparse
import time

import numpy as np
import torch
from sentences import swapped_pairs

from movers.encode.encodings import Encodings, Request
from movers.encode.stopwords import load_stopwords
from movers.encode.tokens import TokenRules
from movers.encode.transformer import TransformerEncoder


def timed(encoder: TransformerEncoder, sentences: list[str]) -> tuple[float, Encodings]:
    """Sentences per second of a second run, and what it returned."""
    heads = tuple((2, head) for head in range(1, encoder.heads + 1))
    request = Request((encoder.layers,), heads, TokenRules(load_stopwords("english")))
    encoder.encode(sentences[:512], request)
    started = time.perf_counter()
    out = encoder.encode(sentences, request)
    return len(sentences) / (time.perf_counter() - started), out


def main(model: str | None, count: int) -> None:
    origin, pairs = swapped_pairs(count)
    sentences = list(dict.fromkeys(text for pair in pairs for text in pair))[:count]
    rate, expected = timed(TransformerEncoder(model, device="cpu"), sentences[:2000])
    print(f"{torch.cuda.get_device_name()}, {len(sentences)} distinct sentences ({origin})")
    print(f"cpu  float32  {rate:8.0f} sentences/s  ({torch.get_num_threads()} threads)")
    for dtype in ("float32", "bfloat16", "float16"):
        encoder = TransformerEncoder(model, device="cuda", dtype=dtype)
        rate, _ = timed(encoder, sentences)
        _, found = timed(encoder, sentences[:2000])
        vectors = (
            next(iter(found.vectors.values())).data - next(iter(expected.vectors.values())).data
        )
        structure = found.structure.data - expected.structure.data
        print(
            f"cuda {dtype:9s}{rate:8.0f} sentences/s  largest difference: vectors "
            f"{np.abs(vectors).max():.1e}, attention {np.abs(structure).max():.1e}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model")
    parser.add_argument("--sentences", type=int, default=20000)
    chosen = parser.parse_args()
    main(chosen.model, chosen.sentences)
