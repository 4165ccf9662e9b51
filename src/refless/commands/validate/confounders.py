"""What a correlation is made of, in words and as a table."""

import math

from refless.evaluation.confounders import Correlation, Left, MadeOf, WithoutCopies
from refless.registry.plural import counted
from refless.report.document import Section, Table
from refless.report.wording import number, with_interval

TITLE = "What the correlation is made of"
WHAT = {
    "system": "which system wrote the text",
    "source": "which source the text answers",
    "length": "how long the text is",
}
FIXED = {"system": "within systems", "source": "within sources", "length": "given length"}
ALONE = {"system": "The system's name", "source": "The source's name", "length": "Length"}
SMALL = 0.1  # share of the correlation that is not worth a sentence
READ = (
    "Within: of texts of one system, or one source. Given length: the partial correlation. Alone: "
    "that of the mean rating of the same system or source, or of a line on length. All are within "
    "folds that one model has judged."
)


def shown(found: MadeOf) -> tuple[str, ...]:
    """What is shown to be more than half of the correlation, or a part of it, a sentence each."""
    if not found.whole.interval[0] > 0:
        return ()
    whole = number(found.whole.value)
    lines = [_line(name, left, found.whole) for name, left in found.within.items()]
    if (copies := found.copies) is not None and _lost(copies, found.whole):
        lines.append(
            f"A part of the correlation ({whole}) comes from near copies: {copies.count:,} of "
            f"{counted(copies.n, 'text')} hold most of a text that is not held out with them, or "
            f"of another source; without them it is "
            f"{_of(copies.left)}."
        )
    return tuple(filter(None, lines))


def _lost(found: Left | WithoutCopies, whole: Correlation) -> bool:
    """Whether a tenth of the correlation or more is gone, and is shown to be."""
    return found.lost_interval[0] > 0 and found.left.value <= (1 - SMALL) * whole.value


def _line(name: str, found: Left, whole: Correlation) -> str:
    if not _lost(found, whole):
        return ""
    share = "Most" if found.mostly_interval[0] > 0 else "A part"
    alone = f" {ALONE[name]} alone has {number(found.alone.value)}."
    return (
        f"{share} of the correlation ({number(whole.value)}) is {WHAT[name]}: {FIXED[name]} it is "
        f"{_of(found.left)}."
        f"{'' if math.isnan(found.alone.value) else alone}"
    )


def made_of_sections(found: MadeOf, *, whole: bool) -> tuple[Section, ...]:
    """What is left of it in a line, and what is shown; a table too, if the whole is asked for."""
    lines = shown(found)
    if whole:
        return (Section(title=TITLE, lines=(*lines, READ), table=_table(found)),)
    left = ", ".join(f"{_of(one.left)} {FIXED[name]}" for name, one in found.within.items())
    told = (f"Spearman is {number(found.whole.value)} over all texts, {left}.",) if left else ()
    return (Section(title=TITLE, lines=(*told, *lines)),) if told or lines else ()


def _table(found: MadeOf) -> Table:
    """A row for what is held fixed or left out."""
    rows = [("all texts", _of(found.whole), "-")]
    rows += [(FIXED[name], _of(one.left), _of(one.alone)) for name, one in found.within.items()]
    if found.copies is not None:
        rows.append((f"without {found.copies.count:,} near copies", _of(found.copies.left), "-"))
    return Table(header=("", "Spearman [95 %]", "alone [95 %]"), rows=tuple(rows))


def _of(found: Correlation) -> str:
    return with_interval(found.value, found.interval)
