"""Pairs in the shapes that public sets have: TRL, Anthropic's, HelpSteer 2, Arena, plain tables."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import refless
from refless.data.choices import are_choices, choices_in, group_numbers
from refless.data.records import RatedPool
from refless.data.tables import Columns, PoolRead, Reading, read_outputs, read_pool
from refless.data.tables.partly_rated import read_partly
from refusals import bad_input
from rows import columns_of, write

Row = dict[str, Any]


def read(rows: object, **columns: Any) -> PoolRead:
    return read_pool(rows, Reading(columns=Columns(**columns)))  # type: ignore[arg-type]


def told(pool: RatedPool) -> list[tuple[str, str, str, float]]:
    """Source, two texts and the share that the first won, of each pair."""
    assert are_choices(pool)
    choices = choices_in(pool)
    sources = pool.sources or ("",) * len(pool)
    sides = zip(choices.first, choices.second, choices.share.tolist(), strict=True)
    return by_text(
        *((sources[a], pool.texts[a], pool.texts[b], won) for a, b, won in sides)
    )


def by_text(*choices: tuple[str, str, str, float]) -> list[tuple[str, str, str, float]]:
    """The same with the texts in their own order."""
    turned = [
        one if one[1] < one[2] else (one[0], one[2], one[1], 1 - one[3])
        for one in choices
    ]
    return sorted(turned)


def chat(*turns: str) -> list[Row]:
    roles = ("user", "assistant") * len(turns)
    return [
        {"role": role, "content": turn}
        for role, turn in zip(roles, turns, strict=False)
    ]


BEGIN = "\n\nHuman: hi\n\nAssistant: yes?\n\nHuman: q\n\nAssistant:"
GOOD = chat("q", "good")
BAD = chat("q", "bad")


@pytest.mark.parametrize(
    ("row", "choice"),
    [
        ({"prompt": "q", "chosen": "good", "rejected": "bad"}, ("q", "good", "bad", 1)),
        ({"chosen": GOOD, "rejected": BAD}, ("q", "good", "bad", 1)),
        ({"prompt": "q", "chosen": GOOD, "rejected": BAD}, ("q", "good", "bad", 1)),
        (
            {"prompt": chat("q"), "chosen": GOOD[1:], "rejected": BAD[1:]},
            ("q", "good", "bad", 1),
        ),
        (
            {"chosen": json.dumps(GOOD), "rejected": json.dumps(BAD)},
            ("q", "good", "bad", 1),
        ),
        (  # shared turns are the source, what differs is the text, turn by turn
            {
                "chosen": chat("a", "b", "c", "good"),
                "rejected": chat("a", "b", "c", "bad"),
            },
            ("user: a\nassistant: b\nuser: c", "good", "bad", 1),
        ),
        (
            {"chosen": chat("a", "b", "c", "d"), "rejected": chat("a", "x")},
            ("a", "assistant: b\nuser: c\nassistant: d", "x", 1),
        ),
        (  # Anthropic's whole dialogues; else the lines that both strings begin with
            {"chosen": f"{BEGIN} Gladly so", "rejected": f"{BEGIN} Gladly not"},
            ("Human: hi\n\nAssistant: yes?\n\nHuman: q", "Gladly so", "Gladly not", 1),
        ),
        (
            {"chosen": "question\ngood", "rejected": "question\ngoof"},
            ("question", "good", "goof", 1),
        ),
        (
            {"chosen": "I like it", "rejected": "I do not"},
            ("", "I like it", "I do not", 1),
        ),
        *(  # as `rate` exports "neither better": half a choice for each
            ({"chosen": "a", "rejected": "b", "tie": tie}, ("", "a", "b", won))
            for tie, won in (
                (True, 0.5),
                ("True", 0.5),
                ("true", 0.5),
                (False, 1),
                ("False", 1),
                (None, 1),
            )
        ),
    ],
)
def test_the_prompt_is_what_both_begin_with(
    row: Row, choice: tuple[str, str, str, float]
) -> None:
    """TRL, with a prompt or without: strings, chats as lists, or as JSON in a cell."""
    assert told(read([row]).pool) == by_text(choice)


def test_chosen_and_rejected() -> None:
    """Equal texts are no choice."""
    rows = [{"chosen": text, "rejected": "same"} for text in ("other", "same")]
    found = read(rows)
    assert told(found.pool) == by_text(("", "other", "same", 1))
    assert "the rows: left out: 1 choices between two equal texts" in found.notes


def test_helpsteer() -> None:
    """Below 0 the first was better; -100 is neither; the single people count where they are."""
    base = {"prompt": "q", "response_1": "one", "response_2": "two"}
    people = [
        {"strength": -2},
        "{'strength': 1, 'justification': 'x'}",
        {"strength": -100},
    ]
    rows = [
        {**base, "preference_strength": -1},
        {**base, "preference_strength": 3},
        {**base, "preference_strength": 0},
        {**base, "preference_strength": -100},
        {**base, "preference_strength": -2, "all_preferences_unprocessed": people},
        {**base, "preference_strength": -2, "all_preferences_unprocessed": str(people)},
    ]
    found = read(rows)
    assert told(found.pool) == [
        ("q", "one", "two", pytest.approx((1 + 0 + 0.5 + 1 + 0 + 1 + 0) / 7))
    ]
    assert choices_in(found.pool).votes.tolist() == [7]
    assert "the rows: left out: 3 choices of neither text" in found.notes


def test_arena() -> None:
    """Votes with models and judges; both bad is a tie; mail addresses get pseudonyms."""
    base = {"model_a": "m", "model_b": "n", "judge": "ann@example.org"}
    base |= {"conversation_a": chat("q", "one"), "conversation_b": chat("q", "two")}
    words = ("model_a", "model_b", "tie", "tie (bothbad)", "n")
    rows = [{**base, "question_id": i, "winner": word} for i, word in enumerate(words)]
    pool = read(rows).pool
    assert told(pool) == [("q", "one", "two", pytest.approx(2 / 5))]
    assert dict(zip(pool.texts, pool.systems, strict=True)) == {"one": "m", "two": "n"}
    assert pool.ratings.annotators == ("rater-438c4c7a",)


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        (("_a", "_b"), ("a", "B", "tie", "model_a")),
        (("_1", "_2"), (1, "2", "Tie", 1.0)),
    ],
)
@pytest.mark.parametrize("text", ["output", "text", "response", "answer"])
def test_plain_tables(
    ends: tuple[str, str], words: tuple[object, ...], text: str
) -> None:
    """Columns that end alike, in a data frame, in CSV and in JSONL."""
    rows = [
        {f"{text}{ends[0]}": "x", f"{text}{ends[1]}": "y", "winner": word}
        for word in words
    ]
    assert [won for *_, won in told(read(rows).pool)] == [2.5 / 4]
    columns = columns_of(rows)
    assert told(read(columns).pool) == told(read(rows).pool)


def test_columns_that_name_their_systems() -> None:
    """In `output_old` and `output_new` they are the names by which the winner is called."""
    row = {"prompt": "p", "output_old": "x", "output_new": "y"}
    pool = read([{**row, "winner": "new"}]).pool
    votes = {pool.systems[i]: value for i, value in enumerate(pool.human)}
    assert votes == {"old": 0, "new": 1}
    with bad_input("write old, new or tie"):
        read([{**row, "winner": "neu"}])


def test_files(tmp_path: Path) -> None:
    """Told by content, streamed and said; several files one after the other."""
    lines = "prompt,output_a,output_b,winner,rater\nq,x,y,a,p\nq,x,y,tie,r\n"
    csv = write(tmp_path, "pairs.csv", lines)
    row = {"prompt": "p", "chosen": "x", "rejected": "z"}
    jsonl = write(tmp_path, "pairs.jsonl", json.dumps(row) + "\n")
    found = read([csv, jsonl])
    assert told(found.pool) == [("p", "x", "z", 1), ("q", "x", "y", 0.75)]
    assert found.pool.ratings.annotators == ("", "p", "r")
    assert any("read as preference pairs" in note for note in found.notes)


def test_files_with_semicolons(tmp_path: Path) -> None:
    """The header alone tells what is between cells, whose first one may hold a line end."""
    lines = 'prompt;output_a;output_b;winner\n"q, r\ns";x, z;y;a\n'
    found = read([write(tmp_path, "pairs.csv", lines)])
    assert told(found.pool) == [("q, r\ns", "x, z", "y", 1)]


def test_scores_of_both_texts() -> None:
    """Columns that end, or begin, as those of the texts do; a blank one is missing."""
    rows = [
        {"chosen": "x", "rejected": "y", "judge_chosen": 4, "judge_rejected": "2"},
        {"chosen": "z", "rejected": "w", "judge_chosen": None, "judge_rejected": 2},
    ]
    texts = read(rows, score=("judge",)).pool
    scores = dict(zip(texts.texts, texts.scores[:, 0].tolist(), strict=True))
    assert (scores["x"], scores["y"]) == (4, 2)
    assert scores["z"] != scores["z"]
    rows = [{"chosen": "x", "rejected": "y", "chosen_judge": 1, "rejected_judge": 0}]
    assert read(rows, score=("judge",)).pool.score_names == ("judge",)
    with bad_input("no columns 'human_chosen' and 'human_rej"):
        read(rows, score=("human",))


PLAIN = {"output_a": "x", "output_b": "y", "winner": "a"}


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        (
            [PLAIN, {**PLAIN, "winner": "c"}],
            "row 2, column 'winner': who won .*'c'; write a or b",
        ),
        (
            [{**PLAIN, "winner": 1}],
            "who won is not understood: 1;",
        ),  # the first, or true?
        ([{**PLAIN, "winner": None}], "left out: 1 pairs without a vote"),
        ([{**PLAIN, "output_b": None}], "column 'output_b': no text"),
        (
            [{**PLAIN, "model_a": "m"}],
            "column 'system': no system; name the systems of both",
        ),
        ([PLAIN, {"z": 1}], "row 2: no pair of texts; give two texts and who won"),
        (
            [{**PLAIN, "output_b": "x"}],
            "no rows.*left out: 1 choices between two equal texts",
        ),
        (
            [{"prompt": "q", "chosen": "x", "rejected": 5}],
            "column 'rejected': 5 is not a string",
        ),
    ],
)
def test_wrong_rows(rows: list[Row], found: str) -> None:
    """Each error with its place and what to do."""
    with bad_input(found):
        read(rows)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"winner": "c"}, "who won"),
        ({"output_b": None}, "no text"),
        ({"output_a": 5}, "5 is not a string"),
        ({"output_b": "y\0"}, "a NUL character"),
        ({"model_a": ["m"]}, "\\['m'\\] is not a name"),
    ],
)
def test_bad_rows_can_be_skipped(row: Row, problem: str) -> None:
    """Each choice as a whole, whichever of its texts is bad."""
    result = read_pool([PLAIN, {**PLAIN, **row}], Reading(skip_bad=True))
    assert (sorted(result.pool.texts), result.n_skipped) == (["x", "y"], 1)
    assert any(
        re.match(f"1 bad row skipped: 1 {problem}", note) for note in result.notes
    )


def test_a_bad_score_of_one_text_drops_the_choice() -> None:
    """No half of a choice stays where the score of its other text is no number."""
    rows = [
        {**PLAIN, "judge_a": 1, "judge_b": 2},
        {**PLAIN, "output_b": "z", "judge_a": 1, "judge_b": "bad"},
    ]
    result = read_pool(rows, Reading(columns=Columns(score=("judge",)), skip_bad=True))
    assert (sorted(result.pool.texts), result.n_skipped) == (["x", "y"], 2)


def test_pairs_are_no_outputs(tmp_path: Path) -> None:
    """From files and from memory."""
    row = {"prompt": "p", "chosen": "a", "rejected": "b"}
    for rows in ([row], write(tmp_path, "pairs.jsonl", json.dumps(row) + "\n")):
        with bad_input("preference pairs are rated texts"):
            read_outputs(rows)


def test_groups_without_sources() -> None:
    """All pairs that equal texts connect."""
    rows = [{"chosen": a, "rejected": b} for a, b in ("xy", "yz", "vw")]
    pool = read(rows).pool
    groups = dict(zip(pool.texts, group_numbers(pool).tolist(), strict=True))
    assert groups["x"] == groups["y"] == groups["z"] != groups["v"] == groups["w"]


def test_pairs_that_a_model_made(tmp_path: Path) -> None:
    """UltraFeedback's are GPT-4's: refused, unless the user knows better."""
    row = {
        "prompt": "p",
        "chosen": "a",
        "rejected": "b",
        "score_chosen": 9,
        "score_rejected": 2,
    }
    file = write(tmp_path, "pairs.jsonl", json.dumps(row) + "\n")
    with bad_input("GPT-4's in the sets of this form"):
        read_pool(file)
    pool = read_pool(file, Reading(format="preference-pairs")).pool
    assert told(pool) == by_text(("p", "a", "b", 1))


LETTERS = st.characters(
    exclude_categories=("Cs", "Cc"), exclude_characters="#"
)  # no #REF!
TEXTS = st.text(LETTERS, min_size=1, max_size=8)
CHOICES = st.tuples(TEXTS, TEXTS, TEXTS, st.sampled_from([0.0, 0.5, 1.0])).filter(
    lambda one: one[1] != one[2]
)


@given(
    st.lists(CHOICES, min_size=1, max_size=6, unique_by=lambda one: frozenset(one[1:3]))
)
def test_round_trip(
    tmp_path_factory: pytest.TempPathFactory, choices: list[tuple[str, str, str, float]]
) -> None:
    """Every choice comes back from Arena's shape, HelpSteer's and a plain table."""
    strength = {1.0: -2, 0.5: 0, 0.0: 1}
    word = {1.0: "a", 0.5: "tie", 0.0: "b"}
    shapes = [
        [
            {
                "prompt": q,
                "response_1": a,
                "response_2": b,
                "preference_strength": strength[won],
            }
            for q, a, b, won in choices
        ],
        [
            {"prompt": q, "output_a": a, "output_b": b, "winner": word[won]}
            for q, a, b, won in choices
        ],
    ]
    folder = tmp_path_factory.mktemp("pairs")
    for rows in shapes:
        file = write(
            folder, "pairs.jsonl", "".join(json.dumps(row) + "\n" for row in rows)
        )
        assert told(read(file).pool) == by_text(*choices)


def test_names_as_spreadsheets_write_them(tmp_path: Path) -> None:
    """`Response A` and `Preference` are `response_a` and `preference`; so is what is said there."""
    rows = [
        ("A", 1),
        ("Response B", 0),
        ("Tie", 0.5),
        ("response a", 1),
        ("A much better", 1),
        ("B is a bit better", 0),
        ("Slightly prefer Response A", 1),
        ("No preference", 0.5),
    ]
    lines = [f"p{i},x{i},y{i},{word}" for i, (word, _) in enumerate(rows)]
    text = "\n".join(["Prompt,Response A,Response B,Preference", *lines])
    found = read([str(write(tmp_path, "votes.csv", text))])
    assert told(found.pool) == by_text(
        *((f"p{i}", f"x{i}", f"y{i}", won) for i, (_, won) in enumerate(rows))
    )
    with bad_input("if one system wrote all first texts, "):
        read_partly(str(tmp_path / "votes.csv"))
    more = [
        {
            "Text 1": "a",
            "text-2": "b",
            "Winner": 1,
            "Model 1": "m",
            "Model 2": "n",
            "Judge": "ann",
        }
    ]
    pool = read(more).pool
    assert (pool.texts, pool.systems, pool.ratings.annotators) == (
        ("a", "b"),
        ("m", "n"),
        ("ann",),
    )


@pytest.mark.parametrize(
    ("names", "winner"),
    [
        (("Model A", "Model B", "Response A", "Response B", "Winner"), "Response B"),
        (("model-a", "model-b", "response-a", "response-b", "winner"), "model-b"),
        (("MODEL_A", "MODEL_B", "OUTPUT_A", "OUTPUT_B", "PREFERENCE"), "B"),
        (("Model 1", "Model 2", "Answer 1", "Answer 2", "Preferred"), "2"),
    ],
)
def test_any_spelling_of_the_columns(names: tuple[str, ...], winner: str) -> None:
    """Capitals, blanks and hyphens count no more than in other columns, in scores neither."""
    end = f" {names[0][-1]}"
    judges = (f"Judge{end}", f"Judge {names[1][-1]}")
    row = dict(
        zip((*names, *judges), ("old", "new", "bad", "good", winner, 1, 2), strict=True)
    )
    found = read([{"Question": "q", **row}], score=("Judge",))
    assert told(found.pool) == [("q", "bad", "good", 0.0)]
    assert dict(zip(found.pool.systems, found.pool.score("Judge"), strict=True)) == {
        "old": 1.0,
        "new": 2.0,
    }
    assert not any("unread" in note for note in found.notes)


def test_votes_without_texts() -> None:
    """Each vote is about its own row, or about what an id names; systems are compared."""
    votes = [
        ("a", "b", "model_a"),
        ("b", "a", "model_b"),
        ("a", "b", "tie"),
        ("a", "b", "b"),
    ]
    rows = [{"model_a": a, "model_b": b, "winner": won} for a, b, won in votes]
    (pair,) = refless.compare_choices(rows).wins
    assert (pair.first, pair.second) == ("a", "b")
    assert pair.by_item.rate == pytest.approx((0 + 0 + 0.5 + 1) / 4)
    assert pair.by_item.choices == 4
    named = [row | {"question_id": i // 2} for i, row in enumerate(rows)]
    assert refless.compare_choices(named).groups == 2
    with bad_input("no column for the text"):
        read_pool(rows)


@pytest.mark.parametrize(("preference", "first"), [(1, 1), (1.25, 0.75), (1.5, 0.5)])
def test_preferences_between_texts(preference: float, first: float) -> None:
    """AlpacaEval's go from 1, the first text, to 2: its README, `preference` of annotations."""
    row = {"output_1": "a", "output_2": "b", "preference": preference}
    assert read([row]).pool.human.tolist() == [first, 1 - first]
