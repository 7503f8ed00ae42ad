"""Peak memory of encoding many sentences with one layer of heads.

    python bench/memory.py [--model FOLDER] [--sentences 100000]

Sentences are as long as PAWS-Wiki's, composed from its words (made-up ones without the data).
"""

import argparse
import random
import resource
import time

from sentences import swapped_pairs

from movers.encode.encodings import Request
from movers.encode.stopwords import load_stopwords
from movers.encode.tokens import TokenRules
from movers.encode.transformer import TransformerEncoder


def composed(count: int) -> list[str]:
    """Distinct sentences with the lengths and the words of real ones."""
    rng = random.Random(0)
    originals = [text.split() for pair in swapped_pairs(4000)[1] for text in pair]
    words = [word for text in originals for word in text]
    found = {" ".join(rng.choices(words, k=len(rng.choice(originals)))) for _ in range(count)}
    return sorted(found)


def main(model: str | None, count: int) -> None:
    sentences = composed(count)
    encoder = TransformerEncoder(model, device="cpu")
    heads = tuple((2, head) for head in range(1, encoder.heads + 1))
    request = Request((encoder.layers,), heads, TokenRules(load_stopwords("english")))
    encoder.encode(sentences[:100], request)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    started = time.perf_counter()
    out = encoder.encode(sentences, request)
    seconds = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{len(out)} sentences, {out.counts.mean():.1f} words kept of each, {seconds:.0f} s")
    print(f"vectors and structure {out.nbytes / 1e9:.2f} GB")
    print(f"peak memory {after:.2f} GB ({before:.2f} GB before, model and libraries included)")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model")
    parser.add_argument("--sentences", type=int, default=100_000)
    chosen = parser.parse_args()
    main(chosen.model, chosen.sentences)
