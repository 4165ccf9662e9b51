"""The pages, asked without a browser: who gets in, what leaves, what is refused."""

import html
import io
import json
import re
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
import sqlalchemy as sa

import refless
from command_line import jsonl, output_rows, run_well
from refless.data.records import Outputs
from refless.data.rows import rows_of as texts_of
from refless.data.tables import Reading, read_pool
from refless.extensions.serve.access import Access, Pace
from refless.extensions.serve.acts import OWNER, RATER, Refused
from refless.extensions.serve.database import LOCK
from refless.extensions.serve.exports import EXPORTS, snapshot
from refless.extensions.serve.project import Project
from refless.extensions.serve.rate import rate
from refless.extensions.serve.result import Task, Where
from refless.extensions.serve.store import Store
from refusals import bad_usage
from rows import read_csv, read_jsonl
from serving import (
    HOSTILE,
    begun,
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
)

TASK = Task(repeat=0.0, per_item=2)
RATINGS = 2 * 12 + 1  # one item is for all three raters
ROUTES = [
    ("GET", "/"),
    ("GET", "/rate/next"),
    ("GET", "/rate/at/0"),
    ("POST", "/rate/events"),
    ("GET", "/owner/live"),
    ("GET", "/owner/items"),
    ("POST", "/owner/raters"),
    ("POST", "/owner/raters/1/revoke"),
    *(("GET", f"/owner/export/{name}") for name in EXPORTS),
]


@pytest.fixture
def store(sqlite: str) -> Iterator[Store]:
    found = opened(sqlite, TASK)
    owner_of(found)
    yield found
    found.close()


@pytest.fixture
def web(store: Store) -> Iterator[Any]:
    with client(store) as found:
        yield found


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_nobody_gets_in_without_a_link(
    web: Any, store: Store, method: str, path: str
) -> None:
    for cookie in ("", "nonsense", "WzEsMV0.AAAA"):
        web.cookies.clear()
        for role in (OWNER, RATER):
            web.cookies.set(Access(store).cookie(role), cookie)
        answer = web.request(method, path)
        assert answer.status_code == 401
        assert "personal link" in answer.text


@pytest.mark.parametrize(("method", "path"), ROUTES[1:])
def test_nobody_gets_what_is_for_the_other_role(
    web: Any, store: Store, method: str, path: str
) -> None:
    who = store.add_rater("Ann") if path.startswith("/owner") else owner_of(store)
    headers = joined(web, store, who)
    assert web.request(method, path, headers=headers).status_code == 403


def test_forged_and_revoked_links(web: Any, store: Store) -> None:
    """A changed token, a session as a link, and a link or session after it was revoked."""
    rater = store.add_rater("Ann")
    access = Access(store)
    link = access.link(rater)
    for wrong in (
        link[:-1],
        f"{link}A",
        access.session(rater),
        "x" * 5000,
        "%00",
        "..%2f..%2f",
    ):
        assert web.get(f"/join/{wrong}").status_code in {403, 404}
    joined(web, store, rater)
    assert web.get("/rate/next").status_code == 200
    store.revoke(rater)
    assert web.get("/rate/next").status_code == 401
    refused = web.get(f"/join/{link}")
    assert refused.status_code == 403
    assert "the owner's newest is where refless rate was started" in refused.text
    joined(web, store, store.renew(rater))
    assert web.get("/rate/next").status_code == 200
    assert web.get(f"/join/{link}").status_code == 403


def test_many_wrong_links_are_too_many(web: Any, store: Store) -> None:
    """Those who share the address, and have a link, still get in."""
    codes = [web.get("/join/wrong").status_code for _ in range(60)]
    assert codes[0] == 403
    assert codes[-1] == 429
    joined(web, store, store.add_rater(""))


def test_pace_forgets() -> None:
    """The oldest callers are forgotten first, so that strangers fill no memory."""
    pace = Pace(1, 0.0, limit=2)
    assert [pace.takes(name) for name in ("a", "a", "b", "c", "a")] == [
        True,
        False,
        True,
        True,
        True,
    ]


