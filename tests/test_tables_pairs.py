"""Pairs in the shapes that public sets have: TRL, Anthropic's, HelpSteer 2, Arena, plain tables."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refless.data.preferences import Pairs
from refless.data.tables import Columns, PairsRead, Reading, holds_pairs, read_pairs, read_pool
from refless.registry.errors import InputError
from test_tables_formats import write

Row = dict[str, Any]


def read(rows: object, **columns: Any) -> PairsRead:
    return read_pairs(rows, Reading(columns=Columns(**columns)))


def told(pairs: Pairs) -> list[tuple[str, str, str, float]]:
    """Source, texts and outcome of each choice."""
    texts, sources = pairs.texts.texts, pairs.texts.sources or ("",) * len(pairs.texts)
    sides = zip(pairs.first.tolist(), pairs.second.tolist(), pairs.outcomes.tolist(), strict=True)
    return [(sources[a], texts[a], texts[b], won) for a, b, won in sides]


def chat(*turns: str) -> list[Row]:
    roles = ("user", "assistant") * len(turns)
    return [{"role": role, "content": turn} for role, turn in zip(roles, turns, strict=False)]


@pytest.mark.parametrize(
    ("tie", "won"), [(True, 0.5), ("True", 0.5), ("true", 0.5), (False, 1), ("False", 1), (None, 1)]
)
def test_chosen_and_rejected_that_tie(tie: object, won: float) -> None:
    """As `rate` exports "neither better", in JSONL and in CSV: half a choice for each."""
    rows = [{"chosen": "a", "rejected": "b", "tie": tie}]
    assert told(read(rows).pairs) == [("", "a", "b", won)]


def test_chosen_and_rejected() -> None:
    """TRL: with a prompt, as strings; equal texts are no choice."""
    rows = [
        {"prompt": "q", "chosen": "good", "rejected": "bad"},
        {"prompt": "q", "chosen": "same", "rejected": "same"},
    ]
    found = read(rows)
    assert told(found.pairs) == [("q", "good", "bad", 1)]
    assert "1 choice between two equal texts left out" in found.notes


@pytest.mark.parametrize(
    "row",
    [
        {"chosen": chat("q", "good"), "rejected": chat("q", "bad")},
        {"prompt": "q", "chosen": chat("q", "good"), "rejected": chat("q", "bad")},
        {"prompt": chat("q"), "chosen": chat("q", "good")[1:], "rejected": chat("q", "bad")[1:]},
        {"chosen": json.dumps(chat("q", "good")), "rejected": json.dumps(chat("q", "bad"))},
    ],
)
def test_the_prompt_is_what_both_chats_begin_with(row: Row) -> None:
    """Chats as lists, or as JSON in a cell."""
    assert told(read([row]).pairs) == [("q", "good", "bad", 1)]


def test_longer_chats() -> None:
    """Shared turns are the source; what differs is the text, turn by turn."""
    row = {"chosen": chat("a", "b", "c", "good"), "rejected": chat("a", "b", "c", "bad")}
    source = "user: a\nassistant: b\nuser: c"
    assert told(read([row]).pairs) == [(source, "good", "bad", 1)]
    row = {"chosen": chat("a", "b", "c", "d"), "rejected": chat("a", "x")}
    (found,) = told(read([row]).pairs)
    assert found == ("a", "assistant: b\nuser: c\nassistant: d", "x", 1)


def test_prompts_within_strings() -> None:
    """Anthropic's whole dialogues; else the lines that both strings begin with."""
    begin = "\n\nHuman: hi\n\nAssistant: yes?\n\nHuman: q\n\nAssistant:"
    rows = [{"chosen": f"{begin} Gladly so", "rejected": f"{begin} Gladly not"}]
    source = "Human: hi\n\nAssistant: yes?\n\nHuman: q"
    assert told(read(rows).pairs) == [(source, "Gladly so", "Gladly not", 1)]
    rows = [{"chosen": "question\ngood", "rejected": "question\ngoof"}]
    assert told(read(rows).pairs) == [("question", "good", "goof", 1)]
    rows = [{"chosen": "I like it", "rejected": "I do not"}]
    assert told(read(rows).pairs) == [("", "I like it", "I do not", 1)]


