"""Which part of the package may import which, and a picture of which does.

python scripts/architecture.py docs/architecture.svg
"""

import ast
import sys
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "movers"

LAYERS = [
    ("errors", "version"),
    ("arrays",),
    ("runtime",),
    ("io",),
    ("encode",),
    ("difference",),
    ("solve",),
    ("scale", "agreement"),
    ("explain", "align"),
    ("results",),
    ("judge",),
    ("measures",),
    ("settings",),
    ("blocks",),
    ("documents",),
    ("distances",),
    ("fitting",),
    ("scorer",),
    ("loading", "references", "plugins"),
    ("shortcuts",),
    ("bulk", "search", "evaluate", "doctor"),
    ("cache", "checks", "client"),
    ("integrations", "web", "compile_ahead", "pytest_plugin"),
    ("cli",),
    ("__init__",),
    ("__main__",),
]
"""Folders and files of the package from left to right; each imports from its left alone."""
APART = [{"solve", "encode"}, {"web", "evaluate"}]
"""Parts that know nothing of each other, though the order would let them."""


def modules(package=PACKAGE):
    """The file of every module by its name."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = [package.name, *path.relative_to(package).with_suffix("").parts]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(package=PACKAGE):
    """The modules that every module imports, wherever in it: on top, in a function, for types."""
    files = modules(package)
    return {name: set(_imported(path, files)) - {name} for name, path in files.items()}


def _imported(path, files):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in files)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if (inner if inner in files else node.module) in files:
                    yield inner if inner in files else node.module


def part(module):
    """The folder or file at the root that a module belongs to."""
    return module.split(".")[1] if "." in module else "__init__"


def parts_graph():
    """The parts that every part imports."""
    found: dict[str, set[str]] = defaultdict(set)
    for module, imported in imports().items():
        found[part(module)] |= {part(other) for other in imported} - {part(module)}
    return dict(found)


def essential(graph):
    """The graph without arrows that others imply."""
    reached = {}

    def reach(node):
        if node not in reached:
            reached[node] = set().union(*({one} | reach(one) for one in graph.get(node, ())))
        return reached[node]

    return {
        node: {one for one in near if not any(one in reach(other) for other in near - {one})}
        for node, near in graph.items()
    }


SHOWN: list[dict[str, float]] = [
    {"cli": 1.7},
    {"web": 0.3, "search": 1.3, "integrations": 2.3},
    {"loading": 1.3, "bulk": 2.3, "evaluate": 3.3},
    {"scorer": 2},
    {"io": 0, "settings": 1.5},
    {"measures": 1.5},
    {"results": 2.4},
    {"align": 1.9, "explain": 2.9, "difference": 3.9},
    {"encode": 1.35, "solve": 2.6},
    {"runtime": 0.7},
    {"errors": 0.7},
]
"""Rows and columns of the picture, from what users call down to what knows nothing of sentences."""
COLUMN, ROW, BOX, HIGH, EDGE = 140, 62, 112, 34, 70
STYLE = (
    "rect{fill:#eef3fa;stroke:#33507a}text{font:14px sans-serif;fill:#1b1f24;text-anchor:middle}"
    "path{fill:none;stroke:#7a8aa0;stroke-width:1.3;marker-end:url(#tip)}"
)


def draw():
    """The parts as boxes, an arrow from each to what it imports, unless another arrow says so."""
    graph = essential(parts_graph())
    places = {
        name: (EDGE + COLUMN * column, EDGE / 2 + ROW * depth)
        for depth, row in enumerate(SHOWN)
        for name, column in row.items()
    }
    width, height = (round(max(xy[axis] for xy in places.values())) + EDGE for axis in (0, 1))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        'aria-label="Which part of movers imports which">',
        f"<style>{STYLE}</style>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" style="fill:#7a8aa0;stroke:none"/>'
        "</marker></defs>",
        f'<rect width="{width}" height="{height}" style="fill:#fff;stroke:none"/>',
    ]
    lines += [
        _arrow(places[name], places[other])
        for name, near in sorted(graph.items())
        for other in sorted(near)
        if name in places and other in places
    ]
    for name, (x, y) in places.items():
        lines.append(
            f'<rect x="{x - BOX / 2:g}" y="{y - HIGH / 2:g}" width="{BOX}" height="{HIGH}" rx="6"/>'
            f'<text x="{x:g}" y="{y + 5:g}">{name}</text>'
        )
    return "\n".join([*lines, "</svg>", ""])


def _arrow(start, end):
    (x, y), (u, v) = start, end
    y, v = y + HIGH / 2, v - HIGH / 2
    bend = (v - y) / 2
    return f'<path d="M{x:g} {y:g}C{x:g} {y + bend:g} {u:g} {v - bend:g} {u:g} {v:g}"/>'


def misplaced():
    """Imports that point to the right or between parts that stay apart, as pairs of modules."""
    rank = {name: depth for depth, row in enumerate(LAYERS) for name in row}
    return [
        (module, other)
        for module, imported in imports().items()
        for other in imported
        if (a := part(module)) != (b := part(other))
        if a not in rank or b not in rank or rank[b] >= rank[a] or {a, b} in APART
    ]


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(draw(), "utf-8")
