"""Scores that others gave to outputs, as the rated texts have them."""

from __future__ import annotations

from collections.abc import Sequence

from refless.data.records import Outputs
from refless.registry.arrays import FloatArray
from refless.registry.errors import UsageError


def scores_for(outputs: Outputs, names: Sequence[str]) -> FloatArray:
    """[n, k] the scores of outputs by the names that the rated texts' scores have.

    Raises:
        UsageError: other scores than those of the rated texts.
    """
    lacking, more = {*names} - {*outputs.score_names}, {*outputs.score_names} - {*names}
    sides = ((lacking, "rated texts", "outputs"), (more, "outputs", "rated texts"))
    for few, there, not_there in sides:
        if few:
            raise UsageError(
                f"the {there} have scores that the {not_there} lack: {', '.join(sorted(few))}; "
                "name the same --score-column for both, or leave scores unread (gp:use_scores=no)"
            )
    return outputs.scores
