"""Real files: published ratings read as their papers describe them."""

import os
from pathlib import Path

import pytest

from refless.data.tables import Columns, Reading, read_outputs, read_pool
from refless.registry.errors import InputError

DATA = Path(os.environ.get("REFLESS_DATA", Path(__file__).parents[1] / ".." / "shared" / "data"))


def real(name: str) -> str:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"the real data is not here: {path}")
    return str(path)


def test_huse() -> None:
    """HUSE: 200 texts, each rated by 20 people 1..6; columns found by alias (data/README.md)."""
    path = real("huse-summarization/judgements.tsv")
    pool = read_pool([path], Reading(scale=(1, 6))).pool
    assert (len(pool), len(pool.ratings.values)) == (200, 4000)
    # First human rating by awk over the file: id 0-0 has 97 rating points in 20 ratings.
    assert pool.human[pool.ids.index("0-0")] == (97 / 20 - 1) / 5
    assert pool.items == pool.sources
    assert set(pool.systems) == {"model", "human"}


def test_grade() -> None:
    """GRADE: 1,200 responses in 3 tasks with 8 to 11 ratings each (data/README.md)."""
    pool = read_pool([real("grade/judgements.tsv")], Reading(scale=(1, 5))).pool
    assert (len(pool), len(pool.ratings.values), len(set(pool.tasks))) == (1200, 11910, 3)


def test_asap() -> None:
    """ASAP-SAS: 17,026 answers in 10 topics with two raters (data/README.md)."""
    columns = Columns(text="EssayText", rating=("Score1", "Score2"), task="EssaySet")
    pool = read_pool([real("asap-sas/train.tsv")], Reading(columns=columns)).pool
    assert (len(pool), len(pool.ratings.values), len(set(pool.tasks))) == (17026, 34052, 10)
    assert pool.ratings.annotators == ("Score1", "Score2")


def test_nlg_ratings() -> None:
    """Novikova et al.: 2,460 outputs of 3 systems, the rating by alias, the text by flag."""
    path = real("nlg-ratings/emnlp_data_medians.csv")
    columns = Columns(text="sys_ref", rating=("quality",))
    pool = read_pool([path], Reading(columns=columns, scale=(1, 6))).pool
    assert (len(pool), len(set(pool.systems)), len(pool.sources)) == (2460, 3, 2460)


def test_dailydialog() -> None:
    """DailyDialog: 500 rated responses; without the flag the error lists the columns."""
    path = real("dailydialog-multiref/mturk_rating_processed_output.csv")
    with pytest.raises(InputError, match="'human_average_rating'"):
        read_pool([path])
    columns = Columns(rating=("human_average_rating",))
    assert len(read_pool([path], Reading(columns=columns)).pool) == 500


def test_outputs_with_references_and_packed_text() -> None:
    """COCO systems come with five references an image, Flickr30k as packed text lines."""
    coco = read_outputs([real("coco/system_magic.jsonl")]).outputs
    assert all(len(references) >= 5 for references in coco.references)
    assert len(read_outputs([real("flickr30k/train.1.en.gz")]).outputs) == 29_000
