"""The parts of the report of `refless score`, for the terminal and for HTML."""

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from refless.commands.score.accepting import Accepting
from refless.commands.score.guards import alike
from refless.commands.texts import estimates_or_reasons
from refless.data.records import Residuals, picked
from refless.evaluation.scoring import Mean, Scored
from refless.registry.dialect import saving
from refless.registry.plural import counted
from refless.report.charts import Line, charted
from refless.report.document import Section, Table
from refless.report.wording import (
    clipped,
    labels,
    number,
    numbers,
    percent,
)

ALL_ITEMS = 20  # up to so many outputs are all shown
NARROW = 34  # characters of each on a terminal
STEPS_SHOWN = 7  # thresholds
FEW_SYSTEMS = 2  # of which a spread between systems cannot be told
ENDS = 5  # else so many of the lowest and of the highest
NO_ENDS = "no output is shown to be better or worse than the others."
SYSTEMS = (
    "Points are means, whiskers 95 % intervals for the mean rating that the same raters would "
    "give. They belong to single systems; whether two systems differ is for 'refless compare' to "
    "say."
)


def accepted_sections(
    scored: Scored, accepted: Accepting | None
) -> tuple[Section, ...]:
    """The outputs that need no person, and a table of other thresholds."""
    if accepted is None:
        return ()
    last = len(accepted.steps) - 1
    places = np.linspace(0, last, STEPS_SHOWN).round().astype(int)
    rows = []
    for step in picked(accepted.steps, np.unique(places)):
        shares = map(percent, (step.coverage, step.wrong, step.highest))
        rows.append((number(step.threshold), *shares))
    header = ("estimates from", "share of rated texts", "below the bar", "at most")
    table = Table(header=header, rows=tuple(rows), numeric=(True,) * 4)
    line = (
        f"At most: with {percent(accepted.sure)} confidence, for one threshold alone."
    )
    sentence = _accepted_sentence(scored, accepted)
    return (Section(title="Without a person", lines=(sentence, line), table=table),)


def _accepted_sentence(scored: Scored, accepted: Accepting) -> str:
    bar = f"{accepted.above:g}"
    share = percent(accepted.at_most_wrong)
    if accepted.chosen is not None:
        count = int(accepted.takes(scored.estimates.values).sum())
        verb = "needs" if count == 1 else "need"
        return (
            f"{count:,} of {counted(scored.overall.n, 'output')} {verb} no person, with an "
            f"estimate of {number(accepted.chosen.threshold)} or more: of such outputs at most "
            f"{share} lie below {bar}, with {percent(accepted.sure)} confidence, if they are like "
            "the rated texts."
        )
    more = "More ratings may not help."
    if accepted.needed is not None:
        more = f"About {accepted.needed:,} rated texts should."
    return (
        f"No output can do without a person: the rated texts do not show that of any part at most "
        f"{share} lie below {bar}. {more}"
    )


def systems_sections(
    systems: Mapping[str, Mean], rated: Collection[str], *, of_verdicts: bool
) -> tuple[Section, ...]:
    """Each system's mean estimate; the best one first.

    Args:
        systems: the means; rated: systems of the rated texts.
        of_verdicts: whether ratings are passes and fails.
    """
    if len(systems) < 2:
        return ()
    ranked = sorted(systems, key=lambda name: _rank(name, systems[name]))
    entries = []
    for name in ranked:
        mean = systems[name]
        line = Line(name=name, value=mean.mean, interval=mean.mean_interval)
        entries.append((line, (percent(mean.coverage), f"{mean.n:,}")))
    lines = [
        "The mean of a system with rated texts also uses how far these lie from their estimates."
    ]
    names = labels(ranked, 30)
    unrated = [names[name] for name in ranked if name not in rated]
    if len(rated) == FEW_SYSTEMS and unrated:
        lines.append(
            f"Two systems were rated. How far a third lies from its estimates cannot be told from "
            f"them, so the interval of {', '.join(unrated)} is a guess: rate some of its outputs."
        )
    section = charted(
        "Systems",
        ("system", "mean estimate [95 %]", "with one", "outputs"),
        entries,
        SYSTEMS,
        axis="mean estimate",
        label="Mean estimate of each system",
        shares=of_verdicts,
        lines=(*lines,),
    )
    return (section,)


def _rank(name: str, mean: Mean) -> tuple[bool, float, str]:
    """The key by which systems are sorted, the best first and those without a mean last."""
    return math.isnan(mean.mean), -mean.mean, name


def items_sections(scored: Scored, errors: Residuals) -> tuple[Section, ...]:
    """All outputs, or those with the lowest and the highest estimates if estimates differ.

    Args:
        scored: the outputs; errors: held-out errors of rated texts.
    """
    values = scored.estimates.values
    n = len(values)
    if not n:
        return ()
    if n <= ALL_ITEMS:
        table = _items_table(scored, range(n))
        return (Section(title="Outputs", table=table),)
    defined = int((~np.isnan(values)).sum())
    if defined < 2 * ENDS:
        return ()
    order = np.argsort(values, kind="stable")[:defined].tolist()  # NaN is last
    if alike(values, errors):
        low, high = numbers([float(values[order[0]]), float(values[order[-1]])])
        ends = low if low == high else f"{low} to {high}"
        line = f"The estimates hardly differ ({ends}): {NO_ENDS}"
        return Section(lines=(line,)), _where()
    lowest = _items_table(scored, order[:ENDS])
    highest = _items_table(scored, order[: -ENDS - 1 : -1])
    return (
        Section(title="Lowest estimates", table=lowest),
        Section(title="Highest estimates", table=highest),
        _where(),
    )


def _where() -> Section:
    """The way to all outputs."""
    return Section(lines=(f"All of them: {saving('estimates.csv')}",))


def _items_table(scored: Scored, items: Sequence[int]) -> Table:
    """The estimates of some outputs, with the beginning of each text."""
    estimates = scored.estimates
    texts = scored.outputs.texts
    values = estimates_or_reasons(estimates, items)
    rows = []
    for i, value in zip(items, values, strict=True):
        name = clipped(estimates.ids[i], 12)
        text = clipped(texts[i], NARROW)
        rows.append((name, value, str(estimates.support[i]), text))
    header = ("id", "estimate", "support", "text")
    return Table(header=header, rows=tuple(rows), numeric=(False, False, True, False))
