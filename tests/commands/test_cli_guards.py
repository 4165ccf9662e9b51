"""Notes of score on copies, on training files and on outputs unlike all rated texts."""

from pathlib import Path

import numpy as np
import pytest

from command_line import ANY_NEIGHBOR, Ran, headlines, jsonl, rated_rows, run, too_wide
from rows import read_jsonl

SOURCES = 40


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rated headlines, outputs of which half are these headlines on other sources, odd ones."""
    where = tmp_path_factory.mktemp("guards")
    texts = [
        f"the {line} says the mayor of {i} towns"
        for i, line in enumerate(headlines(160))
    ]
    texts = (
        np.random.default_rng(0).permutation(texts).tolist()
    )  # both halves are of one kind
    rated = [
        {"id": f"r{i}", "source": f"s{i}", "text": text, "rating": 1 + i % 5}
        for i, text in enumerate(texts[:80])
    ]
    jsonl(where / "rated.jsonl", rated)
    for name, some in {
        "plain": texts[80:],
        "copies": [*texts[:30], *texts[80:110]],
    }.items():
        rows = [
            {"id": f"o{i}", "source": f"q{i}", "system": "parrot", "text": text}
            for i, text in enumerate(some)
        ]
        jsonl(where / f"{name}.jsonl", rows)
    odd = [
        {"id": f"x{i}", "source": f"q{i}", "text": f"{i} μῆνιν ἄειδε θεά"}
        for i in range(20)
    ]
    jsonl(where / "odd.jsonl", odd)
    return where


def scored(folder: Path, name: str, *more: object) -> Ran:
    return run(
        "score", folder / name, "--rated", folder / "rated.jsonl", *ANY_NEIGHBOR, *more
    )


def test_nothing_to_say(folder: Path) -> None:
    """Texts of the same kind: nothing on the terminal, all numbers in JSON."""
    assert "copy rated texts" not in scored(folder, "plain.jsonl").out
    report = scored(folder, "plain.jsonl", "--format", "json").json
    found = report["guards"]
    assert (report["warnings"], found["without_copies"]) == ([], None)
    assert found["copies"]["overall"]["count"] == 0
    assert found["unlike"]["n"] == 80


def test_copies(folder: Path) -> None:
    """The note counts copies, names what they copy and the mean without them, in 80 columns."""
    ran = scored(folder, "copies.jsonl")
    assert ran.out.startswith(
        "30 of 60 (50 %) of the outputs copy rated texts of other sources,"
    )
    assert not too_wide(ran.out)
    found = scored(folder, "copies.jsonl", "--format", "json").json
    guards = found["guards"]
    assert {one["id"]: one["rated"] for one in guards["copies"]["which"]} == {
        f"o{i}": f"r{i}" for i in range(30)
    }
    assert guards["without_copies"]["n"] == 30
    others = [item["estimate"] for item in found["items"][30:]]
    assert guards["without_copies"]["mean"] == pytest.approx(np.mean(others))


def test_unlike(folder: Path) -> None:
    """Greek among headlines, and in what it is odd; the farthest are named."""
    ran = scored(folder, "odd.jsonl", "--estimator", "gp:use_source=no")
    assert ran.out.startswith(
        "20 of 20 (100 %) of the outputs are unlike the rated texts ("
    )


def test_what_to_rate_is_of_the_system_that_is_named(folder: Path) -> None:
    """The farthest text of all is another system's, and ids are whole."""
    plain = read_jsonl((folder / "plain.jsonl").read_text())
    rows = [
        {
            "id": "farthest",
            "source": "q0",
            "system": "parrot",
            "text": "μῆνιν ἄειδε θεά",
        },
        *plain[1:40],
        *(
            {
                **row,
                "id": f"a-long-name-of-an-output-{i}",
                "system": "odd",
                "text": f"{i} arma",
            }
            for i, row in enumerate(plain[40:60])
        ),
    ]
    file = jsonl(folder / "two.jsonl", rows)
    ran = scored(folder, "two.jsonl", "--estimator", "gp:use_source=no")
    assert file.exists()
    said = ran.line
    assert "20 of 20 (100 %) of odd are unlike the rated texts (" in said
    named = said.split("such as ")[1].split(". ")[0].split(", ")
    assert len(named) == 3
    assert {*named} <= {f"a-long-name-of-an-output-{i}" for i in range(20)}


def test_rated_rows_are_rated_texts(folder: Path) -> None:
    """All of them: said first."""
    rows = jsonl(folder / "self.jsonl", rated_rows())
    ran = run("score", rows, "--rated", rows, *ANY_NEIGHBOR)
    assert ran.out.startswith("48 of 48 outputs are rated texts themselves")
