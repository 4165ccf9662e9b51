"""The site of these pages; scripts/docs builds it."""

from typing import Annotated, get_args, get_origin

from refless import __version__

project, author, version = "refless", "The refless developers", __version__
copyright = author  # noqa: A001 - Sphinx's name
extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "myst_nb"]
exclude_patterns = ["skills", "conf.py"]
html_theme, html_title = "furo", "refless"
html_show_sourcelink = False
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 240
nb_merge_streams = True
highlight_language = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
autodoc_typehints_format = "short"
nitpick_ignore_regex = [("py:.*", ".*")]  # types of other packages, whose pages are elsewhere


def setup(app):  # noqa: ANN001, ANN201 - Sphinx calls it
    app.connect("autodoc-before-process-signature", plain)


def plain(app, function, bound):  # noqa: ANN001, ANN201, ARG001
    """Types without what makes flags of them."""
    signature = getattr(function, "__signature__", None)
    if signature is not None:
        flags = {
            name: one.replace(annotation=get_args(one.annotation)[0])
            for name, one in signature.parameters.items()
            if get_origin(one.annotation) is Annotated
        }
        parameters = [flags.get(name, one) for name, one in signature.parameters.items()]
        function.__signature__ = signature.replace(parameters=parameters)
