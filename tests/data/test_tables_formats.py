"""Formats: the same rows through every format, line ends, encodings, sniffing."""

import bz2
import csv
import gzip
import io
import json
import pickle
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refless.data.tables import Reading, read_outputs, read_pool
from refless.data.tables.formats import delimiter_of
from refless.registry.errors import MissingExtraError
from refusals import bad_input, bad_usage
from rows import by_columns, csv_of, write

ROWS = [
    {"id": "a", "text": "yes , I do", "rating": 3},
    {"id": "b", "text": "no", "rating": 1.5},
    {"id": "c", "text": "", "rating": -2},
]


def stdin(monkeypatch: pytest.MonkeyPatch, content: str | bytes) -> None:
    data = content.encode() if isinstance(content, str) else content
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def jsonl(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


CONTENTS = {
    "pool.jsonl": jsonl(ROWS),
    "pool.ndjson": jsonl(ROWS),
    "pool.csv": csv_of(ROWS),
    "pool.tsv": csv_of(ROWS, delimiter="\t", lineterminator="\n"),
}


@pytest.mark.parametrize("name", CONTENTS)
@pytest.mark.parametrize("packed", [False, True])
def test_every_format_gives_the_same_pool(
    tmp_path: Path, name: str, packed: bool
) -> None:
    """JSONL, CSV and TSV, packed or not, name or sniff, hold the same rated texts."""
    data = CONTENTS[name].encode()
    for file in (name, "pool"):  # the second name has no ending, so the content decides
        ending = ".gz" if packed else ""
        path = write(tmp_path, file + ending, gzip.compress(data) if packed else data)
        pool = read_pool([path]).pool
        assert pool.ids == ("a", "b", "c")
        assert pool.texts == ("yes , I do", "no", "")
        assert pool.human.tolist() == [3, 1.5, -2]
        assert pool.named


@pytest.mark.parametrize("name", CONTENTS)
def test_standard_input_is_sniffed(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """`-` reads standard input and tells the format by its beginning, blank lines aside."""
    stdin(monkeypatch, "\n \n" * name.endswith("jsonl") + CONTENTS[name])
    assert read_pool(["-"]).pool.texts == ("yes , I do", "no", "")


def test_standard_input_of_plain_text_and_gzip(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines without tab and comma are texts, also packed; a format flag beats the sniffing."""
    stdin(monkeypatch, gzip.compress(b"one text\nanother\n"))
    assert read_outputs(["-"]).outputs.texts == ("one text", "another")
    stdin(monkeypatch, "well , yes\nno\n")
    assert read_outputs(["-"], Reading(format="text")).outputs.texts == (
        "well , yes",
        "no",
    )


def test_plain_text_keeps_blank_lines(tmp_path: Path) -> None:
    """One output a line: a blank line is an empty output, so that line numbers stay ids."""
    outputs = read_outputs([write(tmp_path, "o.txt", "a\n\nb\u2028c\x85d\n")]).outputs
    assert outputs.texts == ("a", "", "b\u2028c\x85d")
    assert outputs.ids == ("1", "2", "3")


def test_plain_text_under_a_text_column_flag(tmp_path: Path) -> None:
    """Plain text has one column, which is the text whatever its flag says."""
    reading = by_columns(text="EssayText")
    assert read_outputs([write(tmp_path, "o.txt", "a\n")], reading).outputs.texts == (
        "a",
    )


def test_parquet_gives_the_same_pool(tmp_path: Path) -> None:
    """Parquet rows equal those of JSONL; unwanted columns are not read."""
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "pool.parquet"
    parquet.write_table(
        pa.Table.from_pylist([{**row, "vector": [1.0]} for row in ROWS]), path
    )
    path.with_name("pool").write_bytes(path.read_bytes())
    for name in (path, path.with_name("pool")):
        pool = read_pool([str(name)]).pool
        assert pool.texts == ("yes , I do", "no", "")
        assert pool.human.tolist() == [3, 1.5, -2]


def test_parquet_that_is_none(tmp_path: Path) -> None:
    """A damaged Parquet file is an input error."""
    pytest.importorskip("pyarrow")
    with bad_input("not Parquet"):
        read_pool([write(tmp_path, "pool.parquet", "PAR1 and then nothing")])


def test_parquet_without_pyarrow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The missing extra names the line that installs it."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[parquet\]'"):
        read_pool([write(tmp_path, "pool.parquet", "PAR1")])


def test_files_are_concatenated(tmp_path: Path) -> None:
    """Files follow each other, also of several formats; a column missing in one is blank there."""
    one = write(tmp_path, "a.tsv", "text\trating\nx\t1\n")
    two = write(tmp_path, "b.jsonl", '{"rating": 2, "text": "y", "system": "s"}\n')
    pool = read_pool([one, two]).pool
    assert (pool.texts, pool.systems, pool.ids) == (("x", "y"), ("", "s"), ("1", "2"))


def test_no_files_is_wrong_usage(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty list, what holds no rows, standard input that is empty or is to be read twice."""
    stdin(monkeypatch, "")
    with bad_input("standard input is empty"):
        read_outputs(["-"])
    with bad_usage("only once"):
        read_outputs(["-", "-"])
    with bad_usage("list of files or rows is empty"):
        read_pool([])
    for nothing in (7, None, iter(["pool.csv"])):
        with bad_usage("rows are files, a data frame"):
            read_pool(nothing)  # type: ignore[arg-type]


def test_unknown_format_and_encoding_are_wrong_usage(tmp_path: Path) -> None:
    """Names that are in no table say so."""
    path = write(tmp_path, "pool.csv", "text,rating\na,1\n")
    with bad_usage("jsonl, json, csv, tsv, parquet, excel, text, "):
        read_pool([path], Reading(format="xls"))
    for encoding in ("utf-9", "rot13"):
        with bad_usage(encoding):
            read_pool([path], Reading(encoding=encoding))


def test_tsv_has_no_quoting_unless_asked(tmp_path: Path) -> None:
    """TSV quotes are characters, --read quoting=yes reads them; CSV the other way round."""
    tsv = write(tmp_path, "o.tsv", 'text\tid\n"a"\t1\n')
    csv_ = write(tmp_path, "o.csv", 'text,id\n"a",1\n')
    for path in (tsv, csv_):
        assert read_outputs([path], Reading(quoting=False)).outputs.texts == ('"a"',)
        assert read_outputs([path], Reading(quoting=True)).outputs.texts == ("a",)
    assert read_outputs([tsv]).outputs.texts == ('"a"',)
    assert read_outputs([csv_]).outputs.texts == ("a",)


def test_csv_as_in_rfc_4180(tmp_path: Path) -> None:
    """Quoted line ends, delimiters and doubled quotes; the line is where the row starts."""
    path = write(tmp_path, "p.csv", 'text,rating\r\n"a ""b"", c\r\nd",1\r\ne,x\r\n')
    with bad_input("line 4"):
        read_pool([path])
    assert read_pool([path], Reading(rating_map={"x": 2})).pool.texts == (
        'a "b", c\r\nd',
        "e",
    )


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("name", CONTENTS)
def test_line_ends(tmp_path: Path, name: str, end: str) -> None:
    r"""\n, \r\n and lone \r end lines, in every text format."""
    content = CONTENTS[name].replace("\r\n", "\n").replace("\n", end)
    assert read_pool([write(tmp_path, name, content)]).pool.texts == (
        "yes , I do",
        "no",
        "",
    )


def test_mixed_line_ends(tmp_path: Path) -> None:
    """Mixed line ends are counted as lines; U+2028 and U+0085 are not line ends."""
    lines = [
        '{"text": "a\u2028b", "rating": 1}',
        '{"text": "c\x85d", "rating": 2}',
        "[]",
    ]
    path = write(tmp_path, "p.jsonl", f"{lines[0]}\r{lines[1]}\r\n\n{lines[2]}\n")
    with bad_input("line 4"):
        read_pool([path])
    pool = read_pool([path], Reading(skip_bad=True)).pool
    assert pool.texts == ("a\u2028b", "c\x85d")


@pytest.mark.parametrize("name", CONTENTS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le"])
def test_byte_order_mark(tmp_path: Path, name: str, encoding: str) -> None:
    """A byte order mark is dropped, and tells UTF-16 by itself, as Excel writes it."""
    mark = "" if encoding == "utf-16" else "\ufeff"  # Python's utf-16 writes its own
    path = write(tmp_path, name, (mark + CONTENTS[name]).encode(encoding))
    for reading in (Reading(), Reading(encoding=encoding)):
        assert read_pool([path], reading).pool.ids == ("a", "b", "c")


@pytest.mark.parametrize("name", CONTENTS)
def test_lines_of_a_megabyte(tmp_path: Path, name: str) -> None:
    """Texts of 1 MB are read whole and csv's process-wide limit is left as it was."""
    before = csv.field_size_limit()
    path = write(tmp_path, name, CONTENTS[name].replace("yes", "y" * 2**20))
    assert len(read_pool([path]).pool.texts[0]) == 2**20 + 7
    assert csv.field_size_limit() == before


texts = st.text(st.characters(codec="utf-8", exclude_characters="\0#"), max_size=20)


@settings(max_examples=40)
@given(st.lists(texts, min_size=1, max_size=8))
def test_texts_survive_jsonl_and_csv(
    tmp_path_factory: pytest.TempPathFactory, rows: list[str]
):
    """Any text without NUL comes back from JSONL (escaped or not) and quoted CSV as written."""
    folder = tmp_path_factory.mktemp("texts")
    objects = [{"text": text} for text in rows]
    raw = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in objects)
    quoted = csv_of([{"id": str(i), **row} for i, row in enumerate(objects)], quoting=1)
    for name, content in (
        ("a.jsonl", jsonl(objects)),
        ("b.jsonl", raw),
        ("c.csv", quoted),
    ):
        assert read_outputs([write(folder, name, content)]).outputs.texts == tuple(rows)


def test_blank_lines(tmp_path: Path) -> None:
    """Blank lines are no rows, but in a TSV of one column they are empty texts."""
    for name, blank in (
        ("a.jsonl", '{"text": "a"}\n\n  \n{"text": "b"}\n'),
        ("b.csv", "text,id\na,1\n\nb,2\n"),
        ("c.tsv", "text\tid\na\t1\n\nb\t2\n"),
    ):
        assert read_outputs([write(tmp_path, name, blank)]).outputs.texts == ("a", "b")
    assert (
        read_outputs([write(tmp_path, "d.tsv", "text\na\n\nb\n")]).outputs.texts[1]
        == ""
    )


def test_many_rows_cross_the_chunks(tmp_path: Path) -> None:
    """Columns that first appear after thousands of rows are blank before; places stay right."""
    rows: list[dict[str, Any]] = [
        {"text": f"t{i}", "rating": i % 7} for i in range(20_000)
    ]
    rows[15_000]["task"] = "late"
    rows[19_999]["rating"] = "inf"
    path = write(tmp_path, "p.jsonl", jsonl(rows))
    with bad_input("line 20000"):
        read_pool([path])
    read = read_pool([path], Reading(skip_bad=True))
    assert (len(read.pool), read.n_skipped) == (19_999, 1)
    assert [i for i, task in enumerate(read.pool.tasks) if task] == [15_000]


EXCEL = (
    "Kennung;Antwort des Systems;Note\r\n"
    '1;"Ja; gerne, sofort";1,5\r\n'
    "2;Nein, danke;4\r\n"
    ";;\r\n"
    "3;\u00dcbrigens;2,25\r\n"
)
GERMAN = by_columns(id="Kennung", text="Antwort des Systems", rating=("Note",))


@pytest.mark.parametrize("first", ["", "\ufeff", "\r\n"])
def test_excel_where_decimals_have_commas(tmp_path: Path, first: str) -> None:
    """Semicolons between cells, with or without a first line that says so; empty rows are blank."""
    pool = read_pool([write(tmp_path, "p.csv", first + EXCEL)], GERMAN).pool
    assert pool.ids == ("1", "2", "3")
    assert pool.texts == ("Ja; gerne, sofort", "Nein, danke", "\u00dcbrigens")
    assert pool.human.tolist() == [1.5, 4.0, 2.25]


@pytest.mark.parametrize(
    ("head", "delimiter"),
    [
        ("text,rating", ","),
        ("text\trating", "\t"),
        ('"a, b";rating', ";"),
        ("text", ","),
        ("text,rating;note", ","),
        ("text;rating (1,5)\na;3", ";"),
        ("", ","),
    ],
)
def test_what_stands_between_cells(head: str, delimiter: str) -> None:
    """The one that the header has most of, outside quotes."""
    assert delimiter_of(head + "\n1;2,3\t4") == delimiter


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        (
            "a.sqlite",
            b"SQLite format 3\0" + bytes(80),
            "a SQLite database, .*sqlite3 -header",
        ),
        ("a.csv", b"\x80\x04\x95" + bytes(80), "a pickle, .*read_pickle"),
        ("a.pkl", pickle.dumps({"text": ["a"]}), "a pickle"),
        ("a.feather", b"ARROW1\0\0" + bytes(80), "an Arrow file .*read_feather"),
        ("a.h5", b"\x89HDF\r\n\x1a\n" + bytes(80), "an HDF5 file"),
        (
            "a.csv",
            b"PK\x03\x04" + bytes(80),
            "a zip file or a workbook, .*format=excel",
        ),
        ("a.jsonl", b"%PDF-1.7\n", "a PDF"),
        ("a.csv.bz2", bz2.compress(b"text,rating\n"), "packed by bzip2"),
        ("a.csv", b"PAR1" + bytes(80), "a Parquet file, .*format=parquet"),
    ],
)
def test_files_without_text(
    tmp_path: Path, name: str, content: bytes, found: str
) -> None:
    """They are named by their first bytes, whatever they are called (as file(1) has them)."""
    (tmp_path / name).write_bytes(content)
    with bad_input(f"this is {found}"):
        read_pool(tmp_path / name)


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a"])
@pytest.mark.parametrize("mark", [";", ",", "\t", "|"])
def test_the_line_of_excel_that_names_the_delimiter(
    tmp_path: Path, name: str, mark: str
) -> None:
    """`sep=;` is no header; what it says counts, and lines keep their numbers."""
    if name == "a.tsv" and mark != "\t":
        return
    lines = [f"sep={mark}", f"text{mark}rating", f"a{mark}1", f"b{mark}9"]
    path = write(tmp_path, name, "\ufeff" + "\r\n".join(lines) + "\r\n")
    assert read_pool(path).pool.human.tolist() == [1, 9]
    with bad_input("line 4, column 'rating'"):
        read_pool(path, Reading(scale=(1, 5)))


def test_rows_inside_an_object(tmp_path: Path) -> None:
    """Those of answers of an API, and all that pandas writes, on one line and on several."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"text": ["a", "b"], "rating": [4, 2]})
    rows = frame.to_dict(orient="records")
    objects = [
        json.loads(frame.to_json(orient=o))
        for o in ("split", "index", "columns", "table")
    ]
    objects += [{"name": "ours", "data": rows}]
    objects += [
        {"data": rows, "meta": {"page": 1}},
        {"result": {"items": rows, "ids": [1, 2]}},
    ]
    for found in objects:
        for indent in (None, 2):
            path = write(tmp_path, "rated.json", json.dumps(found, indent=indent))
            read = read_pool(path)
            assert (read.pool.texts, read.pool.human.tolist()) == (("a", "b"), [4, 2])
            assert any("rows" in line for line in read.notes)
    for alone in (
        {"text": "a", "rating": 1},
        {"text": "a", "rating": 1, "turns": [{"text": "b"}]},
    ):
        read = read_pool(write(tmp_path, "one.json", json.dumps(alone)))
        assert read.pool.texts == ("a",)
        assert len(read.notes) <= 2  # `turns` is said to be unread
    both = {"train": rows, "test": rows}
    with bad_input("lists of rows inside an object: 'train', 'test'"):
        read_pool(write(tmp_path, "both.json", json.dumps(both)))


def test_json_in_cells(tmp_path: Path) -> None:
    """Dotted names reach into it; without one the error says so."""
    path = tmp_path / "rated.csv"
    path.write_text(
        'text,rating\na,"{""fluency"": 4}"\nb,"{""fluency"": 2}"\n', "utf-8"
    )
    reading = by_columns(rating=("rating.fluency",))
    assert read_pool(path, reading).pool.human.tolist() == [4, 2]
    with bad_input(r"the cells hold JSON: --column rating=COLUMN\.NAME"):
        read_pool(path)


def test_words_that_were_seen(tmp_path: Path) -> None:
    """The remedy has them; dates that a spreadsheet made of 4/5 are told as such."""
    path = tmp_path / "rated.csv"
    path.write_text("text,rating\na,weak\nb,fine\n", "utf-8")
    with bad_input("--read rating-map=fine=NUMBER,weak=NUMBER"):
        read_pool(path)
    for cell in (
        "04-May",
        "5. Apr",
        "May-05",
        "2026-05-04",
        "4/5/2026",
        "2026-05-04 00:00:00",
    ):
        path.write_text(f"text,rating\na,{cell}\nb,{cell}\n", "utf-8")
        with bad_input("has made dates of ratings such as 4/5"):
            read_pool(path)
    with bad_input("has made dates of ratings"):
        read_pool([{"text": "a", "rating": date(2026, 5, 4)}])
