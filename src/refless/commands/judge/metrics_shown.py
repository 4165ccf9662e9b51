"""The agreement of metrics with people as a sentence, a card and tables."""

import math
from collections.abc import Collection, Mapping, Sequence

from refless.commands.judge.audit import Audit
from refless.commands.judge.metrics_compared import Agreeing, Level
from refless.commands.populations import allowed
from refless.evaluation.uses import FEWEST
from refless.registry.dialect import called
from refless.registry.plural import counted, first_of, these
from refless.report.charts import Line, row_chart
from refless.report.document import OPEN, Card, Figure, Section, State, Table
from refless.report.wording import labels, number, p_value, with_interval

WEAK = 0.2  # correlations that are all below hardly agree
MOST_PAIRS = 15  # of metrics, for people; JSON has all
NAMED = 3  # metrics in the verdict
NAME = 22  # columns of a terminal
NAME_IN_PAIR = 14
SEGMENTS = "Segments"
ANNOTATOR = "one annotator"
OF_TEXTS = (
    "Pairs right: of texts that the metric orders, or ties, as people do; with ties: if its scores "
    "tie that differ by little; by chance: what guessing would give with these ties."
)
OF_SYSTEMS = (
    "A tie of two systems is half a pair. Noise in people's means hides their order, so each "
    "interval reaches up to all pairs but those that are shown to be in opposite orders."
)
CAUTION = (
    "A high correlation is not enough: it holds for these texts and systems, and a small "
    "difference between two metrics says little."
)


def card_of_metrics(
    level: Level, agree: str, figure: Figure, judged: Collection[str] = ()
) -> Card:
    """The card on metrics over texts.

    Args:
        level: the texts; figure: its picture; agree: what is known of raters.
        judged: metrics that have cards of their own, which say what these may do.
    """
    state, label, advice = _standing(level, judged)
    rests = [*allowed(len(level.metrics), "metric"), agree]
    return Card(
        topic="metrics",
        question="Does a metric agree with people?",
        state=state,
        label=label,
        answer=nearest_to_people(level),
        rests=" ".join(rests),
        unfit="single texts, or texts and systems of another kind.",
        advice=advice,
        figures=(figure,),
    )


def _standing(level: Level, judged: Collection[str]) -> tuple[State, str, str]:
    """The state of the best metric, the same in words, and what to do."""
    if not level.best_interval[1] >= WEAK and not math.isnan(level.best_interval[1]):
        return "no", "No", "do not decide by these metrics: decide by people's ratings."
    if not level.best_interval[0] > 0:
        return "open", OPEN, "do not decide by these metrics yet: rate more outputs."
    first = level.metrics[0]
    if first.name in judged:
        advice = f"{first.name} is the nearest of these; its own answer says what it may decide."
        return "with", "As its own answer says", advice
    advice = f"of these take {first.name}, for averages over many texts; rate some outputs of each "
    advice += "new version."
    if _within_items(first):
        return "with", "Of items, not of outputs", advice
    return "yes", "Yes", advice


def _within_items(metric: Agreeing) -> str:
    """That it orders one item's outputs worse than guessing would; "" if that is not shown."""
    if (
        not metric.accuracy_interval[1] < metric.chance
        or not metric.tie_accuracy < metric.chance
    ):
        return ""
    return (
        f" But it orders fewer pairs as people do ({number(metric.tie_accuracy)}) than guessing "
        f"would ({number(metric.chance)})."
    )


def nearest_to_people(level: Level) -> str:
    """The metrics that agree best with people as far as tests can tell, in one sentence."""
    ranked = [metric for metric in level.metrics if not math.isnan(metric.spearman)]
    texts = these(level.n, "text")
    if not ranked or max(metric.n_scored for metric in ranked) < FEWEST:
        return f"On {texts} no metric can be compared with people."
    first = ranked[0]
    if first.n_scored < level.n:
        texts = f"the {first.n_scored:,} of {texts} that it scored"
    if len(ranked) == 1:
        spearman = _with(first, "spearman")
        agrees = f"{first.name} {_agrees(first)}: Spearman {spearman}."
        return f"On {texts} {agrees}{_within_items(first)}"
    value = with_interval(first.spearman, level.best_interval)
    if not level.best_interval[0] > 0:
        why = "as chance alone can give"
        if level.best_interval[1] < WEAK:
            why = f"at most {number(level.best_interval[1])}"
        return (
            f"On {texts} no metric is shown to agree with people. The best of {len(ranked)}, "
            f"{first.name}, has Spearman {value}, {why}."
        )
    rivals = [rival for rival in level.best if rival != first.name]
    weak = level.best_interval[1] < WEAK
    if not rivals:
        best = "hardly agrees with people" if weak else "agrees best with people"
        told = "though " if weak else ""
        said = f"{best}, Spearman {value}, {told}significantly better than every other."
    else:
        agrees = "hardly agrees" if weak else "agrees"
        apart = "and" if weak else "but it"
        said = f"{agrees} with people, Spearman {value}, {apart} cannot be told apart from "
        said += f"{first_of(rivals, NAMED)}."
    return f"On {texts} {first.name} {said}{_within_items(first)}"


