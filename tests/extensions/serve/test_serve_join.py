"""Raters who are not in the room: one link makes them, pays them, and sends them back."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from msgspec.structs import replace as replace_of

from refless.extensions.serve.access import Access
from refless.extensions.serve.acts import RATER
from refless.extensions.serve.exports import EXPORTS
from refless.extensions.serve.project import Project
from refless.extensions.serve.result import Task
from refless.extensions.serve.store import Store
from serving import client, event, exported, joined, opened, owner_of, posted, rate_all

RETURN = "https://app.prolific.com/submissions/complete?cc=C0DE"
OPEN = Task(
    project=Project(
        join=True, most_items=3, completion_code="C0DE", return_url=RETURN, pay=2.5
    ),
    repeat=0.0,
    per_item=2,
)
PERSON = "5f0c1d2e3f4a5b6c7d8e9f00"
STUDY = "study-secret"
SESSION = "session-secret"
QUERY = {"PROLIFIC_PID": PERSON, "STUDY_ID": STUDY, "SESSION_ID": SESSION}


def _names(store: Store) -> list[str]:
    return [rater.name for rater in store.raters() if rater.role == RATER]


def _opens(web: Any, store: Store, **query: str) -> int:
    status: int = web.post(
        f"/begin/{Access(store).everybody()}", params=query
    ).status_code
    return status


def test_a_preview_makes_no_rater(sqlite: str) -> None:
    """Whoever only looks at the link gets a page with a button; a browser's rater is let in."""
    store = opened(sqlite, OPEN)
    path = f"/begin/{Access(store).everybody()}"
    with client(store) as web:
        for query in ({}, QUERY):
            for method in ("GET", "HEAD"):
                answer = web.request(method, path, params=query)
                assert (answer.status_code, len(web.cookies)) == (200, 0)
            assert (
                '<form method="post"><button autofocus>'
                in web.get(path, params=query).text
            )
        assert _names(store) == []
        assert _opens(web, store) == 303
        assert web.get(path).headers["location"] == "/"
        assert len(_names(store)) == 1
    store.close()


def test_one_rater_a_browser(sqlite: str) -> None:
    """The second opening is by the same rater; another browser is another."""
    store = opened(sqlite, OPEN)
    owner_of(store)
    with client(store) as web:
        for names in (["r01"], ["r01"], ["r01", "r02"]):
            if len(names) > 1:
                web.cookies.clear()
            assert _opens(web, store) == 303
            assert _names(store) == names
        assert web.get("/rate/next").status_code == 200
    store.close()


def test_one_rater_a_person(database: str) -> None:
    """By Prolific's id in any browser; whoever was revoked stays out."""
    store = opened(database, OPEN)
    owner_of(store)
    with client(store) as web:
        for person, names in (("a", 1), ("b", 2), ("a", 2)):
            web.cookies.clear()
            assert _opens(web, store, PROLIFIC_PID=person, SESSION_ID=str(names)) == 303
            assert len(_names(store)) == names
        rater = next(rater for rater in store.raters() if rater.name == "r01")
        store.revoke(rater)
        assert _opens(web, store, PROLIFIC_PID="a") == 403
    with ThreadPoolExecutor(4) as pool:
        assert len({*pool.map(lambda _: store.joined("Prolific c").id, range(8))}) == 1
    store.close()


def test_ids_of_people_stay_nowhere(database: str) -> None:
    """Neither in exports and pages, nor in the database, nor in the address that is shown."""
    store = opened(database, OPEN)
    owner = owner_of(store)
    with client(store) as web:
        answer = web.post(f"/begin/{Access(store).everybody()}", params=QUERY)
        assert answer.headers["location"] == "/"
        (rater,) = (rater for rater in store.raters() if rater.role == RATER)
        assert rater.note.startswith("Prolific ")
        rate_all(store, rater)
        joined(web, store, owner)
        texts = [web.get(path).text for path in ("/owner", "/owner/items")]
    texts += [exported(store, name).decode("latin-1") for name in EXPORTS]
    texts.append(repr(store.raters()))
    for secret in QUERY.values():
        assert not any(secret in text for text in texts)
    store.close()


