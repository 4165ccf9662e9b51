"""refless compare: which system is better, from few ratings and estimates of all outputs."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.stats import ttest_rel

import refless
from command_line import (
    ANY_NEIGHBOR,
    headlines,
    json_of,
    jsonl,
    one_line,
    run,
    run_well,
    too_wide,
)
from compared_systems import ORDER, Rows, compared, outputs, partly
from refless.registry.errors import InputError, UsageError
from refusals import bad_usage
from rows import column, digits, of_system, without

COMPARE = ("compare", *ANY_NEIGHBOR)  # where it is not the estimates that count


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return jsonl(
        tmp_path_factory.mktemp("compare") / "both.jsonl", partly(outputs(), 24)
    )


def test_two_systems(file: Path) -> None:
    """Ratings alone are the paired t-test and what equal differences add; a judge is worth more.

    Its own difference is the paired t-test of its scores; other systems' are not asked.
    """
    words = ("compare", file, "--scale", 1, 5, "--score-column", "judge")
    ran = run_well(*words, "--format", "json")
    (pair,) = ran.json["pairs"]
    assert (pair["first"], pair["second"]) == ("new", "old")
    rated = [row for row in outputs() if row["item"] < "i024"]
    new, old = (column(of_system(rated, name), "rating") for name in ("new", "old"))
    true = ttest_rel(old, new)
    low, high = true.confidence_interval()
    alone = pair["powered"]["alone"]
    assert alone["value"] == pytest.approx(np.mean(old) - np.mean(new))
    assert alone["interval"][0] < low < high < alone["interval"][1]
    assert np.ptp(alone["interval"]) < 1.05 * (high - low)
    assert pair["method"] == "ratings and estimates"
    assert pair["powered"]["worth"] > 27 > pair["both_rated"] == 24
    assert pair["difference"]["error"] < pair["powered"]["alone"]["error"]
    assert pair["shown"]
    by = f"by {-pair['difference']['value']:.2f} points (0."
    assert pair["difference"]["above"] == pytest.approx(pair["difference"]["p"] / 2)
    best, other = ran.json["systems"]
    assert (best["name"], best["ranks"]) == ("new", [1, 1])
    assert (other["rated"], other["outputs"], other["ranks"]) == (24, 60, [2, 2])
    (pair,) = ran.json["judges"]["judge"]
    new, old = (column(of_system(outputs(), name), "judge") for name in ("new", "old"))
    assert pair["difference"]["interval"] == pytest.approx(
        [*ttest_rel(old, new).confidence_interval()]
    )
    shown = run(*words).out
    assert not too_wide(shown)
    assert f"new leads {by}" in one_line(shown)
    assert "Judges alone" in shown


@pytest.mark.parametrize("command", ["compare", "score"])
def test_a_judge_on_another_scale_is_named(command: str, tmp_path: Path) -> None:
    """0 to 100 where nobody rated, about 0.5 to 2.5 where people did; a code of failure."""
    rows = [{**row, "judge": abs(row["judge"])} for row in partly(outputs(), 24)]
    strange = [
        row if row["rating"] else {**row, "judge": 40 * row["judge"]} for row in rows
    ]
    strange[0]["judge"] = -1
    other = jsonl(tmp_path / "other.jsonl", rows)
    quick = ANY_NEIGHBOR if command == "compare" else ()  # which reads no scores
    words = (command, *quick, "--score-column", "judge")
    ran = run_well(*words, jsonl(tmp_path / "rows.jsonl", strange))
    assert "of the outputs lie outside those of the rated texts" in one_line(
        ran.out + ran.err
    )
    assert "1 of 120 scores is -1" in ran.err
    assert "lie outside" not in run(*words, other).err


def test_own_ratings_are_held_out() -> None:
    """An estimate knows no rating of its item: what moves them all moves no estimate of it."""
    from refless.commands.compare.field import field_of
    from refless.commands.compare.inputs import read_inputs
    from refless.commands.rows import ScoredRows
    from refless.estimators import estimator_of

    def estimates(rows: Rows) -> Any:
        given = read_inputs(rows, None, ScoredRows(), None)
        texts = given.outputs.texts
        found = field_of(given, estimator_of("gp"), 0, "random").estimates
        return dict(zip(texts.ids, found, strict=True))

    rows = partly(outputs(), 20)
    moved = [
        {**row, "rating": 1.0 if row["item"] == "i003" else row["rating"]}
        for row in rows
    ]
    before = estimates(rows)
    after = estimates(moved)
    assert before["old3"] == after["old3"]
    assert before["new3"] == after["new3"]
    assert before["new4"] != after["new4"]


def test_a_file_for_each_system(tmp_path: Path, file: Path) -> None:
    """Called after their files, in the order given; ids in common are what both answered."""
    rows = partly(outputs(), 24)
    files = []
    for name in ("old", "new"):
        mine = [
            {**without([row], "item", "system", "judge")[0], "id": row["item"]}
            for row in rows
            if row["system"] == name
        ]
        files.append(jsonl(tmp_path / f"{name}.jsonl", mine))
    ran = run_well(*COMPARE, *files, "--format", "json")
    (pair,) = ran.json["pairs"]
    assert (pair["first"], pair["second"], pair["items"]) == ("old", "new", 60)
    assert pair["paired"]
    one = json_of(*COMPARE, file)["pairs"][0]
    assert pair["difference"]["value"] == pytest.approx(-one["difference"]["value"])


def test_the_last_release(tmp_path: Path) -> None:
    """It has a file of its own, or is named."""
    rows = without(partly(outputs(), 24), "judge", "id")
    old, new = (
        jsonl(
            tmp_path / f"{name}.jsonl",
            without(of_system(rows, name), "system"),
        )
        for name in ("old", "new")
    )
    (pair,) = json_of(*COMPARE, old, new)["pairs"]
    assert (pair["first"], pair["second"]) == ("old", "new")
    both = jsonl(tmp_path / "both.jsonl", rows)
    systems = ("--system", "old", "--system", "new")
    (pair,) = json_of(*COMPARE, both, *systems)["pairs"]
    assert pair["first"] == "old"
    for name, file in (("1", old), ("2", new)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "outputs.jsonl").write_bytes(file.read_bytes())
    runs = [tmp_path / name / "outputs.jsonl" for name in "12"]
    (pair,) = json_of(*COMPARE, *runs)["pairs"]
    assert (pair["first"], pair["second"]) == (str(runs[0]), str(runs[1]))


@pytest.mark.parametrize("sourced", [False, True])
def test_numbers_of_rows_are_no_items(tmp_path: Path, *, sourced: bool) -> None:
    """Two files without ids are two samples; the user's ids make pairs."""
    rows = [{**row, "id": row["item"]} for row in partly(outputs(), 24)]
    kept = without(rows, "judge", "item")
    old = of_system(kept, "old")
    new = of_system(kept, "new")
    if sourced:
        old = [{**row, "source": f"s{row['id']}"} for row in old]

    def pair(*lacking: str) -> Any:
        files = [
            jsonl(tmp_path / "old.jsonl", without(old, *lacking)),
            jsonl(tmp_path / "new.jsonl", without(new, *lacking)),
        ]
        return json_of(*COMPARE, *files)["pairs"][0]

    found = pair("system")
    assert (found["paired"], found["both_rated"]) == (True, 24)
    if not sourced:
        found = pair("system", "id")
        assert (found["paired"], found["both_rated"]) == (False, 0)


