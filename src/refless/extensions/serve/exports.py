"""Ratings as files at any moment: pseudonyms of raters, never their names."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from io import BytesIO
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import sqlalchemy as sa
from sqlalchemy import Connection

from refless.data.rows import NAMED
from refless.extensions.serve import schema as sql
from refless.extensions.serve.adjudication import TURN, decided
from refless.extensions.serve.assignment import AUDIT, REPEAT
from refless.extensions.serve.items import FIXED, RETIRED, settings_in
from refless.extensions.serve.result import Ask
from refless.extensions.serve.schema import (
    TIE,
    assigned,
    events,
    items,
    raters,
)
from refless.report.export import as_csv, as_jsonl

Row = dict[str, Any]
Export = Callable[[Connection], str | bytes]
OUTPUTS = "outputs.jsonl"
EVERYTHING = "everything.zip"
BEFORE = "before.jsonl"
COMPARED = "compared.jsonl"
CERTIFIED = "certified.jsonl"  # the ratings on which a certificate rests
WAITING = "waiting"  # drawn, before all drawn earlier are rated
SHOWN = ("round", "position", "sides", "stream", "probability")  # columns of an event


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The content of a database at one moment; any process can read it, also while it is served.

    Attributes:
        ask, scale, scales, dimensions, seed: how raters are asked.
        names: of items, by their number less 1; texts: the rows of each one's texts.
        current: ratings and skips that hold now; adjudicate: by how much raters may differ.
        drawn: the first items, to this one, are those that were drawn at random, but for gold.
        gold: numbers of items whose right ratings are known.
    """

    ask: Ask
    scale: tuple[float, float]
    scales: dict[str, tuple[float, float]]
    dimensions: tuple[str, ...]
    seed: int
    names: tuple[str, ...]
    texts: tuple[tuple[Row, ...], ...]
    current: Sequence[Any]
    drawn: int
    gold: frozenset[int] = frozenset()
    adjudicate: float = 0.0

    @property
    def probability(self) -> float | None:
        """The chance of an item without a known rating to have been drawn at random."""
        n = len(self.texts) - len(self.gold)
        gold_drawn = sum(item <= self.drawn for item in self.gold)
        return (self.drawn - gold_drawn) / n if n else None

    def standing(self, *, first: bool = False) -> list[Any]:
        """Ratings that count: a decision replaces those of its item, unless first ones count."""
        by_item: dict[int, list[Any]] = {}
        for row in self.current:
            by_item.setdefault(row.item, []).append(row)
        apart = 0.0 if first else self.adjudicate
        verdicts = {
            item: decided(rows, apart)[1]
            for item, rows in by_item.items()
            if apart and item not in self.gold
        }
        rows = []
        for row in self.current:
            verdict = verdicts.get(row.item)
            counts = row in verdict if verdict else row.round != TURN
            if counts and row.kind != "skipped" and row.stream != REPEAT:
                rows.append(row)
        return rows


def snapshot(db: Connection) -> Snapshot:
    """The content of a database now."""
    values = settings_in(db)
    gold = json.loads(values.get("gold", "[]"))
    settled = {name: json.loads(values[name]) for name in FIXED}
    rows = db.execute(sa.select(items).order_by(items.c.id)).all()
    units = [_texts_of(row) for row in rows]
    texts = [*chain(*units)]
    columns = [name for name in NAMED if any(text.get(name) for text in texts)]
    retired = {*json.loads(values.get(RETIRED, "[]"))}
    unasked = [
        row.id
        for row, unit in zip(rows, units, strict=True)
        if retired and unit[0]["system"] in retired
    ]
    drawn = db.execute(sql.DRAWN, {"passed": [*gold, *unasked]}).scalar() or 0
    return Snapshot(
        ask=settled["ask"],
        scale=tuple(settled["scale"]),
        scales=settled["scales"],
        dimensions=tuple(settled["dimensions"]),
        seed=settled["seed"],
        names=tuple(row.name for row in rows),
        texts=tuple(_in_columns(unit, columns) for unit in units),
        drawn=drawn,
        gold=frozenset(gold),
        current=db.execute(sql.CURRENT_ROWS).all(),
        adjudicate=json.loads(values.get("adjudicate", "0")),
    )


def _in_columns(texts: list[Row], columns: list[str]) -> tuple[Row, ...]:
    return tuple({name: text[name] for name in columns} for text in texts)


