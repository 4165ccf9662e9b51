"""More items that would decide a difference of two systems, or a preference."""

from __future__ import annotations

import math
from dataclasses import replace

from refless.evaluation.comparing import Pair
from refless.evaluation.further import NOTHING_MORE, REACH, Further, told_by
from refless.evaluation.outlook import outlook_of
from refless.stats.answers import Answer
from refless.stats.forecast import Progress, Today


def further_of(pair: Pair, bar: float = 0.0, *, these: bool) -> Further:
    """More ratings of the items that there are; if they would not do, more items.

    Args:
        pair: the difference; bar: on one side of which it is to lie.
        these: whether the question is about these items alone.
    """
    if not bar and pair.shown:
        return NOTHING_MORE
    if pair.look is not None and not bar:
        going_on = pair.look.upcoming is not None
        end = pair.look.planned if going_on else None
        return Further(count=end, of="plan", chance=pair.look.chance)
    if pair.difference.error == 0:  # all that is asked about is rated
        return Further(of="ratings")
    further = _forecast(pair, bar, these=these)
    if pair.method == "estimates":
        return further
    return told_by(min(pair.independent), further)


def _forecast(pair: Pair, bar: float, *, these: bool) -> Further:
    """The same, of however few ratings."""
    if not bar and pair.further:
        return Further(count=pair.further, of="ratings")
    today = pair.today(these=these)
    if today is None:
        return Further()
    progress = pair.progress
    units = progress.common if progress.paired else sum(progress.every)
    items_in_unit = pair.items / units
    rated = pair.both_rated if pair.paired else pair.rated
    here = outlook_of(pair.difference, today, bar)
    if here.needed is not None:
        more = max(math.ceil(here.needed * items_in_unit) - rated, 1)
        return Further(count=more, of="ratings")
    if these:
        return Further(of="ratings")
    alone = pair.powered.alone
    beyond = outlook_of(pair.difference, _with_more_items(progress, alone), bar).needed
    new = None
    if beyond is not None:
        new = max(math.ceil(beyond * items_in_unit) - pair.items, 1)
    left = pair.items - rated
    return Further(count=new, of="items", left=left, chance=here.chance)


def further_choices(rate: Answer, sources: int, even: float, bar: float) -> Further:
    """More sources with choices, for a win rate to lie on one side of a bar.

    Args:
        rate: the win rate; sources: behind it; even: the rate of no preference.
        bar: on one side of which it is to lie.
    """
    if not rate.error > 0:
        return Further()
    progress = Progress(rated=(float(sources),), every=(float(sources),))
    centred = rate.beyond(even)
    needed = outlook_of(centred, _with_more_items(progress, rate), bar - even).needed
    count = None if needed is None else max(math.ceil(needed - sources), 1)
    return told_by(sources, Further(count=count, of="items"))


def _with_more_items(progress: Progress, alone: Answer) -> Today:
    """The ratings of today as a part of many times the items; estimates are not counted on."""
    every = tuple(REACH * units for units in progress.every)
    larger = replace(progress, every=every, common=REACH * progress.common)
    return Today(progress=larger, error=alone.error, freedom=alone.freedom)
