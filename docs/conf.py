"""How the pages, the examples and the reference become a site: ``nox -s docs``.

Options of an environment: ``SKDP_GALLERY=0`` builds without running the examples.
"""

import os
import re
import sys
import warnings
from pathlib import Path

import skdp

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

# Examples fit generated tables as often as they like.
warnings.filterwarnings("ignore", "This is the second fit", skdp.PrivacyWarning)

project = "skdp"
author = copyright = "The skdp developers"
version = release = skdp.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "reference",
    "repository",
    "run",
]
exclude_patterns = ["_build", "_ext", "_templates"]
templates_path = ["_templates"]

html_theme = "pydata_sphinx_theme"
html_title = f"skdp {version}"
html_context = {"default_mode": "auto"}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "skdp"},
    "github_url": "https://github.com/skdp/skdp",
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc", "sourcelink"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "show_version_warning_banner": False,
}
html_sidebars = {"index": [], "calculator": []}

autosummary_generate = True
autodoc_default_options = {
    "members": True,
    "show-inheritance": True,
    "member-order": "bysource",
    # scikit-learn's own, with links into its pages
    "exclude-members": "set_fit_request, set_score_request, set_partial_fit_request, set_transform_request, "
    "set_predict_request, set_callbacks, get_metadata_routing, set_output",
}
toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"  # numpydoc's sections say the types in words
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
default_role = "literal"  # `name` is code, as in the pages

myst_enable_extensions = ["colon_fence", "attrs_inline"]
myst_heading_anchors = 3

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

SECTIONS = ["start", "models", "evaluation", "budgets", "audits"]
sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"/plot_",
    "plot_gallery": os.environ.get("SKDP_GALLERY", "1") != "0",
    "subsection_order": [f"../examples/{name}" for name in SECTIONS],
    "within_subsection_order": "FileNameSortKey",
    "remove_config_comments": True,
    "default_thumb_file": str(Path(__file__).parent / "_static" / "words.png"),
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "min_reported_time": 10**6,  # times of a build are nobody's affair, and change with each
    "write_computation_times": False,
    "abort_on_example_error": True,
}


def as_on_the_site(app, what, name, thing, options, lines):
    """In docstrings |w| is a norm, not the name of a substitution, and docs/choose.md is a page."""
    for number, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            line = re.sub(r"(``.*?``|`.*?`)|\|", lambda m: m[1] or r"\|", line)
            lines[number] = re.sub(r"(?<![`\w/])docs/([\w/]+)\.md", r":doc:`/\1`", line)


def unlink_attributes(app, what, name, thing, options, lines):
    """What numpydoc makes of a fitted attribute is no link: neither its name nor that of a size in its shape."""
    for number, line in enumerate(lines):
        line = re.sub(r":obj:`(\w+) <\.\1>`", r"**\1**", line)
        lines[number] = re.sub(r"(?<=\w)_(?=[,)])", r"\_", line) if "** : " in line else line


def setup(app):
    """Called by Sphinx; numpydoc comes between the two, at 500."""
    app.connect("autodoc-process-docstring", as_on_the_site, priority=400)
    app.connect("autodoc-process-docstring", unlink_attributes, priority=600)
