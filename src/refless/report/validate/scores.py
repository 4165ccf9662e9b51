"""What texts add to scores of others, and these to texts, in words."""

from refless.report.document import Section
from refless.report.wording import number, with_interval
from refless.studies.beside_scores import TOGETHER, BesideScores
from refless.studies.differences import Difference
from refless.studies.side_by_side import SideBySide


def scores_section(found: BesideScores, table: SideBySide) -> Section:
    """The sentences under a heading."""
    return Section(title=f"Texts and {_named(found)}", lines=said(found, table))


def said(found: BesideScores, table: SideBySide) -> tuple[str, ...]:
    """What the texts add to the scores, and what the scores add to the texts.

    "Better" and "less well" are said where the interval of the difference leaves out 0.
    """
    scores = _named(found)
    rho = {line.name: number(line.spearman) for line in table.methods}
    alone = found.scores
    if len(found.columns) > 1:
        every = found.scores == TOGETHER
        alone = f"{scores} alone" if every else f"the best of the scores, {alone}"
    pair = f"Spearman {rho[found.both]} against {{}}, difference {{}}"
    texts = pair.format(rho[found.scores], _gap(found.texts_add))
    others = pair.format(rho[found.texts], _gap(found.scores_add))
    both, nothing = f"Texts and {scores} together", "that can be shown"
    return (
        _chosen(
            found.texts_add,
            f"{both} agree with people better than {alone}: {texts}.",
            f"The texts add nothing to {scores} {nothing}: {both[:1].lower()}{both[1:]} have "
            f"{texts}.",
            f"{both} agree with people less well than {alone}: {texts}.",
        ),
        _chosen(
            found.scores_add,
            f"{both} agree with people better than the texts alone: {others}.",
            f"To the texts {scores} {_adds(found)} nothing {nothing}: {others}.",
            f"{both} agree with people less well than the texts alone: {others}.",
        ),
    )


def _chosen(gap: Difference, better: str, unclear: str, worse: str) -> str:
    low, high = gap.interval
    return better if low > 0 else worse if high < 0 else unclear


def _gap(gap: Difference) -> str:
    return with_interval(gap.value, gap.interval)


def _named(found: BesideScores) -> str:
    return found.columns[0] if len(found.columns) == 1 else "the scores"


def _adds(found: BesideScores) -> str:
    return "adds" if len(found.columns) == 1 else "add"
