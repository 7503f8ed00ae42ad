"""Make every table of results/ again and compare all of its rows, to the last digit.

    MOVERS_DATA=… python scripts/check_results.py [NAME …] [--mpnet FOLDER]

Needs the evaluation data; FOLDER holds sentence-transformers/all-mpnet-base-v2. Rows that tell how
long something took are left out. An hour of processor time for all; NAME picks some: see `TABLES`.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
DATA = Path(os.environ.get("MOVERS_DATA", ROOT.parent / "shared" / "data"))
MOVERS = (sys.executable, "-m", "movers")
ALIGNERS = "shares,identical words,argmax,itermax,match,balanced,partial,unbalanced"
ALIGN = (*MOVERS, "evaluate-alignment", "--aligners", ALIGNERS)
DEFAULT = (*MOVERS, "reproduce", "default-measure", "-o", "OUT")

TABLES: dict[str, tuple[str, tuple[str, ...]]] = {
    "reproduction": ("reproduction/report.md", (*MOVERS, "reproduce", "-o", "OUT")),
    "default measure": ("default_measure.md", DEFAULT),
    "default measure, mpnet": (
        "default_measure.md",
        (*DEFAULT, "--model", "MPNET", "--sample", "500"),
    ),
    "layers": ("paws_wiki_dev.md", (sys.executable, "scripts/paws_table.py", "DATA")),
    "methods": ("methods_dev.md", (sys.executable, "scripts/method_table.py", "DATA")),
    "alignment": ("alignment.md", (*ALIGN, "DATA/MTRef/mtref-test.tsv")),
    "alignment, development": ("alignment.md", (*ALIGN, "DATA/MTRef/mtref-dev.tsv")),
    "alignment, mpnet": (
        "alignment.md",
        (*ALIGN, "DATA/MTRef/mtref-dev.tsv", "--limit", "400", "--model", "MPNET"),
    ),
}
"""By name, a file of results/ and the command that makes what is in it."""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="tables; all if none is named")
    parser.add_argument("--mpnet", metavar="FOLDER", help="all-mpnet-base-v2")
    given = parser.parse_args()
    unknown = {*given.names} - {*TABLES}
    if unknown:
        parser.error(f"no such table: {', '.join(sorted(unknown))}; there are {', '.join(TABLES)}")
    differing = 0
    for name in given.names or TABLES:
        path, command = TABLES[name]
        if "MPNET" in command and given.mpnet is None:
            print(f"{name}: left out, needs --mpnet", flush=True)
            continue
        expected = {*rows((ROOT / "results" / path).read_text("utf-8"))}
        made = [*rows(run(command, given.mpnet))]
        missing = [row for row in made if row not in expected]
        print(f"{name}: {len(made) - len(missing)} of {len(made)} rows as in {path}", flush=True)
        for row in missing:
            print(f"  {' | '.join(row)}")
        differing += len(missing) + (not made)
    return 1 if differing else 0


def run(command: tuple[str, ...], mpnet: str | None) -> str:
    """What a command reports: its report.md if it writes one, else what it prints."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "out" / "report.md"
        words = {"OUT": str(report.parent), "MPNET": str(mpnet), "DATA": str(DATA)}
        filled = [re.sub("OUT|MPNET|DATA", lambda word: words[word[0]], one) for one in command]
        environment = {**os.environ, "MOVERS_DATA": str(DATA)}
        printed = subprocess.run(
            filled, check=True, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
        ).stdout
        return report.read_text("utf-8") if report.is_file() else printed


def rows(text: str) -> Iterator[tuple[str, ...]]:
    """Rows of tables without their markup; those of times end the text."""
    text = text.partition("Where the time goes")[0].replace("*", "").replace("`", "")
    for line in text.splitlines():
        cells = tuple(cell.strip() for cell in re.split(r"\s*\|\s*|\s{2,}", line.strip(" |")))
        if len(cells) > 2 and any(map(str.isdigit, line)):
            yield cells


if __name__ == "__main__":
    sys.exit(main())
