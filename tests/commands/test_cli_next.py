"""refless next: the file for raters and its way back, formats, and what is refused."""

import json
import shlex
from pathlib import Path

import pytest
from benchmarks.simulate import simulate

import refless
from command_line import (
    ANY_NEIGHBOR,
    NEIGHBORS,
    Ran,
    json_of,
    jsonl,
    one_line,
    run,
    run_well,
    too_wide,
)
from refless.commands.next import plan, planning
from refless.data.rows import rows_of as texts_as_rows
from refless.data.tables import read_pool
from refless.registry.signature import Signature
from rows import csv_of, read_csv, read_jsonl, without, write

POOL = simulate(120, seed=3).pool
ROWS = texts_as_rows(POOL)
SCALE = ("--scale", 1, 5)


def rows_of(places: range, *, rated: bool) -> list[dict[str, object]]:
    """Simulated texts as rows."""
    return [
        {
            **ROWS[i],
            "rating": round(1 + 4 * POOL.human[i], 2) if rated else None,
        }
        for i in places
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("next")
    jsonl(where / "rated.jsonl", rows_of(range(60), rated=True))
    unrated = rows_of(range(60, 120), rated=False)
    jsonl(where / "partly.jsonl", [*rows_of(range(60), rated=True), *unrated])
    jsonl(
        where / "outputs.jsonl",
        without(unrated, "rating"),
    )
    return where


def chosen(folder: Path, goal: str, *more: object) -> Ran:
    words = (
        "next",
        folder / "outputs.jsonl",
        "--rated",
        folder / "rated.jsonl",
        *SCALE,
    )
    pair = ("--system", "careful", "--system", "hasty") if goal == "compare" else ()
    return run(*words, "--goal", goal, "-n", 6, *pair, *more)


def test_the_design_is_told(folder: Path) -> None:
    """Of all outputs, rated or not, on the page, in JSON and in the signature."""
    ran = chosen(folder, "mean", *NEIGHBORS, "--format", "json")
    design = ran.json["design"]
    assert design in chosen(folder, "mean", *NEIGHBORS).line
    signed = Signature.parse(ran.json["signature"])
    assert (
        design
        == f"60 outputs from {signed.get('units')} sources, which were drawn whole."
    )
    assert signed.get("drawn") == "source"


@pytest.mark.parametrize("goal", ["learn", "mean", "compare"])
def test_file_for_raters_comes_back(folder: Path, tmp_path: Path, goal: str) -> None:
    """Filled in it is a file of rated texts; blank rows are not asked again."""
    file = tmp_path / "to-rate.csv"
    quick = () if goal == "learn" else NEIGHBORS
    ran = chosen(folder, goal, "-o", file, *quick)
    assert ran.code == 0, ran.err
    assert ran.out.startswith("Rate these 6 ")
    # a long path is cut at the end of a line
    said = f"have 'rating' in {file} filled in, then"
    assert said.replace(" ", "") in "".join(ran.out.split())
    assert ("What ratings should bring" in ran.out) == (goal != "learn")
    assert not too_wide(ran.out)
    rows = read_csv(file.read_text("utf-8"))
    assert list(rows[0]) == ["id", "item", "system", "source", "text", "rating"]
    assert len(rows) == (12 if goal == "compare" else 6)
    assert {row["rating"] for row in rows} == {""}
    for row in rows[:-1]:
        row["rating"] = "4"
    write(file.parent, file.name, csv_of(rows))
    assert read_pool(file).pool.ids == tuple(row["id"] for row in rows[:-1])
    then = next(line for line in ran.out.splitlines() if line.startswith("  refless "))
    words = shlex.split(then)[1:]
    after = run_well(*words, "--format", "json")
    assert after.json["command"] == ("score" if goal == "learn" else "compare")
    words = (
        "next",
        folder / "outputs.jsonl",
        "--rated",
        file,
        "--goal",
        "mean",
        "-n",
        100,
    )
    again = run_well(*words, *NEIGHBORS)
    left = 60 - (len(rows) - 1)
    assert f"{left} of {left} outputs" in again.out


def test_ratings_of_one_file_come_back(folder: Path, tmp_path: Path) -> None:
    """The last line of the result reads the ratings where one file holds rated and unrated rows."""
    file = tmp_path / "to-rate.csv"
    words = (
        "next",
        folder / "partly.jsonl",
        *SCALE,
        "--goal",
        "compare",
        "-n",
        5,
        "-o",
        file,
    )
    ran = run(*words, "--system", "careful", "--system", "hasty", *NEIGHBORS)
    text = file.read_text("utf-8")
    lines = [line if i == 0 else f"{line}3" for i, line in enumerate(text.splitlines())]
    file.write_text("\n".join(lines) + "\n", "utf-8")
    then = next(line for line in ran.out.splitlines() if line.startswith("  refless "))
    after = run_well(*shlex.split(then)[1:], "--format", "json")
    assert "|size:70|" in after.json["signature"]


def test_json(folder: Path) -> None:
    """The same in Python: the curve in the raters' units, what settles it."""
    found = chosen(folder, "mean", "--within", 0.4, "--format", "json").json
    same = refless.next(
        folder / "outputs.jsonl",
        folder / "rated.jsonl",
        goal="mean",
        n=6,
        within=0.4,
        scale=(1, 5),
    )
    assert same.to_dict() == found
    assert [step["n"] for step in found["curve"]] == [0, 6, 10, 20, 40, 60]
    widths = [step["width"] for step in found["curve"]]
    assert widths == sorted(widths, reverse=True)
    before = max(step["n"] for step in found["curve"] if step["width"] > 0.4)
    after = min(step["n"] for step in found["curve"] if step["width"] <= 0.4)
    assert before < found["needed"] <= after
    assert len(found["chosen"]) == found["n"] == 6
    assert found["units"] == found["n_outputs"] == 60
    assert found["n_rated"] == 60


def test_the_mean_is_told_no_worse_than_today(folder: Path) -> None:
    """Ratings are not said to widen the interval that score has without them."""
    words = (folder / "outputs.jsonl", "--rated", folder / "rated.jsonl", *SCALE)
    low, high = json_of("score", *words)["mean_interval"]
    found = chosen(folder, "mean", "--format", "json").json
    assert found["within"] == pytest.approx(0.05 * 4)  # in the raters' units
    curve = found["curve"]
    assert curve[0]["n"] == 0
    assert curve[0]["width"] == pytest.approx((high - low) / 2)
    assert all(step["width"] <= curve[0]["width"] for step in curve)


@pytest.mark.parametrize("apart", [False, True])
def test_compare_has_the_same_width_today(tmp_path: Path, *, apart: bool) -> None:
    """Items with one rated half count as for compare, and the other halves are asked."""
    rows = [
        row
        for row in rows_of(range(120), rated=True)
        if row["system"] in {"careful", "hasty"}
    ]
    items = sorted({str(row["item"]) for row in rows})
    asked: dict[str, int] = {}
    for row in rows:
        place = items.index(str(row["item"]))
        half = place < 20 and row["system"] == ("careful", "hasty")[place % 2]
        if half or place >= 28:  # both halves of eight items are rated
            row["rating"] = None
            asked[str(row["item"])] = asked.get(str(row["item"]), 0) + 1
    file = jsonl(tmp_path / "partly.jsonl", rows)
    words: tuple[object, ...] = (file, *SCALE, *ANY_NEIGHBOR)
    if apart:
        plain = without(rows, "rating")
        rated = [row for row in rows if row["rating"] is not None]
        outputs = jsonl(tmp_path / "outputs.jsonl", plain)
        words = (outputs, "--rated", jsonl(tmp_path / "rated.jsonl", rated), *words[1:])
    today = json_of("compare", *words)["pairs"][0]
    ran = run_well("next", *words, "--goal", "compare", "-n", 100, "--format", "json")
    low, high = today["difference"]["interval"]
    curve = ran.json["curve"]
    assert (curve[0]["n"], curve[0]["width"]) == (0, pytest.approx((high - low) / 2))
    assert [one["width"] for one in curve] == sorted(
        (one["width"] for one in curve), reverse=True
    )
    assert ran.json["pair"] == today
    assert ran.json["units"] == len(asked)
    assert len(ran.json["chosen"]) == sum(asked.values())
    page = run("next", *words, "--goal", "compare", "-n", 100).out
    lacking = f"{len(asked)} items that lack a rating, of {len(rows) // 2} in all."
    assert lacking in one_line(page)


def test_rounds_go_on(tmp_path: Path) -> None:
    """Old ratings of one system count in no round; rounds count together, out of all items."""
    rows: list[dict[str, object]] = []
    for k in range(40):
        name = ("v1", "v2")[k % 2]
        rows.append({"item": f"i{k // 2:02}", "system": name, "text": f"{name} {k}"})
    for row in rows[:20:2]:
        row["rating"] = 1  # by somebody strict
    answers = tmp_path / "answers.jsonl"
    jsonl(answers, rows)
    rated: list[str] = []
    for number in (1, 2):
        ran = refless.next(
            answers, rated=rated or None, goal="compare", n=10, scale=(1, 5)
        )
        filled = ran.rows()
        assert len(filled) == 20  # both answers of each item
        assert {row["probability"] for row in filled} == {0.5}
        for k, row in enumerate(filled):
            row["rating"] = 3 + k // 2 % 2
        rated.append(str(tmp_path / f"round{number}.jsonl"))
        jsonl(tmp_path / f"round{number}.jsonl", filled)
        found = refless.compare(answers, rated=rated, scale=(1, 5))
        (pair,) = found.comparison.pairs
        assert pair.difference.value == 0
        assert (pair.both_rated, pair.items) == (10 * number, 20)
    assert found.not_drawn == 0


def test_no_rated_text_at_all(folder: Path) -> None:
    """A random draw, and that is said."""
    ran = run_well(
        "next", folder / "outputs.jsonl", "--goal", "learn", "-n", 3, "--format", "json"
    )
    assert "no text is rated yet" in ran.err
    assert (ran.json["way"], ran.json["curve"], ran.json["n_rated"]) == (
        "random",
        [],
        0,
    )
    assert (
        ran.json["units"] < 60
    )  # of copies one is asked, so that no output has a chance
    mean = run(
        "next", folder / "outputs.jsonl", "--goal", "mean", "-n", 3, "--format", "json"
    )
    assert mean.json["way"] == "random"


def test_other_estimators_choose_at_random_aloud(folder: Path) -> None:
    """Only what has covariances can tell; goals mean and compare work with any."""
    ran = chosen(folder, "learn", *NEIGHBORS)
    assert "BLEU Neighbors cannot tell which ratings teach it most" in ran.err
    assert "Chosen at random" in ran.out
    assert (
        "should tell the mean of all 3 systems together to ±"
        in chosen(folder, "mean", *NEIGHBORS).line
    )


def test_blind_hides_the_system(folder: Path, tmp_path: Path) -> None:
    """In the file and on the terminal."""
    file = tmp_path / "to-rate.jsonl"
    ran = chosen(folder, "compare", "--blind", "-o", file)
    assert "not blind" not in ran.err
    assert "system" not in json.loads(file.read_text("utf-8").splitlines()[0])
    assert "  system" not in ran.out


def test_the_users_columns_without_flags(tmp_path: Path) -> None:
    """The file for raters is read beside the rated texts by the very line that is printed."""
    texts = [f"text {i} of {i % 7} kinds" for i in range(24)]
    rows = [
        {"prompt": f"p{i // 2}", "model": "ab"[i % 2], "output": t}
        for i, t in enumerate(texts)
    ]
    new = jsonl(tmp_path / "new.jsonl", rows)
    old = tmp_path / "old.jsonl"
    jsonl(old, [{**r, "prompt": f"o{i}", "human": i % 5} for i, r in enumerate(rows)])
    file = tmp_path / "to-rate.jsonl"
    ran = run_well("next", new, "--rated", old, "--goal", "mean", "-n", 12, "-o", file)
    asked = read_jsonl(file.read_text("utf-8"))
    assert [*asked[0]] == ["model", "prompt", "output", "human"]
    jsonl(file, [{**row, "human": i % 5} for i, row in enumerate(asked)])
    ran = run_well("compare", new, "--rated", old, "--rated", file)
    assert "12 rated texts are outputs compared here" in ran.err


@pytest.mark.parametrize("goal", ["learn", "mean", "compare", "compare --blind"])
def test_the_list_lacks_what_the_outputs_have(tmp_path: Path, goal: str) -> None:
    """Scores, and versions under a name of their own: the printed line reads them, and no more."""
    rows: list[dict[str, object]] = [
        {"question": f"q{i // 2}", "bot": "ab"[i % 2], "answer": f"text {i} of {i % 7}"}
        for i in range(60)
    ]
    for i, row in enumerate(rows):
        row |= {"rating": 1 + i % 5 if i < 24 else "", "judge": i % 11}
    file = tmp_path / "bot.csv"
    file.write_text(csv_of(rows), "utf-8")
    own = () if goal == "learn" else ("--column", "system=bot")
    flags = (*own, *SCALE, "--score-column", "judge")
    asked = tmp_path / "list.csv"
    ran = run_well("next", file, "--goal", *goal.split(), "-n", 12, *flags, "-o", asked)
    listed = read_csv(asked.read_text("utf-8"))
    filled = [{**row, "rating": 1 + i % 4} for i, row in enumerate(listed)]
    asked.write_text(csv_of(filled), "utf-8")
    then = next(line for line in ran.out.splitlines() if line.startswith("  refless "))
    assert "judge" not in listed[0]
    assert ("--looks any" in then) == goal.startswith(
        "compare"
    )  # some are rated already
    assert len(run_well(*shlex.split(then)[1:], "--format", "json").json)
    read = refless.compare([file, asked], columns={"system": "bot"}, scale=(1, 5))
    assert f"{36 - len(filled)} of 60 rows have no rating" in " ".join(read.notes)


def test_a_rating_column_for_each_rater(tmp_path: Path) -> None:
    """A pattern of columns stands for the columns that it matches."""
    rows = [
        {"id": f"x{i}", "text": f"text {i}", "r1": i % 3, "r2": i % 2}
        for i in range(12)
    ]
    rated = jsonl(tmp_path / "r.jsonl", rows)
    new = jsonl(tmp_path / "n.jsonl", [{"text": "new"}] * 2)
    ran = run(
        "next",
        new,
        "--rated",
        rated,
        "--column",
        "rating=r?",
        "--goal",
        "learn",
        "--format",
        "csv",
    )
    assert ran.out.splitlines()[0] == "id,text,r1,r2"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "--goal is needed"),
        ("--goal worst", "learn for .* mean for .* compare for "),
        ("--goal learn -n 0", "-n must be 1 or more"),
        ("--goal learn --within 0.1", "--within .* goes with --goal mean or compare"),
        ("--goal mean --within 0", "a number above 0"),
        ("--goal compare --system careful", "--system names the two systems"),
        ("--goal compare", "about two systems.*'broken', 'careful', 'hasty'"),
        ("--goal compare --system careful --system nobody", "outputs are of"),
        ("--goal mean --seed -1", "--seed must be 0 or more"),
    ],
)
def test_what_is_refused(folder: Path, words: str, said: str) -> None:
    """Exit status 2 and a sentence that says what to do."""
    import re

    ran = run("next", folder / "outputs.jsonl", *shlex.split(words))
    assert ran.code == 2
    assert re.search(said, ran.notes)


