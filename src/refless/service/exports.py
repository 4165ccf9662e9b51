"""Ratings as files at any moment: pseudonyms of raters, never their names."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from refless.report.export import as_csv, as_jsonl, as_parquet
from refless.service.assignment import REPEAT
from refless.service.schema import CURRENT_ROWS, assigned, events, raters
from refless.service.store import TIE, Store

Row = dict[str, Any]


def exported(store: Store, name: str) -> bytes:
    """One of EXPORTS as it is now."""
    return EXPORTS[name][1](store)


def ratings_of(store: Store, *, audit: bool = False) -> list[Row]:
    """One row a rating: what holds now, without second ratings of one item by one rater.

    `probability` is the chance that the item was drawn by lot; items that were only chosen have
    none. What was rated of pairs, or chosen among several, names texts in place of a number.

    Args:
        store: the ratings.
        audit: whether items that were only chosen are left out.
    """
    drawn = store.assignment.audited()
    chance = drawn / len(store.units) if store.units else None
    found = []
    for one in store.database.read(lambda c: c.execute(CURRENT_ROWS).all()):
        lot = one.item <= drawn
        if one.kind == "skipped" or one.stream == REPEAT or (audit and not lot):
            continue
        about = {"annotator": one.rater_name, "timestamp": _time(one.at), "stream": one.stream}
        many = {"dimension": one.dimension} if len(store.asked.dimensions) > 1 else {}
        given = {**about, **many, "probability": chance if lot else None}
        found += [{**row, **given} for row in _rated(store, one.item - 1, one.value)]
    return found


def repeats_of(store: Store, dimension: str) -> list[tuple[float, float]]:
    """Both ratings of each item that a rater was shown twice."""
    found: dict[tuple[int, int], dict[int, float]] = {}
    for one in store.database.read(lambda c: c.execute(CURRENT_ROWS).all()):
        if one.kind != "skipped" and one.dimension == dimension:
            found.setdefault((one.rater, one.item), {})[one.round] = one.value
    return [(both[0], both[1]) for both in found.values() if len(both) > 1]


def texted(store: Store, i: int) -> Row:
    """An output as a row."""
    return {**_about(store, i), "text": store.outputs.texts[i]}


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")


def _rated(store: Store, place: int, value: float) -> list[Row]:
    """The item with its rating; or the text that was chosen, beside each that was not."""
    unit, outputs = store.units[place], store.outputs
    if store.asked.ask == "rating":
        return [{**texted(store, unit[0]), "rating": value}]
    about = {**_about(store, unit[0]), "id": store.names[place]}
    tie = value == TIE
    best = 0 if tie else int(value)
    others = [i for k, i in enumerate(unit) if k != best]
    systems = outputs.systems or ("",) * len(outputs)
    about.pop("system", None)
    return [
        {
            **about,
            **({"id": f"{about['id']} {k}"} if len(others) > 1 else {}),
            "chosen": outputs.texts[unit[best]],
            "rejected": outputs.texts[other],
            "chosen_system": systems[unit[best]],
            "rejected_system": systems[other],
            "tie": tie,
        }
        for k, other in enumerate(others, 1)
    ]


def _about(store: Store, i: int) -> Row:
    """What the file said of an output, in its columns."""
    outputs = store.outputs
    columns = {"id": outputs.ids, "source": outputs.sources, "item": outputs.items,
               "system": outputs.systems, "task": outputs.tasks}  # fmt: skip
    return {name: column[i] for name, column in columns.items() if column}


def _jsonl(store: Store) -> bytes:
    return as_jsonl(ratings_of(store)).encode()


def _audit(store: Store) -> bytes:
    return as_jsonl(ratings_of(store, audit=True)).encode()


def _csv(store: Store) -> bytes:
    return as_csv(ratings_of(store)).encode()


def _parquet(store: Store) -> bytes:
    return as_parquet(ratings_of(store))


def _label_studio(store: Store) -> bytes:
    """Tasks with annotations, as Label Studio's own full JSON export has them."""
    low, high = store.asked.scale
    tasks: dict[int, Row] = {}
    kinds = {"rating": "number", "pair": "pairwise", "best": "choices"}
    kind = kinds[store.asked.ask]
    done: dict[tuple[int, int], Row] = {}
    for one in store.database.read(lambda c: c.execute(CURRENT_ROWS).all()):
        if one.kind == "skipped" or one.stream == REPEAT:
            continue
        unit = store.units[one.item - 1]
        texts = {"text": store.outputs.texts[unit[0]]} if len(unit) == 1 else {
            f"text{k + 1}": store.outputs.texts[i] for k, i in enumerate(unit)}  # fmt: skip
        data = {**_about(store, unit[0]), **texts, "scale": [low, high]}
        task = tasks.setdefault(one.item, {"id": one.item, "data": data, "annotations": []})
        mine = done.get((one.item, one.rater))
        if mine is None:
            mine = done[one.item, one.rater] = {
                "id": one.assigned,
                "completed_by": one.rater,
                "was_cancelled": False,
                "created_at": _time(one.at),
                "result": [],
            }
            task["annotations"].append(mine)
        value = {"number": one.value}
        if kind != "number":
            value = {"selected": ("left", "right")[int(one.value)]} if one.value != TIE else {}
            value = (
                {"choices": [store.outputs.ids[unit[int(one.value)]]]}
                if kind == "choices"
                else value
            )
        mine["result"].append(
            {"id": one.uuid, "from_name": one.dimension, "to_name": "text", "type": kind,
             "value": value}
        )  # fmt: skip
    return json.dumps([tasks[item] for item in sorted(tasks)], ensure_ascii=False).encode()


def _events(store: Store) -> bytes:
    """Every event as it came, with what was shown."""
    columns = [assigned.c[name] for name in ("item", "round", "position", "sides", "stream",
                                             "probability")]  # fmt: skip
    query = (
        sa.select(events, raters.c.name.label("annotator"), *columns)
        .join(assigned, assigned.c.id == events.c.assigned)
        .join(raters, raters.c.id == assigned.c.rater)
        .order_by(events.c.id)
    )

    def rows(one: sa.Connection) -> Iterator[Row]:
        for row in one.execute(query).mappings():
            shown = {name: json.loads(row[name]) for name in ("sides", "shown")}
            yield {**row, **shown, "at": _time(row["at"]), "item": store.names[row["item"] - 1]}

    return as_jsonl(store.database.read(lambda one: [*rows(one)])).encode()


EXPORTS: dict[str, tuple[str, Callable[[Store], bytes]]] = {
    "ratings.jsonl": ("all ratings, a row each", _jsonl),
    "ratings.csv": ("the same as CSV", _csv),
    "ratings.parquet": ("the same as Parquet", _parquet),
    "label-studio.json": ("the same for Label Studio", _label_studio),
    "audit.jsonl": ("ratings of items drawn by lot, with their chances", _audit),
    "events.jsonl": ("every act, what was undone too, and what was shown", _events),
}
