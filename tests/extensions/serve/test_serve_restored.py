"""A database that goes back to a backup: what waits in browsers is kept where it belongs."""

import json
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from refless.extensions.serve.access import Access
from refless.extensions.serve.acts import Conflict, Refused
from refless.extensions.serve.database import back_up, restore
from refless.extensions.serve.result import Task
from refless.extensions.serve.store import Store
from refusals import bad_input, bad_usage
from serving import client, event, joined, opened, outputs, rows_of

PLAIN = Task(overlap=0.0, repeat=0.0)


def _next(store: Store, rater: int) -> dict[str, Any]:
    unit: dict[str, Any] = store.next_unit(rater).result()["unit"]
    return unit


def _rate(store: Store, rater: int, n: int, value: float = 3.0) -> None:
    for _ in range(n):
        store.save(rater, event("rated", _next(store, rater), value=value)).result()


@pytest.mark.parametrize("ask", ["rating", "pair"])
def test_waiting_ratings_are_kept_for_what_was_shown(tmp_path: Path, ask: Any) -> None:
    """Of 3 raters offline, who go on after the restore: each rating is of the text they saw."""
    url = f"sqlite:///{tmp_path / 'a.sqlite'}"
    copy = tmp_path / "copy.sqlite"
    task = Task(ask=ask, overlap=0.2, repeat=0.0, per_item=2)
    store = opened(url, task, outputs(72))
    raters = [store.add_rater("").id for _ in range(3)]
    for rater in raters:
        _rate(store, rater, 4, 1.0)
    back_up(url, copy)
    for rater in raters:  # answers that were acknowledged, and are lost with the disk
        _rate(store, rater, 2, 1.0)
    rng = random.Random(1)
    waiting = []
    for rater in raters:
        unit = _next(store, rater)
        value = float(rng.randrange(2))
        waiting.append(
            (rater, unit, event("rated", unit, value=value + (ask == "rating")))
        )
    store.close()
    restore(url, copy)
    store = opened(url, task, outputs(72))
    for rater in reversed(raters):
        _rate(store, rater, 3, 1.0)  # whose numbers were given out before
    for rater, unit, act in waiting:
        kept = store.save(rater, act).result()
        assert kept["unit"]["texts"] == unit["texts"]
        assert kept["unit"]["values"] == {"quality": act.value}
        assert store.save(rater, act).result()["unit"] == kept["unit"]
        rows = rows_of(store)
        if ask == "rating":
            assert (unit["texts"][0], act.value) in {
                (row["text"], row["rating"]) for row in rows
            }
        else:
            first = int(act.value or 0)
            chosen = (unit["texts"][first], unit["texts"][1 - first])
            assert chosen in {(row["chosen"], row["rejected"]) for row in rows}
    store.close()


def test_a_number_that_is_given_out_again_lets_nobody_in(tmp_path: Path) -> None:
    """The session, the link and what waits of a rater who was lost are not those of another."""
    url = f"sqlite:///{tmp_path / 'a.sqlite'}"
    copy = tmp_path / "copy.sqlite"
    opened(url, PLAIN).close()
    back_up(url, copy)
    store = opened(url, PLAIN)
    lost = store.add_rater("")
    act = event("rated", _next(store, lost.id), value=2.0)
    link = f"/join/{Access(store).link(lost)}"
    with client(store) as web:
        joined(web, store, lost)
        cookies = dict(web.cookies)
    store.close()
    restore(url, copy)
    store = opened(url, PLAIN)
    other = store.add_rater("")
    assert other.id == lost.id
    with client(store) as web:
        web.cookies.update(cookies)
        assert web.get("/rate/next").status_code == 401
        assert web.get(link).status_code == 403
    with pytest.raises(Refused, match="not asked this"):
        store.save(other.id, act).result()
    store.close()


def test_sides_are_those_that_were_seen(tmp_path: Path) -> None:
    """A restored database may show the same pair the other way round; a waiting choice is kept."""
    store = opened(f"sqlite:///{tmp_path / 'a.sqlite'}", Task(ask="pair"))
    rater = store.add_rater("").id
    unit = _next(store, rater)
    with store.database.engine.connect() as db:
        signer = store._signer(db, rater)
    *pick, sides = signer.loads(unit["assigned"])
    seen = signer.dumps([*pick, sides[::-1]])
    store.save(rater, event("rated", unit | {"assigned": seen}, value=1.0)).result()
    first, second = unit["texts"]
    (row,) = rows_of(store)
    assert (row["chosen"], row["rejected"]) == (first, second)
    store.close()


