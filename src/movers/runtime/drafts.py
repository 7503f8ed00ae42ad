"""Kernels that only other kernels call: read and typed by themselves, compiled with their callers.

Numba optimises every function together with all it calls and turns the whole into machine code,
even if Python never calls it; a step six calls deep is then optimised six times. Here an inner
kernel stays a draft until an entry point takes it in, which halves the time to compile and leaves
the entry points as fast and their results the same (numba 0.68). It builds on internals of numba.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.types import unliteral


class Draft(JITCodeLibrary):
    """Code that is linked into its callers and never runs from here."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._finalized = True

    @property
    def codegen(self) -> Draft:
        """What is told where the function finds its Python objects; a kernel has none."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Take no notice: there is no machine code to tell."""


class Drafting(Compiler):
    """Compiles a function up to a `Draft`."""

    def compile_extra(self, function: Any) -> Any:
        """Begin with a library that is a draft."""
        codegen = self.state.targetctx.codegen()
        draft: Any = Draft  # numba does not say what types it takes
        self.state.library = draft(codegen, function.__qualname__)
        return super().compile_extra(function)  # type: ignore[no-untyped-call]


def without_literals(kernel: Any) -> None:
    """Compile a kernel for numbers of a type only once, not again for a constant among them."""
    template = kernel.get_call_template

    def plain(args: Sequence[Any], kws: Mapping[str, Any]) -> Any:
        named = {name: unliteral(kind) for name, kind in kws.items()}
        return template([unliteral(kind) for kind in args], named)

    kernel.get_call_template = plain
