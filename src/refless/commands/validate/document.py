"""The parts of the report of `refless validate`, for the terminal and for HTML."""

import math
from dataclasses import replace

import numpy as np

from refless.commands.validate.leaderboard import Leaderboard
from refless.commands.validate.source_study import SourceStudy
from refless.commands.validate.validation import Validation, in_scale
from refless.evaluation.held_out import Agreement, measured
from refless.evaluation.jackknife import MOST_REFITTED
from refless.report.charts import Line, Mark, row_chart
from refless.report.document import Figure, Key, Section, Table
from refless.report.wording import (
    number,
    percent,
    percent_with_interval,
    with_interval,
)
from refless.stats.intervals import UNDEFINED, Interval
from refless.stats.measures import MEASURES

CAPTION = (
    "Rank correlation with the people's mean rating (Spearman), with 95 % intervals."
)
ANNOTATOR = "one average annotator, against the mean of the others"
NO_NAMES = "No comparison with single annotators: the ratings do not say who gave them."
NO_OTHERS = (
    "No comparison with single annotators: no two annotators rated the same text, so nobody can be "
    "compared with the others."
)
JUDGES = (
    " Judges alone are calibrated on the other folds: a straight line on one, or on the mean of "
    "all standardized; together, a ridge regression."
)
FEW = 0.05
HEAVY = 0.4  # of normal errors the worst 5 % make up 28 %
ENOUGH = 40  # errors, to say so
FIXED = (
    "Intervals of {} do not know what other rated texts would have taught it, as it would have to "
    "be trained again for that: up to about 1,500 texts take them for too narrow."
)


def left_out(group: str) -> str:
    """The ratings that a text's estimate does not rest on, in words."""
    return "its own rating" if group == "id" else f"the ratings of its {group}"


def side_by_side_section(result: Validation) -> Section:
    """Every method on the same texts, and one annotator in the picture."""
    board = result.side_by_side
    rows = []
    for line in board.methods:
        ranks = not math.isnan(line.spearman)
        against = ranks and line.name != board.reference
        rows.append(
            (
                line.name.removeprefix("the "),
                with_interval(line.spearman, line.spearman_interval) if ranks else "-",
                with_interval(line.gain, line.gain_interval) if against else "-",
                percent(line.coverage),
            )
        )
    header = ("", "Spearman [95 %]", "difference [95 %]", "covered")
    legend = (
        f"Each text is estimated without {left_out(result.group)}. Difference: Spearman minus that "
        f"of {board.reference}, on the texts that both have an estimate for. Correlations are "
        f"within folds, each estimated by one model. Baselines: {', '.join(board.baselines)}. "
        "TF-IDF counts words."
        f"{JUDGES if board.scores else ''}"
    )
    table = Table(header=header, rows=tuple(rows), numeric=(False, True, True, True))
    figure = replace(_picture(board, *annotator_of(result)), table=table)
    return Section(
        title="Side by side on the same texts",
        figures=(figure,),
        table=table,
        lines=(legend,),
    )


def annotator_of(result: Validation) -> tuple[float, Interval]:
    """One average annotator's Spearman with the others' mean, NaN without a yardstick."""
    versus = result.beside
    if versus is None:
        return math.nan, UNDEFINED
    return versus.annotator, versus.annotator_interval


def _picture(table: Leaderboard, annotator: float, interval: Interval) -> Figure:
    """Spearman of each method as a point; a line and its band for an annotator, if known."""
    lines = [
        Line(
            name=line.name.removeprefix("the "),
            value=line.spearman,
            interval=line.spearman_interval,
            style="c3" if line.name in table.baselines else "c0",
        )
        for line in table.methods
        if not math.isnan(line.spearman)
    ]
    marks = [Mark(value=0.0, style="zero")]
    keys = [
        Key(name="estimators", style="knot c0"),
        Key(name="baselines", style="knot c3"),
    ]
    if not math.isnan(annotator):
        marks.append(Mark(value=annotator, style="c1", interval=interval))
        keys.append(Key(name=f"{ANNOTATOR}: {number(annotator)}", style="mark c1"))
    chart = row_chart(
        lines, "Spearman", "Methods by Spearman", CAPTION, zero=True, marks=marks
    )
    return replace(chart, keys=tuple(keys))


def agreement_sections(result: Validation) -> tuple[Section, ...]:
    """Errors and correlations, and what to know of them."""
    agreement = result.estimator
    names = [
        name for name in MEASURES if name != "auc" or not math.isnan(agreement.auc)
    ]
    errors = in_scale(agreement, result.pool.scale)
    of_errors = {} if errors is None else {"mse": errors, "mae": errors}
    rows = tuple(
        (MEASURES[name].title, measured(of_errors.get(name, agreement), name))
        for name in names
    )
    table = Table(header=("", "estimator [95 %]"), rows=rows)
    lines = _tail(result)
    section = Section(title="Agreement with people", table=table)
    return section, Section(lines=(*lines, *filter(None, [no_annotators(result)])))


def are_narrow(result: Validation) -> bool:
    """Whether intervals do not know what other rated texts would have taught the estimator."""
    is_fixed = "-fixed" in result.estimator.interval_method
    return is_fixed and len(result.pool) <= MOST_REFITTED


def source_sections(study: SourceStudy | None) -> tuple[Section, ...]:
    """The estimator on rated sources and on new ones; nothing where that was not measured."""
    if study is None:
        return ()
    fits = (
        (f"rated {study.unit}s", study.rated),
        (f"new {study.unit}s", study.new),
    )
    rows = tuple(
        (
            name,
            f"{fit.n:,}",
            with_interval(fit.spearman, fit.spearman_interval),
            percent_with_interval(fit.r2, fit.r2_interval),
        )
        for name, fit in fits
    )
    table = Table(
        header=("outputs on", "texts", "Spearman [95 %]", "errors spared [95 %]"),
        rows=rows,
        numeric=(False, True, True, True),
    )
    line = (
        f"On rated {study.unit}s an estimate rests on its other rated texts too: "
        f"each text was left out alone. For new {study.unit}s all texts of its {study.unit} were "
        "left out with it. Errors spared (R²): how much smaller squared errors are than "
        "those of the average."
    )
    title = f"Rated {study.unit}s and new ones"
    return (Section(title=title, table=table, lines=(line,)),)


def no_annotators(result: Validation) -> str:
    """The reason why there is no comparison with single annotators; "" if there is one."""
    if result.beside is not None:
        return ""
    return NO_OTHERS if len(result.pool.ratings.annotators) > 1 else NO_NAMES


def _tail(result: Validation) -> tuple[str, ...]:
    """Whether so few texts make up the MSE that its interval may lie too low."""
    errors = np.square(result.pool.human - result.estimates.values)
    errors = np.sort(errors[~np.isnan(errors)])
    count = max(1, round(FEW * len(errors)))
    share = errors[-count:].sum() / max(errors.sum(), 1e-300)
    if len(errors) < ENOUGH or share <= HEAVY:
        return ()
    line = (
        f"The worst {percent(FEW)} of the errors make up {percent(share)} of the mean squared "
        "error. It is higher, and may lie above its interval, if these texts lack large errors by "
        "chance."
    )
    return (line,)


def undefined_sections(agreement: Agreement) -> tuple[Section, ...]:
    """The measures that are undefined, by reason."""
    names: dict[str, list[str]] = {}
    for name, reason in agreement.undefined.items():
        names.setdefault(reason, []).append(MEASURES[name].title)
    lines = tuple(
        f"Undefined, as {reason}: {', '.join(measures)}."
        for reason, measures in names.items()
    )
    return (Section(lines=lines),) if lines else ()
