"""Rated rows that do not look drawn at random, in words."""

from refless.evaluation.random_draw import Differing, RandomDraw
from refless.registry.plural import counted, first_of
from refless.report.wording import clipped, labels, percent, sentence
from refless.stats.random_draw import LEVEL

NAMED = 3  # columns in a sentence
NAME = 30  # letters of a system
RANDOM = "drawn at random"


def draw_remark(draw: RandomDraw, then: str) -> str:
    """One sentence on how rated rows differ from the others, and what follows; else nothing.

    Args:
        draw: rated rows beside the others.
        then: what follows for the command, as sentences.
    """
    if not draw.differing:
        return ""
    if not draw.by_content:
        order = _order(draw, draw.differing[0])
        return (
            f"{order[:1].upper()}{order[1:]}, and nothing else tells them from the others. If the "
            f"order means something (a date, a score), they are not {RANDOM}. {then}"
        )
    if draw.wanted:
        return f"{_uneven(draw)} (p of such shares at most {LEVEL:g}). {then}"
    columns = [column for column in draw.differing if column.by != "order"]
    parts = [_column(column) for column in columns[:NAMED]]
    unnamed = len(columns) - len(parts)
    if unnamed:
        parts.append(f"{counted(unnamed, 'column')} more differ")
    parts += [_order(draw, column) for column in draw.differing if column.by == "order"]
    return (
        f"The {draw.n_rated:,} rated of {counted(draw.n, 'row')} do not look {RANDOM} "
        f"(p at most {LEVEL:g}): {'; '.join(parts)}. {then}"
    )


def to_rate(draw: RandomDraw) -> str:
    """The ratings with which rated rows would stand for all, as an order; "" if these do."""
    if not draw.by_content:
        return ""
    if not draw.wanted:
        return f"rate rows that are {RANDOM} from all"
    more = [f"{n} more of '{clipped(name)}'" for name, n in draw.wanted.items()]
    return f"rate about {first_of(more, NAMED)}, {RANDOM}"


def shares_said(draw: RandomDraw) -> str:
    """The shares that are rated, if no more than another share of each system is; else ""."""
    if not draw.wanted:
        return ""
    (shares,) = (column for column in draw.differing if column.by == "system")
    return _column(shares)


def shares_remark(draw: RandomDraw) -> str:
    """One sentence if no more than another share of each system is rated; else nothing."""
    if not draw.wanted:
        return ""
    return f"{_uneven(draw)}. If they were picked by how good they are, the answer is wrong."


def _uneven(draw: RandomDraw) -> str:
    """The shares of systems that are rated, and that nothing else tells rated rows."""
    return (
        f"{sentence(shares_said(draw))}; within each, rated rows look like the unrated"
    )


def _column(column: Differing) -> str:
    """`the mean 'judge' is 0.2 for rated rows, 0.6 for the others`."""
    if column.by == "system":
        names = labels(column.systems, NAME)
        most, least = (names[name] for name in column.systems)
        return (
            f"of '{most}' {percent(column.rated)} are rated, "
            f"of '{least}' {percent(column.unrated)}"
        )
    name = "number of words" if column.by == "words" else f"'{clipped(column.name)}'"
    rated = f"{column.rated:.3g}"
    unrated = f"{column.unrated:.3g}"
    if rated == unrated:
        return f"{name} is spread differently among rated rows and the others"
    return f"the mean {name} is {rated} for rated rows, {unrated} for the others"


def _order(draw: RandomDraw, column: Differing) -> str:
    """The place of rated rows in the file, in words."""
    if draw.end:
        return f"the rated rows are the {draw.end} {draw.n_rated:,} of {draw.n:,} in the file"
    apart = abs(column.rated - column.unrated)
    if apart < draw.n / 10:
        return "the rated rows stand in blocks"
    where = "before" if column.rated < column.unrated else "after"
    return f"the rated rows mostly stand {where} the others in the file"
