"""Write the numbers of the paper as data, from the LaTeX source of its text.

    python scripts/published_numbers.py PAPER.txt

PAPER.txt is the source of Yamagiwa et al. (2023). Two tables and a file of facts go to
``research/src/movers_research/published``; only numbers, names and the sentences of the opening
example leave this script.
"""

import csv
import io
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

TARGET = Path(__file__).parent.parent / "research" / "src" / "movers_research" / "published"

TABLES = {
    "tab:PAWSQQP-noemb": "paws-qqp-test",
    "tab:PAWSWiki-noemb": "paws-wiki-test",
    "tab:STSB-noemb": "stsb-test",
    "tab:PAWSQQP": "paws-qqp-test",
    "tab:PAWSWiki": "paws-wiki-test",
    "tab:STSB": "stsb-test",
    "tab:PAWSQQP_others": "paws-qqp-test",
    "tab:PAWSWiki_others": "paws-wiki-test",
    "tab:STSB_others": "stsb-test",
    "tab:SICK": "sick-test",
    "tab:PAWSQQP_dev_full": "paws-qqp-train",
}
IMPROVEMENTS = ("tab:BERT", "tab:SimCSE", "tab:RoBERTa")
IMPROVED = ("paws-qqp-test", "paws-wiki-test", "stsb-test")
METHODS = {
    ("BOWS", "", ""): "bow",
    ("[CLS]", "", ""): "cls",
    ("Avg. Pool.", "", ""): "average",
    ("BERTScore", "uniform", ""): "bertscore",
    ("BERTScore", "IDF", ""): "bertscore-idf",
    ("DynaMax", "", ""): "dynamax",
    ("SIF", "", ""): "sif",
    ("uSIF", "", ""): "usif",
    ("Con. Neg.", "", ""): "conceptor",
    ("ROTS", "", ""): "rots",
    ("OPWD", "uniform", "$L_2$"): "opwd",
    ("OPWD", "uniform", "cosine"): "opwd-cos",
    ("WMDo", "uniform", "cosine"): "wmdo",
    ("SMD", "uniform", ""): "smd",
    ("SMD", "IDF", ""): "smd-idf",
    ("SMD", "norm", ""): "smd-norm",
    ("WMD", "uniform", "$L_2$"): "wmd",
    ("WMD", "IDF", "$L_2$"): "wmd-idf",
    ("WRD", "norm", "cosine"): "wrd",
    ("WRD", "IDF", "cosine"): "wrd-idf",
    ("SynWMD", "SWF", "cosine"): "synwmd-cos",
    ("SynWMD", "SWF", "SWD"): "synwmd",
}
# The tables of DistilBERT keep these labels for its layers 3-6 and 1-6.
SELECTIONS = {"": "", "top 1": "top1", "5-12": "BV", "1-12": "all"}
EMBEDDINGS = {"0": "first", "12": "last", "": ""}
ORDINALS = {"third": 3, "fifth": 5}
MODEL = re.compile(r"(SimCSE|RoBERTa|DistilBERT|BERTseed0|BERT)(0|12|)")
NUMBER = re.compile(r"-?\d+\.\d+")


def table(text: str, label: str) -> list[list[str]]:
    """Rows of cells of the table with a label, rules left out."""
    end = text.index(f"\\label{{{label}}}")
    start = text.rindex(r"\begin{tabular}", 0, end)
    body = text[start : text.rindex(r"\end{tabular}", start, end)]
    body = re.sub(r"\\(toprule|midrule|bottomrule|cline\{[^}]*\})", "", body)
    return [[cell.strip() for cell in row.split("&")] for row in body.split(r"\\")[:-1]]


def plain(cell: str) -> str:
    """A cell without the commands that only concern its looks."""
    cell = re.sub(r"\\(texttt|mathrm)\{([^}]*)\}", r"\2", cell)
    cell = cell.replace(r"$^\ast$", "").replace(r"\_", "\0").replace("$_seed 0$", "seed0")
    return (
        cell.replace("$_seed0$", "seed0").replace("{[}", "[").replace("{]}", "]").replace("\0", "_")
    )


def filled(rows: list[list[str]], columns: int) -> Iterator[list[str]]:
    """Rows whose first columns repeat what spans several of them."""
    spans = [("", 0)] * columns
    for row in rows:
        for column in range(columns):
            found = re.fullmatch(r"\\multirow\{(\d+)\}\{\*\}\{(.*)\}", row[column])
            value, left = (found[2], int(found[1])) if found else (row[column], 1)
            spans[column] = (value, left) if value or not spans[column][1] else spans[column]
        yield [plain(value) for value, _ in spans] + row[columns:]
        spans = [(value, left - 1) if left > 1 else ("", 0) for value, left in spans]


def model_of(cell: str) -> tuple[str, str]:
    """Model and layer of the word vectors that the head of a column stands for."""
    found = MODEL.fullmatch(plain(cell))
    assert found, cell
    return found[1], EMBEDDINGS[found[2]]


def scores(text: str) -> Iterator[tuple[str, ...]]:
    """Every cell of the tables of scores."""
    for label, dataset in TABLES.items():
        rows = table(text, label)
        keys = 3 if label.endswith("noemb") else 4
        heads = [model_of(cell) for cell in rows[1][keys:]]
        for cells in filled(rows[2:], keys):
            name, layer, weight, *cost = cells[:keys]
            selection = SELECTIONS[layer]
            method = METHODS[name, weight, "".join(cost)]
            if selection and name != "SMD":
                method = f"wsmd-{method}"
            for (model, embedding), cell in zip(heads, cells[keys:], strict=True):
                value, *gain = NUMBER.findall(cell.replace("(--)", "0.00"))
                yield model, dataset, method, embedding, selection, value, *(gain or [""])


