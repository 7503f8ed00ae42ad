"""Instructions that kernels use by name; the modules that build them load the compiler."""

from typing import Any

from movers.runtime.kernel import Operation


def _in(module: str, *names: str) -> list[Any]:
    return [Operation(f"{__package__}.{module}", name) for name in names]


product_tile, cheapest_rows = _in("simd", "product_tile", "cheapest_rows")