def test_helpsteer() -> None:
    """Below 0 the first was better; -100 is neither; the single people count where they are."""
    base = {"prompt": "q", "response_1": "one", "response_2": "two"}
    people = [{"strength": -2}, "{'strength': 1, 'justification': 'x'}", {"strength": -100}]
    rows = [
        {**base, "preference_strength": -1},
        {**base, "preference_strength": 3},
        {**base, "preference_strength": 0},
        {**base, "preference_strength": -100},
        {**base, "preference_strength": -2, "all_preferences_unprocessed": people},
        {**base, "preference_strength": -2, "all_preferences_unprocessed": str(people)},
    ]
    found = read(rows)
    outcomes = [1, 0, 0.5, 1, 0, 1, 0]
    assert told(found.pairs) == [("q", "one", "two", outcome) for outcome in outcomes]
    assert "the rows: left out: 3 choices of neither text" in found.notes


def test_arena() -> None:
    """Votes with models and judges; both bad is a tie; mail addresses get pseudonyms."""
    base = {"model_a": "m", "model_b": "n", "judge": "ann@example.org"}
    base |= {"conversation_a": chat("q", "one"), "conversation_b": chat("q", "two")}
    words = ("model_a", "model_b", "tie", "tie (bothbad)", "n")
    rows = [{**base, "question_id": i, "winner": word} for i, word in enumerate(words)]
    pairs = read(rows).pairs
    assert [won for *_, won in told(pairs)] == [1, 0, 0.5, 0.5, 0]
    assert pairs.systems == (("m", "n"),) * 5
    assert pairs.annotators == ("rater-438c4c7a",) * 5
    assert pairs.ids == ("0", "1", "2", "3", "4")


@pytest.mark.parametrize(
    ("ends", "words"),
    [(("_a", "_b"), ("a", "B", "tie", "model_a")), (("_1", "_2"), (1, "2", "Tie", 1.0))],
)
@pytest.mark.parametrize("text", ["output", "text", "response", "answer"])
def test_plain_tables(ends: tuple[str, str], words: tuple[object, ...], text: str) -> None:
    """Columns that end alike, in a data frame, in CSV and in JSONL."""
    rows = [{f"{text}{ends[0]}": "x", f"{text}{ends[1]}": "y", "winner": word} for word in words]
    assert [won for *_, won in told(read(rows).pairs)] == [1, 0, 0.5, 1]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    assert told(read(columns).pairs) == told(read(rows).pairs)


def test_files(tmp_path: Path) -> None:
    """Told by content, streamed and said; several files one after the other."""
    lines = "prompt,output_a,output_b,winner,rater\nq,x,y,a,p\nq,x,y,tie,r\n"
    csv = write(tmp_path, "pairs.csv", lines)
    row = {"prompt": "p", "chosen": "x", "rejected": "z"}
    jsonl = write(tmp_path, "pairs.jsonl", json.dumps(row) + "\n")
    found = read([csv, jsonl])
    assert told(found.pairs) == [("q", "x", "y", 1), ("q", "x", "y", 0.5), ("p", "x", "z", 1)]
    assert found.pairs.annotators == ("p", "r", "")
    assert len(found.pairs.texts) == 4
    assert holds_pairs(csv)
    assert holds_pairs([jsonl])
    assert not holds_pairs(write(tmp_path, "texts.csv", "text,rating\na,1\n"))
    assert any("read as preference pairs" in note for note in found.notes)


def test_scores_of_both_texts() -> None:
    """Columns that end, or begin, as those of the texts do; a blank one is missing."""
    rows = [
        {"chosen": "x", "rejected": "y", "judge_chosen": 4, "judge_rejected": "2"},
        {"chosen": "z", "rejected": "y", "judge_chosen": None, "judge_rejected": 2},
    ]
    texts = read(rows, score=("judge",)).pairs.texts
    scores = dict(zip(texts.texts, texts.scores[:, 0].tolist(), strict=True))
    assert (scores["x"], scores["y"]) == (4, 2)
    assert scores["z"] != scores["z"]
    rows = [{"chosen": "x", "rejected": "y", "chosen_judge": 1, "rejected_judge": 0}]
    assert read(rows, score=("judge",)).pairs.texts.score_names == ("judge",)