def test_what_changes_something_needs_the_pages_token(web: Any, store: Store) -> None:
    """Another site can make a browser send the cookie, and not the token."""
    rater = store.add_rater("Ann")
    headers = joined(web, store, rater)
    unit = web.get("/rate/next").json()["unit"]
    sent = posted("rated", unit, value=3)
    for wrong in ({}, {"x-csrf": ""}, {"x-csrf": "0" * 64}):
        assert web.post("/rate/events", json=sent, headers=wrong).status_code == 403
    assert (
        web.post("/rate/events", json=sent, headers=headers).json()["saved"]
        == sent["uuid"]
    )
    cookie = next(iter(web.cookies.jar))
    assert "HttpOnly" in str(vars(cookie)["_rest"])
    assert vars(cookie)["_rest"]["SameSite"] == "lax"


def test_restart_of_the_database_is_a_line(
    postgresql_server: str, caplog: pytest.LogCaptureFixture
) -> None:
    """However many requests it meets; pages send again what is answered by 503."""
    url = new_database(postgresql_server)
    store = opened(url, TASK)
    other = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    with client(store) as web, other.connect() as one:
        joined(web, store, store.add_rater("Ann"))
        ends = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
        one.execute(sa.text(f"{ends}current_database() AND pid <> pg_backend_pid()"))
        one.execute(sa.text("SELECT pg_advisory_lock(:key)"), {"key": LOCK})
        assert [web.get("/rate/next").status_code for _ in range(3)] == [503] * 3
        one.execute(sa.text("SELECT pg_advisory_unlock(:key)"), {"key": LOCK})
        assert web.get("/rate/next").status_code == 200
    store.close()
    other.dispose()
    (line,) = [
        row for row in caplog.records if row.name.startswith(("refless", "sqlalchemy"))
    ]
    assert line.getMessage().startswith("ratings are not saved: ")
    assert line.exc_info is None


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b"{",
        b"\xff\xfe",
        b'{"uuid": 1}',
        b"[" * 100_000,
        b'{"uuid": "12345678", "kind": "deleted"}',
        b'{"uuid": "12345678", "kind": "rated", "rater": 1}',
        b'{"uuid": "../../etc", "kind": "undone"}',
        b'{"uuid": "12345678", "kind": "skipped", "reason": "' + b"a" * 501 + b'"}',
        b'{"uuid": "12345678", "kind": "rated", "assigned": 99, "value": NaN}',
        b'{"uuid": "12345678", "kind": "rated", "assigned": 99999999999999999999}',
    ],
)
def test_malformed_events_are_refused(web: Any, store: Store, body: bytes) -> None:
    headers = joined(web, store, store.add_rater(""))
    answer = web.post("/rate/events", content=body, headers=headers)
    assert answer.status_code in {400, 422}
    assert "Traceback" not in answer.text


def test_refusal_is_a_sentence(web: Any, store: Store) -> None:
    """The page shows it as it comes; where people look, it is a page."""
    headers = joined(web, store, store.add_rater(""))
    answer = web.post(
        "/rate/events",
        content=b'{"uuid": "12345678", "kind": "undone"}',
        headers=headers,
    )
    assert (answer.status_code, answer.json()) == (
        422,
        {"error": "there is nothing to undo"},
    )
    for path, kind in (
        ("/nothing", "text/html; charset=utf-8"),
        ("/healthz", "application/json"),
    ):
        answer = web.post(path, headers={"accept": "text/html"})
        assert (answer.status_code, answer.headers["content-type"]) in (
            (404, kind),
            (405, kind),
        )


def test_oversized_bodies_are_refused(web: Any, store: Store) -> None:
    """By what they say, and by what they hold."""
    headers = joined(web, store, store.add_rater(""))
    told = {**headers, "content-length": str(1 << 40)}
    assert web.post("/rate/events", content=b"{}", headers=told).status_code == 413
    whole = (b"a" * (1 << 20) for _ in range(33))
    assert web.post("/rate/events", content=whole, headers=headers).status_code == 413


def test_paths_lead_to_no_files(web: Any, store: Store) -> None:
    joined(web, store, owner_of(store))
    for path in (
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/app.py",
        "/static/",
        "/owner/export/..%2f..%2fratings.sqlite",
        "/owner/export/ratings",
        "/ratings.sqlite",
    ):
        assert web.get(path).status_code in {404, 403}


