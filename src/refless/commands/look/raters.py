"""Do the people who rate agree? A card from what `judge` says of ratings alone."""

from refless.commands.judge.raters import TENTATIVE, RatersResult, has_several_ratings
from refless.commands.judge.run import judge
from refless.commands.look.asked import OPEN, Asked, answered, refused
from refless.commands.look.versions import pictures_of
from refless.registry.errors import InputError
from refless.report.document import Card, State

TOPIC = "your raters"
QUESTION = "Do the people who rate agree?"
LABELS: dict[State, str] = {"yes": "Yes", "no": "No, only weakly", "open": OPEN}
ADVICE: dict[State, str] = {
    "yes": "see who differs, and which texts they dispute.",
    "no": "let them talk about the texts that they dispute, and rate again.",
    "open": "have more texts rated by two people.",
}


def do_raters_agree(asked: Asked) -> list[Card]:
    """The card on raters; none without ratings."""
    pool = asked.read.pool
    if pool is None or asked.of_choices:
        return []
    if not has_several_ratings(pool):
        alone = "nobody knows: one person rated each output"
        remedy = "have a second person rate some of them; 'refless rate' asks both."
        return [refused(TOPIC, QUESTION, InputError(alone, remedy=remedy))]
    return [answered(TOPIC, QUESTION, lambda: _card(asked.ask(judge)))]


def _card(result: RatersResult) -> Card:
    agreement = result.agreement
    alpha = agreement.alpha_ordinal
    low, high = alpha.interval
    state: State = "open"
    if low >= TENTATIVE:
        state = "yes"
    elif high < TENTATIVE:
        state = "no"
    value = f"alpha {alpha.value:.2f} ({low:.2f} to {high:.2f})"
    answers: dict[State, str] = {
        "yes": f"They agree: {value}, where {TENTATIVE:.2f} is needed.",
        "no": f"Only weakly: {value}, where {TENTATIVE:.2f} is needed.",
        "open": f"Perhaps: {value}, where {TENTATIVE:.2f} is needed.",
    }
    if low != low:
        answers["open"] = f"Not known: {alpha.undefined}."
    return Card(
        topic=TOPIC,
        question=QUESTION,
        state=state,
        label=LABELS[state],
        answer=answers[state],
        rests=f"Rests on {agreement.n} outputs that two people or more rated.",
        advice=ADVICE[state],
        command=result.command,
        figures=pictures_of(result),
    )
