"""pytest: the fixture `refless`, a gate that fails or skips the test, and a marker for it.

A test with the marker `refless(baseline="v1", margin=0.1)` calls `refless("evals.csv")`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from refless.commands.gate.result import GateResult


def pytest_configure(config: pytest.Config) -> None:
    """Makes the marker known."""
    config.addinivalue_line(
        "markers",
        "refless(baseline, margin, ...): what the fixture refless gives to refless.gate",
    )


@pytest.fixture
def refless(request: pytest.FixtureRequest) -> Callable[..., GateResult]:
    """Asks `refless.gate`: a gate that fails fails the test, an undecided one skips it.

    It takes rows or files, and what `refless.gate` takes; the marker's values stand in for the
    rest.
    """
    marker = request.node.get_closest_marker("refless")
    defaults: dict[str, Any] = dict(marker.kwargs) if marker else {}

    def ask(outputs: Any, **options: Any) -> GateResult:  # noqa: ANN401 - as of gate
        from refless.commands.gate.run import gate

        result = gate(outputs, **(defaults | options))
        if result.gate.verdict == "failed":
            pytest.fail(result.sentence, pytrace=False)
        if result.gate.verdict == "undecided":
            pytest.skip(result.sentence)
        return result

    return ask
