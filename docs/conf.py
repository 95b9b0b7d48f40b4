"""How the pages and the reference become HTML: ``pip install '.[docs]' && sphinx-build docs docs/_build``."""

import re

import skdp

project = "skdp"
author = copyright = "The skdp developers"
version = release = skdp.__version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.mathjax", "numpydoc", "myst_parser"]
root_doc = "contents"  # index.md is read on the forge too, where a toctree would show as code
exclude_patterns = ["_build"]
html_theme = "alabaster"
html_theme_options = {"description": "Differentially private estimators", "page_width": "1100px"}

# Names in the `__all__` of a room, in its order, each with its own methods.
autodoc_default_options = {
    "members": True,
    "show-inheritance": True,
    "member-order": "bysource",
    "exclude-members": "set_fit_request, set_score_request, set_partial_fit_request",  # scikit-learn's
}
autodoc_typehints = "none"  # numpydoc's sections say the types in words
numpydoc_show_class_members = False
default_role = "literal"  # `name` is code, as in the pages

myst_heading_anchors = 3
suppress_warnings = [
    "myst.xref_missing",  # pages point at code and tests, which are read in the repository
]


def keep_bars(app, what, name, thing, options, lines):
    """In docstrings |w| is a norm, where reStructuredText would see the name of a substitution."""
    for number, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            lines[number] = re.sub(r"(``.*?``|`.*?`)|\|", lambda m: m[1] or r"\|", line)


def setup(app):
    """Called by Sphinx; numpydoc comes after, at 500."""
    app.connect("autodoc-process-docstring", keep_bars, priority=400)