def test_ratings_in_another_file(tmp_path: Path) -> None:
    """Rated texts that are outputs compared here count as their ratings; others only teach."""
    rows = partly(outputs(), 24)
    blank = without(rows, "rating", "judge")
    rated = [row for row in without(rows, "judge") if row["rating"] is not None]
    one = compared(blank, rated=rated).comparison.pairs[0]
    alone = compared(without(rows, "judge"))
    whole = alone.comparison.pairs[0]
    assert one.powered.alone.value == pytest.approx(whole.powered.alone.value)
    assert one.both_rated == 24
    texts = [{"text": text, "rating": 3 + ("Torby" in text)} for text in headlines(30)]
    more = compared(without(rows, "judge"), rated=texts)
    assert more.comparison.pairs[0].powered.alone == whole.powered.alone
    assert more.signature != alone.signature


def test_ratings_of_the_same_texts_without_ids() -> None:
    """They count as nobody's ratings, which is said; no estimate knows that of its own text."""
    rows = outputs()
    blank = [
        {**row, "text": f"{row['text']} {i}"}
        for i, row in enumerate(without(rows, "rating"))
    ]
    blank = without(blank, "judge")
    texts = [
        {"text": b["text"], "rating": a["rating"]}
        for a, b in zip(rows, blank, strict=True)
    ]
    found = refless.compare(blank, rated=texts, scale=(1, 5))
    assert any("120 rated texts read like outputs" in line for line in found.notes)
    high = [{**texts[0], "rating": 5}, *texts[1:]]
    low = [{**texts[0], "rating": 1}, *texts[1:]]
    only = [row for row in blank if row["item"] in {"i000", "i001"}]
    means = []
    for rated in (high, low):
        standings = refless.compare(
            only, rated=rated, scale=(1, 5)
        ).comparison.standings
        means += [one.mean.value for one in standings if one.name == "old"]
    assert abs(means[0] - means[1]) < 0.1


