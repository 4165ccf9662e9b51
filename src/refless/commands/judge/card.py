"""The answer of `judge` as a card: its state, few words, one picture, what to do now."""

from collections.abc import Sequence
from itertools import combinations

from refless.commands.judge.audit import Audit
from refless.commands.judge.licence import Licence
from refless.commands.judge.numbers import NUMBERS
from refless.commands.judge.repeated import Runs
from refless.commands.validate.verdict import YES_OR_NO
from refless.evaluation.further import DECIDED, if_steady, if_steady_said
from refless.evaluation.uses import FILTER, PURPOSES, Use
from refless.registry.arrays import FloatArray
from refless.registry.dialect import called, saved, saving
from refless.registry.plural import counted
from refless.report.document import OPEN, Card, Figure, State
from refless.report.pictures import CalibrationPoint, calibration_picture, judge_picture
from refless.report.result import reaches
from refless.report.units import RatingUnits
from refless.report.wording import exact_percent, number, percent, sentence

QUESTION = "Can {} decide alone?"
STATES: dict[str, State] = {"yes": "with", "no": "no"}  # of answers; others are open
ADVICE: dict[State, str] = {
    "with": "find the scores from which on few are wrong.",
    "no": "use it for averages with ratings beside it, and for nothing alone.",
    "open": "do not rely on it yet: rate more of what it scored, drawn at random.",
}
UNSHOWN = "no agreement with people is shown"
LICENCE = "FILE.json"
REDRAWN = "needed, drawn at random: these ratings do not stand for all rows."
UNEVEN = "not needed to compare versions; for a limit on errors {}."
OF_VERSIONS = (
    "compare versions by ratings with its scores beside them; use it for nothing alone."
)
OF_MEANS = "not needed for this answer. For a mean of all rows {}."
UNUSED = "do not use it: averages with ratings beside it are not shown to gain by it."
TURNED = "do not use it as it is: find out whether low scores are its good ones."
SAME = 0.9  # share of outputs on which runs are to say the same
ONE_SIDED = (
    "People are so often of one mind here that deciding all texts one way, unread, would keep the "
    "promise too."
)
OTHERS = "outputs of another kind than these, or another prompt or model of the judge."
LABELS: dict[State, str] = {
    "with": "Only with a limit on errors",
    "no": "No, not alone",
    "open": OPEN,
}


def card_of(
    audit: Audit,
    people: FloatArray,
    scores: FloatArray,
    command: str,
    drawing: str,
    uneven: str,
    *,
    of_verdicts: bool,
) -> Card:
    """The card on one judge; the licence answers if one is asked for.

    Args:
        audit: of the judge.
        people, scores: [n] of the same texts, without undefined ones.
        command: the line that does what is advised; drawing: the one that draws what to rate
            before, or "".
        of_verdicts: whether ratings are passes and fails.
    """
    if audit.calibration is None:
        picture = judge_picture(
            audit.name, people.tolist(), scores.tolist(), of_verdicts=of_verdicts
        )
    else:
        picture = _reliability(audit)
    if audit.licence is not None:
        lines = [drawing, command] if audit.licence.undefined else [command]
        line = "\n".join(filter(None, lines))
        return _licensed(audit, audit.licence, line, uneven, picture)
    use = audit.alone
    state = STATES.get(use.answer, "open")
    advice = _advice(audit, use, state, uneven)
    lines = [command]
    if (state == "open" and not uneven) or (state == "no" and not _agrees(use)):
        lines = []
    if uneven and state in {"open", "with"}:
        lines.insert(0, drawing)
    return Card(
        topic=audit.name,
        question=QUESTION.format(audit.name),
        state=state,
        label=LABELS[state],
        answer=_answer(audit, use, state),
        rests=_rests(audit, use, uneven),
        further=_further(audit, use, state, uneven),
        unfit=_unfit(audit.uses),
        advice=advice,
        command="\n".join(filter(None, lines)),
        figures=(picture,),
    )


def card_of_runs(
    runs: Runs, columns: Sequence[FloatArray], *, of_verdicts: bool
) -> Card:
    """The card on several runs of one judge.

    Args:
        runs: what they have in common.
        columns: [n] scores of each, NaN where there is none; none where they became one score.
        of_verdicts: whether scores are passes and fails.
    """
    same = 1 - runs.flips.value
    most, least = runs.flips.interval
    low = 1 - least
    high = 1 - most
    state = reaches((low, high), SAME)
    alike = f"All {runs.runs} runs say the same on {percent(same)} of outputs"
    answer = f"{alike} ({percent(low)} to {percent(high)}); {percent(SAME)} is wanted."
    if low != low:
        answer = f"Not known: {runs.flips.undefined or 'too few outputs'}."
    agreement = (
        f"{NUMBERS[runs.measure].title} with people: {number(runs.single.value, 2)} by one run, "
        f"{number(runs.together.value, 2)} by all together."
    )
    advice = "one run will do." if state == "yes" else "take several runs together."
    if not runs.together.interval[0] > 0:
        agreement = f"{UNSHOWN.capitalize()}. {agreement}"
        advice = UNUSED
    return Card(
        topic="runs",
        question="Does the judge say the same each time?",
        state=state,
        label=YES_OR_NO[state],
        answer=answer,
        rests=f"Rests on {counted(runs.n, 'output')} that all runs scored. {agreement}",
        further=if_steady(same, (low, high), SAME, runs.n, "output"),
        unfit="a claim that it is right: it may repeat its mistakes.",
        advice=advice,
        figures=_of_runs(columns, of_verdicts=of_verdicts),
    )


