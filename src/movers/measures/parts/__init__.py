"""Encodings to weights, costs and structure: the three ingredients of a transport problem."""
