#!/usr/bin/env python3
"""Words of every page, and the sentences that are longer than thirty: `prose.py`."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("docs", "papers", "benchmarks", ".github")
LONGEST = 30


def pages() -> list[Path]:
    """All Markdown of the project."""
    below = (page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))
    return sorted([*ROOT.glob("*.md"), *below])


def words(page: Path) -> int:
    """Words of a page, code and tables included."""
    return len(page.read_text(encoding="utf-8").split())


def sentences(page: Path) -> list[str]:
    """Of the prose: code, tables, headings and pictures left out; a link counts as its words."""
    text = page.read_text(encoding="utf-8")
    prose = re.sub(
        r"\A---\n.*?^---$|^(```|:::).*?^\1$", "\n", text, flags=re.DOTALL | re.MULTILINE
    )
    prose = re.sub(r"^(\||#|!\[|<|    ).*$", "\n", prose, flags=re.MULTILINE)
    prose = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "`code`", prose))
    # a sentence may begin with code
    end = r"(?<=[.?!])[*)]*\s+(?=[^a-z])|(?<=:)[*)]*\s+(?=[^a-z`])"
    parts = re.split(rf"{end}|\n\s*\n|^\s*(?:[-*]|\d\.)\s", prose, flags=re.MULTILINE)
    return [" ".join(part.split()) for part in parts if part.strip()]


def long_sentences() -> list[tuple[Path, str]]:
    """Those of more than `LONGEST` words, with their pages."""
    return [
        (page, sentence)
        for page in pages()
        for sentence in sentences(page)
        if len(sentence.split()) > LONGEST
    ]


def main() -> None:
    """Prints both."""
    lines = [
        f"{words(page):6,}  {page.relative_to(ROOT)}"
        for page in sorted(pages(), key=words)
    ]
    lines += [f"{sum(map(words, pages())):6,}  in all"]
    lines += [
        f"\n{page.relative_to(ROOT)}: {sentence}" for page, sentence in long_sentences()
    ]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
