"""Run folders: values come back as they were, and nothing is mixed."""

import numpy as np
import pytest

from movers.errors import InputError
from movers.runtime.atomic import UNFINISHED
from movers_research.outcomes import Stage
from movers_research.runs import open_run, read_column, read_facts, write_chunk

SETTINGS = {"model": "bert@1234", "mixes": (0.5,), "parser": None}


def test_values_come_back_bit_for_bit(tmp_path):
    rng = np.random.default_rng(0)
    heads, single = rng.normal(size=(7, 6)), rng.normal(size=7)
    single[2] = np.inf
    paths = [tmp_path / "0.parquet", tmp_path / "1.parquet"]
    empty = np.arange(7) == 2
    for path, rows in zip(paths, (slice(0, 3), slice(3, 7)), strict=True):
        columns = {"wsmd-wmd@0.5": heads[rows], "wmd": single[rows]}
        write_chunk(path, columns, empty[rows], {"pairs": [rows.start, rows.stop]})
    np.testing.assert_array_equal(read_column(paths, "wsmd-wmd@0.5"), heads)
    np.testing.assert_array_equal(read_column(paths, "wmd")[:, 0], single)
    np.testing.assert_array_equal(read_column(paths, "empty")[:, 0], empty)
    assert read_facts(paths[1]) == {"pairs": [3, 7]}


def test_a_run_goes_on_only_when_asked_and_only_with_the_same_settings(tmp_path):
    open_run(tmp_path / "run", SETTINGS)
    with pytest.raises(InputError, match="holds a run already; pass resume=True"):
        open_run(tmp_path / "run", SETTINGS)
    open_run(tmp_path / "run", SETTINGS, resume=True)
    with pytest.raises(InputError, match=r"mixes was \[0.5\], is \[0.3\]\); go on with the old"):
        open_run(tmp_path / "run", {**SETTINGS, "mixes": (0.3,)}, resume=True)
    with pytest.raises(InputError, match="dtype was None, is float16"):
        open_run(tmp_path / "run", {**SETTINGS, "dtype": "float16"}, resume=True)


def test_a_folder_with_other_things_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(InputError, match="is not empty and holds no run"):
        open_run(tmp_path, SETTINGS)
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(InputError, match=r"run\.json is damaged"):
        open_run(tmp_path, SETTINGS, resume=True)


def test_a_run_killed_before_it_began_begins_anew(tmp_path):
    left = tmp_path / f"{UNFINISHED}x.run.json"
    left.touch()
    open_run(tmp_path, SETTINGS)
    assert not left.exists()


def test_times_add_up_over_starts(tmp_path):
    run = open_run(tmp_path / "run", SETTINGS)
    run.add_time(Stage("encode", 1.5, 10, "sentences"))
    again = open_run(tmp_path / "run", SETTINGS, resume=True)
    again.add_time(Stage("wmd", 1.0, 3, "pairs"), Stage("encode", 0.5, 2, "sentences"))
    assert again.stages == (Stage("encode", 2.0, 12, "sentences"), Stage("wmd", 1.0, 3, "pairs"))
    with run.timed("fit", 4, "sentences"):
        pass
    assert run.stages[-1].name == "fit" and run.stages[-1].seconds >= 0


def test_damaged_times_are_said(tmp_path):
    run = open_run(tmp_path / "run", SETTINGS)
    run.add_time(Stage("encode", 1.5, 10, "sentences"))
    (tmp_path / "run" / "stages.json").write_text("[")
    with pytest.raises(InputError, match=r"stages\.json is damaged .* remove it to go on"):
        run.stages  # noqa: B018