def test_raters_are_blind_and_texts_are_text(web: Any, store: Store) -> None:
    """Neither systems, nor others' ratings, nor ids leave; JSON is no page; scripts are our own."""
    first = store.add_rater("Ann")
    second = store.add_rater("Bob")
    rate_all(store, first, values=(5,))
    headers = joined(web, store, second)
    page = web.get("/")
    told = page.text
    unit = web.get("/rate/next").json()["unit"]
    texts = []
    while unit is not None:
        answer = web.post(
            "/rate/events", json=posted("rated", unit, value=1), headers=headers
        )
        assert answer.headers["content-type"] == "application/json"
        texts += unit["texts"]
        assert set(unit) == {
            "assigned",
            "position",
            "source",
            "texts",
            "values",
            "skipped",
            "open",
        }
        told += answer.text
        unit = answer.json()["next"]
    assert sorted(texts) == sorted(outputs().texts)
    for secret in ("SYS-", "o00", "Ann", "Bob", "r01", "estimate"):
        assert secret not in told
    policy = page.headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "<script>" not in page.text
    assert " style=" not in page.text


def test_hostile_names_are_escaped(web: Any, store: Store) -> None:
    """The names of raters and of dimensions are text everywhere."""
    headers = joined(web, store, owner_of(store))
    made = web.post("/owner/raters", content=HOSTILE, headers=headers).json()
    assert made["name"].startswith("r")
    assert HOSTILE not in web.get("/").text


def test_hostile_dimension(tmp_path: Path) -> None:
    found = opened(
        f"sqlite:///{tmp_path / 'a.sqlite'}", Task(dimensions=(HOSTILE, '">x'))
    )
    with client(found) as web:
        joined(web, found, found.add_rater(""))
        assert HOSTILE not in web.get("/").text
    found.close()


def test_questions_have_scales_of_their_own(tmp_path: Path) -> None:
    """Asked, checked, and read again, each on its scale; a later run keeps to them."""
    path = jsonl(tmp_path / "o.jsonl", output_rows())
    result = rate(str(path), dimension=["sense", "style=1..3"])
    task = result.task
    assert [task.steps_of(name) for name in task.dimensions] == [
        (1, 2, 3, 4, 5),
        (1, 2, 3),
    ]
    store = opened(f"sqlite:///{tmp_path / 'a.sqlite'}", task)
    rater = store.add_rater("")
    unit = store.next_unit(rater.id).result()["unit"]
    store.save(rater.id, event("rated", unit, dimension="sense", value=4)).result()
    with pytest.raises(Refused, match="must be one of 1, 2, 3"):
        store.save(rater.id, event("rated", unit, dimension="style", value=4)).result()
    store.save(rater.id, event("rated", unit, dimension="style", value=3)).result()
    with client(store) as web:
        joined(web, store, rater)
        assert "&#34;style&#34;: [1, 2, 3]" in web.get("/").text
        joined(web, store, owner_of(store))
        shown = html.unescape(web.get("/").text)
        for own in ("sense=1..5", "style=1..3"):
            assert f"<code>refless ratings.jsonl --dimension '{own}'</code>" in shown
    (tmp_path / "ratings.jsonl").write_bytes(exported(store, "ratings.jsonl"))
    reading = Reading(dimension="style", scale=(1, 3))
    assert read_pool(tmp_path / "ratings.jsonl", reading).pool.human.tolist() == [1.0]
    store.close()
    with bad_usage("made with scales"):
        opened(f"sqlite:///{tmp_path / 'a.sqlite'}", replace(task, scales={}))


def test_owner_invites_and_revokes(web: Any, store: Store) -> None:
    headers = joined(web, store, owner_of(store))
    made = web.post("/owner/raters", content="Ann of Torby", headers=headers).json()
    key = next(one.id for one in store.raters() if one.role == RATER)
    assert web.post(f"/owner/raters/{key}/link", headers=headers).json() == made
    path = made["link"]
    assert web.get(path).status_code == 303
    headers = joined(web, store, owner_of(store))
    assert web.post(f"/owner/raters/{key}/revoke", headers=headers).status_code == 200
    assert web.get(path).status_code == 403
    mine = owner_of(store).id
    for wrong in (mine, 9999, 1 << 60):
        path = f"/owner/raters/{wrong}/revoke"
        assert web.post(path, headers=headers).status_code == 404
    assert web.post(f"/owner/raters/{key}/delete", headers=headers).status_code == 404


