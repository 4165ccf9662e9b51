"""Judge generated text by what people have already rated.

>>> from refless import BLEUNeighbors
>>> texts = ["the fox is quick", "the dog is quick", "a fox was slow"]
>>> BLEUNeighbors(min_neighbors=1, max_fraction=1).fit(texts, [5, 4, 1]).predict(
...     ["the cat is quick"]
... ).values.tolist()
[4.5]
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from refless.version import __version__ as __version__

if TYPE_CHECKING:  # for type checkers and editors; a test holds the two lists together
    from refless.errors import IndexFolderError as IndexFolderError
    from refless.errors import InputError as InputError
    from refless.errors import MissingExtraError as MissingExtraError
    from refless.errors import RefLessError as RefLessError
    from refless.errors import UsageError as UsageError
    from refless.estimators import ESTIMATORS as ESTIMATORS
    from refless.estimators import BLEUNeighbors as BLEUNeighbors
    from refless.estimators import Explanation as Explanation
    from refless.estimators import Kriging as Kriging
    from refless.index import RatedIndex as RatedIndex
    from refless.index import load_index as load_index
    from refless.kernels import KERNELS as KERNELS
    from refless.kernels.bleu import bleu_star as bleu_star
    from refless.metrics import METRICS as METRICS
    from refless.records import Estimates as Estimates
    from refless.records import Judged as Judged
    from refless.records import Neighbor as Neighbor
    from refless.records import Outputs as Outputs
    from refless.records import RatedPool as RatedPool
    from refless.records import Ratings as Ratings
    from refless.signature import Signature as Signature
    from refless.studies.annotators import annotators as annotators
    from refless.studies.best_of import best_of as best_of
    from refless.studies.held_out import agreement as agreement
    from refless.studies.scoring import scored as scored
    from refless.tables import Columns as Columns
    from refless.tables import Reading as Reading
    from refless.tables import read_outputs as read_outputs
    from refless.tables import read_pool as read_pool
    from refless.truth import pool_of as pool_of

_HOME = {  # where each public name lives; loaded when it is first used
    "METRICS": "refless.metrics",
    "KERNELS": "refless.kernels",
    "ESTIMATORS": "refless.estimators",
    "BLEUNeighbors": "refless.estimators",
    "Columns": "refless.tables",
    "Estimates": "refless.records",
    "Explanation": "refless.estimators",
    "IndexFolderError": "refless.errors",
    "InputError": "refless.errors",
    "Judged": "refless.records",
    "Kriging": "refless.estimators",
    "MissingExtraError": "refless.errors",
    "Neighbor": "refless.records",
    "Outputs": "refless.records",
    "RatedIndex": "refless.index",
    "RatedPool": "refless.records",
    "Ratings": "refless.records",
    "Reading": "refless.tables",
    "RefLessError": "refless.errors",
    "Signature": "refless.signature",
    "UsageError": "refless.errors",
    "agreement": "refless.studies.held_out",
    "annotators": "refless.studies.annotators",
    "best_of": "refless.studies.best_of",
    "bleu_star": "refless.kernels.bleu",
    "load_index": "refless.index",
    "pool_of": "refless.truth",
    "read_outputs": "refless.tables",
    "read_pool": "refless.tables",
    "scored": "refless.studies.scoring",
}

__all__ = sorted([*_HOME, "__version__"])  # noqa: PLE0605 - derived, so that it cannot differ


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public name
    if name not in _HOME:
        raise AttributeError(f"module 'refless' has no attribute '{name}'")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
