"""Judge generated text by what people have already rated.

>>> from refless import BLEUNeighbors
>>> texts = ["the fox is quick", "the dog is quick", "a fox was slow"]
>>> scorer = BLEUNeighbors(min_neighbors=1, max_fraction=1).fit(texts, [5, 4, 1])
>>> scorer.predict(["the cat is quick"]).tolist()
[4.5]
"""

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

from refless.registry.version import __version__ as __version__

# also of a zip
_STUB = ast.parse(__loader__.get_data(str(Path(__file__).with_suffix(".pyi"))))
_HOME = {  # of each public name, which is loaded when it is first used
    alias.name: str(one.module)
    for one in _STUB.body
    if isinstance(one, ast.ImportFrom)
    for alias in one.names
}

__all__ = sorted(_HOME)  # noqa: PLE0605 - derived, so that it cannot differ


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public name
    if name not in _HOME:
        raise AttributeError(f"module 'refless' has no attribute '{name}'")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
