"""Columns: aliases, flags, and what rows of one text must agree on."""

import json
import re
import unicodedata
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from command_line import one_line
from refless.data.tables import (
    ROLES,
    Columns,
    Reading,
    read_outputs,
    read_pool,
    read_scored,
)
from refless.data.tables.cells import each_once
from refless.data.tables.names import _QUOTES, _forms
from refless.registry.errors import UsageError
from refusals import bad_input, bad_usage
from rows import by_columns


def table(folder: Path, *rows: dict[str, Any], name: str = "pool.jsonl") -> str:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


@pytest.mark.parametrize("alias", ROLES["text"].names)
@pytest.mark.parametrize("change", [str, str.upper, str.title])
def test_text_aliases(tmp_path: Path, alias: str, change: Any) -> None:
    """Every alias is found in any case and said aloud."""
    read = read_pool([table(tmp_path, {change(alias): "a", "rating": 1})])
    assert read.pool.texts == ("a",)
    assert f"text from '{change(alias)}', rating from 'rating'" in read.notes[0]


def test_the_exact_name_wins(tmp_path: Path) -> None:
    """Of `text` and `Text` the one spelled as the alias is taken."""
    path = table(tmp_path, {"Text": "wrong", "text": "right", "rating": 1})
    assert read_pool([path]).pool.texts == ("right",)


def test_ambiguous_column(tmp_path: Path) -> None:
    """Two candidates for one role are an error that lists them; a flag settles it silently."""
    path = table(tmp_path, {"output": "a", "response": "b", "rating": 1})
    with bad_input(r"'output', 'response'.*--column text"):
        read_pool([path])
    read = read_pool([path], by_columns(text="response"))
    assert read.pool.texts == ("b",)
    assert "text from" not in read.notes[0]


def test_ambiguity_does_not_hang_on_the_order_of_rows(tmp_path: Path) -> None:
    """A second candidate that only a late row has is seen as well."""
    rows = [{"output": "a", "rating": 1}] * 9000
    with bad_input("more than one column could be the text"):
        read_pool([table(tmp_path, *rows, {"response": "b", "rating": 1})])


def test_unknown_column(tmp_path: Path) -> None:
    """A flag that names no column lists the columns and suggests the nearest."""
    path = table(tmp_path, {"text": "a", "rating": 1, "Essay Set": "x"})
    for wrong in ("essay set", "EsaySet"):
        with bad_input(r"did you mean 'Essay Set'\?.*'text', 'rating'"):
            read_pool([path], by_columns(task=wrong))


def test_patterns_of_columns(tmp_path: Path) -> None:
    """* and ? name several columns in file order; a column of that very name comes first."""
    wide = {"text": "a", "rater2": 2, "rater1": 1, "rater10": 6, "note": "x"}
    path = table(tmp_path, wide, {**wide, "text": "b"})
    for pattern, mean in (("rater*", 3), ("rater?", 1.5), ("*1", 1)):
        read = read_pool([path], by_columns(rating=(pattern,)))
        assert read.pool.human.tolist() == [mean, mean]
    both = by_columns(rating=("rater1", "rater*"))
    assert set(read_pool([path], both).pool.ratings.annotators) == {
        "rater1",
        "rater2",
        "rater10",
    }
    named = table(tmp_path, {"text": "a", "rater*": 5, "rater1": 1}, name="named.jsonl")
    assert read_pool([named], by_columns(rating=("rater*",))).pool.human == 5
    with bad_input(r"no column matches 'mark\*' \(--column rating\).*'rater2'"):
        read_pool([path], by_columns(rating=("mark*",)))
    with bad_usage("drop --column annotator"):
        read_pool([path], by_columns(rating=("rater*",), annotator="note"))


def test_no_column_for_text_or_rating(tmp_path: Path) -> None:
    """Without a text or rating column the aliases, the flag and the columns are named."""
    with bad_input(r"column for the text.*--column text.*'words'"):
        read_pool([table(tmp_path, {"words": "a", "rating": 1})])
    with bad_input(r"column for the rating.*--column rating"):
        read_pool([table(tmp_path, {"text": "a", "grade": 1})])
    with bad_input(r"repeat it, or give a pattern such as 'rater\*'"):
        read_pool([table(tmp_path, {"text": "a", "p1": 1, "p2": 2})])
    with bad_input(r"there is no column 'sauce' \(--group\)"):
        read_pool(
            [table(tmp_path, {"text": "a", "rating": 1})],
            by_columns(group="sauce"),
        )