def _agrees(metric: Agreeing) -> str:
    """The agreement of one metric with people, as a predicate."""
    low, high = metric.spearman_interval
    if low > 0:
        return "agrees with people" if high >= WEAK else "hardly agrees with people"
    if high < 0:
        return (
            f"is low where people rate high ({called('lower_is_better')} turns a column; a metric "
            "of your own can return its negative)"
        )
    return "shows no agreement with people that chance could not explain"


def annotator_of(audits: Sequence[Audit]) -> tuple[Line, ...]:
    """One annotator against the mean of the others, if ranks of any are known."""
    for audit in audits:
        spearman = audit.annotator.get("spearman")
        if spearman is not None:
            line = Line(
                name=ANNOTATOR, value=spearman.value, interval=spearman.interval
            )
            return (line,)
    return ()


def figure_of(level: Level, over: str, yardstick: Sequence[Line] = ()) -> Figure:
    metrics = [
        Line(name=m.name, value=m.spearman, interval=m.spearman_interval)
        for m in level.metrics
    ]
    label = f"Spearman over {over}"
    caption = f"{label}, {level.n:,} of them, with 95 % intervals."
    if level.comparisons:
        caption += (
            " All metrics are compared on the same rows: the tests below tell apart what "
            "overlapping intervals do not."
        )
    return row_chart([*yardstick, *metrics], label, label, caption, zero=True)


def level_sections(level: Level, heading: str) -> tuple[Section, ...]:
    if level.undefined and not level.metrics:
        return (Section(title=heading, lines=(f"Undefined: {level.undefined}.",)),)
    names = labels([metric.name for metric in level.metrics], NAME)
    first = Table(
        header=("metric", "n", "Pearson [95 %]", "Spearman [95 %]"),
        rows=tuple(
            (names[m.name], str(m.n_scored), _with(m, "pearson"), _with(m, "spearman"))
            for m in level.metrics
        ),
    )
    if heading == SEGMENTS:
        figures: tuple[Figure, ...] = ()
        second = _pairs_of_texts(level, names)
    else:
        figures = (figure_of(level, "systems"),)
        second = _pairs_of_systems(level, names)
    reasons = sorted({metric.undefined for metric in level.metrics if metric.undefined})
    lines = tuple(f"Undefined where {reason}." for reason in reasons)
    if len({metric.n_scored for metric in level.metrics}) > 1:
        lines = (
            *lines,
            f"Each metric is over the n {heading.casefold()} that it scored.",
        )
    return (
        Section(title=heading, figures=figures, table=first, lines=lines),
        second,
        *_comparisons(level, names),
    )


def _pairs_of_texts(level: Level, names: Mapping[str, str]) -> Section:
    """Shares of pairs of texts, as they are and with ties where people tie."""
    table = Table(
        header=("metric", "pairs right [95 %]", "with ties", "by chance"),
        rows=tuple(
            (
                names[m.name],
                _with(m, "accuracy"),
                number(m.tie_accuracy),
                number(m.chance),
            )
            for m in level.metrics
        ),
    )
    return Section(table=table, lines=(OF_TEXTS,))


def _pairs_of_systems(level: Level, names: Mapping[str, str]) -> Section:
    """Shares of pairs of systems: the numbers by which it is told whether a judge may rank them."""
    table = Table(
        header=("metric", "pairs in people's order [95 %]"),
        rows=tuple((names[m.name], _with(m, "accuracy")) for m in level.metrics),
    )
    return Section(table=table, lines=(OF_SYSTEMS,))


def _with(result: object, measure: str) -> str:
    return with_interval(
        getattr(result, measure), getattr(result, f"{measure}_interval")
    )


def _comparisons(level: Level, names: Mapping[str, str]) -> tuple[Section, ...]:
    if not level.comparisons:
        return ()
    short = labels([metric.name for metric in level.metrics], NAME_IN_PAIR)
    ordered = sorted(level.comparisons, key=lambda pair: not pair.better)
    rows = []
    for pair in ordered[:MOST_PAIRS]:
        sign = ">" if pair.better else "?"
        title = f"{short[pair.first]} {sign} {short[pair.second]}"
        p = p_value(pair.permutation_p_holm)
        rows.append((title, _with(pair, "difference"), p))
    table = Table(header=("Spearman", "difference [95 %]", "p, Holm"), rows=tuple(rows))
    best = ", ".join(names[name] for name in level.best)
    lines = [
        "> is significantly better (permutation test, p after Holm below 0.05); ? is undecided.",
        f"No other is significantly better than: {best}.",
    ]
    hidden = len(ordered) - len(rows)
    if hidden:
        verb = "is" if hidden == 1 else "are"
        lines.append(f"{counted(hidden, 'more pair')} {verb} in the JSON.")
    return Section(table=table), Section(lines=tuple(lines))
