"""Tables and frames of sentences, read and written."""
