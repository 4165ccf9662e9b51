"""Copies, odd outputs and odd judges, in words and as tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from refless.evaluation.copies import Copies
from refless.evaluation.guards import Guards, more
from refless.evaluation.judge_shift import JudgeShift
from refless.evaluation.novelty import Unlike
from refless.evaluation.scoring import Mean, Scored
from refless.registry.plural import counted
from refless.report.document import Section, Table
from refless.report.wording import clipped, labels, number, p_value, percent, with_interval
from refless.stats.fisher import Marked

SHOWN, NAMED = 10, 3  # rows of a table of texts; names in a sentence
LONGEST = 200  # characters of an id, which is of no use in part
READ = (
    "A text is a copy of another if four fifths of its runs of three words are in it; texts of "
    "fewer than five words are left out. Unlike is what lies beyond the value of one number of a "
    "text (its length, its marks, the order of its words, ...) that separates outputs best from "
    "rated texts. Usual is the share among rated texts, of the same system where it has any; p is "
    "corrected over these numbers (Bonferroni) and over systems (Holm)."
)
NONE = Marked(n=0, count=0)


@dataclass(frozen=True, kw_only=True)
class GuardsRecord(Guards):
    """What may be wrong with outputs; `said`: what is shown, in sentences."""

    said: tuple[str, ...]


def said(result: Guards, mean: Mean) -> tuple[str, ...]:
    """One sentence for each guard that fired."""
    return tuple(line for line, _ in warnings(result, mean))


def warnings(result: Guards, mean: Mean) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The sentences with the systems that each names; () for all outputs."""
    odd = result.unlike
    lines: tuple[tuple[str, Mapping[str, Marked]], ...] = (
        (_itself(result.copies, mean.n), {}),
        (_copies(result, mean), result.copies.systems),
        ("" if odd is None else _unlike(odd), {} if odd is None else odd.systems),
        *((judge_said(judge), {}) for judge in result.judges),
    )
    return tuple((line, tuple(more(NONE, systems))) for line, systems in lines if line)


def guard_sections(result: Guards, scored: Scored, *, whole: bool) -> tuple[Section, ...]:
    """What is shown first of all; all numbers and some texts too, if the whole is asked for."""
    lines = said(result, scored.overall)
    warned = tuple(Section(lines=(line,), warning=True) for line in lines)
    if not whole:
        return warned
    table = Section(title="Guards", lines=(READ,), table=_table(result))
    return (*warned, table, *_which(result, scored))


def _itself(result: Copies, n: int) -> str:
    """Their own ratings flatter the estimates."""
    if 2 * result.n_itself <= n:
        return ""
    return (
        f"{result.n_itself} of {counted(n, 'output')} are rated texts themselves, and their own "
        "ratings are part of their estimates; 'refless validate' holds these out."
    )


def _copies(result: Guards, mean: Mean) -> str:
    mark, remaining = result.copies, result.without_copies
    who = more(mark.overall, mark.systems)
    if not who or remaining is None:
        return ""
    of = " of other sources" if mark.sources else ""
    return (
        f"{_who(who)} copy rated texts{of}, where {_usual(who)} are usual: such an output is "
        "estimated as what it copies. The mean without them is "
        f"{with_interval(remaining.mean, remaining.mean_interval)} instead of {number(mean.mean)}."
    )


def _unlike(result: Unlike) -> str:
    who = more(result.overall, result.systems)
    if not who:
        return ""
    shifts = {"": result.overall, **result.systems}
    by = " and ".join(dict.fromkeys(shifts[name].by for name in who))
    named = {*who} - {""}
    theirs = [mark for mark in result.which if not named or mark.system in named][:NAMED]
    first = ", ".join(clipped(mark.id, LONGEST) for mark in theirs)
    return (
        f"{_who(who)} are unlike the rated texts ({by}), where {_usual(who)} are usual: no rating "
        f"tells how far their estimates and intervals hold. Rate some of them, such as {first}."
    )


