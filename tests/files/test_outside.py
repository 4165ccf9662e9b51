"""Files that others wrote: what is damaged, huge, endless or foreign is refused by name."""

import datetime as dt
import gzip
import os
import threading
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command_line import NEIGHBORS, jsonl, rated_rows, run, run_well
from refless import validate
from refless.data.tables import Reading, parquet, read_outputs, read_pool
from refless.registry.errors import InputError
from refusals import bad_input, bad_usage

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def table(folder: Path, **columns: Any) -> str:
    """Three rated rows as Parquet, with more columns."""
    plain = {"text": ["a", "b", "c"], "rating": [1, 2, 3]}
    path = folder / "p.parquet"
    pq.write_table(pa.table({**plain, **columns}), path)
    return str(path)


BROKEN = pa.array([b"fine", b"caf\xe9", b"ok"], pa.binary()).view(pa.string())
SENSIBLE = {  # what a cell is read as, from the types' own definitions
    "nanoseconds": (
        pa.array([1, 2, 10**9], pa.timestamp("ns")),
        "1970-01-01 00:00:00.000000001",
    ),
    "time": (pa.array([10**9, 2, 1], pa.time64("ns")), "00:00:01"),
    "date": (pa.array([0, 1, 2], pa.date32()), "1970-01-01"),
    "duration": (pa.array([1, 2, 3], pa.duration("s")), "0:00:01"),
    "decimal": (
        pa.array([Decimal("1.50"), Decimal(2), Decimal(3)], pa.decimal128(5, 2)),
        "1.50",
    ),
    "bytes": (pa.array([b"caf\xc3\xa9", b"b", b"c"], pa.binary()), "café"),
    "category": (pa.array(["x", "y", "x"]).dictionary_encode(), "x"),
    "short float": (pa.array([4.8, 1, 2], pa.float32()), "4.8"),
}


@pytest.mark.parametrize("case", SENSIBLE)
def test_foreign_cells_with_a_meaning(tmp_path: Path, case: str) -> None:
    """Dates, times, decimals, bytes and categories are names as people write them."""
    column, expected = SENSIBLE[case]
    arrow = pa.table({"text": ["a", "b", "c"], "system": column})
    for rows in (table(tmp_path, system=column), arrow):
        assert read_outputs(rows).outputs.systems[0].startswith(expected)


REFUSED = {
    "list": pa.array([["x"], ["y"], ["z"]]),
    "map": pa.array([[("a", 1)], [], []], pa.map_(pa.string(), pa.int64())),
    "struct": pa.array([{"a": 1}, {"a": 2}, {"a": 3}]),
    "no UTF-8": BROKEN.take(pa.array([1, 0, 2])),
    "far date": pa.array([500_000_000_000_000_000] * 3, pa.timestamp("us", "UTC")),
    "date out of range": pa.array([2**31 - 1, 0, 1], pa.date32()),
    "time out of range": pa.array([2**62, 0, 1], pa.timestamp("us")),
    "no such time zone": pa.array([1, 2, 3], pa.timestamp("s", "No/Where")),
    "bytes": pa.array([b"\xff", b"b", b"c"], pa.binary()),
}


@pytest.mark.parametrize("role", ["id", "text", "rating"])
@pytest.mark.parametrize("case", REFUSED)
def test_foreign_cells_without_one(tmp_path: Path, case: str, role: str) -> None:
    """A cell that is neither text nor number is refused with file, row and column."""
    path = table(tmp_path, **{role: REFUSED[case]})
    with pytest.raises(InputError) as caught:
        read_pool(path)
    found = caught.value
    assert (found.path, found.row, found.column) == (path, 1, role)


def test_a_bad_cell_is_one_bad_row(tmp_path: Path) -> None:
    """The others are read."""
    read = read_pool(table(tmp_path, text=BROKEN), Reading(skip_bad=True))
    assert (read.pool.texts, read.n_skipped) == (("fine", "ok"), 1)


def test_names_of_columns(tmp_path: Path) -> None:
    """No UTF-8, and one name twice."""
    path = table(tmp_path, colname=[1, 2, 3])
    Path(path).write_bytes(Path(path).read_bytes().replace(b"colname", b"coln\xffme"))
    with bad_input(r"p.parquet: not Parquet: .*utf-8"):
        read_pool(path)
    both = pa.Table.from_arrays(
        [pa.array(["a"]), pa.array(["b"])], names=["text", "text"]
    )
    pq.write_table(both, path)
    with bad_input("there are two columns 'text'"):
        read_outputs(path)


