"""Judges: what labels say about pairs, learned from numbers of them, tested and kept."""
