"""The experiments behind movers: the paper's tables, published numbers and aligners."""
