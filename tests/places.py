"""Folders of the project and of real data."""

import os
from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests"
EXPORTS = TESTS / "data" / "exports"
DATA = Path(os.environ.get("REFLESS_DATA", ROOT.parent / "shared" / "data"))
