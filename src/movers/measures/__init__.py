"""Measures: objects that say what they read of sentences, how far two are apart, and why."""
