"""The texts that long texts are measured on, and what is said of them."""

import re

import numpy as np
import pytest

import movers
from movers_research import long_texts
from movers_research.long_texts import KINDS, agreement, clauses, lee


def test_agreements_differ_where_they_are_changed_and_nowhere_else():
    rng = np.random.default_rng(0)
    for words in (200, 1000):
        whole = agreement(rng, words)
        assert len(set(whole.sentences)) == len(whole.sentences)
        assert words <= sum(len(one.split()) for one in whole.sentences) < words + 30
        for kind in KINDS:
            places = [p for p in range(len(whole.sentences)) if whole.can_change(kind, p)]
            assert places
            changed = whole.changed(kind, places[-1])
            apart = [p for p, one in enumerate(whole.sentences) if one != changed[p]]
            assert apart == places[-1:]


def test_every_clause_has_its_own_words_and_its_denial():
    for row in clauses():
        assert len({row["text"], row["reworded"], row["denied"]}) == 3
        assert " not " in row["denied"]
        places = {name for name in "abxn" if f"{{{name}}}" in row["text"]}
        for other in ("reworded", "denied"):
            assert places == {name for name in "abxn" if f"{{{name}}}" in row[other]}, row


def test_lees_documents_are_there():
    pytest.importorskip("gensim")
    texts, people = lee()
    assert len(texts) == 50 and people.shape == (50, 50)
    assert np.array_equal(people.diagonal(), np.ones(50)) and (people >= 0).all()


OURS, READ = "movers, sentence by sentence", "cosine of the text as far as it is read"


@pytest.mark.published
def test_the_report_has_all_tables(monkeypatch):
    pytest.importorskip("gensim")
    monkeypatch.setattr(long_texts, "RESAMPLES", 5)
    report = long_texts.describe(movers.load(), "movers reproduce long-texts", cases=3, texts=2)
    assert "| all | 3 | 0 | 100% |" in report and "| shuffled |" in report
    ours, read = (re.search(rf"\| {name} \| (\S+) \|", report) for name in (OURS, READ))
    assert ours and read and float(ours[1]) > float(read[1]) > 0.6
