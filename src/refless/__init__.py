"""Judge generated text by what people have already rated.

>>> from refless import BLEUNeighbors
>>> texts = ["the fox is quick", "the dog is quick", "a fox was slow"]
>>> scorer = BLEUNeighbors(min_neighbors=1, max_fraction=1).fit(texts, [5, 4, 1])
>>> scorer.predict(["the cat is quick"]).tolist()
[4.5]
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from refless.version import __version__ as __version__

if TYPE_CHECKING:  # for type checkers and editors; a test holds the two lists together
    from refless.application.compare import compare as compare
    from refless.application.datasets import dataset as dataset
    from refless.application.dimensions import by_dimension as by_dimension
    from refless.application.explain import explain as explain
    from refless.application.fit import fit as fit
    from refless.application.huse import huse as huse
    from refless.application.join import join as join
    from refless.application.meta import meta as meta
    from refless.application.metric import metric as metric
    from refless.application.mine import mine as mine
    from refless.application.next import next as next  # noqa: A004
    from refless.application.score import score as score
    from refless.application.stream import stream as stream
    from refless.application.stress import stress as stress
    from refless.application.train import train as train
    from refless.application.tune import tune as tune
    from refless.application.validate import validate as validate
    from refless.errors import IndexFolderError as IndexFolderError
    from refless.errors import InputError as InputError
    from refless.errors import MissingExtraError as MissingExtraError
    from refless.errors import RefLessError as RefLessError
    from refless.errors import UsageError as UsageError
    from refless.estimators import ESTIMATORS as ESTIMATORS
    from refless.estimators import BLEUNeighbors as BLEUNeighbors
    from refless.estimators import GaussianProcess as GaussianProcess
    from refless.estimators import RatPred as RatPred
    from refless.estimators import estimator_of as estimator_of
    from refless.estimators import held_out as held_out
    from refless.estimators.explanation import Explanation as Explanation
    from refless.estimators.saved import load as load
    from refless.estimators.saved import save as save
    from refless.human import pool_of as pool_of
    from refless.index import RatedIndex as RatedIndex
    from refless.index import load_index as load_index
    from refless.kernels import KERNELS as KERNELS
    from refless.kernels import BertScore as BertScore
    from refless.kernels import BleuStar as BleuStar
    from refless.kernels import Meteor as Meteor
    from refless.kernels import RougeL as RougeL
    from refless.kernels import kernel_of as kernel_of
    from refless.kernels.bleu import bleu_star as bleu_star
    from refless.metrics import METRICS as METRICS
    from refless.metrics import metric_of as metric_of
    from refless.pairs import Pairs as Pairs
    from refless.records import Estimates as Estimates
    from refless.records import Neighbor as Neighbor
    from refless.records import Outputs as Outputs
    from refless.records import Predictions as Predictions
    from refless.records import RatedPool as RatedPool
    from refless.records import Ratings as Ratings
    from refless.report.compare.result import CompareResult as CompareResult
    from refless.report.dimensions import ScoreByDimension as ScoreByDimension
    from refless.report.dimensions import ValidateByDimension as ValidateByDimension
    from refless.report.explain import ExplainResult as ExplainResult
    from refless.report.huse import HuseResult as HuseResult
    from refless.report.join import JoinResult as JoinResult
    from refless.report.meta import MetaResult as MetaResult
    from refless.report.metric import MetricResult as MetricResult
    from refless.report.next import NextResult as NextResult
    from refless.report.pairs.chances import ChancesResult as ChancesResult
    from refless.report.pairs.judged import JudgedResult as JudgedResult
    from refless.report.pairs.wins import WinsResult as WinsResult
    from refless.report.score.result import ScoreResult as ScoreResult
    from refless.report.score.streamed import StreamResult as StreamResult
    from refless.report.short import FitResult as FitResult
    from refless.report.short import MineResult as MineResult
    from refless.report.stress import StressResult as StressResult
    from refless.report.train.result import TrainResult as TrainResult
    from refless.report.tune import TuneResult as TuneResult
    from refless.report.validate.result import ValidateResult as ValidateResult
    from refless.signature import Signature as Signature
    from refless.studies.annotators import annotators as annotators
    from refless.studies.best_of import best_of as best_of
    from refless.studies.held_out import agreement as agreement
    from refless.studies.scoring import scored as scored
    from refless.tables import Columns as Columns
    from refless.tables import Reading as Reading
    from refless.tables import Rows as Rows
    from refless.tables import read_both as read_both
    from refless.tables import read_outputs as read_outputs
    from refless.tables import read_pairs as read_pairs
    from refless.tables import read_pool as read_pool

_NAMES = {  # the public names of each module; loaded when one is first used
    "application.compare": "compare",
    "application.datasets": "dataset",
    "application.dimensions": "by_dimension",
    "application.explain": "explain",
    "application.fit": "fit",
    "application.huse": "huse",
    "application.join": "join",
    "application.meta": "meta",
    "application.metric": "metric",
    "application.mine": "mine",
    "application.next": "next",
    "application.score": "score",
    "application.stream": "stream",
    "application.stress": "stress",
    "application.train": "train",
    "application.tune": "tune",
    "application.validate": "validate",
    "errors": "IndexFolderError InputError MissingExtraError RefLessError UsageError",
    "estimators": "BLEUNeighbors ESTIMATORS GaussianProcess RatPred estimator_of held_out",
    "estimators.explanation": "Explanation",
    "estimators.saved": "load save",
    "human": "pool_of",
    "index": "RatedIndex load_index",
    "kernels": "BertScore BleuStar KERNELS Meteor RougeL kernel_of",
    "kernels.bleu": "bleu_star",
    "metrics": "METRICS metric_of",
    "pairs": "Pairs",
    "records": "Estimates Neighbor Outputs Predictions RatedPool Ratings",
    "report.compare.result": "CompareResult",
    "report.dimensions": "ScoreByDimension ValidateByDimension",
    "report.explain": "ExplainResult",
    "report.huse": "HuseResult",
    "report.join": "JoinResult",
    "report.meta": "MetaResult",
    "report.metric": "MetricResult",
    "report.next": "NextResult",
    "report.pairs.chances": "ChancesResult",
    "report.pairs.judged": "JudgedResult",
    "report.pairs.wins": "WinsResult",
    "report.score.result": "ScoreResult",
    "report.score.streamed": "StreamResult",
    "report.short": "FitResult MineResult",
    "report.stress": "StressResult",
    "report.train.result": "TrainResult",
    "report.tune": "TuneResult",
    "report.validate.result": "ValidateResult",
    "signature": "Signature",
    "studies.annotators": "annotators",
    "studies.best_of": "best_of",
    "studies.held_out": "agreement",
    "studies.scoring": "scored",
    "tables": "Columns Reading Rows read_both read_outputs read_pairs read_pool",
}
_HOME = {name: f"refless.{module}" for module, names in _NAMES.items() for name in names.split()}

__all__ = sorted([*_HOME, "__version__"])  # noqa: PLE0605 - derived, so that it cannot differ


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public name
    if name not in _HOME:
        raise AttributeError(f"module 'refless' has no attribute '{name}'")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
