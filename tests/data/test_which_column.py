"""People's ratings, a judge's scores, systems and items are told by the names of columns."""

from __future__ import annotations

import csv
import random
from itertools import chain, product
from pathlib import Path
from typing import Any

import pytest

import refless
from command_line import jsonl, run, run_well
from refless.data.tables import (
    ROLES,
    Columns,
    Reading,
    read_both,
    read_outputs,
    read_pool,
    read_scored,
)
from refless.data.tables.cells import time_of_cell
from refless.data.tables.overview import overview
from refusals import bad_input, bad_usage
from rows import by_columns, csv_of, renamed, without, write

Rows = list[dict[str, Any]]
READS_SCORES = "--score-column score reads a judge's scores, in commands that have it"
UNREAD = f"left unread: 'score'; {READS_SCORES}"


def test_what_belongs_together_is_named() -> None:
    """Turns of a conversation depend on each other; what each row has of its own does not."""
    rows = [{"text": f"t{i}", "rating": i % 5, "Thread ID": i // 3} for i in range(9)]
    (note,) = (line for line in read_pool(rows).notes if "unread" in line)
    assert "rows of one 'Thread ID' may depend on each other" in note
    alone = [{**row, "Thread ID": i} for i, row in enumerate(rows)]
    assert "depend" not in " ".join(read_pool(alone).notes)


def judged(items: int = 60, rated: int = 20) -> Rows:
    """Two versions that people rate alike, and that a judge does not; some have human ratings."""
    drawn = random.Random(3)
    return [
        {
            "prompt": f"prompt {i}",
            "output": f"answer {drawn.random():.6f} of {model} to {i}",
            "model": model,
            "score": round(3 + 0.5 * (model == "v2") + drawn.gauss(0, 0.5), 2),
            "human_rating": drawn.choice([1, 2, 3, 4, 5]) if i < rated else None,
        }
        for i, model in product(range(items), ("v1", "v2"))
    ]


def test_people_and_not_their_judge_compare() -> None:
    """A judge's column beside people's is said to be unread; by people nothing is shown."""
    found: Any = refless.compare(judged())
    assert UNREAD in found.notes[0]
    assert "rating from 'human_rating'" in found.notes[0]
    low, high = found.comparison.pairs[0].difference.interval
    assert low < 0 < high
    by_judge: Any = refless.compare(
        without(judged(), "human_rating"), columns={"rating": "score"}
    )
    assert by_judge.comparison.pairs[0].difference.interval[0] > 0


@pytest.mark.parametrize(
    "name",
    [
        "human",
        "human_rating",
        "Human Rating",
        "annotation",
        "label",
        "stars",
        "preference",
    ],
)
def test_names_of_ratings(name: str) -> None:
    """Names of people's ratings are known, also as a spreadsheet writes them."""
    rows = [
        {"text": "a", name: 1, "judge_gpt": 9},
        {"text": "b", name: 2, "judge_gpt": 9},
    ]
    read = read_pool(rows)
    assert (read.pool.human.tolist(), read.columns["rating"]) == ([1, 2], (name,))
    assert any("left unread: 'judge_gpt'" in line for line in read.notes)


@pytest.mark.parametrize("other", ["human", "Stars", "feedback", "human_score"])
def test_two_that_could_be_the_rating(other: str) -> None:
    """They are listed, with the words that choose one."""
    rows = [{"text": "a", "rating": 1, other: 5}]
    said = rf"'rating', '{other}'; choose one with --column rating=NAME"
    with bad_input(f"more than one column could be the rating: {said}"):
        read_pool(rows)
    assert read_pool(rows, by_columns(rating=(other,))).pool.human.tolist() == [5]


@pytest.mark.parametrize(
    "name", ["score", "quality", "judge", "gpt4", "llm_judge", "bert_score"]
)
def test_scores_are_nobodys_ratings_unless_named(name: str) -> None:
    """Alone they are refused, with the words that name them; named, they are read."""
    rows = [{"text": "a", name: 1}, {"text": "b", name: 2}]
    asked = f"'{name}' may be a judge's scores or people's; name it with "
    said = f"{asked}--column rating=NAME; .*--score-"
    for read in (read_pool, read_both):
        with bad_input(said):
            read(rows)
    assert read_pool(rows, by_columns(rating=(name,))).pool.human.tolist() == [1, 2]


def test_a_named_score_is_not_asked_about() -> None:
    """If no rating is there, the message offers no column that the user has named as a score."""
    rows = [{"text": "a", "llm_verdict": 1, "verdict": 1}]
    with bad_input("no column for the rating") as raised:
        read_both(rows, by_columns(score=("llm_verdict",)))
    assert "may be a judge's" not in str(raised.value)


def test_outputs_that_nobody_rated() -> None:
    """The message tells where ratings come from, and how to read one of several things."""
    rows = [{"text": "a", "fluency": 1, "accuracy": 2}]
    with bad_input("no column for the rating") as raised:
        read_pool(rows)
    assert "'refless rate' asks people" in str(raised.value)
    assert "--dimension NAME reads one of several things" in str(raised.value)


def test_a_judge_that_nobody_named() -> None:
    """The error begins with the flag for the column that may be one."""
    with bad_usage(r"^--score-column score reads .* needed; .*left unread: 'score'"):
        refless.judge(judged())


def test_outputs_may_lack_columns_that_name_rows() -> None:
    """Ids and systems of other rows are looked for under usual names here, or nowhere."""
    named = Reading(columns=Columns(id="Nr", system="Modell"), beside_rated=True)
    rows = [
        {"text": "a", "id": "x", "model": "m"},
        {"text": "b", "id": "y", "model": "n"},
    ]
    read = read_outputs(rows, named).outputs
    assert (read.ids, read.systems) == (("x", "y"), ("m", "n"))
    bare = read_outputs(without(rows, "id", "model"), named).outputs
    assert (bare.ids, bare.systems) == (("1", "2"), ())
    rated = renamed(without(judged(30), "score"), model="Modell")
    columns: Any = {"system": "Modell"}
    new: Any = refless.score(
        rows, rated=rated, columns=columns, estimator="bleu-neighbors"
    )
    assert any("system from 'model'" in line for line in new.notes)
    with bad_input("no column 'Modell'"):
        refless.score(
            rows, rated=judged(30), columns=columns, estimator="bleu-neighbors"
        )


def test_a_named_score_is_not_said_to_be_unread() -> None:
    """Nor is a text whose column is called after a model."""
    rows = [
        {"gpt4": "a", "score": 1, "rating": 2},
        {"gpt4": "b", "score": 3, "rating": 2},
    ]
    read = read_pool(rows, by_columns(text="gpt4", score=("score",)))
    assert not any("unread" in line for line in read.notes)


def test_no_name_is_two_roles() -> None:
    """But for ratings, which leave `label` and `human` to a role that is called so."""
    roles = [role for name, role in ROLES.items() if name not in {"label", "dimension"}]
    names = [*chain.from_iterable(role.words for role in roles)]
    assert len({*names}) == len(names)


def test_huse_has_labels_of_its_own() -> None:
    """If a column tells who wrote a text, `label` and `human` are that column."""
    rows = [{"text": "a", "rating": 1, "human": 1, "logprob": -1}]
    rows += [{"text": "b", "rating": 2, "human": 0, "logprob": -2}]
    read = read_scored(rows, Reading(), "huse")
    assert (read.pool.human.tolist(), read.labels) == ([1, 2], ("1", "0"))


def test_versions_and_prompt_ids() -> None:
    """They are systems and items, where nothing else is called so."""
    rows = [{"prompt_id": "p1", "version": "v1", "text": "a"}]
    rows += [{"prompt_id": "p1", "version": "v2", "text": "b"}]
    found = read_outputs(rows).outputs
    assert (found.systems, found.items) == (("v1", "v2"), ("p1", "p1"))
    more = [{**row, "model": "m", "item": "i"} for row in rows]
    found = read_outputs(more).outputs
    assert (found.systems, found.items) == (("m", "m"), ("i", "i"))


def test_files_name_columns_each_in_its_own_way(tmp_path: Path) -> None:
    """One text may say its version on one file and its system on another."""
    row = {"id": "a", "text": "t", "rating": 1}
    jsonl(tmp_path / "answers.jsonl", [{**row, "version": "v1", "input": "s"}])
    jsonl(tmp_path / "ratings.jsonl", [{**row, "system": "v1", "source": "s"}])
    read = read_pool([tmp_path / "answers.jsonl", tmp_path / "ratings.jsonl"])
    assert (read.pool.systems, read.pool.sources) == (("v1",), ("s",))
    assert any("'version' is read as 'system'" in note for note in read.notes)
    flags = Reading(columns=Columns(system="version"))
    with bad_input("two systems"):
        read_pool([tmp_path / "answers.jsonl", tmp_path / "ratings.jsonl"], flags)


def test_no_system_lists_the_columns() -> None:
    """The columns are listed, so that one of them can be named."""
    rows = renamed(without(judged(), "score"), model="variant")
    with bad_input(
        r"called system, model, version, bot_version, model_version; .* 'variant', 'human_r"
    ):
        refless.compare(rows)


def test_ratings_of_other_files_name_columns_of_theirs(tmp_path: Path) -> None:
    """--column rating and --column annotator name columns of --rated, which outputs may lack."""
    rows = renamed(without(judged(30, 30), "score"), human_rating="mark")
    outputs = jsonl(tmp_path / "outputs.jsonl", without(rows, "mark"))
    rated = jsonl(
        tmp_path / "rated.jsonl", [{**row, "who": "ann"} for row in rows[:40]]
    )
    flags = ("--column", "rating=mark", "--column", "annotator=who")
    ran = run_well("compare", outputs, "--rated", rated, *flags)
    assert "40 rated texts are outputs compared here" in ran.err
    ran = run("compare", outputs, "--rated", rated, "--column", "rating=mrak")
    assert ran.refuses("there is no column 'mrak'")
    ran = run("compare", outputs, "--rated", outputs)
    assert ran.refuses("no column for the rating")


def test_items_of_one_file_alone() -> None:
    """If the outputs lack the ratings' column of items, sources say which texts are the same."""
    rows = without(judged(30, 30), "score")
    rated = [{"prompt_id": f"p{i // 2}", **row} for i, row in enumerate(rows[:40])]
    found: Any = refless.compare(without(rows, "human_rating"), rated=rated)
    assert any(
        "40 rated texts are outputs compared here" in line for line in found.notes
    )


def wide(rows: Rows) -> Rows:
    """A row for each prompt, with both texts and ratings."""
    pairs = zip(rows[::2], rows[1::2], strict=True)
    return [
        {
            "prompt": old["prompt"],
            "output_v1": old["output"],
            "output_v2": new["output"],
            "Rating V1": old["human_rating"],
            "Rating V2": new["human_rating"],
            "length_x": 1,
        }
        for old, new in pairs
    ]


@pytest.mark.parametrize(
    ("end", "names"),
    [
        ("answer (v{})", "rating (v{})"),
        ("v{} answer", "v{} rating"),
        ("response_gpt{}", "score_gpt{}"),
    ],
)
def test_names_of_systems_in_columns(end: str, names: str) -> None:
    """Names in brackets or before tell systems apart; of models if the ratings have them too."""
    row: dict[str, object] = {}
    for n in (4, 5):
        row[end.format(n)] = f"the text of system {n}"
        row[names.format(n)] = n
    rows = [row]
    systems = "gpt{}" if "gpt" in end else "v{}"
    assert {*read_outputs(rows).outputs.systems} == {*map(systems.format, (4, 5))}


@pytest.mark.parametrize("memory", [False, True])
def test_texts_side_by_side(tmp_path: Path, *, memory: bool) -> None:
    """Both texts of a row are compared as if they stood on rows of their own, which is said."""
    rows = without(judged(), "score")
    path = write(tmp_path, "ab.csv", csv_of(wide(rows)))
    found: Any = refless.compare(wide(rows) if memory else path)
    plain: Any = refless.compare(rows)
    assert found.comparison.pairs == plain.comparison.pairs
    assert any(
        "a row holds texts of v1, v2: each is read as a row" in n for n in found.notes
    )


def test_rows_of_texts_side_by_side_are_items() -> None:
    """Without a source the id, or else the place of a row, says what belongs together."""
    rows: Rows = [
        {"output_a": "x", "output_b": "y"},
        {"output_a": "z", "output_b": "w"},
    ]
    found = read_outputs(rows).outputs
    assert (found.texts, found.systems) == (("x", "y", "z", "w"), ("a", "b", "a", "b"))
    assert found.items == ("the rows:1", "the rows:1", "the rows:2", "the rows:2")
    columns = {"id": [7, 8], "output_a": ["x", "z"], "output_b": ["y", "w"]}
    assert read_outputs(columns).outputs.items == ("7", "7", "8", "8")


@pytest.mark.parametrize(
    "row",
    [
        {"response_text": "a", "response_time": 1},
        {"output_1": "a"},
        {"text_id": 1, "a_b": 2},
        {"output_a": "a", "output_b": "b", "rating": 1},  # of the pair
    ],
)
def test_what_is_not_side_by_side(row: dict[str, Any]) -> None:
    """Names that only look alike make no systems."""
    with bad_input(r"no column for the text.*, one text a row"):
        read_outputs([row])


@pytest.mark.parametrize("name", ["validate", "score", "compare"])
def test_a_wrong_keyword(name: str) -> None:
    """The function is named, and the nearest parameter."""
    with pytest.raises(
        TypeError, match=rf"refless\.{name}\(\) .*'column'.*'columns'\?"
    ):
        getattr(refless, name)([], column={"rating": "human"})
    with pytest.raises(
        TypeError, match=rf"no parameter 'zzz'; help\(refless\.{name}\)"
    ):
        getattr(refless, name)([], zzz=1)


def test_names_that_look_alike() -> None:
    """Systems and raters that differ in blanks or capitals alone are told; they stay two."""
    rows = [{"text": "a", "system": "A", "rater": "Ann", "rating": 1}]
    rows += [{"text": "b", "system": "A ", "rater": "ann", "rating": 2}]
    read = read_pool(rows)
    assert read.pool.systems == ("A", "A ")
    for told in ("systems 'A', 'A '", "annotators 'Ann', 'ann'"):
        assert any(line.startswith(f"{told} differ in form") for line in read.notes)


@pytest.mark.parametrize("cell", ["#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#N/A"])
def test_errors_of_spreadsheets(cell: str) -> None:
    """A formula's error is neither a text nor a name."""
    for role in ("text", "system"):
        rows = [
            {"text": "a", "system": "s", "rating": 1},
            {"text": "b", "system": "s", "rating": 2},
        ]
        rows[1][role] = cell
        with bad_input(f"row 2, column '{role}': .* of a spreadsheet's"):
            read_pool(rows)
        read = read_pool(rows, Reading(skip_bad=True))
        assert (read.pool.texts, read.n_skipped) == (("a",), 1)
    with bad_input("mend the formula" if cell != "#N/A" else "no rating"):
        read_pool([{"text": "a", "rating": cell}])


def test_the_file_for_raters_has_the_users_columns(tmp_path: Path) -> None:
    """`prompt_id` is kept, and the page asks for the column that there is."""
    rows = [
        {"prompt_id": f"p{i // 2}", **row}
        for i, row in enumerate(
            renamed(without(judged(30, 10), "score"), human_rating="human")
        )
    ]
    file = tmp_path / "to-rate.csv"
    given = jsonl(tmp_path / "o.jsonl", rows)
    ran = run_well("next", given, "--goal", "compare", "-n", 3, "-o", file)
    assert "have 'human' in" in ran.line
    with file.open(newline="", encoding="utf-8") as opened:
        assert next(csv.reader(opened)) == [
            "prompt_id",
            "model",
            "prompt",
            "output",
            "human",
        ]


def guesses(rows: Rows) -> dict[str, str]:
    """The columns that are guessed to have a role, by role."""
    return dict(overview(rows, Reading()).proposed)


def test_roles_that_no_usual_name_tells_are_guessed() -> None:
    """By words in names and by what cells hold."""
    rows = [
        {
            "doc_id": i // 2,
            "sys": "ab"[i % 2],
            "summary": f"words of one summary {i}",
            "overall": 1 + i % 3,
            "len_tokens": i % 7,
            "Email Address": f"r{i % 2}@x.org",
        }
        for i in range(20)
    ]
    assert guesses(rows) == {
        "text": "summary",
        "annotator": "Email Address",
        "rating": "overall",
        "system": "sys",
        "item": "doc_id",
    }
    rows = [
        {"Nr": i, "Antwort": f"viele Worte von {i}", "Note": i % 5} for i in range(20)
    ]
    assert guesses(rows) == {"text": "Antwort", "rating": "Note"}


def test_what_is_not_clear_is_not_guessed() -> None:
    """Two columns of texts, two of ratings; remarks; names of which each is there once."""
    rows: Rows = [
        {
            "old": f"one of the texts {i}",
            "new": f"another of the texts {i}",
            "first": i % 3,
            "second": i % 4,
        }
        for i in range(20)
    ]
    assert guesses(rows) == {}
    rows = [{"comments": f"all of this is good {i}", "version": i} for i in range(20)]
    assert guesses(rows) == {}


def test_ids_that_systems_share_are_items() -> None:
    """Each text has an id of its own; equal texts of two systems are refused as before."""
    rows = [
        {"id": i // 2, "text": f"t{i}", "system": "ab"[i % 2], "rating": i % 5}
        for i in range(8)
    ]
    pool = read_pool(rows).pool
    assert sorted(pool.ids) == sorted(f"{row['system']} {row['id']}" for row in rows)
    assert pool.items == tuple(name.split()[1] for name in pool.ids)
    equal = [{**row, "text": "the same"} for row in rows]
    with bad_input("id '0' has two systems"):
        read_pool(equal)


def test_texts_of_a_version_a_column_are_named() -> None:
    """Two columns of texts may be those of two versions; not beside a column of texts."""
    rows = [
        {"old": f"an old text of {i}", "new": f"a new text of {i}"} for i in range(20)
    ]
    assert overview(rows, Reading()).beside == ("old", "new")
    with_text = [
        {**row, "output": f"another text of {i}"} for i, row in enumerate(rows)
    ]
    assert overview(with_text, Reading()).beside == ()
    with bad_input("'new' 'output_v2', its ratings 'rating_v2'"):
        refless.look(rows)
    answers = renamed(rows, old="Antwort (GPT-4)", new="Antwort (Mine)")
    with bad_input(r"read all with --column 'text=Antwort\*'; the"):
        refless.look(answers)
    graded = [{**row, "Note (GPT-4)": 2, "Note (Mine)": 3} for row in answers]
    with bad_input(r"'text=Antwort\*' --column 'rating=Note\*'"):
        refless.look(graded)
    columns = Columns(text="Antwort*", rating=("Note*",))
    found = read_pool(graded, Reading(columns=columns)).pool
    assert {*zip(found.systems, found.human, strict=True)} == {
        ("GPT-4", 2),
        ("Mine", 3),
    }
    with bad_input(r"text=NAME, one text a row; the columns"):
        refless.look(
            [{**row, "system": "v" + str(i % 2)} for i, row in enumerate(rows)]
        )
    read_as = renamed(rows, old="output_old", new="output_new")
    assert {*read_outputs(read_as).outputs.systems} == {"old", "new"}


def test_a_bot_version_is_the_system() -> None:
    """A column of a usual name comes first."""
    rows = [
        {"text": f"t {i}", "rating": i % 5, "bot_version": f"v{i % 2}"}
        for i in range(9)
    ]
    assert {*read_pool(rows).pool.systems} == {"v0", "v1"}
    named = read_pool([{**row, "system": "s"} for row in rows])
    assert {*named.pool.systems} == {"s"}


def test_times_of_forms() -> None:
    """An hour and a half east of Greenwich, in the form of Google's forms."""
    time = time_of_cell("2026/11/01 10:00:00 PM GMT+1:30")
    assert time == time_of_cell("2026-11-01T20:30:00Z")
