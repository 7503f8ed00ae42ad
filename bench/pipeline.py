"""From text to distances beside the cost of the encoder alone, in processor time of one thread.

    python bench/pipeline.py [--pairs 300] [--rounds 7]

The bare pass gets its token ids ready-made, in the batches that we make, runs with fused attention
and returns nothing but its last layer. All others start from text: sentence-transformers ends at
vectors of sentences, bert_score and our measures at numbers for the pairs. Nothing is cached from
one round to the next; in every round each of them runs once, one after another, and the figures are
medians over rounds.
"""

import argparse
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import torch
from sentences import Pair, swapped_pairs

import movers
from movers.encode.device_collect import PaddedBatch
from movers.encode.tokens import read
from movers.loading import load_encoder

METHODS = ("movers", "same", "wsmd", "wsmd-wrd", "wmd")
BARE, OTHER = "bare fused forward pass", "sentence-transformers"


def bare_pass(sentences: list[str]) -> Callable[[], object]:
    """A forward pass with fused attention over the batches of our encoder."""
    from transformers import AutoModel

    encoder = load_encoder(device="cpu", engine="torch")
    text = read(encoder.tokenizer, sentences, encoder.max_length)
    batches = [batch for batch in encoder._batches(text) if isinstance(batch, PaddedBatch)]
    model = AutoModel.from_pretrained(str(encoder.folder), attn_implementation="sdpa").eval()

    def run() -> None:
        with torch.inference_mode():
            for batch in batches:
                model(input_ids=batch.ids, attention_mask=batch.mask.long())

    return run


def sentence_transformers(sentences: list[str]) -> Callable[[], object]:
    from sentence_transformers import SentenceTransformer

    encoder = SentenceTransformer(str(load_encoder(device="cpu").folder), device="cpu")
    return lambda: encoder.encode(sentences)


def bert_score(pairs: list[Pair]) -> Callable[[], object]:
    from bert_score import BERTScorer

    ours = load_encoder(device="cpu")
    scorer = BERTScorer(
        model_type=str(ours.folder), num_layers=ours.layers, device="cpu", batch_size=64
    )
    sources, targets = (list(side) for side in zip(*pairs, strict=True))
    return lambda: scorer.score(sources, targets)


def measure(pairs: list[Pair], method: str) -> Callable[[], object]:
    """Distances of one of our measures from text."""
    scorer = movers.load(method, threads=1, device="cpu")

    def run() -> None:
        scorer.forget()
        scorer.distances(pairs)

    return run


def seconds(run: Callable[[], object]) -> float:
    started = time.process_time()
    run()
    return time.process_time() - started


def report(count: int, rounds: int) -> list[str]:
    """Lines of a readable table."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    origin, pairs = swapped_pairs(count)
    sentences = list(dict.fromkeys(text for pair in pairs for text in pair))
    runs: dict[str, Callable[[], Any]] = {
        BARE: bare_pass(sentences),
        OTHER: sentence_transformers(sentences),
        "bert_score": bert_score(pairs),
        **{method: measure(pairs, method) for method in METHODS},
    }
    for run in runs.values():
        run()
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            times[name].append(seconds(run))
    lines = [
        f"{count} pairs of {origin}, {len(sentences)} distinct sentences, one thread, "
        f"median of {rounds} rounds",
        f"{'':26s}{'seconds':>8s}{'/ bare':>9s}{'/ s.-t.':>9s}",
    ]
    for name, found in times.items():
        beside = [ratio(found, times[other]) for other in (BARE, OTHER)]
        median = statistics.median(found)
        lines.append(f"{name:26s}{median:8.2f}{beside[0]:9.3f}{beside[1]:9.3f}")
    return lines


def ratio(found: list[float], other: list[float]) -> float:
    """Median over rounds of what one took beside another in the same round."""
    return statistics.median(a / b for a, b in zip(found, other, strict=True))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=7)
    chosen = parser.parse_args()
    print("\n".join(report(chosen.pairs, chosen.rounds)))
