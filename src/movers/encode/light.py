"""The embedded model, run by onnxruntime on a processor: no torch, no tokenizers.

The graph is `data/all-MiniLM-L6-v2.onnx`, written by ``scripts/make_graph.py``; its weights are
read from the file of the installed model package. Tokens of all sentences lie one after another
without padding. Matrix products here add up every row in the same order whatever is multiplied
with it, and masked tokens add nothing at all, so a sentence has the same bits in any company and
with any number of threads (`movers doctor` tries it).
"""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import numpy as np

from movers.arrays import places
from movers.encode import models
from movers.encode.collect import Batch, BatchLimits
from movers.encode.encoder import Encoder, Layers, Take
from movers.encode.tokens import Text, own_vectors
from movers.encode.word_pieces import WordPieces
from movers.io.mapped import map_arrays
from movers.runtime.threads import available_threads

BATCH_TOKENS = 1024
"""What a batch takes on its way stays in caches; twice as many take a twentieth longer."""
BATCH_ATTENTION = 1 << 26
"""Attention entries of a batch over all layers and heads: 256 MB in single precision."""
KINDS_OF_INPUT = ("word", "token_type", "position")
MASKED = -1e4
"""Added to the attention to what is padding; what is left of it is multiplied by zero."""


class LightEncoder(Encoder):
    """The embedded model, in single precision on a processor."""

    engine = "light"

    def __init__(self) -> None:
        folder = models.embedded_folder()  # which checks the hash of the weights
        super().__init__(models.EMBEDDED, folder, WordPieces(folder))
        self.architecture, self.device, self.dtype = "BertModel", "cpu", "float32"
        self.fingerprint = models.EMBEDDED_FINGERPRINT
        config = json.loads((folder / "config.json").read_text("utf-8"))
        self.layers, self.heads = config["num_hidden_layers"], config["num_attention_heads"]
        self.dimension, self.positions = config["hidden_size"], config["max_position_embeddings"]
        self.max_length = int(min(self.positions, self.tokenizer.model_max_length))
        # some installers leave a link, and onnxruntime reads nothing outside the folder it is given
        weights = (folder / "model.safetensors").resolve()
        self._weights_folder, arrays = weights.parent, map_arrays(weights)[1]
        names = (f"embeddings.{name}_embeddings.weight" for name in KINDS_OF_INPUT)
        self._inputs = tuple(arrays[name] for name in names)
        attention = BATCH_ATTENTION // (self.layers * self.heads)
        self.limits = BatchLimits(BATCH_TOKENS, attention, BATCH_TOKENS, 1, self.positions)
        self._model_threads = int(os.environ.get("OMP_NUM_THREADS") or available_threads())
        self._runs: tuple[int, Any] | None = None
        # onnxruntime would keep a number of this machine and report its use to its makers
        os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

    @property
    def model_threads(self) -> int:
        """Threads of the model."""
        return self._model_threads

    @model_threads.setter
    def model_threads(self, threads: int) -> None:
        self._model_threads, self._runs = threads, None

    def _session(self) -> Any:
        """What runs the graph; a forked process makes its own, for threads do not come along."""
        if self._runs is not None and self._runs[0] == os.getpid():
            return self._runs[1]
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._model_threads
        if self._runs is not None:
            # its end would wait for threads that are not here
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._runs[1]))
            options.intra_op_num_threads = 1
        # Both keep what the largest batch so far took, and a plan for every shape of one.
        options.enable_cpu_mem_arena = options.enable_mem_pattern = False
        where = "session.model_external_initializers_file_folder_path"
        options.add_session_config_entry(where, str(self._weights_folder))
        # idle threads that spin slow everything else down on few cores
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        graph = files("movers").joinpath("data", f"{models.EMBEDDED}.onnx").read_bytes()
        session = onnxruntime.InferenceSession(graph, options, ["CPUExecutionProvider"])
        self._runs = os.getpid(), session
        return session

    def _batches(self, text: Text) -> Iterator[Batch]:
        pieces, (segment, *_), positions = self._inputs
        own = None
        if text.unknown:
            drawn = own_vectors(
                lambda numbers: pieces[numbers].astype(np.float64),
                len(self.vocabulary.pieces),
                text.unknown,
            )
            own = drawn.astype(np.float32)
        ids, lengths = text.ids, text.ids.lengths
        for rows in self.limits.batches(lengths, self.batch_size):
            tokens, sizes = places(ids.starts, rows), lengths[rows]
            first = np.cumsum(sizes) - sizes
            vectors = pieces[ids.data[tokens]]
            if own is not None:
                numbers = text.numbers[tokens]
                vectors[numbers > 0] = own[numbers[numbers > 0]]
            vectors += segment
            vectors += positions[np.arange(len(tokens)) - np.repeat(first, sizes)]
            genuine = np.arange(sizes.max()) < sizes[:, None]
            yield Batch(rows, sizes, first, genuine, vectors)

    def _forward(
        self, batch: Batch, layers: Layers, attention: Layers, take: Take
    ) -> dict[int, Any]:
        from onnxruntime import RunOptions

        options = RunOptions()
        options.only_execute_path_to_fetches = True
        names = [f"attention_{layer}" for layer in attention]
        names += [f"hidden_{layer}" for layer in layers]
        heads, number, width = self.heads, np.arange(self.heads), batch.genuine.shape[1]
        tokens = np.where(batch.genuine, batch.first[:, None] + np.arange(width), 0)
        owner = np.repeat(np.arange(len(batch.rows)), batch.lengths)
        place = np.arange(len(owner)) - batch.first[owner]
        shown = batch.genuine[:, None, None, :]
        feed = {  # the graph explains the names
            "input": batch.vectors,
            "spread": tokens[:, None, :] * heads + number[None, :, None],
            "collect": (owner[:, None] * heads + number) * width + place[:, None],
            "mask": np.where(shown, np.float32(0.0), np.float32(MASKED)),
            "genuine": shown.astype(np.float32),
        }
        found = self._session().run(names, feed, options)
        for layer, matrices in zip(attention, found, strict=False):
            take(layer, matrices)
        return dict(zip(layers, found[len(attention) :], strict=True))
