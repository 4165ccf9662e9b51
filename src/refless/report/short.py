"""The JSON of commands that have no report of their own: index, mine, demo."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from refless.mining import Candidate, Weighted
from refless.report.record import Count, Record, Signed
from refless.report.score.data import ScoreRecord
from refless.report.validate.data import ValidateRecord


@dataclass(frozen=True, kw_only=True)
class IndexRecord(Record):
    """The folder of an index, and how many rated texts are in it."""

    command: Literal["index"] = "index"
    signature: Signed
    folder: str
    n: Count


@dataclass(frozen=True, kw_only=True)
class MineRecord(Record):
    """Responses to rate (the first step), or items with weighted references (the second)."""

    command: Literal["mine"] = "mine"
    signature: Signed
    candidates: tuple[Candidate, ...]
    weighted: tuple[Weighted, ...]


@dataclass(frozen=True, kw_only=True)
class DemoRecord(Record):
    """What `validate` and `score` say of the simulated sample."""

    command: Literal["demo"] = "demo"
    signature: Signed
    validate: ValidateRecord
    score: ScoreRecord
