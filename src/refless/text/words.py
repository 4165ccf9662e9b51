"""Words of texts in any script.

Chinese, Japanese, Thai, Lao, Khmer and Burmese set no blanks between words: there each letter, with
the marks on it, stands for a word. Elsewhere a word is what stands between blanks and punctuation,
with the marks on its letters: accents, vowel signs, dots.
"""

import re
from functools import cache
from itertools import groupby
from unicodedata import category

LAST_MARK = 0x1FFFF  # of the characters that may stand on a letter
_PLAIN = re.compile(r"\w+|[^\w\s]")
UNBROKEN = (  # scripts without blanks, as ranges within the brackets of an expression
    "\u0e01-\u0e4e\u0e81-\u0ecf\u0edc-\u0edf"  # Thai, Lao
    "\u1000-\u103f\u1050-\u108f\u109a-\u109f\uaa60-\uaa7f\u1780-\u17d3\u17dc"  # Burmese, Khmer
    "\u3005-\u3007\u3021-\u3029\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
JOINERS = "\u200c\u200d"  # stand within words of Persian, Hindi, Malayalam
_OTHERS = {".": "。．｡।॥۔።။។։", "?": "？؟፧", "!": "！", ",": "，、､،፣"}  # noqa: RUF001
AS_ASCII = {mark: ours for ours, marks in _OTHERS.items() for mark in marks}


def words(text: str, *, whole: bool = False) -> list[str]:
    """Words and punctuation marks, in lower case; whole: what has no blanks in it is one word."""
    text = folded(text)
    if text.isascii() or not _special().search(text):
        return _PLAIN.findall(text)
    return _any(whole=whole).findall(text)


def folded(text: str) -> str:
    """The text in lower case; the Turkish i has one dot."""
    text = text.lower()
    return text if text.isascii() else text.replace("i\u0307", "i")


@cache
def _special() -> re.Pattern[str]:
    """Characters beyond `_PLAIN`; one large range is looked up faster than many small ones."""
    marks = class_of("M", last=0xFFFF) + JOINERS
    return re.compile(f"[{marks}{UNBROKEN}\U00010000-\U0010ffff]")


@cache
def _any(*, whole: bool) -> re.Pattern[str]:
    """A letter of `UNBROKEN`, a word of other letters, each with its marks, or something else."""
    alone = r"\0" if whole else UNBROKEN
    marks = class_of("M") + JOINERS
    letters = rf"[^\W{alone}]"
    return re.compile(
        rf"(?=\w)[{alone}][{marks}]*|{letters}(?:{letters}+|[{marks}]+)*|[^\w\s]"
    )


@cache
def class_of(*kinds: str, last: int = LAST_MARK) -> str:
    """Characters whose category begins so, as ranges within the brackets of an expression."""
    held = (i for i in range(last + 1) if category(chr(i)).startswith(kinds))
    runs = groupby(enumerate(held), lambda pair: pair[1] - pair[0])
    ends = ([i for _, i in run] for _, run in runs)
    return "".join(f"{chr(run[0])}-{chr(run[-1])}" for run in ends)
