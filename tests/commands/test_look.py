"""`refless FILE`: what was read, what it answers, and the page with all outputs side by side."""

import json
import re
from collections.abc import Callable
from functools import partial
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refless
from command_line import json_of, jsonl, rated_rows, run
from refless.report.document import Card
from refless.report.pictures import judge_picture
from refless.report.result import Result
from refless.report.units import MINUS, RatingUnits
from refusals import bad_input
from rows import renamed, without

MOST_WORDS = 20  # of an answer
SCRIPT = "</script><script>document.title='taken'</script>"


def two_versions(
    n: int = 40, *, better: float = 0.0, rated: int | None = None
) -> list[dict[str, Any]]:
    """Answers of two versions to n items, with ratings of the first items and a kind judge."""
    rng = np.random.default_rng(5)
    rows = []
    for item in range(n):
        for version in ("v1", "v2"):
            level = 3 + better * (version == "v2") + rng.normal(0, 0.6)
            rating = int(np.clip(round(level), 1, 5))
            row = {
                "prompt": f"question {item} about the ferry",
                "output": f"answer {item} of {version} {'good ' * rating}end",
                "version": version,
                "judge_score": 5 if rng.random() < 0.8 else 4,
            }
            if rated is None or item < rated:
                row["human_rating"] = rating
            rows.append(row)
    rows[0]["human_rating"] = 1  # the ends of the scale
    rows[1]["human_rating"] = 5
    return rows


def answers(rows: object, **options: Any) -> dict[str, Card]:
    """The cards by what they are about."""
    return {card.topic: card for card in refless.look(rows, **options).cards}


def test_columns_and_scale_are_said() -> None:
    """Each column has its role, its missing cells and an example; an unread one is named."""
    rows = [{**row, "cost": 7} for row in two_versions(20, rated=15)]
    result = refless.look(rows)
    seen = {column.name: column for column in result.seen.columns}
    roles = {name: column.role for name, column in seen.items()}
    assert roles == {
        "prompt": "source",
        "output": "text",
        "version": "system",
        "judge_score": "score",
        "human_rating": "rating",
        "cost": "",
    }
    assert seen["human_rating"].missing == pytest.approx(10 / 40)
    assert seen["cost"].example == "7"
    assert (result.scale, result.guessed) == ((1.0, 5.0), True)
    assert "taken from the ratings" in str(result)
    assert not refless.look(rows, scale=(0, 6)).guessed


def test_few_ratings_tell_no_scale() -> None:
    """Fewer than twenty ratings do not tell where a scale ends."""
    assert refless.look(two_versions(8)).scale is None


@pytest.mark.parametrize(
    ("better", "state", "word"), [(1.5, "yes", "Yes"), (-1.5, "no", "No")]
)
def test_versions_that_differ(better: float, state: str, word: str) -> None:
    """The card says which version leads, as `compare` finds it."""
    rows = two_versions(better=better)
    card = answers(rows)["v2 against v1"]
    pair = refless.compare(rows, scale=(1, 5)).comparison.pairs[0]
    assert card.state == state
    assert card.label.startswith(word)
    assert f"{abs(pair.difference.value):.2f} points" in card.answer
    leader = "v2" if better > 0 else "v1"
    assert card.answer.startswith(f"{leader} leads")


def test_picked_ratings_make_no_yes() -> None:
    """Only those texts of v2 are rated that the judge likes: its card and its line say so."""
    rows = two_versions(60)
    for row in rows:
        row["judge_score"] = row["human_rating"]
        if row["version"] == "v2" and row["judge_score"] < 4:
            del row["human_rating"]
    cards = answers(rows)
    assert cards["v2 against v1"].state != "yes"
    assert "score_column='judge_score'" in cards["v2 against v1"].command


def test_notes_have_the_flags_of_the_command_that_they_are_from(tmp_path: Path) -> None:
    """`refless FILE` has no --pass; 'refless judge' has."""
    rows = [
        {**row, "judge_score": 0.2 + k % 2 / 2} for k, row in enumerate(two_versions())
    ]
    for row in rows:
        row["human_label"] = "pass" if row.pop("human_rating") > 3 else "fail"
    notes = run("look", jsonl(tmp_path / "votes.jsonl", rows)).notes
    assert (
        "judge: judge_score: scores pass from 0.5 on; --pass X sets another bar"
        in notes
    )


