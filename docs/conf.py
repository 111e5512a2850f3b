"""Builds the documentation with Sphinx, MyST and Furo: `make docs`.

Sphinx checks every cross-reference and can fail on any warning, MyST reads the same Markdown that GitHub shows, and
Furo needs no web font and no CDN, so the pages open without a network. All three are maintained by several people.
"""

from __future__ import annotations

project = "Dailygrad"
author = "The Dailygrad authors"
project_copyright = "The Dailygrad authors, MIT license"

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
nitpicky = True

# Anchors of headings, as GitHub makes them, so that links work in both places.
myst_heading_anchors = 3
myst_links_external_new_tab = False

html_theme = "furo"
html_title = "Dailygrad"
html_static_path = ["_static"]
html_css_files = ["tables.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"footer_icons": [], "navigation_with_keys": True}
pygments_style = "friendly"
pygments_dark_style = "monokai"
