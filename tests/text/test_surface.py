"""Numbers about the surface of texts: each by hand, all of Unicode, long texts."""

from __future__ import annotations

import sys
from collections import Counter
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from refless.text.surface import (
    LEXIS,
    MARKS,
    READ,
    RELATION,
    SHAPE,
    last_turn,
    relation,
    surface,
)

NAMES = SHAPE + LEXIS + MARKS
SOURCE = "Is the Mill in Rome or Oslo?\nAnn paid 30 or 40."
TEXT = st.text(max_size=40) | st.text("aAİ.!? 1\n|", max_size=40)


def told(text: str) -> dict[str, float]:
    """The numbers of one text by name."""
    return dict(zip(NAMES, surface([text])[0].tolist(), strict=True))


def beside(text: str, source: str) -> dict[str, float]:
    """The numbers of one text and its source by name."""
    return dict(zip(RELATION, relation([text], [source])[0].tolist(), strict=True))


def test_the_surface_by_hand() -> None:
    """9 words of 24 letters, 6 of them different, and 4 marks; 2 of 8 pairs stood before."""
    assert told("The cat sat. The cat sat, ok? No 42!") == pytest.approx(
        {
            "characters": 36,
            "words": 9,
            "word length": 24 / 9,
            "sentences": 3,
            "type-token ratio": 6 / 9,
            "repeated pairs": 2 / 8,
            "repeated fours": 0,
            "commonest word": 2,
            "punctuation": 4 / 13,
            "capitals": 3 / 36,
            "digits": 2 / 36,
            "capital first": 1,
            "full stop last": 0,
            "questions": 1,
            "commas": 1,
        }
    )


def test_runs_and_ends_by_hand() -> None:
    """Of the fours abcd, bcda, cdab, dabc, abcd the last stood before; dots in a row end once."""
    found = told("a b c d a B c d... ")
    assert (found["repeated pairs"], found["repeated fours"]) == (3 / 7, 1 / 5)
    assert (found["sentences"], found["full stop last"], found["capital first"]) == (
        1,
        1,
        0,
    )


def test_the_relation_by_hand() -> None:
    """Taken: the mill paid 30 in rome; lacking: is or oslo ann 40; added: Bob and 50."""
    found = beside("The mill paid Bob 30 and 50 in Rome.", SOURCE)
    assert {name: found[name] for name in RELATION[:11]} == pytest.approx(
        {
            "words taken": 6 / 9,
            "pairs taken": 2 / 8,
            "fours taken": 0,
            "words of the last turn": 2 / 9,
            "words missing": 5 / 11,
            "names missing": 1 / 3,
            "numbers missing": 1 / 2,
            "names added": 1,
            "numbers added": 1,
            "length ratio": log(10 / 13),
            "source length": 47,
        }
    )
    assert beside("Yes, the mill in rome or oslo.", SOURCE)["fours taken"] == 3 / 4


def test_letters_and_edits_by_hand() -> None:
    """Five threes and three fives of 7 letters are taken; one of six is missing; "s" comes in."""
    found = beside("The  cat", "the cats")
    assert {name: found[name] for name in RELATION[11:]} == pytest.approx(
        {
            "threes taken": 1,
            "threes missing": 1 / 6,
            "fives taken": 1,
            "letters alike": 12 / 16,
            "words alike": 2 / 4,
            "words changed": 2,
        }
    )


@given(TEXT, TEXT)
def test_letters_are_counted_and_aligned(text: str, source: str) -> None:
    """Counters, and the longest common subsequence letter by letter, say the same."""
    runs = [" ".join(each.lower().split()) for each in (text, source)]
    mine, theirs = (
        Counter(zip(each, each[1:], each[2:], strict=False)) for each in runs
    )
    both = (mine & theirs).total()
    longest = np.zeros((len(text) + 1, len(source) + 1))
    for i, j in np.ndindex(len(text), len(source)):
        before = (
            longest[i, j + 1],
            longest[i + 1, j],
            longest[i, j] + (text[i] == source[j]),
        )
        longest[i + 1, j + 1] = max(before)
    shares = (both, mine.total()), (2 * longest[-1, -1], len(text) + len(source))
    wanted = [part / whole if whole else 0.0 for part, whole in shares]
    found = beside(text, source)
    assert [found["threes taken"], found["letters alike"]] == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("", ""),
        ("one", "one"),
        ("a\nb c\n", "b c"),
        ("a ||| b|||c", "c"),
        ("a|b", "a|b"),
    ],
)
def test_the_last_turn(source: str, wanted: str) -> None:
    assert last_turn(source) == wanted


@pytest.mark.parametrize(
    "source", ["Hi. Then Ann", "Hi\nThen Ann", "Hi ||| Then Ann", "Then Ann"]
)
def test_what_begins_a_sentence_or_a_turn_is_no_name(source: str) -> None:
    """Ann alone is missing, none of the capitals before."""
    assert beside("nothing", source)["names missing"] == 1
    assert beside("Yes Ann", source)["names missing"] == 0
    assert beside(source, "hi")["names added"] == 1


def test_capitals_and_digits_of_all_scripts() -> None:
    """Words are those of Unicode; letters of scripts without blanks are words."""
    found = told("Éa ٣, 東京")
    assert (found["capitals"], found["digits"], found["capital first"]) == (
        1 / 8,
        1 / 8,
        1,
    )
    assert (found["words"], found["word length"]) == (4, 5 / 4)


