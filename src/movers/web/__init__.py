"""Explanations in a browser: the page, and the server behind its live version."""
