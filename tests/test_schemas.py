"""Every JSON object of the command line fits its schema in docs/schema."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from command_line import headlines, jsonl, output_rows, rated_rows, run

SCHEMAS = Path(__file__).parents[1] / "docs" / "schema"
COMMANDS = ("score", "validate", "explain", "train")
SMALL = "--embedding 8 --hidden 8 --passes 3 --synthetic-passes 1 --threads 1"


def schema(command: str) -> Any:
    return json.loads((SCHEMAS / f"{command}.json").read_text(encoding="utf-8"))


def fits(found: Any) -> None:
    Draft202012Validator(schema(found["command"])).validate(found)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of every kind: good ones, and those that leave everything undefined."""
    where = tmp_path_factory.mktemp("schemas")
    texts = headlines(30)
    same = " ".join(texts[:12])
    jsonl(where / "rated.jsonl", rated_rows())
    jsonl(where / "outputs.jsonl", output_rows())
    jsonl(where / "one.jsonl", [{"text": texts[0], "rating": 3}])
    jsonl(where / "two.jsonl", [{"text": t, "rating": i} for i, t in enumerate(texts[:2])])
    jsonl(where / "equal.jsonl", [{"text": text, "rating": 3} for text in texts])
    jsonl(where / "thumbs.jsonl", [{"text": t, "rating": i % 2} for i, t in enumerate(texts)])
    jsonl(where / "long.jsonl", [{"text": f"{same} {i}", "rating": i % 5} for i in range(20)])
    jsonl(where / "short.jsonl", [{"text": ""}, {"text": "a"}, {"text": "яяя ЖЖЖ"}])
    sourced = [{"text": text, "source": "s"} for text in ("", "a", "яяя ЖЖЖ")]
    jsonl(where / "sourced.jsonl", sourced)  # one source, and no output with an estimate
    apart = [{"text": t, "annotator": f"p{i}", "rating": i % 5} for i, t in enumerate(texts)]
    jsonl(where / "apart.jsonl", apart)  # each person rated one text: nothing to correlate
    return where


def strict(part: Any) -> list[Any]:
    """Every object of a schema that names properties, wherever it stands."""
    if isinstance(part, list):
        return [found for entry in part for found in strict(entry)]
    if not isinstance(part, dict):
        return []
    here = [part] if part.get("type") == "object" and "properties" in part else []
    return here + strict(list(part.values()))


@pytest.mark.parametrize("command", COMMANDS)
def test_schemas_are_strict(command: str) -> None:
    """Valid schemas of the 2020-12 draft, without room for names that they do not list."""
    found = schema(command)
    Draft202012Validator.check_schema(found)
    assert found["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    objects = strict(found)
    assert len(objects) > 2
    for part in objects:
        assert part["additionalProperties"] is False
        assert {*part["required"]} <= {*part["properties"]}
        assert {*part["properties"]} - {*part["required"]} <= {"auc", "auc_interval", "best_of"}


@pytest.mark.parametrize(
    "words",
    [
        "score outputs.jsonl --rated rated.jsonl",
        "score outputs.jsonl --rated rated.jsonl --scale 1 5 --subsample 0.5",
        "score short.jsonl --rated rated.jsonl",
        "score short.jsonl --rated rated.jsonl --scale 1 5",
        "score outputs.jsonl --rated one.jsonl",
        "score long.jsonl --rated long.jsonl",
        "score outputs.jsonl --rated rated.jsonl --weights kernel",
        "score outputs.jsonl --rated rated.jsonl --best-of item",
        "score outputs.jsonl --rated rated.jsonl --scale 1 5 --best-of source --fallback-below 0.5",
        "score sourced.jsonl --rated rated.jsonl --best-of source --fallback-below 3",
        "score outputs.jsonl --rated one.jsonl --best-of item",
        "validate rated.jsonl",
        "validate rated.jsonl --scale 1 5 --group source",
        "validate one.jsonl",
        "validate one.jsonl --scale 1 5",
        "validate two.jsonl",
        "validate equal.jsonl --min-neighbors 1 --max-fraction 1",
        "validate thumbs.jsonl --min-neighbors 1 --max-fraction 1",
        "validate thumbs.jsonl",
        "validate long.jsonl --scale 0 4",
        "validate apart.jsonl",
        "explain --rated rated.jsonl --id t001 --scale 1 5",
        "explain --rated rated.jsonl --id o03 --outputs outputs.jsonl",
        "explain --rated one.jsonl --id 1",
        "explain --rated rated.jsonl ab",
        "score outputs.jsonl --rated rated.jsonl --estimator kriging",
        "score short.jsonl --rated thumbs.jsonl --estimator kriging --scale 0 1",
        "validate apart.jsonl --estimator kriging",
        "explain --rated rated.jsonl --id t001 --estimator kriging",
    ],
)
def test_outputs_fit(folder: Path, words: str) -> None:
    """Real results fit, also where everything is undefined."""
    asked = [folder / word if word.endswith(".jsonl") else word for word in words.split()]
    ran = run(*asked, "--format", "json")
    assert ran.code == 0, ran.err
    fits(ran.json)
    assert "NaN" not in ran.out


@pytest.mark.parametrize(
    "words",
    [
        "rated.jsonl --scale 1 5 --members 2",
        "rated.jsonl --no-errors --ignore-source --references outputs.jsonl",
        "equal.jsonl",
        "thumbs.jsonl --scale 0 1",
    ],
)
def test_trained_models_fit(folder: Path, words: str) -> None:
    """So do models, also where no correlation is defined."""
    pytest.importorskip("torch", reason="torch is not installed")
    asked = [folder / word if word.endswith(".jsonl") else word for word in words.split()]
    ran = run("train", *asked, "--out-dir", folder / "model", *SMALL.split(), "--format", "json")
    assert ran.code == 0, ran.err
    fits(ran.json)
    assert "NaN" not in ran.out


def test_both_sides_are_seen(folder: Path) -> None:
    """The cases above hold an advice with a command, one without, and none."""
    commands = []
    for outputs in ("long.jsonl", "short.jsonl", "outputs.jsonl"):
        rated = "long.jsonl" if outputs == "long.jsonl" else "rated.jsonl"
        found = run("score", folder / outputs, "--rated", folder / rated, "--format", "json").json
        commands.append(found["advice"] and found["advice"]["command"])
    assert commands[0].startswith("refless score ")
    assert commands[1:] == [None, None]


def test_a_missing_and_an_added_name_are_noticed(folder: Path) -> None:
    """The schemas refuse what the contract does not have."""
    found = run("validate", folder / "rated.jsonl", "--format", "json").json
    for broken in (
        {name: value for name, value in found.items() if name != "advice"},
        {**found, "extra": 1},
        {**found, "n": "48"},
        {**found, "estimator": {**found["estimator"], "spearman_interval": [0.1]}},
        {**found, "estimator": {**found["estimator"], "auc": 0.5}},
    ):
        with pytest.raises(ValidationError):
            fits(broken)


def test_an_item_has_an_estimate_or_a_reason(folder: Path) -> None:
    """Never both, never neither."""
    words = ("score", folder / "outputs.jsonl", "--rated", folder / "rated.jsonl")
    found = run(*words, "--format", "json").json
    for item in ({"estimate": None, "reason": ""}, {"estimate": 0.5, "reason": "too-few"}):
        with pytest.raises(ValidationError):
            fits({**found, "items": [{**found["items"][0], **item}]})
