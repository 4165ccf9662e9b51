"""Outputs that are read batch by batch: the same as all at once."""

from pathlib import Path
from typing import Any

import pytest

from command_line import jsonl
from refless.data.tables import Reading, read_batches, read_outputs
from refless.registry.errors import InputError


def test_batches_of_rows(tmp_path: Path) -> None:
    """Columns that go, ids that come twice, bad rows that keep their place and line."""
    rows: list[dict[str, object]] = [
        {"text": "a", "source": "s", "system": "m"},
        {"text": "b", "source": "t"},
        {"text": 3},
        {"text": "d", "system": "n"},
    ]
    file = jsonl(tmp_path / "o.jsonl", rows)
    reading = Reading(skip_bad=True)
    whole = read_outputs(file, reading).outputs
    for size in (1, 2, 3, 9):
        found = [read.outputs for read in read_batches(file, reading, size)]
        assert tuple(text for one in found for text in one.texts) == whole.texts
        assert tuple(name for one in found for name in one.sources) == whole.sources
        assert tuple(name for one in found for name in one.systems) == whole.systems
        assert tuple(name for one in found for name in one.ids) == whole.ids
    with pytest.raises(InputError, match="line 3"):
        list(read_batches(file, Reading(), 2))
    twice = jsonl(tmp_path / "t.jsonl", [{"id": "1", "text": "a"}, {"id": "1", "text": "b"}])
    assert [len(read.outputs) for read in read_batches(twice, Reading(), 5)] == [2]


def test_a_column_that_begins_late(tmp_path: Path) -> None:
    """Larger batches would read it, and no number may depend on them; others may come."""
    rows: list[dict[str, Any]] = [{"text": f"a b {i}"} for i in range(6)]
    rows[4]["source"] = "s"
    path = jsonl(tmp_path / "late.jsonl", rows)
    with pytest.raises(InputError, match="column 'source' begins after 4 rows"):
        [*read_batches(path, Reading(), 2)]
    (whole,) = read_batches(path, Reading(), 6)
    assert whole.outputs.sources == ("", "", "", "", "s", "")
    rows[4] = {"text": "a", "elsewhere": 1}
    other = jsonl(tmp_path / "other.jsonl", rows)
    assert [len(one.outputs) for one in read_batches(other, Reading(), 2)] == [2, 2, 2]
