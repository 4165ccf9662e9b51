"""Why texts have no estimate, in the user's terms, and what to run instead."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from refless.commands.estimating import DEFAULT
from refless.commands.parameters import this_call
from refless.data.records import Estimates, Outputs
from refless.estimators import ESTIMATORS, Estimator
from refless.registry.plural import counted
from refless.registry.spec import spec_of
from refless.report.document import Section, Table
from refless.report.wording import REASONS, percent

FEWEST = 20  # rated texts
NEXT_TO_NOTHING = 0.01  # of pairs pass tau
LIMIT = 1 / 3  # above this share without an estimate, it is the first thing to say


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What to do where too many texts have no estimate.

    Attributes:
        reason: why there are so few, in a sentence.
        command: the line that runs the Gaussian process, or None where that cannot help either.
    """

    reason: str
    command: str | None


def advice_on(
    estimator: Estimator, outputs: Outputs, estimates: Estimates, rated: int
) -> Advice | None:
    """Why more than a third of the texts have no estimate, and the command that may do better.

    Args:
        estimator: what made the estimates.
        outputs, estimates: the texts and what was said of them.
        rated: rated texts that each was judged by.
    """
    main, share = _main_reason(estimates)
    if share <= LIMIT:
        return None
    near = main in {"too-many", "too-few"} and _passing(estimates, rated) > NEXT_TO_NOTHING
    call = this_call()
    other = spec_of(estimator, ESTIMATORS).partition(":")[0] != DEFAULT
    other = other and call.values.get("model") is None  # which has its own estimator
    better = call.line(estimator=DEFAULT) if near and other and rated >= FEWEST else None
    return Advice(reason=why(outputs, estimates, rated, estimator.threshold), command=better)


def why(outputs: Outputs, estimates: Estimates, rated: int, tau: float) -> str:
    """Why texts that were judged by so many rated ones have no estimate, for people."""
    main, share = _main_reason(estimates)
    n = float(np.mean(estimates.support[[reason == main for reason in estimates.reasons]]))
    few = f"{n:.1f} of {counted(rated, 'rated text')} on average, too few to go by"
    length = f"your texts average {np.mean([len(text) for text in outputs.texts]):,.0f} characters"
    causes = {
        "too-uncertain": "they are less certain than was asked for.",
        "too-many": f"{length}; {100 * _passing(estimates, rated):.0f} % of pairs pass tau "
        f"{tau:g}, so nothing is near.",
        "too-few": f"{length}; those without an estimate pass tau {tau:g} with {few}.",
        "too-short": f"{length}, most fewer tokens than the highest n-gram order; "
        "bleu*:orders=1-2 lowers it.",
        "empty": "most of them are empty.",
        "bad-row": "most of their rows could not be read.",
    }
    if math.isnan(tau):
        causes["too-few"] = f"{length}; fewer rated texts than a model needs."
    return f"{100 * share:.0f} % of the texts have no estimate: {causes.get(main, main)}"


def _main_reason(estimates: Estimates) -> tuple[str, float]:
    """The commonest reason, and the share of the texts without an estimate."""
    missing = [reason for reason in estimates.reasons if reason]
    main = max(sorted({*missing}), key=missing.count, default="")
    return main, len(missing) / max(1, len(estimates.reasons))


def _passing(estimates: Estimates, rated: int) -> float:
    """Share of pairs of text and rated text that pass the threshold."""
    return float(estimates.support.sum()) / max(1, len(estimates.reasons) * rated)


def advice_sections(advice: Advice | None) -> tuple[Section, ...]:
    """The first thing to say where too many texts have no estimate."""
    if advice is None:
        return ()
    better = ("This estimator has no such limits:", f"  {advice.command}")
    return (Section(lines=(advice.reason, *(better if advice.command else ())), warning=True),)


def reasons_sections(reasons: Mapping[str, int], n: int) -> tuple[Section, ...]:
    """How many of n texts have no estimate, and why; nothing where all have one."""
    rows = tuple(
        (reason, str(count), percent(count / n), REASONS.get(reason, ""))
        for reason, count in reasons.items()
    )
    header, numeric = ("reason", "texts", "share", "meaning"), (False, True, True, False)
    table = Table(header=header, rows=rows, numeric=numeric)
    return (Section(title="Without an estimate", table=table),) if rows else ()
