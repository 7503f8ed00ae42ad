"""The examination of an installation: facts, self-tests that pass here, and ones that fail."""

import json

import numpy as np
import pytest

import movers.solve
from movers import doctor
from movers.cli import main
from movers.encode.light import LightEncoder


def run(*arguments):
    try:
        return main(arguments)
    except SystemExit as stop:
        return stop.code


def test_facts_name_what_a_number_may_depend_on(monkeypatch):
    monkeypatch.setenv("MKL_CBWR", "COMPATIBLE")
    facts = doctor.facts()
    assert facts["versions"]["numpy"] == np.__version__
    assert {"movers", "python", "onnxruntime", "tokenizers"} <= {*facts["versions"]}
    assert facts["environment"]["MKL_CBWR"] == "COMPATIBLE"
    assert all(facts[topic] for topic in ("processor", "matrix libraries", "threads", "caches"))
    assert all(isinstance(value, str) for found in facts.values() for value in found.values())


def test_a_sound_installation_passes():
    report = doctor.examine()
    assert [check.name for check in report.checks] == ["solver", "encoder", "determinism"]
    assert report.healthy, report.checks


def test_a_wrong_solver_is_found(monkeypatch):
    right = movers.solve.emd
    monkeypatch.setattr(movers.solve, "emd", lambda cost, u, v: right(cost + 1e-8, u, v))
    monkeypatch.setattr(doctor, "CHECKS", {"solver": doctor.check_solver})
    (check,) = doctor.examine().checks
    assert not check.passed and "off by 1.0e-08, allowed 1e-09" in check.detail


def test_a_wrong_encoder_is_found(monkeypatch):
    monkeypatch.setattr(doctor, "VECTOR", (0.5, *doctor.VECTOR[1:]))
    with pytest.raises(doctor.SelfTestError, match=r"vectors are off by 6.3e-01 and a distance"):
        doctor.check_encoder()


@pytest.mark.parametrize(("size", "passes"), [(1e-6, True), (1e-2, False)])
def test_vectors_that_feel_their_company_are_found(monkeypatch, size, passes):
    forward = LightEncoder._forward

    def uneven(self, batch, *rest):
        hidden = forward(self, batch, *rest)
        return {n: states + size * len(batch.rows) for n, states in hidden.items()}

    monkeypatch.setattr(LightEncoder, "_forward", uneven)
    if passes:
        assert "by rounding of the matrix library" in doctor.check_determinism()
    else:
        with pytest.raises(doctor.SelfTestError, match="with company or threads"):
            doctor.check_determinism()


def test_the_command_prints_and_fails_with_a_failed_test(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "CHECKS", {"solver": lambda: "as it should be"})
    assert run("doctor") == 0
    printed = capsys.readouterr().out
    assert "numpy" in printed and "ok (0.0 s): as it should be" in printed

    def broken():
        raise ValueError("no such kernel")

    monkeypatch.setitem(doctor.CHECKS, "encoder", broken)
    assert run("doctor", "--json") == 1
    shown = capsys.readouterr()
    report = json.loads(shown.out)
    assert report["healthy"] is False
    assert report["checks"][1]["detail"] == "ValueError: no such kernel"
    assert "self-test failed: encoder" in shown.err
