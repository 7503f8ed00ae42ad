"""Fixtures: tiny models, a fitted scorer, the embedded model and the evaluation data."""

import gc
import os
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
if "PYTEST_XDIST_WORKER" in os.environ:  # threads of one process would wait for those of others
    os.environ.setdefault("OMP_NUM_THREADS", "1")
# with the usual 15, workers starve beside other tests
os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112

import hypothesis
import numpy as np
import pytest
from xdist.scheduler import LoadFileScheduling

import movers
import movers_research.baselines  # noqa: F401, adds measures
from movers.encode import engines
from movers.measures import calibration
from tiny_models import SENTENCES, TINY, TOKENIZERS, build_tokenizer, save_model

# loaded as plug-ins, not to be looked through for doctests under one and the same name
collect_ignore_glob = ["*/conftest.py"]

# the first example of a compiled kernel waits for its compilation; where a run decides about a
# change, the same examples come every time
hypothesis.settings.register_profile(
    "movers", deadline=None, derandomize=os.environ.get("CI") == "true"
)
hypothesis.settings.load_profile("movers")

if engine := os.environ.get("MOVERS_TEST_ENGINE"):  # for every model that does not name one
    engines.pick_engine = lambda *chosen: engine

TOGETHER = ("tests/integrations/", "tests/web/")
"""Folders whose tests share what is dear to start: a Ray cluster, a server with its browser."""
LONGEST = (*TOGETHER, "tests/test_site.py", "tests/test_docs.py", "tests/test_examples.py")
"""What several processes begin with, so that none is left with much in the end."""


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Spare the collector of garbage what is imported now and stays until the end."""
    gc.disable()
    found = yield
    gc.freeze()
    gc.enable()
    return found


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))


class InShares(LoadFileScheduling):
    """Gives every process whole files, and some whole folders."""

    def _split_scope(self, nodeid):
        folder = next((folder for folder in TOGETHER if nodeid.startswith(folder)), None)
        return folder or super()._split_scope(nodeid)


def pytest_xdist_make_scheduler(config, log):
    config.option.loadscopereorder = False
    return InShares(config, log)


@pytest.fixture(scope="session", autouse=True)
def _unsynced():
    """Do not wait for the disk: tests end processes, not machines.

    That files are synced is held by `runtime/test_atomic.py`.
    """
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "fsync", lambda number: None)
        yield


@pytest.fixture(scope="session")
def tokenizers():
    """One trained tokenizer per family."""
    return {family: build_tokenizer(family) for family in TOKENIZERS}


def _calibrate_alike(path):
    """Let all heads of a random model count alike: they tell nothing apart."""
    encoder = movers.load("movers", path).encoder
    heads = [
        (layer, head)
        for layer in range(1, encoder.layers + 1)
        for head in range(1, encoder.heads + 1)
    ]
    alike = np.append(np.full(len(heads), 1 / max(1, len(heads))), 0.0)[None]
    network = calibration.Network(alike, alike, np.ones(1))
    known = calibration.Calibration(0.5, tuple(heads), network, 1.0)
    calibration.keep(encoder.fingerprint, known)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory, tokenizers):
    """Folder of a tiny random model by name, made when first asked for."""
    root = tmp_path_factory.mktemp("models")

    def folder(name):
        path = root / name
        if not path.exists():
            save_model(name, path, tokenizers[TINY[name][0]])
            _calibrate_alike(path)
        return path

    return folder


@pytest.fixture(scope="session")
def bert(tiny):
    """A tiny BERT, fitted: the base of everything that needs no trained model."""
    scorer = movers.load("wsmd", tiny("bert"))
    return scorer.fit([*SENTENCES, *SENTENCES[:3]])


@pytest.fixture(scope="session")
def embedded():
    """The embedded model, without whitening."""
    return movers.load("wsmd", whitening="none")


@pytest.fixture(scope="session")
def data():
    """The folder of evaluation data."""
    default = Path(__file__).parents[1] / "shared" / "data"
    folder = Path(os.environ.get("MOVERS_DATA", default))
    if not folder.is_dir():
        pytest.skip(f"no evaluation data: set MOVERS_DATA or provide {default.name} in ../shared")
    return folder