def test_everything_rated_is_refused(folder: Path) -> None:
    """There is nothing left to ask."""
    ran = run("next", folder / "rated.jsonl", "--goal", "mean")
    assert ran.refuses("every output has a rating already")


def test_notes_on_what_else_differs(folder: Path, tmp_path: Path) -> None:
    """Fewer than asked for; ids that are numbers of rows."""
    ran = run("next", folder / "partly.jsonl", *SCALE, "--goal", "mean", "-n", 70)
    assert "there are no more than 60 different outputs without a rating" in ran.err
    plain = jsonl(
        tmp_path / "plain.jsonl", [{"text": f"some text {i}"} for i in range(4)]
    )
    telling = [{"id": f"m1-{i}", "system": "m1", "text": f"text {i}"} for i in range(3)]
    for more, kept in {(): True, ("source",): False}.items():
        rows = [{**row, **dict.fromkeys(more, "s")} for row in telling]
        named = jsonl(tmp_path / "named.jsonl", rows)
        file = tmp_path / "blind.jsonl"
        ran = run("next", named, "--goal", "mean", "-n", 2, "--blind", "-o", file)
        assert "ids hold names of systems" in ran.err
        assert ("m1-" in file.read_text()) is kept
    assert (
        "ids are numbers of rows: keep"
        in run("next", plain, "--goal", "mean", "-n", 2).err
    )


