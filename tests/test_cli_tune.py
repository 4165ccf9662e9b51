"""refless tune: the file it writes, what reads it, and what it refuses."""

import tomllib
from pathlib import Path

import pytest

import refless
from command_line import jsonl, output_rows, rated_rows, run, too_wide
from refless.estimators import ESTIMATORS, estimator_of
from refless.spec import spec_of

NEAR = "bleu-neighbors:tau=0.04|0.08|0.12,min_neighbors=1|3"
SETS = ("--estimator", NEAR, "--estimator", "gp", "--group", "id")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rated texts, outputs, and what was chosen by the ratings."""
    where = tmp_path_factory.mktemp("tune")
    jsonl(where / "rated.jsonl", rated_rows())
    jsonl(where / "outputs.jsonl", output_rows())
    only = ("--estimator", NEAR, "--learn-orders", "--scale", 1, 5, "--group", "id")
    ran = run("tune", where / "rated.jsonl", *only, "--write", where / "tuned.toml")
    assert ran.code == 0, ran.err
    assert "wrote " in ran.err
    return where


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, where commands run."""
    monkeypatch.chdir(folder)
    return folder


def test_the_file_says_what_the_page_says(here: Path) -> None:
    """The estimator parses back; the numbers are those of JSON; nothing in it is a date."""
    words = ("tune", "rated.jsonl", "--estimator", NEAR, "--learn-orders", "--scale", 1, 5)
    ran = run(*words, "--group", "id", "--format", "json", "--write", "again.toml")
    text = (here / "tuned.toml").read_text(encoding="utf-8")
    assert (here / "again.toml").read_text(encoding="utf-8") == text
    said, found = tomllib.loads(text), ran.json
    assert list(said) == ["estimator", "tuned"]
    assert said["estimator"] == found["chosen"]["estimator"] == found["candidates"][0]["estimator"]
    assert spec_of(estimator_of(said["estimator"]), ESTIMATORS) == said["estimator"]
    (outer,) = (line for line in found["side_by_side"]["methods"] if line["name"] == "tuned")
    assert said["tuned"]["spearman"] == outer["spearman"]
    assert said["tuned"]["spearman_interval"] == outer["spearman_interval"]
    assert said["tuned"]["inner_spearman"] == found["chosen"]["value"]
    assert said["tuned"]["gain"] == found["gain"]
    assert said["tuned"]["signature"] == found["signature"]
    assert len(found["candidates"]) == 6 * 16
    assert len(found["folds"]) == 5
    assert sum(fold["n"] for fold in found["folds"]) == found["n"] == 48


def test_the_page_fits_a_terminal(here: Path) -> None:
    """And names the command to go on with; CSV has a row a candidate."""
    ran = run("tune", "rated.jsonl", *SETS)
    assert ran.code == 0
    assert not too_wide(ran.out)
    assert "On texts that took no part in choosing" in ran.out
    rows = run("tune", "rated.jsonl", *SETS, "--format", "csv").out.splitlines()
    assert rows[0] == "estimator,spearman,coverage"
    assert len(rows) == 1 + 7


def test_score_reads_it(here: Path) -> None:
    """As if the estimator stood on the command line."""
    spec = tomllib.loads((here / "tuned.toml").read_text(encoding="utf-8"))["estimator"]
    words = ("score", "outputs.jsonl", "--rated", "rated.jsonl", "--format", "json")
    assert run(*words, "--config", "tuned.toml").out == run(*words, "--estimator", spec).out


def test_validate_warns_of_its_own_ratings(here: Path) -> None:
    """Whatever the scale and the columns; not with other ratings, nor another estimator."""
    outer = tomllib.loads((here / "tuned.toml").read_text(encoding="utf-8"))["tuned"]["spearman"]
    warning = "chosen on these very ratings"
    found = refless.validate("rated.jsonl", config="tuned.toml")
    assert warning in found.optimistic
    assert f"refless tune found Spearman {outer:.3f} [" in found.optimistic
    assert str(found).startswith("The settings were chosen on these very ratings")
    assert found.to_dict()["optimistic"] == found.optimistic
    assert warning in found.content("html")
    others = [row for row in rated_rows() if row["annotator"] != "p2"]
    assert refless.validate(others, config="tuned.toml").optimistic == ""
    assert refless.validate("rated.jsonl", estimator="gp", config="tuned.toml").optimistic == ""
    assert refless.validate("rated.jsonl", estimator="bleu-neighbors").optimistic == ""


def test_a_file_that_people_changed(here: Path) -> None:
    """Numbers that are none are not shown."""
    text = (here / "tuned.toml").read_text(encoding="utf-8")
    ends = next(line for line in text.splitlines() if line.startswith("spearman_interval"))
    (here / "own.toml").write_text(text.replace(ends, 'spearman_interval = "wide"'), "utf-8")
    found = refless.validate("rated.jsonl", config="own.toml").optimistic
    assert "refless tune found what the file says" in found


def test_seed_and_drawing(here: Path) -> None:
    """A part is drawn aloud; a seed of one's own is in the file."""
    words = ("--estimator", "bleu-neighbors", "--group", "id", "--seed", 7, "--at-most", 30)
    ran = run("tune", "rated.jsonl", *words, "--write", "seed.toml", "--format", "json")
    assert "tuned on 30 rated texts drawn from 48; --at-most 60 takes more" in ran.err
    assert ran.json["n"] == 30
    assert "|size:30|drawnfrom:48|heldout:id|" in ran.json["signature"]
    assert tomllib.loads((here / "seed.toml").read_text(encoding="utf-8"))["seed"] == 7


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--objective", "pearson"], "--objective must be spearman or mse, got 'pearson'"),
        (["--min-coverage", "40"], "--min-coverage must be from 0 to 1, got 40"),
        (["--write", "tuned.txt"], "--write tuned.txt: name a file that ends in .toml"),
        (["--write", "\0.toml"], "name a file that ends in .toml"),
        (["--write", "none/tuned.toml"], "none/tuned.toml: the file cannot be written"),
        (["--estimator", "bleu-neighbors:tau=0.1|x"], "tau must be a number, got 'x'"),
        (["--estimator", "gp|bleu-neighbors"], "no estimator 'gp|bleu-neighbors'"),
        (["--group", "system"], "there are 4 different systems to hold out, and fewer than 20"),
        (["--seed", "-1"], "--seed must be 0 or more"),
    ],
)
def test_what_is_refused(here: Path, words: list[str], message: str) -> None:
    """With status 2, before anything is tried."""
    ran = run("tune", "rated.jsonl", "--estimator", "bleu-neighbors", *words)
    assert ran.code == 2
    assert message in ran.err


def test_scores_of_others(here: Path) -> None:
    """Estimators that read none are named once, those that read some in one setting are not."""
    rows = [{**row, "gpt": int(str(row["id"])[1:]) % 7} for row in rated_rows()]
    sets = ("gp:use_scores=yes|no", NEAR)
    found = refless.tune(rows, estimator=sets, score_column="gpt", group="id")
    told = [note for note in found.notes if "reads no scores" in note]
    assert told == ["BLEU Neighbors reads no scores of others: they change no estimate of it"]
    assert len(found.to_frame()) == 8
