"""Learn the judge that ships with the package for the embedded model.

    python scripts/learn_same.py DATA

DATA is a folder of evaluation data (docs/datasets.md); of it, PAWS-Wiki dev without the pairs of
PAWS-X and STS-B dev are used, and only weights leave this script.
"""

import sys
from pathlib import Path

from movers.loading import load_encoder
from movers_research.same_judge import learn_same

TARGET = Path(__file__).parent.parent / "src" / "movers" / "data" / "same.judge"


def main(data: str) -> None:
    known = learn_same(load_encoder(), Path(data))
    known.save(TARGET)
    print(f"wrote {TARGET.name}: {known.digest}, {dict(known.facts)}")


if __name__ == "__main__":
    main(sys.argv[1])
