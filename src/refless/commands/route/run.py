"""route: outputs that a licensed judge decides alone, and those for people."""

import hashlib
from collections.abc import Mapping
from typing import Annotated

import numpy as np

from refless.commands.judge_shift import difference_said
from refless.commands.parameters import (
    About,
    Argument,
    Folder,
    RatedColumns,
    RatedReading,
    RowFilter,
    Rubric,
    ScoreColumn,
    Seed,
    Share,
    SkipBad,
    command,
    names_in,
)
from refless.commands.route.audit import AuditedSide, audited, is_broken
from refless.commands.route.licence_file import LicensedJudge, licence_in
from refless.commands.route.result import TOGETHER, RouteResult
from refless.commands.rows import ScoredRows, tell
from refless.commands.warnings import note
from refless.data.design import Design
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

FileName = Annotated[Folder, About(kind=str, metavar="FILE")]


@command
def route(
    outputs: Argument,
    *,
    licence: FileName,
    audit: Share[float] = 0.05,
    rubric: Rubric = None,
    seed: Seed = 0,
    columns: RatedColumns = None,
    reading: RatedReading = None,
    skip_bad: SkipBad = False,
    where: RowFilter = None,
    score_column: ScoreColumn = None,
) -> RouteResult:
    """Decide outputs by a licensed judge: pass, fail, or leave to a person.

    For example: refless route outputs.csv --licence licence.json -o decided.csv

    A part of what the judge could decide goes to people too. Their ratings, in the same file, tell
    however often you look whether its promise still holds; if not, exit 3, and people decide all.

    Args:
        outputs: Files of outputs with the judge's scores, and with ratings of some.
        licence: JSON of 'refless judge --at-most-wrong': refuses another judge, another rubric, and
            scores that are spread unlike those that it has seen.
        audit: The share of what the judge could decide that people decide, at random.
        rubric: The rubric that the judge followed, if the licence has one.
    """
    names = names_in(score_column)
    if len(names) > 1:
        raise UsageError(f"{called('score_column')} takes one judge here")
    judge = licence_in(licence, names[0] if names else None, rubric)
    rows = ScoredRows(
        columns=columns,
        reading=reading,
        skip_bad=skip_bad,
        where=where,
        score_column=judge.name,
    )
    read = read_partly(outputs, rows.to_reading(), None)
    tell(read)
    texts = read.texts
    scores = texts.score(judge.name)
    _check_shift(judge, texts, scores)
    decisions = judge.licence.thresholds.decisions(scores)
    audits = _audits(judge, read, decisions)
    decided = decisions != "person"
    drawn = _drawn(texts, audit, seed) & np.isnan(read.human)
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


def _audits(
    judge: LicensedJudge, read: PartlyRated, decisions: StringArray
) -> dict[str, AuditedSide]:
    """By licensed side, and together, the ratings of texts that the judge decides so."""
    good = read.human >= judge.licence.passing
    rated = ~np.isnan(read.human)
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
