"""Every JSON object of the command line fits its schema, which is made from its record."""

from itertools import chain, product
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from command_line import (
    NEIGHBORS,
    headlines,
    json_of,
    jsonl,
    output_rows,
    rated_rows,
    run_well,
)
from refless.commands import COMMANDS
from refless.commands.next import planning
from schemas import fits, schemas

SMALL = "ratpred:embedding=8,hidden=8,epochs=3,synthetic_epochs=1"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of every kind: good ones, and those that leave everything undefined."""
    where = tmp_path_factory.mktemp("schemas")
    texts = headlines(30)
    same = " ".join(texts[:12])
    jsonl(where / "rated.jsonl", rated_rows())
    jsonl(where / "outputs.jsonl", output_rows())
    jsonl(where / "one.jsonl", [{"text": texts[0], "rating": 3}])
    jsonl(
        where / "two.jsonl", [{"text": t, "rating": i} for i, t in enumerate(texts[:2])]
    )
    jsonl(where / "equal.jsonl", [{"text": text, "rating": 3} for text in texts])
    jsonl(
        where / "thumbs.jsonl",
        [{"text": t, "rating": i % 2} for i, t in enumerate(texts)],
    )
    jsonl(
        where / "long.jsonl",
        [{"text": f"{same} {i}", "rating": i % 5} for i in range(20)],
    )
    jsonl(where / "short.jsonl", [{"text": ""}, {"text": "a"}, {"text": "яяя ЖЖЖ"}])
    sourced = [{"text": text, "source": "s"} for text in ("", "a", "яяя ЖЖЖ")]
    jsonl(
        where / "sourced.jsonl", sourced
    )  # one source, and no output with an estimate
    apart = [
        {"text": t, "annotator": f"p{i}", "rating": i % 5} for i, t in enumerate(texts)
    ]
    jsonl(
        where / "apart.jsonl", apart
    )  # each person rated one text: nothing to correlate
    systems = [
        {
            "id": str(i),
            "text": text,
            "rating": i % 5,
            "system": "ab"[i % 2],
            "item": f"s{i // 2}",
            "logprob": -5 - i % 7,
            "reference": texts[i // 2],
            "good": i % 3,
        }
        for i, text in enumerate(texts)
    ]
    jsonl(where / "systems.jsonl", systems)
    plain = [{"text": row["text"], "reference": row["reference"]} for row in systems]
    jsonl(where / "plain.jsonl", plain)
    many = [
        {**row, "annotator": who, "good": i % 3}
        for (i, row), who in product(enumerate(plain), "pq")
    ]
    jsonl(
        where / "annotated.jsonl",
        [{**row, "rating": i % 5} for i, row in enumerate(many)],
    )
    triples = [
        {"id": t, "context": t, "message": t, "response": t[::-1]} for t in texts
    ]
    jsonl(where / "corpus.jsonl", triples)
    sides = [{"model_a": "a", "model_b": "b", "rater": who} for who in "pq"]
    judged = [
        {"prompt": f"q{i}", "output_a": t, "output_b": t[::-1]}
        for i, t in enumerate(texts)
    ]
    pairs = [
        {**one, **side, "winner": "ab"[i % 3 % 2], "good_a": i % 5, "good_b": 2}
        for (i, one), side in product(enumerate(judged), sides)
    ]
    scored = [
        {"item": i // 2, "system": "ab"[i % 2], "score": i % 3} for i in range(12)
    ]
    jsonl(where / "runs.jsonl", scored)
    jsonl(where / "pairs.jsonl", pairs)
    jsonl(where / "two-pairs.jsonl", pairs[1:4])
    jsonl(where / "seeds.jsonl", [{**row, "rating": 5} for row in triples[:3]])
    (where / "mined").mkdir()
    return where


def strict(part: Any) -> list[Any]:
    """Every object of a schema that names properties, wherever it stands."""
    if isinstance(part, list):
        return [*chain.from_iterable(map(strict, part))]
    if not isinstance(part, dict):
        return []
    here = [part] if part.get("type") == "object" and "properties" in part else []
    return here + strict(list(part.values()))


@pytest.mark.parametrize(
    "found",
    [*chain.from_iterable(map(schemas, COMMANDS))],
    ids=lambda one: one["$ref"],
)
def test_schemas_are_strict(found: Any) -> None:
    """Valid schemas of the 2020-12 draft, without room for names that they do not list."""
    Draft202012Validator.check_schema(found)
    assert found["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    objects = strict(found)
    assert found["$ref"].rpartition("/")[2] in found["$defs"]
    assert objects
    for part in objects:
        assert part["additionalProperties"] is False
        assert {*part["required"]} == {*part["properties"]}


BY_NEIGHBORS = [  # with BLEU Neighbors, also where everything is undefined
    "score outputs.jsonl --rated rated.jsonl --scale 1 5",
    "score short.jsonl --rated rated.jsonl",
    "score outputs.jsonl --rated one.jsonl",
    "score long.jsonl --rated long.jsonl",
    "score sourced.jsonl --rated rated.jsonl",
    "validate rated.jsonl --scale 1 5 --group source",
    "validate one.jsonl",
    "validate two.jsonl",
    "validate thumbs.jsonl",
    "validate long.jsonl --scale 0 4",
    "validate apart.jsonl",
    "explain --rated rated.jsonl --id t001 --scale 1 5",
    "explain --rated rated.jsonl --id o03 --outputs outputs.jsonl",
    "explain --rated one.jsonl --id 1",
    "explain --rated rated.jsonl ab",
]
BY_OTHERS = [  # without --estimator, with others, with several; of commands without
    "score outputs.jsonl --rated rated.jsonl",
    "score short.jsonl --rated thumbs.jsonl --scale 0 1",
    "validate rated.jsonl --scale 1 5",
    "validate equal.jsonl",
    "validate apart.jsonl --estimator gp --estimator bleu-neighbors",
    "compare systems.jsonl --scale 0 4",
    "compare systems.jsonl --selection unknown",
    "compare plain.jsonl short.jsonl --rated systems.jsonl",
    "gate systems.jsonl --baseline a --candidate b --margin 4",
    "validate systems.jsonl --estimator gp --score-column good",
    "validate systems.jsonl --estimator bleu-neighbors --score-column good",
    "explain --rated rated.jsonl --id t001",
    "validate pairs.jsonl --score-column good",
    "validate two-pairs.jsonl",
    "score sourced.jsonl --rated pairs.jsonl",
    "score sourced.jsonl --rated two-pairs.jsonl",
    "compare runs.jsonl --margin 0.5",
    "gate runs.jsonl --baseline a --margin 4",
    "compare pairs.jsonl",
    "gate two-pairs.jsonl --baseline b --margin 0.5",
    "judge rated.jsonl",
    "judge rated.jsonl --scale 1 5",
    "judge pairs.jsonl --score-column good --resamples 40",
    "judge two-pairs.jsonl --score-column good --resamples 40",
    "metric systems.jsonl -m bleu -m rouge-l",
    "judge systems.jsonl --score-column good -m bleu --resamples 40",
    "judge systems.jsonl --score-column good --resamples 40",
    "judge annotated.jsonl --score-column good --resamples 40",
    "next outputs.jsonl --rated rated.jsonl --goal learn -n 3",
    "next outputs.jsonl --rated rated.jsonl --goal mean -n 3 --scale 1 5",
    "next outputs.jsonl --goal compare -n 2",
    "next outputs.jsonl --rated one.jsonl --goal compare -n 2",
    "next short.jsonl --rated equal.jsonl --goal mean",
    "next --plan",
    "next --plan --scale 1 5 --within 0.4",
    "next --plan --within 0.001",
    "next --plan -n 12 --base-rate 0.99",
    "huse systems.jsonl --human-label a",
    "stress systems.jsonl -m bleu --probe frequent --probe rare --resamples 40",
    "mine corpus.jsonl --seeds seeds.jsonl --out-dir mined",
    "fit rated.jsonl --to fitted.safetensors",
    "demo",
    "list estimators",
    "list datasets",
]


@pytest.fixture(autouse=True)
def few_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans try fewer ratings: 20,000 take seconds."""
    monkeypatch.setattr(planning, "MOST", 1_000)