def test_without_any_rating_of_them() -> None:
    """By estimates alone, which is said, with the wide interval of systems that nobody rated."""
    other = [{**row, "system": f"s{i % 5}"} for i, row in enumerate(outputs(seed=4))]
    blank = without(outputs(gap=2.0), "rating", "judge", "id")
    found = refless.compare(blank, rated=without(other, "judge", "id"), scale=(1, 5))
    (pair,) = found.comparison.pairs
    assert pair.method == "estimates"
    assert math.isnan(pair.powered.alone.value)
    assert "by estimates alone" in one_line(found)
    assert pair.difference.error > 0
    nameless = refless.compare(blank, rated=without(other, "judge", "id", "system"))
    assert nameless.comparison.pairs[0].difference.error > 0


def test_selection() -> None:
    """Unknown: ratings do not stand for the others. Active: they weigh by their chances."""
    rows = partly(outputs(), 30)
    unknown = compared(rows, selection="unknown")
    assert unknown.comparison.pairs[0].method == "estimates"
    assert (unknown.comparison.pairs[0].shown, unknown.card().state) == (True, "with")
    few = compared(partly(outputs(), 5), selection="unknown")
    assert "Not known: only estimates could tell" in one_line(few)
    assert "no rating of these outputs" not in one_line(unknown)
    chances = [
        {**row, "probability": 0.9 if row["item"] < "i015" else 0.3}
        if row["rating"]
        else row
        for row in rows
    ]
    active = compared(chances)
    assert active.selection == "active"
    rated = [
        (r["rating"], 1 / r["probability"], r["system"]) for r in chances if r["rating"]
    ]
    means = []
    for system in ("new", "old"):
        mine = np.array([(y, w) for y, w, name in rated if name == system])
        means.append(np.average(mine[:, 0], weights=mine[:, 1]))
    assert active.comparison.pairs[0].powered.alone.value == pytest.approx(
        means[1] - means[0]
    )
    equal = compared(chances, selection="random")
    alone = compared(rows).comparison.pairs[0].powered.alone
    assert equal.comparison.pairs[0].powered.alone == alone


def test_ratings_without_a_chance_only_teach() -> None:
    """If others have one, the answer is that of the others alone."""
    chances = [
        {**row, "probability": 0.5 if row["item"] < "i020" else None}
        for row in partly(outputs(), 30)
    ]
    drawn = partly(outputs(), 20)
    of_all = compared(chances).comparison.pairs[0]
    assert of_all.powered.alone == compared(drawn).comparison.pairs[0].powered.alone
    rated = [row for row in chances if row["rating"]]
    alone = compared(rated).comparison.pairs[0]
    assert alone.difference == compared(rated[:40]).comparison.pairs[0].difference


def test_item_by_item() -> None:
    """Beside the mean: on how many items the second system is higher, by hand."""
    scores = digits("12 22 32 14 23 54 22 13")
    rows = [
        {
            "item": f"i{i}",
            "system": name,
            "text": f"{name} says {i}",
            "rating": pair[place],
        }
        for (i, pair), (place, name) in product(
            enumerate(scores), enumerate(("old", "new"))
        )
    ]
    found = refless.compare(
        rows, system=["old", "new"], scale=(1, 5), estimator="bleu-neighbors"
    )
    wins = found.comparison.pairs[0].item_wins
    shares = [share.value for share in (wins.higher, wins.equal, wins.lower)]
    assert (wins.items, shares) == (8, [0.5, 0.25, 0.25])
    told = one_line(found)
    assert (
        "new is higher on 50 % [22 %, 78 %], equal on 25 % [6 %, 60 %], lower" in told
    )
    assert found.rows()[0]["higher"] == 0.5


