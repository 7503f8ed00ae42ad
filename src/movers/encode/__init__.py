"""Text to word vectors and attention matrices."""
