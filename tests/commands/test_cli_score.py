"""refless score: every format, gates, groups of rows, and honesty where it does not work."""

import csv
import shlex
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from command_line import (
    NEIGHBORS,
    Ran,
    headlines,
    json_of,
    jsonl,
    new_rows,
    output_rows,
    rated_rows,
    repeated,
    run,
    run_well,
    too_wide,
)
from refless.registry.signature import Signature
from rows import read_csv, read_jsonl, without

SCALE = ("--scale", 1, 5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("score")
    jsonl(where / "rated.jsonl", rated_rows())
    # enough ratings to err less than a constant, and outputs of the same kind, one too short
    jsonl(where / "more.jsonl", rated_rows(96))
    jsonl(where / "new.jsonl", [*new_rows(11, after=96), output_rows()[-1]])
    jsonl(where / "outputs.jsonl", output_rows())
    return where


def scored(folder: Path, *more: object, rated: str = "rated.jsonl") -> Ran:
    return run(
        "score", folder / "outputs.jsonl", "--rated", folder / rated, *NEIGHBORS, *more
    )


def gated(folder: Path, *more: object) -> Ran:
    """The result on files that have evidence enough for a gate."""
    return run(
        "score",
        folder / "new.jsonl",
        "--rated",
        folder / "more.jsonl",
        *NEIGHBORS,
        *more,
    )


def test_json(folder: Path) -> None:
    """Estimates and their mean are in the raters' units, and say so."""
    ran = scored(folder, *SCALE, "--format", "json")
    assert ran.code == 0
    found = ran.json
    estimates = [
        item["estimate"] for item in found["items"] if item["estimate"] is not None
    ]
    assert [item["id"] for item in found["items"]] == [f"o{i:02}" for i in range(12)]
    assert found["n"] == 12
    assert found["n_scored"] == len(estimates) > 6
    assert found["coverage"] == len(estimates) / 12
    assert found["mean"] == pytest.approx(np.mean(estimates), abs=1e-14)
    low, high = found["mean_interval"]
    assert 1 <= low <= found["mean"] <= high <= 5
    assert found["scale"] == [1, 5]
    plain = scored(folder, "--format", "json").json
    assert plain["scale"] is None
    assert found["mean"] == pytest.approx(plain["mean"])
    for one, same in zip(found["items"], plain["items"], strict=True):
        assert one["estimate"] == pytest.approx(same["estimate"])
    assert found["systems"].keys() == {"m0", "m1"}
    assert sum(found["reasons"].values()) == 12 - len(estimates)


@pytest.mark.parametrize(
    ("group", "drawn"),
    [
        (
            (),
            (
                "12 outputs from 6 sources, which were drawn whole.",
                "12 sources, which were",
                "12",
            ),
        ),
        (
            ("--group", "system"),
            ("12 outputs from 2 systems, which", "4 systems, which were", "4"),
        ),
        (
            ("--group", "id"),
            ("12 outputs, each drawn by itself.", "each drawn by itself", "48"),
        ),
    ],
)
def test_the_design_is_told(
    folder: Path, tmp_path: Path, group: tuple[str, ...], drawn: tuple[str, str, str]
) -> None:
    """Of outputs and of rated texts, on the page and in JSON; signed; if saved too."""
    outputs, rated, units = drawn
    ran = scored(folder, *group, "--format", "json")
    assert outputs in ran.json["design"]
    assert ran.json["rated_design"].startswith("48 rated texts")
    assert rated in ran.json["rated_design"]
    assert "; 3 raters, 3 on each text." in ran.json["rated_design"]
    page = scored(folder, *group).line
    assert f"{ran.json['design']} {ran.json['rated_design']}" in page
    assert Signature.parse(ran.json["signature"]).get("units") == units
    model = tmp_path / "fitted.safetensors"
    assert (
        run("fit", folder / "rated.jsonl", *NEIGHBORS, *group, "--to", model).code == 0
    )
    saved = json_of("score", folder / "outputs.jsonl", "--model", model)
    for name in ("design", "rated_design", "signature"):
        assert saved[name] == ran.json[name]


def test_many_outputs_show_the_ends(tmp_path: Path, folder: Path) -> None:
    """Beyond twenty outputs only the lowest and the highest are shown, and how to get all."""
    outputs = jsonl(tmp_path / "many.jsonl", output_rows(60))
    ran = run("score", outputs, "--rated", folder / "rated.jsonl", *NEIGHBORS)
    assert "Lowest estimates" in ran.out
    assert "Highest estimates" in ran.out
    assert "-o estimates.csv" in ran.out
    assert len(ran.out.splitlines()) < 60


def test_ends_of_estimates_that_hardly_differ(tmp_path: Path, folder: Path) -> None:
    """One sentence, and no tables of a lowest and a highest that are the same."""
    texts = [{"source": f"q{i}", "text": headlines(2)[i % 2]} for i in range(60)]
    outputs = jsonl(tmp_path / "alike.jsonl", texts)
    learner = (
        "bleu-neighbors:tau=0.0,min_neighbors=1,max_fraction=1"  # gives all their mean
    )
    ran = run(
        "score", outputs, "--rated", folder / "rated.jsonl", "--estimator", learner
    )
    assert "The estimates hardly differ (" in ran.out
    assert "Lowest" not in ran.out
    assert "Highest" not in ran.out
    assert "-o estimates.csv" in ran.out
    assert not too_wide(ran.out)


def test_csv_and_jsonl(folder: Path) -> None:
    """One row a text, the same numbers as in JSON; an undefined number is empty or null."""
    items = scored(folder, "--format", "json").json["items"]
    lines = read_jsonl(scored(folder, "--format", "jsonl").out)
    table = read_csv(scored(folder, "--format", "csv").out)
    assert len(lines) == len(table) == len(items)
    for item, line, row in zip(items, lines, table, strict=True):
        assert (line["id"], line["estimate"], line["reason"]) == (
            item["id"],
            item["estimate"],
            item["reason"],
        )
        assert row["estimate"] == (
            "" if item["estimate"] is None else repr(item["estimate"])
        )
    assert set(table[0]) == {
        "id",
        "system",
        "estimate",
        "low",
        "high",
        "support",
        "reason",
        "text",
    }


def test_rows_of_several_files_say_which(folder: Path, tmp_path: Path) -> None:
    """So do those of a folder, with an estimator that no file can hold too."""
    outputs = tmp_path / "new"
    outputs.mkdir()
    for name in "ab":
        jsonl(outputs / f"{name}.jsonl", [{"text": f"an output in {name}"}] * 2)
    own = tmp_path / "mine.py"
    own.write_text(
        "class Flat:\n"
        "    def fit(self, texts, ratings): return self\n"
        "    def predict(self, texts): return [3.0] * len(texts)\n"
    )
    flags = (
        "--rated",
        folder / "rated.jsonl",
        "--estimator",
        f"{own}:Flat",
        "--format",
        "csv",
    )
    rows = read_csv(run("score", outputs, *flags).out)
    assert [Path(row["file"]).name[0] for row in rows] == ["a", "a", "b", "b"]


def test_files(folder: Path, tmp_path: Path) -> None:
    """-o is repeatable; each file holds what the format prints."""
    names = ["a.json", "b.jsonl", "c.csv", "d.md"]
    more = repeated("-o", [tmp_path / name for name in names])
    ran = scored(folder, *more)
    assert ran.code == 0
    assert ran.err.count("refless: wrote ") == 4
    for name in names:
        printed = scored(folder, "--format", name.split(".")[1]).out
        assert (tmp_path / name).read_text("utf-8") == printed
    assert (
        sorted(path.name for path in tmp_path.iterdir()) == names
    )  # nothing temporary stays


@pytest.mark.parametrize(
    "name", ["x.htm", "x", "x.text", "x.json.gz", "nowhere/x.json"]
)
def test_files_are_refused_before_any_work(
    folder: Path, tmp_path: Path, name: str
) -> None:
    """A bad ending or a missing folder is found before the rated texts are read."""
    ran = run(
        "score", "missing.jsonl", "--rated", "missing.jsonl", "-o", tmp_path / name
    )
    assert ran.refuses(name)
    assert "no such file" not in ran.err


def test_the_gate_comes_first_on_the_page(folder: Path, tmp_path: Path) -> None:
    """The report begins with what became of the gate."""
    page = tmp_path / "gate.html"
    gated(folder, *SCALE, "--min-mean", 4.9, "--min-coverage", 0.1, "-o", page)
    html = page.read_text("utf-8")
    assert html.index("Gate failed: the mean") < html.index("Rests on estimates")


@pytest.mark.parametrize("scale", [(), SCALE], ids=["no scale", "scale"])
def test_gate_on_the_mean(folder: Path, scale: tuple[object, ...]) -> None:
    """0 where the interval lies above, 3 where it lies below, 4 where it straddles.

    The gate is in the raters' units, as the estimates are.
    """
    found = gated(folder, *scale, "--format", "json").json
    low, high = found["mean_interval"]
    for least, code in ((low - 0.1, 0), (high + 0.1, 3), ((low + high) / 2, 4)):
        gate = ("--min-mean", least, "--min-coverage", 0.5)
        ran = gated(folder, *scale, *gate, "--format", "json")
        assert ran.code == code
        verdict = {0: "passed", 3: "failed", 4: "undecided"}[code]
        assert ran.json["gate"]["verdict"] == verdict
        assert ran.json["gate"]["reason"].startswith(
            f"gate {verdict}: the mean's interval"
        )
        assert ran.json["gate"]["reason"] in ran.err
        assert ("more outputs or more rated texts" in ran.err) == (code == 4)
        assert (
            ran.json["mean_interval"] == found["mean_interval"]
        )  # the result is printed
        assert f" {least:g}" in ran.err
    assert found["gate"] == {"verdict": "", "reason": ""}


def test_gate_on_the_mean_of_some(folder: Path) -> None:
    """Outputs without an estimate may be the bad ones: undecided, until coverage is asked for."""
    sure = ("--min-mean", 1)
    ran = gated(folder, *sure)
    n = gated(folder, "--format", "json").json["n_scored"]
    assert ran.ended(4, f"the mean is over {n} of 12 outputs")
    assert "--min-coverage" in ran.err
    assert gated(folder, *sure, "--min-coverage", n / 12).code == 0
    assert gated(folder, *sure, "--min-coverage", 1).code == 3
    files = (folder / "new.jsonl", "--rated", folder / "more.jsonl")
    ran = run("score", *files, *sure, "--format", "json")
    assert (ran.code, ran.json["coverage"]) == (0, 1)  # the Gaussian process judges all


def test_the_line_that_validates(folder: Path) -> None:
    """It has what 'validate' reads, and runs."""
    ran = scored(folder, *SCALE, "--these-items", "--seed", 3)
    (line,) = [one for one in ran.out.splitlines() if one.startswith("  refless ")]
    told = run_well(*shlex.split(line)[1:], "--format", "json").json["signature"]
    assert told.endswith("|seed:3")


def test_gates_outside_the_scale(folder: Path) -> None:
    """A number that no mean could be is a slip: most likely a share instead of a rating."""
    for value in (0.5, 7):
        ran = scored(folder, *SCALE, "--min-mean", value)
        assert ran.refuses(
            f"--min-mean is in the raters' units, from 1 to 5; got {value}"
        )


def test_gate_on_coverage(folder: Path) -> None:
    """3 below the asked coverage, 0 at it."""
    coverage = gated(folder, "--format", "json").json["coverage"]
    assert coverage < 1
    ran = gated(folder, "--min-coverage", coverage)
    assert ran.ended(0, "gate passed: coverage")
    assert gated(folder, "--min-coverage", coverage + 0.01).code == 3


def test_gate_without_any_estimate(folder: Path, tmp_path: Path) -> None:
    """No mean, no verdict."""
    short = jsonl(tmp_path / "short.jsonl", [{"text": "ab"}])
    words = (
        "score",
        short,
        "--rated",
        folder / "rated.jsonl",
        *NEIGHBORS,
        "--min-mean",
        1,
    )
    ran = run(*words)
    assert ran.ended(4, "the mean is over 0 of 1 outputs")
    ran = run(*words, "--min-coverage", 0)
    assert ran.ended(4, "no interval")


@pytest.mark.parametrize(
    "gate",
    ["--min-mean nan", "--min-mean inf", "--min-coverage 2", "--min-coverage -1"],
)
def test_gates_that_say_nothing(folder: Path, gate: str) -> None:
    """A gate that nothing or everything passes is wrong usage."""
    assert scored(folder, *gate.split()).code == 2


def test_seeds(folder: Path) -> None:
    """0 is a seed: it repeats itself; another draws other intervals, not another mean."""
    found = [
        scored(folder, "--format", "json", "--seed", seed).json for seed in (0, 0, 1)
    ]
    assert found[0] == found[1]
    assert found[0]["mean"] == found[2]["mean"]
    assert found[0]["mean_interval"] != found[2]["mean_interval"]
    assert [Signature.parse(one["signature"]).get("seed") for one in found] == [
        "0",
        "0",
        "1",
    ]


def test_standard_input(folder: Path) -> None:
    """- is standard input, for the outputs or for the rated texts, not for both."""
    outputs = (folder / "outputs.jsonl").read_bytes()
    rated = (folder / "rated.jsonl").read_bytes()
    whole = scored(folder, "--format", "json").found
    words = (*NEIGHBORS, "--format", "json", "--read", "format=jsonl")
    ours = run("score", "-", "--rated", folder / "rated.jsonl", *words, stdin=outputs)
    theirs = run("score", folder / "outputs.jsonl", "--rated", "-", *words, stdin=rated)
    assert ours.found == theirs.found == whole
    both = run("score", "-", "--rated", "-", stdin=rated)
    assert both.refuses("only once")


def test_a_partly_rated_file(folder: Path, tmp_path: Path) -> None:
    """Rows with a rating are rated texts, rows without one are outputs; as from two files."""
    blank: list[dict[str, object]] = [{**row, "rating": None} for row in output_rows()]
    mixed = [*chain.from_iterable(zip(rated_rows()[::12], blank, strict=True))]
    rest = [row for row in rated_rows() if row not in mixed]
    both = jsonl(tmp_path / "both.jsonl", [*mixed, *rest])
    whole = scored(folder, *SCALE, "--format", "json").found
    ran = run_well("score", both, *NEIGHBORS, *SCALE, "--format", "json")
    assert ran.found == whole
    absent = without(output_rows(), "rating")
    other = jsonl(tmp_path / "other.jsonl", [*rated_rows(), *absent])
    assert run("score", other, *NEIGHBORS, *SCALE, "--format", "json").found == whole
    table = tmp_path / "both.csv"
    columns = ("id", "source", "system", "text", "annotator", "rating")
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows([*mixed, *rest])
    assert run("score", table, *NEIGHBORS, *SCALE, "--format", "json").found == whole


@pytest.mark.parametrize(
    ("rows", "said"),
    [(rated_rows(), "every text has a rating"), (output_rows(), "rating")],
    ids=["all rated", "none rated"],
)
def test_nothing_to_judge_or_to_judge_by(tmp_path: Path, rows, said: str) -> None:
    """A file of one kind only, and no --rated: what is missing is said."""
    ran = run("score", jsonl(tmp_path / "rows.jsonl", rows))
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert "give the rated texts with --rated" in ran.err


def test_wide_names_fit(tmp_path: Path) -> None:
    """Long ids, systems and double-width characters stay within 80 columns."""
    rows = [
        {
            "id": f"編號{'長' * 40}{i}",
            "system": f"システム{'名' * 40}{i % 2}",
            "text": text * 3,
        }
        for i, text in enumerate(headlines(24))
    ]
    for row in rows:
        row["text"] = f"{row['text']}「漢字」漢字漢字 {'あ' * 30}"
    rated = jsonl(
        tmp_path / "r.jsonl", [{**row, "rating": i % 5} for i, row in enumerate(rows)]
    )
    near = ("--estimator", "bleu-neighbors:max_fraction=1")
    ran = run_well("score", jsonl(tmp_path / "o.jsonl", rows), "--rated", rated, *near)
    assert not too_wide(ran.out)
    assert not too_wide(run("validate", rated, *near).out)
    explained = run("explain", "--rated", rated, rows[0]["text"], *near)
    assert "similarity" in explained.out
    assert not too_wide(explained.out)


def test_groups_of_the_users_own(folder: Path) -> None:
    """They are in the signature, change intervals and no estimate, and few of them are told."""
    own = [{**row, "tale": f"tale {i // 36}"} for i, row in enumerate(rated_rows())]
    jsonl(folder / "tales.jsonl", own)
    new = [{**row, "tale": "another"} for row in output_rows()]
    jsonl(folder / "others.jsonl", new)
    words = (
        "score",
        folder / "others.jsonl",
        "--rated",
        folder / "tales.jsonl",
        "--format",
        "json",
    )
    plain = run(*words, *NEIGHBORS)
    grouped = run(*words, *NEIGHBORS, "--group", "tale")
    assert (plain.code, grouped.code) == (0, 0)
    assert grouped.json["mean"] == plain.json["mean"]
    assert grouped.json["mean_interval"] != plain.json["mean_interval"]
    assert Signature.parse(grouped.json["signature"]).get("heldout") == "tale"
    assert "the rated texts are of 4 tales, too few" in grouped.err
    assert "of 12 sources" not in plain.err  # the outputs are for these very sources
    refused = scored(folder, "--group", "tale", rated="tales.jsonl")
    assert refused.refuses("tale")


def test_groups_that_change_nothing_are_told(folder: Path) -> None:
    """A network's errors are of texts kept aside one by one."""
    pytest.importorskip("torch", reason="torch is not installed")
    small = "ratpred:epochs=1,hidden=4,embedding=4,ensemble_size=1"
    words = (
        "score",
        folder / "outputs.jsonl",
        "--rated",
        folder / "rated.jsonl",
        "--estimator",
    )
    ran = run_well(*words, small, "--group", "source")
    assert "--group source changes nothing here" in ran.err
    other = run(*words, "bleu-neighbors", "--group", "source")
    assert "changes nothing" not in other.err


def test_few_rated_systems_are_told(folder: Path) -> None:
    """A system without rated texts has a wide interval, and a note says by what it goes."""
    new = [
        {**row, "system": "new"} if i % 2 else row
        for i, row in enumerate(output_rows())
    ]
    jsonl(folder / "new.jsonl", new)
    one = [row for row in rated_rows() if row["system"] == "m0"]
    jsonl(folder / "one.jsonl", one)
    found = run(
        "score",
        folder / "new.jsonl",
        "--rated",
        folder / "one.jsonl",
        "--format",
        "json",
    )
    assert "1 system with few rated texts, or none" in found.err
    assert "1 other cannot tell" in found.err
    low, high = found.json["systems"]["new"]["mean_interval"]
    least, most = found.json["systems"]["m0"]["mean_interval"]
    assert high - low > most - least


def test_these_outputs(folder: Path) -> None:
    """The page says which question its mean answers."""
    plain, these = (
        scored(folder, *NEIGHBORS, *more, "--format", "json")
        for more in ((), ("--these-items",))
    )
    assert np.ptp(these.json["mean_interval"]) < np.ptp(plain.json["mean_interval"])
    assert these.json["these_items"] is True
    assert Signature.parse(these.json["signature"]).get("these") == "yes"
    said = scored(folder, *NEIGHBORS).line
    assert (
        "The answer is about outputs like these (--these-items: about these alone)"
        in said
    )


def test_two_rated_systems_do_not_tell_a_third(tmp_path: Path) -> None:
    """The page says that the interval of a system that nobody rated is a guess."""
    rows = [
        {"text": text, "system": "ab"[i % 2], "rating": 1 + i % 5}
        for i, text in enumerate(headlines(60))
    ]
    rated = jsonl(tmp_path / "rated.jsonl", rows)
    outputs = [
        {"text": text, "system": "bc"[i % 2]}
        for i, text in enumerate(headlines(20)[::-1])
    ]
    asked = jsonl(tmp_path / "outputs.jsonl", outputs)
    flags = ("score", asked, "--rated", rated, "--scale", "1", "5")
    assert "so the interval of c is a guess" in run(*flags).line
    rows += [
        {"text": f"{row['text']} at last", "system": "d", "rating": 3}
        for row in rows[:20]
    ]
    jsonl(rated, rows)
    assert "is a guess" not in run(*flags).out
