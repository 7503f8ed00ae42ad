"""Engines and their peers on one model: text to distances in processor time of one thread.

    python bench/light.py [--pairs 300] [--rounds 5]

In every round each runs once, one after another; the figures are medians over rounds, and ratios of
those to sentence-transformers on torch. Nothing is cached from one round to the next.

Peers that are installed are timed beside it: openvino and onnxruntime run the same weights inside
sentence-transformers in place of torch, as its backends do, and fastembed does all by itself.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before anything counts processors

import argparse
import shutil
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sentences import swapped_pairs

import movers
from movers.encode.engines import Engine
from movers.encode.models import embedded_folder

THEIRS = "sentence-transformers, torch"
ENGINES: tuple[tuple[Engine, str], ...] = (
    ("light", "float32"),
    ("torch", "float32"),
    ("torch", "bfloat16"),
)
INPUTS = ("input_ids", "attention_mask")
FASTEMBED = "sentence-transformers/all-MiniLM-L6-v2"
Job = Callable[[], object]


def sentence_transformers(sentences: list[str], forward: Any = None) -> Job:
    """Vectors of sentences and the cosines of pairs, by torch or by another forward pass."""
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers.modeling_outputs import BaseModelOutput

    torch.set_num_threads(1)
    model: Any = SentenceTransformer(str(embedded_folder()), device="cpu")

    def other(input_ids: Any, attention_mask: Any, **_: Any) -> Any:
        found: Any = torch.from_numpy(forward(input_ids.numpy(), attention_mask.numpy()))
        return BaseModelOutput(last_hidden_state=found)

    if forward is not None:
        model[0].auto_model.forward = other

    def run() -> object:
        vectors = model.encode(sentences, normalize_embeddings=True)
        return (vectors[0::2] * vectors[1::2]).sum(axis=1)

    return run


def export(path: Path) -> Any:
    """Write the model as an ONNX graph of any batch and length, and return it with its inputs."""
    import torch
    from transformers import AutoModel

    class LastLayer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = AutoModel.from_pretrained(str(embedded_folder()))

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state

    model, example = LastLayer().eval(), torch.ones((2, 9), dtype=torch.int64)
    axes = {name: {0: "batch", 1: "length"} for name in INPUTS}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of tracing
        torch.onnx.export(
            model,
            (example, example),
            str(path),
            input_names=[*INPUTS],
            output_names=["last_hidden_state"],
            dynamic_axes=axes,
            dynamo=False,
        )
    return model, dict.fromkeys(INPUTS, example)


def peers(sentences: list[str]) -> Iterator[tuple[str, Job]]:
    """Sentence-transformers by other runtimes, and fastembed, as far as they are installed."""
    import onnxruntime

    with TemporaryDirectory() as folder:
        path = Path(folder, "model.onnx")
        model, example = export(path)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(str(path), options)
        yield (
            "sentence-transformers, onnxruntime",
            sentence_transformers(
                sentences,
                lambda *given: session.run(None, dict(zip(INPUTS, given, strict=True)))[0],
            ),
        )
        if find_spec("openvino") is not None:
            for name, hint in (
                ("float32", {"INFERENCE_PRECISION_HINT": "f32"}),
                ("as it comes", {}),
            ):
                forward = open_vino(model, example, hint)
                yield (
                    f"sentence-transformers, OpenVINO {name}",
                    sentence_transformers(sentences, forward),
                )
        if find_spec("fastembed") is not None:
            for file in embedded_folder().glob("*.json"):
                shutil.copy(file, folder)
            yield "fastembed", fast_embed(sentences, folder)


def open_vino(model: Any, example: dict[str, Any], hint: dict[str, str]) -> Any:
    """Return a forward pass of OpenVINO's on one thread."""
    import openvino

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of tracing
        graph = openvino.convert_model(model, example_input=example)
    runs = openvino.Core().compile_model(graph, "CPU", {"INFERENCE_NUM_THREADS": 1, **hint})
    return lambda *given: runs([*given])[0]


def fast_embed(sentences: list[str], folder: str) -> Job:
    """Vectors of sentences, and the cosines of pairs, by fastembed."""
    import numpy as np
    from fastembed import TextEmbedding

    model = TextEmbedding(FASTEMBED, specific_model_path=folder, threads=1)

    def run() -> object:
        vectors = np.stack([*model.embed(sentences, batch_size=32)])
        return (vectors[0::2] * vectors[1::2]).sum(axis=1)

    return run


def measure(engine: Engine, dtype: str, pairs: list[tuple[str, str]]) -> Job:
    """Distances of pairs, from text."""
    scorer = movers.load(device="cpu", engine=engine, dtype=dtype, threads=1)

    def run() -> object:
        scorer.forget()
        return scorer.distances(pairs)

    return run


def main(count: int, rounds: int) -> None:
    origin, pairs = swapped_pairs(count)
    print(f"{origin}, {len(pairs)} pairs")
    sentences = [text for pair in pairs for text in pair]
    runs = {THEIRS: sentence_transformers(sentences), **dict(peers(sentences))}
    for engine, dtype in ENGINES:
        runs[f"movers, {engine} engine, {dtype}"] = measure(engine, dtype, pairs)
    taken: dict[str, list[float]] = {name: [] for name in runs}
    for number in range(rounds + 1):
        for name, run in runs.items():
            started = time.process_time()
            run()
            if number:  # the first warms up
                taken[name].append(time.process_time() - started)
    unit = statistics.median(taken[THEIRS])
    for name, seconds in taken.items():
        middle = statistics.median(seconds)
        print(f"| {name} | {1000 * middle / count:.2f} ms | {middle / unit:.2f} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    main(**{{"pairs": "count"}.get(k, k): v for k, v in vars(parser.parse_args()).items()})
