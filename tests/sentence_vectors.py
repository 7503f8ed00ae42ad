"""Sentence vectors by their definitions, to hold measures against."""

from collections import Counter

import numpy as np
from sklearn.decomposition import TruncatedSVD

from tiny_models import PAIRS, SENTENCES

TEXTS = [*SENTENCES, *SENTENCES[:3]]


def write_counts(path):
    """Write a small table of word counts with a few frequent words."""
    words = Counter(word for text in SENTENCES for word in text.lower().split())
    rare = {f"rare{k}": 1 for k in range(400)}
    table = {word: 300 * count for word, count in words.items()} | rare
    path.write_text("\n".join(f"{word} {count}" for word, count in table.items()), "utf-8")
    return path


def vectors_of(scorer):
    """Word vectors of every sentence."""
    measured = scorer.weigh(SENTENCES)
    rows = measured.encodings.rows.items()
    return {text: measured.vectors[row].astype(float) for text, row in rows}


def words_of(scorer):
    """Words of every sentence as frequencies are looked up by."""
    encodings = scorer.weigh(SENTENCES).encodings
    if scorer.settings.recipe == "reference":
        return {text: encodings.spellings[row] for text, row in encodings.rows.items()}
    return {
        text: [word.lower() for word in encodings.surface(row)]
        for text, row in encodings.rows.items()
    }


def cosine_distance(a, b):
    return 1 - a @ b / (np.linalg.norm(a) * np.linalg.norm(b))


def check(scorer, sentence_vectors, tolerance=1e-10):
    """Hold distances against cosines of sentence vectors."""
    expected = [cosine_distance(sentence_vectors[a], sentence_vectors[b]) for a, b in PAIRS]
    np.testing.assert_allclose(scorer.distances(PAIRS), expected, atol=tolerance)


def check_removal(scorer, weights, number, *, scaled=False):
    """Hold distances against means less their first principal components."""
    vectors = vectors_of(scorer)
    if paper := scorer.settings.recipe == "paper":
        if scaled:
            vectors = {t: rows / np.linalg.norm(rows, axis=0) for t, rows in vectors.items()}
        words = {t: weights[t] for t in vectors}
    else:
        words = {t: weights[t] / len(weights[t]) for t in vectors}
    sums = {
        t: sum(w * v for w, v in zip(words[t], rows, strict=True)) / (len(rows) if paper else 1)
        for t, rows in vectors.items()
    }
    directions, shares = _components(np.array([sums[t] for t in TEXTS]), number)
    found = {}
    for text, rows in vectors.items():
        if paper:
            kept = sums[text].copy()
            for c, share in zip(directions, shares, strict=True):
                kept -= share * (sums[text] @ c) * c
        else:
            kept = np.zeros_like(sums[text])
            for w, v in zip(words[text], rows, strict=True):
                for c, share in zip(directions, shares, strict=True):
                    v = v - share * w / words[text].sum() * (v @ c) * c
                kept += w * v
        found[text] = kept
    check(scorer, found)


def _components(matrix, number):
    svd = TruncatedSVD(number, algorithm="arpack", random_state=0).fit(matrix)
    return svd.components_, svd.singular_values_**2 / np.sum(svd.singular_values_**2)
