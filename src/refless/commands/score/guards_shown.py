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
    mark = result.copies
    remaining = result.without_copies
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
    theirs = [mark for mark in result.which if not named or mark.system in named][
        :NAMED
    ]
    first = ", ".join(clipped(mark.id, LONGEST) for mark in theirs)
    return (
        f"{_who(who)} are unlike the rated texts ({by}), where {_usual(who)} are usual: no rating "
        f"tells how far their estimates and intervals hold. Rate some of them, such as {first}."
    )


def _who(result: Mapping[str, Marked]) -> str:
    """`51 of 100 (51 %) of the outputs`, and of systems that are named."""
    names = {**labels([name for name in result if name], 30), "": "the outputs"}
    parts = [
        f"{mark.count:,} of {mark.n:,} ({percent(mark.share)}) of {names[name]}"
        for name, mark in [*result.items()][:NAMED]
    ]
    left = len(result) - len(parts)
    parts += [f"those of {counted(left, 'system')} more"] if left else []
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def _usual(result: Mapping[str, Marked]) -> str:
    """One share, or the lowest and the highest."""
    shares = {percent(mark.usual): mark.usual for mark in result.values()}
    ranked = sorted(shares, key=shares.__getitem__)
    return " to ".join(dict.fromkeys((ranked[0], ranked[-1])))
