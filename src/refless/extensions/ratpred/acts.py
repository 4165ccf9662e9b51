"""Sources that are dialogue acts, as triples, and texts with placeholders for their values.

A source may be a meaning representation, dialogue acts such as `inform(name='x',food=thai)`, which
is read as triples of act, slot and value; any other source is plain words.
"""

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from refless.registry.errors import InputError
from refless.text.words import words

NULL = "<none>"  # where a dialogue act has no slot, or a slot no value
# values that no text repeats word for word, and those that are placeholders already
EXEMPT_VALUES = frozenset(
    {
        NULL,
        "yes",
        "no",
        "unknown",
        "none",
        "dont_care",
        "don't care",
        "dont care",
        "yes or no",
        "x",
    }
)
_LETTERS = re.compile(r"[^\W_]")
_ACT = re.compile(r"\s*\??(\w+)\(")
_JOINT = re.compile(r"\s*&\s*")
_CLOSE = re.compile(r"\s*\)")
_SLOT = re.compile(r"\s*([\w ]*\w)\s*(=?)\s*")
_QUOTED = re.compile(r"([\"'])(.*?)\1(?=\s*[,;)])")
_BARE = re.compile(r"[^,;()=\"]*")
_END = re.compile(r"\s*([,;)])")


class ActTriple(NamedTuple):
    """One statement of a dialogue act: its act, a slot and a value, each perhaps the null token."""

    act: str
    slot: str = NULL
    value: str = NULL


def looks_like_act(source: str) -> bool:
    """Whether a source begins as dialogue acts do, `inform(`; other sources are plain words."""
    return _ACT.match(source) is not None


def triples(source: str) -> tuple[ActTriple, ...]:
    """The triples of one or more dialogue acts, in their order, in lower case.

    `inform(name='x',food=y)&request(near)` is (inform, name, x), (inform, food, y),
    (request, near, null). Slots are separated by `,` or `;`, values may be quoted by `'` or `"`
    (BAGEL's form), and an act may begin with `?` (RNNLG's form), which is dropped. A quote ends
    a value only where a separator or the closing bracket follows: `'o'reilly's'` is one value.

    Raises:
        InputError: text that is no dialogue act, with the character at which it ceases to be one.
    """
    acts: list[ActTriple] = []
    place = 0
    while True:
        act = _ACT.match(source, place)
        if act is None:
            raise _fault(source, place, "a dialogue act such as inform( is expected")
        place = _slots(source, act.end(), act[1].lower(), acts)
        remainder = _JOINT.match(source, place)
        if remainder is not None:
            place = remainder.end()
        elif source[place:].strip():
            raise _fault(
                source, place, "nothing may follow the closing bracket but & and an act"
            )
        else:
            return tuple(acts)


def _slots(source: str, place: int, act: str, acts: list[ActTriple]) -> int:
    """Appends the triples of one act; returns where it ends."""
    empty = _CLOSE.match(source, place)
    if empty is not None:
        acts.append(ActTriple(act))
        return empty.end()
    while True:
        name = _SLOT.match(source, place)
        if name is None:
            raise _fault(source, place, "the name of a slot is expected")
        slot = name[1].strip().lower()
        value = NULL
        place = name.end()
        if name[2]:
            value, place = _value(source, place)
        acts.append(ActTriple(act, slot, value))
        end = _END.match(source, place)
        if end is None:
            raise _fault(
                source, place, "a comma, a semicolon or a closing bracket is expected"
            )
        place = end.end()
        if end[1] == ")":
            return place


def _value(source: str, place: int) -> tuple[str, int]:
    """A value, quoted or bare, and where it ends."""
    quoted = _QUOTED.match(source, place)
    if quoted is not None:
        return quoted[2].strip().lower() or NULL, quoted.end()
    if source[place : place + 1] in {"'", '"'}:
        raise _fault(source, place, "a quote is opened and not closed")
    bare = _BARE.match(source, place)
    if bare is None or not bare[0].strip():
        raise _fault(source, place, "a value is expected after =")
    return bare[0].strip().lower(), bare.end()


def _fault(source: str, place: int, what: str) -> InputError:
    here = source[place : place + 12] or "the end"
    start = source if len(source) <= 60 else source[:57] + "..."
    return InputError(
        f"'{start}' is no dialogue act: {what} at character {place + 1} ('{here}')",
        remedy="write acts as act(slot='value',slot=value)",
    )


def delexicalized(
    text: str, acts: Sequence[ActTriple], slots: AbstractSet[str]
) -> tuple[list[str], list[ActTriple]]:
    """Words of a text, and triples, with the values of some slots as placeholders (section 3.2).

    `thai` becomes `x-food` in both where the triples hold food=thai. Only values of the triples
    are replaced in the text, the longest first; `citycentre` also finds "city centre". Values in
    `EXEMPT_VALUES` (yes, no, unknown, ...) and values that are placeholders already (`X`) stay.

    Args:
        text: the text, in any case.
        acts: triples of its source.
        slots: names of slots to delexicalise; underscores do not count.

    Returns:
        The words of the text in lower case, and the triples.
    """
    chosen = {slot.replace("_", "") for slot in slots}
    names: dict[str, str] = {}
    shown = []
    for triple in acts:
        slot = triple.slot.replace("_", "")
        if slot in chosen and triple.value not in EXEMPT_VALUES:
            names.setdefault("".join(_LETTERS.findall(triple.value)), f"x-{slot}")
            triple = triple._replace(value=f"x-{slot}")
        shown.append(triple)
    names.pop("", None)
    return _replaced(words(text), names), shown


def _replaced(tokens: list[str], names: Mapping[str, str]) -> list[str]:
    """The words with each run that spells a name, spaces aside, replaced by its placeholder."""
    longest = max(map(len, names), default=0)
    replaced: list[str] = []
    place = 0
    while place < len(tokens):
        end, name = _longest_run(tokens, place, names, longest)
        replaced.append(name or tokens[place])
        place = end if name else place + 1
    return replaced


def _longest_run(
    tokens: list[str], place: int, names: Mapping[str, str], longest: int
) -> tuple[int, str]:
    """The end of the longest name that starts here, and its placeholder; or "" for none."""
    best = place
    name = ""
    spelled = ""
    if not tokens[place][0].isalnum():
        return best, name
    for end in range(place, len(tokens)):
        letters = "".join(_LETTERS.findall(tokens[end]))
        spelled += letters
        if len(spelled) > longest:
            break
        if letters and spelled in names:  # a mark after the name is not part of it
            best = end + 1
            name = names[spelled]
    return best, name