PLAIN = {"output_a": "x", "output_b": "y", "winner": "a"}


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ([PLAIN, {**PLAIN, "winner": "c"}], "row 2, column 'winner': who won .*'c'; write a or b"),
        ([{**PLAIN, "winner": 1}], "who won is not understood: 1;"),  # the first, or true?
        ([{**PLAIN, "winner": None}], "who won is not understood: None"),
        ([{**PLAIN, "output_b": None}], "column 'text_b': no text"),
        ([PLAIN, {"z": 1}], "row 2, column 'text_a': no text"),
        ([{**PLAIN, "output_b": "x"}], "there are no pairs"),
        ([{"prompt": "q", "chosen": "x", "rejected": 5}], "column 'text_b': 5 is not a string"),
    ],
)
def test_wrong_rows(rows: list[Row], found: str) -> None:
    """Each error with its place and what to do."""
    with pytest.raises(InputError, match=found):
        read(rows)


def test_bad_rows_can_be_skipped() -> None:
    """And are counted."""
    found = read_pairs([PLAIN, {**PLAIN, "winner": "c"}], Reading(skip_bad=True))
    assert (len(found.pairs), found.n_skipped) == (1, 1)
    assert "1 bad row skipped" in found.notes


def test_scores_that_are_not_there() -> None:
    """The two names that were looked for."""
    with pytest.raises(InputError, match="call the two columns judge_a and judge_b"):
        read([PLAIN], score=("judge",))


def test_who_wants_ratings_is_told(tmp_path: Path) -> None:
    """Pairs are refused where texts with ratings are needed, from files and from memory."""
    row = {"prompt": "p", "chosen": "a", "rejected": "b"}
    for rows in ([row], write(tmp_path, "pairs.jsonl", json.dumps(row) + "\n")):
        with pytest.raises(InputError, match="rate neither; 'refless validate', 'compare', 'meta'"):
            read_pool(rows)


def test_pairs_that_a_model_made(tmp_path: Path) -> None:
    """UltraFeedback's are GPT-4's: refused, unless the user knows better."""
    row = {"prompt": "p", "chosen": "a", "rejected": "b", "score_chosen": 9, "score_rejected": 2}
    file = write(tmp_path, "pairs.jsonl", json.dumps(row) + "\n")
    with pytest.raises(InputError, match="GPT-4's in the sets of this form"):
        read_pool(file)
    assert not holds_pairs(file)
    assert holds_pairs(file, Reading(format="preference-pairs"))
    assert told(read(file).pairs) == [("p", "a", "b", 1)]


LETTERS = st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="#")  # no #REF!
TEXTS = st.text(LETTERS, min_size=1, max_size=8)
CHOICES = st.tuples(TEXTS, TEXTS, TEXTS, st.sampled_from([0.0, 0.5, 1.0])).filter(
    lambda one: one[1] != one[2]
)


@given(st.lists(CHOICES, min_size=1, max_size=6))
def test_round_trip(
    tmp_path_factory: pytest.TempPathFactory, choices: list[tuple[str, str, str, float]]
) -> None:
    """Every choice comes back from Arena's shape, HelpSteer's and a plain table."""
    strength, word = {1.0: -2, 0.5: 0, 0.0: 1}, {1.0: "a", 0.5: "tie", 0.0: "b"}
    shapes = [
        [
            {"prompt": q, "response_1": a, "response_2": b, "preference_strength": strength[won]}
            for q, a, b, won in choices
        ],
        [
            {"prompt": q, "output_a": a, "output_b": b, "winner": word[won]}
            for q, a, b, won in choices
        ],
    ]
    folder = tmp_path_factory.mktemp("pairs")
    for rows in shapes:
        file = write(folder, "pairs.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        assert told(read(file).pairs) == choices