def _of_runs(columns: Sequence[FloatArray], *, of_verdicts: bool) -> tuple[Figure, ...]:
    """Scores of every two runs beside each other, of outputs that both scored."""
    pairs = []
    for one, other in combinations(columns, 2):
        pairs += [*zip(one.tolist(), other.tolist(), strict=True)]
    both = [(x, y) for x, y in pairs if x == x and y == y]
    if not both:
        return ()
    picture = judge_picture(
        "another run",
        [x for x, _ in both],
        [y for _, y in both],
        of_verdicts=of_verdicts,
        beside="one run gives",
        counts="Pairs of scores by two runs",
    )
    return (picture,)


def _reliability(audit: Audit) -> Figure:
    """The share that people pass, by the probability that the judge gives."""
    bins = audit.calibration.curve if audit.calibration else ()
    points = [
        CalibrationPoint(
            at=part.probability, mean=part.passed.value, interval=part.passed.interval
        )
        for part in bins
    ]
    caption = (
        "Each bar is an equal part of the rated texts, with 95 % confidence. Right "
        "probabilities lie along the dashed line."
    )
    label = f"probability that {audit.name} gives"
    return calibration_picture(points, label, "share that people pass", caption)


def _licensed(
    audit: Audit, licence: Licence, command: str, uneven: str, picture: Figure
) -> Card:
    """The card on the texts that a judge may decide alone."""
    promise = licence.promise
    share = exact_percent(promise.at_most_wrong)
    sure = exact_percent(promise.sure)
    rested = f"{counted(licence.n, 'rated text')}{_drawn(audit, uneven)}"
    rests = (
        f"Rests on {rested}. The promise, with {sure} confidence, if "
        f"outputs are like these: people would fail at most {share} of what it passes, and pass "
        f"at most {share} of what it fails. They pass what they rate {licence.passing:g} or more "
        "on average."
    )
    if licence.trivial:
        rests = f"{rests} {ONE_SIDED}"
    state: State = "no" if licence.undefined else "yes"
    decided = percent(1 - licence.people)
    label = "No, nothing yet" if licence.undefined else f"Yes, {decided}"
    line = command.replace(LICENCE, saved(".json") or LICENCE)
    return Card(
        topic=audit.name,
        question=f"May {audit.name} decide some outputs alone?",
        state=state,
        label=label,
        answer=_decides(licence, decided),
        rests=rests,
        further=_labels(audit, licence, uneven),
        unfit="deciding any output alone." if licence.undefined else OTHERS,
        advice=_next(audit, licence, uneven),
        command=line,
        figures=(picture,),
    )


def _decides(licence: Licence, decided: str) -> str:
    """The scores with which a judge decides alone, or that it may not."""
    if licence.undefined:
        return f"It may decide nothing alone: {licence.undefined}."
    passes = "pass none"
    if licence.passes.chosen is not None:
        passes = f"pass outputs from {licence.passes.threshold:.4g} on"
    fails = "fail none"
    if licence.fails.chosen is not None:
        fails = f"fail them up to {licence.fails.threshold:.4g}"
    return f"It may {passes} and {fails}: {decided} of all; people decide the others."


def _next(audit: Audit, licence: Licence, uneven: str) -> str:
    """The use of a licence, or the labels or the promise that would do."""
    if not licence.undefined:
        if saved(".json"):
            return "let it decide new outputs."
        return (
            f"save this result with {saving(LICENCE)}, and let it decide new outputs."
        )
    if audit.to_rate:
        return f"{_redrawn(audit, uneven, ', and ask again')}."
    if not licence.curve:
        return "rate rows that are drawn at random from all."
    point = licence.within_reach
    if point is None:
        return "leave all to people, or change the judge or its prompt and ask again."
    wrong = exact_percent(point.at_most_wrong)
    return (
        f"leave all to people, unless {wrong} may be wrong: then it decides "
        f"{percent(point.decided)} alone."
    )


def _labels(audit: Audit, licence: Licence, uneven: str) -> str:
    """The rated texts that would license some, in a sentence."""
    if not licence.undefined:
        return DECIDED
    if audit.to_rate:
        return UNEVEN.format(audit.to_rate) if uneven else REDRAWN
    if licence.curve and licence.needed is None:
        return "not within reach: at every score too many of these are wrong."
    left = sum(licence.scores.counts) - licence.n
    return if_steady_said(licence.needed, licence.n, "rated text", left)


