"""Machine code of kernels, made by numba; it builds on its internals.

Numba optimises every function together with all it calls and turns the whole into machine code,
even if Python never calls it; a step six calls deep is then optimised six times. Here every kernel
stays a draft, read and typed by itself, until an entry point takes it in, which halves the time to
compile and leaves the entry points as fast and their results the same (numba 0.68).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, reduce
from itertools import count
from typing import Any

from llvmlite import ir
from numba import njit, typeof
from numba.core import types
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.np.numpy_support import as_dtype

WORD = ir.IntType(64)
STATUS = ir.IntType(32)


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


@cache
def draft(kernel: Any) -> Any:
    """What numba knows a kernel by.

    It is compiled for numbers of a type only once, not again for a constant among them.
    """
    wrappers = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    compiled: Any = njit  # which does not say that it takes these
    made = compiled(**kernel.options, **wrappers, pipeline_class=Drafting)(kernel.function)
    template = made.get_call_template

    def plain(args: Sequence[Any], kws: Mapping[str, Any]) -> Any:
        named = {name: types.unliteral(kind) for name, kind in kws.items()}
        return template([types.unliteral(kind) for kind in args], named)

    made.get_call_template = plain
    return made


def type_of(kernel: Any) -> Any:
    """Return the type that a kernel has in others."""
    return typeof(draft(kernel))


class Closed(JITCodeLibrary):
    """Code of which nothing but the function ``shown`` can be seen from outside."""

    shown = ""

    def _optimize_final_module(self) -> None:
        module = self._final_module
        for one in (*module.functions, *module.global_variables):
            if not one.is_declaration and one.name != self.shown:
                one.linkage = "internal"
        super()._optimize_final_module()  # type: ignore[no-untyped-call]


class Portable(JITCPUCodegen):
    """Makes code for a kind of processor, by LLVM's name for it, to be linked into a library."""

    _library_class = Closed

    def __init__(self, processor: str) -> None:
        self._processor = processor
        super().__init__(f"kernels for {processor}")  # type: ignore[no-untyped-call]

    def _customize_tm_options(self, options: dict[str, Any]) -> None:
        options.update(cpu=self._processor, features="", reloc="pic", codemodel="default")

    def _customize_tm_features(self) -> str:
        return ""


portable = cache(Portable)


@global_compiler_lock  # type: ignore[untyped-decorator]
def compile_object(kernel: Any, arguments: tuple[Any, ...], function: str, processor: str) -> bytes:
    """Return the object file of a kernel, to be linked into a library.

    Parameters
    ----------
    kernel, arguments
        The kernel, and arguments of the types to compile it for.
    function
        What to call the function of words in it.
    processor
        What LLVM calls the processor to compile for.
    """
    code: bytes = _optimised(
        kernel, arguments, function, portable(processor)
    )._get_compiled_object()
    return code


@global_compiler_lock  # type: ignore[untyped-decorator]
def compile_here(kernel: Any, arguments: tuple[Any, ...], function: str) -> int:
    """Compile a kernel for this processor, and return where its function of words lies."""
    library = _optimised(kernel, arguments, function, cpu_target.target_context.codegen())
    _loaded.append(library)
    return int(library.get_pointer_to_function(function))


_loaded: list[Any] = []  # which own the memory that code lies in


def _optimised(kernel: Any, arguments: tuple[Any, ...], function: str, codegen: Any) -> Any:
    """Compile a kernel for arguments of such types, with a function that takes words."""
    kinds = tuple(typeof(one) for one in arguments)
    draft(kernel).compile(kinds)
    made = draft(kernel).overloads[kinds]
    library = codegen.create_library(kernel.name)
    library.shown = function
    library.enable_object_caching()
    library.add_ir_module(_called_with_words(made, kernel.name, function))
    library.add_linking_library(made.library)
    library.finalize()
    # it may call nothing but C's library: numba's helpers may not be there
    called = {one.name for one in library._final_module.functions if one.is_declaration}
    foreign = sorted(one for one in called if one.startswith(("numba_", "NRT_", "Py", "_Py")))
    if foreign:
        raise NotImplementedError(
            f"kernel {kernel.name} calls {', '.join(foreign)} of numba or Python; write it in "
            f"arithmetic, or with functions of C"
        )
    return library


def _called_with_words(made: Any, name: str, called: str) -> Any:
    """A function that takes the words of `movers.runtime.compiling.flatten` and calls a kernel."""
    context, described = made.target_context, made.fndesc
    module = context.create_module(f"words of {name}")
    function = ir.Function(module, ir.FunctionType(STATUS, [WORD.as_pointer()]), called)
    builder = ir.IRBuilder(function.append_basic_block())
    kind = context.call_conv.get_function_type(described.restype, described.argtypes)
    callee = ir.Function(module, kind, described.llvm_func_name)
    result, error = (builder.alloca(place.pointee) for place in kind.args[:2])
    given = (_word(builder, function.args[0], position) for position in count())
    words = (word for one in described.argtypes for word in _spread(builder, given, one))
    values = [_value(builder, *both) for both in zip(words, kind.args[2:], strict=True)]
    status = builder.call(callee, [result, error, *values])
    returned_none = builder.icmp_signed("==", status, STATUS(-2))
    builder.ret(builder.select(returned_none, STATUS(0), status))
    return module


def _word(builder: Any, words: Any, position: int) -> Any:
    return builder.load(builder.gep(words, [WORD(position)]))


def _spread(builder: Any, given: Iterator[Any], kind: Any) -> Iterator[Any]:
    """The words that numba takes for an argument: of an array, its size, place and strides."""
    parts = getattr(kind, "types", None)  # of a tuple
    if parts is not None:
        for part in parts:
            yield from _spread(builder, given, part)
    elif isinstance(kind, types.Array):
        data = next(given)
        lengths, steps = ([next(given) for _ in range(kind.ndim)] for _ in range(2))
        size = reduce(builder.mul, lengths, WORD(1))
        item = WORD(as_dtype(kind.dtype).itemsize)
        yield from (WORD(0), WORD(0), size, item, data, *lengths, *steps)
    else:
        yield next(given)


def _value(builder: Any, word: Any, kind: Any) -> Any:
    """A word as an argument."""
    if isinstance(kind, ir.PointerType):
        return builder.inttoptr(word, kind)
    if isinstance(kind, ir.DoubleType):
        return builder.bitcast(word, kind)
    if isinstance(kind, ir.FloatType):
        return builder.bitcast(builder.trunc(word, ir.IntType(32)), kind)
    return word if kind == WORD else builder.trunc(word, kind)
