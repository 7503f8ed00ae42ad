"""Measures on labelled pairs: data sets, metrics, resumable runs, and reports about them."""