def test_objects_in_memory() -> None:
    """Whatever a list may hold is read or refused."""
    endless: list[Any] = []
    endless.append(endless)
    values = (
        endless,
        {1: 2, "a": 3},
        10**5000,
        b"\xff",
        {1, 2},
        3j,
        np.datetime64("NaT"),
    )
    for value in (*values, dt.date(2, 1, 1)):
        for role in ("id", "source", "text", "rating"):
            row = {"text": "a", "rating": 1, role: value}
            with suppress(InputError):
                read_pool([row, {"text": "b", "rating": 2, "id": "b", "source": "s"}])


def bomb(folder: Path, n: int = 20_000_000) -> str:
    """A packed file of some kB that holds so many bytes."""
    path = folder / "bomb.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"text": "a", "rating": 1}\n' + b" " * n, 9))
    return str(path)


def test_what_is_packed_has_a_limit(tmp_path: Path) -> None:
    """20 MB out of 20 kB, refused where 1 MB are allowed."""
    path = bomb(tmp_path)
    ran = run("validate", path, "--read", "max-bytes=1000000")
    assert ran.refuses(
        "bomb.jsonl.gz: the file holds more than 1000000 bytes, unpacked; if that"
    )
    assert len(read_pool(path).pool) == 1
    with bad_usage("reading max-bytes must be 1 or more"):
        validate(path, reading={"max-bytes": 0})


@pytest.mark.parametrize("kind", ["plain", "pipe", "parquet", "null"])
def test_other_files_have_the_same_limit(tmp_path: Path, kind: str) -> None:
    """Plain files, standard input, and Parquet, where equal values take no room in the file."""
    texts = ["a"] * 300_000
    columns = {"text": texts} if kind == "parquet" else {"x": pa.nulls(300_000)}
    path = tmp_path / "p"
    given = b""
    if kind in {"plain", "pipe"}:
        given = b"text,rating\n" + b"a,1\n" * 50_000
        path.write_bytes(given)
    else:
        pq.write_table(pa.table(columns), path)
    name, stdin = ("-", given) if kind == "pipe" else (str(path), b"")
    ran = run("validate", name, "--read", "max-bytes=100000", stdin=stdin)
    assert ran.refuses("holds more than 100000 bytes")


def repeated(n: int, length: int = 500_000) -> pa.DictionaryArray:
    """One long text so many times."""
    return pa.DictionaryArray.from_arrays(
        pa.array([0] * n, pa.int32()), pa.array(["x" * length])
    )


