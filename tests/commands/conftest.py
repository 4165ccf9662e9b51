"""Settings that hold for the tests of commands."""

from collections.abc import Callable, Iterator
from unittest.mock import patch

import pytest

from refless.commands.next import plan


def once(simulated: Callable[..., tuple[float, float]]) -> Callable[..., object]:
    """The function, which simulates the studies of a goal once."""
    known: dict[str, tuple[float, float]] = {}

    def of(*asked: object) -> tuple[float, float]:
        key = f"{asked} {plan.MOST}"
        if key not in known:
            known[key] = simulated(*asked)
        return known[key]

    return of


@pytest.fixture(scope="session", autouse=True)
def goals_are_planned_once() -> Iterator[None]:
    """Equal goals of plans are simulated once for all tests: each takes half a second."""
    with (
        patch.object(plan, "ratings_for", once(plan.ratings_for)),
        patch.object(plan, "reach_of", once(plan.reach_of)),
    ):
        yield
