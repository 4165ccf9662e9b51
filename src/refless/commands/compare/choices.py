"""People's choices compared: how often each system is preferred to another."""

from collections.abc import Sequence

import numpy as np

from refless.commands.compare.board import board
from refless.commands.compare.gates import gate_on
from refless.commands.compare.wins import Wins, wins
from refless.commands.compare.wins_result import WinsResult
from refless.data.choices import choices_in
from refless.data.human import fingerprint
from refless.data.records import RatedPool
from refless.registry.errors import UsageError
from refless.registry.signature import Signature
from refless.registry.version import __version__
from refless.report.result import GateRecord


def compared_choices(
    pool: RatedPool, systems: Sequence[str], margin: float, *, gated: bool
) -> WinsResult:
    """Win rates of each system over another whose texts people chose between.

    Args:
        pool: the choices; systems: in order, the old one first.
        margin, gated: by how much the second may be worse, and whether there is a gate.
    """
    rates = wins(pool, systems)
    if not rates:
        raise UsageError(f"nobody chose between {' and '.join(systems)}")
    choices = choices_in(pool)
    compared = np.isin(np.array(pool.systems, dtype=object), systems)
    rows = compared[choices.first] & compared[choices.second]
    groups = len(np.unique(choices.groups[rows]))
    signature = Signature("wins").plus(
        ties="half",
        systems=tuple(systems),
        ci="contrast",
        drawn="source",
        units=groups,
        pool=fingerprint(pool),
        v=__version__,
    )
    gate = GateRecord()
    if gated:
        gate = _gate(rates[0], 0.5 - margin)
        signature = signature.plus(margin=margin)
    return WinsResult(
        board=board(pool, systems) if len(systems) > 2 else None,
        wins=rates,
        choices=int(choices.votes[rows].sum()),
        groups=groups,
        gate=gate,
        signature=signature,
    )


def _gate(pair: Wins, least: float) -> GateRecord:
    """The gate on the win rate of the second system."""
    few = "the choices are of one source"
    ends = pair.by_item.interval
    return gate_on(
        pair.second, "win rate", ends, least, f"wins less than {least:g}", few
    )
