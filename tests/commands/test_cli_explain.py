"""refless explain: a text, standard input, an output by its id, a rated text held out."""

from pathlib import Path
from typing import Any

import pytest

from command_line import (
    NEIGHBORS,
    json_of,
    jsonl,
    one_line,
    output_rows,
    rated_rows,
    run,
    run_well,
    too_wide,
    unnoted,
)
from refless.commands.explain.result import ExplainResult
from refless.data.human import pool_of
from refless.estimators import Explanation
from refless.estimators.explanation import Part
from refless.estimators.neighbors import BLEUNeighbors
from rows import read_jsonl

TEXT = "choir wins at noon in Torby"


def explained(folder: Path, *words: object, stdin: str = "") -> Any:
    """The object of an explanation by neighbours."""
    by = ("explain", *NEIGHBORS, "--rated", folder / "rated.jsonl", "--format", "json")
    return run(*by, *words, stdin=stdin).json


def test_a_text(folder: Path) -> None:
    """Neighbours from the most similar on; their shares make up the whole estimate."""
    found = explained(folder, TEXT, "--most", 100)
    similar = [neighbor["similarity"] for neighbor in found["neighbors"]]
    assert similar == sorted(similar, reverse=True)
    assert min(similar) >= 0.08 - 1e-12
    assert len(similar) == found["support"]
    assert sum(n["share"] for n in found["neighbors"]) == pytest.approx(1, abs=1e-12)
    mean = sum(n["share"] * n["rating"] for n in found["neighbors"])
    assert found["estimate"] == pytest.approx(mean, abs=1e-12)
    assert all(n["n_ratings"] == 3 for n in found["neighbors"])
    for neighbor in found["neighbors"]:
        assert all(
            part in TEXT and part in neighbor["text"] for part in neighbor["shared"]
        )
    assert len(explained(folder, TEXT, "--most", 2)["neighbors"]) == 2


def test_scale(folder: Path) -> None:
    """With a scale all is in the raters' units too."""
    plain = explained(folder, TEXT)
    found = explained(folder, TEXT, "--scale", 1, 5)
    assert (plain["scale"], found["scale"]) == (None, [1, 5])
    assert found["estimate"] == pytest.approx(plain["estimate"], abs=1e-12)
    assert found["neighbors"][0]["rating"] == pytest.approx(
        plain["neighbors"][0]["rating"]
    )


def test_standard_input(folder: Path) -> None:
    """- reads the text; only the line's end is dropped."""
    assert explained(folder, "-", stdin=f"{TEXT}\r\n") == explained(folder, TEXT)
    both = run("explain", "--rated", "-", "-", stdin="{}")
    assert both.refuses("only once")


def test_an_output_by_its_id(folder: Path) -> None:
    """The output of that id in --outputs; the same as its text."""
    by_id = explained(folder, "--id", "o03", "--outputs", folder / "outputs.jsonl")
    row = output_rows()[3]
    typed = explained(folder, row["text"], "--source", row["source"])
    assert unnoted(by_id) == unnoted(typed)


def test_a_rated_text_is_held_out(folder: Path) -> None:
    """Without --outputs the id is of a rated text, which is no evidence for itself."""
    found = explained(folder, "--most", "99", "--id", "t005")
    assert "t005" not in {neighbor["id"] for neighbor in found["neighbors"]}
    assert found["size"] == 47
    alone = ("--group", "id", "--format", "jsonl")
    held = run("validate", folder / "rated.jsonl", *NEIGHBORS, *alone)
    held = next(row for row in read_jsonl(held.out) if row["id"] == "t005")
    assert (found["estimate"], found["support"]) == (held["estimate"], held["support"])


def test_sources_go_with_their_texts(folder: Path) -> None:
    """The Gaussian process reads them: an id brings its own, a text gets one with --source."""
    words = ("explain", "--rated", folder / "rated.jsonl")
    shape = ("--format", "json")
    row = output_rows()[3]
    held = run(*words, "--id", "t005", *shape)
    by_id = run(
        *words, "--id", row["id"], "--outputs", folder / "outputs.jsonl", *shape
    )
    typed = run(*words, row["text"], "--source", row["source"], *shape)
    assert held.code == 0, held.err
    assert by_id.code == 0, by_id.err
    assert typed.found == by_id.found
    assert run(*words, row["text"], *shape).code == 2
    assert run(*words, "--id", "t005", "--source", "s1").code == 2


