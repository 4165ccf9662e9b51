"""refless score --best-of: the best output of each item, and where to fall back."""

import csv
import io
import json
import math
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from command_line import NEIGHBORS, Ran, headlines, jsonl, output_rows, rated_rows, run, too_wide
from refless import UsageError
from refless.data.records import Estimates, Outputs, Reason, numbered
from refless.evaluation.best_of import BestOf, best_of
from refless.registry.signature import Signature

DATA = Path(os.environ.get("REFLESS_DATA", Path(__file__).parents[2] / "shared" / "data"))
SCALE = ("--scale", 1, 5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("best-of")
    jsonl(where / "rated.jsonl", rated_rows())
    jsonl(where / "outputs.jsonl", output_rows())
    return where


def best(folder: Path, *more: object, by: str = "item") -> Ran:
    rated = ("--rated", folder / "rated.jsonl", *NEIGHBORS)
    return run("score", folder / "outputs.jsonl", *rated, "--best-of", by, *more)


def judged(values: list[float], items: list[str]) -> tuple[Outputs, Estimates]:
    """Outputs of these items with these estimates."""
    n = len(values)
    array = np.array(values, dtype=np.float64)
    reasons: tuple[Reason, ...] = tuple("too-few" if v != v else "" for v in values)
    outputs = Outputs(ids=numbered(n), texts=tuple(f"text {i}" for i in range(n)))
    estimates = Estimates(
        ids=numbered(n),
        values=array,
        reasons=reasons,
        support=np.zeros(n, dtype=np.int64),
        low=array,
        high=array,
    )
    return replace(outputs, sources=tuple(items), items=tuple(items)), estimates


def summed_up(values: list[float], items: list[str], below: float | None = None) -> BestOf:
    return best_of(*judged(values, items), fallback_below=below)


NOISE = 1e-12  # as floating-point numbers of one text differ from thread to thread
VALUES = st.lists(
    st.tuples(
        st.one_of(
            st.builds(lambda i, noisy: i / 8 + NOISE * noisy, st.integers(0, 8), st.booleans()),
            st.just(math.nan),
        ),
        st.sampled_from("abcd"),
    ),
    max_size=25,
)


@given(VALUES, st.floats(0.01, 0.99))
def test_the_choice_is_that_of_a_slow_loop(rows: list[tuple[float, str]], below: float) -> None:
    """Item by item, row by row: a later row wins only if it is higher, noise aside."""
    values, items = [value for value, _ in rows], [item for _, item in rows]
    found = summed_up(values, items, below).choices
    assert [choice.item for choice in found] == list(dict.fromkeys(items))
    for choice in found:
        slow = None
        for row, (value, item) in enumerate(rows):
            if item != choice.item or math.isnan(value):
                continue
            if slow is None or round(value, 6) > round(values[slow], 6):
                slow = row
        assert choice.best == slow
        if slow is None or abs(values[slow] - below) > 1e-5:
            assert choice.fallback is (slow is None or values[slow] < below)
        assert choice.rows == tuple(row for row, item in enumerate(items) if item == choice.item)
        assert choice.n_scored + choice.reasons.get("too-few", 0) == len(choice.rows)


@given(VALUES, st.randoms())
def test_order_decides_between_equal_estimates_only(
    rows: list[tuple[float, str]], random: object
) -> None:
    """In another order the same estimates are chosen."""
    mixed = list(rows)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    one, other = (told([*order]) for order in (rows, mixed))
    assert one == other


def told(rows: list[tuple[float, str]]) -> dict[str, tuple[str, int, bool]]:
    """What was chosen for each item."""
    values = [value for value, _ in rows]
    found = summed_up(values, [item for _, item in rows], 0.5)
    return {
        one.item: (
            "none" if one.best is None else f"{values[one.best]:.6f}",
            one.tied,
            one.fallback,
        )
        for one in found.choices
    }


def test_by_hand() -> None:
    """Best 0.6, 0.5, none, 0.4; two of four lie below 0.45."""
    nan = math.nan
    found = summed_up([0.2, 0.5, nan, 0.4, 0.6, nan, nan, 0.4, 0.1], [*"abcdabcdd"], 0.45)
    assert [choice.best for choice in found.choices] == [4, 1, None, 3]
    assert [choice.n_scored for choice in found.choices] == [2, 1, 0, 3]
    assert [choice.fallback for choice in found.choices] == [False, False, True, True]
    assert (found.n_tied, found.n_fallback) == (1, 2)
    assert (len(found.choices), found.n_scored) == (4, 3)


def test_equal_up_to_noise() -> None:
    """One text judged twice is a tie; the threshold itself is enough, noise aside."""
    for first, second, row in ((0.5, 0.5 + NOISE, 0), (0.5, 0.5 + 1e-4, 1), (70.0, 70 + 1e-5, 0)):
        assert summed_up([first, second], ["a", "a"]).choices[0].best == row
    for below, fallback in ((0.5, False), (0.5 + NOISE, False), (0.501, True), (None, False)):
        assert summed_up([0.5, 0.1], ["a", "a"], below).choices[0].fallback is fallback


def test_json(folder: Path) -> None:
    """Each source's choice is the highest of its outputs in the same object."""
    ran = best(folder, *SCALE, "--fallback-below", 3, "--format", "json")
    assert ran.code == 0, ran.err
    rows, found = output_rows(), ran.json["best_of"]
    estimates = {one["id"]: one["estimate"] for one in ran.json["items"]}
    assert found["by"] == "item"
    assert [one["item"] for one in found["items"]] == [f"s{i}" for i in range(6)]
    for i, one in enumerate(found["items"]):
        pair = [estimates[str(row["id"])] for row in rows[2 * i : 2 * i + 2]]
        highest = max(value for value in pair if value is not None)
        assert one["estimate"] == estimates[one["id"]] == highest
        assert one["text"] == next(row["text"] for row in rows if row["id"] == one["id"])
        assert (one["candidates"], one["n_scored"]) == (2, 2 - pair.count(None))
        assert one["fallback"] is (highest < 3)
    assert 0 < found["n_fallback"] == sum(one["fallback"] for one in found["items"]) < 6


def test_the_rest_of_score_stays_as_it_is(folder: Path) -> None:
    """--best-of adds one object and two settings; without it there is neither."""
    words = ("score", folder / "outputs.jsonl", "--rated", folder / "rated.jsonl", *NEIGHBORS)
    plain = run(*words, "--format", "json").json
    found = best(folder, "--fallback-below", 3, "--format", "json").json
    assert plain.pop("best_of") is None
    assert found.pop("signature") == f"{plain.pop('signature')}|best-of:item|fallback:3"
    del found["best_of"]
    assert found == plain


def test_signature_says_how(folder: Path) -> None:
    """A threshold that was not asked for is not in it."""
    ran = best(folder, "--format", "json", by="source")
    signature = Signature.parse(ran.json["signature"])
    assert signature.get("best-of") == ran.json["best_of"]["by"] == "source"
    assert signature.get("fallback") is None
    assert ran.json["best_of"]["fallback_below"] is None


def test_rows_are_the_chosen(folder: Path) -> None:
    """CSV and JSONL hold a row an item, with the chosen text whole."""
    found = best(folder, "--format", "json").json["best_of"]["items"]
    lines = [json.loads(line) for line in best(folder, "--format", "jsonl").out.splitlines()]
    table = list(csv.DictReader(io.StringIO(best(folder, "--format", "csv").out)))
    for name in ("item", "id", "text", "estimate", "candidates", "n_scored", "fallback"):
        assert [line[name] for line in lines] == [one[name] for one in found]
        assert [row[name] for row in table] == [str(one[name]) for one in found]
    assert [[line["low"], line["high"]] for line in lines] == [one["interval"] for one in found]


def test_text_and_markdown(folder: Path) -> None:
    """For people: how many fall back, and the items; within 80 columns."""
    ran = best(folder, *SCALE, "--fallback-below", 3)
    said = ran.out.replace("\n", " ")
    for part in (
        "6 chosen from 12 outputs for 6 items", "--group item' tells what such a choice is worth",
        "Fallback: ", "best estimate below 3", "Chosen", "yes", "no", "Systems",
    ):  # fmt: skip
        assert part in said
    assert not too_wide(ran.out)
    assert "## The best output of each item" in best(folder, "--format", "md").out


def test_of_many_items_the_first_are_shown(folder: Path, tmp_path: Path) -> None:
    """Beyond twenty items: the first, and how to get all."""
    rows = [{**row, "source": f"s{i // 2}"} for i, row in enumerate(output_rows(70))]
    outputs = jsonl(
        tmp_path / "many.jsonl", [*rows, {**rows[0], "id": "x", "source": "z", "text": ""}]
    )
    rated = ("--rated", folder / "rated.jsonl", *NEIGHBORS)
    ran = run("score", outputs, *rated, "--best-of", "item")
    assert "16 more: add -o best.csv" in ran.out
    assert "Fallback: 1 of 36 items (no estimate: 1)." in ran.out
    assert len(ran.out.splitlines()) < 70


def test_an_item_without_estimates(folder: Path, tmp_path: Path) -> None:
    """It has a row with its reasons and nothing else, and falls back without any threshold."""
    rows = [
        {"source": "a", "text": ""},
        {"source": "a", "text": "ab"},
        {"source": "b", "text": "ab"},
    ]
    texts = [{"source": "c", "text": text} for text in headlines(2)]
    outputs = jsonl(tmp_path / "o.jsonl", [*rows, *texts])
    rated = ("--rated", folder / "rated.jsonl", *NEIGHBORS)
    words = ("score", outputs, *rated, "--best-of", "item", "--format")
    a, b, c = (json.loads(line) for line in run(*words, "jsonl").out.splitlines())
    assert (a["item"], a["id"], a["text"], a["estimate"]) == ("a", None, None, None)
    assert (a["candidates"], a["n_scored"], a["fallback"]) == (2, 0, True)
    assert (a["reason"], b["reason"], c["reason"]) == ("empty, too-short", "too-short", "")
    assert c["fallback"] is False
    found = run(*words, "json").json["best_of"]
    assert found["items"][0]["reasons"] == {"empty": 1, "too-short": 1}
    assert (len(found["items"]), found["n_fallback"]) == (3, 2)
    text = run(*words, "text").out
    assert "empty, too-short" in text
    assert not too_wide(text)


def test_item_and_source_may_differ(folder: Path, tmp_path: Path) -> None:
    """With a column of items, `source` goes by the other one."""
    rows = [{**row, "item": f"i{n // 3}"} for n, row in enumerate(output_rows())]
    outputs = jsonl(tmp_path / "o.jsonl", rows)
    rated = ("--rated", folder / "rated.jsonl", *NEIGHBORS)
    words = ("score", outputs, *rated, "--format", "json", "--best-of")
    assert len(run(*words, "item").json["best_of"]["items"]) == 4
    assert len(run(*words, "source").json["best_of"]["items"]) == 6


def test_blank_sources_do_not_compete(folder: Path, tmp_path: Path) -> None:
    """An output that does not say what it answers is kept, whatever the others are worth."""
    texts = headlines(4)
    rows = [{"id": f"o{i}", "source": "", "text": text} for i, text in enumerate(texts[:2])]
    rows += [{"id": f"o{i}", "source": "o0", "text": text} for i, text in enumerate(texts[2:], 2)]
    outputs = jsonl(tmp_path / "o.jsonl", rows)
    rated = ("--rated", folder / "rated.jsonl", *NEIGHBORS)
    ran = run("score", outputs, *rated, "--best-of", "source", "--format", "json")
    found = [(one["item"], one["candidates"]) for one in ran.json["best_of"]["items"]]
    assert found == [("o0", 1), ("o1", 1), ("o0", 2)]


def test_bad_rows_are_items_of_their_own(folder: Path, tmp_path: Path) -> None:
    """Under --skip-bad a row that cannot be read has no choice, and takes none from others."""
    outputs = tmp_path / "o.jsonl"
    good = [json.dumps({"source": "a", "text": text}) for text in headlines(2)]
    outputs.write_text("\n".join([good[0], "{broken", "{worse", good[1]]), encoding="utf-8")
    words = ("--rated", folder / "rated.jsonl", *NEIGHBORS, "--best-of", "item", "--skip-bad")
    ran = run("score", outputs, *words, "--format", "json")
    assert [one["candidates"] for one in ran.json["best_of"]["items"]] == [2, 1, 1]
    assert ran.json["best_of"]["items"][1]["reasons"] == {"bad-row": 1}
    assert ran.json["best_of"]["n_fallback"] == 2


def test_nothing_to_choose_from(folder: Path, tmp_path: Path) -> None:
    """One output an item: said."""
    outputs = jsonl(tmp_path / "o.jsonl", output_rows()[::2])
    rated = ("--rated", folder / "rated.jsonl", *NEIGHBORS)
    ran = run("score", outputs, *rated, "--best-of", "item", "--fallback-below", 3)
    assert "There was nothing to choose" in ran.out
    assert "Fallback: " in ran.out


def test_report(folder: Path, tmp_path: Path) -> None:
    """The HTML report begins with the choice; names in it are escaped."""
    rated = ("--rated", folder / "rated.jsonl", *NEIGHBORS)
    rows = [{**row, "source": f"<b>&</b>{row['source']}"} for row in output_rows()]
    for name, some in (("two", rows), ("one", rows[::2])):
        outputs, where = jsonl(tmp_path / "o.jsonl", some), tmp_path / f"{name}.html"
        ran = run("score", outputs, *rated, "--best-of", "item", "-o", where)
        assert ran.code == 0, ran.err
        page = where.read_text(encoding="utf-8")
        assert 'id="part-1-title">The best output of each item</h2>' in page
        assert "&lt;b&gt;" in page
        assert "<b>" not in page
        assert ("There was nothing to choose" in page) is (name == "one")
    plain = tmp_path / "plain.html"
    run("score", folder / "outputs.jsonl", *rated, "-o", plain)
    assert "The best output" not in plain.read_text(encoding="utf-8")


def test_nothing_to_choose_by(folder: Path, tmp_path: Path) -> None:
    """Outputs that do not say what they answer: the flags that would say it."""
    outputs = jsonl(tmp_path / "o.jsonl", [{"text": text} for text in headlines(3)])
    items = jsonl(tmp_path / "i.jsonl", [{"text": t, "item": "a"} for t in headlines(3)])
    rated = ("--rated", folder / "rated.jsonl", *NEIGHBORS, "--best-of")
    for path, by, flags in (
        (outputs, "item", ("--column item", "--column source")),
        (outputs, "source", ("--column source",)),
        (items, "source", ("--column source",)),
    ):
        ran = run("score", path, *rated, by)
        assert ran.code == 2
        assert all(flag in ran.err for flag in (f"--best-of {by}", *flags))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--best-of", "system"), "--best-of must be one of item, source; got 'system'"),
        (("--best-of", ""), "--best-of must be one of item, source"),
        (("--fallback-below", 0.5), "add --best-of item"),
        (("--best-of", "item", "--fallback-below", "nan"), "--fallback-below must be finite"),
        (("--best-of", "item", "--fallback-below", "inf"), "--fallback-below must be finite"),
        (
            ("--best-of", "item", "--fallback-below", 0.5, *SCALE),
            "--fallback-below is in the raters' units",
        ),
    ],
)
def test_wrong_usage(folder: Path, words: tuple[object, ...], said: str) -> None:
    """A choice that cannot be made, a threshold that says nothing or means nothing."""
    ran = run("score", folder / "outputs.jsonl", "--rated", folder / "rated.jsonl", *words)
    assert ran.code == 2
    assert said in ran.err
    assert not ran.out


def test_wrong_usage_from_python() -> None:
    """The same from Python."""
    outputs, estimates = judged([0.5], ["a"])
    with pytest.raises(UsageError, match="item or source"):
        best_of(outputs, estimates, by="system")
    with pytest.raises(UsageError, match="must be a number"):
        best_of(outputs, estimates, fallback_below=math.nan)
    with pytest.raises(UsageError, match="--column item"):
        best_of(replace(outputs, items=()), estimates)
