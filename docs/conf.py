"""Configuration of Sphinx for ``make docs``."""

import sys
from pathlib import Path

import ranvier

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

project = "Ranvier"
author = "The Ranvier developers"
copyright = author  # noqa: A001 (Sphinx calls it so)
release = version = ranvier.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.intersphinx",
    "numpydoc",  # docstrings are in its format
    "myst_parser",  # pages are in Markdown
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",  # runs the examples and shows what they draw
    "signatures",  # no constructors of objects that only calls return
    "described_pages",  # pages of models, rules, networks, options and commands from their own descriptions
    "chart_directive",  # charts of the stored measurements
]

# Unresolved references stop the build; type names in signatures of NumPy have no pages.
nitpicky = False
templates_path = ["_templates"]
exclude_patterns = ["_build", "gallery/**/*.ipynb", "gallery/**/*.md5"]
suppress_warnings = ["config.cache"]

html_theme = "pydata_sphinx_theme"
html_title = f"Ranvier {release}"
html_static_path = ["_static"]
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 5,
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars: dict[str, list[str]] = {"index": []}
html_css_files = ["ranvier.css"]
html_copy_source = False

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "groupwise"
autodoc_typehints = "none"  # signatures would be unreadable; docstrings give types and shapes
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# `make docs-links` checks the addresses of other projects, which needs a network.
intersphinx_mapping: dict[str, tuple[str, None]] = {}

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"(__init__|_on_ranks)\.py$",
    "example_extensions": {".py"},
    "within_subsection_order": "gallery.Order",
    "download_all_examples": False,
    "capture_repr": (),
    "show_memory": False,
    "plot_gallery": True,
    "abort_on_example_error": False,
    "remove_config_comments": True,
    "min_reported_time": 0,
    "image_scrapers": ("matplotlib", "gallery"),
    "first_notebook_cell": "%matplotlib inline",
}