CYRILLIC = dict(
    zip("abcdefghijklmnopqrstuvwxyz", "абцдефгхийклмнопярстувшъыз", strict=True)
)
CYRILLIC |= {ours.upper(): theirs.upper() for ours, theirs in CYRILLIC.items()}


def test_another_alphabet_gives_the_same_numbers() -> None:
    """Capitals and names are known wherever there are any."""
    text = "No, the Mill paid Bob 30. Is it in Rome?"
    source = SOURCE
    same, known = (both.translate(str.maketrans(CYRILLIC)) for both in (text, source))
    assert_array_equal(surface([same]), surface([text]))
    assert_array_equal(relation([same], [known]), relation([text], [source]))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("天气好，天气好。去吗？", (8, 1, 2, 5 / 8, 3 / 11, 1, 1)),  # noqa: RUF001
        ("コーヒー、好き。", (6, 1, 1, 5 / 6, 2 / 8, 0, 1)),
        ("यह है, यह नहीं।", (4, 10 / 4, 1, 3 / 4, 2 / 6, 0, 1)),
        ("இந்த நாள்", (2, 4, 0, 1, 0, 0, 0)),
        ("ما هذا؟ ما؟", (3, 7 / 3, 2, 2 / 3, 2 / 5, 2, 0)),
        ("กินน้ำ กิน", (6, 9 / 6, 0, 4 / 6, 0, 0, 0)),
    ],
)
def test_scripts_without_capitals(text: str, wanted: tuple[float, ...]) -> None:
    """Their letters, marks on letters, full stops, questions and commas; no capitals."""
    names = (
        "words",
        "word length",
        "sentences",
        "type-token ratio",
        "punctuation",
        "questions",
    )
    found = told(text)
    assert tuple(found[name] for name in (*names, "commas")) == pytest.approx(wanted)
    assert (found["capitals"], found["capital first"], found["digits"]) == (0, 0, 0)
    assert found["full stop last"] == text.endswith(("。", "।"))


def test_what_is_taken_from_a_source_without_blanks() -> None:
    """Of 5 letters 4 stand in the source, of 4 pairs 3."""
    found = beside("我去北京。好", "我去北京了")
    assert (found["words taken"], found["pairs taken"]) == (4 / 5, 3 / 4)


def test_nothing_at_all() -> None:
    """Empty texts and blanks have 0 throughout, their length aside; so have empty sources."""
    assert not surface([""]).any()
    assert {name for name, value in told(" \n").items() if value} == {"characters"}
    assert not relation([""], [""]).any()
    assert surface([]).shape == (0, len(NAMES))
    assert relation([], []).shape == (0, len(RELATION))


@given(st.lists(st.tuples(TEXT, TEXT), max_size=4))
def test_shares_are_shares_and_texts_are_read_alone(
    pairs: list[tuple[str, str]],
) -> None:
    """A text takes all of itself, misses and adds nothing; others beside it change nothing."""
    texts = [text for text, _ in pairs]
    sources = [source for _, source in pairs]
    found = surface(texts)
    near = relation(texts, sources)
    assert np.isfinite(found).all()
    assert np.isfinite(near).all()
    shares = found[:, [NAMES.index(name) for name in (*LEXIS[:3], *MARKS[:5])]]
    assert ((shares >= 0) & (shares <= 1)).all()
    shares = near[:, [*range(7), *range(11, 16)]]
    assert ((shares >= 0) & (shares <= 1)).all()
    for i, (text, source) in enumerate(pairs):
        assert_array_equal(found[i], surface([text])[0])
        assert_array_equal(near[i], relation([text], [source])[0])
        own = beside(text, text)
        assert own["words taken"] == (told(text)["words"] > 0)
        assert {
            own[name] for name in (*RELATION[4:10], "threes missing", "words changed")
        } == {0.0}
        assert own["letters alike"] == (text != "")


def events(text: str) -> int:
    """Calls, of Python and of C, that reading a text beside itself takes."""
    count = 0

    def counted(*_: object) -> None:
        nonlocal count
        count += 1

    sys.setprofile(counted)
    try:
        surface([text])
        relation([text], [text])
    finally:
        sys.setprofile(None)
    return count


def test_work_grows_with_the_length_alone() -> None:
    """Twice the words ask for twice the calls."""
    once, twice = (
        events("The fox is Quick, no 42. " * times) for times in (500, 1_000)
    )
    assert 1.8 < twice / once < 2.1


@pytest.mark.parametrize(
    "part", ["A", ".", ". ", "9", "a ", "Ab ", "?A", "|||", "\n", "é\u0301"]
)
def test_a_very_long_text_of_anything(part: str) -> None:
    """An expression that goes back and forth would not come to an end here."""
    text = part * (200_000 // len(part))
    assert told(text)["characters"] == len(text)
    assert beside(text, text)["words missing"] == 0


def test_late_words_count_though_late_runs_do_not() -> None:
    """Names, numbers and words are looked for everywhere, repetition in the first words."""
    text = "a " * READ + "so Zoe paid 7 and so Zoe paid 7"
    own = beside(text, text)
    assert (own["names missing"], own["names added"], own["words missing"]) == (0, 0, 0)
    assert beside(text, "a")["names added"] == 1
    assert told(text)["words"] == READ + 9
    assert told(text)["repeated pairs"] == (READ - 2) / (READ - 1)
