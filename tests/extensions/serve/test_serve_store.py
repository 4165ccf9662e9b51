"""Ratings as events, on SQLite and on PostgreSQL."""

import json
import os
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from places import ROOT, blocks
from refless.data.tables import Reading, read_pool
from refless.extensions.serve.acts import RATER, Rater, Refused
from refless.extensions.serve.database import LOCK, Database, back_up, file_of
from refless.extensions.serve.project import Project
from refless.extensions.serve.result import Task
from refless.extensions.serve.schema import CURRENT_ROWS
from refless.extensions.serve.store import Store
from refless.registry.dialect import command_line
from refusals import bad_input, bad_usage
from serving import (
    client,
    event,
    exported,
    joined,
    new_database,
    opened,
    outputs,
    owner_of,
    posted,
    rate_all,
    rows_of,
)

BOTH = Task(dimensions=("fluency", "sense"), repeat=0.0)
PLAIN = Task(repeat=0.0, overlap=0.0)


@pytest.fixture
def store(database: str) -> Iterator[Store]:
    found = opened(database, PLAIN)
    yield found
    found.close()


def shown(store: Store, rater: int) -> dict[str, Any]:
    found: dict[str, Any] = store.next_unit(rater).result()["unit"]
    return found


def current(store: Store) -> list[Any]:
    return store.database.read(lambda one: [*one.execute(CURRENT_ROWS)])


def test_another_schema_is_refused(database: str) -> None:
    opened(database).close()
    one = Database(database)
    with one.engine.begin() as connection:
        connection.execute(
            sa.text("UPDATE settings SET value = '9' WHERE name = 'schema'")
        )
    one.close()
    with bad_input("another refless made this database"):
        opened(database)


def test_one_server_a_database(database: str, store: Store) -> None:
    with bad_usage("another refless rate serves this database"):
        opened(database)


def test_lock_is_given_back_at_once(postgresql_server: str) -> None:
    """By the server's end itself, not when PostgreSQL sees that its connection is gone."""
    url = new_database(postgresql_server)
    store = opened(url)
    with patch.object(store.database.engine, "dispose"):  # the connection stays
        store.close()
    opened(url).close()
    store.database.engine.dispose()


def test_lock_that_postgresql_forgot_is_taken_again(postgresql_server: str) -> None:
    """Nothing is written without it: neither by who lost it, where another server has it now."""
    url = new_database(postgresql_server)
    store = opened(url, PLAIN)
    rater = store.add_rater("").id
    unit = shown(store, rater)
    other = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    with other.connect() as one:

        def cut() -> None:
            ends = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
            one.execute(
                sa.text(f"{ends}current_database() AND pid <> pg_backend_pid()")
            )

        cut()
        with pytest.raises(sa.exc.OperationalError):
            store.next_unit(rater).result()
        assert shown(store, rater) == unit
        with bad_usage("another refless rate serves this database"):
            opened(url, PLAIN)
        cut()
        one.execute(sa.text("SELECT pg_advisory_lock(:key)"), {"key": LOCK})
        for _ in range(2):
            with pytest.raises((sa.exc.OperationalError, ConnectionError)):
                store.save(rater, event("rated", unit, value=3.0)).result()
        assert current(store) == []
        one.execute(sa.text("SELECT pg_advisory_unlock(:key)"), {"key": LOCK})
    store.save(rater, event("rated", unit, value=3.0)).result()
    assert len(current(store)) == 1
    store.close()
    other.dispose()


def test_rating_is_there_after_reopening(database: str) -> None:
    found = opened(database, PLAIN)
    rater = found.add_rater("Ann")
    unit = shown(found, rater.id)
    found.save(rater.id, event("rated", unit, value=4.0)).result()
    after = shown(found, rater.id)
    found.close()
    again = opened(database, PLAIN)
    (row,) = current(again)
    assert (row.value, row.kind, row.rater_name) == (4.0, "rated", "r00")
    assert shown(again, rater.id) == after
    again.close()


