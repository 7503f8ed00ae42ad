"""What a judge knows is kept whole, and nothing else is taken for it."""

import numpy as np
import pytest
from safetensors.numpy import save

from movers.errors import InputError
from movers.judge.knowledge import ARRAYS, FORMAT, Knowledge, digest_of


def knowledge(**changes):
    parts = {
        "fingerprint": "abc",
        "names": ("near", "long"),
        "center": np.array([0.5, 1.0]),
        "spread": np.array([0.5, 2.0]),
        "weights": np.array([-2.0, 0.5]),
        "intercept": np.array([0.25]),
        "facts": {"pairs": "7"},
    }
    return Knowledge(**{**parts, **changes})


def test_probabilities_are_those_of_the_formula():
    evidence = np.array([[0.0, 3.0], [1.0, 1.0]])
    odds = [0.25 + 2.0 + 0.5, 0.25 - 2.0]
    assert knowledge().odds(evidence) == pytest.approx(odds)
    assert knowledge().probabilities(evidence) == pytest.approx(1 / (1 + np.exp(-np.array(odds))))
    assert knowledge().arguments(evidence)[0] == pytest.approx([2.0, 0.5])


def test_what_is_saved_is_read(tmp_path):
    saved = knowledge(facts={"pairs": "7", "grades": "1 5"})
    saved.save(tmp_path / "a.judge")
    read = Knowledge.load(tmp_path / "a.judge")
    assert (read.digest, read.names, read.facts) == (saved.digest, saved.names, saved.facts)
    assert read.grades == (1.0, 5.0)
    assert knowledge().grades is None
    for name in ARRAYS:
        assert np.array_equal(getattr(read, name), getattr(saved, name))


def test_any_number_changes_the_digest():
    assert knowledge(weights=np.array([-2.0, 0.6])).digest != knowledge().digest
    assert knowledge(fingerprint="abd").digest != knowledge().digest


HEADER = {"format": FORMAT, "fingerprint": "a", "names": '["x"]', "facts": "{}"}
SOUND = {name: np.ones(1) for name in ARRAYS}


@pytest.mark.parametrize(
    ("header", "tensors", "why"),
    [
        (HEADER | {"format": "movers-statistics-1"}, SOUND, "has format 'movers-statistics-1'"),
        (HEADER | {"names": "["}, SOUND, "damaged"),
        (HEADER | {"facts": "[" * 100_000}, SOUND, "damaged .it is nested too deep"),
        (HEADER | {"facts": "[1]"}, SOUND, "damaged"),
        (HEADER, SOUND | {"weights": np.ones(2)}, "weights is not 1 finite numbers"),
        (HEADER, SOUND | {"center": np.full(1, np.nan)}, "center is not 1 finite numbers"),
        (HEADER, SOUND | {"spread": np.zeros(1)}, "a spread is not above 0"),
        (HEADER, {"center": np.ones(1)}, "damaged"),
    ],
)
def test_damaged_files_are_refused(tmp_path, header, tensors, why):
    path = tmp_path / "a.judge"
    path.write_bytes(save(tensors, metadata=header))
    with pytest.raises(InputError, match=why):
        Knowledge.load(path)


def test_a_changed_number_is_found(tmp_path):
    path = tmp_path / "a.judge"
    knowledge().save(path)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match="its checksum differs"):
        Knowledge.load(path)


def test_no_file_and_no_judge_are_told_apart(tmp_path):
    with pytest.raises(InputError, match="there is no judge"):
        Knowledge.load(tmp_path / "none.judge")
    (tmp_path / "text.judge").write_text("not a judge at all")
    with pytest.raises(InputError, match="is not a judge"):
        Knowledge.load(tmp_path / "text.judge")


def test_a_digest_changes_with_any_label():
    pairs = [("a", "b"), ("c", "d")]
    assert digest_of(pairs, np.array([1.0, 0.0])) != digest_of(pairs, np.array([1.0, 1.0]))
