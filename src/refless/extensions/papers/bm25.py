"""The library bm25s, which is an extra: an index of words, and a list of English stop words."""

import warnings
from typing import Any

from refless.registry.errors import MissingExtraError


def bm25s(feature: str) -> Any:  # noqa: ANN401 - bm25s has no types
    """The library, loaded.

    Args:
        feature: that needs it, as the error begins with it.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        with warnings.catch_warnings():
            # its own imports deprecate what is not our users' care
            warnings.simplefilter("ignore")
            import bm25s.stopwords
    except ImportError as missing:
        raise MissingExtraError(feature, "papers") from missing
    return bm25s
