"""The view of `refless huse`."""

from __future__ import annotations

from dataclasses import dataclass

from refless.report.parts import FORMAT
from refless.report.view import Section, Table, View, with_interval
from refless.signature import Signature
from refless.studies.huse import Huse

PARTS = {"huse": "HUSE", "quality": "HUSE-Q, quality", "diversity": "HUSE-D, diversity"}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Found:
    """HUSE from human ratings and, where asked for, from estimates of them.

    Attributes:
        rated, estimated: the two results; estimated is None where it was not asked for.
        signature: of the study; estimator: of what made the estimates.
    """

    rated: Huse
    estimated: Huse | None
    signature: Signature
    estimator: Signature | None


def huse_view(found: Found) -> View:
    """What every format shows."""
    results = {"human": found.rated}
    if found.estimated is not None:
        results["estimated"] = found.estimated
    return View(
        json={
            "format": FORMAT,
            "command": "huse",
            "signature": str(found.signature),
            "human": _as_dict(found.rated),
            "estimated": None if found.estimated is None else _as_dict(found.estimated),
            "estimator": None if found.estimator is None else str(found.estimator),
        },
        rows=[{"ratings": name, **_flat(one)} for name, one in results.items()],
        sections=_sections(found, results),
    )


def _as_dict(one: Huse) -> dict[str, object]:
    return {
        "huse": one.huse,
        "huse_interval": list(one.huse_interval),
        "quality": one.quality,
        "quality_interval": list(one.quality_interval),
        "diversity": one.diversity,
        "diversity_interval": list(one.diversity_interval),
        "n": one.n,
        "n_human": one.n_human,
        "n_left_out": one.n_left_out,
        "neighbors": one.neighbors,
    }


def _flat(one: Huse) -> dict[str, float | int]:
    return {"huse": one.huse, "quality": one.quality, "diversity": one.diversity, "n": one.n}


def _sections(found: Found, results: dict[str, Huse]) -> tuple[Section, ...]:
    rows = tuple(
        (
            label,
            *(
                with_interval(getattr(one, part), getattr(one, f"{part}_interval"), 2)
                for one in results.values()
            ),
        )
        for part, label in PARTS.items()
    )
    header = ("", *(f"{name} ratings [95 %]" for name in results))
    table = Table(header=header, rows=rows, numeric=(False, *[True] * len(results)))
    rated = found.rated
    lines = [f"{rated.n} texts, {rated.n_human} of them by people; {rated.neighbors} neighbours."]
    lines += [
        f"Left out, without rating, estimate or probability: {one.n_left_out} ({name} ratings)."
        for name, one in results.items()
        if one.n_left_out
    ]
    signatures = [found.signature, *([] if found.estimator is None else [found.estimator])]
    return (
        Section(lines=tuple(lines)),
        Section(table=table),
        Section(
            lines=(
                "1: people and model cannot be told apart; 0: they always can. HUSE-D is what the",
                "model's probabilities add to quality. Intervals are over texts.",
            )
        ),
        *(Section(lines=(f"signature: {one}",)) for one in signatures),
    )
