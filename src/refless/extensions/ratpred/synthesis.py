"""Synthetic training data: texts with errors made on purpose and lower ratings (section 3.3)."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from refless.data.records import Scale
from refless.extensions.ratpred.reading import SourceAndText, Tokens
from refless.registry.arrays import FloatArray

ERRORS = 4  # versions of each text, with 1 to so many errors
STEPS = 5.0  # an error costs a fifth of the scale: one point of 1..6
# with punctuation: changed only where nothing else is left
SPARED = frozenset({"a", "an", "the"})
Error = Callable[[list[str], int, "_Words", np.random.Generator], list[str]]


def lowered(rating: float, errors: int, scale: Scale = (1.0, 6.0)) -> float:
    """A rating after some errors: 6 and 5.5 become 4, 3, 2, 1; 5 becomes 4, 3, 2, 1.

    The scale is the paper's; on others an error costs as large a part.
    """
    low, high = scale
    step = (high - low) / STEPS
    if errors == 0:
        return rating
    top = rating >= high - step / 2
    first = high - 2 * step if top else rating - step
    return max(low, first - step * (errors - 1))


@dataclass(frozen=True, slots=True, eq=False)
class _Words:
    """The words that are added, sorted, with the chances of each summed up."""

    words: Tokens
    sums: FloatArray

    def draw(self, rng: np.random.Generator) -> str:
        return self.words[
            int(np.searchsorted(self.sums, rng.random() * self.sums[-1], "right"))
        ]


def _remove(
    tokens: list[str], at: int, _: _Words, __: np.random.Generator
) -> list[str]:
    return tokens[:at] + tokens[at + 1 :]


def _double(
    tokens: list[str], at: int, _: _Words, __: np.random.Generator
) -> list[str]:
    return [*tokens[: at + 1], *tokens[at:]]


def _copy(tokens: list[str], at: int, _: _Words, rng: np.random.Generator) -> list[str]:
    to = int(rng.integers(len(tokens) + 1))
    return [*tokens[:to], tokens[at], *tokens[to:]]


def _add(
    tokens: list[str], at: int, words: _Words, rng: np.random.Generator
) -> list[str]:
    return [*tokens[:at], words.draw(rng), *tokens[at:]]


def _replace(
    tokens: list[str], at: int, words: _Words, rng: np.random.Generator
) -> list[str]:
    word = words.draw(rng)
    while word == tokens[at] and len(words.words) > 1:
        word = words.draw(rng)
    return [*tokens[:at], word, *tokens[at + 1 :]]


KINDS: dict[str, Error] = {
    "remove": _remove,
    "double": _double,
    "copy": _copy,
    "add": _add,
    "replace": _replace,
}


def with_errors(
    tokens: Tokens, errors: int, words: _Words, rng: np.random.Generator
) -> tuple[str, ...]:
    """The text after so many errors, one upon the other; its last word is never removed."""
    changed = list(tokens)
    kinds = list(KINDS)
    for _ in range(errors):
        at = _place(changed, rng)
        last = sum(token[0].isalnum() for token in changed) < 2
        kind = kinds[int(rng.integers(len(kinds) - last)) + last]
        changed = KINDS[kind](changed, at, words, rng)
    return tuple(changed)


def _place(tokens: list[str], rng: np.random.Generator) -> int:
    """The place of an error: a content word if there is one."""
    content = [
        i
        for i, token in enumerate(tokens)
        if token[0].isalnum() and token not in SPARED
    ]
    places = content or range(len(tokens))
    return int(places[int(rng.integers(len(places)))])


def dictionary_of(texts: Sequence[Tokens]) -> _Words:
    """Words to add, by how often they occur in texts; no punctuation, no articles."""
    counts = Counter(chain.from_iterable(texts))
    words = sorted(word for word in counts if word[0].isalnum() and word not in SPARED)
    words = words or sorted(counts)
    sums = np.cumsum([counts[word] for word in words], dtype=np.float64)
    return _Words(tuple(words), sums)


def synthetic(
    pairs: Sequence[SourceAndText],
    ratings: Sequence[float],
    words: _Words,
    scale: Scale,
    seed: int,
) -> tuple[list[SourceAndText], list[float]]:
    """Versions of each pair with 1 to 4 errors, and their ratings; not the pairs themselves.

    What happens to a pair depends on the seed and its place alone.
    """
    worse = []
    rated = []
    for place, (pair, rating) in enumerate(zip(pairs, ratings, strict=True)):
        if not pair.text:
            continue
        rng = np.random.default_rng([seed, place])
        for count in range(1, ERRORS + 1):
            worse.append(
                SourceAndText(pair.source, with_errors(pair.text, count, words, rng))
            )
            rated.append(lowered(rating, count, scale))
    return worse, rated
