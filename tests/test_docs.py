"""Every Python block of the documentation runs, top to bottom."""

import re
import sys
from pathlib import Path

import matplotlib
import pytest

from movers.methods import METHODS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)

matplotlib.use("agg")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    known, loaded = dict(METHODS), set(sys.modules)
    namespace: dict = {}
    try:
        for block in BLOCK.findall(page.read_text("utf-8")):
            if named := re.match(r"# file: (\w+)\.py\n", block):
                (tmp_path / f"{named[1]}.py").write_text(block, "utf-8")
            else:
                exec(compile(block, page.name, "exec"), namespace)
    finally:
        METHODS.clear()
        METHODS.update(known)
        for name in set(sys.modules) - loaded:
            if getattr(sys.modules[name], "__file__", "") and str(tmp_path) in str(
                sys.modules[name].__file__
            ):
                del sys.modules[name]
