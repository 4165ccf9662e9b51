"""The answer of `gate` as a card: its verdict, the difference beside what is allowed, what next."""

from refless.commands.compare.card import OTHERS
from refless.evaluation.further import Further
from refless.report.document import Card, Figure
from refless.report.result import STATES, GateRecord
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
