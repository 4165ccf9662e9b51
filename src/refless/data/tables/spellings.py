"""Names of columns as people write them: cases, blanks, numbers behind them, places in lists."""

import re
from collections.abc import Collection

from refless.data.tables.roles import ROLES
from refless.registry.arrays import Names

WHO = {*ROLES["annotator"].names, *ROLES["annotator"].hints}
_OF_ONE = re.compile(r"(.+?)(?:[._ -]?\d+|[._ -][a-zA-Z]|(?<=[a-z])[A-Z])")
_PLACED = re.compile(r"(?:(.*)\.)?([^.\d][^.]*?)[._ -]?(\d*)")
_PLACE = re.compile(r"(?<=\.)\d+(?=\.)")  # in a list
_SCALE = re.compile(r" ?[(\[]\d+ ?(?:-|\u2013|to|=|:).*\d.*[)\]]$")
_NUMBERED = re.compile(r"(.+?)[._ -]?\d+")


def folded(name: str) -> str:
    """A column's name as aliases are written: `Human Rating (1-5)` is `human_rating`."""
    name = _SCALE.sub("", name) if name[-1:] in {")", "]"} else name
    return "_".join(name.casefold().replace("-", " ").split())


def stem(name: str) -> str:
    """A name as aliases are written, without a number behind it."""
    with_number = _NUMBERED.fullmatch(name)
    return folded(with_number[1] if with_number else name)


def numbered(names: Names, stems: Collection[str]) -> list[str]:
    """The names with a number behind one of these stems: `rating.1`, `Rating 2`."""
    return [name for name in names if _NUMBERED.fullmatch(name) and stem(name) in stems]


def at_any_place(name: str) -> str:
    """A dotted name with `*` for its places in lists."""
    return _PLACE.sub("*", name)


def says_who(name: str) -> bool:
    """Whether a column, or what an object holds, is called as people who rate are."""
    placed = _PLACED.fullmatch(name)
    word = folded(placed[2]) if placed else ""
    return word.removesuffix("_id").removesuffix("_name") in WHO


def of_one_rater(name: str) -> bool:
    """Whether a column is called as people who rate are, with a number or letter behind it."""
    of_one = _OF_ONE.fullmatch(name)
    return of_one is not None and says_who(of_one[1])


def raters_beside(ratings: Names, header: Names) -> dict[str, str]:
    """The column that says who gave each column of ratings; none if one has none.

    It lies in the same object (`a.0.rater` of `a.0.rating`), or its name ends in the same number.
    """
    people = [name for name in header if name not in ratings and says_who(name)]
    places = {(m[1], m[3]): m[0] for m in map(_PLACED.fullmatch, people) if m}
    placed = [match for match in map(_PLACED.fullmatch, ratings) if match]
    raters = {match[0]: places.get((match[1], match[3])) for match in placed}
    paired = {rating: who for rating, who in raters.items() if who is not None}
    return paired if len(paired) == len(ratings) == len({*paired.values()}) else {}
