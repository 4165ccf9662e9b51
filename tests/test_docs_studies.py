"""The Python of docs/studies.md runs and prints something."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "studies.md"
BLOCKS = re.findall(
    r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE
)


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_python_runs(block: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each block by itself."""
    exec(compile(block, str(PAGE), "exec"), {})
    assert capsys.readouterr().out