@pytest.mark.parametrize(
    "words",
    [*(f"{words} --estimator bleu-neighbors" for words in BY_NEIGHBORS), *BY_OTHERS],
)
def test_outputs_fit(folder: Path, words: str) -> None:
    """The JSON of real command lines, in which files are those of the folder, fits its schema."""
    files = (".jsonl", "mined", ".safetensors")
    first, *asked = words.split()
    asked = [str(folder / word) if word.endswith(files) else word for word in asked]
    ran = run_well(first, *asked, "--format", "json")
    fits(ran.json)
    assert "NaN" not in ran.out


@pytest.mark.parametrize(
    "words",
    [
        "rated.jsonl --scale 1 5 ensemble_size=2",
        "equal.jsonl",
    ],
)
def test_trained_models_fit(folder: Path, words: str) -> None:
    """So do models, also where no correlation is defined."""
    pytest.importorskip("torch", reason="torch is not installed")
    network = [word for word in words.split() if "=" in word]
    flags = [word for word in words.split() if "=" not in word]
    files = [folder / word if word.endswith(".jsonl") else word for word in flags]
    small = ("--estimator", ",".join([SMALL, *network]), "--threads", 1)
    ran = run_well(
        "train",
        *files,
        "--to",
        folder / "model.safetensors",
        *small,
        "--format",
        "json",
    )
    fits(ran.json)
    assert "NaN" not in ran.out


def test_a_missing_and_an_added_name_are_noticed(folder: Path) -> None:
    """The schemas refuse what the contract does not have."""
    found = json_of("validate", folder / "rated.jsonl", *NEIGHBORS)
    for broken in (
        {name: value for name, value in found.items() if name != "made_of"},
        {**found, "extra": 1},
        {**found, "n": "48"},
        {**found, "estimator": {**found["estimator"], "spearman_interval": [0.1]}},
        {**found, "estimator": {**found["estimator"], "auc": "0.5"}},
        {**found, "format": 2},
    ):
        with pytest.raises(ValidationError):
            fits(broken)
