"""Self-made rated pools with simulated annotators, whose true quality is known.

The texts come from a small grammar of our own: replies of a restaurant guide and of a hotel desk,
and headlines of invented news. Three systems answer each request, with care or without. Only
uniform numbers are drawn, so that a seed gives the same pool on every machine and numpy.
"""

import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from refless.data.human import check_scale, human_ratings
from refless.data.records import RatedPool, Ratings, Scale
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.errors import UsageError

T = TypeVar("T")

SYSTEMS = {"broken": 4.5, "careful": 1.2, "hasty": 2.6}  # name: errors a sentence, at most
BLUNT = {"broken": 0.4, "careful": 0.1, "hasty": 0.5}  # name: share of replies of little use
BLUNT_COST = 0.35
LONG = (620, 820)  # a long text ends with the sentence that reaches a length drawn from here


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Simulated:
    """A simulated pool and what real pools never have: the quality behind the ratings.

    Attributes:
        pool: the rated pool, in all respects like one read from a file.
        quality: [n] the true quality of each text, in [0, 1].
    """

    pool: RatedPool
    quality: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class _Topic:
    """A kind of request and the ways to answer it; `{slots}` are filled with words."""

    request: str
    useful: tuple[str, ...]
    blunt: tuple[str, ...]
    words: dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """One request: the words that it settles for every answer, and how it reads."""

    topic: _Topic
    words: dict[str, str]
    source: str


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split("/"))


_HOURS = _words("six / half past six / seven / half past seven / eight / half past eight / nine")
_PEOPLE = _words("two / three / four / five / six / seven / eight / nine / ten / twelve")
_AREAS = _words(
    "by the river / near the station / in the old town / on the main square / at the harbour /"
    "next to the theatre / behind the market / in the north / in the city centre / on the hill /"
    "beside the park / near the museum / close to the bridge / in the south"
)
_NAMES = tuple(
    f"the {first} {last}"
    for first in _words("Copper / Golden / Quiet / Little / Silver / Crooked / Blue / Old Stone")
    for last in _words("Kettle / Lantern / Otter / Garden / Anchor / Windmill / Pear / Swan")
)

TOPICS = (
    _Topic(
        request="Where can {people} of us eat {food} food {area} at {hour}?",
        useful=(
            "{name} serves {taste} {food} food {area}.",
            "You could try {name} for {food} dishes {area}.",
            "{name} has a table for {people} at {hour}.",
            "I can book {name} for {people} at {hour}.",
            "For {food} food {area}, {name} is a good choice.",
            "{name} cooks {taste} {food} meals and opens before {hour}.",
        ),
        blunt=(
            "Not sure, maybe {name} has {food} food.",
            "There is food {area}, look around.",
            "{name} exists. It is a place.",
            "Just go somewhere at {hour}, whatever.",
        ),
        words={
            "people": _PEOPLE,
            "food": _words(
                "Thai / Italian / Indian / French / Greek / Turkish / Korean / Mexican / Spanish /"
                "Polish / Persian / Japanese / vegan / Lebanese / Swiss / Ethiopian"
            ),
            "area": _AREAS,
            "hour": _HOURS,
            "name": _NAMES,
            "taste": _words("fresh / tasty / simple / excellent / cheap / hearty / mild / spicy"),
        },
    ),
    _Topic(
        request="I need a {room} room {area} for {nights}, with {extra}.",
        useful=(
            "{name} offers a {room} room with {extra}.",
            "A {room} room {area} is free for {nights}.",
            "{name} is a {style} hotel {area} with {extra}.",
            "I have reserved a {room} room for {nights} at {name}.",
            "You can stay {nights} at {name}, {extra} included.",
            "{name} has {style} rooms {area}.",
        ),
        blunt=(
            "Rooms are rooms, try {name} or so.",
            "I guess there is a hotel {area}.",
            "No idea about {extra}, ask someone.",
            "Maybe {nights}, maybe not, who knows.",
        ),
        words={
            "room": _words("single / double / quiet / large / family / corner / bright / small"),
            "area": _AREAS,
            "nights": _words(
                "one night / two nights / three nights / four nights / five nights / a week /"
                "the weekend / ten nights / a fortnight"
            ),
            "extra": _words(
                "breakfast / free parking / a balcony / a view of the sea / a large bath /"
                "a kitchen / internet access / a garden / late checkout / room for a dog / a desk"
            ),
            "name": _NAMES,
            "style": _words("charming / modern / friendly / clean / historic / calm / handsome"),
        },
    ),
    _Topic(
        request="Headline wanted: {event} {what}, {town}, {day}.",
        useful=(
            "{event} {what} in {town}",
            "{event} {what} near {town} on {day}",
            "{town}: {event} {what} after {cause}",
            "{cause} blamed as {event} {what} in {town}",
            "{town} waits for answers after {event} {what}",
        ),
        blunt=(
            "Something happened in {town} on {day}",
            "You will not believe {town} now",
            "News, news and more news about {town}",
            "{day} was a day in {town}",
        ),
        words={
            "event": _words(
                "storm / strike / flood / council / court / school / factory / bakery / choir /"
                "ferry / library / airport / mayor / museum / railway / hospital"
            ),
            "what": _words(
                "halts traffic / wins award / closes early / opens doors / asks for help /"
                "faces delay / draws crowds / loses appeal / plans new bridge / cuts prices /"
                "surprises visitors / saves old mill"
            ),
            "town": _words(
                "Elmsworth / Port Carrow / Hadley Cross / Winmouth / Great Torby / Lindale /"
                "Ashby Green / Northmere / Saltbridge / Kirkholm / Ferrybank / Oldcastle"
            ),
            "day": _words(
                "Monday / Tuesday / Wednesday / Thursday / Friday / Saturday / Sunday /"
                "New Year / Easter / market day / election day"
            ),
            "cause": _words("heavy rain / long debate / power cut / record heat / quiet winter"),
        },
    ),
)
ODD = _words("hexagon / invoice / seventeen / purple / subtract / gearbox / null / undefined")