def test_html(folder: Path, tmp_path: Path) -> None:
    """A page with the curve and everything that is chosen, texts escaped."""
    page = tmp_path / "next.html"
    assert chosen(folder, "mean", "-o", page).code == 0
    text = page.read_text("utf-8")
    assert "What ratings should bring" in text
    assert text.count("at random") >= 2
    bad = jsonl(
        tmp_path / "bad.jsonl", [{"id": "1", "text": "<script>alert(1)</script> hello"}]
    )
    assert run("next", bad, "--goal", "learn", "-n", 1, "-o", page).code == 0
    assert "<script>alert" not in page.read_text("utf-8")


@pytest.mark.parametrize("goal", ["mean", "compare"])
def test_these_items_alone(folder: Path, goal: str) -> None:
    """Widths are about these alone: narrower, and nothing is left once all are rated."""
    like, these = (
        chosen(folder, goal, *more, "--format", "json")
        for more in ((), ("--these-items",))
    )
    assert these.code == 0, these.err
    last = [one.json["curve"][-1]["width"] for one in (like, these)]
    assert last[1] < last[0]
    assert these.json["these_items"]
    said = chosen(folder, goal, "--these-items").line
    assert "s alone, as these people rate them" in said
    refused = chosen(folder, "learn", "--these-items")
    assert refused.refuses("--these-items goes with --goal mean or compare")