def judge_said(result: JudgeShift) -> str:
    """What is shown of a judge's scores; nothing if they are like those of the rated texts."""
    name = f"'{clipped(result.name)}'"
    if result.leaks:
        return (
            f"{name} orders the rated texts just as their ratings do: it may be the rating itself. "
            "The estimates follow it, whoever gave these scores to the outputs."
        )
    if not result.shifted:
        return ""
    low, high = result.rated_range
    rated, mine = (f"{mark:.4g}" for mark in result.medians)
    said = (
        f"the scores of the outputs (median {mine}) are spread unlike those of the rated texts "
        f"(median {rated}; Kolmogorov-Smirnov p {p_value(result.p)})"
    )
    if result.outside:
        said = (
            f"{result.n_outside:,} of {counted(result.n, 'score')} of the outputs lie outside "
            f"those of the rated texts, {low:.4g} to {high:.4g}"
        )
    elif result.equal == result.equal:
        said = f"all {result.n:,} scores of the outputs are {result.equal:.4g}"
    return (
        f"{name}: {said}. Estimates mean nothing unless the same judge, prompt and scale scored "
        "both; if they did, rate some of these outputs."
    )


def _who(result: Mapping[str, Marked]) -> str:
    """`51 of 100 (51 %) of the outputs`, and of systems that are named."""
    names = {**labels([name for name in result if name], 30), "": "the outputs"}
    parts = [f"{_count(mark)} of {names[name]}" for name, mark in [*result.items()][:NAMED]]
    left = len(result) - len(parts)
    parts += [f"those of {counted(left, 'system')} more"] if left else []
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def _count(mark: Marked) -> str:
    return f"{mark.count:,} of {mark.n:,} ({percent(mark.share)})"


def _usual(result: Mapping[str, Marked]) -> str:
    """One share, or the lowest and the highest."""
    shares = {percent(mark.usual): mark.usual for mark in result.values()}
    ranked = sorted(shares, key=shares.__getitem__)
    return " to ".join(dict.fromkeys((ranked[0], ranked[-1])))


def _table(result: Guards) -> Table:
    """A row each for all outputs and for every system."""
    rows = _rows("copies of rated texts", result.copies.overall, result.copies.systems)
    if result.unlike is not None:
        odd = result.unlike
        rows += _rows(f"unlike rated texts ({odd.overall.by})", odd.overall, odd.systems)
    header = ("", "texts", "of", "share", "usual", "p")
    return Table(header=header, rows=tuple(rows))


def _rows(what: str, overall: Marked, systems: Mapping[str, Marked]) -> list[tuple[str, ...]]:
    names = labels([*systems], 30)
    each = {what: overall, **{f"{what}: {names[name]}": mark for name, mark in systems.items()}}
    return [
        (
            name,
            f"{mark.count:,}",
            f"{mark.n:,}",
            "-" if mark.share != mark.share else percent(mark.share),
            "-" if mark.usual != mark.usual else percent(mark.usual),
            "-" if mark.p != mark.p else p_value(mark.p),
        )
        for name, mark in each.items()
    ]


def _which(result: Guards, scored: Scored) -> tuple[Section, ...]:
    """Some of the copies, and the outputs that are least like any rated text."""
    text = dict(zip(scored.outputs.ids, scored.outputs.texts, strict=True))
    sections = []
    if copied := result.copies.which[:SHOWN]:
        header = ("output", "copy of", "word for word", "text")
        cells = [(mark.id, mark.rated, "yes" if mark.exact else "no") for mark in copied]
        sections.append(_first("Copies of rated texts", result.copies.which, header, cells, text))
    if result.unlike is not None and (far := result.unlike.which[:SHOWN]):
        told = ("output", "nearest rated text (cosine)", "text")
        near = [(mark.id, number(mark.nearest)) for mark in far]
        sections.append(_first("Least like any rated text", result.unlike.which, told, near, text))
    return tuple(sections)


def _first(
    title: str,
    every: Sequence[object],
    header: tuple[str, ...],
    cells: Sequence[tuple[str, ...]],
    text: Mapping[str, str],
) -> Section:
    rows = tuple((*row, clipped(text[row[0]], 60)) for row in cells)
    more = f"The first {SHOWN} of {len(every):,}; all are in the JSON."
    numeric = (False,) * len(header)
    table = Table(header=header, rows=rows, numeric=numeric)
    return Section(title=title, lines=(more,) if len(every) > SHOWN else (), table=table)
