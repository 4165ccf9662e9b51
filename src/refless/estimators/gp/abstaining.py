"""Which outputs have no estimate, and why."""

from __future__ import annotations

import numpy as np

from refless.data.records import Outputs, Reason
from refless.registry.arrays import FloatArray

ROUNDING = 1e-9  # a share of 0.57 of 100 outputs is 57 of them


def reasons_of(
    outputs: Outputs,
    values: FloatArray,
    sd: FloatArray,
    max_sd: float | None,
    share: float | None,
) -> tuple[Reason, ...]:
    """[n] why an output has no estimate, "" where it has one.

    Args:
        outputs: [n]; values, sd: [n] estimates and standard deviations, NaN where undefined.
        max_sd: the largest deviation; None for no limit.
        share: of the outputs, the most certain ones; None for all.
    """
    reasons: list[Reason] = []
    for i, text in enumerate(outputs.texts):
        if outputs.bad and outputs.bad[i]:
            reasons.append("bad-row")
        elif not text.strip():
            reasons.append("empty")
        elif np.isnan(values[i]):
            reasons.append("too-few")
        elif max_sd is not None and sd[i] > max_sd:
            reasons.append("too-uncertain")
        else:
            reasons.append("")
    if share is not None:
        known = [i for i, reason in enumerate(reasons) if not reason]
        known.sort(key=lambda i: (sd[i], outputs.texts[i], outputs.ids[i]))
        for i in known[int(np.ceil(share * len(reasons) - ROUNDING)) :]:
            reasons[i] = "too-uncertain"
    return tuple(reasons)
