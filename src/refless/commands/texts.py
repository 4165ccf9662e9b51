"""Single texts in a report: which are shown, with which estimate, and why some have none."""

from collections.abc import Mapping, Sequence

from refless.data.records import Estimates, Texts
from refless.report.document import Section, Table
from refless.report.export import Cell
from refless.report.wording import percent, with_intervals

REASONS = {
    "empty": "the text is empty",
    "too-short": "fewer tokens than the highest n-gram order",
    "too-few": "too few rated texts; of bleu-neighbors too few that are similar (min_neighbors)",
    "too-many": "a larger share of the rated texts is similar than max_fraction allows",
    "too-uncertain": "its standard deviation is larger than asked for",
    "bad-row": "the row could not be read",
}


def place_columns(texts: Texts, i: int) -> dict[str, Cell]:
    """The name of a text, and where it belongs, in the columns of CSV and JSONL.

    Whoever reads them again pairs systems by item or source.
    """
    places = {
        "id": texts.ids,
        "system": texts.systems,
        "item": () if texts.items == texts.sources else texts.items,
        "source": texts.sources,
    }
    return {name: column[i] for name, column in places.items() if column}


def estimate_columns(estimates: Estimates, i: int) -> dict[str, Cell]:
    """An estimate in the columns of CSV and JSONL."""
    columns: dict[str, Cell] = {
        "estimate": float(estimates.values[i]),
        "low": float(estimates.low[i]),
        "high": float(estimates.high[i]),
    }
    if len(estimates.sd):
        columns["sd"] = float(estimates.sd[i])
    columns["support"] = int(estimates.support[i])
    columns["reason"] = estimates.reasons[i]
    return columns


def estimates_or_reasons(estimates: Estimates, rows: Sequence[int]) -> tuple[str, ...]:
    """A column of estimates with their intervals, or the reasons why there are none."""
    ends = [(float(estimates.low[i]), float(estimates.high[i])) for i in rows]
    values = with_intervals([float(estimates.values[i]) for i in rows], ends)
    return tuple(
        estimates.reasons[i] or value for i, value in zip(rows, values, strict=True)
    )


def reasons_sections(reasons: Mapping[str, int], n: int) -> tuple[Section, ...]:
    """The numbers of n texts without an estimate, by reason; nothing if all have one."""
    if not reasons:
        return ()
    rows = tuple(
        (reason, str(count), percent(count / n), REASONS.get(reason, ""))
        for reason, count in reasons.items()
    )
    header = ("reason", "texts", "share", "meaning")
    table = Table(header=header, rows=rows, numeric=(False, True, True, False))
    return (Section(title="Without an estimate", table=table),)