def test_roles_of_another_kind_of_file_are_left_alone(tmp_path: Path) -> None:
    """Outputs may have any rating columns, pools any references: they are not looked up."""
    flags = by_columns(rating=("quality",), annotator="who")
    path = table(tmp_path, {"text": "a", "rating": 1, "score": 2})
    assert read_outputs([path], flags).outputs.texts == ("a",)
    path = table(
        tmp_path, {"text": "a", "rating": 1, "reference": "r", "references": []}
    )
    assert read_pool([path]).pool.texts == ("a",)


def test_items_default_to_the_sources(tmp_path: Path) -> None:
    """Without an item column the sources are the items."""
    row = {"text": "a", "rating": 1, "prompt": "p"}
    assert read_pool([table(tmp_path, row)]).pool.items == ("p",)
    assert read_pool([table(tmp_path, {**row, "item": 7})]).pool.items == ("7",)
    assert read_outputs([table(tmp_path, row)]).outputs.items == ("p",)


def test_rows_merge_on_an_id(tmp_path: Path) -> None:
    """Rows with one id are one text; integers and strings that look alike are one id."""
    path = table(
        tmp_path,
        {"id": 1, "text": "a", "rating": 1, "annotator": "z"},
        {"id": 2, "text": "a", "rating": 5, "annotator": "z"},
        {"id": "1", "text": "a", "rating": 2, "annotator": "y"},
    )
    read = read_pool([path], Reading(scale=(1, 5)))
    assert read.pool.ids == ("1", "2")
    assert read.pool.human.tolist() == [0.125, 1.0]  # ((1 + 2) / 2 - 1) / 4
    assert read.pool.ratings.annotators == ("y", "z")
    assert read.pool.ratings.annotator.tolist() == [1, 1, 0]
    assert "3 rows merged into 2 texts on id" in read.notes


SAME: dict[str, Any] = {"text": "a", "rating": 1}
TWICE: dict[str, Any] = {**SAME, "annotator": "x"}


@pytest.mark.parametrize(
    ("rows", "texts"),
    [
        (
            [{**SAME, "source": s, "rater": r} for s, r in product("pq", "xy")],
            [0, 0, 1, 1],
        ),
        ([{**TWICE, "item": i} for i in (1, 2)], [0, 1]),
        (  # one question of two items, with the same answer
            [{**TWICE, "source": "q", "item": i} for i in (1, 2)],
            [0, 1],
        ),
        ([SAME, SAME], [0, 1]),  # without ids and annotators one row is one text
        (
            [{**TWICE, "id": "i"}, {**TWICE, "id": "i", "rating": 2}],
            [0, 0],
        ),  # both ratings count
    ],
)
def test_rows_merge_with_annotators(
    rows: list[dict[str, Any]], texts: list[int]
) -> None:
    """Without ids but with annotators, task, system, source, item and text make one text."""
    pool = read_pool(rows).pool
    assert pool.ratings.text.tolist() == texts
    assert pool.ratings.values.tolist() == [row["rating"] for row in rows]
    assert (len(pool), pool.named) == (texts[-1] + 1, "id" in rows[0])


def test_one_id_with_two_texts(tmp_path: Path) -> None:
    """The error names both lines, and bad rows being skipped does not hide it."""
    rows = [{"id": "i", "text": text, "rating": 1} for text in "aab"]
    for skip in (False, True):
        with bad_input(r"line 3: id 'i' has two texts: here and on line 1"):
            read_pool([table(tmp_path, *rows)], Reading(skip_bad=skip))
    with bad_input(r"two texts"):
        read_outputs([table(tmp_path, *rows)])
    one = table(tmp_path, rows[0], name="a.jsonl")
    two = table(tmp_path, rows[2], name="b.jsonl")
    with bad_input(
        r"b\.jsonl, line 1: .*here and on .*a\.jsonl, line 1.*refless compare .*b\.jsonl"
    ):
        read_pool([one, two])


@pytest.mark.parametrize("role", ["source", "system", "item", "task"])
def test_one_id_with_two_sources(tmp_path: Path, role: str) -> None:
    """Rows of one id must agree on source, system, item and task."""
    rows = [{"id": "i", "text": "a", "rating": 1, role: value} for value in "xy"]
    with bad_input(f"two {role}s: here and on line 1"):
        read_pool([table(tmp_path, *rows)])


