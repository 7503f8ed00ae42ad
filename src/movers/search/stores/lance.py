"""LanceDB: a table on disk, searched in this process."""

from __future__ import annotations

from typing import Any

from movers.arrays import Singles
from movers.search.reranking import TOLERANCE, Candidate


class LanceStore:
    """Sentences in a table of LanceDB.

    The search bypasses any approximate index of the table.

    Parameters
    ----------
    table
        A table with a column of vectors.
    key, text, vector
        Its columns: numbers or names, sentences and vectors.
    tolerance
        What its cosines may be off.
    """

    def __init__(
        self,
        table: Any,
        *,
        key: str = "id",
        text: str = "text",
        vector: str = "vector",
        tolerance: float = TOLERANCE,
    ) -> None:
        self.table, self.tolerance = table, tolerance
        self.key, self.text, self.vector = key, text, vector

    def nearest(self, vector: Singles, count: int) -> list[Candidate]:
        """So many sentences nearest to a vector, nearest first, or all there are."""
        asked = self.table.search(vector, vector_column_name=self.vector).distance_type("cosine")
        found = asked.bypass_vector_index().select([self.key, self.text, "_distance"])
        return [
            Candidate(row[self.key], row[self.text], 1.0 - row["_distance"])
            for row in found.limit(count).to_list()
        ]
