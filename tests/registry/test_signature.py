"""Signatures: what is printed parses back, whatever is in it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refless.registry.errors import UsageError
from refless.registry.signature import Signature, setting
from refusals import bad_usage

# every code point, lone surrogates too, and often the characters that signatures are built with
ANY_TEXT = st.text(
    st.one_of(st.characters(exclude_categories=()), st.sampled_from("|:%,= \n"))
)


@given(ANY_TEXT, st.lists(st.tuples(ANY_TEXT, ANY_TEXT), max_size=5))
def test_parses_back(name: str, settings: list[tuple[str, str]]) -> None:
    """parse(str(s)) is s, and the text is ASCII on one line."""
    signature = Signature(name, tuple(settings))
    text = str(signature)
    assert Signature.parse(text) == signature
    assert text.isascii()
    assert text.isprintable()


@given(ANY_TEXT)
def test_any_text_is_a_signature_or_an_error_of_ours(text: str) -> None:
    """Foreign text never ends in an exception of Python's."""
    try:
        signature = Signature.parse(text)
    except UsageError:
        return
    assert Signature.parse(str(signature)) == signature


def test_reads_as_in_the_papers() -> None:
    """Ordinary settings stay readable (the form is the one of DESIGN's example)."""
    signature = Signature("bleu-neighbors").plus(
        kernel="bleu*",
        tok="char",
        n="2-4",
        clip=True,
        tau=0.08,
        a=5,
        b=0.66,
        scale=(1.0, 6.0),
    )
    assert str(signature) == (
        "bleu-neighbors|kernel:bleu*|tok:char|n:2-4|clip:yes|tau:0.08|a:5|b:0.66|scale:1,6"
    )


def test_plus_replaces_in_place() -> None:
    """A setting that is there already keeps its place and takes the new value."""
    signature = Signature("m", (("tau", "0.08"), ("seed", "0"))).plus(
        tau=0.1, ci="none"
    )
    assert str(signature) == "m|tau:0.1|seed:0|ci:none"
    assert signature.get("tau") == "0.1"
    assert signature.get("kernel") is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "yes"),
        (False, "no"),
        (None, "none"),
        (5.0, "5"),
        (0.1, "0.1"),
        (np.float64(0.25), "0.25"),
        (np.int64(7), "7"),
        ((1, 2.5), "1,2.5"),
        ("bleu*", "bleu*"),
    ],
)
def test_settings_are_written_alike(value: object, text: str) -> None:
    """Equal values are written the same, whether they come from Python or numpy."""
    assert setting(value) == text


@pytest.mark.parametrize("text", ["m|tau", "m|tau:0,08|é:1", "é", "m|tau:%ff"])
def test_what_is_no_signature(text: str) -> None:
    """A part without a colon, letters beyond ASCII, escapes that are no UTF-8."""
    with bad_usage("signature"):
        Signature.parse(text)
