"""Words that say little: bm25s's English list, or the user's own."""

import hashlib
from pathlib import Path

from refless.files.untrusted import whole_lines

ENGLISH, NONE = "english", "none"


def stop_words(name: str) -> frozenset[str]:
    """Words to leave out: `english` (bm25s's longer list), `none`, or a file with a word a line.

    Raises:
        InputError: no such file, or none that is UTF-8.
    """
    if name == "none":
        return frozenset()
    if name == "english":
        from bm25s.stopwords import STOPWORDS_EN_PLUS

        return frozenset(STOPWORDS_EN_PLUS)
    lines = whole_lines(name, "name a file, 'english' or 'none'")
    return frozenset(line.strip().lower() for line in lines if line.strip())


def stop_settings(name: str) -> dict[str, object]:
    """What a signature says of a list: its name, and for a file its content."""
    if name in {ENGLISH, NONE}:
        return {"stop": name}
    content = "\n".join(sorted(stop_words(name)))
    digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return {"stop": Path(name).name, "stop-sha": digest}
