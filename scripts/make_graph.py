"""Write the graph that the light engine runs: the embedded model, as onnxruntime reads it.

python scripts/make_graph.py src/movers/data/all-MiniLM-L6-v2.onnx

It holds no weights: each is named by its place in the model package's own ``model.safetensors``.
Token vectors of all sentences lie one after another without padding, ``(tokens, dimension)``, so
that matrix products spend no time on it; attention alone runs on padded sentences. ``spread``
and ``collect`` say where tokens go there and come back from, for every head by itself.
"""

import json
import sys
from pathlib import Path

from onnx import TensorProto, helper

from movers.encode.models import embedded_folder

OPSET, CONTRIBUTED = 20, 1
FLOAT, LONG = TensorProto.FLOAT, TensorProto.INT64
WEIGHTS = "model.safetensors"


class Graph:
    """Nodes of a graph under way, and the weights they read."""

    def __init__(self, folder):
        with (folder / WEIGHTS).open("rb") as stream:
            size = int.from_bytes(stream.read(8), "little")
            self.header = json.loads(stream.read(size))
        self.start = 8 + size
        self.nodes, self.weights = [], []

    def weight(self, name):
        """Name a weight by its place in the file."""
        about = self.header[name]
        low, high = about["data_offsets"]
        tensor = TensorProto(name=name, data_type=FLOAT, dims=about["shape"])
        tensor.data_location = TensorProto.EXTERNAL
        places = {"location": WEIGHTS, "offset": self.start + low, "length": high - low}
        for key, value in places.items():
            tensor.external_data.add(key=key, value=str(value))
        if tensor not in self.weights:
            self.weights.append(tensor)
        return name

    def constant(self, name, values):
        """A few numbers that lie in the graph itself."""
        self.weights.append(helper.make_tensor(name, LONG, [len(values)], values))
        return name

    def add(self, kind, inputs, output, **attributes):
        """Add a node with one output, which comes back."""
        self.nodes.append(helper.make_node(kind, inputs, [output], output, **attributes))
        return output

    def linear(self, x, name, output):
        """A linear layer, as torch keeps its weights."""
        parts = [self.weight(f"{name}.weight"), self.weight(f"{name}.bias")]
        return self.add("Gemm", [x, *parts], output, transB=1)

    def norm(self, x, name, output, epsilon):
        """A layer norm."""
        parts = [self.weight(f"{name}.weight"), self.weight(f"{name}.bias")]
        return self.add("LayerNormalization", [x, *parts], output, epsilon=epsilon)


def make(folder):
    """The whole model."""
    config = json.loads((folder / "config.json").read_text("utf-8"))
    layers, heads = config["num_hidden_layers"], config["num_attention_heads"]
    width, epsilon = config["hidden_size"], config["layer_norm_eps"]
    size = width // heads
    graph = Graph(folder)
    by_head = graph.constant("by_head", [-1, size])
    by_token = graph.constant("by_token", [-1, width])
    x = graph.norm("input", "embeddings.LayerNorm", "hidden_0", epsilon)
    for layer in range(1, layers + 1):
        part, mark = f"encoder.layer.{layer - 1}", f"_{layer}"
        kinds = {}
        for kind in ("query", "key", "value"):
            flat = graph.linear(x, f"{part}.attention.self.{kind}", kind + mark)
            rows = graph.add("Reshape", [flat, by_head], f"{kind}_rows{mark}")
            kinds[kind] = graph.add("Gather", [rows, "spread"], f"{kind}_spread{mark}")
        scores = graph.add(
            "FusedMatMul",
            [kinds["query"], kinds["key"]],
            f"scores{mark}",
            domain="com.microsoft",
            transB=1,
            alpha=float(size**-0.5),
        )
        masked = graph.add("Add", [scores, "mask"], f"masked{mark}")
        soft = graph.add("Softmax", [masked], f"soft{mark}", axis=-1)
        attention = graph.add("Mul", [soft, "genuine"], f"attention{mark}")
        seen = graph.add("MatMul", [attention, kinds["value"]], f"seen{mark}")
        rows = graph.add("Reshape", [seen, by_head], f"seen_rows{mark}")
        back = graph.add("Gather", [rows, "collect"], f"seen_back{mark}")
        flat = graph.add("Reshape", [back, by_token], f"seen_flat{mark}")
        out = graph.linear(flat, f"{part}.attention.output.dense", f"told{mark}")
        added = graph.add("Add", [out, x], f"told_sum{mark}")
        x = graph.norm(added, f"{part}.attention.output.LayerNorm", f"told_norm{mark}", epsilon)
        wide = graph.linear(x, f"{part}.intermediate.dense", f"wide{mark}")
        bent = graph.add("Gelu", [wide], f"bent{mark}")
        out = graph.linear(bent, f"{part}.output.dense", f"out{mark}")
        added = graph.add("Add", [out, x], f"out_sum{mark}")
        x = graph.norm(added, f"{part}.output.LayerNorm", f"hidden{mark}", epsilon)
    value = helper.make_tensor_value_info
    made = helper.make_graph(
        graph.nodes,
        "encoder",
        [
            value("input", FLOAT, ["tokens", width]),
            value("spread", LONG, ["sentences", heads, "length"]),
            value("collect", LONG, ["tokens", heads]),
            value("mask", FLOAT, ["sentences", 1, 1, "length"]),
            value("genuine", FLOAT, ["sentences", 1, 1, "length"]),
        ],
        [
            *(value(f"hidden_{k}", FLOAT, ["tokens", width]) for k in range(layers + 1)),
            *(
                value(f"attention_{k}", FLOAT, ["sentences", heads, "length", "length"])
                for k in range(1, layers + 1)
            ),
        ],
        graph.weights,
    )
    opsets = helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", CONTRIBUTED)
    model = helper.make_model(made, opset_imports=opsets, producer_name="movers")
    model.ir_version = 10
    return model


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(make(embedded_folder()).SerializeToString())