def test_columns_and_files_that_leave_it_open(tmp_path: Path) -> None:
    """A score by whom, scores such as 8/10, and a file a version."""
    rows = two_versions(12, better=1.5)
    scores = [{**row, "score": row["human_rating"]} for row in rows]
    unrated = without(scores, "human_rating", "judge_score")
    advice = refless.look(unrated).cards[0].advice
    assert advice.startswith("if people rated, say columns={'rating': 'score'}; else")
    tenths = [{**row, "judge_score": f"{2 * row['judge_score']}/10"} for row in rows]
    assert "judge_score" in answers(tenths)
    old, new = (
        jsonl(tmp_path / f"{name}.jsonl", without(rows[k::2], "version"))
        for k, name in enumerate(("old", "new"))
    )
    result = refless.look([str(old), str(new)])
    assert "each file is read as one version: 'new', 'old'" in result.notes
    files = []
    for day in range(2):
        plain = without(rows[day::2], "version")
        asked = [{**row, "item": row["prompt"], "prompt": f"{day}"} for row in plain]
        files.append(str(jsonl(tmp_path / f"day{day}.jsonl", asked)))
    assert not any("one version" in said for said in refless.look(files).notes)
    assert result.cards[0].topic == "new against old"
    assert result.outputs is not None
    shown = chain.from_iterable(result.outputs.answers)
    assert any(one is not None and one.estimate is not None for one in shown)
    others = [{**row, "prompt": f"{row['prompt']}?"} for row in rows[1::2]]
    apart = jsonl(tmp_path / "apart.jsonl", without(others, "version"))
    card = answers([str(old), str(apart)])["versions"]
    assert card.command.startswith(f"refless.compare(['{old}', '{apart}']")


def test_open_versions_say_what_would_tell() -> None:
    """An open answer has its interval, and the command that chooses what to rate."""
    card = answers(two_versions(40, rated=8))["v2 against v1"]
    assert card.state == "open"
    assert "anything between" in card.answer
    assert card.command.startswith("refless.next(rows, goal='compare'")


@pytest.mark.parametrize("named", [False, True])
def test_estimates_stand_beside_their_outputs(named: bool) -> None:
    """Without ids too, where a number of a row is another text's among the rated ones."""
    rows = two_versions(30, rated=20)
    if named:
        rows = [{**row, "id": f"t{k}"} for k, row in enumerate(rows)]
    held_out = refless.validate(rows, scale=(1, 5))
    texts = held_out.validation.pool.texts
    estimates = dict(zip(texts, held_out.estimates.values, strict=True))
    page = refless.look(rows).outputs
    assert page is not None
    shown = [one for one in chain.from_iterable(page.answers) if one is not None]
    found = {one.text: one.estimate for one in shown if one.estimate is not None}
    assert found == pytest.approx(estimates, abs=0.05)  # a page rounds


def test_the_old_version_comes_first() -> None:
    """A name that says 'old' is what the other one is held against."""
    names = {"v1": "new", "v2": "old"}
    rows = [{**row, "version": names[row["version"]]} for row in two_versions(20)]
    assert "new against old" in answers(rows)


def test_several_versions() -> None:
    """Of three versions the best is named, and those that may be as good."""
    rows = two_versions(30, better=1.5)
    third = [{**row, "version": "v3"} for row in rows if row["version"] == "v2"]
    card = answers([*rows, *third])["3 versions"]
    assert card.state == "open"
    assert re.search(
        "v[23] has the highest mean.*but v[23] may be as good", card.answer
    )


def test_a_kind_judge_may_not_decide() -> None:
    """A judge that gives 5 to nearly all is too kind, and does not tell good from bad."""
    card = answers(two_versions(60))["judge_score"]
    assert card.state == "no"
    assert "too kind" in card.answer
    assert "score_column='judge_score'" in card.command


