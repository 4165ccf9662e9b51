"""Bad input: each case of docs/errors.md that files can hold has its answer here."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

import rows
from places import ROOT, TESTS
from refless.data.tables import Columns, Reading, read_outputs, read_pool
from refless.registry.errors import InputError
from refusals import bad_input

SKIP = Reading(skip_bad=True)


def write(folder: Path, content: str | bytes, name: str = "p.jsonl") -> str:
    return rows.write(folder, name, content)


BAD = [  # a row, what is said of it, and its column
    ('{"id": "b", "rating": 1}', "no text", "text"),
    ('{"id": "b", "text": null, "rating": 1}', "no text", "text"),
    ('{"id": "b", "text": 5, "rating": 1}', "5 is not a string", "text"),
    ('{"id": "b", "text": ["x"], "rating": 1}', "is not a string", "text"),
    (
        '{"id": "b", "text": "x\\u0000", "rating": 1}',
        r"NUL character \(position 2\)",
        "text",
    ),
    ('{"id": "b", "text": "\\ud800", "rating": 1}', r"lone surrogate \\ud800", "text"),
    ('["b", 1]', "JSON list", None),
    ('{"text": "b", "rat', "not JSON", None),
    ('{"text": "b"} {"text": "c"}', "not JSON", None),
    ('{"text": "b\0", "rating": 1}', "NUL character", None),
    ("[" * 100_000, "not JSON", None),
    ('{"text": "b", "rating": 1}', "no id", "id"),
    ('{"id": "", "text": "b", "rating": 1}', "no id", "id"),
    ('{"id": [1], "text": "b", "rating": 1}', "not a name", "id"),
    ('{"id": "x\\ud800", "text": "b", "rating": 1}', "surrogate", "id"),
]


@pytest.mark.parametrize(("row", "found", "column"), BAD, ids=range(len(BAD)))
def test_bad_rows(tmp_path: Path, row: str, found: str, column: str | None) -> None:
    """Between two good ones: no usable text, no JSON object, no usable id where others have one."""
    good = '{{"id": "{0}", "text": "{0}", "rating": 1}}'
    path = write(tmp_path, "\n".join((good.format("a"), row, good.format("c"))))
    for read in (read_pool, read_outputs):
        with bad_input(found) as caught:
            read([path])
        error = caught.value
        assert (error.path, error.line, error.column) == (path, 2, column)
        assert error.remedy
    pool = read_pool([path], SKIP)
    assert (pool.pool.texts, pool.n_skipped) == (("a", "c"), 1)
    assert re.search(found, str(pool.skipped[0]))
    assert pool.notes[-1] == f"1 bad row skipped: 1 {pool.skipped[0].found}"
    kept = read_outputs([path], SKIP)
    assert kept.outputs.texts == ("a", "", "c")
    assert kept.outputs.bad == (False, True, False)
    assert len(set(kept.outputs.ids)) == 3
    assert kept.n_skipped == 1
    assert "kept as empty place holders" in kept.notes[-1]


@pytest.mark.parametrize("skipped", [0, 30])
def test_bad_rows_are_counted(tmp_path: Path, skipped: int) -> None:
    """All bad rows are counted, the first twenty remembered."""
    path = write(tmp_path, "[]\n" * skipped + '{"text": "a", "rating": 1}\n')
    read = read_pool([path], SKIP)
    assert (read.n_skipped, len(read.skipped), len(read.pool)) == (
        skipped,
        min(skipped, 20),
        1,
    )


def test_every_row_is_bad(tmp_path: Path) -> None:
    """A pool of which nothing is left is an error, with the first bad row's."""
    with bad_input(r"no usable row is left.*line 1.*no rating"):
        read_pool([write(tmp_path, '{"text": "a", "rating": null}\n')], SKIP)


def test_bad_output_without_ids_keeps_its_number(tmp_path: Path) -> None:
    """Without an id column a bad output is named by its number, as its neighbours are."""
    path = write(tmp_path, 'text,item\na,1\n"b"x,2\nc\nd,4\n', "o.csv")
    outputs = read_outputs([path], SKIP).outputs
    assert (outputs.ids, outputs.texts) == (("1", "2", "3", "4"), ("a", "", "", "d"))
    assert outputs.items == ("1", f"{path}:3", f"{path}:4", "4")


def test_empty_text(tmp_path: Path) -> None:
    """An empty text is a text, in pools and outputs."""
    path = write(tmp_path, "text,rating\n,1\n", "p.csv")
    assert read_pool([path]).pool.texts == ("",)
    assert read_outputs([path]).outputs.texts == ("",)


def test_one_rated_text_and_equal_ratings(tmp_path: Path) -> None:
    """One rated text, or ratings that are all equal, make a pool; what follows says more."""
    assert len(read_pool([write(tmp_path, '{"text": "a", "rating": 1}')]).pool) == 1
    rows = '{"text": "a", "rating": 1}\n{"text": "b", "rating": 1}'
    assert read_pool([write(tmp_path, rows)]).pool.human.tolist() == [1, 1]


