"""Whole files through a scorer."""