def test_raters_agree_or_one_is_alone() -> None:
    """One rater tells nothing; three who agree by and large are weighed by alpha."""
    assert "by nobody named" in answers(two_versions(20))["your raters"].answer
    named = [{**row, "annotator": "ann"} for row in two_versions(20)]
    assert "one person" in answers(named)["your raters"].answer
    rows = rated_rows(48)
    for i, row in enumerate(rows):
        row["rating"] = min(5, int(str(row["rating"])) + (i % 7 == 0))
    alpha = refless.judge_raters(rows, scale=(1, 5)).agreement.alpha_ordinal
    assert f"alpha {alpha.value:.2f}" in answers(rows)["your raters"].rests
    by_luck = [
        {**row, "rater1": k % 2, "rater2": k // 2 % 2} for k, row in enumerate(named)
    ]
    of_luck = without(by_luck, "human_rating", "annotator")
    raters = {"rating": ["rater1", "rater2"]}
    assert next(iter(answers(of_luck, columns=raters))) == "your raters"


def test_one_version_names_the_remedy() -> None:
    """Without a column of versions the card says how to name one."""
    rows = without(two_versions(20), "version")
    for i, row in enumerate(rows):
        row["id"] = str(i)
    card = answers(rows)["versions"]
    assert card.state == "open"
    assert card.answer == "Nothing says which version wrote a text."
    assert "system" in card.advice


def test_percent_of_passes() -> None:
    """Passes are told in percent, and their differences in percentage points."""
    rows = two_versions(40, better=1.5)
    for row in rows:
        row["human_label"] = "pass" if row.pop("human_rating") > 3 else "fail"
    cards = answers(rows)
    assert "percentage points" in cards["v2 against v1"].answer
    assert "%" in cards["estimates"].answer


@pytest.mark.parametrize(
    ("percent", "ends", "said"),
    [
        (True, (0.0028, 0.324), "0.3 to 32.4"),
        (True, (-0.324, -0.0002), "0.02 to 32.40"),
        (True, (0.0, 0.3), "0 to 30"),
        (True, (1e-9, 0.3), "0.00 to 30.00"),
        (False, (-0.004, 0.5), f"{MINUS}0.004 to +0.500"),
    ],
)
def test_an_end_that_is_not_0_does_not_read_as_0(
    percent: bool, ends: tuple[float, float], said: str
) -> None:
    """An interval shows on which side of 0 it ends."""
    assert RatingUnits(percent).ends(ends, "to") == said


def test_scores_without_ratings() -> None:
    """Of a judge's scores alone the versions are compared, which is said."""
    rows = without(two_versions(40), "human_rating", "output")
    (card,) = refless.look(rows).cards
    assert "not people's" in card.rests


def test_rows_without_texts_are_refused() -> None:
    """A row that holds the answers of two versions; a title above the names of columns."""
    rows: list[dict[str, object]] = [
        {"question": "Why?", "my_answer": "So.", "gpt_answer": "No.", "": 1}
    ]
    with bad_input("one text a row; if a title stands above"):
        refless.look(rows)


def test_answers_are_short_whatever_the_order_of_rows() -> None:
    """Twenty words are enough, and no number depends on the order of rows."""
    rows = [*two_versions(30, rated=12), *two_versions(30, better=1)[:6]]
    rows = [{**row, "id": str(i)} for i, row in enumerate(rows)]
    cards = answers(rows)
    assert cards == answers(rows[::-1])
    for card in cards.values():
        assert len(card.answer.split()) <= MOST_WORDS, card.answer


def test_a_file_is_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`refless FILE` looks at it and writes a page; another output keeps the page away."""
    monkeypatch.chdir(tmp_path)
    jsonl(tmp_path / "evals.jsonl", two_versions(12))
    ran = run("evals.jsonl")
    assert ran.ended(0, "wrote evals-refless.html")
    assert ran.out == run("look", "evals.jsonl").out
    (tmp_path / "evals-refless.html").unlink()
    assert json_of("evals.jsonl")["command"] == "look"
    assert not (tmp_path / "evals-refless.html").exists()
    assert "requires an argument" in run("evals.jsonl", "--lower-is-better").err
    missing = run("nowhere.csv")
    assert missing.refuses("nowhere.csv")
    assert run("nonsense").code == 2


JUDGE = partial(refless.judge, scale=(1, 5), score_column="judge_score")


@pytest.mark.parametrize("ask", [refless.look, JUDGE])
def test_the_page_holds_every_text(
    tmp_path: Path, ask: Callable[[object], Result]
) -> None:
    """The texts side by side are data, in the order of the file, and never markup.

    Those without a rating are among them. A further answer of a version to an item has a row of
    its own.
    """
    rows = two_versions(12, rated=6)
    rows[3]["output"] += SCRIPT
    rows.append(rows[0] | {"output": "said again"})
    page = tmp_path / "page.html"
    ask(jsonl(tmp_path / "evals.jsonl", rows)).save(page)
    html = page.read_text("utf-8")
    assert SCRIPT not in html
    data = json.loads(re.search('id="outputs-data">(.*?)</script>', html)[1])
    answers = chain.from_iterable(row["answers"] for row in data["rows"])
    outputs = [answer for answer in answers if answer]
    assert data["rows"][-1]["item"] == f"{rows[0]['prompt']} (2)"
    assert [text for text, *_ in outputs] == [row["output"] for row in rows]
    people = [rating for _, rating, *_ in outputs]
    assert people == [row.get("human_rating") for row in rows]
    assert data["systems"] == ["v1", "v2"]


@pytest.mark.parametrize(
    "ask",
    [refless.look, partial(refless.compare, scale=(1, 5), score_column="judge_score")],
)
@pytest.mark.parametrize("unit", [1, 2])
def test_scores_in_other_units_are_not_taken_from_ratings(
    tmp_path: Path, ask: Callable[[object], Result], unit: int
) -> None:
    """A judge's 10 of 10 is not 5 points above a rating of 5: pages show no such difference."""
    page = tmp_path / "page.html"
    rows = [
        {**row, "judge_score": unit * row["judge_score"]} for row in two_versions(30)
    ]
    ask(rows).save(page)
    data = json.loads(
        re.search('id="outputs-data">(.*?)</script>', page.read_text())[1]
    )
    assert (data["judge"], data["apart"]) == ("judge_score", {1: 2.0, 2: 0.0}[unit])


@pytest.mark.parametrize("ask", [refless.look, JUDGE])
def test_disputed_texts_can_be_read_first(
    tmp_path: Path, ask: Callable[[object], Result]
) -> None:
    """Their ratings lie half the scale apart; the filter stands where there are any."""
    page = tmp_path / "page.html"
    for apart, disputed in ((1, False), (2, True)):
        rows = [{**row, "id": k} for k, row in enumerate(two_versions(12))]
        rows += [{**rows[7], "human_rating": rows[7]["human_rating"] % 3 + 1}]
        rows[7]["human_rating"] = rows[-1]["human_rating"] + apart
        ask(rows).save(page)
        html = page.read_text("utf-8")
        data = json.loads(re.search('id="outputs-data">(.*?)</script>', html)[1])
        answers = chain.from_iterable(row["answers"] for row in data["rows"])
        assert sum(len(answer) > 5 for answer in answers) == disputed
        assert ('data-filter="disputed"' in html) == disputed


@pytest.mark.parametrize("right", [True, False])
def test_estimates_are_grey_unless_they_err_less(tmp_path: Path, right: bool) -> None:
    """Of rated outputs, by estimates that know no rating of the item."""
    rng = np.random.default_rng(1)
    rows = two_versions(40)
    for k, row in enumerate(rows):
        row["judge_score"] = row["human_rating"] if right else int(rng.integers(1, 6))
        if k >= 60:
            del row["human_rating"]
        row["output"] = f"answer {k}"
    page = tmp_path / "page.html"
    refless.compare(rows, scale=(1, 5), score_column="judge_score").save(page)
    html = page.read_text("utf-8")
    assert ">est.</th>" in html
    assert ("nothing here shows that it helps" in html) != right


def test_counts_of_a_grid() -> None:
    """The cells of the grid count the pairs of levels, and all of them."""
    rng = np.random.default_rng(0)
    people = rng.integers(1, 6, 200).astype(float)
    judge = rng.integers(1, 6, 200).astype(float)
    figure = judge_picture("j", people.tolist(), judge.tolist(), of_verdicts=False)
    counts = [
        int(n) for n in re.findall(r'class="strong(?: on)?">(\d+)<', str(figure.svg))
    ]
    table, _, _ = np.histogram2d(people, judge, bins=np.arange(0.5, 6))
    assert counts == [int(n) for n in table.ravel() if n]
    same = f"{100 * np.mean(people == judge):.0f} %"
    assert figure.caption.startswith(
        "Outputs that people and the judge both scored: 200."
    )
    assert same in figure.caption


def test_standard_input_is_refused() -> None:
    """Rows that are read once cannot be asked several questions."""
    ran = run("look", "-", stdin="text,rating\na,1\n")
    assert ran.refuses("save it as a file")


def test_choices_of_two() -> None:
    """Of choices between two versions the win rate is told."""
    rows = [
        {
            "prompt": f"q{i}",
            "response_a": f"first {i}",
            "response_b": f"second {i}",
            "model_a": "old",
            "model_b": "new",
            "winner": "model_b" if i % 4 else "model_a",
        }
        for i in range(40)
    ]
    (card,) = refless.look(rows).cards
    assert card.answer == "new wins 75 % of the choices (60 % to 86 %)."
    assert card.command == "refless.compare_choices(rows)"
    assert str(refless.look(rows)).count("model_a") == 0


def test_names_are_read_from_left_to_right() -> None:
    """The columns of the table stand in the order of the file."""
    rows = renamed(two_versions(20), output="response", prompt="question")
    names = [column.name for column in refless.look(rows).seen.columns]
    places = [list(rows[0]).index(name) for name in names]
    assert all(a < b for a, b in pairwise(places))


def test_columns_of_other_names_are_guessed_aloud(tmp_path: Path) -> None:
    """One card says what they may be, and its line reads them so."""
    names = {"output": "summary", "version": "sys", "human_rating": "overall"}
    path = jsonl(tmp_path / "evals.jsonl", renamed(two_versions(better=1), **names))
    found = run(path, "--format", "json").json["answers"]
    assert [answer["topic"] for answer in found][:1] == ["columns"]
    assert "versions" not in {answer["topic"] for answer in found}
    line = found[0]["command"].split()
    assert found[0]["answer"].startswith("'summary' may be the output, 'overall' may")
    assert line[0] == "refless"
    again = run(*line[1:], "--format", "json").json["answers"]
    assert again[0]["answer"].startswith("v2 leads by ")
    without_scores = without(renamed(two_versions(), **names), "judge_score")
    with bad_input(r"; perhaps columns={'text': 'summary', 'rating'"):
        refless.look(without_scores)


def test_names_tell_scores_from_ratings() -> None:
    """Metrics, and what `scores` holds, are scores; beside them `quality` may be people's."""
    rows = renamed(two_versions(20), human_rating="quality", judge_score="BLEU")
    seen = refless.look(rows).seen
    assert (seen.scores, seen.proposed) == (("BLEU",), {"rating": "quality"})
    lists = [
        {**row, "ratings": [row["quality"]], "scores": {"fluent": row["BLEU"]}}
        for row in rows
    ]
    seen = refless.look(without(lists, "BLEU", "quality")).seen
    assert (seen.scores, "rating" in seen.roles) == (("scores.fluent",), True)


def test_people_are_asked_before_judges() -> None:
    """Of objects of both the line reads people's ratings; the places of a list are raters."""
    rows = [
        {
            "text": f"answer {i} of many words, all of them plain",
            "judges": {"a": {"fluency": i % 5 + 1}},
            "experts": {"fluency": [i % 5 + 1, i % 4 + 1], "sense": [i % 3 + 1, 1]},
        }
        for i in range(24)
    ]
    card = refless.look(rows).cards[0]
    assert "judges" not in card.answer
    assert "columns={'rating': 'experts.sense.*'}" in card.command


def test_few_inputs_may_be_versions() -> None:
    """A column `prompt` with two names is guessed to be the version, a bot's answer the output."""
    names = {"prompt": "customer", "version": "prompt", "output": "bot_answer"}
    rows = renamed(two_versions(20), **names)
    assert refless.look(rows).seen.proposed == {
        "text": "bot_answer",
        "system": "prompt",
    }


def test_items_that_lack_a_rating_are_to_be_rated() -> None:
    """Not all is rated where some items have a rating for one version alone."""
    rows = two_versions()
    card = answers(without(rows[:2], "human_rating") + rows[2:])["v2 against v1"]
    assert "are rated" not in card.advice
    half = [*without(rows[:1], "human_rating"), *rows[1:]]
    card = answers(half)["v2 against v1"]
    assert (card.advice, card.command) == ("call it undecided.", "")
    card = answers(rows)["v2 against v1"]
    assert card.advice.startswith("all items in the file are rated")
    assert not card.command
