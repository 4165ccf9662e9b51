"""route: outputs that a licensed judge decides alone, and those for people."""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np

from refless.commands.judge_shift import difference_said
from refless.commands.parameters import (
    RATED_ROLES,
    About,
    Argument,
    ColumnRoles,
    Dimension,
    Files,
    Folder,
    Model,
    RatedReading,
    RowFilter,
    Rubric,
    ScoreColumn,
    Seed,
    Share,
    SkipBad,
    about_columns,
    command,
    names_in,
)
from refless.commands.route.audit import AuditedSide, audited, is_broken
from refless.commands.route.forming import estimator_behind, kind_of, scores_of
from refless.commands.route.licence_file import LicensedJudge, licence_in
from refless.commands.route.result import TOGETHER, RouteResult
from refless.commands.rows import ScoredRows, tell
from refless.commands.warnings import note
from refless.data.design import Design
from refless.data.human import unscaled
from refless.data.records import Outputs
from refless.data.tables.partly_rated import PartlyRated, read_partly
from refless.evaluation.judge_shift import ScoreSample, shift_between
from refless.registry.arrays import BoolArray, FloatArray, StringArray
from refless.registry.dialect import called
from refless.registry.errors import UsageError
from refless.registry.signature import Signature, digest_of
from refless.registry.version import __version__
from refless.report.result import GateRecord
from refless.report.wording import exact_percent

ROUTED_ROLES = (*RATED_ROLES, "run")
RoutedColumns = Annotated[ColumnRoles, about_columns("rating=score", ROUTED_ROLES)]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutedRows(ScoredRows):
    """The same with the runs of a judge in rows."""

    roles: ClassVar[tuple[str, ...]] = ROUTED_ROLES


FileName = Annotated[Folder, About(kind=str, metavar="FILE")]


@command
def route(
    outputs: Argument,
    *,
    licence: FileName,
    rated: Files = None,
    model: Model = None,
    audit: Share[float] = 0.05,
    rubric: Rubric = None,
    seed: Seed = 0,
    columns: RoutedColumns = None,
    reading: RatedReading = None,
    skip_bad: SkipBad = False,
    where: RowFilter = None,
    dimension: Dimension = None,
    score_column: ScoreColumn = None,
) -> RouteResult:
    """Decide outputs by a licensed judge: pass, fail, or leave to a person.

    For example: refless route outputs.csv --licence licence.json -o decided.csv

    A part of what the judge could decide goes to people too. Their ratings, in the same file, tell
    however often you look whether its promise still holds; if not, exit 3, and people decide all.

    Args:
        outputs: Files of outputs with the judge's scores, and with ratings of some.
        licence: JSON of 'refless judge --at-most-wrong': refuses another judge, another rubric, and
            scores that are spread unlike those that it has seen. Of votes it names the runs.
        rated: The rated texts of a licence for texts and scores together; or give a `model`.
        audit: The share of what the judge could decide that people decide, at random. The ratings
            of these alone are evidence.
        rubric: The rubric that the judge followed, if the licence has one.
    """
    names = names_in(score_column)
    if len(names) > 1:
        raise UsageError(f"{called('score_column')} takes one judge here")
    judge = licence_in(licence, names[0] if names else None, rubric)
    rows = RoutedRows(
        columns=columns,
        reading=reading,
        skip_bad=skip_bad,
        where=where,
        scale=judge.inputs.scale,
        dimension=dimension,
        score_column=judge.inputs.columns,
    )
    of_rated = rows.to_reading()
    estimator = estimator_behind(judge, rated, model, of_rated)
    beside = replace(of_rated, beside_rated=True)
    needed = ("text",) if judge.inputs.estimator else ()
    read = read_partly(outputs, beside, None, needed, kind_of(judge.inputs))
    tell(read)
    texts = read.texts
    scores = scores_of(judge, texts, estimator)
    _check_shift(judge, texts, scores)
    decisions = judge.licence.thresholds.decisions(scores)
    drawn = _drawn(texts, audit, seed)
    if estimator is not None:  # it knows the ratings of these texts
        drawn &= ~np.isin(texts.texts, estimator.rated.texts)
    human = np.where(drawn, _human(read), math.nan)
    audits = _audits(judge, human, decisions)
    decided = decisions != "person"
    drawn &= np.isnan(human)
    reasons = np.where(np.isnan(scores), "no score", "between")
    reasons = np.where(decided, "", reasons)
    reasons = np.where(decided & drawn, "audit", reasons)
    gate = _gate(judge, audits)
    if gate.verdict == "failed":
        reasons = np.where(decided, "broken promise", reasons)
    signature = Signature("route").plus(
        judge=judge.name,
        licence=digest_of([[str(judge.signature)]]),
        audit=audit,
        seed=seed,
        v=__version__,
    )
    return RouteResult(
        texts=texts,
        judge=judge,
        scores=scores,
        decisions=np.where(reasons == "", decisions, "person"),
        reasons=reasons,
        audits=audits,
        first=read.first,
        named=read.named,
        gate=gate,
        signature=signature,
    )


def _check_shift(judge: LicensedJudge, texts: Outputs, scores: FloatArray) -> None:
    """Raises UsageError if scores are spread unlike those that the licence has seen."""
    units = Design.of(texts).apart(texts)
    shift = shift_between(
        judge.name, judge.licence.scores, ScoreSample.of(scores, units)
    )
    if shift.shifted:
        raise UsageError(
            f"{judge.name}: {difference_said(shift)}. Another judge, prompt or scale, or other "
            "texts, have no licence: rate some of these and judge again"
        )


def _drawn(texts: Outputs, audit: float, seed: int) -> BoolArray:
    """[n] whether a text goes to people for the audit, whatever texts stand beside it."""
    drawn = []
    for name, text in zip(texts.ids, texts.texts, strict=True):
        content = f"{seed}\0{name}\0{text}".encode("utf-8", "replace")
        number = int.from_bytes(hashlib.sha256(content).digest()[:8], "big")
        drawn.append(number < audit * 2**64)
    return np.array(drawn, dtype=bool)


def _human(read: PartlyRated) -> FloatArray:
    """[n] ratings of the outputs in the raters' units, NaN where there is none."""
    return read.human if read.pool is None else unscaled(read.human, read.pool.scale)


def _audits(
    judge: LicensedJudge, human: FloatArray, decisions: StringArray
) -> dict[str, AuditedSide]:
    """By licensed side, and together, the ratings of texts that the judge decides so."""
    good = human >= judge.licence.passing
    rated = ~np.isnan(human)
    sides = judge.licence.thresholds.sides
    wrong = np.where(decisions == "pass", ~good, good)
    decided = {side: rated & (decisions == side) for side in sides}
    if len(sides) > 1:
        decided[TOGETHER] = rated & (decisions != "person")
    audits = {}
    for name, rows in decided.items():
        errors = int(wrong[rows].sum())
        most = judge.licence.promise.at_most_wrong
        audits[name] = audited(int(rows.sum()), errors, most)
    return audits


def _gate(judge: LicensedJudge, audits: Mapping[str, AuditedSide]) -> GateRecord:
    """Failed if the promise no longer holds."""
    if not is_broken(audits.values()):
        return GateRecord()
    most = judge.licence.promise.at_most_wrong
    worse = [
        f"{side.wrong} of {side.n} that it would {name}"
        for name, side in audits.items()
        if name != TOGETHER and side.wrong > most * side.n
    ]
    share = exact_percent(most)
    reason = f"people decide otherwise on {' and '.join(worse)}, more than {share}: judge again"
    note(reason)
    return GateRecord.of("failed", reason)
