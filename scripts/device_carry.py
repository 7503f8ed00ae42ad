"""Pack what a GPU machine without a network lacks, within a limit on size; unpack it there.

    python scripts/device_carry.py pack [--python 3.12]    # here: fills device-carry/
    python scripts/device_carry.py unpack FOLDER           # there: FOLDER/site, model and data

Packed are numba (wheels for Linux on x86-64, without their tests; LLVM stripped), pytest, the
sentences of the benches, and the embedded model with its weights rounded to 8 bits row by row and
only the word pieces that occur in those sentences. Torch and transformers must be there already.
"""

import argparse
import io
import lzma
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import numpy as np

CARRY = Path("device-carry")
SITE, LLVM, MODEL = CARRY / "site.tar.xz", CARRY / "libllvmlite.so.xz", CARRY / "model.tar.xz"
SHARED = "llvmlite/binding/libllvmlite.so"
WHEELS = [
    *("numba", "llvmlite", "narwhals", "pytest", "pytest-timeout", "iniconfig", "pluggy"),
    *("hypothesis", "sortedcontainers", "pygments", "platformdirs"),
]
NOT_NEEDED = ("/tests/", "/cuda/")
EMBEDDINGS = "embeddings.word_embeddings.weight"
X86 = [{"id": lzma.FILTER_X86}, {"id": lzma.FILTER_LZMA2, "preset": 9, "dict_size": 1 << 27}]


def pack(python: str) -> None:
    """Fill the folder; LLVM, which takes minutes, only if it is not there."""
    CARRY.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as room:
        wheels, site = Path(room, "wheels"), Path(room, "site")
        download(wheels, python)
        for wheel in wheels.glob("*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                names = [n for n in archive.namelist() if not any(part in n for part in NOT_NEEDED)]
                archive.extractall(site, names)
        shared = site / SHARED
        subprocess.run(["strip", "--strip-all", shared], check=True)
        if not LLVM.is_file():
            LLVM.write_bytes(lzma.compress(shared.read_bytes(), filters=X86))
        shared.unlink()
        pack_folder(site, SITE)
        pack_folder(rounded_model(Path(room, "model")), MODEL)
    total = sum(path.stat().st_size for path in CARRY.iterdir())
    print(f"{CARRY}: {total / 2**20:.1f} MiB")


def download(folder: Path, python: str) -> None:
    platforms = ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux2014_x86_64")
    pinned = [_pinned(name) for name in WHEELS]
    options = [option for name in platforms for option in ("--platform", name)]
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder)]
    command += ["--only-binary=:all:", "--python-version", python, *options, *pinned]
    subprocess.run(command, check=True)


def _pinned(name: str) -> str:
    """A package in the version of the pins, if they have it."""
    lines = Path("constraints.txt").read_text("utf-8").splitlines()
    return next((line for line in lines if line.lower().startswith(f"{name}==")), name)


def pack_folder(folder: Path, target: Path) -> None:
    with tarfile.open(target, "w:xz", preset=9) as archive:
        archive.add(folder, arcname=".")


def rounded_model(folder: Path) -> Path:
    """The embedded model with rounded weights, and the sentences that it will read."""
    from safetensors.numpy import load_file
    from sentences import DATA
    from transformers import AutoTokenizer

    from movers.encode.models import embedded_folder

    source = embedded_folder()
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("*.safetensors", "*.md", ".git*"))
    data = folder / "data" / "PAWSWiki"
    data.mkdir(parents=True)
    shutil.copy(DATA / "PAWSWiki" / "dev.tsv", data)
    text = (data / "dev.tsv").read_text("utf-8").splitlines()
    used = sorted(
        {n for ids in AutoTokenizer.from_pretrained(source)(text)["input_ids"] for n in ids}
    )
    arrays: dict[str, np.ndarray] = {"used": np.array(used), "pieces": np.array([0])}
    for name, weights in load_file(source / "model.safetensors").items():
        if name == EMBEDDINGS:
            arrays["pieces"] = np.array([len(weights)])
            weights = weights[used]
        if weights.ndim < 2 or not np.issubdtype(weights.dtype, np.floating):
            arrays[name] = weights
            continue
        scale = np.abs(weights).max(axis=1, keepdims=True) / 127
        arrays[name] = np.round(weights / np.where(scale > 0, scale, 1)).astype(np.int8)
        arrays[f"{name}/scale"] = scale.astype(np.float32)
    np.savez(folder / "rounded.npz", **arrays)  # type: ignore[arg-type]
    return folder


def unpack(folder: Path) -> None:
    """Lay everything out under a folder."""
    for archive in (SITE, MODEL):
        name = archive.name.partition(".")[0]
        with tarfile.open(fileobj=io.BytesIO(lzma.decompress(archive.read_bytes()))) as packed:
            packed.extractall(folder / name, filter="data")
    (folder / "site" / SHARED).write_bytes(lzma.decompress(LLVM.read_bytes()))
    shutil.move(folder / "model" / "data", folder / "data")
    restore(folder / "model")


def restore(folder: Path) -> None:
    """Write the rounded weights as a model file; word pieces that are not used are zero."""
    from safetensors.numpy import save_file

    arrays = dict(np.load(folder / "rounded.npz"))
    used, (pieces,) = arrays.pop("used"), arrays.pop("pieces")
    scales = {name: arrays.pop(f"{name}/scale") for name in [*arrays] if f"{name}/scale" in arrays}
    weights = {
        name: array * scales[name] if name in scales else array for name, array in arrays.items()
    }
    whole = np.zeros((pieces, weights[EMBEDDINGS].shape[1]), np.float32)
    whole[used] = weights[EMBEDDINGS]
    save_file({**weights, EMBEDDINGS: whole}, folder / "model.safetensors", {"format": "pt"})


if __name__ == "__main__":
    sys.path.insert(0, "bench")
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("pack").add_argument("--python", default="3.12")
    commands.add_parser("unpack").add_argument("folder", type=Path)
    chosen = parser.parse_args()
    if chosen.command == "pack":
        pack(chosen.python)
    else:
        unpack(chosen.folder)
