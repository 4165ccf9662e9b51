"""The papers' scripts, and the data of A Cautionary Tale as it scores it; skips if it is absent."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from places import DATA, PAPERS
from refless.data.records import Outputs, RatedPool, numbered
from refless.data.tables import Reading, read_pool


def needed(*names: str) -> None:
    """Skips a test if a part of the real data is not here."""
    for name in names:
        if not (DATA / name).exists():
            pytest.skip(f"the real data is not here: {DATA / name}")


def huse_pool() -> RatedPool:
    """The 200 rated headlines of HUSE, BLEU Neighbors' summarization pool, on a scale of 1 to 6."""
    needed("huse-summarization/judgements.tsv")
    path = DATA / "huse-summarization" / "judgements.tsv"
    return read_pool(str(path), Reading(scale=(1, 6))).pool


def printed_by(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A script of papers/ as users start it, without any warning on the way."""
    return started(PAPERS / script, *arguments)


def started(script: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """A script as users start it, without any warning on the way."""
    words = map(str, (script, *arguments))
    command = [sys.executable, "-W", "error", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def dialogues(system: str) -> Outputs:
    """DailyDialog's 6,740 contexts with 5 references: HRED's outputs, or one sentence throughout.

    FACTS: `test_duid_mapping.json` counts the lines of `hredf.txt` from 1; all in lower case.
    """
    folder = DATA / "dailydialog-multiref"
    needed(folder.name)
    lines = (folder / "hredf.txt").read_text("utf-8").split("\n")
    place = json.loads((folder / "test_duid_mapping.json").read_text("utf-8"))
    texts = []
    references = []
    with (folder / "multireftest.json").open(encoding="utf-8") as rows:
        for i, row in enumerate(rows):
            for j, turn in enumerate(json.loads(row)["dialogue"]):
                if (name := f"{i}_{j}") in place:
                    texts.append(
                        lines[place[name] - 1].lower() if system == "hred" else system
                    )
                    references.append(tuple(one.lower() for one in turn["responses"]))
    assert len(texts) == 6740
    return Outputs(ids=numbered(6740), texts=tuple(texts), references=tuple(references))
