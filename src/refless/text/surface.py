"""Numbers about the surface of a text: its shape, words, marks, and what it takes of its source.

Nothing here asks what a text means. Much of what raters punish shows here all the same:
repetition, a lost full stop, a length out of place, a name or number that the source lacks.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

import numpy as np

from refless.loops import Loops
from refless.registry.arrays import FloatArray, IntArray
from refless.text.terms import Words, joined, kinds_of
from refless.text.words import class_of, words

loops = Loops("terms")

SHAPE = ("characters", "words", "word length", "sentences")
LEXIS = ("type-token ratio", "repeated pairs", "repeated fours", "commonest word")
MARKS = (
    "punctuation", "capitals", "digits", "capital first", "full stop last", "questions", "commas",
)  # fmt: skip
RELATION = (
    "words taken", "pairs taken", "fours taken", "words of the last turn", "words missing",
    "names missing", "numbers missing", "names added", "numbers added", "length ratio",
    "source length", "threes taken", "threes missing", "fives taken", "letters alike",
    "words alike", "words changed",
)  # fmt: skip
READ = 20_000  # words, or letters, of a text that are looked at for what is repeated or copied
_NAME = re.compile(r"(?<![.!?|] )(?<![\n|])(?<!^)\b[A-Z]\w+")
_NUMBER = re.compile(r"\d+")
_TURN = re.compile(r"\n|\|\|\|")


def surface(texts: Sequence[str]) -> FloatArray:
    """[texts, 15] numbers: those of `SHAPE`, `LEXIS` and `MARKS`."""
    points, starts = joined(texts)
    marks = loops.marks_loop(points, starts, kinds_of(points))
    capitals, digits, questions, commas, sentences, first, last = marks.T
    tokens = Words.of(texts)
    words = tokens.plain()
    counted = words.runs(1, len(words.keys))
    size = np.diff(starts)
    n = np.diff(words.begins)
    n_tokens = np.diff(tokens.begins)
    different = np.diff(counted.starts)
    letters = np.diff(np.append(0, np.cumsum(words.sizes))[words.begins])
    most = np.maximum.reduceat(np.append(counted.counts, 0), counted.starts[:-1])
    shape = (
        size,
        n,
        _shares(letters, n),
        sentences,
    )
    lexis = (
        _shares(different, n),
        _repeated(words, 2),
        _repeated(words, 4),
        np.where(n > 0, most, 0),
    )
    share = (
        _shares(n_tokens - n, n_tokens),
        _shares(capitals, size),
        _shares(digits, size),
    )
    marks = (
        first,
        last,
        questions,
        commas,
    )
    return np.stack([*shape, *lexis, *share, *marks], axis=1)


def _repeated(words: Words, length: int) -> FloatArray:
    """[texts] share of a text's runs of so many words that stood in it before."""
    counted = words.runs(length, READ)
    total = np.diff(words.begins).clip(max=READ) - length + 1
    return _shares(total - np.diff(counted.starts), total)


def _shares(parts: FloatArray | IntArray, totals: IntArray) -> FloatArray:
    """[texts] parts of totals; 0 where there is nothing."""
    shares = np.zeros(len(totals))
    return np.divide(parts, totals, out=shares, where=totals > 0)


def relation(texts: Sequence[str], sources: Sequence[str]) -> FloatArray:
    """[texts, 17] numbers: those of `RELATION`."""
    numbers = np.zeros((len(texts), len(RELATION)))
    answers: dict[str, list[int]] = {}
    for i, source in enumerate(sources):
        answers.setdefault(source, []).append(i)
    for source, rows in answers.items():  # one source in memory at a time
        reference = _Source(source)
        for i in rows:
            numbers[i] = reference.numbers_of(texts[i])
    return numbers


def last_turn(source: str) -> str:
    """The last line of a source, or what follows its last `|||`."""
    return _TURN.split(source.strip())[-1]


