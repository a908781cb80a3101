"""Sphinx configuration: `sphinx-build -W -b html docs docs/_build/html`."""

from __future__ import annotations

import os
import sys
from pathlib import Path


HERE = Path(__file__).parent
os.environ.setdefault("JAX_PLATFORMS", "cpu")
sys.path[:0] = [str(HERE / "ext"), str(HERE.parent)]

import functx  # noqa: E402


project = "functx"
author = "The functx developers"
copyright = "The functx developers"
version = release = functx.__version__

extensions = [
    "myst_nb",
    "sphinx_copybutton",
    "sphinx.ext.intersphinx",
    "reference",
    "tutorials",
    "mathml",
    "coverage",
]
exclude_patterns = [
    "_build",
    "ext",
    "generated/fields.md",  # parts of other pages
    "generated/moved.md",
    "generated/public_models.md",
    "generated/public_models_counts.md",
    "jupyter_execute",
    "**.ipynb_checkpoints",
]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
python_maximum_signature_line_length = 76
add_module_names = False
toc_object_entries_show_parents = "hide"
intersphinx_disabled_reftypes = ["*"]
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True

html_math_renderer = "mathml"
# Notebooks are committed with their outputs, which are shown; CI runs them all again.
nb_execution_mode = "off"

html_theme = "furo"
html_title = f"functx {release}"
html_static_path = ["_static"]
html_css_files = ["functx.css"]
html_js_files = ["search.js"]
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#1d5fa8",
        "color-brand-content": "#1d5fa8",
        "font-stack": "Inter, system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif",
    },
    "dark_css_variables": {
        "color-brand-primary": "#7db4f0",
        "color-brand-content": "#7db4f0",
    },
}

# `sphinx-build -b linkcheck` asks other hosts once more before it calls a link broken.
linkcheck_timeout = 20
linkcheck_retries = 2
linkcheck_workers = 4
linkcheck_rate_limit_timeout = 60
linkcheck_ignore = [r"https?://(localhost|127\.0\.0\.1)(:\d+)?(/|$)"]
