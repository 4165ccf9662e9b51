"""Columns that rows gain in files: what a judge may decide, and better probabilities."""

import math

from refless.commands.judge.audit import Audit
from refless.commands.judge.calibration import Calibration, better, held_out_map
from refless.commands.judge.question import Question
from refless.evaluation.labels import Labels
from refless.report.export import Cell


def columns_beside(
    question: Question, labels: Labels, passing: float, judged: Audit
) -> dict[str, list[Cell]]:
    """By name, [n + m] cells of the rated rows and of the others: decisions, probabilities."""
    name = judged.name
    columns = {}
    if judged.licence is not None:
        decisions = judged.licence.thresholds.decisions(question.every(name))
        columns[f"{name} decides"] = decisions.tolist()
    if judged.calibration is not None:
        calibrated = _calibrated(question, labels, passing, judged.calibration)
        columns[f"{name} calibrated"] = calibrated
    return columns


def _calibrated(
    question: Question, labels: Labels, passing: float, calibration: Calibration
) -> list[Cell]:
    """[n + m] better probabilities of the rated rows, learned without them, and of the others.

    Args:
        question: all rows; labels: those with a rating and a score; passing: from where on
            a rating is a pass; calibration: of these labels.
    """
    good = labels.human >= passing
    method = calibration.method
    held_out = held_out_map(method, labels.judge, good, labels.unit)
    by_id = dict(zip(labels.ids, held_out.tolist(), strict=True))
    rated = [by_id.get(name, math.nan) for name in question.read.pool.ids]
    others = question.unrated(labels.name)
    new = better(method, labels.judge, good, others)
    return [*rated, *new.tolist()]
