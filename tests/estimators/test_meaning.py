"""Masked words."""

from __future__ import annotations

import pytest

from refless.text.masking import masked


@pytest.mark.parametrize(
    ("text", "source", "wanted"),
    [
        ("The Golden Palace is cheap.", "name=Golden Palace", "the @ @ is cheap ."),
        ("it is in the centre", "inform(area=centre, food=none)", "it is in the @"),
        ("none of it", "food=none", "none of it"),
        ("room 12 is free", "room=12", "@ @ is free"),
        ("a b c", "", "a b c"),
        ("", "anything", ""),
    ],
)
def test_masked(text: str, source: str, wanted: str) -> None:
    """Longer words and numbers of the source become @; none and short words stay."""
    assert masked(text, source) == wanted
