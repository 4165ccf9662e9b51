"""The answer of `judge` and `validate` on choices between two texts as a card."""

from collections.abc import Sequence

from refless.commands.pairs.pairwise import COIN, Judge, Pairwise
from refless.commands.validate.verdict import NOTHING_SHOWN, YES_OR_NO, resting_on
from refless.evaluation.further import DECIDED, first_open, if_steady
from refless.registry.plural import counted
from refless.report.document import Card, Figure, State
from refless.report.wording import labels, percent
from refless.stats.intervals import of_best

FEWEST = 20  # pairs that a verdict needs
EVEN = 0.5  # a coin
NAME = 24  # letters of a score
PICKS = "picks the text that people preferred"
OF_SCORES: dict[State, str] = {
    "yes": "use it to compare versions, with people's choices beside it.",
    "open": "have more choices made, on other sources.",
}
OF_ESTIMATES: dict[State, str] = {
    "yes": "estimate new outputs, and decide by the mean of many.",
    "no": "do not use these estimates; have choices made, or ask again with more.",
    "open": "do not use these estimates yet; ask again with more choices.",
}


def worth_using(result: Pairwise, baselines: tuple[str, ...]) -> bool:
    """Whether the first judge is shown to be better than a coin and than every baseline."""
    if result.pairs - result.even < FEWEST or not result.judges[0].interval[0] > EVEN:
        return False
    rivals = [judge for judge in result.judges if judge.name in baselines]
    return all(judge.gap_interval[0] > 0 for judge in rivals)


def card_of_estimates(
    result: Pairwise,
    baselines: tuple[str, ...],
    scores: Sequence[str],
    picture: Figure,
    command: str,
) -> Card:
    """The card on an estimator, which stands first among the judges.

    Args:
        result: who is right how often; baselines: names of those that are no estimators.
        scores: names of those that are scores of others.
        picture: of all of them; command: the line that estimates new texts.
    """
    first = result.judges[0]
    decided = result.pairs - result.even
    rivals = [
        judge
        for judge in result.judges
        if judge.name in baselines and judge.name != COIN
    ]
    rival = min(rivals, key=lambda judge: judge.gap)
    state: State = "open"
    right = _right(first)
    answer = f"{right}, but {rival.name} may do as well."
    advice = OF_ESTIMATES
    if decided < FEWEST:
        pairs = counted(decided, "decided pair")
        answer = f"Not known: {pairs} are too few to tell."
    elif rival.gap_interval[1] < 0:
        state = "no"
        answer = f"No: {rival.name} is right more often, in {percent(rival.accuracy)}."
        if rival.name in scores:
            advice = {**OF_ESTIMATES, "no": f"use {rival.name}."}
    elif not first.interval[0] > EVEN:
        answer = f"{right}, as a coin can be."
    elif worth_using(result, baselines):
        state = "yes"
        answer = f"{right}, more often than {rival.name}."
    further = DECIDED
    if state == "open":
        than_coin = (first.accuracy, first.interval, EVEN)
        than_rival = (rival.gap, rival.gap_interval, 0.0)
        further = first_open((than_coin, than_rival), decided, "decided pair")
    return Card(
        topic="estimates",
        question="Do estimates tell which text people prefer?",
        state=state,
        label=YES_OR_NO[state],
        answer=answer,
        rests=_rests(result, f"{first.name}, which has learned from other sources"),
        further=further,
        unfit=_unfit(first) if state == "yes" else NOTHING_SHOWN,
        advice=advice[state],
        command=command if state == "yes" else "",
        figures=(picture,),
    )


def card_of_scores(result: Pairwise, picture: Figure) -> Card:
    """The card on the score that is right most often, as far as can be told."""
    top = result.judges[0]
    several = len(result.judges)
    decided = result.pairs - result.even
    low, high = of_best(top.accuracy, top.interval, several, result.groups)
    name = labels([top.name], NAME)[top.name]
    ends = f"({percent(low)} to {percent(min(high, 1.0))})"
    right = f"{name} is right in {percent(top.accuracy)} of the pairs {ends}"
    rivals = [
        judge.name for judge in result.judges[1:] if not judge.gap_interval[0] > 0
    ]
    state: State = "open"
    answer = f"{right}, as a coin can be."
    if low > EVEN:
        state = "yes"
        answer = f"{right}."
    if low > EVEN and rivals:
        answer = f"{right}; {counted(len(rivals), 'other score')} may do as well."
    return Card(
        topic=name,
        question=f"Does {name} tell which text people prefer?",
        state=state,
        label=YES_OR_NO[state],
        answer=answer,
        rests=_rests(result, ""),
        further=if_steady(top.accuracy, (low, high), EVEN, decided, "pair"),
        unfit=_unfit(top),
        advice=OF_SCORES[state],
        figures=(picture,),
    )


def _unfit(judge: Judge) -> str:
    return f"single pairs: it is wrong in {percent(1 - judge.accuracy)} of them."


def _right(judge: Judge) -> str:
    low, high = judge.interval
    ends = f"({percent(low)} to {percent(high)})"
    return f"Estimates are right in {percent(judge.accuracy)} of the pairs {ends}"


def _rests(result: Pairwise, by: str) -> str:
    """The pairs, and one person beside the judge."""
    pairs = counted(result.pairs - result.even, "pair")
    rests = f"Rests on {pairs} between which people chose"
    if by:
        rests += f"; estimates are by {by}"
    if result.person is not None:
        rests += f". One person is right in {percent(result.person.accuracy)}"
    return f"{rests}.{resting_on(result.groups, 'sources')}"
