"""The whole path on a GPU: sentences and pairs per second, beside sentence-transformers and a CPU.

    python bench/gpu.py [--model FOLDER] [--pairs 20000] [--compile] [--only PART ...]

Everything starts from text and ends in host memory. Sentences are those of PAWS-Wiki dev and copies
of them with two words exchanged; each pair is a sentence and such a copy, so all of them differ.
Every figure of ours is the median of three runs after one to warm up; sentence-transformers warms
up on 2,000 sentences and runs once. `bench/gpu_run.sh` runs this, and
the tests that need a GPU, on a machine without a network.
"""

import argparse
import random
import statistics
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch
from sentences import Pair, swapped_pairs

import movers
from movers.encode.encodings import Encodings, Request
from movers.encode.tokens import Text, TokenRules, read
from movers.encode.transformer import TransformerEncoder
from movers.loading import load_encoder

ROUNDS = 3
DTYPES = ("float32", "bfloat16", "float16")


def exchanged_pairs(count: int) -> list[Pair]:
    """Distinct pairs of a sentence and a copy with two words exchanged; no sentence twice."""
    rng = random.Random(0)
    originals = list(dict.fromkeys(text for pair in swapped_pairs(20_000)[1] for text in pair))
    seen: set[str] = set()
    pairs: list[Pair] = []
    while len(pairs) < count:
        first = _exchanged(rng.choice(originals), rng)
        second = _exchanged(first, rng)
        if first != second and not seen & {first, second}:
            seen |= {first, second}
            pairs.append((first, second))
    return pairs


def _exchanged(text: str, rng: random.Random) -> str:
    words = text.split()
    i, j = rng.randrange(len(words)), rng.randrange(len(words))
    words[i], words[j] = words[j], words[i]
    return " ".join(words)


def median_seconds(run: Callable[[], object], rounds: int = ROUNDS) -> float:
    if rounds > 1:  # else the caller has warmed up
        run()
    found = []
    for _ in range(rounds):
        started = time.perf_counter()
        run()
        found.append(time.perf_counter() - started)
    return statistics.median(found)


def differences(found: Encodings, expected: Encodings) -> str:
    """Largest differences of what two devices keep."""
    vectors = max(
        np.abs(rows.data - expected.vectors[layer].data).max()
        for layer, rows in found.vectors.items()
    )
    structure = np.abs(found.structure.data - expected.structure.data).max()
    return f"vectors {vectors:.1e}, attention {structure:.1e}"


def encoding(model: str | None, sentences: list[str]) -> None:
    """Text to what a measure keeps, by precision."""
    requests: dict[str, Request] = {
        method: movers.load(method, model, device="cpu", whitening="none").measure.requirements
        for method in ("movers", "wsmd")
    }
    near = load_encoder(model, "cpu")
    for method, request in requests.items():
        few = sentences[:1000]
        expected = near.encode(few, request)
        seconds = median_seconds(partial(near.encode, few, request))
        print(f"{method:8s} cpu  float32  {len(few) / seconds:8.0f} sentences/s", flush=True)
        for dtype in DTYPES:
            far = TransformerEncoder(model, device="cuda", dtype=dtype)
            told = differences(far.encode(few, request), expected)
            seconds = median_seconds(partial(far.encode, sentences, request))
            print(
                f"{method:8s} cuda {dtype:9s}{len(sentences) / seconds:8.0f} sentences/s   "
                f"largest difference from the cpu: {told}",
                flush=True,
            )


def sentence_transformers(model: str | None, sentences: list[str]) -> None:
    """The same sentences through sentence-transformers' own encode."""
    from sentence_transformers import SentenceTransformer

    for dtype, size in (("float32", 32), ("float16", 32), ("float16", 256), ("float16", 1024)):
        options = {"dtype": getattr(torch, dtype)}
        encoder = SentenceTransformer(model, device="cuda", model_kwargs=options)
        encoder.encode(sentences[:2000], batch_size=size)

        def run(encoder: SentenceTransformer = encoder, size: int = size) -> None:
            encoder.encode(sentences, batch_size=size)

        rate = len(sentences) / median_seconds(run, rounds=1)
        print(
            f"sentence-transformers cuda {dtype:9s} batch {size:4d} {rate:8.0f} sentences/s",
            flush=True,
        )


def distances(model: str | None, pairs: list[Pair]) -> None:
    """Text to distances, nothing cached, the solver on all cores."""
    few = pairs[:500]
    for method in ("movers", "wsmd"):
        expected = movers.load(method, model, device="cpu", whitening="none").distances(few)
        for dtype in ("float32", "float16"):
            scorer = movers.load(method, model, device="cuda", dtype=dtype, whitening="none")
            apart = np.abs(scorer.distances(few) - expected).max()

            def run(scorer: movers.Scorer = scorer) -> None:
                scorer.forget()
                scorer.distances(pairs)

            rate = len(pairs) / median_seconds(run)
            scale = f"{apart:.1e} (distances up to {expected.max():.2f})"
            print(
                f"{method:8s} cuda {dtype:9s}{rate:8.0f} pairs/s   largest difference {scale}",
                flush=True,
            )


def forward_only(model: str | None, compiled: bool) -> None:
    """A forward pass at one shape: plain, captured in a CUDA graph, compiled."""
    from transformers import AutoModel

    source = load_encoder(model, "cpu").folder or model
    plain = AutoModel.from_pretrained(str(source), dtype=torch.float16).cuda().eval()
    ids = torch.randint(1000, 2000, (1024, 32), device="cuda")

    def timed(name: str, run: Callable[[], object]) -> None:
        def ten() -> None:
            for _ in range(10):
                run()
            torch.cuda.synchronize()

        print(f"forward 1024 x 32 float16, {name:14s} {median_seconds(ten) * 100:7.2f} ms")

    with torch.inference_mode():
        timed("plain", lambda: plain(ids))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            plain(ids)
        timed("CUDA graph", graph.replay)
        if compiled:
            fused = torch.compile(plain, dynamic=True)
            timed("torch.compile", lambda: fused(ids))


def tokenizing(model: str | None, sentences: list[str]) -> None:
    """The part of every figure that no GPU can do."""
    encoder = load_encoder(model, "cpu")

    def tokens() -> Text:
        text = read(encoder.tokenizer, sentences, encoder.max_length)
        encoder.finder(TokenRules()).find(text)
        return text

    print(f"{len(sentences)} distinct sentences, {tokens().ids.lengths.mean():.1f} tokens each")
    seconds = median_seconds(tokens)
    print(f"tokenizing alone {len(sentences) / seconds:8.0f} sentences/s", flush=True)


PARTS = ("tokenizing", "encoding", "peers", "distances", "forward")


def main(model: str | None, count: int, compiled: bool, parts: Sequence[str]) -> None:
    pairs = exchanged_pairs(count)
    sentences = [text for pair in pairs for text in pair]
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}; {count} pairs")
    runs: dict[str, Callable[[], None]] = {
        "tokenizing": lambda: tokenizing(model, sentences),
        "encoding": lambda: encoding(model, sentences),
        "peers": lambda: sentence_transformers(model, sentences),
        "distances": lambda: distances(model, pairs),
        "forward": lambda: forward_only(model, compiled),
    }
    for part in parts:
        runs[part]()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model")
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    main(chosen.model, chosen.pairs, chosen.compile, chosen.only)
