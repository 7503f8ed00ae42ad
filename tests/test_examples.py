"""Every example runs to its end without a warning and has something to say."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))
APART = {"ray_score"}
"""Examples run in processes of their own, for they start others."""
SAYS = {
    "demo": "wsmd-wrd  words + structure, contextual vectors",
    "frames": "distance: double",
    "langchain_retrieve": "from checking to savings?  →  to savings",
    "llama_index_rerank": "reranked: The senator sued the newspaper.",
    "mteb_sts": "movers/wsmd-wrd-all-MiniLM-L6-v2",
    "ray_score": "equal to one process bit for bit: True",
    "sentence_transformers_rerank": "reranked by the same model",
    "sklearn_clusters": "nearest neighbour under wsmd",
    "torchmetrics_eval": "per text, in the order given",
}
"""A line that shows that an example came to its point."""


def run_apart(path):
    done = subprocess.run([sys.executable, path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def runnable(path):
    """An example; what starts a cluster takes long."""
    marks = [pytest.mark.published] if path.stem == "ray_score" else []
    return pytest.param(path, marks=marks, id=path.stem)


@pytest.mark.parametrize("path", [*map(runnable, EXAMPLES)])
def test_example(path, tmp_path, monkeypatch, capfd):
    """Most in this process: nearly all of their time would go to imports."""
    monkeypatch.chdir(tmp_path)
    if path.stem in APART:
        out, err = run_apart(path)
    else:
        monkeypatch.setattr(sys, "argv", [str(path)])
        monkeypatch.setenv("COLUMNS", "100")  # tables are as wide as a terminal
        runpy.run_path(str(path), run_name="__main__")
        out, err = capfd.readouterr()
    assert SAYS[path.stem] in out
    assert "Warning" not in err
    assert not list(tmp_path.iterdir())
