"""Results -> views: what each command says, in every format."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from refless.estimators import Explanation
from refless.records import Scale
from refless.report.view import Cell, Section, Table, View, clipped, number, with_interval
from refless.signature import Signature
from refless.studies.annotators import as_dict as annotators_dict
from refless.studies.held_out import Agreement
from refless.studies.held_out import as_dict as agreement_dict
from refless.studies.scoring import Mean, Scored
from refless.studies.validation import Validation

FORMAT = 1
ALL_ITEMS = 20  # up to so many outputs are all shown
ENDS = 5  # else so many of the lowest and of the highest
MEASURES = {"mse": 4, "mae": 4, "pearson": 3, "spearman": 3, "kendall": 3, "auc": 3}  # digits
REASONS = {
    "empty": "the text is empty",
    "too-short": "fewer tokens than the highest n-gram order",
    "too-few": "fewer rated texts are similar than min_neighbors asks for",
    "too-many": "a larger share of the rated texts is similar than max_fraction allows",
    "bad-row": "the row could not be read",
}
NO_YARDSTICK = "No human yardstick possible: the ratings do not say who gave them."


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What to do where too many texts have no estimate.

    Attributes:
        sentence: why there are so few.
        name: what does better.
        command: the line that runs it.
        mean, agreement: its result beside ours (one of them).
        signature: what made that result.
    """

    sentence: str
    name: str
    command: str
    signature: Signature
    mean: Mean | None = None
    agreement: Agreement | None = None


def scored_view(
    scored: Scored, signature: Signature, scale: Scale | None, advice: Advice | None
) -> View:
    """The view of `refless score`."""
    json = {
        "format": FORMAT,
        "command": "score",
        "signature": str(signature),
        **_mean_dict(scored.overall),
        "reasons": scored.reasons,
        "systems": {name: _mean_dict(mean) for name, mean in scored.systems.items()},
        "in_scale": _in_scale(scored.overall, scale),
        "advice": _advice_dict(advice),
        "items": [_item(scored, i) for i in range(len(scored.outputs))],
    }
    sections = (
        *_advice_sections(advice),
        Section(lines=(_mean_sentence(scored.overall, scale),)),
        *_systems_section(scored),
        *_reasons_section(scored.reasons, len(scored.outputs)),
        *_items_sections(scored),
        _signature_section(signature),
    )
    return View(
        json=json, rows=[_row(scored, i) for i in range(len(scored.outputs))], sections=sections
    )


def _mean_dict(mean: Mean) -> dict[str, object]:
    return {
        "mean": mean.mean,
        "mean_interval": list(mean.interval),
        "coverage": mean.coverage,
        "n": mean.n,
        "n_scored": mean.n_scored,
    }


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
        "support": int(estimates.support[i]),
        "reason": estimates.reasons[i],
    }


def _row(scored: Scored, i: int) -> dict[str, Cell]:
    estimates, systems = scored.estimates, scored.outputs.systems
    return {
        "id": estimates.ids[i],
        **({"system": systems[i]} if systems else {}),
        "estimate": float(estimates.values[i]),
        "low": float(estimates.low[i]),
        "high": float(estimates.high[i]),
        "support": int(estimates.support[i]),
        "reason": estimates.reasons[i],
        "text": scored.outputs.texts[i],
    }


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


def _reasons_section(reasons: Mapping[str, int], n: int) -> tuple[Section, ...]:
    if not reasons:
        return ()
    rows = tuple(
        (reason, str(count), f"{count / n:.0%}", REASONS.get(reason, ""))
        for reason, count in reasons.items()
    )
    header = ("reason", "texts", "share", "meaning")
    table = Table(header=header, rows=rows, numeric=(False, True, True, False))
    return (Section(title="Without an estimate", table=table),)


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
            e.reasons[i]
            or with_interval(float(e.values[i]), (float(e.low[i]), float(e.high[i])), 2),
            str(e.support[i]),
            clipped(texts[i], 34),
        )
        for i in which
    )
    header = ("id", "estimate", "support", "text")
    return Table(header=header, rows=rows, numeric=(False, False, True, False))


