"""Folders of the project and of real data, and the code on its pages."""

import os
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests"
PAPERS = ROOT / "papers"
EXPORTS = TESTS / "data" / "exports"
DATA = Path(os.environ.get("REFLESS_DATA", ROOT.parent / "shared" / "data"))


def blocks(page: Path, language: str) -> list[str]:
    """Fenced blocks of a language."""
    text = page.read_text("utf-8")
    return re.findall(
        rf"^```{language}\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE
    )
