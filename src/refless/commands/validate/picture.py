"""The picture that the page of validate opens with: every method, and one annotator."""

from dataclasses import replace

from refless.commands.validate.document import SEVERAL, SIDE_BY_SIDE
from refless.evaluation.leaderboard import Leaderboard
from refless.report.charts import Line, Mark, row_chart
from refless.report.document import Document, Figure, Key, Section
from refless.report.wording import number
from refless.stats.intervals import Interval

CAPTION = "Rank correlation with the people's mean rating (Spearman), with 95 % intervals."
ANNOTATOR = "one average annotator, against the mean of the others"
FOLDED = (
    "Agreement with people",
    "What the correlation is made of",
    "Raters and time",
    SEVERAL.partition("{")[0],
)


def with_picture(
    document: Document, table: Leaderboard, annotator: float, interval: Interval
) -> Document:
    """The document as a page: it opens with the methods, and folds what few readers need.

    Args:
        document: what the terminal shows, and more.
        table: the methods.
        annotator, interval: Spearman of an average annotator; NaN without annotators.
    """

    def drawn(section: Section) -> Section:
        if section.title != SIDE_BY_SIDE:
            return replace(section, folded=section.title.startswith(FOLDED))
        figure = replace(picture(table, annotator, interval), table=section.table)
        return replace(section, figures=(figure,), opening=True)

    return replace(document, sections=tuple(map(drawn, document.sections)))


def picture(table: Leaderboard, annotator: float, interval: Interval) -> Figure:
    """Spearman of each method as a point; a line and its band for an annotator, if known."""
    baselines = {*table.baselines}
    lines = [
        Line(
            name=line.name.removeprefix("the "),
            value=line.spearman,
            interval=line.spearman_interval,
            style="c3" if line.name in baselines else "c0",
        )
        for line in table.methods
        if line.spearman == line.spearman
    ]
    marks = [Mark(value=0.0, style="zero")]
    keys = [Key(name="estimators", style="knot c0"), Key(name="baselines", style="knot c3")]
    if annotator == annotator:
        marks.append(Mark(value=annotator, style="c1", interval=interval))
        keys.append(Key(name=f"{ANNOTATOR}: {number(annotator)}", style="mark c1"))
    svg = row_chart(lines, "Spearman", "Methods by Spearman", zero=True, marks=marks)
    return Figure(svg=svg, caption=CAPTION, keys=tuple(keys))
