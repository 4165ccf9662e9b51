"""Scores for a log of Inspect, as its scorer `precomputed_scores` reads them."""

import json
from collections import Counter
from collections.abc import Iterator

from refless.data.records import Outputs
from refless.evaluation.scoring import Scored
from refless.registry.errors import UsageError
from refless.registry.signature import Signature
from refless.report.wording import with_interval


def inspect_scores(scored: Scored, signature: Signature) -> str:
    """A line a sample; NaN, which Inspect counts as unscored, where there is no estimate.

    Raises:
        UsageError: outputs of several systems, or samples with different numbers of epochs.
    """
    estimates = scored.estimates
    lines = []
    for i, key in enumerate(_keys(scored.outputs)):
        value = float(estimates.values[i])
        reason = estimates.reasons[i]
        low = None if reason else float(estimates.low[i])
        high = None if reason else float(estimates.high[i])
        sentence = f"no estimate: {reason}"
        if low is not None and high is not None:
            rating = with_interval(value, (low, high))
            sentence = f"estimated human rating {rating}"
        metadata = {
            "reason": reason,
            "low": low,
            "high": high,
            "support": int(estimates.support[i]),
            "signature": str(signature),
        }
        row = {**key, "value": value, "explanation": sentence, "metadata": metadata}
        lines.append(json.dumps(row) + "\n")  # with NaN, as Inspect reads and writes it
    return "".join(lines)


def _keys(outputs: Outputs) -> Iterator[dict[str, object]]:
    """The id of each output's sample, and its epoch where samples have several."""
    systems = sorted({*outputs.systems})
    if len(systems) > 1:
        raise UsageError(
            f"inspect: a log is of one model, and the outputs are of {len(systems)} "
            f"({', '.join(systems[:3])}); score the outputs of each by themselves"
        )
    # sources stand in for items that are not named
    named = outputs.items and outputs.items != outputs.sources
    samples = outputs.items if named else outputs.ids
    counts = Counter(samples)
    if len({*counts.values()}) > 1:
        raise UsageError(
            "inspect: some samples have more answers than others, so epochs cannot be told; "
            "leave out epochs in which a sample has no answer"
        )
    epochs: Counter[str] = Counter()
    for name in samples:
        epochs[name] += 1
        key: dict[str, object] = {"id": name}
        if counts[name] > 1:
            key["epoch"] = epochs[name]
        yield key
