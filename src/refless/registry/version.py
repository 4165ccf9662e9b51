"""The version, where every layer can read it."""

__version__ = "0.2.0"
INSTALLED_FROM = (
    "."  # for pip: "." in a clone; "refless" once it is on PyPI (CONTRIBUTING.md)
)