@pytest.mark.parametrize(
    ("text", "reason"), [("", "empty"), ("ab", "too-short"), ("ЖЖЖЖЖ ЩЩЩ", "too-few")]
)
def test_no_evidence(folder: Path, text: str, reason: str) -> None:
    """No estimate, but a reason in words, and no empty table."""
    words = ("explain", *NEIGHBORS, "--rated", folder / "rated.jsonl", text)
    found = run_well(*words, "--format", "json")
    assert found.json["estimate"] is None
    assert found.json["reason"] == reason
    shown = run(*words).out
    assert f"No estimate ({reason})" in shown
    assert "Evidence" not in shown


@pytest.mark.parametrize(
    "words",
    [
        (),
        (TEXT, "--id", "t001"),
        (TEXT, "--outputs", "outputs.jsonl"),
        ("--id", "nobody"),
        (TEXT, "--most", "0"),
        (TEXT, "--most", "-3"),
    ],
)
def test_wrong_usage(folder: Path, words: tuple[str, ...]) -> None:
    """Neither or both of TEXT and --id, an unknown id, no neighbours to show."""
    ran = run("explain", "--rated", folder / "rated.jsonl", *words)
    assert ran.refuses("refless: error: ")
    assert not ran.out


def test_bytes_that_are_no_text(folder: Path) -> None:
    """An argument that is not UTF-8 arrives with lone surrogates; no format breaks on it."""
    words = ("explain", *NEIGHBORS, "--rated", folder / "rated.jsonl", f"{TEXT} \udce9")
    for shape in ("text", "json", "md"):
        ran = run(*words, "--format", shape)
        assert (ran.code, TEXT in ran.out) == (0, True)


def test_too_few_rated_texts(folder: Path, tmp_path: Path) -> None:
    """A model says how many it needs; nothing is said of shares that there are not."""
    rows = [{"id": f"t{i}", "text": f"text {i}", "rating": i} for i in range(3)]
    ran = run_well("explain", TEXT, "--rated", jsonl(tmp_path / "few.jsonl", rows))
    assert (
        "No estimate (too-few): a model needs 5 rated texts, and there are 3."
        in ran.out
    )
    assert "share" not in ran.out


def test_what_adds_up(tmp_path: Path) -> None:
    """In the raters' units, little parts as one, also where the sum leaves the scale."""
    rows = [{"text": row["text"], "rating": row["rating"]} for row in rated_rows()]
    words = ("explain", "--rated", jsonl(tmp_path / "r.jsonl", rows), TEXT)
    found = json_of(*words, "--scale", 1, 5)
    total = found["mean"] + sum(part["addition"] for part in found["parts"])
    assert found["estimate"] == pytest.approx(total)
    ran = run(*words, "--scale", 1, 5)
    assert not too_wide(ran.out)
    for out in (ran.out, run(*words, "--scale", 1, 5, "--format", "md").out):
        text = one_line(out)
        assert f"Rated texts have {found['mean']:.2f} on average. Here: " in text
        assert (
            f"{found['parts'][0]['name']} {found['parts'][0]['addition']:+.2f}" in text
        )
        assert f"together {total:.2f}." in text
    plain = json_of(*words)
    assert plain["mean"] == pytest.approx(found["mean"])
    assert json_of(*words, *NEIGHBORS)["mean"] is None
    assert "adds up" not in run(*words, *NEIGHBORS).out


def adding(*additions: float) -> ExplainResult:
    """An estimate from 0.6 on, on the scale of 1 to 5."""
    parts = tuple(Part(f"p{i}", x) for i, x in enumerate(additions))
    found = Explanation(
        estimate=1,
        low=0,
        high=1,
        reason="",
        support=9,
        size=9,
        neighbors=(),
        mean=0.6,
        parts=parts,
    )
    estimator = BLEUNeighbors().fit(pool_of(["a", "b"], [1, 5], scale=(1, 5)))
    return ExplainResult(
        text="a",
        explanation=found.on((1, 5)),
        estimator=estimator,
        most=1,
        signature=estimator.signature(),
    )


def test_nothing_adds_up() -> None:
    """-0.001 of the scale sets no text apart; six times 0.004 do."""
    assert "3.40 on average, and nothing sets this one apart." in one_line(
        adding(0.0, -0.001)
    )
    assert "other +0.10; together 3.50." in one_line(adding(*[0.004] * 6))


def test_little_parts_and_cut_sums() -> None:
    """0.004 and -0.001 of the scale are `other`; 1.09 of it is more than there is."""
    result = adding(0.3, 0.2, 0.005, 0.004, -0.001)
    wanted = "3.40 on average. Here: p0 +1.20, p1 +0.80, p2 +0.02, other +0.01; together 5.43, cut"
    assert wanted in one_line(result)
    assert wanted in one_line(result.report().sections[1].lines[0])
