"""Score sentence pairs with Ray: two workers on this machine, or those of a cluster.

    python examples/ray_score.py [--address HOST:PORT]

The distances equal those of a single process bit for bit.
"""

import argparse

import ray

import movers
from movers.integrations.ray import Workers, cluster, score

PEOPLE = ["doctor", "singer", "farmer", "judge", "painter", "sailor"]
PAIRS = [
    (f"the {a} praised the {b} in Lisbon", f"the {b} praised the {a} in Lisbon")
    for a in PEOPLE
    for b in PEOPLE
    if a != b
]


def main(address: str | None) -> None:
    scorer = movers.load("wsmd")
    rows = [{"source": source, "target": target} for source, target in PAIRS]
    with cluster(address):
        scored = score(ray.data.from_items(rows), {"wsmd": scorer}, workers=Workers(2))
        found = scored.take_all()
    local = scorer.distances(PAIRS)
    for row in found[:3]:
        print(f"{row['wsmd']:.4f}  {row['source']}  |  {row['target']}")
    same = [row["wsmd"] for row in found] == local.tolist()
    print(f"{len(found)} pairs; equal to one process bit for bit: {same}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--address", help="a running cluster; default: this machine")
    main(parser.parse_args().address)
