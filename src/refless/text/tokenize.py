"""Texts to tokens: characters, words, and sacrebleu's tokenizers."""

from collections.abc import Callable, Iterable
from functools import cache

import numpy as np
import numpy.typing as npt

from refless.registry.errors import UsageError
from refless.registry.spec import About

Tokenize = Callable[[str], list[str]]
IdArray = npt.NDArray[np.int32]

# as it calls them; some need its extras
SACREBLEU = (
    "13a",
    "intl",
    "zh",
    "ja-mecab",
    "ko-mecab",
)
TOKENIZERS = ("char", "words", *SACREBLEU)
TOKENS = About("how texts are split", choices=TOKENIZERS)


def tokenizer(name: str) -> Tokenize:
    """The function that splits a text into tokens.

    `char` takes every code point (spaces count), `words` splits at white space, the others are
    sacrebleu's tokenizers followed by a split at white space.

    Raises:
        UsageError: an unknown name, or a tokenizer whose own dependency is not installed.
    """
    if name == "char":
        return list
    if name == "words":
        return str.split
    if name not in SACREBLEU:
        raise UsageError(f"no tokenizer '{name}'; there are {', '.join(TOKENIZERS)}")
    spaced = _sacrebleu(name)
    return lambda text: spaced(text).split()


@cache  # a tokenizer remembers lines that it has split
def _sacrebleu(name: str) -> Callable[[str], str]:
    from sacrebleu.metrics.bleu import _get_tokenizer

    try:
        return _get_tokenizer(name)()  # type: ignore[no-any-return]
    except (ImportError, RuntimeError) as missing:
        language = name.removesuffix("-mecab")
        raise UsageError(
            f"tokenizer '{name}' needs more than is installed: pip install 'sacrebleu[{language}]'"
        ) from missing


def distinct(texts: Iterable[str]) -> tuple[list[str], npt.NDArray[np.int64]]:
    """Each text once, and which of these every text is."""
    place: dict[str, int] = {}
    rows = np.array(
        [place.setdefault(text, len(place)) for text in texts], dtype=np.int64
    )
    return list(place), rows
