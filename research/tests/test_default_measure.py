"""The default measure held against others: the right pairs, the right scores, one command."""

import json
import shutil
from collections import Counter

import numpy as np
import pytest

import movers
from movers.cli import main
from movers.errors import InputError
from movers.evaluate.metrics import compare, estimate
from movers.measures.calibration import contrasts
from movers_research import default_measure
from movers_research.datasets import read_dataset
from movers_research.default_measure import METHODS, load_behaviour, load_triples, measure_default
from tiny_models import PAIRS

pytestmark = [
    pytest.mark.filterwarnings("ignore::movers_research.datasets.DatasetWarning"),
    pytest.mark.filterwarnings("ignore::movers.runtime.notices.TruncationWarning"),
]


@pytest.fixture(scope="module")
def labelled(tmp_path_factory):
    """A folder of evaluation data in the layouts of the real one."""
    folder = tmp_path_factory.mktemp("data")
    rows = list(enumerate(PAIRS))
    paws = ["id\ta\tb\tlabel", *(f"{n}\t{a}\t{b}\t{n % 2}" for n, (a, b) in rows)]
    stsb = [f"a\tb\tc\t{n}\t{n % 6}.0\t{a}\t{b}" for n, (a, b) in rows]
    sick = ["id\ta\tb\tscore\tx", *(f"{n}\t{a}\t{b}\t{n % 5}\tx" for n, (a, b) in rows)]
    for name, lines in {
        "PAWSWiki/dev.tsv": paws,
        "PAWSWiki/test.tsv": paws,
        "PAWSX/en_test_ids.txt": [str(n) for n, _ in rows[:20]],
        "STSB/sts-dev.csv": stsb,
        "STSB/sts-test.csv": stsb,
        "SICK/SICK_test_annotated.txt": sick,
    }.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("\n".join(lines), "utf-8")
    return folder


@pytest.fixture(scope="module", autouse=True)
def few():
    """Three contrasts of every kind, side and half."""
    given, counts = contrasts(), Counter()
    chosen = []
    for row in zip(given.kinds, given.same, given.fit, strict=True):
        counts[row] += 1
        chosen.append(counts[row] <= 3)
    own = given.take(np.array(chosen))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(default_measure, "contrasts", lambda: own)
        yield own


