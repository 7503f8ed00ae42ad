"""Shells ask the command line how a line may go on, by a script that is installed for them."""

import os
import subprocess
import sys
from shutil import which

import pytest
from test_commands import run


@pytest.fixture
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", "/bin/bash")
    return tmp_path


def completed(*words, shell="zsh"):
    """What a shell is offered for the last of some words."""
    asked = {"_MOVERS_COMPLETE": f"{shell}_complete", "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run(
        [sys.executable, "-m", "movers"],
        env={**os.environ, **asked, "COMP_WORDS": " ".join(words)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def test_commands_options_choices_and_files_are_offered():
    assert completed("movers", "comp")[:2] == ["plain", "compare"]
    assert "--install-completion" in completed("movers", "--inst")
    assert "--spelling" in completed("movers", "compare", "a", "b", "--sp")
    assert completed("movers", "compare", "a", "b", "--spelling", "r") == ["plain", "repair", "_"]
    assert completed("movers", "score", "--source-file", "x") == ["file", "x", "_"]
    assert completed("movers", "no-such", "x") == [""]


@pytest.mark.parametrize(
    ("shell", "script", "startup"),
    [
        ("bash", ".local/share/bash-completion/completions/movers", ".bashrc"),
        ("zsh", ".zsh/completions/_movers", ".zshrc"),
        ("fish", ".config/fish/completions/movers.fish", None),
    ],
)
def test_a_script_is_put_where_the_shell_finds_it(capsys, home, shell, script, startup):
    if startup is not None:
        (home / startup).write_text("export A=1\n", "utf-8")
    for _ in range(2):
        code, out, err = run(capsys, "--install-completion", "--shell", shell)
        assert code == 0 and str(home / script) in out, err
    assert f"_MOVERS_COMPLETE={shell}_complete" in (home / script).read_text("utf-8")
    if startup is not None:
        lines = (home / startup).read_text("utf-8").splitlines()
        assert lines[0] == "export A=1" and sum(str(home / script) in line for line in lines) == 1
    else:
        assert not list(home.glob(".*rc"))


def test_the_login_shell_is_meant_unless_one_is_named(capsys, home, monkeypatch):
    assert run(capsys, "--install-completion", "-o", home / "mine")[0] == 0
    assert "bash_complete" in (home / "mine").read_text("utf-8")
    monkeypatch.setenv("SHELL", "/bin/csh")
    code, _, err = run(capsys, "--install-completion")
    assert code == 1 and "--shell bash, zsh or fish" in err
    assert run(capsys, "--install-completion", "--shell", "csh")[0] == 2


@pytest.mark.skipif(which("bash") is None, reason="asks bash")
def test_bash_completes_with_the_script(capsys, home):
    script = home / "script"
    assert run(capsys, "--install-completion", "--shell", "bash", "-o", script)[0] == 0
    (home / "movers").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m movers "$@"\n', "utf-8")
    (home / "movers").chmod(0o755)
    asking = f". {script}; COMP_WORDS=(movers doct); COMP_CWORD=1; _movers_completion movers; "
    done = subprocess.run(
        ["bash", "-c", asking + 'echo "${COMPREPLY[@]}"'],
        env={**os.environ, "PATH": f"{home}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["doctor"], done.stderr