def simulate(
    n: int,
    *,
    seed: int = 0,
    annotators: int = 5,
    raters_per_text: int = 3,
    long: bool = False,
    scale: Scale = (1, 5),
) -> Simulated:
    """A pool of n texts rated by simulated annotators, the same for the same arguments.

    The quality of a text is a property of its words: what it says to the request, less what its
    errors (dropped, repeated, garbled, misplaced and shuffled words) cost. An annotator sees it
    with a bias and noise of their own, and answers in whole steps of the scale.

    Args:
        n: number of texts; each request is answered by up to three systems.
        seed: any number from 0; 0 is a seed.
        annotators: number of annotators.
        raters_per_text: how many of them rate each text.
        long: texts of some 600 to 900 characters instead of 15 to 90.
        scale: lowest and highest rating, a whole number of steps apart.

    Raises:
        UsageError: an argument out of range.
    """
    check_scale(scale)
    _check(n >= 0 and seed >= 0, f"n and seed must be 0 or more, got {n} and {seed}")
    _check((scale[1] - scale[0]) % 1 == 0, f"{scale[0]} to {scale[1]} is no whole number of steps")
    _check(
        1 <= raters_per_text <= annotators,
        f"each text needs 1 to {annotators} raters, got {raters_per_text}",
    )
    rng = np.random.default_rng(seed)
    item = np.arange(n) // len(SYSTEMS)
    systems = tuple(tuple(SYSTEMS)[i % len(SYSTEMS)] for i in range(n))
    distinct = _requests(-(-n // len(SYSTEMS)), rng)
    requests = [distinct[i] for i in item]
    answers = [_answer(*pair, long=long, rng=rng) for pair in zip(requests, systems, strict=True)]
    quality = np.array([worth for _, worth in answers], dtype=np.float64)
    ratings = _rate(quality, annotators, raters_per_text, scale, rng)
    pool = RatedPool(
        ids=tuple(f"t{i:05d}" for i in range(1, n + 1)),
        texts=tuple(text for text, _ in answers),
        human=human_ratings(ratings, n, scale=scale),
        ratings=ratings,
        sources=tuple(request.source for request in requests),
        systems=systems,
        items=tuple(f"item{i + 1:05d}" for i in item),
        scale=scale,
        named=True,
    )
    return Simulated(pool=pool, quality=quality)


def _check(sound: bool, otherwise: str) -> None:
    if not sound:
        raise UsageError(otherwise)


def _pick(options: Sequence[T], rng: np.random.Generator) -> T:
    return options[int(rng.random() * len(options))]


def _slots(template: str) -> list[str]:
    return [name for _, name, _, _ in string.Formatter().parse(template) if name]


def _requests(count: int, rng: np.random.Generator) -> list[_Request]:
    """Requests on each topic in turn, all different until words run out (over 30,000)."""
    seen: set[str] = set()
    drawn: list[_Request] = []
    for number in range(count):
        topic = TOPICS[number % len(TOPICS)]
        for _ in range(50):
            words = {slot: _pick(topic.words[slot], rng) for slot in _slots(topic.request)}
            request = _Request(topic=topic, words=words, source=topic.request.format(**words))
            if request.source not in seen:
                break
        seen.add(request.source)
        drawn.append(request)
    return drawn


def _answer(
    request: _Request, system: str, *, long: bool, rng: np.random.Generator
) -> tuple[str, float]:
    """One system's answer and its true quality: the mean over its sentences."""
    care = rng.random()  # how well this system happens to do this time
    length = LONG[0] + rng.random() * (LONG[1] - LONG[0]) if long else 1
    sentences: list[str] = []
    worths: list[float] = []
    while sum(map(len, sentences)) + len(sentences) < length:
        sentence, worth = _sentence(request, system, care, rng)
        sentences.append(sentence)
        worths.append(worth)
    return " ".join(sentences), sum(worths) / len(worths)


def _sentence(
    request: _Request, system: str, care: float, rng: np.random.Generator
) -> tuple[str, float]:
    topic = request.topic
    is_blunt = rng.random() < BLUNT[system]
    template = _pick(topic.blunt if is_blunt else topic.useful, rng)
    free = {slot: _pick(topic.words[slot], rng) for slot in _slots(template)}
    sentence = template.format(**{**free, **request.words})
    sentence = sentence[0].upper() + sentence[1:]
    worth = 1.0 - BLUNT_COST * is_blunt
    for _ in range(int(care * SYSTEMS[system] + rng.random() - 0.2)):
        cost, error = _pick(tuple(ERRORS.values()), rng)
        damaged = error(sentence.split(" "), rng)
        worth -= cost * (damaged != sentence)  # a drawn error may change nothing
        sentence = damaged
    return sentence, max(worth, 0.0)


def _drop(words: list[str], rng: np.random.Generator) -> str:
    at = int(rng.random() * len(words))
    return " ".join(words[:at] + words[at + 1 :]) or words[0]


def _repeat(words: list[str], rng: np.random.Generator) -> str:
    at = int(rng.random() * len(words))
    return " ".join(words[: at + 2] + words[at : at + 2] + words[at:])


def _garble(words: list[str], rng: np.random.Generator) -> str:
    """The longest of three words without its vowels."""
    at = max((int(rng.random() * len(words)) for _ in range(3)), key=lambda i: len(words[i]))
    garbled = "".join(letter for letter in words[at] if letter not in "aeiou") or "x"
    return " ".join([*words[:at], garbled, *words[at + 1 :]])


def _misplace(words: list[str], rng: np.random.Generator) -> str:
    at = int(rng.random() * len(words))
    return " ".join([*words[:at], _pick(ODD, rng), *words[at + 1 :]])


def _shuffle(words: list[str], rng: np.random.Generator) -> str:
    return " ".join(words[i] for i in np.argsort(rng.random(len(words)), kind="stable"))


ERRORS: dict[str, tuple[float, Callable[[list[str], np.random.Generator], str]]] = {
    "drop": (0.1, _drop),
    "repeat": (0.25, _repeat),
    "garble": (0.25, _garble),
    "misplace": (0.3, _misplace),
    "shuffle": (0.45, _shuffle),
}  # name: what it costs of the quality, and how it is made


def _rate(
    quality: FloatArray, annotators: int, raters: int, scale: Scale, rng: np.random.Generator
) -> Ratings:
    """Ratings of each text by different annotators, each with a bias and noise of their own."""
    n = len(quality)
    bias = (rng.random(annotators) - 0.5) * 0.2
    spread = 0.06 + rng.random(annotators) * 0.14
    who: IntArray = np.argsort(rng.random((n, annotators)), axis=1, kind="stable")[:, :raters]
    who = np.sort(who, axis=1)
    # the sum of three uniform numbers, centred, is near enough to a normal one of variance 1/4
    noise = rng.random((3, n, raters))
    felt = quality[:, None] + bias[who] + 2 * spread[who] * (noise[0] + noise[1] + noise[2] - 1.5)
    steps = np.rint(np.clip(felt, 0, 1) * (scale[1] - scale[0]))
    return Ratings(
        text=np.repeat(np.arange(n), raters),
        annotator=who.ravel(),
        values=(scale[0] + steps).ravel(),
        annotators=tuple(f"a{i:0{len(str(annotators))}d}" for i in range(1, annotators + 1)),
    )
