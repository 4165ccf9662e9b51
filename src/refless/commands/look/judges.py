"""May a judge decide alone? A card a judge from what `judge` says."""

from functools import partial

import numpy as np

from refless.commands.judge.audit import Audit
from refless.commands.judge.numbers import NUMBERS
from refless.commands.judge.run import judge
from refless.commands.look.asked import OPEN, Asked, answered
from refless.evaluation.uses import FILTER, Use
from refless.registry.plural import counted
from refless.report.document import Card, Figure, State
from refless.report.pictures import judge_picture
from refless.report.units import RatingUnits
from refless.report.wording import number, percent

QUESTION = "Can {} decide alone?"
WEAK = 0.4
STATES: dict[str, State] = {"yes": "yes", "no": "no"}  # of answers; others are open
ADVICE: dict[State, str] = {
    "yes": "let it pass and fail outputs of this kind; ask again after each change of it.",
    "no": "use it for averages with ratings beside it, and for nothing alone.",
    "open": "rate more of what it scored, drawn at random.",
}
LABELS: dict[State, str] = {"yes": "Yes", "no": "No, not alone", "open": OPEN}


def may_judges_decide(asked: Asked) -> list[Card]:
    """A card for each column of scores; none without ratings to hold them against."""
    if asked.read.pool is None or asked.of_choices:
        return []
    return [
        answered(name, QUESTION.format(name), partial(_card, asked, name))
        for name in asked.seen.scores
    ]


def _card(asked: Asked, name: str) -> Card:
    result = asked.ask(judge, score_column=name)
    audit = result.audits[0]
    use = next(use for use in audit.uses if use.purpose == FILTER)
    state = STATES.get(use.answer, "open")
    return Card(
        topic=name,
        question=QUESTION.format(name),
        state=state,
        label=LABELS[state],
        answer=_answer(audit, use, state, RatingUnits(asked.percent)),
        rests=_rests(audit, use),
        advice=ADVICE[state],
        command=result.command,
        figures=(_picture(asked, name),),
    )


def _picture(asked: Asked, name: str) -> Figure:
    """The judge's scores against people's ratings."""
    scores = asked.read.texts.score(name)
    people = asked.people
    both = ~np.isnan(scores + people)
    return judge_picture(
        name, people[both].tolist(), scores[both].tolist(), of_verdicts=asked.percent
    )


def _answer(audit: Audit, use: Use, state: State, units: RatingUnits) -> str:
    if state == "yes":
        return "Yes: it agrees with people on single outputs."
    if state == "no":
        weakly = "weakly" if use.estimate.value < WEAK else "not well enough"
        faults = [*_faults(audit, units), f"it tells good from bad {weakly}"]
        return f"Not on its own: {' and '.join(faults)}."
    low, high = use.estimate.interval
    if low != low:
        return f"Not known: {use.estimate.undefined or 'too few outputs are rated'}."
    ends = f"between {number(low, 2)} and {number(high, 2)}"
    return f"Not known: its agreement with people lies {ends}; {use.bar:g} is needed."


def _rests(audit: Audit, use: Use) -> str:
    on = f"Rests on {counted(audit.n, 'output')} that people rated too"
    low, high = use.estimate.interval
    if low != low:
        return f"{on}."
    ends = f"{number(low, 2)} to {number(high, 2)}"
    value = f"{NUMBERS[use.measure].title} {number(use.estimate.value, 2)} ({ends})"
    return f"{on}: {value}, where {use.bar:g} is needed."


def _faults(audit: Audit, units: RatingUnits) -> list[str]:
    """That it is too kind or too strict, if that is shown."""
    measures = audit.measures
    if "judge_rate" in measures:
        by_judge = measures["judge_rate"]
        by_people = measures["base_rate"]
        low, high = by_judge.interval
        if not low <= by_people.value <= high:
            rates = f"{percent(by_judge.value)} of outputs, people"
            return [f"it passes {rates} {percent(by_people.value)}"]
        return []
    bias = measures.get("bias")
    if bias is None or not (bias.interval[0] > 0 or bias.interval[1] < 0):
        return []
    kind = "kind" if bias.value > 0 else "strict"
    return [f"it is {units.size(bias.value)} too {kind}"]