@pytest.fixture(scope="module")
def base(tiny):
    return movers.load("movers", tiny("bert"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs") / "run"


@pytest.fixture(scope="module")
def findings(base, labelled, folder):
    return measure_default(base, folder, data=labelled)


def answer(findings, question, method):
    (found,) = [
        one for one in findings.answers if one.question == question and one.method == method
    ]
    return found


def test_triples_are_in_two_halves_of_the_same_kinds():
    halves = {"choose": [], "report": []}
    for triple in load_triples():
        assert len({triple.sentence, triple.paraphrase, triple.swap}) == 3
        halves[triple.half].append(triple.kind)
    assert sorted(halves["choose"]) == sorted(halves["report"])
    assert len(halves["report"]) == 55


def test_behaviour_pairs_differ():
    pairs = load_behaviour()
    assert all(pair.source != pair.target for pair in pairs)
    assert len({(pair.source, pair.target, pair.kind) for pair in pairs}) == len(pairs)


def test_scores_are_those_of_the_scorers(findings, base, labelled):
    dataset = read_dataset("stsb-test", labelled)
    raw = {name: base.using(name, whitening="none") for name in METHODS if name != "cosine"}
    found = {name: scorer.distances(dataset.pairs) for name, scorer in raw.items()}
    for name, distances in found.items():
        score = answer(findings, "STS-B test, Spearman's ρ", name).score
        assert vars(score) == pytest.approx(vars(estimate("spearman", dataset.gold, distances)))
    gain = answer(findings, "STS-B test, Spearman's ρ", "wrd").gain
    paired = compare("spearman", dataset.gold, found["movers"], found["wrd"])
    assert [gain.value, gain.low, gain.high] == pytest.approx(
        [paired.value, paired.low, paired.high]
    )


def test_cosine_is_the_sentence_part(findings, base, labelled):
    dataset = read_dataset("stsb-test", labelled)
    parts = [base.compare(*pair).sentence for pair in dataset.pairs]
    found = answer(findings, "STS-B test, Spearman's ρ", "cosine").score.value
    assert found == pytest.approx(estimate("spearman", dataset.gold, parts).value)


def test_triples_count_how_often_the_paraphrase_is_nearer(findings, base):
    own = [triple for triple in load_triples() if triple.half == "report"]
    near = base.distances([(one.sentence, one.paraphrase) for one in own])
    far = base.distances([(one.sentence, one.swap) for one in own])
    found = answer(findings, "triples, held out", "movers")
    assert found.units == 55
    assert found.score.value == pytest.approx((near < far).mean())


def test_contrasts_are_those_of_the_reporting_half(findings, base, few):
    kinds = np.array(few.kinds)
    own = few.take((kinds == "choice") & ~few.fit)
    found = answer(findings, "A or B", "movers").score.value
    assert found == pytest.approx(estimate("auc", own.same, base.distances(own.pairs)).value)
    changes = few.take((kinds == "change") & ~few.fit)
    swap, changed = base.distances(changes.pairs).reshape(-1, 2).T
    found = answer(findings, "swap with one more change", "movers")
    assert found.units == len(swap) and found.score.value == pytest.approx((changed >= swap).mean())


def test_the_sample_of_questions_may_be_missing(findings, base, labelled, tmp_path):
    assert not any("QQP" in one.question for one in findings.answers)
    shutil.copytree(labelled, tmp_path / "data")
    (tmp_path / "data" / "PAWSQQP").mkdir()
    sample = tmp_path / "data" / "PAWSQQP" / "train_sample.tsv"
    shutil.copy(labelled / "PAWSWiki" / "test.tsv", sample)
    other = measure_default(base, tmp_path / "run", data=tmp_path / "data", limit=10)
    assert answer(other, "PAWS-QQP sample, AUC", "movers").units == 10


def test_groups_hold_all_their_pairs(findings):
    kinds = [pair.kind for pair in load_behaviour()]
    for group in findings.groups:
        assert group.distance >= group.cosine - 1e-9
        assert 0 <= group.similarity <= 1
        if group.table == "behaviour":
            assert group.pairs == kinds.count(group.kind)
    assert sum(one.pairs for one in findings.groups if "gold" in one.kind) == len(PAIRS)


def test_a_run_goes_on_where_it_stopped(findings, base, labelled, folder, monkeypatch):
    (folder / "distances" / "sick-test.npy").unlink()
    encoded = []
    run = default_measure.CorpusEncoder.run
    monkeypatch.setattr(
        default_measure.CorpusEncoder,
        "run",
        lambda self, **given: encoded.append(self.store.name) or run(self, **given),
    )
    again = measure_default(base, folder, data=labelled, resume=True)
    assert encoded == ["sick-test"]
    assert again.answers == findings.answers
    with pytest.raises(InputError, match="other settings"):
        measure_default(base, folder, data=labelled, resume=True, sample=5)


def test_samples_are_random_and_always_the_same(base, labelled, tmp_path):
    runs = [measure_default(base, tmp_path / name, data=labelled, sample=12) for name in "ab"]
    assert runs[0].answers == runs[1].answers
    assert answer(runs[0], "PAWS-Wiki test, AUC", "movers").units == 12
    found = np.load(tmp_path / "a" / "distances" / "paws-wiki-test.npy")[0]
    shortest = read_dataset("paws-wiki-test", labelled, limit=12)
    assert not np.allclose(found, base.distances(shortest.pairs))
    with pytest.raises(InputError, match="sample must be at least 1, got 0"):
        measure_default(base, tmp_path / "c", data=labelled, sample=0)


def test_one_command_writes_the_report(tiny, labelled, tmp_path, capsys):
    model = str(tiny("bert"))
    call = ["reproduce", "default-measure", "--model", model, "--data", str(labelled)]
    with pytest.raises(SystemExit, match="0"):
        main([*call, "--sample", "10", "-o", str(tmp_path / "run")])
    printed = capsys.readouterr().out
    assert (tmp_path / "run" / "report.md").read_text("utf-8") in printed
    for text in ("| movers ", "| opwd-cos ", "Qwen3-Embedding-4B", "gold 4 to 5", "| negation "):
        assert text in printed
    found = json.loads((tmp_path / "run" / "report.json").read_text("utf-8"))
    assert found["facts"]["pairs"] == "at most 10 random ones of each set"
    assert len(found["answers"]) == 15 * len(METHODS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["default-measure", "main"], "name it alone"),
        (["main", "--sample", "9"], "--sample belongs to default-measure"),
    ],
)
def test_what_does_not_go_together_is_refused(arguments, message, capsys):
    assert main(["reproduce", *arguments]) == 1
    assert message in capsys.readouterr().err
