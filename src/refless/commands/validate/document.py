"""The parts of the report of `refless validate`, for the terminal and for HTML."""

import math
from collections.abc import Mapping

import numpy as np

from refless.commands.validate.texts import left_out
from refless.commands.validate.verdict import Grounds
from refless.evaluation.annotators import FEWEST
from refless.evaluation.held_out import Agreement
from refless.evaluation.jackknife import MOST_REFITTED
from refless.evaluation.reranking import BY, Reranking, several
from refless.evaluation.validation import Validation
from refless.registry.plural import counted
from refless.report.document import Section, Table
from refless.report.wording import (
    MEASURES,
    estimator_name,
    interval,
    measure,
    number,
    percent,
    title,
    with_interval,
)

NO_NAMES = "No comparison with single annotators: the ratings do not say who gave them."
BASELINES = (
    "constant: mean rating of the other texts; length: a line on their lengths; both on the texts "
    "that have an estimate."
)
FEW, HEAVY = 0.05, 0.4  # of normal errors the worst 5 % make up 28 %
ENOUGH = 40  # errors, to say so
SEVERAL = "The best of several outputs for one {}"
FIXED = (
    "Intervals of {} do not know what other rated texts would have taught it, as it would have to "
    "be trained again for that: up to about 1,500 texts take them for too narrow."
)


def facts(result: Validation, grounds: Grounds) -> tuple[tuple[str, str, str], ...]:
    """Numbers that stand out."""
    found = result.estimator
    shown = [
        ("Coverage", number(found.coverage), f"{found.n_scored:,} of {counted(found.n, 'text')}"),
        ("Spearman", number(found.spearman), interval(found.spearman_interval)),
        ("Mean squared error", number(found.mse, 4), interval(found.mse_interval, 4)),
    ]
    if not math.isnan(grounds.annotator):
        more = interval(grounds.annotator_interval)
        shown.append(("One annotator's Spearman", number(grounds.annotator), more))
    return tuple(shown)


def agreement_sections(result: Validation) -> tuple[Section, ...]:
    """Errors and correlations beside those of baselines and annotators, and what they are."""
    found = result.estimator
    line = (
        f"Each text is estimated without {left_out(result)}; correlations are within folds that "
        f"one model has judged. Rated texts with an estimate: {found.n_scored:,} of {found.n:,} "
        f"(coverage {number(found.coverage)})."
    )
    table = Section(title="Agreement with people", lines=(line,), table=agreement_table(result))
    return table, Section(lines=_legend(result))


def agreement_table(result: Validation) -> Table:
    """One row a measure; a column each for the estimator, the baselines and annotators."""
    constant, length = result.baselines["constant"], result.baselines["length_only"]
    names = _measured(result.estimator)
    columns: dict[str, list[str]] = {
        "estimator [95 %]": [measure(result.estimator, name) for name in names],
        "constant": [_bare(constant, n) if n in ("mse", "mae") else "-" for n in names],
        "length": [_bare(length, n) for n in names],
    }
    if result.annotators is not None:
        for kind in ("average", "best"):
            values: Mapping[str, float] = getattr(result.annotators, kind)
            columns[f"{kind}\nannotator"] = [number(values.get(n), MEASURES[n]) for n in names]
    rows = tuple(zip(map(title, names), *columns.values(), strict=True))
    return Table(header=("", *columns), rows=rows)


def _measured(agreement: Agreement) -> list[str]:
    """The measures; the AUC where ratings are of two values."""
    return [name for name in MEASURES if name != "auc" or not math.isnan(agreement.auc)]


def _bare(agreement: Agreement, name: str) -> str:
    return number(getattr(agreement, name), MEASURES[name])


def _legend(result: Validation) -> tuple[str, ...]:
    """What the columns are, a line each."""
    people = result.annotators
    lines = [*_tail(result), BASELINES]
    if "-fixed" in result.estimator.interval_method and len(result.pool) <= MOST_REFITTED:
        lines.insert(0, FIXED.format(estimator_name(result.signature)))
    if people is None:
        return (*lines, NO_NAMES)
    line = (
        f"annotator: one of {people.n} people against the mean of all, their own rating included; "
        "best is the best of them, measure by measure."
    )
    if people.n_few:
        line += f" Left out: {people.n_few} who rated fewer than {FEWEST} texts."
    return (*lines, line)


def _tail(result: Validation) -> tuple[str, ...]:
    """Whether so few texts make up the MSE that its interval may lie too low."""
    errors = np.square(result.pool.human - result.estimates.values)
    errors = np.sort(errors[~np.isnan(errors)])
    share = errors[-max(1, round(FEW * len(errors))) :].sum() / max(errors.sum(), 1e-300)
    if len(errors) < ENOUGH or share <= HEAVY:
        return ()
    line = (
        f"The worst {percent(FEW)} of the errors make up {percent(share)} of the mean squared "
        "error. It is higher, and may lie above its interval, if these texts lack large errors by "
        "chance."
    )
    return (line,)


def reranking_sections(result: Validation) -> tuple[Section, ...]:
    """What choosing by estimates is worth, or how to ask."""
    found = result.reranking
    if found is None:
        return _unasked(result)
    means = (
        f"{counted(found.n, found.by)} with several outputs: people rate the one with the highest "
        f"estimate {number(found.chosen)} on average, one at random {number(found.random)}, the "
        f"best {number(found.best)}."
    )
    gained = "All outputs of each are rated alike, so there is nothing to gain."
    if not math.isnan(found.share):
        gained = f"Choosing by estimates gains {_gained(found)} of what can be gained"
        if result.by_system is not None:
            gained += f"; always taking the best system gains {_gained(result.by_system)}"
        gained += "."
    return (Section(title=SEVERAL.format(found.by), lines=(means, gained)),)


def _unasked(result: Validation) -> tuple[Section, ...]:
    """The group to hold out so that choosing is judged fairly; nothing where none has several."""
    for by, labels in (("source", result.pool.sources), ("item", result.pool.items)):
        count = several(labels)
        if count and result.signature.get("heldout") not in BY:
            line = (
                f"There are several outputs for {counted(count, by)}: --group {by} tells what "
                "choosing among them by estimates is worth."
            )
            return (Section(title=SEVERAL.format(by), lines=(line,)),)
    return ()


def _gained(found: Reranking) -> str:
    """A gain, and the share of what can be gained."""
    low, high = found.share_interval
    ends = "" if math.isnan(low) else f" [{percent(low)}, {percent(high)}]"
    return f"{with_interval(found.gain, found.gain_interval)}, {percent(found.share)}{ends}"


def undefined_sections(agreement: Agreement) -> tuple[Section, ...]:
    """Which measures are undefined, and why."""
    names: dict[str, list[str]] = {}
    for name, why in agreement.undefined.items():
        names.setdefault(why, []).append(title(name))
    lines = tuple(f"Undefined, as {why}: {', '.join(which)}." for why, which in names.items())
    return (Section(lines=lines),) if lines else ()
