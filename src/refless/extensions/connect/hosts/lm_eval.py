"""lm-evaluation-harness: the metric `refless`, and `nanmean` over outputs with an estimate.

A task's YAML names it with `metric: !function refless_metric.refless`, where refless_metric.py
beside it is one line: `from refless.extensions.connect.hosts.lm_eval import refless`.
"""

from __future__ import annotations

from collections.abc import Sequence

from refless.extensions.connect.hosts import judged


def refless(
    predictions: Sequence[str],
    references: Sequence[str] = (),  # noqa: ARG001 - lm-eval gives them; nothing is compared
    *,
    model: str,
    **_: object,
) -> float:
    """The estimate of one output; NaN, which `nanmean` leaves out, where there is none.

    lm-eval gives metrics no source: fit the estimator without one (`gp:use_source=no`).

    Args:
        predictions: the output.
        model: folder of `refless fit`, a key of the metric in the task's YAML.
    """
    return judged(model, predictions[0]).value
