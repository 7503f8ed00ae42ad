"""torchmetrics: judge generated texts against references, batch by batch."""

from torchmetrics import MetricCollection

import movers
from movers.integrations.torchmetrics import MoversDistance

BATCHES = [
    (
        ["The cat sat on the mat.", "The king gave the sword to the knight."],
        [
            ["A cat was sitting on the mat.", "The cat sat on a rug."],
            "The king gave the knight the sword.",
        ],
    ),
    (
        ["The knight gave the sword to the king."],
        ["The king gave the knight the sword."],
    ),
]


def main() -> None:
    scorer = movers.load("wsmd")
    metrics = MetricCollection(
        {name: MoversDistance(scorer.using(name)) for name in ("wmd", "wsmd")}
    )
    for number, (generated, references) in enumerate(BATCHES):
        found = metrics(generated, references)
        means = ", ".join(f"{name} {value:.4f}" for name, value in found.items())
        print(f"batch {number}: {means}")
    print("all:    ", ", ".join(f"{name} {value:.4f}" for name, value in metrics.compute().items()))
    print("\nper text, in the order given:")
    texts = [text for generated, _ in BATCHES for text in generated]
    columns = [metrics[name].distances.tolist() for name in ("wmd", "wsmd")]
    for text, wmd, wsmd in zip(texts, *columns, strict=True):
        print(f"  wmd {wmd:7.4f}  wsmd {wsmd:.4f}  {text}")


if __name__ == "__main__":
    main()
