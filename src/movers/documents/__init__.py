"""Texts of any length: their sentences, moved onto each other as words are within a sentence."""