def test_undoing_is_of_what_the_page_saw(tmp_path: Path) -> None:
    """An undoing that waited for a connection does not take back an earlier rating."""
    url = f"sqlite:///{tmp_path / 'a.sqlite'}"
    copy = tmp_path / "copy.sqlite"
    store = opened(url, PLAIN)
    rater = store.add_rater("").id
    _rate(store, rater, 1)
    back_up(url, copy)
    unit = _next(store, rater)
    store.save(rater, event("rated", unit, value=1.0)).result()
    store.close()
    restore(url, copy)
    store = opened(url, PLAIN)
    with pytest.raises(Refused, match="nothing to undo"):
        store.save(rater, event("undone", unit)).result()
    assert len(rows_of(store)) == 1
    store.close()


def test_an_id_names_one_act(tmp_path: Path) -> None:
    """The same again is answered alike; other content is a conflict (409), and changes nothing."""
    store = opened(f"sqlite:///{tmp_path / 'a.sqlite'}", PLAIN)
    rater = store.add_rater("")
    unit = _next(store, rater.id)
    second = None
    act = {
        "uuid": "0123456789",
        "kind": "rated",
        "assigned": unit["assigned"],
        "dimension": "quality",
        "value": 2,
    }
    with client(store) as web:
        headers = joined(web, store, rater)
        first = web.post("/rate/events", json=act, headers=headers)
        second = first.json()["next"]["assigned"]
        changes = (
            {"value": 3},
            {"kind": "skipped"},
            {"assigned": second},
            {"kind": "undone"},
        )
        for change in changes:
            answer = web.post("/rate/events", json=act | change, headers=headers)
            assert (answer.status_code, "sent before" in answer.text) == (409, True)
        assert (
            web.post("/rate/events", json=act, headers=headers).json() == first.json()
        )
    with pytest.raises(Conflict):
        store.save(
            rater.id, event("rated", unit, value=5.0, uuid="0123456789")
        ).result()
    assert [row["rating"] for row in rows_of(store)] == [2]
    store.close()


def _killed(folder: Path) -> tuple[Path, Path]:
    """A database whose last ratings are in its log alone, as after a kill, and an older backup."""
    path, copy, away = (folder / name for name in ("a.sqlite", "copy.sqlite", "away"))
    store = opened(f"sqlite:///{path}", PLAIN, outputs(200))
    rater = store.add_rater("").id
    _rate(store, rater, 20)
    back_up(f"sqlite:///{path}", copy)
    _rate(store, rater, 60)
    store.close()  # which empties the log
    store = opened(f"sqlite:///{path}", PLAIN, outputs(200))
    _rate(store, rater, 30)
    away.mkdir()
    for there in folder.glob("a.sqlite*"):  # as they lie while it is served
        shutil.copy(there, away)
    store.close()
    for there in folder.glob("a.sqlite*"):
        there.unlink()
    for there in away.iterdir():
        shutil.copy(there, folder)
    return path, copy


def test_a_backup_beside_a_foreign_log_is_not_served(tmp_path: Path) -> None:
    """A plain copy is refused at the start; `restore` puts it right, and keeps all."""
    path, copy = _killed(tmp_path)
    shutil.copy(copy, path)
    with bad_input("restore='FILE'"):
        opened(f"sqlite:///{path}", PLAIN, outputs(200))
    restore(f"sqlite:///{path}", copy)
    store = opened(f"sqlite:///{path}", PLAIN, outputs(200))
    assert len(rows_of(store)) == 20
    store.close()


def test_restoring_keeps_what_was_there(tmp_path: Path) -> None:
    """The database with its log, under another name, which is never written over."""
    path, copy = _killed(tmp_path)
    restore(f"sqlite:///{path}", copy)
    before = tmp_path / "a.sqlite.before"
    with closing(sqlite3.connect(before)) as there:
        assert there.execute("SELECT count(*) FROM events").fetchone() == (110,)
    with bad_usage("is there already"):
        restore(f"sqlite:///{path}", copy)
    store = opened(f"sqlite:///{path}", PLAIN, outputs(200))
    assert len(rows_of(store)) == 20
    before.unlink()
    with bad_usage("another refless rate"):
        restore(f"sqlite:///{path}", copy)
    store.close()
    copy.write_bytes(json.dumps({}).encode())
    with bad_input("not a database"):
        restore(f"sqlite:///{path}", copy)
    with bad_usage("pg_restore"):
        restore("postgresql+psycopg://a@b/c", copy)
    assert path.exists()