@pytest.mark.parametrize(
    "kind", ["declared", "plain", "in lists", "in structs", "fixed"]
)
def test_a_dictionary_is_as_large_as_what_it_stands_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """2 kB that unpack to 4 GB are refused before they are unpacked."""
    path = tmp_path / "p.parquet"
    texts = repeated(8_192)
    if kind == "in lists":
        texts = pa.ListArray.from_arrays(pa.array(range(8_193), pa.int32()), texts)
    if kind == "in structs":
        texts = pa.StructArray.from_arrays([texts], ["a"])
    if kind == "fixed":
        texts = pa.array([b"x" * 500_000], pa.binary(500_000)).take(
            pa.array([0] * 1_000)
        )
    rows = pa.table({"text": texts, "rating": [1] * len(texts)})
    pq.write_table(rows, path, compression="zstd", store_schema=kind != "plain")
    assert path.stat().st_size < 4_000
    del rows, texts
    before = pa.total_allocated_bytes()
    taken = []
    size_of = parquet._bytes

    def watched(column: Any) -> int:
        taken.append(pa.total_allocated_bytes() - before)
        return size_of(column)

    monkeypatch.setattr(parquet, "_bytes", watched)
    reading = Reading(max_bytes=100_000_000)
    with bad_input("holds more than 100000000 bytes, unpacked"):
        read_pool(str(path), reading)
    assert max(taken) < 150_000_000


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no such devices here")
@pytest.mark.parametrize("name", ["/dev/zero", "/dev/null", "/dev/full"])
def test_devices(name: str) -> None:
    """They have no end, or no rows."""
    ran = run("validate", name)
    assert ran.refuses(f"{name}: this is a device")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_pipes_with_names(tmp_path: Path) -> None:
    """They are read as rows."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    for read in (
        lambda: read_pool(str(path)).pool,
        lambda: (
            validate(path, estimator="gp").validation.pool
        ),  # looks at what it is first
    ):
        writer = threading.Thread(
            target=path.write_bytes, args=(b"text,rating\na,1\nb,2\n",)
        )
        writer.start()
        assert len(read()) == 2
        writer.join()


@pytest.mark.parametrize(
    "name",
    [
        "punycode",
        "undefined",
        "rot13",
        "base64",
        "idna",
        "hex",
        "a\0b",
        "\udcff",
        "x" * 999,
    ],
)
def test_encodings_that_no_file_has(tmp_path: Path, name: str) -> None:
    """Wrong usage, whatever Python makes of them."""
    ran = run(
        "validate",
        jsonl(tmp_path / "r.jsonl", rated_rows()),
        "--read",
        f"encoding={name}",
    )
    assert ran.refuses("is not a text encoding")


NAMES = {
    "no UTF-8": os.fsdecode(b"na\xffme.jsonl"),
    "escape": "a\x1b[2J.jsonl",
    "line end": "a\nb.jsonl",
    "blank": " .jsonl",
}


@pytest.mark.parametrize("case", NAMES)
def test_strange_names_are_read_and_written(tmp_path: Path, case: str) -> None:
    """Every byte but 0 and / may be in a name."""
    try:
        path = jsonl(tmp_path / NAMES[case], rated_rows())
    except OSError:
        pytest.skip("no such names here")
    for ending in ("html", "json", "md", "csv"):
        out = tmp_path / f"{NAMES[case]}.{ending}"
        ran = run_well("score", path, "--rated", path, *NEIGHBORS, "-o", out)
        assert out.stat().st_size > 0
        assert "\x1b" not in ran.err + ran.out


@pytest.mark.parametrize("name", ["x" * 300, "a/" * 3000, "x" * 300 + "/y.json"])
def test_names_that_no_file_can_have(tmp_path: Path, name: str) -> None:
    """Parts of more than 255 bytes: wherever a name can stand, exit 2."""
    rated = jsonl(tmp_path / "r.jsonl", rated_rows())
    for words in (
        ["validate", name],
        ["score", rated, "--rated", name],
        ["validate", rated, "-o", f"{name}.json"],
        ["validate", rated, "--estimator", f"gp:encoder=({name})"],
        ["mine", "--ratings", rated, "--out-dir", name, "--scale", 1, 5],
    ):
        ran = run(*words)
        assert (ran.code, "Traceback" in ran.err) == (2, False), (words, ran.err)


def test_deep_json(tmp_path: Path) -> None:
    """100,000 levels deep: a bad row, a key that cannot be read, an encoder's description."""
    deep = "[" * 100_000 + "]" * 100_000
    path = tmp_path / "r.jsonl"
    path.write_text(f'{{"text": "a", "source": {deep}, "rating": 1}}\n', "utf-8")
    ran = run("validate", path)
    assert ran.refuses("line 1: not JSON")
    (tmp_path / "key.jsonl").write_text(deep, "utf-8")
    ran = run("mine", "--ratings", path, "--out-dir", tmp_path, "--scale", 1, 5)
    assert ran.refuses("key.jsonl, line 1: this is no line of the key")


@pytest.mark.parametrize(
    ("fault", "status", "said"),
    [
        (MemoryError(), 2, "there is not enough memory"),
        (
            RuntimeError("DefaultCPUAllocator: not enough memory: you tried"),
            2,
            "not enough memory",
        ),
        (
            PermissionError(13, "Permission denied", "/x/y"),
            2,
            "/x/y: Permission denied",
        ),
        (OSError(28, "No space left on device"), 2, "No space left on device"),
        (KeyError("surprise"), 1, "KeyError: 'surprise'"),
        (ValueError("x"), 1, "ValueError: x"),
        (RecursionError(), 1, "RecursionError"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_faults_of_the_system_are_told_as_such(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fault: Exception,
    status: int,
    said: str,
) -> None:
    """Exit 2 and a sentence; what nobody foresaw has a traceback and a request to report it."""

    def broken(*_: object, **__: object) -> None:
        raise fault

    monkeypatch.setattr("refless.commands.validate.run.told_pool", broken)
    ran = run("validate", jsonl(tmp_path / "r.jsonl", rated_rows()))
    assert (ran.code, said in ran.err, ran.out) == (status, True, "")
    for line in ("Traceback", "Please report it"):
        assert (line in ran.err) == (status == 1)


def test_packed_parquet_is_read(tmp_path: Path) -> None:
    """It has to be unpacked first, as it is read from its end."""
    whole = Path(table(tmp_path)).read_bytes()
    path = tmp_path / "p.parquet.gz"
    path.write_bytes(gzip.compress(whole))
    assert read_pool(str(path)).pool.texts == ("a", "b", "c")
    path.write_bytes(gzip.compress(whole)[:-20])
    with bad_input("the gzip data is truncated"):
        read_pool(str(path))