def _texts_of(item: Any) -> list[Row]:  # noqa: ANN401 - a row
    """The rows of an item's texts, with what they share."""
    shared = {name: getattr(item, name) for name in ("source", "item", "task")}
    return [shared | text for text in json.loads(item.texts)]


def ratings_of(
    state: Snapshot, *, audit: bool = False, first: bool = False
) -> list[Row]:
    """One row a rating: what holds now, without second ratings of one item by one rater.

    `probability` is the chance that the item was drawn at random; items that were only chosen, or
    that wait for others, have none. What was rated of pairs, or chosen among several, names texts
    in place of a number.

    Args:
        state: what there is now.
        audit: whether items that were only chosen are left out.
        first: whether ratings that somebody decided about count, in place of the decision.
    """
    rows = []
    for rating in state.standing(first=first):
        by_lot = rating.item <= state.drawn and rating.item not in state.gold
        if audit and not by_lot:
            continue
        waits = rating.stream == AUDIT and not by_lot
        details = {
            "annotator": rating.rater_name,
            "timestamp": _time(rating.at),
            "stream": WAITING if waits else rating.stream,
        }
        if len(state.dimensions) > 1:
            details["dimension"] = rating.dimension
        details["probability"] = state.probability if by_lot else None
        rated = _rated(state, rating.item - 1, rating.value)
        rows += [row | details for row in rated]
    return rows


def repeats_of(now: Snapshot, dimension: str) -> list[tuple[float, float]]:
    """Both ratings of each item that a rater was shown twice."""
    pairs: dict[tuple[int, int], dict[int, float]] = {}
    for row in now.current:
        if row.kind != "skipped" and row.dimension == dimension and row.round < TURN:
            pairs.setdefault((row.rater, row.item), {})[row.round] = row.value
    return [(both[0], both[1]) for both in pairs.values() if len(both) > 1]


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")


def _rated(now: Snapshot, place: int, value: float) -> list[Row]:
    """The item with its rating; or the text that was chosen, beside each that was not."""
    texts = now.texts[place]
    if now.ask == "rating":
        return [{**texts[0], "rating": value}]
    about = {**texts[0], "id": now.names[place]}
    for name in ("text", "system"):
        about.pop(name, None)
    tie = value == TIE
    best = texts[0 if tie else int(value)]
    losers = [text for text in texts if text is not best]
    rows = []
    for k, loser in enumerate(losers, 1):
        row = about | {
            "chosen": best["text"],
            "rejected": loser["text"],
            "chosen_system": best.get("system", ""),
            "rejected_system": loser.get("system", ""),
            "tie": tie,
        }
        if len(losers) > 1:
            row["id"] = f"{about['id']} {k}"
        rows.append(row)
    return rows


def _ratings(form: Callable[[list[Row]], str | bytes], **options: bool) -> Export:
    return lambda db: form(ratings_of(snapshot(db), **options))


def _label_studio(db: Connection) -> str:
    """Label Studio's full JSON export: skips are cancelled; reasons and flags are comments."""
    now = snapshot(db)
    tasks: dict[int, Row] = {}
    annotations: dict[int, Row] = {}
    skips = [row for row in now.current if row.kind == "skipped"]
    for row in (*now.standing(), *skips, *db.execute(sql.FLAGGED)):
        texts = now.texts[row.item - 1]
        data = {**texts[0], "scale": now.scale}
        if len(texts) > 1:
            del data["text"]
            data |= {f"text{k}": text["text"] for k, text in enumerate(texts, 1)}
        task = tasks.setdefault(
            row.item, {"id": row.item, "data": data, "annotations": []}
        )
        annotation = annotations.get(row.assigned)
        if annotation is None:
            annotation = annotations[row.assigned] = {
                "id": row.assigned, "completed_by": row.rater, "was_cancelled": False,
                "created_at": _time(row.at), "result": [],
            }  # fmt: skip
            task["annotations"].append(annotation)
        name = row.kind
        kind = "textarea"
        value = {"text": [row.reason]}
        if row.kind not in {"skipped", "flagged"}:
            name = row.dimension
            kind, value = _label_studio_value(now.ask, row.value, texts)
        annotation["was_cancelled"] |= row.kind == "skipped"
        annotation["result"].append(
            {
                "id": row.uuid,
                "from_name": name,
                "to_name": "text",
                "type": kind,
                "value": value,
            }
        )
    return json.dumps([tasks[item] for item in sorted(tasks)], ensure_ascii=False)