def test_duplicate_outputs(tmp_path: Path) -> None:
    """Equal rows with one id are one output; ids are unique."""
    row = {"id": "i", "text": "a", "references": ["r"]}
    read = read_outputs([table(tmp_path, row, row)])
    assert read.outputs.ids == ("i",)
    assert read.notes[-1] == "2 rows merged into 1 text on id"
    with bad_input("two references"):
        read_outputs([table(tmp_path, row, {**row, "references": ["s"]})])


def test_several_rating_columns(tmp_path: Path) -> None:
    """One annotator a column: a blank cell is no rating, names are sorted; on a scale, a mean."""
    path = tmp_path / "p.csv"
    path.write_text("text,b,a,c\nx,1,2,6\ny,,4,\n")
    columns = Columns(rating=("b", "a", "c"))
    reading = Reading(columns=columns, scale=(1, 6))
    pool = read_pool([str(path)], reading).pool
    assert (pool.scale, pool.human.tolist()) == ((1, 6), [0.4, 0.6])
    assert pool.ratings.annotators == ("a", "b", "c")
    ratings = zip(
        pool.ratings.text, pool.ratings.annotator, pool.ratings.values, strict=True
    )
    assert sorted(ratings) == [(0, 0, 2), (0, 1, 1), (0, 2, 6), (1, 0, 4)]


def test_flags_that_contradict_each_other() -> None:
    """Annotators by column and by name, or one column twice, are wrong usage."""
    for columns in (
        Columns(rating=("a", "b"), annotator="c"),
        Columns(rating=("a", "a")),
    ):
        with pytest.raises(UsageError):
            read_pool(["pool.csv"], Reading(columns=columns))


def test_ratings_without_annotator_names(tmp_path: Path) -> None:
    """Ratings whose annotator cell is blank count as one annotator's, said aloud."""
    rows = [{"text": "a", "annotator": who, "rating": 1} for who in ("x", None, "")]
    read = read_pool([table(tmp_path, *rows)])
    assert read.pool.ratings.annotators == ("", "x")
    assert "2 ratings without an annotator count as one annotator's" in read.notes


def test_references_and_weights(tmp_path: Path) -> None:
    """References come from a list, a cell or several columns; weights go along."""
    path = table(
        tmp_path, {"text": "a", "references": ["r", "s"], "weights": [1, -0.5]}
    )
    outputs = read_outputs([path]).outputs
    assert (outputs.references, outputs.weights) == ((("r", "s"),), ((1.0, -0.5),))
    file = tmp_path / "o.csv"
    file.write_text('text,r1,r2,w\na,x,y,"1, 0.5"\nb,x,,[1]\n')
    reading = by_columns(reference=("r1", "r2"), weight="w")
    outputs = read_outputs([str(file)], reading).outputs
    assert outputs.references == (("x", "y"), ("x",))
    assert outputs.weights == ((1.0, 0.5), (1.0,))


def test_weights_without_references(tmp_path: Path) -> None:
    """Asked-for weights need references; a stray column of that name is left alone."""
    path = table(tmp_path, {"text": "a", "weight": 80})
    assert read_outputs([path]).outputs.weights == ()
    with bad_input("no references"):
        read_outputs([path], by_columns(weight="weight"))


def test_a_flag_takes_a_column_away_from_aliases(tmp_path: Path) -> None:
    """A column that a flag gives to one role is no candidate for another."""
    path = tmp_path / "a.csv"
    path.write_text("output,response,rating\na b c,d e f,3\n", "utf-8")
    reading = by_columns(text="output", source="response")
    pool = read_pool([str(path)], reading).pool
    assert (pool.texts, pool.sources) == (("a b c",), ("d e f",))


@pytest.mark.parametrize("role", ["group", "item", "task", "id"])
def test_a_column_named_for_one_role_keeps_its_other(tmp_path: Path, role: str) -> None:
    """The prompts are the source also where a flag makes them the group, the item, the task ..."""
    path = table(tmp_path, {"text": "a", "rating": 1, "prompt": "p"})
    read = read_pool(path, Reading(columns=Columns(**{role: "prompt"})))
    assert read.pool.sources == read.pool.items == ("p",)
    assert read.group == (("p",) if role == "group" else ())
    assert "source from 'prompt'" in read.notes[0]


def test_versions_are_no_input(tmp_path: Path) -> None:
    """A column `prompt` that is named as the version says nothing of what a text answers."""
    path = table(tmp_path, {"text": "a", "rating": 1, "prompt": "v1"})
    read = read_pool(path, by_columns(system="prompt"))
    assert (read.pool.systems, read.pool.sources) == (("v1",), ())


