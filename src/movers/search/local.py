"""The engine that is this process: what `movers.integrations.ray_search` does on many."""

from __future__ import annotations

from movers.search.index import Index
from movers.search.mining import mine


class LocalEngine:
    """Builds and mines here."""

    build = staticmethod(Index.build)
    mine = staticmethod(mine)