def improvements(text: str) -> Iterator[tuple[str, ...]]:
    """Every cell of the tables of average improvements."""
    for label in IMPROVEMENTS:
        for layer, *cells in table(text, label)[3:]:
            columns = [(end, name) for end in ("first", "last") for name in IMPROVED]
            for (embedding, dataset), cell in zip(columns, cells, strict=True):
                value = NUMBER.findall(cell)[0]
                yield label[4:], dataset, embedding, SELECTIONS[layer], value


def models(text: str) -> dict[str, dict[str, object]]:
    """The models: hub name, layers, the layer picked, the first contextual one."""
    hubs = {
        plain(name).removeprefix("unsup-"): plain(hub)
        for name, hub in table(text, "table:model")[1:]
    }
    starts = dict.fromkeys(hubs, ORDINALS["fifth"])
    found = re.search(r"from the (\w+) layer in DistilBERT", text)
    assert found and "high from the fifth layer in each model" in text
    starts["DistilBERT"] = ORDINALS[found[1]]
    described: dict[str, dict[str, object]] = {}
    for label in ("tab:top1", "tab:top1_others"):
        (_, *names), *rows = table(text, label)
        for column, name in enumerate(map(plain, names), 1):
            picked = [(row[0].split("th")[0], row[column]) for row in rows if row[column] != "--"]
            layers = int(picked[-1][0])
            described[name] = {
                "hub": hubs[name],
                "layers": layers,
                "top1": {"first": int(picked[0][1]), "last": int(picked[-1][1])},
                "contextual_from": starts[name],
            }
    return described


def sizes(text: str) -> dict[str, dict[str, float]]:
    """Pairs and percentage of paraphrases by data set."""
    found: dict[str, dict[str, float]] = {}
    names = {
        "PAWS$_{QQP}$": "paws-qqp",
        "PAWS$_{Wiki}$": "paws-wiki",
        "STSB": "stsb",
        "SICK-R": "sick",
    }
    for label in ("table:dataset", "table:dataset2", "table:dataset3"):
        (_, *splits), *rows = table(text, label)
        for name, *cells in rows:
            for split, cell in zip(splits, cells, strict=True):
                pairs, *positives = re.findall(r"[\d.]+", cell)
                row = {"pairs": int(pairs)} | (
                    {"positives": float(positives[0])} if positives else {}
                )
                found[f"{names[plain(name)]}-{split.strip().lower()}"] = row
    return found


def illustration(text: str) -> dict[str, object]:
    """The opening example: two pairs, their distances, and how one of them comes about."""
    cells = " & ".join(cell for row in table(text, "table:obama_examples")[1:] for cell in row)
    sentences = [part.strip() for part in re.findall(r"\([abc]\)~([a-z .]+)", cells)]
    numbers = [float(number) for number in re.findall(r"\{(\d+\.\d+)\}", cells)]
    last = re.search(r"WMD = ([\d.]+) for case \(1\) and WMD = ([\d.]+) for case \(2\)", text)
    start = text.index("In case~(2) of Table")
    parts = [float(part) for part in re.findall(r"= ?(\d+(?:\.\d+)?)", text[start : start + 420])]
    assert last and len(sentences) == 4 and len(numbers) == 6
    assert "the second head of the eighth layer of BERT" in text
    methods = ("wmd", "lambda-wmd", "wsmd-wmd")
    return {
        "model": "BERT",
        "layer": 8,
        "head": 2,
        "cases": [
            {
                "source": sentences[2 * case],
                "target": sentences[2 * case + 1],
                "first": dict(zip(methods, numbers[3 * case : 3 * case + 3], strict=True)),
                "last": {"wmd": float(last[case + 1])},
            }
            for case in (0, 1)
        ],
        "decomposition": dict(
            zip(("wsmd", "scale", "mix", "linear", "structural"), parts[:5], strict=True)
        ),
    }


def correlations(text: str) -> dict[str, dict[str, float]]:
    """Correlations under the scatter plots."""
    heads, layers = (float(row[2]) for row in table(text, "tab:qqp_wiki_scatter_corr")[1:])
    caption = text[text.index("Scatter plots of the number of common words") :]
    common = [float(number) for number in re.findall(r"\\times 100 = (-?[\d.]+\d)", caption)]
    names = ("paws-qqp-dev", "paws-wiki-dev", "stsb-dev")
    return {
        "heads": {"heads": heads, "layers": layers},
        "common_words": dict(zip(names, common, strict=True)),
    }


def as_csv(names: str, rows: Iterator[tuple[str, ...]]) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([names.split(), *rows])
    return stream.getvalue()


def published(text: str) -> dict[str, str]:
    """Contents by file name."""
    facts = {
        "models": models(text),
        "sizes": sizes(text),
        "correlations": correlations(text),
        "illustration": illustration(text),
    }
    return {
        "scores.csv": as_csv("model dataset method embedding selection value gain", scores(text)),
        "improvements.csv": as_csv("model dataset embedding selection value", improvements(text)),
        "facts.json": json.dumps(facts, indent=1) + "\n",
    }


if __name__ == "__main__":
    for name, content in published(Path(sys.argv[1]).read_text("utf-8")).items():
        (TARGET / name).write_text(content, "utf-8")
