"""Sphinx: how the documentation is built. Nothing is fetched, from here or by the reader's browser."""

import sys
from pathlib import Path

from linkwise import __version__

project = "linkwise"
author = "The linkwise developers"
project_copyright = "The linkwise developers"
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "methods_table",
    "options_table",
    "measured",
]
sys.path.insert(0, str(Path(__file__).parent))  # our own directives and role
source_suffix = {".rst": "restructuredtext", ".md": "restructuredtext"}  # decision records are valid as both
exclude_patterns = ["_build", "_templates", "presets"]
templates_path = ["_templates"]
default_role = "py:obj"

autodoc_typehints = "none"  # the docstrings say it in words
autodoc_preserve_defaults = True  # names as in the code: the value of a path would be one of this machine
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
autosummary_generate = True
numpydoc_show_class_members = False  # the template lists them
numpydoc_xref_param_type = False

html_theme = "pydata_sphinx_theme"
html_title = f"linkwise {release}"
html_copy_source = False
html_show_sourcelink = False
html_static_path: list[str] = []
html_theme_options = {
    "navigation_with_keys": False,
    "show_nav_level": 2,
    "header_links_before_dropdown": 6,
    "logo": {"text": "linkwise"},  # the version of a build is long, and would run into the links
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"decisions/*": [], "reproduction/*": []} | {
    page.stem: [] for page in Path(__file__).parent.glob("*.rst") if page.stem != "reference"
}
