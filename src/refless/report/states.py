"""States of cards by an interval and a bar, as gates decide."""

from refless.report.document import State
from refless.report.result import decided
from refless.stats.intervals import Interval

STATES: dict[str, State] = {"passed": "yes", "failed": "no", "undecided": "open"}


def reaches(interval: Interval, bar: float) -> State:
    """Whether a number is to be taken to reach a bar, as a card says it."""
    return STATES[decided(interval, ">=", bar)]
