"""Eight numbers that kernels treat as one value, kept in a vector register.

Where a loop over columns is too short to vectorise, heads lie side by side instead: every
number of a problem becomes a vector of the same number under eight heads.

It builds on internals of numba, so its version is capped in pyproject.toml. A plain trailing axis
of eight would not: but the compiler cannot tell that its arrays do not overlap and leaves such
loops alone, and the pairing bound takes 7 to 10 times as long (6 to 24 words, numba 0.68).
"""

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, register_model
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


def spread_over(builder: Any, number: Any, kind: Any) -> Any:
    """The same number in every lane."""
    nothing = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(nothing, number, _INDEX(0))
    return builder.shuffle_vector(first, nothing, ir.Constant(_INTEGERS, [0] * LANES))


def _place(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    array = make_array(signature.args[0])(context, builder, arguments[0])
    start = builder.mul(arguments[1], arguments[1].type(LANES))
    return builder.bitcast(builder.gep(array.data, [start]), _VECTOR.as_pointer())


@operation
def load(typing: Any, array: Any, position: Any) -> Any:
    """Read a vector of a flat array in single precision, by its position among them."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_place(context, builder, signature, arguments), align=4)

    return VECTOR(array, types.intp), build


@operation
def put(typing: Any, array: Any, position: Any, value: Any) -> Any:
    """Write a vector to where `load` reads it."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], _place(context, builder, signature, arguments), align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, VECTOR), build


@operation
def spread(typing: Any, number: Any) -> Any:
    """Make a vector of one number in single precision."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return spread_over(builder, arguments[0], _VECTOR)

    return VECTOR(types.float32), build


def _of_one(combine: Callable[..., Any]) -> Callable[..., Any]:
    """Make an operation of what builds it for a vector."""

    def function(typing: Any, vector: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return combine(builder, *arguments)

        return VECTOR(VECTOR), build

    return operation(function)


@_of_one
def root(builder: Any, x: Any) -> Any:
    """Square roots."""
    kind, name = ir.FunctionType(_VECTOR, [_VECTOR]), f"llvm.sqrt.v{LANES}f32"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [x])


@_of_one
def power(builder: Any, x: Any) -> Any:
    """About 2 to the power of a vector, within 7 %: its bits are an integer that grows with it.

    Powers below -100 come out as 2 to the -100.
    """
    low, step, shift = (
        ir.Constant(_VECTOR, [number] * LANES) for number in (-100.0, 2.0**23, 126.94 * 2**23)
    )
    bounded = builder.select(builder.fcmp_ordered(">", x, low), x, low)
    bits = builder.fptosi(builder.fadd(builder.fmul(bounded, step), shift), _INTEGERS)
    return builder.bitcast(bits, _VECTOR)


@_of_one
def logarithm(builder: Any, x: Any) -> Any:
    """About the logarithm to base 2 of positive numbers, within 0.09: the inverse of `power`."""
    step, shift = (ir.Constant(_VECTOR, [number] * LANES) for number in (2.0**-23, 126.94))
    bits = builder.sitofp(builder.bitcast(x, _INTEGERS), _VECTOR)
    return builder.fsub(builder.fmul(bits, step), shift)


@operation
def least(typing: Any, left: Any, right: Any) -> Any:
    """The lesser of two in every lane."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.select(builder.fcmp_ordered("<", *arguments), *arguments)

    return VECTOR(VECTOR, VECTOR), build


def _operate(symbol: Any, combine: Callable[..., Any]) -> None:
    """Let kernels write an operator between vectors, or a vector and a number."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        a, b = (
            given if kind == VECTOR else spread_over(builder, given, _VECTOR)
            for kind, given in zip(signature.args, arguments, strict=True)
        )
        return combine(builder, a, b)

    sides = (VECTOR, VECTOR), (types.float32, VECTOR), (VECTOR, types.float32)
    for kinds in sides:
        lower_builtin(symbol, *kinds)(build)
    cases = [signature(VECTOR, *kinds) for kinds in sides]
    infer_global(symbol)(type("Operator", (ConcreteTemplate,), {"cases": cases}))


_operate(operator.add, lambda builder, a, b: builder.fadd(a, b, flags=_FUSED))
_operate(operator.sub, lambda builder, a, b: builder.fsub(a, b, flags=_FUSED))
_operate(operator.mul, lambda builder, a, b: builder.fmul(a, b, flags=_FUSED))
_operate(operator.truediv, lambda builder, a, b: builder.fdiv(a, b))
