"""Whether the judge whose scores are read is the one that `refless judge` has looked at."""

import hashlib
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import msgspec

from refless.commands.warnings import note
from refless.data.human import fingerprint
from refless.data.records import RatedPool
from refless.files.untrusted import json_of, reading
from refless.registry.dialect import called
from refless.registry.errors import InputError, UsageError
from refless.registry.signature import Signature
from refless.report.result import GateRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judge:
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    """The part of the JSON of `refless judge` that is read."""

    signature: str
    judges: tuple[_Judge, ...]
    gate: GateRecord


def rubric_of(path: str | PathLike[str] | None) -> str | None:
    """Twelve hexadecimal digits of a rubric's file; None without one."""
    if path is None:
        return None
    with reading(path):
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:12]


def labels_of(pool: RatedPool) -> str:
    """Fingerprint of texts and their ratings, whatever scores stand beside them."""
    return fingerprint(pool.with_scores(()))


def _judged(path: Path) -> _Judged:
    content = json_of(path)
    try:
        return msgspec.convert(content, _Judged)
    except msgspec.ValidationError:
        remedy = "write one with: refless judge ... --format json -o FILE"
        raise InputError(
            "this is no JSON of refless judge", path=str(path), remedy=remedy
        ) from None


def check_judged(
    path: str | PathLike[str], rubric: str | PathLike[str] | None, rated: RatedPool
) -> None:
    """Notes what is not as it was when the judge was looked at.

    Raises:
        UsageError: another judge, another rubric, or no scores.
        InputError: no JSON of `refless judge`.
    """
    judged = _judged(Path(path))
    signature = Signature.parse(judged.signature)
    names = [judge.name for judge in judged.judges]
    if not rated.score_names:
        raise UsageError(f"{called('judged_by')} goes with {called('score_column')}")
    for name in rated.score_names:
        if name not in names:
            raise UsageError(f"{path} judges {', '.join(names)}, and not '{name}'")
    if signature.get("rubric") != rubric_of(rubric):
        raise UsageError(
            f"{path} was made with another rubric, or one of the two has none: give the same "
            f"{called('rubric')} to both, or judge again"
        )
    if signature.get("pool") != labels_of(rated):
        note(
            f"the ratings are not those by which {path} judges {', '.join(rated.score_names)}"
        )
    if judged.gate.verdict in {"failed", "undecided"}:
        note(f"{path}: {judged.gate.reason}")