def test_plan() -> None:
    """Before the first rating: every goal with ratings, failures, studies, minutes; no file."""
    ran = run_well("next", "--plan")
    assert ran.out.startswith(
        "494 ratings (247 minutes) reach a difference of 0.100 in 4 of 5 studies."
    )
    mean = run_well("next", "--plan", "--within", 0.05).line
    assert "262 ratings (131 minutes) reach a pass rate ±0.050 in 4 of 5" in mean
    assert "; to audit a judge takes 457." in mean
    beyond = run_well("next", "--plan", "--within", 0.001)
    assert "Do now: ask for less" in beyond.line
    assert "refless next" not in beyond.line
    assert "pass rate ±0.050         262        52           80 %      131" in ran.out
    assert not too_wide(ran.out)
    found = refless.plan(minutes_per_rating=2).to_dict()
    aims = ["pass rate", "kappa", "TPR", "TNR", "difference"]
    assert [goal["aim"] for goal in found["goals"]] == aims
    for goal in found["goals"]:
        assert goal["failures"] == round(0.2 * goal["ratings"])
        assert goal["minutes"] == 2 * goal["ratings"]
        assert 0.8 <= goal["reached"] < 0.9


@pytest.mark.usefixtures("few_studies")
def test_plan_on_a_scale() -> None:
    """Widths and differences are in the raters' units, and no rating fails."""
    words = ("next", "--plan", "--within", 0.2, "--difference", 0.4, "--format", "json")
    found = run(*words, "--scale", 1, 5).json["goals"]
    assert [found[0]["aim"], found[0]["within"], found[0]["failures"]] == [
        "mean rating",
        0.2,
        None,
    ]
    assert [found[-1]["within"], found[-1]["failures"]] == [pytest.approx(0.4), None]
    wider = run("next", "--plan", "--within", 5, "--difference", 10, "--scale", 0, 100)
    assert "mean rating ±5.00" in wider.out
    assert (
        f"{found[0]['ratings']} "
        in wider.out.split("mean rating ±5.00")[-1].splitlines()[0]
    )


