"""Completion of commands and options by bash, zsh and fish."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

import click
from click.shell_completion import CompletionItem, get_completion_class, shell_complete

from movers.cli.options import Target
from movers.cli.quick import COMPLETING
from movers.errors import InputError

SCRIPTS = {
    "bash": ".local/share/bash-completion/completions/movers",
    "zsh": ".zsh/completions/_movers",
    "fish": ".config/fish/completions/movers.fish",
}
"""Where the script of every shell goes, in the home folder; fish finds it there by itself."""


class Commands(click.Group):
    """All commands by name with what each says of itself; one is imported when it is asked for."""

    def __init__(self, said: Mapping[str, str], named: Callable[[str], click.Command]) -> None:
        super().__init__("movers")
        self.said, self.named = said, named

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Return a command, if there is one of this name."""
        return self.named(name) if name in self.said else None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Offer commands, with what each says of itself."""
        words = {**self.said, "--help": "", "--install-completion": "", "--version": ""}
        offered = (row for row in words.items() if row[0].startswith(incomplete))
        return [CompletionItem(word, help=said) for word, said in offered]


def complete(said: Mapping[str, str], named: Callable[[str], click.Command]) -> int:
    """Answer a shell that asks how its line may go on."""
    return shell_complete(Commands(said, named), {}, "movers", COMPLETING, os.environ[COMPLETING])


def install_completion(
    *, shell: Literal["bash", "zsh", "fish"] | None = None, output: Target | None = None
) -> None:
    """Complete commands and options in this shell.

    Example: `movers --install-completion --shell zsh`

    Parameters
    ----------
    shell
        The shell. Default: the one you log in with.
    output
        Where the script goes. Default: where the shell looks for it. `.bashrc` and `.zshrc` get a
        line that loads it.
    """
    name = shell or Path(os.environ.get("SHELL", "")).name
    kind = get_completion_class(name)
    if kind is None or name not in SCRIPTS:
        raise InputError("which shell is this? name it: --shell bash, zsh or fish")
    script = output or Path.home() / SCRIPTS[name]
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(kind(click.Group("movers"), {}, "movers", COMPLETING).source(), "utf-8")
    print(f"wrote {script}; open a new shell")
    startup, line = Path.home() / f".{name}rc", f'[ -f "{script}" ] && . "{script}"\n'
    before = startup.read_text("utf-8") if startup.is_file() else ""
    if name != "fish" and line not in before:
        startup.write_text(f"{before}# Load movers completion\n{line}", "utf-8")