def _agrees(use: Use) -> bool:
    """Whether any agreement with people is shown."""
    return use.estimate.interval[0] > 0


def _advice(audit: Audit, use: Use, state: State, uneven: str) -> str:
    if use.estimate.interval[1] < 0:
        return TURNED
    if audit.usual_share == 1 or (state == "no" and not _agrees(use)):
        return UNUSED
    advice = ADVICE[state]
    if state == "with" and audit.passing is None:
        advice = f"{advice[:-1]}; X is the lowest rating that passes."
    if not audit.to_rate:
        return advice
    if state == "no":
        return OF_VERSIONS if uneven else f"{audit.to_rate}; then {advice}"
    if state == "open":
        return f"{_redrawn(audit, uneven, ', and ask again')}."
    return f"1. {sentence(_redrawn(audit, uneven))}. 2. {sentence(advice)}"


def _redrawn(audit: Audit, uneven: str, then: str = "") -> str:
    """The ratings with which rated rows would stand for all, or the question without them."""
    if not uneven:
        return f"{audit.to_rate}{then}"
    alone = f"or ask now of one version alone, by {called('where')}"
    return f"{audit.to_rate}{then}, {alone}"


def _further(audit: Audit, use: Use, state: State, uneven: str) -> str:
    """The ratings that would decide it, or that these do not stand for all rows."""
    if state == "open":
        left = audit.rows - audit.n
        further = if_steady_said(use.needed, audit.n, "rated output")
        if use.needed and use.needed > audit.rows:
            return further.replace(" would", f", more than the {left:,} left, would", 1)
        return further
    if not audit.to_rate or (state == "no" and not _agrees(use)):
        return DECIDED
    if not uneven:
        return REDRAWN
    return (UNEVEN if state == "with" else OF_MEANS).format(audit.to_rate)


def _answer(audit: Audit, use: Use, state: State) -> str:
    """The agreement with people, and the clearest fault."""
    return f"{', and '.join([_agreement(use, state), *_faults(audit)])}."


def _agreement(use: Use, state: State) -> str:
    if state == "with":
        return "It agrees with people, but nothing limits its errors yet"
    if state == "no" and _agrees(use):
        return "Not on its own: it does not tell good from bad well enough"
    if state == "no":
        return f"Not on its own: {UNSHOWN}"
    low, high = use.estimate.interval
    if use.estimate.undefined or low != low:
        return f"Not known: {use.estimate.undefined or 'too few outputs are rated'}"
    if not _agrees(use):
        return f"Not known: {UNSHOWN}, and {use.bar:g} is needed"
    ends = f"between {number(low, 2)} and {number(high, 2)}"
    return f"Not known: its agreement lies {ends}; {use.bar:g} is needed"


def _rests(audit: Audit, use: Use, uneven: str) -> str:
    outputs = counted(audit.n, "output")
    on = f"Rests on {outputs} that people rated too{_drawn(audit, uneven)}"
    low, high = use.estimate.interval
    if low != low:
        return f"{on}."
    ends = f"95 % interval {number(low)} to {number(high)}"
    value = f"{NUMBERS[use.measure].title} {number(use.estimate.value)} ({ends})"
    if use.answer == "yes":
        return (
            f"{on}: {value}; the {use.bar:g} that is needed is met. How many of its decisions are "
            "wrong is not limited yet."
        )
    return f"{on}: {value}, where {use.bar:g} is needed to decide alone."


def _drawn(audit: Audit, uneven: str) -> str:
    """The remark that rated rows do not look drawn at random, or only within versions; or ""."""
    if uneven:
        return f" ({uneven}; within each, rated rows look like the unrated)"
    return ", which do not look drawn at random" if audit.to_rate else ""


def _unfit(uses: Sequence[Use]) -> str:
    """The uses that it is not shown to be fit for without people."""
    unshown = [use for use in uses if use.answer != "yes" or use.purpose == FILTER]
    tasks = [
        PURPOSES[use.purpose].short
        for use in unshown
        if use.purpose == FILTER or not use.estimate.undefined
    ]
    if not tasks:
        return OTHERS
    *others, last = tasks
    listed = f"{', '.join(others)} or {last}" if others else last
    return f"use by itself to {listed}."


def _faults(audit: Audit) -> list[str]:
    """The system that it favours most clearly, else that it is too kind or too strict, if shown."""
    measures = audit.measures
    units = RatingUnits(audit.passing is not None)
    for part in audit.slices:
        favoured = part.column == "system" and part.significant and part.gap.value > 0
        if favoured:
            by = units.size(part.gap.value)
            of = "" if audit.same_units or units.percent else " of people's scale"
            return [f"it favours {part.value} by {by}{of}"]
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