CELLS = {
    "few": ("b", "1 cell where the header has 2"),
    "many": ("b,1,1", "3 cells.*delete what stands above the header"),
}


@pytest.mark.parametrize("case", CELLS)
@pytest.mark.parametrize("name", ["p.csv", "p.tsv"])
def test_too_few_or_many_cells(tmp_path: Path, case: str, name: str) -> None:
    """A row with other cells than the header is a bad row."""
    row, found = CELLS[case]
    content = f"text,rating\na,1\n{row}\nc,1\n"
    path = write(
        tmp_path, content.replace(",", "\t") if name == "p.tsv" else content, name
    )
    with bad_input(f"line 3: {found}"):
        read_pool([path])
    assert read_pool([path], SKIP).pool.texts == ("a", "c")


def test_stray_quote(tmp_path: Path) -> None:
    """Characters after a closing quote are a bad row."""
    path = write(tmp_path, 'text,rating\n"a"b,1\nc,2\n', "p.csv")
    with bad_input(r"line 2: not CSV.*--read quoting=no"):
        read_pool([path])
    assert read_pool([path], SKIP).pool.texts == ("c",)


def test_quote_never_closed(tmp_path: Path) -> None:
    """A quote that never closes names the row that opened it and cannot be skipped."""
    path = write(tmp_path, 'text,rating\na,1\n"b,1\nc,2\n', "p.csv")
    for reading in (Reading(), SKIP):
        with bad_input("line 3: a quote opened"):
            read_pool([path], reading)


def test_duplicated_header_column(tmp_path: Path) -> None:
    """Two columns of one name are an error."""
    with bad_input("line 1: there are two columns 'rating'"):
        read_pool([write(tmp_path, "text,rating,rating \na,1,2\n", "p.csv")])


def test_header_with_blanks_and_unnamed_columns(tmp_path: Path) -> None:
    """Blanks around names are dropped; columns without a name are left alone."""
    assert read_pool(
        [write(tmp_path, ",text, rating,\n0,a,1,\n", "p.csv")]
    ).pool.texts == ("a",)


@pytest.mark.parametrize("name", ["p.csv", "p.tsv"])
def test_header_only(tmp_path: Path, name: str) -> None:
    """A header without rows is an error."""
    header = "text,rating\n" if name == "p.csv" else "text\trating\n"
    with bad_input("no rows"):
        read_pool([write(tmp_path, header, name)])


