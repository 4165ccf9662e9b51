"""Plain texts of any number and length that repeat n-grams about as English does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from refless.registry.arrays import FloatArray


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_COMMON = _words(
    "the of and to a in is it you that he was for on are with as his they be at one have this from "
    "or had by but some what there we can out other were all your when up use how said an each she "
    "which do their time if will way about many then them would write like so these her long make "
    "thing see him two has look more day could go come did my no most who over know than call "
    "first people may down side been now find any new work part take get place made live where "
    "after back little only round man year came show every good me give our under name very "
    "through just form much great think say help low line before turn cause same mean differ move "
    "right boy old too does tell sentence set three want air well also play small end put home "
    "read hand port large spell add even land here must big high such follow act why ask men "
    "build self earth father head stand own page should country found answer school grow study "
    "still learn plant cover food sun four thought let keep eye never last door between city tree "
    "cross since hard start might story saw far sea draw left late run while press close night "
    "real life few stop open seem together next white children begin got walk example ease paper "
    "often always music those both mark book letter until mile river car feet care second group "
    "number class wind question happen complete ship area half rock order fire south problem",
)
_STARTS = _words(
    "s t c p b m d r f l w h g n st tr pr ch sh gr br fl cl pl th sp str qu cr dr"
)
_VOWELS = _words("e a i o u ea ou ai ee io oo ie")
_ENDS = _words("n r l t s nt ll st m nd ck d ss rt p ng sh rd v c")
_SUFFIXES = ("", *_words("s ed ing er ly tion al able ment ness ive"))
VOCABULARY = 6000


def simulated_texts(n: int, *, seed: int = 0, length: int = 50) -> tuple[str, ...]:
    """Plain texts of about `length` characters, for benchmarks and tests of size.

    Words follow Zipf's law over 6,000 of them, common English ones first, then made-up ones, so
    that n-grams repeat about as they do in English.

    Raises:
        ValueError: an argument out of range.
    """
    if not (n >= 0 and seed >= 0 and length >= 1):
        raise ValueError(f"no {n} texts of length {length} with seed {seed}")
    rng = np.random.default_rng(seed)
    words, up_to = _vocabulary()
    goals = (length * (0.6 + 0.8 * rng.random(n))).tolist()
    texts: list[str] = []
    stream: Iterator[int] = iter(())
    for goal in goals:
        text: list[str] = []
        size = 0
        while size < goal - 2 or not text:
            word = next(stream, None)
            if word is None:
                stream = iter(
                    np.searchsorted(up_to, rng.random(65_536), side="right").tolist()
                )
                continue
            text.append(words[word])
            size += len(words[word]) + 1
        texts.append(" ".join(text))
    return tuple(texts)


@cache
def _vocabulary() -> tuple[list[str], FloatArray]:
    """Distinct words, most frequent first, and the cumulative share of each."""
    rng = np.random.default_rng(0)
    words = dict.fromkeys(_COMMON)
    while len(words) < VOCABULARY:
        syllables = 1 + int(rng.random() * 2.5)
        parts = [
            _skewed(_STARTS, rng) + _skewed(_VOWELS, rng) for _ in range(syllables)
        ]
        words["".join(parts) + _skewed(_ENDS, rng) + _skewed(_SUFFIXES, rng)] = None
    # Mandelbrot's shift of Zipf's law
    shares = np.cumsum(1.0 / (np.arange(VOCABULARY) + 2.7))
    return list(words), shares / shares[-1]


def _skewed(options: Sequence[str], rng: np.random.Generator) -> str:
    """One of the options, early ones more often."""
    return options[int(rng.random() ** 2 * len(options))]
