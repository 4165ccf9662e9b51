"""Labels as numbers."""

import tracemalloc

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from refless.registry.arrays import codes

# NumPy cuts the blanks of C, "\0", off the end of a text
names = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


@given(st.lists(names))
def test_places_of_texts_are_those_of_an_array(column: list[str]) -> None:
    """The slow twin sorts an array in which each text has the room of the longest."""
    slow = np.unique(np.array(column, dtype=str), return_inverse=True)[1]
    assert codes(column).tolist() == slow.tolist()


def test_a_long_text_takes_no_room_for_others() -> None:
    """1,000 short texts beside one of 1,000,000 letters are no array of 4 GB."""
    column = [*map(str, range(1000)), "a" * 1_000_000]
    tracemalloc.start()
    places = codes(column)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sorted(places.tolist()) == [*range(1001)]
    assert most < 1_000_000
