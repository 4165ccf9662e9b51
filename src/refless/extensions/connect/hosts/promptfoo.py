"""promptfoo: an assertion of type python, `file://refless_assert.py`.

That file, beside promptfoo's own, is one line:

    from refless.extensions.connect.hosts.promptfoo import get_assert

promptfoo calls `get_assert` with the assertion's config: `model`, a folder of `refless fit`;
`min`, the least estimate that passes; `source`, the variable that is what the output answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from refless.extensions.connect.hosts import judged, text_in
from refless.registry.errors import UsageError

KNOWN = ("model", "min", "source")


def get_assert(output: str, context: Mapping[str, Any]) -> dict[str, Any]:
    """Passes where the estimate is `min` or more, and where there is none.

    promptfoo has no unscored: an output without an estimate passes, with its reason. Read the
    metrics, not the score: `refless` is over outputs with an estimate, and `refless_coverage` is
    their share.

    Raises:
        UsageError: a config without a model, or with something unknown.
    """
    config = context.get("config") or {}
    if "model" not in config or {*config} - {*KNOWN}:
        raise UsageError(
            f"config takes {', '.join(KNOWN)}, and needs a model; got {[*config]}"
        )
    source = text_in(context.get("vars"), config.get("source"))
    result = judged(config["model"], output, source)
    if not result.known:
        return {
            "pass": True,
            "score": 1.0,
            "reason": result.said,
            "named_scores": {"refless_coverage": 0.0},
        }
    passed = True
    reason = result.said
    if "min" in config:
        least = float(config["min"])
        passed = result.value >= least
        negation = "not " if passed else ""
        reason += f"; {negation}below {least:g}"
    return {
        "pass": passed,
        "score": result.value,
        "reason": reason,
        "named_scores": {"refless": result.value, "refless_coverage": 1.0},
    }
