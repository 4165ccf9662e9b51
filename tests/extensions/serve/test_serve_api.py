"""The HTTP API: what `score` says, to the last digit, for whoever has the token."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from command_line import headlines, jsonl, output_rows, rated_rows, run, unnoted
from refless.commands.fit.run import fit
from refless.commands.score.run import score
from refless.extensions.serve.api import MOST_TEXTS
from refless.extensions.serve.app import application, serving_app
from refless.extensions.serve.serve import serve

TOKEN = "secret-token"
AUTH = {"authorization": f"Bearer {TOKEN}"}


@pytest.fixture(scope="module")
def rated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [{**row, "source": None} for row in rated_rows()]
    return jsonl(tmp_path_factory.mktemp("api") / "rated.jsonl", rows)


@pytest.fixture(scope="module")
def web(rated: Path) -> Iterator[Any]:
    from starlette.testclient import TestClient

    result = serve(str(rated), scale=(1, 5))
    with TestClient(serving_app(result.estimator, TOKEN)) as found:
        yield found


def rows_of_score(rated: Path, rows: Any) -> list[dict[str, Any]]:
    """The same rows by `score`."""
    found = score(rows, str(rated), scale=(1, 5)).to_dict()["items"]
    return [
        {
            "id": one["id"],
            "estimate": one["estimate"],
            "low": one["interval"][0],
            "high": one["interval"][1],
            "reason": one["reason"],
            "support": one["support"],
        }
        for one in found
    ]


def test_estimates_are_those_of_score(web: Any, rated: Path) -> None:
    """Bit for bit, abstentions too; JSON has shortest digits that read back as they were."""
    rows = output_rows(60)
    said = web.post("/estimate", json={"outputs": rows}, headers=AUTH).json()
    assert said["estimates"] == rows_of_score(rated, rows)
    assert said["scale"] == [1, 5]
    assert "estimate" in said["estimates"][0]
    assert "|scale:1,5|" in said["signature"]


def test_saved_estimator_serves_the_same(web: Any, rated: Path, tmp_path: Path) -> None:
    from starlette.testclient import TestClient

    fit(str(rated), to=tmp_path / "m.safetensors", scale=(1, 5))
    result = serve(str(tmp_path / "m.safetensors"))
    rows = output_rows(20)
    with TestClient(serving_app(result.estimator, TOKEN)) as other:
        answers = [
            one.post("/estimate", json={"outputs": rows}, headers=AUTH).json()
            for one in (web, other)
        ]
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    "body", [{"texts": headlines(3)}, headlines(3), {"outputs": headlines(3)}]
)
def test_texts_alone_are_enough(web: Any, body: Any) -> None:
    found = web.post("/estimate", json=body, headers=AUTH).json()["estimates"]
    assert [one["id"] for one in found] == ["1", "2", "3"]


def test_each_row_has_an_answer_also_if_ids_come_twice(web: Any) -> None:
    rows = [{"id": "1", "text": text} for text in ("a b c", "a b c", "d e f")]
    answer = web.post("/estimate", json=rows, headers=AUTH).json()
    assert [row["id"] for row in answer["estimates"]] == ["1", "1", "1"]


@pytest.mark.parametrize("path", ["/estimate", "/compare"])
@pytest.mark.parametrize(
    "sent", [None, "", "Bearer", "Bearer wrong", f"bearer {TOKEN}", TOKEN]
)
def test_nobody_gets_in_without_the_token(
    web: Any, path: str, sent: str | None
) -> None:
    headers = {} if sent is None else {"authorization": sent}
    method = "POST"
    answer = web.request(method, path, headers={**headers, "accept": "text/html"})
    assert (answer.status_code, [*answer.json()]) == (401, ["error"])


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"1", 400),
        (b'"text"', 400),
        (b"\xff", 400),
        (b"{}", 400),
        (b"[" * 100_000, 400),
        (b'{"texts": [1]}', 400),
        (b'{"texts": [null]}', 400),
        (b'{"outputs": [{}]}', 422),
        (b'{"outputs": [{"text": {"a": 1}}]}', 422),
        (b'{"texts": [' + b'"a",' * MOST_TEXTS + b'"a"]}', 413),
    ],
)
def test_bad_requests_are_refused(web: Any, body: bytes, status: int) -> None:
    for path in ("/estimate", "/compare"):
        answer = web.post(path, content=body, headers=AUTH)
        assert answer.status_code in (
            {status} if path == "/estimate" else {400, 413, 422}
        )
        assert [*answer.json()] == ["error"]


def test_nothing_to_estimate_is_nothing(web: Any) -> None:
    assert web.post("/estimate", json=[], headers=AUTH).json()["estimates"] == []


def test_compare_is_that_of_the_command(web: Any, tmp_path: Path) -> None:
    """The same object as `refless compare --format json`."""
    rows = [
        {
            "id": f"o{i}",
            "system": "ab"[i % 2],
            "item": f"i{i // 2}",
            "text": text,
            **({"rating": 1 + (i + i % 2) % 5} if i < 40 else {}),
        }
        for i, text in enumerate(headlines(60))
    ]
    path = jsonl(tmp_path / "outputs.jsonl", rows)
    asked = {"outputs": rows, "scale": [1, 5], "seed": 3}
    said = web.post("/compare", json=asked, headers=AUTH).json()
    printed = run("compare", path, "--scale", 1, 5, "--seed", 3, "--format", "json")
    assert unnoted(said) == printed.found


def test_compare_without_ratings_takes_those_that_are_served(web: Any) -> None:
    rows = [
        {"system": "ab"[i % 2], "item": f"{i // 2}", "text": t}
        for i, t in enumerate(headlines(30))
    ]
    (pair,) = web.post("/compare", json={"outputs": rows}, headers=AUTH).json()["pairs"]
    assert pair["method"] == "estimates"


@pytest.mark.parametrize(
    "more",
    [
        {"scale": 3},
        {"scale": ["a", "b"]},
        {"seed": -1},
        {"seed": "x"},
        {"system": 7},
        {"selection": "guess"},
    ],
)
def test_bad_options_of_compare_are_refused(web: Any, more: dict[str, Any]) -> None:
    rows = [
        {"system": "ab"[i % 2], "item": str(i // 2), "text": t, "rating": i % 5}
        for i, t in enumerate(headlines(8))
    ]
    answer = web.post("/compare", json={"outputs": rows, **more}, headers=AUTH)
    assert answer.status_code in {400, 422}


def test_compare_says_what_rows_lack(web: Any) -> None:
    """The messages are those of the command."""
    for row, said in (
        ({"text": "a"}, "no column for the system"),
        ({"text": "a", "system": "x"}, "there is one system, 'x'"),
    ):
        answer = web.post("/compare", json={"outputs": [row]}, headers=AUTH)
        assert answer.status_code == 422
        assert said in answer.json()["error"]


def test_health_and_description_are_open(web: Any) -> None:
    assert web.get("/healthz").json()["status"] == "ok"
    said = web.get("/openapi.json").json()
    assert said["openapi"] == "3.1.0"
    assert {*said["paths"]} == {"/estimate", "/compare", "/healthz"}


def test_answers_fit_their_description(web: Any) -> None:
    """Every schema of the document is one, and what comes fits it."""
    said = web.get("/openapi.json").json()
    kinds = said["components"]["schemas"]
    for one in kinds.values():
        Draft202012Validator.check_schema(one)
    answer = web.post("/estimate", json=["", "a", *headlines(5)], headers=AUTH).json()
    whole = {**kinds["Estimates"], "components": said["components"]}
    Draft202012Validator(whole).validate(answer)
    with pytest.raises(Exception, match="is a required property"):
        Draft202012Validator(whole).validate({"estimates": []})


def test_too_many_requests(rated: Path) -> None:
    """Of somebody who tries tokens; who has one is asked to wait for nobody else."""
    from starlette.testclient import TestClient

    from refless.extensions.serve.access import Pace
    from refless.extensions.serve.api import Api

    api = Api(TOKEN, lambda: None, pace=Pace(3, 0.0))
    with TestClient(application(api.routes())) as web:
        tried = [
            web.post("/compare", headers={"authorization": "x"}).status_code
            for _ in range(5)
        ]
        mine = [web.post("/compare", headers=AUTH).status_code for _ in range(5)]
    assert tried == [401, 401, 401, 429, 429]
    assert mine == [400] * 5


def test_no_estimator_yet() -> None:
    from starlette.testclient import TestClient

    from refless.extensions.serve.api import Api

    with TestClient(application(Api(TOKEN, lambda: None).routes())) as web:
        answer = web.post("/estimate", json=["a"], headers=AUTH)
    assert (answer.status_code, "no estimator yet" in answer.text) == (503, True)
