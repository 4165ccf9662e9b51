"""People's choices compared: how often each system is preferred to another."""

from collections.abc import Sequence

import numpy as np

from refless.commands.compare.board import Board, board
from refless.commands.compare.claims import counts_of
from refless.commands.compare.wins import wins
from refless.commands.compare.wins_result import WinsResult
from refless.commands.populations import Looks
from refless.data.choices import Choices, choices_in
from refless.data.human import fingerprint
from refless.data.records import RatedPool
from refless.evaluation.rating_distances import (
    repeated,
    shares_apart,
    shares_by_chance,
)
from refless.registry.arrays import BoolArray, FloatArray, codes
from refless.registry.dialect import called
from refless.registry.errors import UsageError
from refless.registry.plural import counted
from refless.registry.signature import Signature
from refless.registry.version import __version__


def compared_choices(
    pool: RatedPool,
    systems: Sequence[str],
    controls: Sequence[str] = (),
    looks: Looks = "one",
) -> WinsResult:
    """Win rates of each system over another whose texts people chose between.

    Args:
        pool: the choices; systems: in order, the old one first.
        controls: names of scores in which texts count as alike on the board.
        looks: at which the answer is to hold, one or any.
    """
    choices = choices_in(pool)
    rates = wins(pool, choices, systems, looks)
    if not rates:
        raise UsageError(f"nobody chose between {' and '.join(systems)}")
    compared = np.isin(np.array(pool.systems, dtype=object), systems)
    rows = compared[choices.first] & compared[choices.second]
    groups = len(np.unique(choices.groups[rows]))
    shares = _shares(pool, choices, rates[0].second, rows)
    signature = Signature("wins").plus(
        ties="half",
        systems=tuple(systems),
        ci="contrast",
        drawn="source",
        units=groups,
        pool=fingerprint(pool),
        v=__version__,
    )
    if controls:
        signature = signature.plus(control=tuple(controls))
    if looks != "one":
        signature = signature.plus(looks=looks)
    return WinsResult(
        board=_board(pool, choices, systems, controls, looks),
        wins=rates,
        choices=int(choices.votes[rows].sum()),
        groups=groups,
        looks=looks,
        shares=tuple(shares.tolist()) if len(rates) == 1 else (),
        alike=_alike(pool),
        raters={name: n // 2 for name, n in counts_of(pool.ratings).items()},
        signature=signature,
    )


def _alike(pool: RatedPool) -> tuple[float, float] | None:
    """Shares of two people who choose alike, and of luck; None if nobody chose what another did."""
    values, text = repeated(pool.ratings)
    if not len(values):
        return None
    (alike,) = shares_apart(values, text, [0.0])
    (luck,) = shares_by_chance(values, [0.0])
    return alike, luck


def _shares(
    pool: RatedPool, choices: Choices, second: str, rows: BoolArray
) -> FloatArray:
    """Of each source the share of its choices that the second of two systems won, ties half.

    Args:
        pool, choices, second: as of `wins`.
        rows: [k] the choices between the two.
    """
    of_second = np.array([pool.systems[i] == second for i in choices.first.tolist()])
    share = np.where(of_second, choices.share, 1 - choices.share)[rows]
    votes = choices.votes[rows]
    group = codes(choices.groups[rows].tolist())
    return np.bincount(group, share * votes) / np.bincount(group, votes)


def _board(
    pool: RatedPool,
    choices: Choices,
    systems: Sequence[str],
    controls: Sequence[str],
    looks: Looks,
) -> Board | None:
    """The board of more than two systems, or of those that are compared with controls.

    Raises:
        UsageError: a text without a value of a control, or controls with which votes tell nothing.
    """
    if len(systems) < 3 and not controls:
        return None
    for name in controls:
        missing = int(np.isnan(pool.score(name)).sum())
        if missing:
            raise UsageError(
                f"{called('control', name)}: no value in {missing:,} of "
                f"{counted(len(pool), 'text')}; fill them in, or leave their votes out"
            )
    result = board(pool, choices, systems, controls, looks)
    if result is None and controls:
        raise UsageError(
            f"{called('control', [*controls])}: with these columns held equal the votes tell no "
            "strengths. A column alone tells the systems, or the winners, apart, or votes do not "
            "connect the systems. Leave a column out"
        )
    return result
