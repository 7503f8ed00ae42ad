"""Every example runs to its end in a process of its own and has something to say."""

import subprocess
import sys
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


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, tmp_path):
    command = [sys.executable, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=240)
    assert done.returncode == 0, done.stderr
    assert SAYS.get(path.stem, "\n") in done.stdout
    assert "Warning" not in done.stderr
    assert not list(tmp_path.iterdir()), "an example leaves nothing behind"
