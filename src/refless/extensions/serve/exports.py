"""Ratings as files at any moment: pseudonyms of raters, never their names."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

import sqlalchemy as sa

from refless.extensions.serve import schema as sql
from refless.extensions.serve.assignment import REPEAT
from refless.extensions.serve.schema import TIE, assigned, events, items, raters, settings
from refless.report.export import as_csv, as_jsonl, as_parquet

Row = dict[str, Any]
Export = Callable[[sa.Connection], str | bytes]
COLUMNS = ("id", "source", "item", "system", "task", "text")  # of a text, as exports have them


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What a database holds at one moment; any process can read it, also while it is served.

    Attributes:
        ask, scale, dimensions, seed: how raters are asked.
        names: of items, by their number less 1; texts: the rows of each one's texts.
        current: ratings and skips that hold now.
        drawn: so many items, the first ones, are those that were drawn by lot.
    """

    ask: str
    scale: tuple[float, float]
    dimensions: tuple[str, ...]
    seed: int
    names: tuple[str, ...]
    texts: tuple[tuple[Row, ...], ...]
    current: Sequence[Any]
    drawn: int


def kept(one: sa.Connection) -> Kept:
    """What there is now."""
    said = {row.name: row.value for row in one.execute(sa.select(settings))}
    rows = one.execute(sa.select(items).order_by(items.c.id)).all()
    texts = [
        [{"source": row.source, "item": row.item, "task": row.task, **text}
         for text in json.loads(row.texts)]
        for row in rows
    ]  # fmt: skip
    there = [name for name in COLUMNS if any(one.get(name) for unit in texts for one in unit)]
    return Kept(
        ask=json.loads(said["ask"]),
        scale=tuple(json.loads(said["scale"])),
        dimensions=tuple(json.loads(said["dimensions"])),
        seed=json.loads(said["seed"]),
        names=tuple(row.name for row in rows),
        texts=tuple(tuple({name: one[name] for name in there} for one in unit) for unit in texts),
        drawn=one.execute(sql.DRAWN).scalar() or 0,
        current=one.execute(sql.CURRENT_ROWS).all(),
    )


def ratings_of(now: Kept, *, audit: bool = False) -> list[Row]:
    """One row a rating: what holds now, without second ratings of one item by one rater.

    `probability` is the chance that the item was drawn by lot; items that were only chosen have
    none. What was rated of pairs, or chosen among several, names texts in place of a number.

    Args:
        now: what there is.
        audit: whether items that were only chosen are left out.
    """
    chance = now.drawn / len(now.texts) if now.texts else None
    found = []
    for one in now.current:
        lot = one.item <= now.drawn
        if one.kind == "skipped" or one.stream == REPEAT or (audit and not lot):
            continue
        about = {"annotator": one.rater_name, "timestamp": _time(one.at), "stream": one.stream}
        many = {"dimension": one.dimension} if len(now.dimensions) > 1 else {}
        given = {**about, **many, "probability": chance if lot else None}
        found += [{**row, **given} for row in _rated(now, one.item - 1, one.value)]
    return found


def repeats_of(now: Kept, dimension: str) -> list[tuple[float, float]]:
    """Both ratings of each item that a rater was shown twice."""
    found: dict[tuple[int, int], dict[int, float]] = {}
    for one in now.current:
        if one.kind != "skipped" and one.dimension == dimension:
            found.setdefault((one.rater, one.item), {})[one.round] = one.value
    return [(both[0], both[1]) for both in found.values() if len(both) > 1]


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")


def _rated(now: Kept, place: int, value: float) -> list[Row]:
    """The item with its rating; or the text that was chosen, beside each that was not."""
    texts = now.texts[place]
    if now.ask == "rating":
        return [{**texts[0], "rating": value}]
    about = {**texts[0], "id": now.names[place]}
    for name in ("text", "system"):
        about.pop(name, None)
    tie = value == TIE
    best = texts[0 if tie else int(value)]
    others = [one for one in texts if one is not best]
    return [
        {
            **about,
            **({"id": f"{about['id']} {k}"} if len(others) > 1 else {}),
            "chosen": best["text"],
            "rejected": other["text"],
            "chosen_system": best.get("system", ""),
            "rejected_system": other.get("system", ""),
            "tie": tie,
        }
        for k, other in enumerate(others, 1)
    ]


def _ratings(form: Callable[[list[Row]], str | bytes], *, audit: bool = False) -> Export:
    return lambda one: form(ratings_of(kept(one), audit=audit))


def _label_studio(one: sa.Connection) -> str:
    """Tasks with annotations, as Label Studio's own full JSON export has them."""
    now = kept(one)
    tasks: dict[int, Row] = {}
    done: dict[tuple[int, int], Row] = {}
    for row in now.current:
        if row.kind == "skipped" or row.stream == REPEAT:
            continue
        texts = now.texts[row.item - 1]
        data = {**texts[0], "scale": now.scale}
        if len(texts) > 1:
            del data["text"]
            data |= {f"text{k}": text["text"] for k, text in enumerate(texts, 1)}
        task = tasks.setdefault(row.item, {"id": row.item, "data": data, "annotations": []})
        mine = done.get((row.item, row.rater))
        if mine is None:
            mine = done[row.item, row.rater] = {
                "id": row.assigned,
                "completed_by": row.rater,
                "was_cancelled": False,
                "created_at": _time(row.at),
                "result": [],
            }
            task["annotations"].append(mine)
        kind, value = _said(now.ask, row.value, texts)
        mine["result"].append(
            {"id": row.uuid, "from_name": row.dimension, "to_name": "text", "type": kind,
             "value": value}
        )  # fmt: skip
    return json.dumps([tasks[item] for item in sorted(tasks)], ensure_ascii=False)


def _said(ask: str, value: float, texts: Sequence[Row]) -> tuple[str, Row]:
    """A rating as Label Studio calls its kind, and as it writes it."""
    if ask == "rating":
        return "number", {"number": value}
    if ask == "best":
        return "choices", {"choices": [texts[int(value)]["id"]]}
    return "pairwise", {} if value == TIE else {"selected": ("left", "right")[int(value)]}


def _events(one: sa.Connection) -> str:
    """Every event as it came, with what was shown."""
    columns = [assigned.c[name] for name in ("round", "position", "sides", "stream",
                                             "probability")]  # fmt: skip
    query = (
        sa.select(events, raters.c.name.label("annotator"), items.c.name.label("item"), *columns)
        .join(assigned, assigned.c.id == events.c.assigned)
        .join(raters, raters.c.id == assigned.c.rater)
        .join(items, items.c.id == assigned.c.item)
        .order_by(events.c.id)
    )

    def rows() -> Iterator[Row]:
        for row in one.execute(query).mappings():
            shown = {name: json.loads(row[name]) for name in ("sides", "shown")}
            yield {**row, **shown, "at": _time(row["at"])}

    return as_jsonl([*rows()])


EXPORTS: dict[str, tuple[str, Export]] = {
    "ratings.jsonl": ("all ratings, a row each", _ratings(as_jsonl)),
    "ratings.csv": ("the same as CSV, for spreadsheets", _ratings(partial(as_csv, safe=True))),
    "ratings.parquet": ("the same as Parquet", _ratings(as_parquet)),
    "label-studio.json": ("the same for Label Studio", _label_studio),
    "audit.jsonl": (
        "ratings of items drawn by lot, with their chances",
        _ratings(as_jsonl, audit=True),
    ),
    "events.jsonl": ("every act, what was undone too, and what was shown", _events),
}