def validation_view(result: Validation, advice: Advice | None) -> View:
    """The view of `refless validate`."""
    yardstick = result.annotators
    json = {
        "format": FORMAT,
        "command": "validate",
        "signature": str(result.signature),
        "n": len(result.pool),
        "estimator": agreement_dict(result.estimator),
        "baselines": {name: agreement_dict(a) for name, a in result.baselines.items()},
        "annotators": None if yardstick is None else annotators_dict(yardstick),
        "annotators_reason": NO_YARDSTICK if yardstick is None else "",
        "in_scale": _errors_in_scale(result.estimator, result.pool.scale),
        "advice": _advice_dict(advice),
    }
    count = f"{result.estimator.n_scored} of {result.estimator.n} rated texts"
    sections = (
        *_advice_sections(advice),
        Section(
            title="Agreement with people, each text judged without its own rating",
            lines=(f"{count} have an estimate (coverage {number(result.estimator.coverage)}).",),
            table=_agreement_table(result),
        ),
        *_better_section(advice),
        *((Section(lines=(NO_YARDSTICK,)),) if yardstick is None else ()),
        *_reasons_section(result.estimator.reasons, result.estimator.n),
        _undefined_section(result.estimator),
        _signature_section(result.signature),
    )
    shown = tuple(section for section in sections if section.lines or section.table)
    return View(json=json, rows=_judged_rows(result), sections=shown)


def _errors_in_scale(agreement: Agreement, scale: Scale | None) -> dict[str, object] | None:
    if scale is None:
        return None
    span = scale[1] - scale[0]
    return {
        "scale": list(scale),
        "estimator": {"mse": agreement.mse * span**2, "mae": agreement.mae * span},
    }


def _agreement_table(result: Validation) -> Table:
    """One row a measure, one column a judge."""
    constant, length = result.baselines["constant"], result.baselines["length_only"]
    names = [name for name in MEASURES if name != "auc" or not math.isnan(result.estimator.auc)]
    columns: dict[str, list[str]] = {
        "estimator [95 %]": [_measure(result.estimator, name) for name in names],
        "constant": [_bare(constant, n) if n in {"mse", "mae"} else "-" for n in names],
        "length": [_bare(length, n) for n in names],
    }
    if result.annotators is not None:
        for kind, short in (("average", "mean"), ("best", "best")):
            values: Mapping[str, float] = getattr(result.annotators, kind)
            columns[f"{short} rater"] = [number(values.get(n), MEASURES[n]) for n in names]
    rows = tuple(zip(map(_title, names), *columns.values(), strict=True))
    header = ("", *columns)
    return Table(header=header, rows=rows, numeric=(False, *[True] * len(columns)))


def _better_section(advice: Advice | None) -> tuple[Section, ...]:
    """The same measures of what does better."""
    if advice is None or advice.agreement is None:
        return ()
    found = advice.agreement
    names = [name for name in MEASURES if name != "auc" or not math.isnan(found.auc)]
    table = Table(
        header=("", f"{advice.name} [95 %]"),
        rows=tuple((_title(name), _measure(found, name)) for name in names),
        numeric=(False, True),
    )
    return (Section(title=f"Beside it, at coverage {number(found.coverage)}", table=table),)


def _title(name: str) -> str:
    return {"mse": "MSE", "mae": "MAE", "auc": "AUC"}.get(name, name.capitalize())


def _measure(agreement: Agreement, name: str) -> str:
    return with_interval(getattr(agreement, name), agreement.intervals[name], MEASURES[name])


def _bare(agreement: Agreement, name: str) -> str:
    return number(getattr(agreement, name), MEASURES[name])


def _undefined_section(agreement: Agreement) -> Section:
    lines = tuple(
        f"{_title(name)} is undefined: {why}." for name, why in agreement.undefined.items()
    )
    return Section(lines=lines)


