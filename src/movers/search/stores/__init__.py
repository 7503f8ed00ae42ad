"""Thin adapters: vector stores that propose candidates for `movers.search.rerank`.

Each takes an index or table of the store as it is, filled with the vectors of `movers.search.embed`
(or any vectors of the same directions). What they list must be the nearest: use flat, exact
search; with an approximate one a certificate is only as good as its recall.
"""
