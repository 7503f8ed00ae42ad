"""Compile the kernels into the wheel, or into the checkout for an editable install.

MOVERS_BUILD says for which processors: "all" kinds (the default of a wheel), "host", this one
alone (the default of an editable install), or "none". Without a C compiler the package is built
without kernels, and compiles them at the first call (``movers[compile]``).
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class KernelHook(BuildHookInterface):
    """Runs `movers.building`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and add the libraries to the wheel."""
        editable = version == "editable"
        kinds = os.environ.get("MOVERS_BUILD") or ("host" if editable else "all")
        if kinds == "none":
            return
        root = Path(self.root)
        package = root / "src" / "movers"
        folder = package / "kernels" if editable else Path(self.directory, "kernels")
        command = [sys.executable, "-m", "movers.building", str(folder), f"--{kinds}"]
        paths = [str(package.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        made = subprocess.run(
            command, env=environment, stdout=subprocess.PIPE, text=True, check=False
        )
        if made.returncode:
            self.app.display_warning("no kernels were compiled; users need movers[compile]")
            return
        if not editable:
            for path in map(Path, made.stdout.splitlines()):
                build_data["force_include"][str(path)] = f"movers/kernels/{path.name}"
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{_platform()}"


def _platform() -> str:
    """What wheels for this machine are tagged with; any Python can call the code."""
    from packaging.tags import platform_tags

    return next(platform_tags())
