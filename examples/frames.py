"""Data frames: the same kind comes back with distances, in memory, lazily or as a stream."""

import tempfile
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
from pyarrow import parquet
from pyarrow.dataset import dataset, write_dataset

import movers
from movers.io.frames import score_frame

PAIRS = {
    "source": [
        "In Chicago the president greets the press.",
        "In Chicago the president greets the press.",
        "The king gave the knight the sword.",
        "The king gave the knight the sword.",
        "The nurse called the doctor this morning.",
        "The nurse called the doctor this morning.",
    ],
    "target": [
        "The president greets the press in Chicago.",
        "The press greets the president in Chicago.",
        "The king gave the sword to the knight.",
        "The knight gave the sword to the king.",
        "This morning the nurse called the doctor.",
        "The doctor called the nurse this morning.",
    ],
    "same meaning": [True, False] * 3,
}


def main() -> None:
    wsmd = movers.load("wsmd")
    print("pandas, one column")
    print(wsmd.score(pd.DataFrame(PAIRS))[["target", "distance"]].to_string(index=False), "\n")

    print("polars, lazily, two measures: how far apart are the two kinds of pairs?")
    lazy = score_frame(pl.LazyFrame(PAIRS), {"wmd": wsmd.using("wmd"), "wsmd": wsmd})
    means = lazy.group_by("same meaning", maintain_order=True).agg(pl.col("wmd", "wsmd").mean())
    with pl.Config(tbl_formatting="MARKDOWN", tbl_hide_dataframe_shape=True):
        print(means.collect(), "\n")

    print("Arrow, from one Parquet file to another, never whole in memory")
    with tempfile.TemporaryDirectory() as folder:
        parquet.write_table(pa.table(PAIRS), Path(folder, "pairs.parquet"))
        reader = dataset(Path(folder, "pairs.parquet")).scanner(batch_size=2).to_reader()
        write_dataset(wsmd.score(reader), Path(folder, "scored"), format="parquet")
        print(parquet.read_schema(next(Path(folder, "scored").iterdir())).remove_metadata())


if __name__ == "__main__":
    main()
