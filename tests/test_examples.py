"""Every example runs to its end without a warning and has something to say."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
FOLDER = Path(__file__).parents[1] / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))
SAYS = {
    "demo": "wsmd-wrd  words + structure, contextual vectors",
    "frames": "distance: double",
    "mteb_sts": "movers/wsmd-wrd-all-MiniLM-L6-v2",
    "ray_score": "equal to one process bit for bit: True",
    "sentence_transformers_rerank": "reranked by the same model",
    "sklearn_clusters": "nearest neighbour under wsmd",
    "torchmetrics_eval": "per text, in the order given",
}
"""A line that shows that an example came to its point."""


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, tmp_path, monkeypatch, capfd):
    """As a script, but in this process: most of its time would go to imports."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(path)])
    monkeypatch.syspath_prepend(path.parent)
    runpy.run_path(str(path), run_name="__main__")
    said = capfd.readouterr()
    assert SAYS[path.stem] in said.out
    assert "Warning" not in said.err
    assert not list(tmp_path.iterdir())


def test_the_demo_runs_in_a_process_of_its_own(tmp_path):
    command = [sys.executable, FOLDER / "demo.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert SAYS["demo"] in done.stdout
    assert not list(tmp_path.iterdir())
