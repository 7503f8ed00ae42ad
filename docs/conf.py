"""Site of the documentation: ``make docs``.

Pages link to measured results and examples by their paths in the repository. So that these links
hold on the site as well, Sphinx reads the whole repository (``sphinx-build -c docs . OUT``) and
takes only what is listed here.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [
    str(HERE / "_extensions"),
    str(HERE.parent / "src"),
    str(HERE.parent / "research" / "src"),
]

import movers  # noqa: E402

project = "movers"
author = "The movers developers"
version = release = movers.__version__
copyright = author

extensions = [
    "commands",
    "mathml",
    "myst_parser",
    "readable",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
root_doc = "docs/index"
include_patterns = ["docs/**", "results/**", "CHANGELOG.md"]
exclude_patterns = [
    ".*",
    "**/__pycache__",
    "bench",
    "build",
    "dist",
    "docs/_*",
    "examples",
    "research",
    "results/README.md",
    "scripts",
    "src",
    "tests",
]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
default_role = "py:obj"
nitpicky = False  # types of numpy and torch have no page here

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_type_aliases = {
    name: name
    for name in (
        "ArrayLike",
        "Floats",
        "Ints",
        "ManyWeights",
        "Matrix",
        "OptionalWeights",
        "Selection",
    )
}
autodoc_mock_imports = [  # slow
    "langchain_core",
    "llama_index",
    "mteb",
    "ray",
    "sentence_transformers",
    "torch",
    "torchmetrics",
]
napoleon_google_docstring = False
napoleon_use_param = False  # types of parameters are shapes, not names to link
napoleon_use_rtype = False
napoleon_use_ivar = True  # what a result holds, in one short list

viewcode_follow_imported_members = False  # it confuses two names of one thing

html_theme = "furo"
html_title = f"movers {release}"
html_static_path = ["_static"]
html_extra_path = ["_root"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_copy_source = False
