"""The answer of `gate` as a card: its verdict, the difference beside what is allowed, what next."""

from refless.commands.compare.card import OTHERS, item_differences
from refless.commands.compare.result import CompareResult
from refless.evaluation.further import Further
from refless.report.document import Card, Figure, State
from refless.report.pictures import difference_picture
from refless.report.result import STATES, GateRecord
from refless.report.units import RatingUnits
from refless.report.wording import labels, sentence

NAME = 24  # letters of a system


def card_of(
    gate: GateRecord,
    systems: tuple[str, str],
    further: Further,
    rests: str,
    figures: tuple[Figure, ...],
    *,
    better: bool,
    ask: str,
) -> Card:
    """The card on the new system.

    Args:
        gate: the verdict; systems: the old one and the new one.
        better: whether the new one is shown to be better.
        further: what would decide it; rests: what it rests on; figures: that show it.
        ask: for what decides it.
    """
    names = labels(systems, NAME)
    old, new = (names[system] for system in systems)
    advice = {
        "passed": f"let {new} take the place of {old}.",
        "failed": f"keep {old}, and look at the outputs in which {new} is worse.",
        "undecided": f"keep {old}, and {ask}, until it is decided.",
    }
    unfit = {
        "passed": OTHERS if better else f"a claim that {new} is better.",
        "failed": OTHERS,
        "undecided": f"a claim that {new} is worse, or as good.",
    }
    return Card(
        topic=f"{new} in the place of {old}",
        question=f"May {new} take the place of {old}?",
        state=STATES[gate.verdict],
        label=sentence(gate.verdict),
        answer=f"{sentence(gate.reason)}.",
        rests=rests,
        further=further.said,
        unfit=unfit[gate.verdict],
        advice=advice[gate.verdict],
        figures=figures,
    )


def picture_of(
    compared: CompareResult, systems: tuple[str, str], margin: float, state: State
) -> Figure:
    """The difference of the ratings with its interval, and the margin that is allowed."""
    units = RatingUnits(compared.percent)
    factor = units.factor
    (pair,) = compared.comparison.pairs
    low, high = pair.difference.interval
    values = item_differences(compared.compared, *systems)
    return difference_picture(
        systems,
        factor * pair.difference.value,
        (factor * low, factor * high),
        [factor * value for value in values],
        state=state,
        unit=units.name,
        bar=-factor * margin,
        more=pair.one_rated,
    )