@pytest.mark.parametrize("name", ["p.csv", "p.tsv", "p.jsonl", "p.txt", "p"])
def test_empty_file(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file without bytes is an error, and so is one of blank lines where rows are objects."""
    with bad_input("empty"):
        read_outputs([write(tmp_path, "", name)])
    if name != "p.txt":
        with bad_input(r"no rows|no header|no column"):
            read_pool([write(tmp_path, "\n\n", name)])
    with bad_input(r"no rows|no header"):
        read_outputs([write(tmp_path, gzip.compress(b""), name + ".gz")])


def test_missing_file_and_directory(tmp_path: Path) -> None:
    """A missing file and a directory say so."""
    with bad_input("no such file"):
        read_pool([str(tmp_path / "none.csv")])
    with bad_input("directory"):
        read_pool([str(tmp_path)])


@pytest.mark.parametrize(
    ("broken", "likely"),
    [("caf\xe9".encode("cp1252"), "cp1252"), (b"caf\xe9 \x81", "latin-1")],
)
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_broken_utf8(tmp_path: Path, broken: bytes, likely: str, end: bytes) -> None:
    """The error gives line, byte offset and the likely encoding; nothing is skipped."""
    content = end.join([b"text,rating", "é".encode() + b",1", broken + b",2", b"d,3"])
    offset = content.index(b"\xe9 " if b"\xe9 " in content else b"\xe9")
    path = write(tmp_path, content, "p.csv")
    for reading in (Reading(), SKIP):
        with bad_input(f"--read encoding={likely}") as caught:
            read_pool([path], reading)
        assert caught.value.line == 3
        assert f"byte 0xe9 at offset {offset} is not utf-8" in str(caught.value)
    assert (
        read_pool([path], Reading(encoding="latin-1"))
        .pool.texts[1]
        .startswith("caf\xe9")
    )


def test_broken_utf8_after_much_text(tmp_path: Path) -> None:
    """The place is right beyond the first buffer, also at the very end and in gzip."""
    content = b'{"text": "a", "rating": 1}\n' * 5000 + b'{"text": "\xc3'
    for name, data in (("p.jsonl", content), ("p.jsonl.gz", gzip.compress(content))):
        with bad_input(f"offset {len(content) - 1} ") as caught:
            read_pool([write(tmp_path, data, name)])
        assert caught.value.line == 5001


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["p.csv", "p"])
def test_utf16_without_its_flag(tmp_path: Path, encoding: str, name: str) -> None:
    """UTF-16 without its mark is told by its NULs, and the flag is named and works."""
    path = write(tmp_path, "text,rating\na,1\n".encode(encoding), name)
    with bad_input(f"--read encoding={encoding}$|--read encoding={encoding}\\."):
        read_pool([path])
    assert read_pool([path], Reading(encoding=encoding)).pool.texts == ("a",)


def test_broken_in_another_encoding(tmp_path: Path) -> None:
    """Bytes outside the chosen encoding point back at the flag."""
    path = write(tmp_path, b"text,rating\na\x81,1\n", "p.csv")
    with bad_input(r"line 2: byte 0x81 .*not cp1252.*check --read encoding"):
        read_pool([path], Reading(encoding="cp1252"))
    path = write(tmp_path, "text,rating\n".encode("utf-16") + b"a", "p.csv")
    for reading in (Reading(), Reading(encoding="utf-16")):
        with bad_input(r"not utf-16.*check --read encoding"):
            read_pool([path], reading)


def test_nul_in_a_cell(tmp_path: Path) -> None:
    """A NUL in a cell is a bad row, not another encoding."""
    for name, content in (
        ("p.csv", "text,rating\na\0,1\nb,2\n"),
        ("p.txt", "a\0\nb\n"),
    ):
        path = write(tmp_path, content, name)
        with bad_input(r"column 'text': a NUL character \(position 2\)"):
            read_outputs([path])
        assert read_outputs([path], SKIP).outputs.texts == ("", "b")


def test_damaged_gzip(tmp_path: Path) -> None:
    """Cut off, also after whole rows; a wrong checksum; a name that promises gzip."""
    rows = "".join(f'{{"text": "{i * 7919}", "rating": {i % 5}}}\n' for i in range(200))
    whole = gzip.compress(rows.encode())
    changed = whole[:-6] + bytes([whole[-6] ^ 1]) + whole[-5:]
    truncated = [(whole[:cut], "gzip data is truncated") for cut in (12, 40, 200)]
    for data, problem in (
        *truncated,
        (changed, "data is damaged"),
        (b"{}", "this is not gzip"),
    ):
        with bad_input(problem):
            read_pool([write(tmp_path, data, "p.jsonl.gz")])


WEIGHTS = {
    "number": ([1], "1 weight for 2 references"),
    "word": ([1, "x"], "not a list of weights"),
    "range": ([1, 1.5], "outside -1 to 1"),
    "null": (None, "0 weights"),
}


@pytest.mark.parametrize("case", WEIGHTS)
def test_weights_that_do_not_fit(tmp_path: Path, case: str) -> None:
    """Weights that are no numbers, too few or outside [-1, 1] are a bad row."""
    weights, found = WEIGHTS[case]
    row: dict[str, Any] = {"text": "a", "references": ["r", "s"], "weights": weights}
    path = write(tmp_path, json.dumps(row))
    with bad_input(f"column 'weights': .*{found}"):
        read_outputs([path])
    outputs = read_outputs([path], SKIP).outputs
    assert (outputs.bad, outputs.references, outputs.weights) == ((True,), ((),), ((),))


def test_references_that_are_no_strings(tmp_path: Path) -> None:
    """A reference that is no string is a bad row; no references are none."""
    path = write(
        tmp_path,
        '{"text": "a", "references": null}\n{"text": "b", "references": [5]}\n',
    )
    with bad_input("line 2, column 'references': 5 is not a string"):
        read_outputs([path])
    assert read_outputs([path], SKIP).outputs.references == ((), ())


def test_errors_have_file_line_column_and_remedy(tmp_path: Path) -> None:
    """The message reads file, line, column, what was found, what to do."""
    path = write(tmp_path, '{"t": "a", "rating": 9}')
    reading = Reading(columns=Columns(text="t"), scale=(1, 6))
    with pytest.raises(InputError) as caught:
        read_pool([path], reading)
    message = "rating 9 is outside the scale 1 to 6; correct it or change the scale."
    assert str(caught.value) == f"{path}, line 1, column 'rating': {message}"


def test_every_case_has_a_test() -> None:
    """Cases of docs/errors.md stand in errors.tsv, with tests that exist."""
    page = (ROOT / "docs" / "errors.md").read_text("utf-8")
    rows = re.findall(r"^\| (?!case \|)(.+?) (?<!\\)\| .*\|$", page, flags=re.MULTILINE)
    named = [
        line.split("\t")
        for line in (TESTS / "data" / "errors.tsv").read_text("utf-8").splitlines()
    ]
    assert rows == [case for case, _ in named]
    for case, tests in named:
        for file, test in re.findall(r"(test_\w+\.py)(?:::(test_\w+))?", tests):
            (path,) = TESTS.rglob(file)
            assert f"def {test}" in path.read_text("utf-8"), case
        assert ".py" in tests, case