def test_sent_twice_is_kept_once(store: Store) -> None:
    """The same event again changes nothing and is answered alike; from another it is refused."""
    rater = store.add_rater("")
    other = store.add_rater("")
    unit = shown(store, rater.id)
    sent = event("rated", unit, value=2.0)
    first = store.save(rater.id, sent).result()
    assert store.save(rater.id, sent).result() == first
    assert len(current(store)) == 1
    with pytest.raises(Refused, match="somebody else"):
        store.save(other.id, sent).result()


def test_undone_twice_by_retry_undoes_once(store: Store) -> None:
    rater = store.add_rater("")
    for value in (1.0, 2.0):
        store.save(
            rater.id, event("rated", shown(store, rater.id), value=value)
        ).result()
    undo = event("undone")
    for _ in range(2):
        assert store.save(rater.id, undo).result()["unit"]["open"]
    assert [row.value for row in current(store)] == [1.0]


def test_notes_have_no_nul(store: Store) -> None:
    """PostgreSQL holds none, and the page would send the event again for ever."""
    with client(store) as web:
        headers = joined(web, store, owner_of(store))
        assert (
            web.post("/owner/raters", content=b"A\0nn", headers=headers).status_code
            == 200
        )
        assert [one.note for one in store.raters() if one.role == RATER] == ["Ann"]
        headers = joined(web, store, store.add_rater(""))
        unit = web.get("/rate/next").json()["unit"]
        for kind in ("flagged", "skipped"):
            act = posted(kind, unit, reason="no\0text")
            assert (
                web.post("/rate/events", json=act, headers=headers).status_code == 200
            )
    lines = exported(store, "events.jsonl").splitlines()
    assert [json.loads(line)["reason"] for line in lines] == ["notext", "notext"]


def test_change_undo_and_skip(database: str) -> None:
    """The latest act that was not undone holds; a skip stands for all dimensions."""
    found = opened(database, BOTH)
    rater = found.add_rater("").id
    unit = shown(found, rater)

    def send(kind: str, **more: Any) -> Any:
        about = None if kind == "undone" else unit
        return found.save(rater, event(kind, about, **more)).result()["unit"]

    assert send("rated", dimension="fluency", value=1.0)["open"]
    assert not send("rated", dimension="sense", value=2.0)["open"]
    assert send("rated", dimension="fluency", value=5.0)["values"] == {
        "fluency": 5,
        "sense": 2,
    }
    assert send("undone")["values"] == {"fluency": 1, "sense": 2}
    skipped = send("skipped", reason="cannot tell")
    assert (skipped["values"], skipped["skipped"]) == ({}, True)
    assert send("rated", dimension="sense", value=3.0)["values"] == {"sense": 3}
    assert send("undone")["skipped"]
    assert send("undone")["values"] == {"fluency": 1, "sense": 2}
    assert send("undone")["values"] == {"fluency": 1}
    assert send("undone")["values"] == {}
    with pytest.raises(Refused, match="nothing to undo"):
        send("undone")
    found.close()


ACTS = st.lists(
    st.tuples(
        st.sampled_from(["rated", "rated", "skipped", "flagged", "undone"]),
        st.sampled_from(BOTH.dimensions),
        st.integers(1, 5),
    ),
    max_size=14,
)


def folded(acts: list[tuple[str, str, int]]) -> tuple[dict[str, int], bool]:
    """The slow twin of the view: a stack of acts, of which undoing takes the last."""
    stack: list[tuple[str, str, int]] = []
    for act in acts:
        if act[0] == "undone":
            stack and stack.pop()
        else:
            stack.append(act)
    values: dict[str, int] = {}
    skipped = False
    for kind, dimension, value in stack:
        if kind == "skipped":
            values = {}
            skipped = True
        elif kind == "rated":
            values = {**values, dimension: value}
            skipped = False
    return values, skipped


