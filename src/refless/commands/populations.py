"""Sentences on what an interval is about, for how many looks, and after which choice."""

from typing import Literal

from refless.registry.dialect import called
from refless.registry.plural import counted

Looks = Literal["one", "any", "planned"]
BY_PEOPLE = "as these people rate them"


def question(unit: str, *, these: bool, looks: Looks, how: str = BY_PEOPLE) -> str:
    """The question an interval answers, and for how many looks; how: see `about`."""
    return f"The answer is about {about(unit, these=these, how=how)}, and holds {holding(looks)}."


def holding(looks: Looks) -> str:
    """The looks at which an answer holds."""
    holds = {
        "one": f"for one look ({called('looks', 'any')}: for any number)",
        "any": "however often you look while ratings arrive",
        "planned": "at all planned looks together",
    }
    return holds[looks]


def wider(looks: Looks, count: int = 0) -> str:
    """A sentence on why an interval is wider than that of one look; "" of one look."""
    if looks == "one":
        return ""
    often = "however often you look" if looks == "any" else f"at all {count} looks"
    return f"Its interval is wider than that of one look, as it holds {often}."


def about(unit: str, *, these: bool, how: str = BY_PEOPLE) -> str:
    """The population of an interval, and how numbers of these units came about."""
    if these:
        return f"these {unit}s alone, {how}"
    return f"{unit}s like these ({called('these_items')}: about these alone)"


def allowed(count: int, noun: str) -> tuple[str, ...]:
    """The choice that the interval in the first sentence allows for, if there was one."""
    if count < 2:
        return ()
    choice = f"the best of {counted(count, noun)}"
    return (
        f"The interval above allows for the choice of {choice}; those below are of each alone.",
    )
