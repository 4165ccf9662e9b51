"""A race on a running service: looks, systems that are dropped, a stop, a certificate."""

from __future__ import annotations

import json
import re
import shutil
import time
import uuid
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx

from command_line import jsonl, one_line, run, run_well
from rows import read_jsonl
from serving import RACE_ITEMS, RACE_SYSTEMS, race_in, race_rating, race_service

PATIENCE = 120.0  # seconds for a look
Row = dict[str, Any]


class Browser:
    """The page of a rater or the owner, over HTTP."""

    def __init__(self, port: int, link: str) -> None:
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60)
        self.open(link)

    def open(self, link: str) -> None:
        """Opens a personal link."""
        self.client.cookies.clear()
        page = self.client.get(link, follow_redirects=True).text
        (token,) = re.findall('name="csrf" content="([0-9a-f]+)"', page)
        self.headers = {"x-csrf": token}

    def page(self) -> str:
        """The owner's page."""
        return one_line(self.client.get("/owner").text)

    def post(self, path: str, body: str) -> httpx.Response:
        return self.client.post(path, content=body, headers=self.headers)

    def rate(self, by_text: dict[str, Row], seconds: int) -> Row | None:
        """Rates the next item; the row that was rated, or None if there is none left."""
        unit = self.client.get("/rate/next").json()["unit"]
        if unit is None:
            return None
        row = by_text[unit["texts"][0]]
        sent = {
            "uuid": uuid.uuid4().hex,
            "kind": "rated",
            "assigned": unit["assigned"],
            "dimension": "quality",
            "value": race_rating(row),
            "latency": 1000 * seconds,
        }
        answer = self.post("/rate/events", json.dumps(sent))
        assert answer.json()["saved"] == sent["uuid"]
        return row


def waited(holds: Callable[[], bool]) -> None:
    """Returns once it holds."""
    ends = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.5)


def rated(raters: list[Browser], by_text: dict[str, Row], n: int) -> Iterator[Row]:
    """So many further ratings, in turn, or as many as raters are asked for."""
    for k, rater in zip(range(n), cycle(raters), strict=False):
        row = rater.rate(by_text, 4 + k % 3)
        if row is None:
            return
        yield row


def test_two_of_six_are_dropped(tmp_path: Path) -> None:
    """Three raters; killed after the first look; at the second the round ends.

    The certificate holds, also for another folder, and not once a rating was changed.
    """
    rows, words = race_in(tmp_path)
    service = race_service(words)
    by_text = {row["text"]: row for row in rows}
    service.start()
    names = sorted(name for name in service.links if name != "owner")
    raters = [Browser(service.port, service.links[name]) for name in names]
    owner = Browser(service.port, service.links["owner"])
    try:
        first = [*rated(raters, by_text, RACE_SYSTEMS * RACE_ITEMS // 2)]
        waited(lambda: "This is look 1 of 2" in owner.page())
        page = owner.page()
        assert "4 of 6 systems are left" in page
        assert "Ending here would leave 4 systems tied for first." in page
        assert page.count("dropped at look 1, after 6 items") == 2
        service.kill()
        service.start()
        owner.open(service.links["owner"])
        page = owner.page()
        assert page.count("dropped at look 1, after 6 items") == 2
        assert owner.post("/owner/systems", "S5").status_code == 404
        later = [*rated(raters, by_text, len(rows))]
        assert {row["system"] for row in first} == {
            f"S{k}" for k in range(RACE_SYSTEMS)
        }
        assert {row["system"] for row in later} == {"S2", "S3", "S4", "S5"}
        assert len(later) == 4 * RACE_ITEMS // 2
        waited(lambda: "The round has ended: best known." in owner.page())
        folder = tmp_path / "certificate"
        folder.mkdir()
        for name in ("certificate.json", "certified.jsonl", "outputs.jsonl"):
            content = owner.client.get(f"/owner/export/{name}").content
            (folder / name).write_bytes(content)
        assert all(rater.rate(by_text, 5) is None for rater in raters)
    finally:
        service.kill()
        for browser in (*raters, owner):
            browser.client.close()
    check_certificate(folder, names)


def check_certificate(folder: Path, names: list[str]) -> None:
    """It says who rated and who was dropped when; it holds, and a changed rating shows."""
    certificate = folder / "certificate.json"
    (study,) = json.loads(certificate.read_text())["dimensions"].values()
    assert {f"rater {name}" for name in study["raters"]} == {*names}
    assert [look["items"] for look in study["looks"]] == [6, 12]
    assert {*study["looks"][0]["dropped"]} == {"S0", "S1"}
    assert study["looks"][1] | {"at": ""} == {
        "items": 12,
        "spent": 1.0,
        "at": "",
        "dropped": {},
    }
    assert study["claim"].startswith("4 of 6 systems are tied for first")
    verified = run_well("compare", "--verify", certificate)
    assert "The certificate holds" in verified.out
    ratings = folder / "certified.jsonl"
    lines = read_jsonl(ratings.read_text())
    lines[0]["rating"] = 6 - lines[0]["rating"]
    shutil.copy(ratings, folder / "before.jsonl")
    jsonl(ratings, lines)
    changed = run("compare", "--verify", certificate)
    assert changed.code == 3
    assert "The signature is" in changed.out
