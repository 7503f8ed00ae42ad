"""Instructions that kernels use by name; what builds them loads the compiler, and late."""

from typing import Any


def __getattr__(name: str) -> Any:
    if name not in ("product_tile", "cheapest_rows"):
        raise AttributeError(f"no instruction {name!r}")
    from numba.core.registry import cpu_target

    from movers.solve.kernels import simd

    cpu_target.typing_context.refresh()  # which has not heard of them if they were only just made
    return getattr(simd, name)
