"""Dialogue acts as triples, and texts without the values that their acts hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refless.extensions.ratpred.acts import (
    NULL,
    ActTriple,
    delexicalized,
    looks_like_act,
    triples,
)
from refusals import bad_input

SLOTS = {"name", "food", "area", "near", "price_range", "phone"}
WORD = st.from_regex(r"[a-z]{1,8}", fullmatch=True)
VALUE = st.from_regex(r"[a-z0-9]{1,6}( [a-z0-9]{1,6})?", fullmatch=True)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("inform(name='x',food=y)", [("inform", "name", "x"), ("inform", "food", "y")]),
        ("request(near)", [("request", "near", NULL)]),
        ("reqmore()", [("reqmore", NULL, NULL)]),
        ("?select(a='yes';a='no')", [("select", "a", "yes"), ("select", "a", "no")]),
        (
            'inform(name="The Golden Palace", food=Chinese)',  # BAGEL
            [("inform", "name", "the golden palace"), ("inform", "food", "chinese")],
        ),
        ("inform(name='o'reilly's pub')", [("inform", "name", "o'reilly's pub")]),
        (
            "inform(name='a, b (c)',near=d)",
            [("inform", "name", "a, b (c)"), ("inform", "near", "d")],
        ),
        ("inform(a=b)&request(c)", [("inform", "a", "b"), ("request", "c", NULL)]),
        (" inform( a = b ) ", [("inform", "a", "b")]),
        ("inform(area=dont_care)", [("inform", "area", "dont_care")]),
        ("inform(name='')", [("inform", "name", NULL)]),
    ],
)
def test_acts_become_triples(source: str, expected: list[tuple[str, str, str]]) -> None:
    """Section 3.2's list of act, slot and value, null tokens where there is none."""
    assert triples(source) == tuple(ActTriple(*row) for row in expected)


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("inform(name='x',food=y", 23),  # the end
        ("inform(name='x'food=y)", 13),
        ("inform(,)", 8),
        ("inform(a=)", 10),
        ("inform(a=b) or so", 12),
        ("inform(a=b,)", 12),
        ("no act", 1),
        ("inform(a=b)&", 13),
    ],
)
def test_errors_name_the_position(source: str, place: int) -> None:
    """The character at which a source ceases to be a dialogue act, counted from 1."""
    with bad_input(rf"at character {place}\b"):
        triples(source)


@given(
    st.lists(st.tuples(WORD, VALUE), min_size=1, max_size=5),
    WORD,
    st.sampled_from("'\""),
)
def test_what_is_written_is_read(
    slots: list[tuple[str, str]], act: str, quote: str
) -> None:
    """Any act with quoted values comes back."""
    written = ",".join(f"{slot}={quote}{value}{quote}" for slot, value in slots)
    found = triples(f"{act}({written})")
    assert found == tuple(ActTriple(act, slot, value) for slot, value in slots)


def test_other_sources_do_not_look_like_acts() -> None:
    """A question with brackets is words."""
    assert looks_like_act("?confirm(area='x')")
    assert not looks_like_act("Where can eight of us (all adults) eat?")
    assert not looks_like_act("Paris[1], they say, is a city[2] of light")


def delexed(text: str, source: str) -> tuple[str, list[str]]:
    words, acts = delexicalized(text, triples(source), SLOTS)
    return " ".join(words), [act.value for act in acts]


def test_values_become_placeholders() -> None:
    """The paper's example: Chinese is X-food in both; what the act does not hold is kept."""
    text, values = delexed(
        "The Ton Kiang serves Chinese and Thai food.",
        "inform(name='ton kiang',food=Chinese)",
    )
    assert text == "the x-name serves x-food and thai food ."
    assert values == ["x-name", "x-food"]


@pytest.mark.parametrize("value", ["yes", "no", "unknown", "none", "dont_care", "X"])
def test_exempt_values_stay(value: str) -> None:
    """Yes, no and unknown are meant, not copied."""
    text, values = delexed(f"it says {value} .", f"inform(area={value})")
    assert (text, values) == (f"it says {value.lower()} .", [value.lower()])


def test_slots_that_are_not_chosen_stay() -> None:
    """Only chosen slots; underscores in their names do not count."""
    assert delexed("cheap", "inform(kids_allowed=cheap)")[0] == "cheap"
    assert delexed("cheap", "inform(pricerange=cheap)") == (
        "x-pricerange",
        ["x-pricerange"],
    )


def test_the_longest_value_wins() -> None:
    """Hotel Diva Bar is one name, not a name and a word."""
    source = "inform(name='hotel diva bar',near='hotel diva')"
    assert (
        delexed("hotel diva bar is near hotel diva", source)[0]
        == "x-name is near x-near"
    )


def test_spaces_and_punctuation_do_not_count() -> None:
    """BAGEL writes citycentre, people the city centre."""
    assert (
        delexed("in the city centre.", "inform(area=citycentre)")[0]
        == "in the x-area ."
    )
    assert delexed("dial 415-334.", "inform(phone=415334)")[0] == "dial x-phone ."


@given(VALUE, st.lists(WORD, max_size=4), st.lists(WORD, max_size=4))
def test_no_value_is_left(value: str, before: list[str], after: list[str]) -> None:
    """Whatever stands around a value, its words are gone where they stood."""
    text = " ".join([*before, value, *after])
    words, _ = delexicalized(text, (ActTriple("inform", "name", value),), {"name"})
    if value not in {"yes", "no", "unknown", "none", "x"}:
        assert "x-name" in words
