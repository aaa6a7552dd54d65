"""How Sphinx builds the site; `make docs` writes it to out/site, and nothing is fetched from the network."""

import hashlib
import sys
import tomllib
from pathlib import Path

import armspan

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))
CODE = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(Path(armspan.__file__).parent.rglob("*.py"))))

project = "armspan"
author = copyright = "The armspan developers"  # noqa: A001
version = release = armspan.__version__
repository = tomllib.loads((HERE.parent / "pyproject.toml").read_text("utf-8"))["project"]["urls"]["Source"]

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "commands",
    "contents",
    "docstrings",
    "notebooks",
    "pictures",
]
exclude_patterns = ["_extensions"]
smartquotes_action = "D"  # dashes; quotation marks stay as one types them

# Markdown, and notebooks in docs/notebooks: jupytext's Markdown, run anew when they or armspan's code have changed
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence", "deflist", "tasklist"]
nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE.parent / "out" / "notebooks" / CODE.hexdigest()[:16])
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_execution_timeout = 300
nb_merge_streams = True
nb_ipywidgets_js: dict[str, dict[str, str]] = {}  # they would come from the network

# The reference: docstrings in NumPy's form, whose words say which types, so signatures stay short
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_generate = False
napoleon_google_docstring = False
napoleon_use_param = False
napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "params_style")]
default_role = "py:obj"
nitpick_ignore_regex = [("py:obj", ".*")]  # `choose` in a docstring is a link where it can be one, else code
toc_object_entries_show_parents = "hide"

html_title = "armspan"
html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["tables.js"]
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_copy_source = False
html_show_sourcelink = False
html_sidebars = {page: [] for page in ("index", "start", "theory", "glossary", "changelog")}  # nothing below them
html_theme_options = {
    "logo": {"text": "armspan", "alt_text": "armspan, start page"},
    "icon_links": [{"name": "Source code on GitHub", "url": repository, "icon": "fa-brands fa-github"}],
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
copybutton_prompt_text = r"\$ "
copybutton_prompt_is_regexp = True
