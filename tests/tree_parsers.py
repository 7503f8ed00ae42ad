"""Parsers for tests: made-up trees of any sentence, and a real spaCy parser trained on the spot."""

import re
import warnings

import numpy as np

from movers_research.trees import Tree


class MadeUp:
    """Some tree for every sentence, always the same one."""

    name = "made-up"

    def __init__(self):
        self.calls = []

    def parse(self, sentences):
        self.calls.extend(sentences)
        return [self.tree(sentence) for sentence in sentences]

    @staticmethod
    def tree(sentence):
        spans = [match.span() for match in re.finditer(r"\w+|[^\w\s]", sentence)]
        rng = np.random.default_rng(len(sentence))
        return Tree.of(spans, [-1, *(int(rng.integers(k)) for k in range(1, len(spans)))])


EXAMPLES = (
    ("the press greets the president", [1, 2, 2, 4, 2]),
    ("the president greets the press", [1, 2, 2, 4, 2]),
    ("the dog sees the fox", [1, 2, 2, 4, 2]),
    ("a fox sees a dog", [1, 2, 2, 4, 2]),
    ("the dog sleeps", [1, 2, 2]),
    ("a fox sleeps", [1, 2, 2]),
    ("the press sleeps", [1, 2, 2]),
    ("the president sees a fox", [1, 2, 2, 4, 2]),
)
"""Sentences with heads; a root is its own head, as spaCy has it."""


def train_spacy():
    """A blank English pipeline with a parser that has learnt the examples."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import spacy
        from spacy.training import Example

        spacy.util.fix_random_seed(0)
        nlp = spacy.blank("en")
        nlp.add_pipe("parser", config={"min_action_freq": 1})
        examples = [
            Example.from_dict(
                nlp.make_doc(text),
                {
                    "heads": heads,
                    "deps": ["ROOT" if h == k else "child" for k, h in enumerate(heads)],
                },
            )
            for text, heads in EXAMPLES
        ]
        optimizer = nlp.initialize(lambda: examples)
        for _ in range(20):
            nlp.update(examples, sgd=optimizer)
        return nlp
