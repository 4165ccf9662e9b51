"""Pages of the documentation."""

import re
from pathlib import Path


def blocks(page: Path, language: str) -> list[str]:
    """Fenced blocks of a language."""
    text = page.read_text(encoding="utf-8")
    return re.findall(
        rf"^```{language}\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE
    )
