"""Results as a run might give them, made up but of realistic size."""

import numpy as np

from movers.measures.registry import METHODS
from movers_research.outcomes import Illustration, Overlap, Results, Stage
from movers_research.scores import Column, Score

METRICS = {"paws-wiki-test": "auc", "stsb-test": "spearman"}
DEV = "paws-wiki-dev", "paws-qqp-dev"
LAYERS, HEADS = 6, 12
SELECTIONS = {"top1": "5", "BV": "4-6", "all": "1-6"}


def make_results(published=True, seed=7):
    """Scores of all methods on two test sets, heads on a development set as well."""
    rng = np.random.default_rng(seed)
    heads, means = make_heads(rng)
    return Results(
        facts={
            "model": "all-MiniLM-L6-v2, 6 layers of 12 heads",
            "command": "movers reproduce --model minilm --out results",
            "versions": "movers 0.1, torch 2.9, numpy 2.4",
        },
        scores=tuple(make_scores(rng, published)),
        heads=heads,
        layer_means=means,
        variability={
            name: np.linspace(0.08, 0.5, LAYERS)[:, None] ** 1.2
            + rng.normal(0, 0.03, (LAYERS, HEADS)).clip(-0.06, 0.06)
            + 0.05
            for name in DEV
        },
        contextual=dict.fromkeys(DEV, (4, 5, 6)),
        overlaps=tuple(make_overlaps(rng, published)),
        illustrations=make_illustrations(published),
        stages=(
            Stage("encode", 184.2, 41000, "sentences"),
            Stage("word transport", 12.9, 120000, "pairs"),
            Stage("structure", 961.4, 2880000, "pairs × heads"),
            Stage("bootstrap", 41.0, 1000, "samples"),
        ),
        notes=("Trees come from en_core_web_sm; the paper used stanza.",),
    )


def make_scores(rng, published):
    for dataset, metric in [*METRICS.items(), (DEV[0], "auc")]:
        level = {"auc": 0.56, "spearman": 0.68}[metric]
        for recipe in ("paper", "reference"):
            for embedding in (0, LAYERS):
                for name, method in METHODS.items():
                    base = name.removeprefix("wsmd-").removeprefix("lambda-")
                    place = np.random.default_rng(len(base) * 31 + sum(map(ord, base)) + embedding)
                    value = level + 0.1 * (embedding > 0) + place.normal(0, 0.03)
                    for selection in SELECTIONS if "layers" in method.settings else ("",):
                        gain = (0.03 if metric == "auc" else -0.01) + rng.normal(0, 0.012)
                        structural = "layers" in method.settings
                        found = value + rng.normal(0, 0.004) + (gain if structural else 0)
                        near = 0.008 + 0.004 * rng.random()
                        yield Score(
                            Column(
                                dataset,
                                name,
                                recipe,
                                embedding,
                                0.5 if "layers" in method.settings else None,
                            ),
                            selection,
                            SELECTIONS.get(selection, ""),
                            metric,
                            found,
                            found - near,
                            found + near,
                            pairs=8000 if metric == "auc" else 1362,
                            dropped=17 if dataset == "stsb-test" else 0,
                            published=round(found + rng.normal(0, 0.01), 4)
                            if published and recipe == "reference" and dataset in METRICS
                            else None,
                        )


def make_heads(rng):
    heads, means = {}, {}
    for method in ("wsmd-wmd", "wsmd-wrd", "smd"):
        for recipe in ("paper", "reference"):
            for embedding in (0, LAYERS):
                common = (
                    rng.normal(0, 0.02, (LAYERS, HEADS)) + np.linspace(0, 0.05, LAYERS)[:, None]
                )
                for dataset in (DEV[0], "paws-wiki-test"):
                    column = Column(dataset, method, recipe, embedding, 0.5)
                    heads[column] = 0.6 + common + rng.normal(0, 0.012, (LAYERS, HEADS))
                    means[column] = heads[column].mean(axis=1) + 0.015
    return heads, means


def make_overlaps(rng, published):
    for dataset, metric in METRICS.items():
        count = 1500
        if metric == "auc":
            gold = rng.integers(0, 2, count).astype(float)
            common = rng.poisson(11 + 0.6 * gold)
        else:
            gold = (5 * rng.random(count)).round(2)
            common = rng.poisson(1 + gold)
        rho = float(np.corrcoef(common, gold)[0, 1])
        yield Overlap(dataset, common, gold, rho, rho - 0.01 if published else None)


def make_illustrations(published):
    known = {"wmd": 12.54, "lambda-wmd": 12.54, "wsmd-wmd": 7.26}
    other = {"wmd": 12.55, "lambda-wmd": 13.30, "wsmd-wmd": 8.03}
    source = "Obama speaks to the media in Illinois"
    return tuple(
        Illustration(
            source, target, {k: v + 0.01 for k, v in values.items()}, values if published else {}
        )
        for target, values in (
            ("The president greets the press in Chicago", known),
            ("The press greets the president in Chicago", other),
        )
    )