def test_links_hang_on_no_header(web: Any, store: Store) -> None:
    """A link to somebody else's host would give them the rater's place; the page knows its own."""
    headers = joined(web, store, owner_of(store)) | {"host": "evil.example"}
    made = web.post("/owner/raters", content="Ann", headers=headers).json()
    assert made["link"].startswith("/join/")
    key = next(one.id for one in store.raters() if one.role == RATER)
    assert "evil" not in web.post(f"/owner/raters/{key}/link", headers=headers).text


def test_a_browser_may_be_owner_and_rater_of_several_databases(
    web: Any, store: Store, tmp_path: Path
) -> None:
    """Cookies are those of all ports of a host, so each database and role has its own."""
    owner = joined(web, store, owner_of(store))
    assert (
        web.get(f"/join/{Access(store).link(store.add_rater(''))}").status_code == 303
    )
    other = opened(f"sqlite:///{tmp_path / 'other.sqlite'}")
    with client(other) as second:
        joined(second, other, owner_of(other))
        web.cookies.update(second.cookies)
    other.close()
    assert web.post("/owner/raters", content="Ann", headers=owner).status_code == 200
    assert "What is known so far" in web.get("/owner").text
    assert "What is known so far" not in web.get("/").text
    assert web.get("/rate/next").status_code == 200


def test_owner_finds_their_page_behind_their_link(web: Any, store: Store) -> None:
    answer = web.get(f"/join/{Access(store).link(owner_of(store))}")
    assert answer.headers["location"] == "/owner"


