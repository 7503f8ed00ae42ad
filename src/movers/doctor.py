"""What to know about an installation when a number looks wrong, and a quick test of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from movers.arrays import Array, Floats, Singles
from movers.errors import MoversError
from movers.runtime.installation import installed
from movers.runtime.threads import available_threads

if TYPE_CHECKING:
    from movers.scorer import Scorer

SENTENCES = (
    "the dog bit the man",
    "the man bit the dog",
    "a president greets the press in Chicago",
    "Obama speaks to the media in Illinois while the reporters of the evening papers write",
)
DISTANCE = 0.15813
"""What wsmd says of the first two sentences."""
VECTOR = (-0.12891, 0.34044, 0.14046, 0.66860, -0.04112, -0.08640)
"""First entries of the last-layer vector of the first word."""
KNOWN_WITHIN = 2e-3
ROUNDING = 1e-4
EXACT = 1e-9
GRAINS = 6


class SelfTestError(MoversError):
    """The installation computes something other than it should."""


@dataclass(frozen=True)
class Check:
    """The outcome of one self-test."""

    name: str
    passed: bool
    detail: str
    seconds: float


@dataclass(frozen=True)
class DoctorReport:
    """Facts about an installation by topic, and what came of the self-tests."""

    facts: dict[str, dict[str, str]]
    checks: list[Check]

    @property
    def healthy(self) -> bool:
        """Whether every self-test passed."""
        return all(check.passed for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {"healthy": self.healthy, **asdict(self)}


def examine() -> DoctorReport:
    """Gather facts about the installation and run the self-tests."""
    report = DoctorReport(facts(), [])
    for name, check in CHECKS.items():
        started = time.perf_counter()
        try:
            passed, detail = True, check()
        except Exception as error:  # whatever is broken is what the report is about
            passed, detail = False, f"{type(error).__name__}: {error}"
        seconds = round(time.perf_counter() - started, 2)
        report.checks.append(Check(name, passed, detail, seconds))
    return report


def facts() -> dict[str, dict[str, str]]:
    """Return versions, processor, matrix libraries, threads, caches and settings."""
    from movers.runtime.answer_cache import cache_folder
    from movers.runtime.compiling import best_level, library

    core = import_module("numpy._core._multiarray_umath")
    features: dict[str, bool] = getattr(core, "__cpu_features__", {})
    topics, used = installed(), library()
    topics["processor"] |= {
        "kernels": best_level(),
        "numpy": " ".join(name for name, has in features.items() if has),
    }
    topics["kernels"] |= {"used": "compiled here" if used is None else used._name}
    topics["caches"] = {"folder": str(cache_folder())}
    topics["matrix libraries"] = _matrix_libraries()
    topics["threads"] = {"movers": str(available_threads())}
    if find_spec("torch") is not None:
        torch = import_module("torch")
        topics["processor"]["torch"] = torch.backends.cpu.get_cpu_capability()
        topics["threads"]["torch"] = str(torch.get_num_threads())
        topics["device"] = {"auto": import_module("movers.encode.models").pick_device("auto")}
    return topics


def _matrix_libraries() -> dict[str, str]:
    """Return what multiplies matrices, with the kernels picked for this processor if known."""
    built: Any = np.show_config(mode="dicts")
    blas = built.get("Build Dependencies", {}).get("blas", {})
    libraries = {"numpy": f"{blas.get('name', 'unknown')} {blas.get('version', '')}".strip()}
    if find_spec("torch") is not None:
        backends: Any = import_module("torch").backends
        mkl, dnn = backends.mkl.is_available(), backends.mkldnn.is_available()
        libraries["torch"] = f"mkl {mkl}, oneDNN {dnn}"
    try:
        pools = import_module("threadpoolctl").threadpool_info()
    except ImportError:
        return libraries
    for pool in sorted(pools, key=str):
        name = f"{pool['internal_api']} {pool.get('version') or ''}".strip()
        libraries[name] = f"{pool.get('architecture') or 'any'}, {pool['num_threads']} threads"
    return libraries


def check_solver() -> str:
    """Hold the solver against every permutation, and its values against their definition."""
    from movers.solve import emd, fgw

    rng = np.random.default_rng(0)
    worst, problems = 0.0, 40
    for _ in range(problems):
        u, v = rng.multinomial(GRAINS, np.full(3, 1 / 3), size=2)
        cost, A, B = (rng.random((3, 3)) for _ in range(3))
        exact = emd(cost, u, v)
        worst = max(worst, abs(exact.value - _best(cost, u, v)))
        fused = fgw(cost, A, B, u, v, mix=0.5)
        worst = max(worst, abs(fused.value - _fused(cost, A, B, fused.plan)))
        worst = max(worst, fused.value - _fused(cost, A, B, np.outer(u, v) / GRAINS**2))
        worst = max(worst, abs(fgw(cost, A, B, u, v, mix=0.0).value - exact.value))
    if not worst < EXACT:
        raise SelfTestError(f"of {problems} problems one is off by {worst:.1e}, allowed {EXACT:g}")
    return f"{problems} problems agree with every permutation tried, to {worst:.0e}"


def _best(cost: Floats, u: Array, v: Array) -> float:
    """Return the optimum by trying all: some best plan sends every grain of mass to one place."""
    rows, columns = (np.repeat(np.arange(len(side)), side) for side in (u, v))
    orders = np.array(list(permutations(range(GRAINS))))
    return float(cost[rows, columns[orders]].sum(axis=1).min() / GRAINS)


def _fused(cost: Any, A: Any, B: Any, plan: Any) -> float:
    bent = (A[:, None, :, None] - B[None, :, None, :]) ** 2
    structural = np.einsum("ijkl,ij,kl->", bent, plan, plan)
    return float(0.5 * (cost * plan).sum() + 0.5 * structural)


def check_encoder() -> str:
    """Compare the embedded model's vectors and a distance with known ones."""
    scorer = _scorer()
    vectors = _encoded(scorer, SENTENCES[:1])[0, : len(VECTOR)]
    vector = float(np.abs(vectors - VECTOR).max())
    distance = abs(scorer.compare(*SENTENCES[:2]).distance - DISTANCE)
    if not (off := max(vector, distance)) < KNOWN_WITHIN:
        raise SelfTestError(
            f"vectors are off by {vector:.1e} and a distance by {distance:.1e}, allowed "
            f"{KNOWN_WITHIN:g}; found {vectors.round(5).tolist()}"
        )
    return f"vectors and a distance are as known, to {off:.0e}"


