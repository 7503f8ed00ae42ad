"""Eight numbers that kernels treat as one value, kept in a vector register.

Where a loop over columns is too short to vectorise, heads lie side by side instead: every
number of a problem becomes a vector of the same number under eight heads.

It builds on internals of numba, so its version is capped in pyproject.toml. A plain trailing axis
of eight would not: but the compiler cannot tell that its arrays do not overlap and leaves such
loops alone, and the pairing bound takes 7 to 10 times as long (6 to 24 words, numba 0.68).
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.extending import intrinsic, register_model
from numba.np.arrayobj import make_array

from movers.solve.kernels import LANES

_VECTOR = ir.VectorType(ir.FloatType(), LANES)
_INDEX = ir.IntType(32)
_INTEGERS = ir.VectorType(_INDEX, LANES)
_FUSED = ["contract"]


class Vector(types.Type):
    """The type of such a value."""

    def __init__(self) -> None:
        super().__init__(name=f"Vector({LANES})")


@register_model(Vector)
class VectorModel(models.PrimitiveModel):
    """How it is passed around: as it is."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)  # type: ignore[no-untyped-call]


VECTOR = Vector()


def operation(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a numba intrinsic, which kernels call without the typing context."""
    built: Callable[..., Any] = intrinsic(function)
    return built


def _place(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    array = make_array(signature.args[0])(context, builder, arguments[0])
    return builder.bitcast(builder.gep(array.data, [arguments[1]]), _VECTOR.as_pointer())


@operation
def load(typing: Any, array: Any, start: Any) -> Any:
    """Read ``array[start : start + LANES]`` of a flat array in single precision."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_place(context, builder, signature, arguments), align=4)

    return VECTOR(array, types.intp), build


@operation
def put(typing: Any, array: Any, start: Any, value: Any) -> Any:
    """Write a vector to ``array[start : start + LANES]``."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], _place(context, builder, signature, arguments), align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, VECTOR), build


@operation
def spread(typing: Any, number: Any) -> Any:
    """Make a vector of one number in single precision."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        nothing = ir.Constant(_VECTOR, ir.Undefined)
        first = builder.insert_element(nothing, arguments[0], _INDEX(0))
        everywhere = ir.Constant(ir.VectorType(_INDEX, LANES), [0] * LANES)
        return builder.shuffle_vector(first, nothing, everywhere)

    return VECTOR(types.float32), build


@operation
def root(typing: Any, value: Any) -> Any:
    """Square roots."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(_VECTOR, [_VECTOR])
        name = f"llvm.sqrt.v{LANES}f32"
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)

    return VECTOR(VECTOR), build


@operation
def power(typing: Any, value: Any) -> Any:
    """About 2 to the power of a vector, within 7 %: its bits are an integer that grows with it.

    Powers below -100 come out as 2 to the -100.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        low = ir.Constant(_VECTOR, [-100.0] * LANES)
        bounded = builder.select(builder.fcmp_ordered(">", arguments[0], low), arguments[0], low)
        step, shift = (ir.Constant(_VECTOR, [x] * LANES) for x in (float(1 << 23), 126.94 * 2**23))
        bits = builder.fptosi(builder.fadd(builder.fmul(bounded, step), shift), _INTEGERS)
        return builder.bitcast(bits, _VECTOR)

    return VECTOR(VECTOR), build


@operation
def logarithm(typing: Any, value: Any) -> Any:
    """About the logarithm to base 2 of positive numbers, within 0.09: the inverse of `power`."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        step, shift = (ir.Constant(_VECTOR, [x] * LANES) for x in (2.0**-23, 126.94))
        bits = builder.sitofp(builder.bitcast(arguments[0], _INTEGERS), _VECTOR)
        return builder.fsub(builder.fmul(bits, step), shift)

    return VECTOR(VECTOR), build


def _of_two(combine: Callable[..., Any]) -> Callable[..., Any]:
    def function(typing: Any, left: Any, right: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return combine(builder, *arguments)

        return VECTOR(VECTOR, VECTOR), build

    return operation(function)


plus = _of_two(lambda builder, a, b: builder.fadd(a, b, flags=_FUSED))
minus = _of_two(lambda builder, a, b: builder.fsub(a, b, flags=_FUSED))
times = _of_two(lambda builder, a, b: builder.fmul(a, b, flags=_FUSED))
over = _of_two(lambda builder, a, b: builder.fdiv(a, b))
least = _of_two(lambda builder, a, b: builder.select(builder.fcmp_ordered("<", a, b), a, b))
