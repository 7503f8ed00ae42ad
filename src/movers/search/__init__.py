"""Exact search and mining over a corpus: sentences that say the same, not merely mention it."""
