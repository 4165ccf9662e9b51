"""Scores of a judge that are unlike those of the rated texts, in words."""

from refless.evaluation.judge_shift import JudgeShift
from refless.registry.plural import counted
from refless.report.wording import clipped, p_value


def judge_said(result: JudgeShift, *, one_file: bool) -> str:
    """The shift of a judge's scores in words; "" if they are like those of the rated texts.

    Args:
        result: the scores beside those of the rated texts.
        one_file: whether outputs and rated texts are rows of one file. The first thing that may
            make scores differ is then which rows were rated.
    """
    name = f"'{clipped(result.name)}'"
    if result.leaks:
        return (
            f"{name} orders the rated texts just as their ratings do: it may be the rating itself. "
            "The estimates follow it, whoever gave these scores to the outputs."
        )
    if not result.shifted:
        return ""
    difference = difference_said(result)
    if one_file:
        return (
            f"{name}: {difference}. Either the rated rows are no random draw from all, or "
            "another judge, prompt or scale scored the others."
        )
    return (
        f"{name}: {difference}. Estimates mean nothing unless the same judge, prompt and "
        "scale scored both; if they did, rate some of these outputs."
    )


def difference_said(result: JudgeShift) -> str:
    """The difference of scores from those of the rated texts, in words."""
    if result.outside:
        low, high = result.rated_range
        return (
            f"{result.n_outside:,} of {counted(result.n, 'score')} of the outputs lie outside "
            f"those of the rated texts, {low:.4g} to {high:.4g}"
        )
    if result.equal == result.equal:
        return f"all {result.n:,} scores of the outputs are {result.equal:.4g}"
    rated, outputs = result.medians
    return (
        f"the scores of the outputs (median {outputs:.4g}) are spread unlike those of the rated "
        f"texts (median {rated:.4g}; Kolmogorov-Smirnov p {p_value(result.p)})"
    )