def _judged_rows(result: Validation) -> list[Mapping[str, Cell]]:
    pool, estimates = result.pool, result.estimates
    return [
        {
            "id": pool.ids[i],
            "human": float(pool.truth[i]),
            "estimate": float(estimates.values[i]),
            "low": float(estimates.low[i]),
            "high": float(estimates.high[i]),
            "support": int(estimates.support[i]),
            "reason": estimates.reasons[i],
            "text": pool.texts[i],
        }
        for i in range(len(pool))
    ]


def explanation_view(text: str, found: Explanation, signature: Signature, most: int) -> View:
    """The view of `refless explain`."""
    rows: list[Mapping[str, Cell]] = [
        {
            "id": neighbor.id,
            "similarity": neighbor.similarity,
            "rating": neighbor.rating,
            "share": neighbor.share,
            "n_ratings": neighbor.n_ratings,
            "shared": " | ".join(neighbor.shared),
            "text": neighbor.text,
        }
        for neighbor in found.neighbors
    ]
    json = {
        "format": FORMAT,
        "command": "explain",
        "signature": str(signature),
        "text": text,
        "estimate": found.estimate,
        "interval": [found.low, found.high],
        "reason": found.reason,
        "support": found.support,
        "size": found.size,
        "neighbors": [
            {**row, "shared": list(neighbor.shared)}
            for row, neighbor in zip(rows, found.neighbors, strict=True)
        ],
    }
    return View(json=json, rows=rows, sections=_explanation_sections(text, found, signature, most))


def _explanation_sections(
    text: str, found: Explanation, signature: Signature, most: int
) -> tuple[Section, ...]:
    value = with_interval(found.estimate, (found.low, found.high))
    why = f"No estimate ({found.reason}): {REASONS.get(found.reason, '')}."
    lines = (
        f'"{clipped(text, 200)}"',
        f"Estimate {value}" if not found.reason else why,
        f"{found.support} of {found.size} rated texts are similar enough.",
    )
    rows = tuple(
        (
            number(n.similarity),
            number(n.rating),
            clipped(n.id, 10),
            f"{clipped(n.text, 42)}\n{clipped('shares ' + ', '.join(map(repr, n.shared)), 42)}",
        )
        for n in found.neighbors[:most]
    )
    header = ("similarity", "rating", "id", "rated text, and what both hold")
    table = Table(header=header, rows=rows, numeric=(True, True, False, False)) if rows else None
    more = found.support - len(rows)
    rest = (f"{more} more: raise --most.",) if more > 0 and rows else ()
    return (
        Section(lines=lines),
        Section(title="Evidence, most similar first", table=table),
        Section(lines=rest),
        _signature_section(signature),
    )


def _advice_dict(advice: Advice | None) -> dict[str, object] | None:
    if advice is None:
        return None
    return {
        "reason": advice.sentence,
        "name": advice.name,
        "command": advice.command,
        "signature": str(advice.signature),
        "mean": None if advice.mean is None else _mean_dict(advice.mean),
        "agreement": None if advice.agreement is None else agreement_dict(advice.agreement),
    }


def _advice_sections(advice: Advice | None) -> tuple[Section, ...]:
    if advice is None:
        return ()
    lines = [advice.sentence]
    if advice.mean is not None:
        mean = with_interval(advice.mean.mean, advice.mean.interval)
        lines.append(f"The {advice.name} gives {mean} at coverage {number(advice.mean.coverage)}.")
    if advice.agreement is not None:
        spearman = _measure(advice.agreement, "spearman")
        lines.append(
            f"The {advice.name} has Spearman {spearman} at coverage "
            f"{number(advice.agreement.coverage)}."
        )
    warning = Section(lines=tuple(lines), warning=True)
    return (warning, Section(lines=("To use it:", f"  {advice.command}")))


def _signature_section(signature: Signature) -> Section:
    return Section(lines=(f"signature: {signature}",))
