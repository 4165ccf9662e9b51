"""`refless rate` and `refless serve` as commands: what they prepare, and what they refuse."""

import json
import socket
from importlib import util
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from command_line import jsonl, output_rows, rated_rows, run, run_well
from refless.data.tables import Reading, read_outputs, read_pool
from refless.extensions.serve.rate import apart

pytest.importorskip("starlette")
pytest.importorskip("sqlalchemy")


@pytest.fixture
def outputs(tmp_path: Path) -> Path:
    return jsonl(tmp_path / "outputs.jsonl", output_rows())


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The service that would have been started: (address, lines)."""
    from refless.extensions.serve import app

    found: list[Any] = []
    monkeypatch.setattr(
        app, "serve", lambda _, where, lines, *__: found.append((where, lines))
    )
    return found


def test_links_are_printed(outputs: Path, served: list[Any]) -> None:
    """The owner's is new each time, raters' stay."""
    for _ in range(2):
        ran = run_well("rate", outputs, "--raters", 2, "--port", 8111)
        assert "12 outputs to rate, from 1 to 5." in ran.out
    (_, first), (where, second) = served
    assert (where.host, where.port) == ("127.0.0.1", 8111)
    assert [line.split(":")[0] for line in first] == [
        "owner",
        "rater r01",
        "rater r02",
        "API token",
    ]
    assert all(
        line.split(": ")[1].startswith("http://127.0.0.1:8111/join/")
        for line in first[:3]
    )
    assert first[0] != second[0]
    assert first[1:3] == second[1:3]
    assert outputs.with_name("outputs.jsonl.ratings.sqlite").exists()


def test_the_end_says_how_to_read_the_ratings(
    outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last line has the place of the ratings, and the command that reads them."""
    from refless.extensions.serve import app

    said: list[str] = []
    monkeypatch.setattr(app, "serve", lambda *given: said.append(given[-1]()))
    run_well("rate", outputs, "--scale", 1, 4)
    assert f"kept in {outputs}.ratings.sqlite;" in said[0]
    assert said[0].endswith("refless ratings.jsonl --scale 1 4")
    rows = [
        {"id": f"{k}{name}", "item": k, "system": name, "text": f"{name} says {k}"}
        for k, name in product(range(6), "AB")
    ]
    file = jsonl(outputs.with_name("two.jsonl"), rows)
    page = outputs.with_name("page.json")
    page.write_text(json.dumps({"until": "difference shown", "looks": 2}))
    ran = run_well("rate", file, "--project", page)
    assert said[1].endswith("the line that comes with the first planned look")
    assert "--audit 1 makes all ratings count" in ran.err


def test_token_of_the_environment_is_not_printed(
    outputs: Path, served: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFLESS_TOKEN", "mine")
    run("rate", outputs)
    assert "mine" not in str(served[0][1])


def test_pairs_are_of_two_systems(outputs: Path, served: list[Any]) -> None:
    ran = run("rate", outputs, "--ask", "pair", "--format", "json")
    assert (ran.code, ran.json["n_items"], ran.json["ask"]) == (0, 6, "pair")


def test_each_file_is_a_system(tmp_path: Path, served: list[Any]) -> None:
    """Ids that both files have name what was answered, as everywhere else."""
    rows = [{"id": k, "text": f"text {k}"} for k in "123"]
    files = [jsonl(tmp_path / f"{name}.jsonl", rows) for name in ("old", "new")]
    rows[0]["text"] = "another text"
    jsonl(tmp_path / "new.jsonl", rows)
    ran = run("rate", *files, "--ask", "pair", "--format", "json")
    assert (ran.code, ran.json["n_items"]) == (0, 3)


def test_serve_says_what_it_serves(tmp_path: Path, served: list[Any]) -> None:
    ran = run_well(
        "serve", jsonl(tmp_path / "rated.jsonl", rated_rows()), "--scale", 1, 5
    )
    assert "from 48 rated texts" in ran.out
    assert served[0][1][0] == "http://127.0.0.1:8000"


def test_backup(outputs: Path, served: list[Any]) -> None:
    """A copy, and nothing is served."""
    run("rate", outputs)
    copy = outputs.with_name("copy.sqlite")
    ran = run("rate", outputs, "--backup", copy)
    assert (ran.code, len(served), copy.exists()) == (0, 1, True)
    again = run("rate", outputs, "--backup", copy)
    assert again.refuses("is there already")
    nowhere = run("rate", outputs, "--backup", outputs / "copy.sqlite")
    assert nowhere.refuses("the copy cannot be written")
    other = ("--database", outputs)
    for words in (other, (*other, "--backup", outputs.with_name("b"))):
        ran = run("rate", outputs, *words)
        assert ran.refuses("the database cannot be opened (file is not a database)")


def test_restore(outputs: Path, served: list[Any]) -> None:
    """The backup is the database, what was there has another name, and nothing is served."""
    run("rate", outputs)
    copy = outputs.with_name("copy.sqlite")
    before = served[0][1][1]
    run("rate", outputs, "--backup", copy)
    run("rate", outputs, "--raters", 2)
    ran = run("rate", outputs, "--restore", copy)
    assert (ran.code, len(served)) == (0, 2)
    assert f"outputs.jsonl.ratings.sqlite is now {copy}; what was there is" in ran.out
    assert outputs.with_name("outputs.jsonl.ratings.sqlite.before").exists()
    run("rate", outputs)
    assert served[2][1][1] == before  # the rater's link holds
    none = run("rate", outputs, "--restore", outputs.with_name("none"))
    assert none.refuses(".before is there already")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--scale 5 1", "--scale needs two whole numbers, the lower one first"),
        ("--scale 0.5 3", "--scale needs two whole numbers"),
        ("--scale 0 100", "for at most 11 buttons; got 0 100"),
        ("--dimension style=1..40", "for at most 11 buttons; got 1 40"),
        ("--ask stars", "--ask must be one of rating, pair, best"),
        ("--overlap 2", "--overlap must be from 0 to 1, got 2"),
        ("--trust-proxy *", "--trust-proxy needs an address or a network"),
        ("--per-item 0", "--per-item must be 1 or more, got 0"),
        ("--port 0", "--port must be from 1 to 65535"),
        ("--database mysql://x", "--database is a file (SQLite) or postgresql://"),
        (
            "--database postgresql://nobody@127.0.0.1:1/x",
            "the database cannot be opened",
        ),
        (
            "--database postgresql://me:secret@host:port/x",
            "--database is no address of PostgreSQL",
        ),
    ],
)
def test_what_cannot_be(
    outputs: Path, served: list[Any], words: str, said: str
) -> None:
    ran = run("rate", outputs, *words.split())
    assert ran.refuses(said)
    assert "secret" not in ran.err
    assert not served