class _Source:
    """A source for comparison with texts: words, runs of words and letters, names, numbers."""

    def __init__(self, source: str) -> None:
        self.text = source
        self.words = [*_plain(source)]
        self.letters = {n: _letters(source, n) for n in (3, 5)}
        self.grams = {n: {*_runs(self.words, n)} for n in (1, 2, 4)}
        self.turn = {*_plain(last_turn(source))}
        self.names = _names(source)
        self.numbers = {*_NUMBER.findall(source)}
        self.vocabulary = {*self.words}
        self.size = len(source)

    def numbers_of(self, text: str) -> tuple[float, ...]:
        words = [*_plain(text)]
        vocabulary = {*words}
        numbers = {*_NUMBER.findall(text)}
        overlaps = [_overlap(words, n, self.grams[n]) for n in self.grams]
        in_turn = sum(word in self.turn for word in words)
        lacking = (
            _missing_share(self.vocabulary, vocabulary),
            _missing_share(self.names, vocabulary),
            _missing_share(self.numbers, numbers),
        )
        new_names = len(_names(text) - self.vocabulary)
        new_numbers = len(numbers - self.numbers)
        growth = np.log1p(len(words)) - np.log1p(len(self.words))
        edits = _edits(words[:READ], self.words[:READ])
        return (
            *overlaps,
            _share(in_turn, len(words)),
            *lacking,
            new_names,
            new_numbers,
            growth,
            self.size,
            *self._spelt(text),
            *edits,
        )

    def _spelt(self, text: str) -> tuple[float, ...]:
        """The shares of letters that survive a change of spelling, case or marks."""
        threes, fives = (_letters(text, n) for n in self.letters)
        both = _both(threes, self.letters[3])
        size = self.letters[3].total()
        both_fives = _both(fives, self.letters[5])
        unedited, _ = _edits(text[:READ], self.text[:READ])
        return (
            _share(both, threes.total()),
            _share(size - both, size),
            _share(both_fives, fives.total()),
            unedited,
        )


def _letters(text: str, n: int) -> Counter[str]:
    """Runs of n letters, marks and single blanks."""
    text = " ".join(text.lower().split())
    starts = range(len(text) - n + 1)
    return Counter([text[i : i + n] for i in starts])


def _both(first: Counter[str], second: Counter[str]) -> int:
    """The number of runs that two texts share; faster than `(first & second).total()`."""
    return sum(
        [min(count, second[run]) for run, count in first.items() if run in second]
    )


def _edits(text: Sequence[str], source: Sequence[str]) -> tuple[float, int]:
    """Share of two sequences that stays if one is edited into the other, and what is edited."""
    from rapidfuzz.distance import Indel

    edited = Indel.distance(text, source)
    size = len(text) + len(source)
    return _share(size - edited, size), edited


def _plain(text: str) -> Iterator[str]:
    return (word for word in words(text) if word[0].isalnum())


def _names(text: str) -> set[str]:
    """Words with a capital that begin neither a sentence nor a turn, in lower case."""
    pattern = _NAME if text.isascii() else _name()
    return set().union(*map(_plain, pattern.findall(text)))


@cache
def _name() -> re.Pattern[str]:
    """`_NAME` with the capitals of all scripts."""
    return re.compile(_NAME.pattern.replace("A-Z", class_of("Lu", "Lt")))


def _runs(tokens: Sequence[str], n: int) -> Iterable[tuple[str, ...]]:
    """Each run of n words."""
    return zip(*(tokens[i:READ] for i in range(n)), strict=False)


def _overlap(tokens: Sequence[str], n: int, source: set[tuple[str, ...]]) -> float:
    """Share of a text's runs of n words that its source has too."""
    shared = sum(run in source for run in _runs(tokens, n))
    return _share(shared, len(tokens[:READ]) - n + 1)


def _missing_share(source: set[str], text: set[str]) -> float:
    """Share of a source's words, names or numbers that a text lacks."""
    return _share(len(source - text), len(source))


def _share(part: float, total: float) -> float:
    return part / total if total > 0 else 0.0