@settings(max_examples=25)
@given(acts=ACTS)
def test_view_is_a_fold_of_the_events(
    acts: list[tuple[str, str, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    found = opened(f"sqlite:///{tmp_path_factory.mktemp('fold') / 'a.sqlite'}", BOTH)
    rater = found.add_rater("").id
    unit = shown(found, rater)
    for kind, dimension, value in acts:
        more = (
            {"dimension": dimension, "value": float(value)} if kind == "rated" else {}
        )
        sent = event(kind, None if kind == "undone" else unit, **more)
        try:
            found.save(rater, sent).result()
        except Refused:
            assert kind == "undone"
    now = found.unit_at(rater, 0).result()["unit"]
    assert (now["values"], now["skipped"]) == folded(acts)
    found.close()


@pytest.mark.parametrize("value", [0.0, 6.0, 2.5, None])
def test_only_offered_ratings(store: Store, value: float | None) -> None:
    rater = store.add_rater("").id
    unit = shown(store, rater)
    with pytest.raises(Refused, match="must be one of 1, 2, 3, 4, 5"):
        store.save(rater, event("rated", unit, value=value)).result()
    assert current(store) == []


def test_strangers_items_are_refused(store: Store) -> None:
    rater = store.add_rater("").id
    other = store.add_rater("").id
    unit = shown(store, rater)
    with pytest.raises(Refused, match="not asked this"):
        store.save(other, event("rated", unit, value=3.0)).result()


def test_pair_is_stored_by_text_whatever_side_it_stood_on(database: str) -> None:
    """A rating of the left text is one of the text that stood there."""
    found = opened(database, replace(PLAIN, ask="pair"))
    rater = found.add_rater("").id
    unit = shown(found, rater)
    sides = []
    while unit is not None:
        sides.append(tuple(unit["texts"]))
        unit = found.save(rater, event("rated", unit, value=0.0)).result()["next"]
    rows = rows_of(found)
    assert [(row["chosen"], row["rejected"]) for row in rows] == sides
    assert {row["chosen_system"] for row in rows} == {
        "SYS-0",
        "SYS-1",
    }  # sides were shuffled
    found.close()


def test_the_best_of_several_is_a_pair_with_each_of_the_others(database: str) -> None:
    """So that what reads pairs reads it."""
    found = opened(database, replace(PLAIN, ask="best"), outputs(12, systems=3))
    rater = found.add_rater("").id
    unit = shown(found, rater)
    seen = []
    while unit is not None:
        seen.append(unit["texts"])
        unit = found.save(rater, event("rated", unit, value=1.0)).result()["next"]
    rows = rows_of(found)
    assert len(rows) == len({row["id"] for row in rows}) == 8
    told = {(row["chosen"], row["rejected"]) for row in rows}
    assert told == {(b, a) for a, b, _ in seen} | {(b, c) for _, b, c in seen}
    assert len(read_pool(rows).pool) == 16
    found.close()


def test_other_outputs_or_scale_are_refused(database: str) -> None:
    opened(database).close()
    with bad_usage("about other outputs"):
        opened(database, found=outputs(10))
    said = "made with scale.*another with --database"
    with command_line({}), bad_usage(said):
        opened(database, Task(scale=(0, 1)))
    opened(database, Task(per_item=2, overlap=0.5)).close()


def test_everything_is_rated_as_often_as_asked(database: str) -> None:
    """Two ratings an item by different people, four for what all four raters are shown."""
    asked = Task(per_item=2, overlap=0.25, repeat=0.2)
    found = opened(database, asked)
    people = [found.add_rater("") for _ in range(4)]
    for one in people:
        rate_all(found, one)
    counts: dict[str, set[str]] = {}
    for row in rows_of(found):
        counts.setdefault(str(row["id"]), set()).add(str(row["annotator"]))
    assert sorted(map(len, counts.values())) == [2] * 9 + [4] * 3
    assert found.assignment.audited == 12
    assert {row["probability"] for row in rows_of(found)} == {1.0}
    found.close()


def test_backup_is_whole(tmp_path: Path) -> None:
    """It can be made while the database is served, and is not written over."""
    url = f"sqlite:///{tmp_path / 'a.sqlite'}"
    found = opened(url, PLAIN)
    n = rate_all(found, found.add_rater(""))
    back_up(url, tmp_path / "copy.sqlite")
    with bad_usage("there already"):
        back_up(url, tmp_path / "copy.sqlite")
    found.close()
    copy = opened(f"sqlite:///{tmp_path / 'copy.sqlite'}", PLAIN)
    assert len(current(copy)) == n == 12
    copy.close()
    with bad_input("no such database"):
        back_up(f"sqlite:///{tmp_path / 'none.sqlite'}", tmp_path / "x")


def test_sqlite_is_durable(tmp_path: Path) -> None:
    """WAL, and a commit that waits for the disk; no setting of SQLite's own undoes it."""
    url = f"sqlite:///{tmp_path / 'a.sqlite'}"
    one = Database(url)

    def asked(name: str) -> Any:
        return one.read(lambda c: c.exec_driver_sql(f"PRAGMA {name}").scalar())

    said = [asked(name) for name in ("journal_mode", "synchronous", "busy_timeout")]
    assert said == ["wal", 2, 5000]  # 2 is FULL
    one.close()
    assert file_of(url) == tmp_path / "a.sqlite"


def test_job_that_fails_leaves_the_others_of_its_batch(store: Store) -> None:
    """Writes that wait are committed together; one that raises is taken back alone."""
    fine = [store.database.write(lambda c: c.execute(sa.text("SELECT 1")).scalar())]
    bad = store.database.write(lambda c: c.execute(sa.text("SELECT nothing")))
    fine.append(store.database.write(lambda c: c.execute(sa.text("SELECT 2")).scalar()))
    assert [one.result() for one in fine] == [1, 2]
    with pytest.raises(sa.exc.DBAPIError):
        bad.result()


def test_caller_that_is_gone_does_not_end_the_writing(store: Store) -> None:
    """A page that closes, or a server that ends, cancels its future; others are still told."""
    gone = store.database.write(lambda c: c.execute(sa.text("SELECT 1")).scalar())
    gone.cancel()
    there = store.database.write(lambda c: c.execute(sa.text("SELECT 2")).scalar())
    assert there.result(timeout=60) == 2


def test_what_was_not_kept_is_asked_again(store: Store) -> None:
    """A commit that fails, as on a full disk: nothing is taken for shown or rated after it."""
    rater = store.add_rater("").id
    broken = [True]

    def full(_: object) -> None:
        if broken[0]:
            raise sa.exc.OperationalError("COMMIT", {}, Exception("disk is full"))

    sa.event.listen(store.database.engine, "commit", full)
    with pytest.raises(sa.exc.OperationalError):
        store.next_unit(rater).result()
    broken[0] = False
    assert shown(store, rater)["position"] == 0
    unit = shown(store, rater)
    broken[0] = True
    with pytest.raises(sa.exc.OperationalError):
        store.save(rater, event("rated", unit, value=3.0)).result()
    broken[0] = False
    assert shown(store, rater) == unit
    assert store.assignment.ratings == 0
    assert rate_all(store, store.raters()[0]) == 12


def test_link_that_is_revoked_while_it_is_read_is_not_kept(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    rater = store.add_rater("")
    usual = store.raters
    revoking = threading.Thread(target=store.revoke, args=(rater,))

    def slow() -> list[Rater]:
        found = usual()
        revoking.start()
        revoking.join(0.3)
        return found

    monkeypatch.setattr(store, "raters", slow)
    store.rater(rater.id)
    monkeypatch.undo()
    revoking.join()
    again = store.rater(rater.id)
    assert again is not None
    assert again.link < 0


@pytest.mark.skipif(sys.platform == "win32", reason="modes and links of POSIX")
def test_only_the_owner_reads_a_database(tmp_path: Path) -> None:
    """Its readers have the key of all links; also of a file that an older version made."""
    path = tmp_path / "a.sqlite"
    copy = tmp_path / "copy.sqlite"
    mask = os.umask(0)
    try:
        for _ in range(2):
            store = opened(f"sqlite:///{path}")
            owner_of(store)
            copy.unlink(missing_ok=True)
            back_up(store.database.url, copy)
            modes = {one.name: one.stat().st_mode & 0o777 for one in tmp_path.iterdir()}
            store.close()
            assert {"a.sqlite", "a.sqlite-wal", "a.sqlite-shm", "copy.sqlite"} < {
                *modes
            }
            assert {*modes.values()} == {0o600}, modes
            path.chmod(0o644)
    finally:
        os.umask(mask)


@pytest.mark.skipif(sys.platform == "win32", reason="modes and links of POSIX")
def test_another_name_of_a_database_is_the_same_database(tmp_path: Path) -> None:
    """Two servers would give one item to two people; a hard link has a log of its own besides."""
    path, link, hard = (
        tmp_path / name for name in ("a.sqlite", "link.sqlite", "hard.sqlite")
    )
    store = opened(f"sqlite:///{path}")
    link.symlink_to(path)
    with bad_usage("another refless rate serves"):
        opened(f"sqlite:///{link}")
    hard.hardlink_to(path)
    with bad_usage("hard link"):
        opened(f"sqlite:///{hard}")
    hard.unlink()
    store.close()
    opened(f"sqlite:///{link}").close()


def test_items_ahead(database: str) -> None:
    """A page holds so many besides the one it shows, after a restart too; nobody else gets them."""
    ahead = Task(project=Project(ahead=3), overlap=0.0, repeat=0.0)
    store = opened(database, ahead)
    ann, ben = (store.add_rater("").id for _ in range(2))
    answer = store.next_unit(ann).result()
    units = [answer["unit"], *answer["ahead"]]
    assert [unit["position"] for unit in units] == [0, 1, 2, 3]
    texts = {unit["texts"][0] for unit in units}
    theirs = store.next_unit(ben).result()
    assert not texts & {unit["texts"][0] for unit in (theirs["unit"], *theirs["ahead"])}
    answer = store.save(ann, event("rated", units[2], value=3)).result()
    assert (answer["next"], answer["ahead"][:2]) == (units[0], [units[1], units[3]])
    assert len(answer["ahead"]) == 3
    store.close()
    store = opened(database, ahead)
    again = store.next_unit(ann).result()
    assert (again["unit"], again["ahead"]) == (answer["next"], answer["ahead"])
    store.ended = True
    answer = store.save(ann, event("rated", units[0], value=3)).result()
    assert (answer["next"], len(answer["ahead"])) == (units[1], 2)
    store.close()


def test_lines_that_go_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the rating page's export, with flags and skips; read again by the lines for each tool."""
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    store = opened(f"sqlite:///{tmp_path / 'a.sqlite'}", Task(overlap=1.0), outputs(4))
    for values in ((4, 2), (5,)):
        rater = store.add_rater("")
        unit = store.next_unit(rater.id).result()["unit"]
        store.save(rater.id, event("flagged", unit, reason="a typo")).result()
        for value in values:
            unit = store.save(rater.id, event("rated", unit, value=value)).result()[
                "next"
            ]
        store.save(rater.id, event("skipped", unit, reason="no idea")).result()
    Path("label-studio.json").write_bytes(exported(store, "label-studio.json"))
    rated: dict[str, list[float]] = {}
    for row in rows_of(store):
        rated.setdefault(row["text"], []).append(row["rating"])
    store.close()
    lines = blocks(ROOT / "docs" / "formats.md", "python")
    (back,) = [block for block in lines if "pearmut.append" in block]
    readers = [
        next(block for block in lines if "row.labels" in block),
        next(block for block in lines if "welcome_" in block),
    ]
    exec(back, {})
    for reader, dimension in zip(readers, ("quality", None), strict=True):
        exec(reader, {})
        pool = read_pool(
            "joined.jsonl", Reading(scale=(1, 5), dimension=dimension)
        ).pool
        means = zip(pool.texts, (1 + 4 * pool.human).tolist(), strict=True)
        assert {text: sum(v) / len(v) for text, v in rated.items()} == dict(means)
    for path in ("out/annotations.jsonl", "data/outputs/campaign.jsonl"):
        text = Path(path).read_text("utf-8")
        assert (text.count("a typo"), text.count("no idea")) == (2, 2)
