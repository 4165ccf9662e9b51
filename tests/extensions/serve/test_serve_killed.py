"""kill -9 while raters write: what was acknowledged is there, once, and where it belongs."""

import os
import random
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from fuzz.forks import Found
from fuzz.kill_service import Place, Rater

from places import ROOT
from refless.data.records import Outputs
from serving import DATABASES, event, opened, postgresql


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.parametrize("database", DATABASES)
def test_no_acknowledged_rating_is_lost(database: str) -> None:
    """Three kills under four raters; `python -m fuzz.kill_service --kills 1000` does more."""
    words = [sys.executable, "-m", "fuzz.kill_service", "--kills", "3"]
    with ExitStack() as ends:
        if database == "postgresql":
            try:
                words += ["--server", ends.enter_context(postgresql())]
            except FileNotFoundError as fault:
                pytest.skip(str(fault))
        ran = subprocess.run(
            words, cwd=ROOT, capture_output=True, check=False, text=True, timeout=300
        )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.endswith("3 executions, 0 unique faults\n")
    assert int(ran.stdout.split(" acknowledged")[0].split()[-1]) > 0


@pytest.mark.parametrize(
    ("kept", "fault"),
    [
        ({"Text 0.": 2.0, "Text 1.": 4.0}, ""),
        ({"Text 0.": 2.0, "Text 1.": 5.0}, "lost or wrong"),
        ({"Text 0.": 2.0, "Text 1.": 4.0, "Text 2.": 1.0}, "lost or wrong"),
        ({"Text 0.": 2.0}, "doubled or wrong"),
    ],
)
def test_what_is_lost_or_doubled_is_found(
    tmp_path: Path, kept: dict[str, float], fault: str
) -> None:
    """The ratings of the first two texts, against what a rater remembers."""
    place = Place(tmp_path, f"sqlite:///{tmp_path / 'a.sqlite'}", random.Random(1))
    texts = tuple(f"Text {i}." for i in range(3))
    store = opened(place.url, found=Outputs(ids=("o0", "o1", "o2"), texts=texts))
    key = store.add_rater("").id
    rater = Rater("r00", "", place.random)
    place.raters = [rater]
    for _ in texts:
        unit = store.next_unit(key).result()["unit"]
        text = unit["texts"][0]
        if text != "Text 2.":
            value = {"Text 0.": 2.0, "Text 1.": 4.0}[text]
            act = event("rated", unit, value=value)
        else:
            act = event("skipped", unit)
        store.save(key, act).result()
        rater.acknowledged[act.uuid] = (act.kind, text, act.value)
    store.close()
    rater.ratings = kept
    found = Found()
    place.check(found)
    assert (fault in found.faults) is bool(fault)
    assert bool(found.faults) is bool(fault)
