"""Raters' instructions: their files, safe HTML, consent before the first item."""

import json
from pathlib import Path
from typing import Any

import pytest

from command_line import jsonl, output_rows, run
from refless.extensions.serve.project import (
    Gold,
    Project,
    chat,
    markdown,
    project_of,
    turns_of,
)
from refless.extensions.serve.result import Task
from refusals import bad_input
from serving import HOSTILE, client, joined, opened, posted

TOML = """
title = "Are these answers usable?"
guidelines = "guide.md"
consent = "I am 18 or older."
render = "markdown"
labels = {1 = "unusable", 5 = "publishable"}

[[gold]]
id = "o03"
answer = 2
why = "It names the wrong place."
"""


def test_project_is_toml_or_json(tmp_path: Path) -> None:
    """The same by either; guidelines are the text of the file beside it."""
    (tmp_path / "guide.md").write_text("# Rate *usefulness*", "utf-8")
    (tmp_path / "p.toml").write_text(TOML, "utf-8")
    project = project_of(str(tmp_path / "p.toml"))
    assert project.guidelines == "# Rate *usefulness*"
    assert project.labels == {"1": "unusable", "5": "publishable"}
    assert project.gold == (Gold(id="o03", answer=2, why="It names the wrong place."),)
    rows = {
        "title": project.title,
        "guidelines": "guide.md",
        "consent": project.consent,
        "render": "markdown",
        "labels": project.labels,
        "gold": [{"id": "o03", "answer": 2, "why": project.gold[0].why}],
    }
    (tmp_path / "p.json").write_text(json.dumps(rows), "utf-8")
    assert project_of(str(tmp_path / "p.json")) == project


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("p.toml", "title = 3", "Expected `str`, got `int` - at `$.title`"),
        ("p.toml", "titel = 'x'", "a project has title, guidelines"),
        ("p.toml", "title", "this is not TOML"),
        ("p.json", "{", "not JSON"),
        ("p.toml", "render = 'html'", "Invalid enum value 'html'"),
        ("p.toml", "guidelines = 'nowhere.md'", "nowhere.md"),
        (
            "p.toml",
            "return_url = 'javascript:alert(1)'",
            "is no web address; give a link that",
        ),
        ("p.toml", "return_url = 'https://a.example/ b'", "is no web address"),
        ("p.toml", "return_url = 'http://['", "is no web address"),
        ("p.toml", "adjudicate = -1", "Expected `float` >= 0.0 - at `$.adjudicate`"),
        ("p.toml", "pay = inf", "Expected `float` <= 1000000000.0 - at `$.pay`"),
        ("p.toml", "pay = nan", "at `$.pay`"),
        ("p.toml", "lease = inf", "Expected `float` <= 1000000000.0 - at `$.lease`"),
        ("p.toml", "lease = nan", "at `$.lease`"),
        ("p.toml", "until = 'difference known to 0'", "at `$.until`"),
        ("p.toml", "until = 'win rate to .00'", "at `$.until`"),
        ("p.toml", "most_items = -1", "Expected `int` >= 0 - at `$.most_items`"),
        ("p.toml", "pay = -2.5", "Expected `float` >= 0.0 - at `$.pay`"),
        (
            "p.toml",
            "labels = {9 = 'best'}",
            "labels has '9', which is not asked; it may have 1, 2",
        ),
        ("p.toml", "gold = [{id = 'nowhere', answer = 1}]", "gold has 'nowhere'"),
        ("p.toml", "gold = [{id = 'o01', answer = 9}]", "gold has '9'"),
        ("p.toml", "questions = {style = 'Is it?'}", "questions has 'style'"),
    ],
)
def test_faults_of_a_project(
    tmp_path: Path, name: str, text: str, problem: str
) -> None:
    """Each names the file and what to do."""
    (tmp_path / name).write_text(text, "utf-8")
    outputs = jsonl(tmp_path / "o.jsonl", output_rows())
    ran = run("rate", outputs, "--project", tmp_path / name)
    assert ran.refuses(problem)


def test_no_project_there() -> None:
    with bad_input("cannot be read"):
        project_of("/nowhere/p.toml")


def test_rendered_texts_are_safe() -> None:
    """HTML is shown as written, pictures are not fetched, links lead to no script."""
    hostile = (
        f"**bold** {HOSTILE} ![x](https://a.example/x.png) [go](javascript:alert(1))"
    )
    html = markdown(hostile)
    assert "<strong>bold</strong>" in html
    for tag in ("<script", "<img", 'href="javascript'):
        assert tag not in html
    assert "<script" not in chat(f"User: {HOSTILE}\nBot{HOSTILE}: x")


def test_chats_are_turns() -> None:
    """By lines or as messages; what stands before the first turn is nobody's."""
    turns = [("User", "Hi\nthere"), ("Assistant", "Hello")]
    assert turns_of("User: Hi\nthere\nAssistant: Hello") == turns
    messages = [{"role": who, "content": text} for who, text in turns]
    assert turns_of(json.dumps(messages)) == turns
    assert turns_of("So\nUser: Hi") == [("", "So"), ("User", "Hi")]
    assert chat("User: a\nBot: b").count('class="turn" dir="auto"') == 2


def test_consent_comes_first(database: str) -> None:
    """Nothing is shown or saved before; it is remembered, also by the next server."""
    task = Task(
        project=Project(consent="I agree.", render="markdown", title="Is it <good>?")
    )
    store = opened(database, task)
    rater = store.add_rater("")
    with client(store) as web:
        headers = joined(web, store, rater)
        assert web.get("/rate/next").status_code == 403
        assert "Is it &lt;good&gt;?" in web.get("/").text
        assert _setting(web)["asks"] is True
        for _ in range(2):
            assert web.post("/rate/consent", headers=headers).status_code == 200
        unit = web.get("/rate/next").json()["unit"]
        assert [text.startswith("<p>") for text in unit["html"]["texts"]] == [True]
        assert "<b>" not in unit["html"]["source"]
        sent = posted("rated", unit, value=3)
        assert (
            "html"
            in web.post("/rate/events", json=sent, headers=headers).json()["next"]
        )
    store.close()
    again = opened(database, task)
    assert again.consents == {rater.id}
    again.close()


def _setting(web: Any) -> dict[str, Any]:
    import html
    import re

    (found,) = re.findall('name="setting" content="([^"]+)"', web.get("/").text)
    setting: dict[str, Any] = json.loads(html.unescape(found))
    return setting


def test_addresses_may_be_in_capitals(tmp_path: Path) -> None:
    """The scheme of a web address has no case (RFC 3986, 3.1)."""
    (tmp_path / "p.toml").write_text(
        "return_url = 'HTTPS://a.example/b'\nuntil = 'difference known to 0.05'",
        "utf-8",
    )
    assert project_of(str(tmp_path / "p.toml")).return_url == "HTTPS://a.example/b"