def test_texts_rated_before_are_not_the_outputs() -> None:
    """Not even with an output's text, id and system: others rated them, who may be stricter."""
    rows = [{"text": "a b c"}, {"text": "d e f"}]
    outputs = read_outputs(rows, Reading()).outputs
    rated = [
        {"id": "1", "text": "x y z", "rating": 1.0},
        {"id": "2", "text": "d e f", "system": "v1"},
    ]
    found = apart(rated, outputs)
    assert [one["id"] for one in found] == ["rated 1", "rated 2"]
    assert found[1]["system"] == "v1, rated before"
    ratings = [
        {"id": "1", "text": "a b c", "rating": 2.0},
        {"id": "2", "text": "d e f", "rating": 3.0},
    ]
    pool = read_pool([found[0], *ratings], Reading(scale=(1.0, 5.0))).pool
    assert pool.ids == ("rated 1", "1", "2")


def test_port_that_is_taken(outputs: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ran = run("rate", outputs, "--port", port)
    assert ran.refuses(f"cannot listen on 127.0.0.1, port {port}")


def test_another_address_is_said(outputs: Path, served: list[Any]) -> None:
    assert "others can reach it" in run("rate", outputs, "--host", "0.0.0.0").err
    assert "Phones in the same Wi-Fi do with --host" in run("rate", outputs).out


def test_ratings_that_are_there_are_said(tmp_path: Path, served: list[Any]) -> None:
    """In the outputs, which are asked again; and before, on what may be another scale."""
    rows = [{"text": f"text {i}", "rating": i % 5 or None} for i in range(10)]
    answers = jsonl(tmp_path / "answers.jsonl", rows)
    ran = run("rate", answers, "--rated", answers)
    assert "8 outputs of 10 have a rating already, and are asked again" in ran.notes
    assert "nothing was rated above 4 before" in ran.notes
    assert "2 outputs to rate" in run("rate", answers, "--where", "rating=").out


def test_missing_extra_names_its_install_line(
    outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = util.find_spec
    lacking = {"starlette"}
    monkeypatch.setattr(
        "refless.extensions.serve.rate.find_spec",
        lambda name: None if name in lacking else real(name),
    )
    ran = run("rate", outputs)
    assert ran.refuses("pip install '.[serve]'")


def test_old_ratings_teach_one_dimension(tmp_path: Path) -> None:
    """They do not say which one they are of."""
    outputs, rated = (
        jsonl(tmp_path / f"{name}.jsonl", rated_rows()) for name in ("o", "r")
    )
    ran = run(
        "rate",
        outputs,
        "--rated",
        rated,
        "--dimension",
        "fluency",
        "--dimension",
        "style",
    )
    assert ran.refuses("name one --dimension")