def test_several_systems() -> None:
    """All pairs, corrected by Holm; ranks that shown differences allow."""
    rows = outputs() + [
        {**row, "system": "third", "id": f"t{i}"}
        for i, row in enumerate(outputs(seed=2))
        if row["system"] == "new"
    ]
    found = compared(partly(rows, 30), scale=(1, 5))
    assert len(found.comparison.pairs) == 3
    ranks = {one.name: one.ranks for one in found.comparison.standings}
    assert ranks == {"new": (1, 2), "third": (1, 2), "old": (3, 3)}
    assert all(pair.p_holm >= pair.difference.p for pair in found.comparison.pairs)
    told = one_line(found)
    assert "third has the highest mean, 4.1, but new may be as good." in told
    assert "shown for 2 of 3 pairs (Holm)." in told
    two = compared(partly(rows, 30), system=["old", "third"])
    (pair,) = two.comparison.pairs
    assert (pair.first, pair.second) == ("old", "third")
    assert [one.ranks for one in two.comparison.standings] == [(1, 1), (2, 2)]
    with bad_usage("'best' is none of the systems: new, old, third"):
        compared(rows, system="best")
    assert len(found.rows()) == 3


def test_a_sheet_without_items() -> None:
    """Repeated rows count with those they repeat; with all rated, nothing is assumed of others."""
    rows = without(outputs(40), "id", "item")
    rows = [{**row, "text": f"{row['text']} and {i}"} for i, row in enumerate(rows)]
    result = compared([*rows, *rows[:30]])
    assert "30 texts repeat others and count with them" in one_line(result)
    once = compared(rows)
    assert "--selection" not in str(once)
    assert "80 texts, each drawn by itself." in one_line(once)
    widths = [
        np.ptp(one.comparison.pairs[0].difference.interval) for one in (once, result)
    ]
    assert widths[1] > 0.95 * widths[0]
    level = compared(without(outputs(20, gap=0.0), "id", "item"))
    assert "20 times as many items may not" in one_line(level)


@pytest.mark.parametrize(
    ("rows", "options", "said"),
    [
        (without(outputs(), "system"), {}, "no column for the system"),
        (
            [row for row in outputs() if row["system"] == "old"],
            {},
            "there is one system, 'old'",
        ),
        (
            without(outputs(), "rating"),
            {},
            "no column for the rating: .* 'judge' may be a judge's",
        ),
        (partly(outputs(), 0), {}, "no text has a rating"),
        (outputs(), {"margin": -1}, "margin must be 0 or more"),
        (outputs(), {"group": "nothing"}, "there is no column 'nothing'"),
        ([{**row, "probability": 0} for row in outputs()], {}, "0 is no probability"),
    ],
)
def test_what_cannot_be_compared(
    rows: Rows, options: dict[str, Any], said: str
) -> None:
    """Errors name what is missing."""
    with pytest.raises((UsageError, InputError), match=said):
        refless.compare(rows, **options)


def test_no_estimates_with_few_ratings() -> None:
    """Below ten rated items ratings answer alone, and a note says so; below two nothing does."""
    few = refless.compare(partly(outputs(), 5))
    assert few.comparison.pairs[0].method == "ratings"
    assert any("5 items with ratings, fewer than 10" in line for line in few.notes)
    one = refless.compare(partly(outputs(), 1))
    assert one.comparison.pairs[0].method == "none"
    assert "Not known: there is one independent rating each of old and new" in str(one)
    assert one.to_dict()["pairs"][0]["difference"]["error"] is None


