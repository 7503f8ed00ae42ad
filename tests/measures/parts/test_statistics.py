"""Statistics survive the disk, and files that are not statistics are refused."""

import json
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import save_file

import movers
from movers.encode.encodings import Request
from movers.encode.whiten import Whitening
from movers.errors import InputError
from movers.measures.parts.statistics import FORMAT, Statistics, fit_statistics
from movers.measures.parts.word_tables import WordTable
from tiny_models import SENTENCES


@pytest.fixture(scope="module")
def fitted(bert):
    request = Request((0, 3), rules=bert.settings.rules)
    found, _ = fit_statistics(
        bert.encoder, [*SENTENCES, SENTENCES[0]], request, variability=True, origin="a test"
    )
    return found


def assert_equal(one, other):
    assert (one.fingerprint, one.origin, one.digest) == (
        other.fingerprint,
        other.origin,
        other.digest,
    )
    assert one.whitening.keys() == other.whitening.keys()
    for layer, white in one.whitening.items():
        np.testing.assert_array_equal(white.mean, other.whitening[layer].mean)
        np.testing.assert_array_equal(white.matrix, other.whitening[layer].matrix)
        assert (white.kind, white.tokens) == (
            other.whitening[layer].kind,
            other.whitening[layer].tokens,
        )
    assert one.tables == other.tables
    if one.variability is None:
        assert other.variability is None
    else:
        np.testing.assert_array_equal(one.variability, other.variability)


def test_fitting_covers_what_was_asked(fitted, bert):
    assert fitted.whitening.keys() == {0, 3}
    assert fitted.variability.shape == (3, 2)
    assert ((fitted.variability > 0) & (fitted.variability < 1)).all()
    assert fitted.fingerprint == bert.encoder.fingerprint
    everything = [*SENTENCES, SENTENCES[0]]
    tokens = np.concatenate(bert.encoder.states(everything, 3)).astype(float)
    np.testing.assert_allclose(fitted.whitening[3].mean, tokens.mean(axis=0), atol=1e-12)
    assert fitted.whitening[3].tokens == len(tokens)


@pytest.mark.parametrize("kind", ["flipped", "zeroed"])
def test_changed_numbers_are_found(fitted, tmp_path, kind):
    path = tmp_path / "statistics.safetensors"
    fitted.save(path)
    content = bytearray(path.read_bytes())
    if kind == "flipped":
        content[-100] ^= 1
    else:
        content[-100:] = bytes(100)
    path.write_bytes(content)
    with pytest.raises(InputError, match="checksum differs"):
        Statistics.load(path)


def test_round_trip(fitted, tmp_path):
    simple = Statistics(
        "f",
        whitening={1: Whitening(np.array([0.5, 1]), np.eye(2), "as-coded", 9)},
        tables={"idf": WordTable({"dog": 1.5, "żółw": 2.0}, 3.0, "reference")},
        arrays={"variability": np.array([[0.5, 0.25]]), "sif.components": np.array([[0.1]])},
    )
    for number, statistics in enumerate((fitted, simple, Statistics("f"))):
        path = tmp_path / "folder" / f"{number}.safetensors"
        statistics.save(path)
        assert_equal(Statistics.load(path), statistics)


def test_the_digest_pins_the_content(fitted):
    table = WordTable({"dog": 1.0, "fox": 2.0}, 3.0, "paper")
    others = [
        Statistics("f"),
        replace(fitted, whitening={0: fitted.whitening[0]}),
        Statistics("f", tables={"idf": table}),
        Statistics("f", tables={"swf": table}),
        Statistics("f", tables={"idf": replace(table, values={"fox": 1.0, "dog": 2.0})}),
        Statistics("f", tables={"idf": replace(table, recipe="reference")}),
        Statistics("f", tables={"idf": replace(table, missing=4.0)}),
    ]
    digests = {statistics.digest for statistics in (fitted, *others)}
    assert len(digests) == 1 + len(others)
    assert replace(fitted, origin="elsewhere").digest == fitted.digest


def header(**changes):
    sound = {"format": FORMAT, "fingerprint": "f", "origin": "", "corpus": "", "tables": "{}"}
    return {**sound, "whitening": "{}", **changes}


def damage_cut(path):
    path.write_bytes(path.read_bytes()[:-50])


def damage_text(path):
    path.write_text("not a tensor", "utf-8")


def damage_empty(path):
    path.write_bytes(b"")


def damage_foreign(path):
    save_file({"weight": np.zeros(2)}, path)


def damage_newer(path):
    save_file({}, path, metadata=header(format="movers-statistics-99"))


def damage_no_fingerprint(path):
    save_file({}, path, metadata={"format": FORMAT, "whitening": "{}"})


def damage_no_tensor(path):
    save_file({}, path, metadata=header(whitening=json.dumps({"1": ["clean", 5]})))


def damage_no_json(path):
    save_file({}, path, metadata=header(whitening="{"))


def damage_deep(path):
    save_file({}, path, metadata=header(whitening="[" * 100_000))


def damage_list(path):
    save_file({}, path, metadata=header(whitening="[]"))


def damage_idf(path):
    tables = json.dumps({"idf": ["paper", []]})
    save_file({"tables.idf": np.zeros(2)}, path, metadata=header(tables=tables))


@pytest.mark.parametrize(
    "damage", [value for name, value in globals().items() if "damage_" in name]
)
def test_damaged_and_foreign_files_are_refused(fitted, tmp_path, damage):
    path = tmp_path / "statistics.safetensors"
    fitted.save(path)
    damage(path)
    with pytest.raises(movers.InputError, match=r"statistics\.safetensors"):
        Statistics.load(path)


def test_a_missing_file_is_refused(tmp_path):
    for path in (tmp_path / "nothing", tmp_path):
        with pytest.raises(movers.InputError, match="does not exist"):
            Statistics.load(path)


def test_statistics_of_another_model_are_refused(fitted, tiny):
    scorer = movers.load("wmd", tiny("roberta"), statistics=fitted)
    with pytest.raises(movers.InputError, match=f"belong to model {fitted.fingerprint}.*fit again"):
        scorer.compare(*SENTENCES[:2])


@pytest.mark.parametrize(
    ("sentences", "message"), [([], "at least one sentence"), (["dog"], "at least 32 tokens")]
)
def test_too_little_to_fit_on(bert, sentences, message):
    scorer = bert.using()
    with pytest.raises(movers.InputError, match=message):
        scorer.fit(sentences)
    assert scorer.statistics is bert.statistics
