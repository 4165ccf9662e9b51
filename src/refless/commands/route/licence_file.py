"""The licence of a judge, read from the JSON of `refless judge`."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path

import msgspec

from refless.commands.judged_by import rubric_of
from refless.evaluation.decisions import JudgeInputs, Thresholds
from refless.evaluation.judge_shift import ScoreSample
from refless.files.untrusted import json_of
from refless.registry.dialect import called
from refless.registry.errors import InputError, UsageError
from refless.registry.signature import Signature


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    threshold: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _LicensedSide:
    chosen: _Step | None

    @property
    def threshold(self) -> float:
        return math.nan if self.chosen is None else self.chosen.threshold


@dataclass(frozen=True, slots=True, kw_only=True)
class _Promise:
    at_most_wrong: float
    sure: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLicence:
    """The part of a licence that is read.

    Attributes:
        passing: from where on a rating is a pass; promise: that is kept; inputs: of the judge.
        scores: of the texts that licensed the judge; passes, fails: the two sides.
        undefined: why nothing may be decided alone, or "".
    """

    passing: float
    promise: _Promise
    inputs: JudgeInputs
    scores: ScoreSample
    passes: _LicensedSide
    fails: _LicensedSide
    undefined: str

    @property
    def thresholds(self) -> Thresholds:
        """The thresholds of both sides."""
        return Thresholds(pass_from=self.passes.threshold, fail_to=self.fails.threshold)


@dataclass(frozen=True, slots=True, kw_only=True)
class _LicensedJudge:
    name: str
    licence: StoredLicence | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _LicenceFile:
    signature: str
    judges: tuple[_LicensedJudge, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LicensedJudge:
    """A judge with its licence, and the signature of what licensed it."""

    name: str
    licence: StoredLicence
    signature: Signature

    @property
    def inputs(self) -> JudgeInputs:
        """Its input."""
        return self.licence.inputs


def licence_in(
    path: str | PathLike[str],
    name: str | None,
    rubric: str | PathLike[str] | None,
) -> LicensedJudge:
    """The judge that a file licenses.

    Args:
        path: JSON of `refless judge`; name: of the judge, or None for the only one.
        rubric: that it follows, or None.

    Raises:
        InputError: no such JSON.
        UsageError: no licence, another judge or another rubric.
    """
    file = fspath(path)
    try:
        content = msgspec.convert(json_of(Path(path)), _LicenceFile)
    except msgspec.ValidationError:
        promise = called("at_most_wrong", 0.05)
        remedy = f"write one with: refless judge ... {promise} -o FILE.json"
        raise InputError(
            "this is no licence of a judge", path=file, remedy=remedy
        ) from None
    licences = {judge.name: judge.licence for judge in content.judges}
    name = name or _only_one(file, licences)
    licence = licences.get(name)
    if licence is None:
        raise UsageError(
            f"{file} has no licence for '{name}'; its judges are {', '.join(licences)}, and "
            f"{called('at_most_wrong')} of 'refless judge' gives a licence"
        )
    if licence.undefined:
        raise UsageError(f"{name} may decide nothing alone: {licence.undefined}")
    signature = Signature.parse(content.signature)
    if signature.get("rubric") != rubric_of(rubric):
        raise UsageError(
            f"{file} was made with another rubric, or one of the two has none: give the same "
            f"{called('rubric')} to both, or judge again"
        )
    return LicensedJudge(name=name, licence=licence, signature=signature)


def _only_one(file: str, licences: Mapping[str, StoredLicence | None]) -> str:
    """The judge that may decide something; raises UsageError if several may."""
    able = [
        name
        for name, licence in licences.items()
        if licence is not None and not licence.undefined
    ]
    if len(able) > 1:
        raise UsageError(
            f"{file} has several judges: say with {called('score_column')} which one decides: "
            f"{', '.join(able)}"
        )
    return able[0] if able else next(iter(licences), "")
