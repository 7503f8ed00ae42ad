"""Numbers in a file are those that were written, or the file is refused."""

import numpy as np
import pytest
from safetensors import SafetensorError
from safetensors.numpy import save_file

from movers.runtime.numbers_file import load_numbers, save_numbers

HEADER = {"format": "a", "names": '["x", "y"]'}
ARRAYS = {
    "wide": np.random.default_rng(0).random((3, 4)).T,
    "single": np.ones(5, np.float32),
    "none": np.zeros((0, 2)),
}


def same(found):
    header, arrays = found
    return header == HEADER and all(np.array_equal(arrays[name], ARRAYS[name]) for name in ARRAYS)


@pytest.fixture
def path(tmp_path):
    save_numbers(tmp_path / "new" / "numbers", HEADER, ARRAYS)
    return tmp_path / "new" / "numbers"


def test_what_is_written_is_read(path):
    assert same(load_numbers(path)) and len(load_numbers(path)[1]) == len(ARRAYS)


@pytest.mark.parametrize("kind", ["flipped", "zeroed", "cut"])
def test_damage_anywhere_is_found_or_changes_nothing(path, kind):
    original, refused = path.read_bytes(), 0
    for place in range(len(original)):
        content = bytearray(original)
        if kind == "flipped":
            content[place] ^= 1 << place % 8
        else:
            content[place:] = bytes(len(content) - place) if kind == "zeroed" else b""
        path.write_bytes(content)
        try:
            header, arrays = load_numbers(path)
        except (SafetensorError, ValueError):
            refused += 1
        else:
            numbers = {name: header.get(name) for name in HEADER}
            assert same((numbers, arrays)), (place, header)  # a name beside these, or nothing
    assert refused > 0.9 * len(original)


def test_files_without_a_checksum_are_taken_as_they_are(tmp_path):
    save_file({"x": np.ones(2)}, tmp_path / "numbers", metadata=HEADER)
    header, arrays = load_numbers(tmp_path / "numbers")
    assert header == HEADER and arrays["x"].tolist() == [1.0, 1.0]
