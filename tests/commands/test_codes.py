"""Codes for "not rated" among ratings, and for failures among scores."""

import math
from pathlib import Path

import numpy as np
import pytest

from command_line import jsonl, run
from refless import pool_of
from refless.commands.rows import codes_in, note_scale
from refless.commands.warnings import collecting
from refless.data.tables import Reading, parse_word_map, read_pool
from refusals import bad_input

STARS = [float(1 + i % 5) for i in range(40)]


def lines_of(ratings: list[float]) -> list[str]:
    with collecting() as lines:
        note_scale(pool_of([f"t{i}" for i in range(len(ratings))], ratings))
    return lines


@pytest.mark.parametrize(
    ("codes", "ends"),
    [
        ([99.0], "1 5"),
        ([-1.0], "1 5"),
        ([9.0], "1 5"),
        ([-9.0, -1.0], "1 5"),
        ([98.0, 99.0], "1 5"),
    ],
)
def test_codes_among_ratings(codes: list[float], ends: str) -> None:
    """Each is named with its count, and none is proposed as the end of a scale."""
    *named, scale = lines_of(STARS + codes)
    for line, code in zip(named, codes, strict=True):
        count = f"1 of {40 + len(codes)} ratings is {code:g}, the others go from 1 to 5"
        assert line.startswith(count)
        blank = f"reading={{'rating-map': '{code:g}='}}"
        assert f"not rated, leave these cells blank or say {blank}" in line
    assert f"give scale=({ends.replace(' ', ', ')})" in scale


def test_stars_of_zero() -> None:
    """More zeros than ones are named; a 0 that is the rarest of six marks is the scale's end."""
    assert lines_of([*STARS, *[0.0] * 12])[0].startswith(
        "12 of 52 ratings are 0, the others go from 1"
    )
    (scale,) = lines_of([*STARS, 0.0])
    assert "scale=(0, 5)" in scale


@pytest.mark.parametrize("code", [0.0, -1.0, -99.0, 9.0, 99.0])
@pytest.mark.parametrize("top", [5, 6])
def test_no_answer_rests_on_many_codes(code: float, top: int) -> None:
    """If half of the ratings stand apart, a scale or a map has to say what they are."""
    stars = [1 + i % (2 * top - 1) / 2 for i in range(60)]
    stars = [star for star in stars if star > 1 or code] + [1.0]
    with bad_input(rf"ratings are {code:g}, as if.*'{code:g}='"):
        lines_of([*stars, *[code] * 80])
    assert "no scale" in lines_of([*stars, *[float(top - 1)] * 80])[0]


@pytest.mark.parametrize(("ends"), [(0, 5), (0, 10), (0, 1)])
def test_a_rating_of_zero_is_one(ends: tuple[int, int]) -> None:
    """Zeros are no codes if ones are about as many, or all that is below."""
    values = [float(i) for i in range(ends[0], ends[1] + 1)]
    (line,) = lines_of(values * 10 + [0.0] * (10 if ends[1] == 1 else 0))
    assert "no scale" in line
    errors = [0.0] * 60 + [1.0] * 30 + [2.0] * 15 + [3.0] * 5
    assert len(lines_of(errors)) == 1


@pytest.mark.parametrize(
    "ratings",
    [
        [-1.0, 0.0, 1.0],
        [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0],
        [*map(float, range(1, 11))],
        [*map(float, range(101))],
        [1.0, 7.0, 9.0, 4.0],
        [-1.0, 1.0],
        [math.nan, 2.0, 4.0],
        [],
    ],
)
def test_ends_of_scales_are_no_codes(ratings: list[float]) -> None:
    """Scales that go below 0, or that contain 9 or 99."""
    assert codes_in(np.array(ratings)) == frozenset()


def test_shares_of_the_scale() -> None:
    """All from 0 to 1 where the flag says 0 to 100."""
    shares = [0.2, 0.8, 0.5]
    with collecting() as lines:
        note_scale(pool_of(["a", "b", "c"], shares, scale=(0, 100)))
        note_scale(pool_of(["a", "b", "c"], [20.0, 80.0, 50.0], scale=(0, 100)))
    ends = "all ratings go from 0.2 to 0.8 on a scale from 0 to 100"
    assert [*lines] == [f"{ends}: if they are shares of it, scale=(0, 1)"]


def test_a_map_makes_blanks(tmp_path: Path) -> None:
    """`99=` reads as blank what stands for not rated; other marks stay as they are."""
    rows = [
        {"text": f"t{i}", "rating": rating} for i, rating in enumerate((4, 99, 2, 99))
    ]
    path = jsonl(tmp_path / "r.jsonl", rows)
    read = read_pool([str(path)], Reading(rating_map=parse_word_map("99=")))
    assert read.pool.human.tolist() == [4, 2]
    assert "2 rating cells '99' are read as blank" in read.notes


def test_judge_names_them(tmp_path: Path) -> None:
    """Standard error of judge, and the bias once they are blank: people 3, the judge 4."""
    rows = [{"id": f"t{i}", "rating": 1 + i % 5, "judge": 2 + i % 5} for i in range(40)]
    rows += [{"id": f"c{i}", "rating": 99, "judge": 3} for i in range(3)]
    path = jsonl(tmp_path / "r.jsonl", rows)
    flags = ("--score-column", "judge", "--resamples", "60", "--format", "json")
    assert (
        "3 of 43 ratings are 99, the others go from 1 to 5"
        in run("judge", path, *flags).err
    )
    clean = run("judge", path, *flags, "--read", "rating-map=99=")
    assert "ratings are 99" not in clean.err
    assert clean.json["judges"][0]["measures"]["bias"]["value"] == pytest.approx(1.0)


def test_unscored_rows_are_no_accident(tmp_path: Path) -> None:
    """A judge that is blank on what people rate low: both means are said, and all rows counted."""
    rows = [
        {
            "id": f"t{i}",
            "rating": 1 if i < 12 else 4,
            "judge": None if i < 12 else 3 + i % 3,
        }
        for i in range(40)
    ]
    path = jsonl(tmp_path / "r.jsonl", [*rows, {"id": "new", "judge": 4}])
    ran = run("judge", path, "--score-column", "judge", "--resamples", "60")
    assert (
        "mean rating is 1 of texts without a score and 4 of those with one" in ran.err
    )
    assert "Of all 41 rows, 40 of them rated" in ran.line