def _label_studio_value(
    ask: str, value: float, texts: Sequence[Row]
) -> tuple[str, Row]:
    """A rating as Label Studio calls its kind, and as it writes it."""
    if ask == "rating":
        return "number", {"number": value}
    if ask == "best":
        return "choices", {"choices": [texts[int(value)]["id"]]}
    if value == TIE:
        return "pairwise", {}
    return "pairwise", {"selected": ("left", "right")[int(value)]}


def _events(db: Connection) -> str:
    """Every event as it came, with what was shown."""
    annotator = raters.c.name.label("annotator")
    item = items.c.name.label("item")
    columns = [assigned.c[name] for name in SHOWN]
    query = sa.select(events, annotator, item, *columns)
    query = query.join(assigned, assigned.c.id == events.c.assigned)
    query = query.join(raters, raters.c.id == assigned.c.rater)
    query = query.join(items, items.c.id == assigned.c.item)
    query = query.order_by(events.c.id)
    rows = [dict(row) for row in db.execute(query).mappings()]
    for row in rows:
        row["at"] = _time(row["at"])
        row["sides"] = json.loads(row["sides"])
        row["shown"] = json.loads(row["shown"])
    return as_jsonl(rows)


def items_of(db: Connection) -> list[Row]:
    """A row for each item that somebody rated, skipped or flagged; how far raters differ."""
    state = snapshot(db)
    verdicts = {row.id for row in state.standing() if row.round == TURN}
    names = ["ratings", "flagged", "skipped"]
    if state.adjudicate:
        names.append("decided")
    acts: dict[int, dict[str, list[Any]]] = {}
    for row in (*state.current, *db.execute(sql.FLAGGED)):
        rated = "decided" if row.id in verdicts else "ratings"
        column = row.kind if row.kind in names else rated
        acts.setdefault(row.item, {name: [] for name in names})[column].append(row)
    rows = []
    for item, parts in sorted(acts.items()):
        texts = state.texts[item - 1]
        about = {"id": state.names[item - 1], "source": texts[0].get("source") or ""}
        about["text"] = "\n".join(text["text"] for text in texts)
        about |= _numbers(state, parts["ratings"], parts.get("decided", []))
        for name in names:
            about[name] = "; ".join(_sentence(state, row) for row in parts[name])
        rows.append(about)
    return rows


def _numbers(state: Snapshot, rated: list[Any], decided: list[Any]) -> Row:
    """The mean of what counts in each dimension, and by how much raters differ in one at most."""
    if not rated or state.ask != "rating":
        return {}
    ratings: dict[str, list[float]] = {}
    for row in rated:
        ratings.setdefault(row.dimension, []).append(row.value)
    means = {name: fmean(ratings[name]) for name in ratings}
    means |= {row.dimension: row.value for row in decided}
    mean: object = round(next(iter(means.values())), 2)
    if len(state.dimensions) > 1:
        mean = "; ".join(f"{name} {value:.2f}" for name, value in means.items())
    return {
        "mean": mean,
        "apart": max(max(rows) - min(rows) for rows in ratings.values()),
    }


def _sentence(state: Snapshot, row: Any) -> str:  # noqa: ANN401 - a row
    """An act in words: the rater with the rating, the chosen text, or the reason."""
    who = row.rater_name
    content = row.reason
    if row.kind in {"rated", "changed"}:
        who += f" {row.dimension}" if len(state.dimensions) > 1 else ""
        content = "neither"
        if state.ask == "rating":
            content = f"{row.value:g}"
        elif row.value != TIE:
            content = state.texts[row.item - 1][int(row.value)]["id"]
    return f"{who}: {content}"


def everything(db: Connection, paths: Mapping[str, Path] | None = None) -> bytes:
    """All other files in one, and those at further paths."""
    packed = BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as file:
        for name, export in EXPORTS.items():
            if export is not everything:
                file.writestr(name, export(db))
        for name, path in (paths or {}).items():
            file.write(path, name)
    return packed.getvalue()


EXPORTS: dict[str, Export] = {
    "ratings.jsonl": _ratings(as_jsonl),
    "ratings.csv": _ratings(partial(as_csv, safe=True)),
    "label-studio.json": _label_studio,
    "audit.jsonl": _ratings(as_jsonl, audit=True),
    "first.jsonl": _ratings(as_jsonl, first=True),
    "items.csv": lambda db: as_csv(items_of(db), safe=True),
    "events.jsonl": _events,
    EVERYTHING: everything,
}
