"""Every example runs to its end in a process of its own and has something to say."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
SAYS = {
    "demo": "wsmd-wrd  words + structure, contextual vectors",
    "frames": "distance: double",
    "mteb_sts": "movers/wsmd-wrd-all-MiniLM-L6-v2",
    "sentence_transformers_rerank": "reranked by the same model",
    "sklearn_clusters": "nearest neighbour under wsmd",
    "torchmetrics_eval": "per text, in the order given",
}
"""A line that shows that an example came to its point."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """All examples under way, two at a time: most of their time goes to imports."""

    def run(path):
        folder = tmp_path_factory.mktemp(path.stem)
        command = [sys.executable, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=240)
        return done, list(folder.iterdir())

    with ThreadPoolExecutor(2) as pool:
        yield {path: pool.submit(run, path) for path in EXAMPLES}
        pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, runs):
    done, left_behind = runs[path].result()
    assert done.returncode == 0, done.stderr
    assert SAYS.get(path.stem, "\n") in done.stdout
    assert "Warning" not in done.stderr
    assert not left_behind
