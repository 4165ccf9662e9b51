"""The agreement of metrics with people as a sentence, a card and tables."""

import math
from collections.abc import Mapping, Sequence

from refless.commands.judge.audit import Audit
from refless.commands.judge.metrics_compared import Agreeing, Level
from refless.evaluation.uses import FEWEST
from refless.registry.dialect import called
from refless.registry.plural import counted, first_of, these
from refless.report.charts import Line, row_chart
from refless.report.document import OPEN, Card, Figure, Section, State, Table
from refless.report.wording import labels, number, p_value, with_interval

MOST_PAIRS = 15  # of metrics, for people; JSON has all
NAMED = 3  # metrics in the verdict
NAME = 22  # columns of a terminal
NAME_IN_PAIR = 14
SEGMENTS = "Segments"
ANNOTATOR = "one annotator"
OF_TEXTS = (
    "Pairs right: of texts that the metric orders, or ties, as people do; with ties: if its scores "
    "tie that differ by little; by chance: of a metric that guesses, with as many ties."
)
OF_SYSTEMS = (
    "A tie of two systems is half a pair. Noise in people's means hides their order, so each "
    "interval reaches up to all pairs but those that are shown to be in opposite orders."
)
CAUTION = (
    "A high correlation is not enough: it holds for these texts and systems, and a small "
    "difference between two metrics says little."
)


def card_of_metrics(level: Level, agree: str, figure: Figure) -> Card:
    """The card on metrics over texts, with their picture; agree: what is known of raters."""
    state: State = "open"
    label = OPEN
    advice = "do not decide by these metrics as they are; have outputs rated."
    if level.best_interval[0] > 0:
        state = "yes"
        label = "Yes"
        advice = f"of these take {level.metrics[0].name}, for averages over many texts; rate "
        advice += "some outputs of each new version."
    return Card(
        topic="metrics",
        question="Does a metric agree with people?",
        state=state,
        label=label,
        answer=nearest_to_people(level),
        rests=agree,
        unfit="single texts, or texts and systems of another kind.",
        advice=advice,
        figures=(figure,),
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
        return f"On {texts} {first.name} {_agrees(first)}: Spearman {spearman}."
    value = with_interval(first.spearman, level.best_interval)
    if not level.best_interval[0] > 0:
        return (
            f"On {texts} no metric is shown to agree with people. The best of {len(ranked)}, "
            f"{first.name}, has Spearman {value}, as chance alone can give."
        )
    rivals = [rival for rival in level.best if rival != first.name]
    if not rivals:
        return (
            f"On {texts} {first.name} agrees best with people, Spearman {value}, significantly "
            "better than every other."
        )
    return (
        f"On {texts} {first.name} agrees with people, Spearman {value}, but it cannot be told "
        f"apart from {first_of(rivals, NAMED)}."
    )


def _agrees(metric: Agreeing) -> str:
    """The agreement of one metric with people, as a predicate."""
    low, high = metric.spearman_interval
    if low > 0:
        return "agrees with people"
    if high < 0:
        return f"is low where people rate high ({called('lower_is_better')} turns it)"
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
