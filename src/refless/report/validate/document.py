"""The report of `refless validate`, for the terminal and for HTML."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from refless.estimators import Estimator
from refless.nouns import counted
from refless.report.advice import Advice, advice_sections, reasons_table
from refless.report.coverage import coverage_section
from refless.report.document import Document, Section, Table, caveats
from refless.report.validate.annotators import annotators_section
from refless.report.validate.curves import learning_section, thresholds_section
from refless.report.validate.drift import drift_sections
from refless.report.validate.made_of import made_of_sections
from refless.report.validate.texts import left_out, scatter_section, store_of, worst_section
from refless.report.validate.verdict import Grounds, grounds_of, notes, verdict
from refless.report.wording import (
    MEASURES,
    estimator_name,
    interval,
    measure,
    number,
    percent,
    sentence,
    title,
    with_interval,
)
from refless.stats.intervals import Interval
from refless.studies.annotators import FEWEST, Annotators
from refless.studies.held_out import Agreement
from refless.studies.learning_curve import LearningCurve
from refless.studies.reranking import BY, several
from refless.studies.thresholds import Thresholds
from refless.studies.trials import MOST_REFITTED
from refless.studies.validation import Validation

NO_NAMES = "No comparison with single annotators: the ratings do not say who gave them."
BASELINES = (
    "constant: mean rating of the other texts; length: a line on their lengths; both on the texts "
    "that have an estimate."
)
SEVERAL = "The best of several outputs for one {}"
FIXED = (
    "Intervals of {} do not know what other rated texts would have taught it, as it would have to "
    "be trained again for that: up to about 1,500 texts take them for too narrow."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Studies:
    """What is studied for the HTML report alone."""

    thresholds: Thresholds
    curve: LearningCurve


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the HTML report needs beyond the numbers.

    Attributes:
        estimator: fitted.
        labels: [n] what was held out together.
        seed: of what is drawn.
        others: annotators against the others' ratings.
        studies: of thresholds and of the number of rated texts, or why there are none.
    """

    estimator: Estimator
    labels: Sequence[str]
    seed: int
    others: Annotators | None = None
    studies: Studies | str = ""


def validation_document(
    result: Validation, advice: Advice | None, evidence: Evidence | None = None
) -> Document:
    """The report of `refless validate`; with evidence it holds the charts and the texts too."""
    grounds = grounds_of(result)
    brief = Document(
        title=f"{sentence(grounds.estimator)} on {counted(len(result.pool), 'rated text')}",
        verdict=verdict(grounds),
        notes=notes(grounds),
        facts=_facts(result, grounds),
        sections=(*advice_sections(advice), *_agreement(result)),
    )
    made_of = partial(made_of_sections, result.made_of)
    people = partial(drift_sections, result.drift, result.pool.scale)
    if evidence is None:
        table = reasons_table(result.estimator.reasons, result.estimator.n)
        last = (
            *made_of(whole=False),
            *people(whole=False),
            *_reranking(result),
            *_titled("Without an estimate", table),
        )
        return replace(brief, sections=(*brief.sections, *last, *_undefined(result.estimator)))
    store, places = store_of(
        result.pool, result.estimates, evidence.estimator, evidence.labels, evidence.seed
    )
    last = (
        *made_of(whole=True),
        scatter_section(result, places, evidence.seed),
        annotators_section(result, evidence.others, evidence.seed),
        *people(whole=True),
        *_studies(grounds, evidence),
        coverage_section(result.pool.texts, result.pool.tasks, result.estimates),
        *_reranking(result),
        worst_section(result, places),
        *_undefined(result.estimator),
        caveats(),
    )
    sections = (*brief.sections, *last)
    return replace(brief, sections=sections, store=store)


def _facts(result: Validation, grounds: Grounds) -> tuple[tuple[str, str, str], ...]:
    found = result.estimator
    facts = [
        ("Coverage", number(found.coverage), f"{found.n_scored:,} of {counted(found.n, 'text')}"),
        ("Spearman", number(found.spearman), interval(found.spearman_interval)),
        ("Mean squared error", number(found.mse, 4), interval(found.mse_interval, 4)),
    ]
    if not math.isnan(grounds.annotator):
        more = interval(grounds.annotator_interval)
        facts.append(("One annotator's Spearman", number(grounds.annotator), more))
    return tuple(facts)


def _agreement(result: Validation) -> tuple[Section, ...]:
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
    lines = [BASELINES]
    if result.estimator.interval_method.endswith("fixed") and len(result.pool) <= MOST_REFITTED:
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


def _studies(grounds: Grounds, evidence: Evidence) -> list[Section]:
    studies = evidence.studies
    if isinstance(studies, str):
        return [Section(title="Other thresholds", lines=(studies,))] if studies else []
    return [
        thresholds_section(studies.thresholds, studies.thresholds.setting, grounds.annotator),
        learning_section(studies.curve, grounds.annotator),
    ]


def _reranking(result: Validation) -> tuple[Section, ...]:
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
        gain = with_interval(found.gain, found.gain_interval)
        share = percent(found.share) + _between(found.share_interval)
        gained = f"Choosing by estimates gains {gain}, {share} of what can be gained."
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


def _between(shares: Interval) -> str:
    low, high = shares
    return "" if math.isnan(low) else f" [{percent(low)}, {percent(high)}]"


def _titled(name: str, table: Table | None) -> tuple[Section, ...]:
    return () if table is None else (Section(title=name, table=table),)


def _undefined(agreement: Agreement) -> tuple[Section, ...]:
    names: dict[str, list[str]] = {}
    for name, why in agreement.undefined.items():
        names.setdefault(why, []).append(title(name))
    lines = tuple(f"Undefined, as {why}: {', '.join(which)}." for why, which in names.items())
    return (Section(lines=lines),) if lines else ()