def test_raters_have_a_pace(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """One rater who sends without end is slowed down, and keeps nobody else from rating."""
    monkeypatch.setattr("refless.extensions.serve.app.RATED", (5, 0.01))
    first = store.add_rater("")
    second = store.add_rater("")
    with client(store) as web:
        headers = joined(web, store, first)
        unit = web.get("/rate/next").json()["unit"]
        sent = [posted("rated", unit, value=k % 5 + 1) for k in range(8)]
        codes = [
            web.post("/rate/events", json=one, headers=headers).status_code
            for one in sent
        ]
        assert codes == [200] * 4 + [429] * 4
        joined(web, store, second)
        assert web.get("/rate/next").status_code == 200
    assert len(exported(store, "events.jsonl").splitlines()) == 4


def test_csv_is_for_spreadsheets(tmp_path: Path) -> None:
    """No text in it is a formula; JSONL has the texts as they are."""
    texts = ("=HYPERLINK(1)", "+1", "plain", "@x")
    found = Outputs(ids=tuple("abcd"), texts=texts, sources=("-s",) * 4)
    one = opened(f"sqlite:///{tmp_path / 'a.sqlite'}", Task(repeat=0.0), found)
    rate_all(one, one.add_rater(""))
    rows = read_csv(exported(one, "ratings.csv").decode())
    assert {row["text"] for row in rows} == {"'=HYPERLINK(1)", "'+1", "plain", "'@x"}
    assert {row["source"] for row in rows} == {"'-s"}
    lines = exported(one, "ratings.jsonl").splitlines()
    assert {json.loads(line)["text"] for line in lines} == {*texts}
    one.close()


def test_half_requests_keep_nobody_out(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More connections than are served send half a head each, and others are answered."""
    import uvicorn

    from refless.extensions.serve import app

    monkeypatch.setattr(app, "PATIENCE", 1.0)
    monkeypatch.setattr(app, "MOST_WAITING", 20)
    config = app.configured(app.rating_app(store), Where(host="127.0.0.1", port=1))
    config.limit_concurrency = 30
    with socket.socket() as bound, ExitStack() as kept_open:
        bound.bind(("127.0.0.1", 0))
        bound.listen()
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        halves = [
            kept_open.enter_context(
                socket.create_connection(bound.getsockname(), timeout=20)
            )
            for _ in range(60)
        ]
        for half in halves:
            half.sendall(b"GET /healthz HTTP/1.1\r\nhost: a\r\n")
        ask = b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n"
        with socket.create_connection(bound.getsockname(), timeout=20) as whole:
            for _ in range(
                2
            ):  # a connection that waits between requests is not cut off
                whole.sendall(ask)
                answer = b""
                while not answer.endswith(b"}"):  # head and body may come apart
                    answer += whole.recv(4096)
                assert answer.startswith(b"HTTP/1.1 200")
            whole.sendall(ask[:20])
            assert _is_closed(whole)
        assert all(map(_is_closed, halves))
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive()


def _is_closed(connection: socket.socket) -> bool:
    """Whether the other side ends the connection before the time-out."""
    with suppress(ConnectionError):
        while connection.recv(4096):
            pass
    return True


def _rated(store: Store) -> None:
    for name in ("Ann of Torby", "Bob", "Cid"):
        rate_all(store, store.add_rater(name))


def test_everything_is_in_one_file(web: Any, store: Store) -> None:
    """The page links ratings, items, and this; each file in it is the one of its name."""
    _rated(store)
    joined(web, store, owner_of(store))
    linked = re.findall('href="/owner/export/([^"]+)"', web.get("/owner").text)
    assert linked == ["ratings.jsonl", "items.csv", "everything.zip"]
    answer = web.get("/owner/export/everything.zip")
    with ZipFile(io.BytesIO(answer.content)) as packed:
        names = packed.namelist()
        assert {*names} == {*EXPORTS, "outputs.jsonl"} - {"everything.zip"}
        for name in names:
            assert packed.read(name) == web.get(f"/owner/export/{name}").content


@pytest.mark.parametrize("name", ["ratings.jsonl", "ratings.csv"])
def test_exports_read_back_equal(
    web: Any, store: Store, tmp_path: Path, name: str
) -> None:
    """The same ratings by the same pseudonyms, of the same outputs; nobody's name leaves."""
    _rated(store)
    joined(web, store, owner_of(store))
    answer = web.get(f"/owner/export/{name}")
    assert b"Torby" not in answer.content.replace(b"in Torby", b"")
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
    (tmp_path / name).write_bytes(answer.content)
    pool = read_pool(str(tmp_path / name), Reading(scale=(1, 5))).pool
    ratings = pool.ratings
    known = outputs()
    found = sorted(
        (pool.ids[i], ratings.annotators[k], value)
        for i, k, value in zip(
            ratings.text, ratings.annotator, ratings.values, strict=True
        )
    )
    rows = read_jsonl(exported(store, "ratings.jsonl"))
    assert found == sorted((row["id"], row["annotator"], row["rating"]) for row in rows)
    assert len(found) == RATINGS
    assert len(ratings.times) == RATINGS
    of = dict(
        zip(
            known.ids,
            zip(known.texts, known.sources, known.systems, strict=True),
            strict=True,
        )
    )
    for i, one in enumerate(pool.ids):
        assert (pool.texts[i], pool.sources[i], pool.systems[i]) == of[one]


def test_label_studio_export_reads_back(store: Store, tmp_path: Path) -> None:
    """By our own reader of Label Studio's full JSON."""
    _rated(store)
    path = tmp_path / "label-studio.json"
    path.write_bytes(exported(store, path.name))
    pool = read_pool(str(path), Reading(scale=(1, 5))).pool
    assert sorted(pool.ratings.values) == sorted(
        json.loads(line)["rating"]
        for line in exported(store, "ratings.jsonl").splitlines()
    )
    assert sorted(pool.texts) == sorted(outputs().texts)


def test_label_studio_export_has_flags_and_skips(store: Store) -> None:
    """Reasons are comments; skipped units are cancelled, so that a reader leaves them out."""
    rater, unit = begun(store)
    store.save(rater, event("flagged", unit, reason="cut off")).result()
    unit = store.save(rater, event("rated", unit, value=2.0)).result()["next"]
    store.save(rater, event("skipped", unit, reason="I cannot tell")).result()
    tasks = json.loads(exported(store, "label-studio.json"))
    (rated,), (skipped,) = sorted(
        (task["annotations"] for task in tasks),
        key=lambda rows: rows[0]["was_cancelled"],
    )
    assert [skipped["was_cancelled"], rated["was_cancelled"]] == [True, False]
    values = {
        part["from_name"]: part["value"] for part in rated["result"] + skipped["result"]
    }
    assert values == {
        "quality": {"number": 2.0},
        "flagged": {"text": ["cut off"]},
        "skipped": {"text": ["I cannot tell"]},
    }


def test_events_export_has_all_that_was_shown(store: Store) -> None:
    rater, unit = begun(store)
    store.save(rater, event("rated", unit, value=2.0, latency=1234), "s1").result()
    store.save(rater, event("undone")).result()
    first, second = read_jsonl(exported(store, "events.jsonl"))
    assert {*first["shown"]} == {"session", "latency", "content"}
    assert (first["shown"]["session"], first["shown"]["latency"]) == ("s1", 1234)
    assert (first["position"], first["sides"], first["stream"]) == (0, [0], "audit")
    assert 0 < first["probability"] <= 1
    assert second["undoes"] == first["uuid"]
    assert exported(store, "ratings.jsonl") == b""


def test_audit_export_goes_into_compare(store: Store, tmp_path: Path) -> None:
    """Chances are those of the items that were drawn at random so far: m of n."""
    rater, unit = begun(store)
    for k in range(6):
        sent = event("rated", unit, value=1.0 + k % 5)
        unit = store.save(rater, sent).result()["next"]
    assert store.database.read(snapshot).drawn == store.assignment.audited == 6
    rows = read_jsonl(exported(store, "audit.jsonl"))
    assert [row["probability"] for row in rows] == [6 / 12] * 6


def test_ratings_are_read_at_any_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rater keeps an item open: ratings of those drawn later wait, and nothing else does.

    One of eight comes from the estimator. What the page prints reads them without a question.
    """
    task = Task(repeat=0.0, overlap=0.0)
    store = opened(f"sqlite:///{tmp_path / 'a.sqlite'}", task)
    store.set_active([11]).result()
    rater, unit = begun(store)
    other, kept = begun(store)
    for k in range(8):
        sent = event("rated", unit, value=1.0 + k % 3)
        unit = store.save(rater, sent).result()["next"]
    rows = read_jsonl(exported(store, "ratings.jsonl"))
    streams = Counter((row["stream"], row["probability"]) for row in rows)
    drawn = store.assignment.audited
    told = {("audit", drawn / 12): drawn, ("waiting", None): 7 - drawn}
    assert streams == told | {("active", None): 1}
    file = jsonl(tmp_path / "ratings.jsonl", rows)
    monkeypatch.chdir(tmp_path)  # where the page of the answers is written
    assert "only the estimates learn from" in run_well(file, "--scale", 1, 5).err
    compared = refless.compare(texts_of(store.outputs), rated=rows, scale=(1, 5))
    assert compared.selection == "active"
    kept = store.save(other, event("rated", kept, value=1.0)).result()["next"]
    store.save(other, event("rated", kept, value=1.0)).result()
    rows = read_jsonl(exported(store, "ratings.jsonl"))
    assert Counter(row["stream"] for row in rows) == {"audit": 9, "active": 1}
    store.close()


def test_items_show_all_that_was_said(web: Any, store: Store) -> None:
    """Ratings of two raters, a flag, a skip; nothing that was undone, and no name of a person."""
    one = store.add_rater("Ann")
    two = store.add_rater("Bob")
    unit = store.next_unit(one.id).result()["unit"]
    store.save(one.id, event("flagged", unit, reason="cut off")).result()
    store.save(one.id, event("flagged", unit, reason="by mistake")).result()
    store.save(one.id, event("undone")).result()
    other = store.save(one.id, event("rated", unit, value=2)).result()["next"]
    store.save(one.id, event("skipped", other, reason="I cannot tell")).result()
    rate_all(store, two, [5])
    joined(web, store, owner_of(store))
    page = web.get("/owner/items").text
    rows = {row["id"]: row for row in read_csv(exported(store, "items.csv").decode())}
    place = store.outputs.texts.index(unit["texts"][0])
    row = rows[store.outputs.ids[place]]
    assert (row["ratings"], row["flagged"]) == ("r01: 2; r02: 5", "r01: cut off")
    assert (float(row["mean"]), float(row["apart"])) == (3.5, 3.0)
    assert rows[store.outputs.ids[store.outputs.texts.index(other["texts"][0])]][
        "skipped"
    ] == ("r01: I cannot tell")
    for words in ("cut off", "r01: 2; r02: 5", "I cannot tell"):
        assert words in page
    for words in ("by mistake", "Ann", HOSTILE):
        assert words not in page


@contextmanager
def _served(store: Store, proxy: str = "") -> Iterator[tuple[str, int]]:
    """The address at which the service listens, as `refless rate` runs it."""
    import uvicorn

    from refless.extensions.serve import app

    where = Where(host="127.0.0.1", port=1, proxy=proxy)
    server = uvicorn.Server(app.configured(app.rating_app(store), where))
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        bound.listen(256)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        yield bound.getsockname()
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive()


def _asked(address: tuple[str, int], text: str) -> str:
    """The answer of a service to a request, to its first 4,096 bytes."""
    with socket.create_connection(address, timeout=20) as connection:
        connection.sendall(text.replace("\n", "\r\n").encode())
        return connection.recv(4096).decode()


@pytest.mark.parametrize(("proxy", "believed"), [("", False), ("127.0.0.0/8", True)])
def test_a_proxy_is_believed_if_it_is_named(
    store: Store, proxy: str, believed: bool
) -> None:
    """Otherwise X-Forwarded-For would evade the pace of tries; cookies are Secure behind TLS."""
    rater = store.add_rater("")
    with _served(store, proxy) as address:
        link = Access(store).link(rater)
        asked = f"GET /join/{link} HTTP/1.1\nhost: a\nx-forwarded-proto: https\n\n"
        assert ("; secure" in _asked(address, asked).lower()) is believed
        tries = [
            _asked(
                address,
                f"GET /join/x HTTP/1.1\nhost: a\nx-forwarded-for: 10.0.0.{k}\n\n",
            )
            for k in range(40)
        ]
        assert ("429" in tries[-1].split("\r\n")[0]) is not believed


def test_idle_connections_keep_nobody_out(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each had its answer and asks for nothing more; the oldest of too many are closed."""
    from refless.extensions.serve import app

    monkeypatch.setattr(app, "MOST_WAITING", 20)
    ask = b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n"
    with _served(store) as address, ExitStack() as kept_open:
        for _ in range(60):
            idle = kept_open.enter_context(
                socket.create_connection(address, timeout=20)
            )
            idle.sendall(ask)
            assert idle.recv(4096).startswith(b"HTTP/1.1 200")
        assert len(app.Impatient._waiting) <= 20


def test_bodies_come_in_time_or_not(
    store: Store, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A body that trickles is refused (408); of one that breaks off nothing is logged."""
    monkeypatch.setattr("refless.extensions.serve.access.BODY", 0.5)
    rater = store.add_rater("")
    with client(store) as web:
        headers = joined(web, store, rater)
        cookie = "; ".join(f"{name}={value}" for name, value in web.cookies.items())
    head = f"POST /rate/events HTTP/1.1\nhost: a\nx-csrf: {headers['x-csrf']}\n"
    head = f"{head}cookie: {cookie}\ncontent-length: 100\n\n{{"
    with _served(store) as address:
        assert "408" in _asked(address, head).split("\r\n")[0]
        with socket.create_connection(address, timeout=20) as gone:
            gone.sendall(head.replace("\n", "\r\n").encode())
        assert "200" in _asked(address, "GET /healthz HTTP/1.1\nhost: a\n\n")
    assert "Traceback" not in capfd.readouterr().err


def test_long_markdown_keeps_nobody_waiting(tmp_path: Path) -> None:
    """A text of 90 kB is rendered beside the loop that answers others."""
    text = "* a [b](c) `d` *e*\n" * 4_700
    found = Outputs(ids=("a",), texts=(text,), systems=("x",))
    task = Task(project=Project(render="markdown"))
    store = opened(f"sqlite:///{tmp_path / 'a.sqlite'}", task, found)
    threads = []
    rater = store.add_rater("")
    with client(store) as web, pytest.MonkeyPatch.context() as patched:
        joined(web, store, rater)
        patched.setattr(
            "refless.extensions.serve.pages.dressed",
            lambda unit, render: (
                threads.append(threading.current_thread().name) or unit
            ),
        )
        assert web.get("/rate/next").status_code == 200
    assert all("AnyIO worker" in name for name in threads)
    assert threads
    store.close()


def test_the_printed_address_is_that_in_the_network(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A service for all prints where others reach this machine, as far as that is known."""

    class Routed(socket.socket):
        def connect(self, address: object) -> None:
            pass

        def getsockname(self) -> tuple[str, int]:
            return "10.1.2.3", 5

    monkeypatch.setattr(socket, "socket", Routed)
    app = pytest.importorskip("refless.extensions.serve.app")
    where = Where(host="0.0.0.0", port=1)
    assert app._address(where) == "http://10.1.2.3:1"
