"""Copies, odd outputs and odd judges, in words."""

from collections.abc import Mapping

from refless.commands.judge_shift import judge_said
from refless.commands.score.copies import Copies
from refless.commands.score.guards import Guards, more
from refless.commands.score.novelty import Unlike
from refless.evaluation.scoring import Mean
from refless.registry.plural import counted
from refless.report.wording import clipped, labels, number, percent, with_interval
from refless.stats.fisher import Marked

NAMED = 3  # names in a sentence
LONGEST = 200  # characters of an id, which is of no use in part


def said(result: Guards, mean: Mean, *, one_file: bool = False) -> tuple[str, ...]:
    """One sentence for each guard that fired; one_file: see `judge_said`."""
    odd = result.unlike
    lines = (
        _itself(result.copies, mean.n),
        _copies(result, mean),
        "" if odd is None else _unlike(odd),
        *(judge_said(judge, one_file=one_file) for judge in result.judges),
    )
    return tuple(filter(None, lines))


def _itself(result: Copies, n: int) -> str:
    """Their own ratings flatter the estimates."""
    if 2 * result.n_itself <= n:
        return ""
    return (
        f"{result.n_itself} of {counted(n, 'output')} are rated texts themselves, and their own "
        "ratings are part of their estimates; 'refless validate' holds these out."
    )


def _copies(result: Guards, mean: Mean) -> str:
    """The outputs that copy rated texts, and the mean without them."""
    copies = result.copies
    remaining = result.without_copies
    marks = more(copies.overall, copies.systems)
    if not marks or remaining is None:
        return ""
    of = " of other sources" if copies.sources else ""
    mean_without = with_interval(remaining.mean, remaining.mean_interval)
    return (
        f"{_who(marks)} copy rated texts{of}, where {_usual(marks)} are usual: such an output is "
        "estimated as what it copies. The mean without them is "
        f"{mean_without} instead of {number(mean.mean)}."
    )


def _unlike(result: Unlike) -> str:
    """The outputs that are unlike the rated texts, and by which numbers."""
    marks = more(result.overall, result.systems)
    if not marks:
        return ""
    shifts = {"": result.overall, **result.systems}
    by = " and ".join(dict.fromkeys(shifts[name].by for name in marks))
    systems = {*marks} - {""}
    outputs = [far for far in result.which if not systems or far.system in systems]
    first = ", ".join(clipped(far.id, LONGEST) for far in outputs[:NAMED])
    return (
        f"{_who(marks)} are unlike the rated texts ({by}), where {_usual(marks)} are usual: no "
        "rating tells how far their estimates and intervals hold. Rate some of them, such as "
        f"{first}."
    )


def _who(result: Mapping[str, Marked]) -> str:
    """`51 of 100 (51 %) of the outputs`, and of systems that are named."""
    names = {**labels([name for name in result if name], 30), "": "the outputs"}
    parts = [
        f"{mark.count:,} of {mark.n:,} ({percent(mark.share)}) of {names[name]}"
        for name, mark in [*result.items()][:NAMED]
    ]
    unnamed = len(result) - len(parts)
    if unnamed:
        parts.append(f"those of {counted(unnamed, 'system')} more")
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def _usual(result: Mapping[str, Marked]) -> str:
    """One share, or the lowest and the highest."""
    shares = {percent(mark.usual): mark.usual for mark in result.values()}
    ranked = sorted(shares, key=shares.__getitem__)
    return " to ".join(dict.fromkeys((ranked[0], ranked[-1])))
