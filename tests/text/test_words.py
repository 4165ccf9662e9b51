"""Words of all scripts."""

from __future__ import annotations

import re
from unicodedata import category, normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refless.text.words import AS_ASCII, class_of, words

LETTERS = st.characters(max_codepoint=0xDFF, categories=["L", "N", "P", "S", "Zs"])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Où est l'École?", "où est l ' école ?"),
        ("Straße, „Äpfel“!", "straße , „ äpfel “ !"),
        ("Он сказал: «Ёлка»", "он сказал : « ёлка »"),
        ("İstanbul'da ılık su", "istanbul ' da ılık su"),  # noqa: RUF001
        ("இந்த நாள் நல்லது.", "இந்த நாள் நல்லது ."),
        ("यह अच्छा है।", "यह अच्छा है ।"),
        ("كتبَ الولدُ، نعم؟", "كتبَ الولدُ ، نعم ؟"),
        ("می‌خواهم", "می‌خواهم"),
        ("한국어 문장", "한국어 문장"),
        ("天气很好，对吗？", "天 气 很 好 ， 对 吗 ？"),  # noqa: RUF001
        ("私はコーヒーを", "私 は コ ー ヒ ー を"),
        ("น้ำดื่ม ๑๒", "น้ ำ ดื่ ม ๑๒"),
        ("ນ້ຳ", "ນ້ ຳ"),
        ("សួស្តី។", "សួ ស្ តី ។"),
        ("မြို့", "မြို့"),
        ("我买了iPhone 15手机", "我 买 了 iphone 15 手 机"),
        ("か\u3099", "か\u3099"),
        ("\U00020000\U00020001", "\U00020000 \U00020001"),
        ("ok 👍🏽 ❤\ufe0f", "ok 👍 🏽 ❤ \ufe0f"),
    ],
)
def test_words(text: str, wanted: str) -> None:
    """Lower case, punctuation apart, marks with their letters, any script."""
    assert words(text) == wanted.split(" ")


@given(st.text(LETTERS))
def test_scripts_with_blanks_and_no_marks_are_read_as_ever(text: str) -> None:
    """Runs of letters and digits, and what else there is one by one."""
    same = "".join(letter for letter in text.lower() if category(letter)[0] != "M")
    assert words(same) == re.findall(r"\w+|[^\w\s]", same)


@given(st.text())
def test_nothing_is_lost_but_blanks(text: str) -> None:
    """All of a text is in its words, in order."""
    assert "".join(words(text)) == re.sub(
        r"\s", "", text.lower().replace("i\u0307", "i")
    )


def test_words_of_any_script_as_a_whole() -> None:
    """Between blanks and punctuation marks."""
    assert words("我买了iPhone。 ดื่มน้ำ நாள்", whole=True) == [
        "我买了iphone",
        "。",
        "ดื่มน้ำ",
        "நாள்",
    ]


def test_marks_join_however_letters_are_written() -> None:
    """Composed or with marks apart, a word is one."""
    assert [
        normalize("NFC", word) for word in words(normalize("NFD", "crème brûlée"))
    ] == [
        "crème",
        "brûlée",
    ]


def test_marks_of_all_scripts_end_sentences() -> None:
    """Each becomes one of ASCII, so lengths stay."""
    text = "好。吗？是！好，नहीं। نعم؟ a."  # noqa: RUF001
    plain = "".join(AS_ASCII.get(letter, letter) for letter in text)
    assert plain == "好.吗?是!好,नहीं. نعم? a."


def test_a_class_holds_what_unicode_says() -> None:
    """Every character of the kind, and no other."""
    capitals = re.compile(f"[{class_of('Lu', 'Lt')}]")
    assert all(
        bool(capitals.fullmatch(chr(i))) == (category(chr(i)) in {"Lu", "Lt"})
        for i in range(0x20000)
    )
