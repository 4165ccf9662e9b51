"""Self-made rated pools with simulated annotators, whose true quality is known.

The texts come from a small grammar of our own: replies of a restaurant guide and of a hotel desk,
and headlines of invented news. Three systems answer each request, with care or without. Only
uniform numbers are drawn, so that a seed gives the same pool on every machine and numpy.
"""

import string
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from refless.data.human import human_ratings
from refless.data.records import RatedPool, Ratings
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.errors import UsageError

T = TypeVar("T")

# name: errors a sentence, at most
SYSTEMS = {
    "broken": 4.5,
    "careful": 1.2,
    "hasty": 2.6,
}
# name: share of replies of little use
BLUNT = {
    "broken": 0.4,
    "careful": 0.1,
    "hasty": 0.5,
}
BLUNT_COST = 0.35
SCALE = (1.0, 5.0)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Simulated:
    """A simulated pool and what real pools never have: the quality behind the ratings.

    Attributes:
        pool: the rated pool, in all respects like one read from a file.
        quality: [n] the true quality of each text, in [0, 1].
    """

    pool: RatedPool
    quality: FloatArray


class _Topic(NamedTuple):
    """A kind of request and the ways to answer it; `{slots}` are filled with words."""

    request: str
    useful: Sequence[str]
    blunt: Sequence[str]
    words: dict[str, Sequence[str]]


class _Request(NamedTuple):
    """The words that a request settles for every answer, and how it reads."""

    topic: _Topic
    words: dict[str, str]
    source: str


@lru_cache
def _grammar() -> tuple[tuple[_Topic, ...], tuple[str, ...]]:
    """The topics, and words that are out of place anywhere, from `simulated.toml`."""
    text = Path(__file__).with_name("simulated.toml").read_text(encoding="utf-8")
    grammar = tomllib.loads(text)
    first = grammar["names"]["first"]
    last = grammar["names"]["last"]
    shared = grammar["words"] | {"name": [f"the {a} {b}" for a in first for b in last]}
    topics = (
        _Topic(**topic | {"words": shared | topic["words"]})
        for topic in grammar["topics"]
    )
    return tuple(topics), tuple(grammar["odd"])


def simulate(
    n: int,
    *,
    seed: int = 0,
    annotators: int = 5,
    raters_per_text: int = 3,
) -> Simulated:
    """A pool of n texts rated by simulated annotators, the same for the same arguments.

    The quality of a text is a property of its words: what it says to the request, less what its
    errors (dropped, repeated, garbled, misplaced and shuffled words) cost. An annotator sees it
    with a bias and noise of their own, and answers in whole numbers from 1 to 5.

    Args:
        n: number of texts; each request is answered by up to three systems.
        seed: any number from 0; 0 is a seed.
        annotators: number of annotators.
        raters_per_text: how many of them rate each text.

    Raises:
        UsageError: an argument out of range.
    """
    if n < 0 or seed < 0:
        raise UsageError(f"n and seed must be 0 or more, got {n} and {seed}")
    if not 1 <= raters_per_text <= annotators:
        raise UsageError(
            f"each text needs 1 to {annotators} raters, got {raters_per_text}"
        )
    rng = np.random.default_rng(seed)
    item = np.arange(n) // len(SYSTEMS)
    systems = tuple(tuple(SYSTEMS)[i % len(SYSTEMS)] for i in range(n))
    distinct = _requests(-(-n // len(SYSTEMS)), rng)
    requests = [distinct[i] for i in item]
    answers = [_answer(*pair, rng) for pair in zip(requests, systems, strict=True)]
    quality = np.array([worth for _, worth in answers], dtype=np.float64)
    ratings = _rate(quality, annotators, raters_per_text, rng)
    pool = RatedPool(
        ids=tuple(f"t{i:05d}" for i in range(1, n + 1)),
        texts=tuple(text for text, _ in answers),
        human=human_ratings(ratings, n, scale=SCALE),
        ratings=ratings,
        sources=tuple(request.source for request in requests),
        systems=systems,
        items=tuple(f"item{i + 1:05d}" for i in item),
        scale=SCALE,
        named=True,
    )
    return Simulated(pool=pool, quality=quality)


def _pick(options: Sequence[T], rng: np.random.Generator) -> T:
    return options[int(rng.random() * len(options))]


def _slots(template: str) -> list[str]:
    return [name for _, name, _, _ in string.Formatter().parse(template) if name]


def _requests(count: int, rng: np.random.Generator) -> list[_Request]:
    """Requests on each topic in turn, all different until words run out (over 30,000)."""
    sources: set[str] = set()
    drawn: list[_Request] = []
    topics, _ = _grammar()
    for number in range(count):
        topic = topics[number % len(topics)]
        for _ in range(50):
            words = {
                slot: _pick(topic.words[slot], rng) for slot in _slots(topic.request)
            }
            request = _Request(
                topic=topic, words=words, source=topic.request.format(**words)
            )
            if request.source not in sources:
                break
        sources.add(request.source)
        drawn.append(request)
    return drawn


def _answer(
    request: _Request, system: str, rng: np.random.Generator
) -> tuple[str, float]:
    """One system's answer and its true quality."""
    care = rng.random()  # how well this system happens to do this time
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
    at = max(
        (int(rng.random() * len(words)) for _ in range(3)), key=lambda i: len(words[i])
    )
    garbled = "".join(letter for letter in words[at] if letter not in "aeiou") or "x"
    return " ".join([*words[:at], garbled, *words[at + 1 :]])


def _misplace(words: list[str], rng: np.random.Generator) -> str:
    at = int(rng.random() * len(words))
    return " ".join([*words[:at], _pick(_grammar()[1], rng), *words[at + 1 :]])


def _shuffle(words: list[str], rng: np.random.Generator) -> str:
    return " ".join(words[i] for i in np.argsort(rng.random(len(words)), kind="stable"))


# name: what it costs of the quality, and how it is made
ERRORS: dict[str, tuple[float, Callable[[list[str], np.random.Generator], str]]] = {
    "drop": (0.1, _drop),
    "repeat": (0.25, _repeat),
    "garble": (0.25, _garble),
    "misplace": (0.3, _misplace),
    "shuffle": (0.45, _shuffle),
}


def _rate(
    quality: FloatArray, annotators: int, raters: int, rng: np.random.Generator
) -> Ratings:
    """Ratings of each text by different annotators, each with a bias and noise of their own."""
    n = len(quality)
    bias = (rng.random(annotators) - 0.5) * 0.2
    spread = 0.06 + rng.random(annotators) * 0.14
    who: IntArray = np.argsort(rng.random((n, annotators)), axis=1, kind="stable")[
        :, :raters
    ]
    who = np.sort(who, axis=1)
    # the sum of three uniform numbers, centred, is near enough to a normal one of variance 1/4
    noise = rng.random((3, n, raters))
    felt = (
        quality[:, None]
        + bias[who]
        + 2 * spread[who] * (noise[0] + noise[1] + noise[2] - 1.5)
    )
    steps = np.rint(np.clip(felt, 0, 1) * (SCALE[1] - SCALE[0]))
    return Ratings(
        text=np.repeat(np.arange(n), raters),
        annotator=who.ravel(),
        values=(SCALE[0] + steps).ravel(),
        annotators=tuple(
            f"a{i:0{len(str(annotators))}d}" for i in range(1, annotators + 1)
        ),
    )
