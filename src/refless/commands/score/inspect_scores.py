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
        ends = (float(estimates.low[i]), float(estimates.high[i]))
        sentence = f"no estimate: {estimates.reasons[i]}"
        if not estimates.reasons[i]:
            sentence = f"estimated human rating {with_interval(value, ends)}"
        metadata = {
            "reason": estimates.reasons[i],
            "low": None if estimates.reasons[i] else ends[0],
            "high": None if estimates.reasons[i] else ends[1],
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
    named = (
        outputs.items and outputs.items != outputs.sources
    )  # which stand in for items
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
        yield {"id": name} | ({"epoch": epochs[name]} if counts[name] > 1 else {})
