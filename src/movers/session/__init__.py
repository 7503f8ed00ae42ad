"""Between settings and verbs: a model, sentences encoded, pairs solved, statistics fitted."""