def test_the_page(tmp_path: Path) -> None:
    """HTML with the outputs side by side, and the numbers folded; CSV with a row a pair."""
    found = compared(partly(outputs(), 24), scale=(1, 5))
    found.save(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert page.count("<svg") >= 2
    head, _, folds = page.partition('<section id="numbers"')
    texts = [row["text"] for row in outputs()]
    assert all(text in head for text in texts)
    assert "is better" in head
    assert "Systems, on a scale" in folds
    assert "Systems, on a scale" not in head
    found.save(tmp_path / "pairs.csv")
    assert (tmp_path / "pairs.csv").read_text("utf-8").startswith("first,second,")


def test_estimates_alone_hold() -> None:
    """Systems that texts say nothing of: intervals by estimates alone hold the true difference.

    20 runs; each system is rated .5 higher or lower than its texts tell (standard deviation). A
    difference is claimed in the wrong direction at most once.
    """
    rng = default_rng(8)
    texts = headlines(64)
    held = 0
    wrong = 0
    for _ in range(20):
        effects = rng.normal(size=8) * 0.5
        rows = [
            {"item": f"i{i}", "system": f"s{k}", "text": texts[int(rng.integers(64))]}
            for i, k in product(range(24), range(8))
        ]
        for row in rows:
            effect = effects[int(row["system"][1])]
            row["rating"] = 3 + effect + ("Torby" in row["text"]) + rng.normal() * 0.5
        new = [row for row in rows if row["system"] in {"s0", "s1"}]
        found = refless.compare(
            without(new, "rating"),
            rated=[row for row in rows if row not in new],
            estimator="bleu-neighbors:tau=0.2,min_neighbors=1,max_fraction=1",
        )
        (pair,) = found.comparison.pairs
        assert pair.method == "estimates"
        low, high = pair.difference.interval
        true = float(
            np.mean([r["rating"] * (1 if r["system"] == "s1" else -1) for r in new]) * 2
        )
        held += low <= true <= high
        wrong += pair.shown and pair.difference.value * (effects[1] - effects[0]) < 0
    assert held >= 18
    assert wrong <= 1


def rated_by(
    first: str,
    second: str,
    *,
    seed: int = 0,
    items: int = 30,
    gap: float = 0.0,
    sd: float = 0.4,
) -> Rows:
    """Two systems, each rated by people who are as strict as they are; a rating each a row."""
    rng = default_rng(seed)
    strict = dict(zip("abcdefgh", rng.normal(size=8) * sd, strict=True))
    found = []
    for i in range(items):
        for system, people, better in (("old", first, 0.0), ("new", second, gap)):
            quality = 3.3 + better + rng.normal() * 0.7
            row = {"item": f"i{i}", "system": system, "text": f"{system} {i}"}
            for who in people:
                rating = float(
                    np.clip(np.round(quality + strict[who] + rng.normal() / 2), 1, 5)
                )
                found.append({**row, "annotator": who, "rating": rating})
    return found


def test_people_who_rated_one_system_each() -> None:
    """Four people for each system: it is said, and no gate fails for their tempers.

    Without it one of two equal systems was ahead in a third of the draws.
    """
    called = 0
    gates = set()
    for seed in range(5):
        rows = rated_by("abcd", "efgh", seed=seed)
        found = refless.compare(rows, scale=(1, 5), system=ORDER)
        (pair,) = found.comparison.pairs
        assert "Nobody rated both, so the" in one_line(found)
        assert pair.apart
        called += pair.shown
        gates.add(refless.gate(rows, scale=(1, 5), baseline="old").exit_status)
        nameless = refless.compare(without(rows, "annotator"), scale=(1, 5))
        assert pair.difference.error > nameless.comparison.pairs[0].difference.error
    assert called <= 1
    assert gates <= {0, 4}
    many = rated_by("abcd", "efgh", gap=2.5)
    assert refless.compare(many, scale=(1, 5)).comparison.pairs[0].shown


def test_estimates_learn_who_is_strict_as_who_is_good() -> None:
    """One rater a system tells estimates no more than it tells ratings; four raters tell some."""
    few, several = (
        compared(rated_by(*people, gap=1.0), selection="unknown", scale=(1, 5))
        for people in (("a", "b"), ("abcd", "efgh"))
    )
    assert few.comparison.pairs[0].difference.untold == "raters are apart"
    assert few.card().advice == "have the same people rate both."
    (pair,) = several.comparison.pairs
    assert (pair.method, pair.apart) == ("estimates", True)


def test_one_rater_a_system() -> None:
    """Nothing tells a strict rater from a bad system: no interval, and the gate is undecided."""
    rows = rated_by("a", "b", gap=1.0)
    found = refless.compare(rows, scale=(1, 5), system=ORDER)
    (pair,) = found.comparison.pairs
    assert pair.difference.untold == "raters are apart"
    assert math.isnan(pair.difference.interval[0])
    assert refless.gate(rows, scale=(1, 5), baseline="old").exit_status == 4
    said = one_line(found)
    assert said.startswith(
        "Not known: nobody rated both, and these ratings do not tell how strict each rater is."
    )
    assert "Have the same people rate both systems" in said
    assert found.to_dict()["pairs"][0]["powered"]["apart"]
    more = [
        {
            "text": f"more {i}",
            "system": "another",
            "item": f"j{i}",
            "annotator": who,
            "rating": i % 4 + severity,
        }
        for i, (who, severity) in product(range(20), (("a", 2), ("b", 1), ("c", 1.5)))
    ]
    result = refless.compare(rows, rated=more, scale=(1, 5), system=["old", "new"])
    answer = result.comparison.pairs[0].difference
    assert not math.isnan(answer.error)  # three who rated the same texts


def test_the_same_people_for_both() -> None:
    """Their strictness is in both systems, so the interval is what it is without their names."""
    rows = rated_by("abc", "abc")
    named, nameless = (
        refless.compare(one, scale=(1, 5)).comparison.pairs[0]
        for one in (rows, without(rows, "annotator"))
    )
    assert named.difference == nameless.difference
    assert not named.apart
    part = refless.compare(rated_by("abc", "bcd"), scale=(1, 5)).comparison.pairs[0]
    assert part.one_sided == {"a": "old", "d": "new"}  # b and c rated both
    assert (part.powered.strange, part.apart) == (0, False)


def test_item_differences() -> None:
    """The JSON has what the picture piles up: of each item rated for both, new less old."""
    rows = partly(outputs(), 24)
    result = compared(rows, system=ORDER)
    old, new = (column(of_system(rows, name), "rating") for name in ORDER)
    pairs = zip(old, new, strict=True)
    gaps = [after - before for before, after in pairs if after is not None]
    assert sorted(result.to_dict()["item_differences"]) == pytest.approx(sorted(gaps))
    wins = result.comparison.pairs[0].item_wins
    assert wins.higher.value == pytest.approx(np.mean(np.array(gaps) > 0))


def test_people_of_several_systems() -> None:
    """It is counted of how many pairs nobody rated both."""
    third = [
        {**row, "system": "third"}
        for row in rated_by("a", "cd")
        if row["system"] == "new"
    ]
    found = refless.compare(rated_by("ab", "ab") + third, scale=(1, 5))
    said = one_line(found)
    assert (
        "Nobody rated both systems of 2 pairs out of 3, so the interval allows" in said
    )


def test_these_items_alone() -> None:
    """A fixed test set: narrower, exact once all is rated, and the page says which question."""
    rows = without(partly(outputs(gap=0.0), 24), "judge")
    like, these = (
        compared(rows, these_items=one, scale=(1, 5)) for one in (False, True)
    )
    errors = [one.comparison.pairs[0].powered.alone.error for one in (like, these)]
    assert errors[1] == pytest.approx(errors[0] * math.sqrt(1 - 24 / 60))
    said = [one_line(one) for one in (like, these)]
    assert (
        "The answer is about items like these (these_items: about these alone)"
        in said[0]
    )
    assert "The answer is about these items alone, as these people rate them" in said[1]
    assert [one.to_dict()["these_items"] for one in (like, these)] == [False, True]
    assert "these:yes" in str(these.signature)
    assert "these" not in str(like.signature)
    whole = compared(without(outputs(), "judge"), these_items=True, scale=(1, 5))
    (pair,) = whole.comparison.pairs
    assert pair.difference.interval == (pair.difference.value, pair.difference.value)
    assert pair.shown


def test_any_look() -> None:
    """Wider, and said; before ten items no interval holds at any look."""
    rows = without(partly(outputs(gap=0.0), 24), "judge")
    one, every = (compared(rows, looks=looks, scale=(1, 5)) for looks in ("one", "any"))
    widths = [
        np.ptp(found.comparison.pairs[0].difference.interval) for found in (one, every)
    ]
    assert widths[1] > 1.5 * widths[0]
    assert "holds for one look (looks='any': for any number)" in one_line(one)
    assert "holds however often you look" in one_line(every)
    assert [found.to_dict()["looks"] for found in (one, every)] == ["one", "any"]
    few = compared(partly(outputs(), 9), looks="any", system=ORDER)
    assert "no interval holds at any look before 10 items are rated" in one_line(few)