def pilot_rows(ratings: list[int]) -> list[dict[str, object]]:
    """A rated text for each rating."""
    return [
        {"id": f"{i}", "text": f"text number {i}", "rating": r}
        for i, r in enumerate(ratings)
    ]


PILOT = [1, 2, 3, 4, 5, 5, 4, 3, 4, 5] * 4


@pytest.mark.usefixtures("few_studies")
def test_plan_by_ratings(tmp_path: Path) -> None:
    """Rated rows tell the spread, in whatever order they are; --sd and the usual third do else."""
    words = ("--plan", *SCALE, "--format", "json")
    one, other = (
        run(
            "next", jsonl(tmp_path / f"{way}.jsonl", pilot_rows(PILOT[::way])), *words
        ).json
        for way in (1, -1)
    )
    assert one["goals"] == other["goals"]
    assert (
        "standard deviation of 1.297, by 40 rated texts" in one["assumed"]
    )  # by hand: statistics
    narrow = run("next", *words, "--sd", 0.9).json
    usual = run("next", *words).json
    needed = [result["goals"][0]["ratings"] for result in (narrow, usual, one)]
    assert needed[0] < needed[1] < needed[2] < 2 * needed[1]
    assert "standard deviation of 1.320, 33 % of the scale" in usual["assumed"]


@pytest.mark.usefixtures("few_studies")
def test_plan_by_verdicts(tmp_path: Path) -> None:
    """The share of passes is that of the rated rows, drawn to one half: (36 + 1) / (40 + 2)."""
    file = jsonl(tmp_path / "pilot.jsonl", pilot_rows(([1] * 9 + [0]) * 4))
    found = run("next", file, "--plan")
    assert "Assumed: 88 % of outputs pass (by 40 rated texts)" in found.out
    assert not too_wide(found.out)