def check_determinism() -> str:
    """Encode a sentence alone and in company, and score pairs, with one thread and with two."""
    scorer = _scorer()
    pairs = [(a, b) for a in SENTENCES for b in SENTENCES if a != b]
    vectors, scores, before = [], [], scorer.encoder.model_threads
    try:
        for threads in (1, 2):
            scorer.encoder.model_threads = scorer.threads = threads
            vectors += [_encoded(scorer, SENTENCES)]
            vectors += [np.concatenate([_encoded(scorer, [text]) for text in SENTENCES])]
            scores.append(scorer.distances(pairs))
    finally:
        scorer.encoder.model_threads = before
    off = max(float(np.abs(one - vectors[0]).max()) for one in vectors)
    if not off < ROUNDING:
        raise SelfTestError(f"vectors change by {off:.1e} with company or threads")
    if not np.array_equal(scores[0], scores[1]):
        raise SelfTestError(
            f"distances change by {np.abs(scores[0] - scores[1]).max():.1e} with threads"
        )
    how = "bit for bit" if off == 0 else f"to {off:.0e}, by rounding of the matrix library"
    return f"forward passes are the same in any company {how}; scores bit for bit"


@cache
def _scorer() -> Scorer:
    from movers.loading import load

    return load("wsmd", device="cpu")


def _encoded(scorer: Scorer, sentences: Any) -> Singles:
    """Return last-layer vectors of all words, one sentence after another, not whitened."""
    from movers.encode.encodings import Request

    layer = scorer.encoder.layers
    encodings = scorer.encoder.encode(list(sentences), Request((layer,)))
    return np.asarray(encodings.vectors[layer].data)


CHECKS: dict[str, Callable[[], str]] = {
    "solver": check_solver,
    "encoder": check_encoder,
    "determinism": check_determinism,
}
