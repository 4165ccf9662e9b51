"""Texts to tokens: characters, words, and sacrebleu's tokenizers."""

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from refless.registry.errors import UsageError
from refless.registry.spec import About
from refless.text.words import pieces

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


@dataclass(frozen=True, slots=True, eq=False)
class TokenIds:
    """Texts as token ids, one after the other."""

    ids: IdArray  # [total tokens] ids, -1 for a token that the vocabulary lacks
    # [texts + 1] text i is `ids[starts[i]:starts[i + 1]]`
    starts: npt.NDArray[np.int64]

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """[texts] number of tokens."""
        return np.diff(self.starts)


def distinct(texts: Iterable[str]) -> tuple[list[str], npt.NDArray[np.int64]]:
    """Each text once, and which of these every text is."""
    place: dict[str, int] = {}
    rows = np.array(
        [place.setdefault(text, len(place)) for text in texts], dtype=np.int64
    )
    return list(place), rows


def code_points(text: str) -> npt.NDArray[np.uint32]:
    """The text's code points; lone surrogates pass."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def token_counts(texts: Sequence[str], tokenize: str) -> npt.NDArray[np.int64]:
    """[texts] number of tokens."""
    if tokenize == "char":
        return np.fromiter(map(len, texts), dtype=np.int64)
    split = tokenizer(tokenize)
    return np.array([len(split(text)) for text in texts], dtype=np.int64)


def learn_tokens(
    texts: Sequence[str], tokenize: str
) -> tuple[tuple[str, ...], TokenIds]:
    """All tokens of the texts, sorted (whatever the order of the texts), and the texts in them."""
    if tokenize == "char":
        tokens = tuple(sorted(set().union(*texts)))
        return tokens, _encode_characters(texts, tokens)
    place: defaultdict[str, int] = defaultdict()
    place.default_factory = place.__len__
    numbered = _numbered(texts, tokenize, place.__getitem__)
    tokens = tuple(sorted(place))
    rank = np.empty(len(tokens), dtype=np.int32)
    rank[[place[token] for token in tokens]] = np.arange(len(tokens), dtype=np.int32)
    return tokens, TokenIds(rank[numbered.ids], numbered.starts)


def encode(texts: Sequence[str], tokenize: str, tokens: tuple[str, ...]) -> TokenIds:
    """The texts as places in the sorted tuple `tokens`; -1 for tokens that it lacks."""
    if tokenize == "char":
        return _encode_characters(texts, tokens)
    place = {token: i for i, token in enumerate(tokens)}
    return _numbered(texts, tokenize, lambda token: place.get(token, -1))


def _numbered(
    texts: Sequence[str], tokenize: str, number: Callable[[str], int]
) -> TokenIds:
    """The number of each token; of words, few are there at once."""
    split = tokenizer(tokenize)
    ids = array("i")
    starts = [0]
    for text in texts:
        for part in pieces(text) if tokenize == "words" else (text,):
            ids.extend(map(number, split(part)))
        starts.append(len(ids))
    return TokenIds(np.array(ids, dtype=np.int32), np.array(starts, dtype=np.int64))


def _encode_characters(texts: Sequence[str], tokens: tuple[str, ...]) -> TokenIds:
    """One table look-up a code point."""
    points = np.array([ord(token) for token in tokens], dtype=np.int64)
    table = np.full(int(points.max(initial=0)) + 2, -1, dtype=np.int32)
    table[points] = np.arange(len(points), dtype=np.int32)
    ids = table[np.minimum(code_points("".join(texts)), len(table) - 1)]
    return TokenIds(ids, np.cumsum([0, *map(len, texts)], dtype=np.int64))