@pytest.mark.parametrize(
    ("ratings", "said"),
    [
        (
            [1, 5] * 4,
            "--plan learns how far ratings differ from 10 rated texts or more",
        ),
        ([3] * 20, "all ratings of 20 texts in FILE are equal; give --sd"),
    ],
)
def test_ratings_that_tell_no_spread(
    tmp_path: Path, ratings: list[int], said: str
) -> None:
    """Too few of them, or all equal; without a scale only 0 and 1 are read."""
    file = jsonl(tmp_path / "pilot.jsonl", pilot_rows(ratings))
    ran = run("next", file, "--plan", *SCALE)
    assert ran.refuses(said)
    many = jsonl(tmp_path / "many.jsonl", pilot_rows(PILOT))
    assert "--scale is needed" in run("next", many, "--plan").err


@pytest.mark.usefixtures("few_studies")
def test_what_n_ratings_show() -> None:
    """The width and the difference of four of five studies with so many ratings."""
    ran = run("next", "--plan", "-n", 100)
    assert ran.out.startswith("100 ratings (50 minutes) tell the pass rate to ±0.0")
    found = refless.plan(n=100).to_dict()
    assert found["of_ratings"] is True
    assert {goal["ratings"] for goal in found["goals"]} == {100}
    for goal in found["goals"]:
        assert goal["reached"] >= 0.8
    wide = refless.plan(n=100, scale=(1, 5)).to_dict()["goals"]
    assert wide[0]["aim"] == "mean rating"
    assert (
        4 * 0.05 < wide[0]["within"] < 4 * 0.1
    )  # by hand: 1.98 x .33 / 10 = .065 of the scale


def test_plan_saves_its_goals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row a goal, and a page; what takes more than the most that is tried is named."""
    for module in (planning, plan):
        monkeypatch.setattr(module, "MOST", 1_000)  # 20,000 take seconds
    out = tmp_path / "plan.csv", tmp_path / "plan.html"
    ran = run_well("next", "--plan", "--within", 0.002, "-o", out[0], "-o", out[1])
    assert ran.out.startswith(
        "More than 1,000 ratings are needed for: pass rate ±0.002."
    )
    rows = read_csv(out[0].read_text("utf-8"))
    assert [row["ratings"] for row in rows][::4] == ["0", "494"]
    assert "&gt;1,000" in out[1].read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "no outputs: name a FILE, or - for standard input; without any: --plan"),
        (("--difference", 0.2), "--difference: for --plan alone"),
        (
            ("--plan", "x.csv", "--goal", "mean"),
            "--plan rates nothing: leave out --goal",
        ),
        (("--plan", "--column", "text=x"), "--plan rates nothing: leave out --column"),
        (
            ("--plan", "-n", 50, "--within", 0.1),
            "-n says what so many ratings show: leave out",
        ),
        (("--plan", "-n", 5), "-n must lie between 10 and 20,000 with --plan, got 5"),
        (("--plan", "--sd", 1), "--sd goes with --scale"),
        (
            ("--plan", "--sd", 3, "--scale", 1, 5),
            "below half the scale, got 3; half the scale is 2",
        ),
        (
            ("--plan", "--within", 0.7),
            "below half the scale, got 0.7; half the scale is 0.5",
        ),
        (("--plan", "--within", 2, "--scale", 1, 5), "got 2; half the scale is 2"),
        (
            ("--plan", "--difference", 0.5),
            "--base-rate 0.8: got 0.5; give less than 0.4",
        ),
        (
            ("--plan", "--difference", 4, "--scale", 1, 5),
            "no room on the scale: got 4; give less than 4",
        ),
        (
            ("--plan", "--base-rate", 1),
            "--base-rate must be above 0 and below 1, got 1",
        ),
        (
            ("--plan", "--minutes-per-rating", 0),
            "--minutes-per-rating must be above 0, got 0",
        ),
        (
            ("--plan", "--scale", 5, 1),
            "a scale needs two numbers, the lower first, got 5",
        ),
        (("--plan", "-o", "label-studio:x.json"), "a plan names no outputs to rate"),
    ],
)
def test_plans_that_cannot_be(words: tuple[object, ...], said: str) -> None:
    """It says what was found, and what to do."""
    ran = run("next", *words)
    assert ran.refuses(said)
