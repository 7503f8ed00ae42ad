"""Learn the calibration that ships with the package for the embedded model.

python scripts/learn_calibration.py
"""

import json
from pathlib import Path

from movers.loading import load_encoder
from movers.measures.default import learn

TARGET = Path(__file__).parent.parent / "src" / "movers" / "data" / "calibrations.json"


def main() -> None:
    """Learn and write."""
    encoder = load_encoder(engine="torch")
    known = learn(encoder)
    TARGET.write_text(json.dumps({encoder.fingerprint: known.to_json()}) + "\n", "utf-8")
    print(f"wrote {TARGET.name}: {known.digest}, tells {known.apart} apart")
    print(*known.describe(), sep="\n")


if __name__ == "__main__":
    main()
