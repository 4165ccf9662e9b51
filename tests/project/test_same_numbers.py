"""Data frames of every library and files of every format give equal numbers, to the last bit."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import refless
from command_line import jsonl
from rows import columns_of, rated, without

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
pytest.importorskip("openpyxl")

KEPT = [
    row | {"good": round(row["good"], 2)}
    for row in without(rated(), "references", "logprob")
]  # two digits: a workbook holds fifteen, and 1,753 might be a thousand
FRAME = pd.DataFrame(KEPT)
COMMANDS: dict[str, Callable[[Any], Any]] = {
    "validate": lambda rows: refless.validate(
        rows, scale=(1, 5), estimator="bleu-neighbors:tau=0.01"
    ),
    "judge": lambda rows: refless.judge(rows, scale=(1, 5), score_column="good"),
}


def frames() -> Iterator[tuple[str, Any]]:
    """The rows in memory, by what holds them."""
    yield "columns", columns_of(KEPT)
    yield "pandas", FRAME
    yield "types of pandas", FRAME.convert_dtypes()
    yield "types of Arrow", FRAME.convert_dtypes(dtype_backend="pyarrow")
    yield "an index", FRAME.set_index("id")
    yield "a shuffled index", FRAME.sample(frac=1, random_state=1)
    yield "categories", FRAME.astype({"system": "category", "annotator": "category"})
    yield "polars", pl.DataFrame(KEPT)
    yield (
        "categories of polars",
        pl.DataFrame(KEPT).with_columns(pl.col("system").cast(pl.Categorical)),
    )
    yield "Arrow", pa.Table.from_pylist(KEPT)


def files(folder: Path) -> Iterator[tuple[str, str]]:
    """The rows in files, by their format."""
    FRAME.to_csv(folder / "plain.csv", index=False)
    FRAME.to_csv(folder / "packed.csv.gz", index=False)
    FRAME.to_csv(folder / "european.csv", index=False, sep=";", decimal=",")
    FRAME.to_csv(folder / "tabs.tsv", index=False, sep="\t")
    FRAME.to_parquet(folder / "pandas.parquet")
    pl.DataFrame(KEPT).write_parquet(folder / "polars.parquet")
    FRAME.to_excel(folder / "workbook.xlsx", index=False)
    jsonl(folder / "lines.jsonl", KEPT)
    (folder / "array.json").write_text(json.dumps(KEPT), "utf-8")
    for file in sorted(folder.iterdir()):
        yield file.name, str(file)


@pytest.mark.filterwarnings("ignore")  # of the libraries that make frames
@pytest.mark.parametrize("command", COMMANDS)
def test_equal_numbers(command: str, tmp_path: Path) -> None:
    """Whatever holds the rows, all numbers and the signature are those of a list of dicts."""
    call = COMMANDS[command]
    expected = numbers_of(call(KEPT))
    for name, rows in (*frames(), *files(tmp_path)):
        assert numbers_of(call(rows)) == expected, name


def numbers_of(result: Any) -> str:
    """The result as JSON, without notes, which name files."""
    parts = {name: part for name, part in result.to_dict().items() if name != "notes"}
    return json.dumps(parts, sort_keys=True)
