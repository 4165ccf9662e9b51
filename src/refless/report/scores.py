"""The view of `refless score`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from refless.records import Scale
from refless.report.parts import (
    FORMAT,
    Advice,
    advice_dict,
    advice_sections,
    mean_dict,
    reasons_section,
    signature_section,
)
from refless.report.view import Cell, Section, Table, View, clipped, number, with_interval
from refless.signature import Signature
from refless.studies.scoring import Mean, Scored

ALL_ITEMS = 20  # up to so many outputs are all shown
ENDS = 5  # else so many of the lowest and of the highest


def scored_view(
    scored: Scored, signature: Signature, scale: Scale | None, advice: Advice | None
) -> View:
    """The view of `refless score`."""
    json = {
        "format": FORMAT,
        "command": "score",
        "signature": str(signature),
        **mean_dict(scored.overall),
        "reasons": scored.reasons,
        "systems": {name: mean_dict(mean) for name, mean in scored.systems.items()},
        "in_scale": _in_scale(scored.overall, scale),
        "advice": advice_dict(advice),
        "items": [_item(scored, i) for i in range(len(scored.outputs))],
    }
    sections = (
        *summary_sections(scored, scale, advice),
        *_items_sections(scored),
        signature_section(signature),
    )
    return View(
        json=json, rows=[row_of(scored, i) for i in range(len(scored.outputs))], sections=sections
    )


def summary_sections(
    scored: Scored, scale: Scale | None, advice: Advice | None
) -> tuple[Section, ...]:
    """What all outputs add up to: the mean, the systems, the reasons of abstention."""
    return (
        *advice_sections(advice),
        Section(lines=(_mean_sentence(scored.overall, scale),)),
        *_systems_section(scored),
        *reasons_section(scored.reasons, len(scored.outputs)),
    )


def _in_scale(mean: Mean, scale: Scale | None) -> dict[str, object] | None:
    if scale is None:
        return None
    low, high = scale
    raw = [value * (high - low) + low for value in (mean.mean, *mean.interval)]
    return {"scale": [low, high], "mean": raw[0], "mean_interval": raw[1:]}


def _item(scored: Scored, i: int) -> dict[str, object]:
    estimates = scored.estimates
    return {
        "id": estimates.ids[i],
        "estimate": float(estimates.values[i]),
        "interval": [float(estimates.low[i]), float(estimates.high[i])],
        "sd": _sd(scored, i),
        "support": int(estimates.support[i]),
        "reason": estimates.reasons[i],
    }


def row_of(scored: Scored, i: int) -> dict[str, Cell]:
    """An output as CSV and JSONL have it."""
    estimates, systems = scored.estimates, scored.outputs.systems
    return {
        "id": estimates.ids[i],
        **({"system": systems[i]} if systems else {}),
        "estimate": float(estimates.values[i]),
        "low": float(estimates.low[i]),
        "high": float(estimates.high[i]),
        **({"sd": _sd(scored, i)} if len(estimates.sd) else {}),
        "support": int(estimates.support[i]),
        "reason": estimates.reasons[i],
        "text": scored.outputs.texts[i],
    }


def _sd(scored: Scored, i: int) -> float | None:
    """Standard deviation of an estimate; None from an estimator that has none."""
    sd = scored.estimates.sd
    return float(sd[i]) if len(sd) else None


def _mean_sentence(mean: Mean, scale: Scale | None) -> str:
    counted = f"{mean.n_scored} of {mean.n} outputs (coverage {number(mean.coverage)})"
    if not mean.n_scored:
        return f"No output has an estimate: {counted}."
    sentence = f"Mean estimate {with_interval(mean.mean, mean.interval)} over {counted}."
    if scale is None:
        return sentence
    low, high = scale
    raw = [value * (high - low) + low for value in (mean.mean, *mean.interval)]
    return (
        f"{sentence} On the raters' scale {low:g} to {high:g}: {with_interval(raw[0], raw[1:], 2)}."
    )


def _systems_section(scored: Scored) -> tuple[Section, ...]:
    if len(scored.systems) < 2:
        return ()
    ranked = sorted(scored.systems.items(), key=lambda pair: (-_or_low(pair[1].mean), pair[0]))
    rows = tuple(
        (
            clipped(name, 30),
            with_interval(mean.mean, mean.interval),
            number(mean.coverage),
            str(mean.n),
        )
        for name, mean in ranked
    )
    header = ("system", "mean estimate", "coverage", "outputs")
    table = Table(header=header, rows=rows, numeric=(False, True, True, True))
    return (Section(title="Systems", table=table),)


def _or_low(value: float) -> float:
    return -math.inf if math.isnan(value) else value


def _items_sections(scored: Scored) -> tuple[Section, ...]:
    values = scored.estimates.values.tolist()
    n = len(values)
    if n <= ALL_ITEMS:
        return (Section(title="Outputs", table=_items_table(scored, range(n))),) if n else ()
    defined = sorted((value, i) for i, value in enumerate(values) if not math.isnan(value))
    if len(defined) < 2 * ENDS:
        return ()
    lowest, highest = defined[:ENDS], defined[: -ENDS - 1 : -1]
    return (
        Section(title="Lowest estimates", table=_items_table(scored, [i for _, i in lowest])),
        Section(title="Highest estimates", table=_items_table(scored, [i for _, i in highest])),
        Section(lines=("All of them: add -o estimates.csv",)),
    )


def _items_table(scored: Scored, which: Sequence[int]) -> Table:
    e, texts = scored.estimates, scored.outputs.texts
    rows = tuple(
        (
            clipped(e.ids[i], 12),
            estimate_of(scored, i),
            str(e.support[i]),
            clipped(texts[i], 34),
        )
        for i in which
    )
    header = ("id", "estimate", "support", "text")
    return Table(header=header, rows=rows, numeric=(False, False, True, False))


def estimate_of(scored: Scored, i: int) -> str:
    """An estimate with its interval, or the reason why there is none."""
    e = scored.estimates
    ends = float(e.low[i]), float(e.high[i])
    return e.reasons[i] or with_interval(float(e.values[i]), ends, 2)