def test_any_column_may_be_the_group(tmp_path: Path) -> None:
    """It has no alias; a free column comes before a shared one; the text may be the group too."""
    path = table(
        tmp_path,
        {"answer": "a", "rating": 1, "input": "p", "prompt": "q", "group": "g"},
    )
    assert read_pool(path, by_columns(source="input")).group == ()
    named = by_columns(group="group", source="input")
    assert read_pool(path, named).group == read_outputs(path, named).group == ("g",)
    read = read_pool(path, by_columns(group="answer", source="input"))
    assert (read.pool.texts, read.group) == (("a",), ("a",))
    read = read_pool(path, by_columns(group="input"))
    assert (read.pool.sources, read.group) == (("q",), ("p",))


def test_a_score_is_no_rating(tmp_path: Path) -> None:
    """A column named as another tool's score, or as the text, is not found as something else."""
    path = table(tmp_path, {"text": "a", "score": 1, "input": "b"})
    with bad_input("no column for the rating"):
        read_scored(path, by_columns(score=("score",)))
    reading = by_columns(text="input", rating=("score",))
    assert read_pool(path, reading).pool.sources == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1", "1.0"),
        ("1", "001"),
        ("q7", "q7 "),
        ("a b", "a\u00a0b"),
        ("Q7", "q7"),
        ("it's", "it\u2019s"),
        ("\ufb01x", "fix"),
    ],
)
def test_keys_that_differ_in_form_alone(one: str, other: str) -> None:
    """Keys count as they are written; where form alone keeps systems apart, a note says so."""
    for role in ("item", "source"):
        rows = [
            {"text": f"{system}{key}", "system": system, role: key, "rating": 1}
            for system, key in (
                ("old", one),
                ("new", other),
                ("old", "z"),
                ("new", "z"),
            )
        ]
        read = read_pool(rows)
        notes = [
            line
            for line in read.notes
            if "differ in form alone and do not match" in line
        ]
        assert len(notes) == 1
        assert repr(min(one, other)).strip("'\"")[:1] in notes[0]
        assert len({*read.pool.items}) == 3
        rows += [{**row, "text": f"{row['text']}!", role: other} for row in rows[:1]]
        assert "form alone" not in " ".join(
            read_pool(rows).notes
        )  # one system has both


def test_series_with_other_labels() -> None:
    """Series pair by place only if their labels are equal, as pandas' own would not."""
    pandas = pytest.importorskip("pandas")
    texts = pandas.Series(["a", "b"], index=[0, 1])
    ratings = pandas.Series([4, 2], index=[1, 0])
    with bad_input(r"the indexes of 'text' and 'rating' differ; join"):
        read_pool({"text": texts, "rating": ratings})
    plain = {"text": texts, "rating": ratings.reset_index(drop=True)}
    assert read_pool(plain).pool.human.tolist() == [4, 2]
    assert read_pool({"text": texts, "rating": [4, 2]}).pool.human.tolist() == [4, 2]
    assert read_pool(pandas.DataFrame(plain)).pool.human.tolist() == [4, 2]


CELLS = st.one_of(
    st.text(max_size=3), st.integers(0, 3), st.none(), st.booleans(), st.floats()
)


@given(
    st.one_of(
        st.lists(CELLS), st.lists(st.text(max_size=2)), st.lists(st.integers(0, 3))
    )
)
def test_equal_cells_are_read_once(cells: list[object]) -> None:
    """Distinct cells that are read once give what every cell gives: 1, 1.0 and True differ."""
    assert each_once(repr, cells) == [repr(cell) for cell in cells]


def form(name: str) -> str:
    """A name without what is form alone: capitals, blanks, quotes, - and _, 1 and 1.0 and 001."""
    plain = unicodedata.normalize("NFKC", name.casefold()).casefold()
    plain = plain.translate(_QUOTES).replace("_", "-")
    plain = one_line(plain)
    number = re.fullmatch(r"0*(\d+)(?:\.0+)?", plain)
    return number[1] if number else plain


@given(
    st.lists(
        st.one_of(st.text("aB01. \n\t\u2019\u00a0\u00a8\u0130"), st.text()), min_size=1
    )
)
def test_forms_of_names(names: list[str]) -> None:
    """All names at once have the forms that each has alone."""
    assert _forms(names) == [*map(form, names)]
