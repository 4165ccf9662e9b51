"""The site of these pages; scripts/docs builds it."""

from refless import __version__

project, author, version = "refless", "The refless developers", __version__
copyright = author  # noqa: A001 - Sphinx's name
extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "myst_nb"]
exclude_patterns = ["skills", "conf.py"]
html_theme, html_title = "furo", "refless"
html_show_sourcelink = False
html_static_path, html_css_files = ["_static"], ["refless.css"]
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 240
nb_merge_streams = True
highlight_language, smartquotes = "none", False  # two hyphens begin a flag
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
autodoc_typehints_format = "short"
nitpick_ignore_regex = [
    ("py:.*", ".*")
]  # types of other packages, whose pages are elsewhere