def test_no_link_for_everybody_unless_the_project_says_so(sqlite: str) -> None:
    store = opened(sqlite)
    with client(store) as web:
        assert _opens(web, store) == 403
    store.close()
    store = opened(sqlite, OPEN)
    with client(store) as web:
        assert web.get("/begin/wrong").status_code == 403
        codes = []
        for _ in range(100):
            web.cookies.clear()
            codes.append(_opens(web, store))
        assert codes == [303] * 100
        assert len(_names(store)) == 100
        wrong = [web.get(f"/begin/{k}").status_code for k in range(60)]
        assert (wrong[0], wrong[-1]) == (403, 429)
        web.cookies.clear()
        assert _opens(web, store) == 303
    store.close()


def test_the_begin_page_says_what_how_long_and_by_whom(sqlite: str) -> None:
    """Items and minutes, at the pace of others; nothing of minutes before there is one."""
    project = replace_of(
        OPEN.project, contact="Ann of Torby, ann@a.example", title="Replies"
    )
    store = opened(sqlite, replace(OPEN, project=project))
    with client(store) as web:
        path = f"/begin/{Access(store).everybody()}"
        page = web.get(path).text
        for words in (
            "Replies",
            "rate each of them",
            "There are 3 of these tasks.",
            "You are asked by Ann of Torby, ann@a.example.",
        ):
            assert words in page
        unit = store.next_unit(rater := store.add_rater("").id).result()["unit"]
        store.save(rater, event("rated", unit, value=3, latency=50_000)).result()
        assert "at the pace of others this takes about 3 minutes." in web.get(path).text
    store.close()


def test_whoever_is_through_gets_the_code(sqlite: str) -> None:
    """After as many items as the project allows, and not before; undoing opens the last again."""
    store = opened(sqlite, OPEN)
    rater = store.add_rater("")
    with client(store) as web:
        headers = joined(web, store, rater)
        assert "C0DE" not in web.get("/").text
        answer = web.get("/rate/next").json()
        unit = answer["unit"]
        assert answer["progress"] == {"done": 0, "left": 3, "skipped": 0}
        for n in range(3):
            assert "thanks" not in answer
            sent = posted("rated", unit, value=3, latency=2_000)
            answer = web.post("/rate/events", json=sent, headers=headers).json()
            unit = answer["next"]
            assert answer["progress"] == {"done": n + 1, "left": 2 - n, "skipped": 0}
        assert unit is None
        assert answer["thanks"] == {"code": "C0DE", "url": RETURN}
        assert web.get("/rate/next").json()["thanks"]["code"] == "C0DE"
        undone = json.loads(json.dumps({"uuid": "0123456789", "kind": "undone"}))
        answer = web.post("/rate/events", json=undone, headers=headers).json()
        assert (answer["unit"]["open"], answer["progress"]["left"]) == (True, 1)
        assert "thanks" not in answer
    store.close()


def test_skips_earn_no_code(sqlite: str) -> None:
    """It comes once more is rated than skipped; who went on before is told why there is none."""
    store = opened(sqlite, OPEN)
    rater = store.add_rater("")
    with client(store) as web:
        headers = joined(web, store, rater)
        units = []
        for _ in range(3):
            units.append(web.get("/rate/next").json()["unit"])
            sent = posted("skipped", units[-1], reason="I cannot tell")
            answer = web.post("/rate/events", json=sent, headers=headers).json()
        assert (
            answer["thanks"] == web.get("/rate/next").json()["thanks"] == {"skipped": 3}
        )
        for unit, thanks in zip(
            units, ({"skipped": 2}, {"code": "C0DE", "url": RETURN}), strict=False
        ):
            sent = posted("rated", unit, value=3)
            answer = web.post("/rate/events", json=sent, headers=headers).json()
            assert answer["thanks"] == thanks
    store.close()


def test_pay_an_hour_is_shown_to_the_owner(sqlite: str) -> None:
    """Of three items at 20 seconds for 2.50: 150 an hour; half-way it is the same.

    After the end it is of what was rated alone: 2.50 for one item.
    """
    store = opened(sqlite, OPEN)
    rater = store.add_rater("")
    with client(store) as web:

        def told(pay: str) -> None:
            joined(web, store, owner_of(store))
            page = web.get("/").text
            assert f'<td class="number" data-name="pay an hour">{pay}</td>' in page
            assert f'href="/begin/{Access(store).everybody()}"' in page
            web.cookies.clear()

        for n in range(3):
            unit = store.next_unit(rater.id).result()["unit"]
            store.save(rater.id, event("rated", unit, value=3, latency=20_000)).result()
            told("150.00")
            if n == 0:
                store.ended = True
                told("450.00")
                store.ended = False
    store.close()
