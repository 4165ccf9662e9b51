"""Nasty command lines: every command on every nasty file, and every flag with nasty values.

Whatever is asked, the exit status is 0, 2, 3, 4 or 130, there is no traceback, and nothing that
commands the terminal. `python -m fuzz.command_lines --runs 290`.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from unittest import mock

from fuzz.forks import asked
from refless.cli import main as refless

Line = tuple[str, ...]
ALLOWED = {0, 2, 3, 4, 130}
PATIENCE = 120  # seconds that a command line may take
AS_PROCESS = 50  # every so many lines one is run as a real process as well
COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
FAST = "bleu-neighbors:min_neighbors=1,max_fraction=1"
ON_ROWS: dict[str, Line] = {  # each command with IT where a file of rows goes
    "validate": ("validate", "IT", "--estimator", FAST),
    "score": ("score", "IT", "--rated", "good.jsonl", "--estimator", FAST),
    "score by": ("score", "good.jsonl", "--rated", "IT", "--estimator", FAST),
    "compare": ("compare", "IT", "--estimator", FAST),
    "compare with": (
        "compare",
        "good.jsonl",
        "IT",
        "--rated",
        "IT",
        "--estimator",
        FAST,
    ),
    "next": ("next", "IT", "--goal", "compare", "--estimator", FAST),
    "next with": (
        "next",
        "good.jsonl",
        "--goal",
        "mean",
        "--rated",
        "IT",
        "--estimator",
        FAST,
    ),
    "explain": ("explain", "a text", "--rated", "IT", "--estimator", FAST),
    "from a model": ("score", "IT", "--model", "fit-of-it.safetensors"),
    "fit": ("fit", "IT", "--to", "fit-of-it.safetensors", "--estimator", FAST),
    "metric": ("metric", "IT", "-m", "bleu"),
    "judge": ("judge", "IT", "-m", "bleu"),
    "huse": ("huse", "IT"),
    "mine": ("mine", "IT", "--seeds", "good.jsonl", "--out-dir", "mined"),
    "stress": ("stress", "IT", "-m", "bleu"),
}
IN_SPECS = (
    "bleu-neighbors:kernel=(bleu*:tokenize=({}))",
    "gp:encoder=({})",
    "ratpred:model=({})",
)
VALUES: dict[str, Sequence[str]] = {
    "--seed": ("-1", "9" * 30, "0.5", "", "\x1b[2J"),
    "--threads": ("0", "-4", "9" * 30),
    "--read": (
        "encoding=punycode", "encoding=undefined", "encoding=rot13", "encoding=base64",
        "encoding=utf-16", "encoding=idna", "encoding=", "encoding=\udcff",
        "format=nonsense", "format=parquet", "format=csv", "format=text", "format=tsv",
        "format=", "max-bytes=0", "max-bytes=-1", "max-bytes=1", "max-bytes=" + "9" * 30,
        "rating-map=", "rating-map==", "rating-map=a=", "rating-map=a=1,a=2",
        "rating-map=a=nan", "rating-map=\x1b=1", "rating-map=5=1",
    ),
    "--column": (
        "rating=", "rating=*", "nothing", "nothing=x", "=x", "rating=?", "rating=[",
        "rating=text", "rating=\x1b[31m", "rating=rating*", "text=", "text=rating",
        "text=\udcff", "text=nope", "id=text", "id=rating", "id=",
    ),
    "--group": ("", "text", "nope", "\x1b", "id", "system"),
    "--estimator": (
        "", ":", "gp:", "gp:max_sd=nan", "gp:max_sd=" + "9" * 5000, "bleu-neighbors:kernel=((",
        "gp:encoder=.", "gp:encoder=\x1b[2J", "ratpred", "ratpred:model=.", "x" * 5000, "gp:seed=²",
        "bleu-neighbors:kernel=(bleu*:orders=99999999999-99999999999999)", "gp:layer=1",
        "bleu-neighbors:kernel=(bertscore:model=.)", "bleu-neighbors:tau=1e-300",
    ),
    "--format": ("", "html", "json", "csv", "jsonl", "md"),
    "-o": (
        "", "x", "x.txt", ".json", "/", "/dev/null", "/dev/full", "no/such/x.json", "good.jsonl",
        "x" * 300 + ".json", "\udcff\x1b[2J.html", "folder/../good.jsonl", "folder", "/proc/x.csv",
    ),
}  # fmt: skip
LINES: tuple[Line, ...] = (
    (), ("",), ("--",), ("-h",), ("--version",), ("nope",), ("\x1b[31m",), ("\udcff",), ("-",),
    ("validate",), ("validate", ""), ("validate", "-", "-"), ("validate", "--", "-h"),
    ("validate", "good.jsonl", "good.jsonl"), ("validate", "good.jsonl", "--scale", "nan", "inf"),
    ("validate", "good.jsonl", "--scale", "5", "1"), ("validate", "good.jsonl", "--scale", "1"),
    ("validate", "good.jsonl", "--scale", "-1e308", "1e308", "--estimator", FAST),
    ("validate", "x" * 300), ("validate", "a/" * 3000), ("validate", "good.jsonl/x"),
    ("validate", "good.jsonl", "--csv-safe", "--format", "csv", "--estimator", FAST),
    ("validate", "good.jsonl", "--csv-safe=1"), ("validate", "good.jsonl", "--nope\x1b[2J"),
    ("score",), ("score", "good.jsonl", "--group", "\x1b"), ("score", "-", "--rated", "-"),
    ("score", "good.jsonl", "--rated", "good.jsonl", "--min-mean", "nan"),
    ("score", "good.jsonl", "--rated", "good.jsonl", "--min-mean", "1e999", "--estimator", FAST),
    ("score", "good.jsonl", "--rated", "good.jsonl", "--min-mean", "4.9", "--estimator", FAST),
    ("next",), ("next", "good.jsonl", "--goal", "\x1b[2J"), ("next", "-", "--rated", "-"),
    ("next", "good.jsonl", "--goal", "mean", "--within", "nan", "-n", "99999999999999999999"),
    ("next", "good.jsonl", "--goal", "learn", "-n", "-1"), ("next", "", "--goal", "learn"),
    ("compare",), ("compare", ""), ("compare", "-", "-"), ("compare", "-", "--rated", "-"),
    ("gate", "good.jsonl", "good.jsonl", "--baseline", "m", "--estimator", FAST),
    ("gate", "good.jsonl", "good.jsonl", "--margin", "nan", "--baseline", "\x1b[2J"),
    ("compare", "good.jsonl", "--selection", "\x1b[2J"), ("compare", "good.jsonl", "--stratify"),
    ("compare", "good.jsonl", "--system", "\x1b[2J"), ("compare", "good.jsonl", "--system", ""),
    ("explain", "", "--rated", "good.jsonl", "--estimator", FAST),
    ("explain", "\x1b[2J\u202e", "--rated", "good.jsonl", "--estimator", FAST),
    ("explain", "\udcff", "--rated", "good.jsonl", "--estimator", FAST),
    ("explain", "--id", "nope", "--rated", "good.jsonl"), ("explain", "x" * 10**5, "--rated", "-"),
    ("train", "good.jsonl", "--to", "good.jsonl"), ("train", "empty.jsonl"),
    ("train", "good.jsonl", "--to", "t.safetensors", "--estimator", "gp"),
    *(
        ("train", "good.jsonl", "--to", "t.safetensors", "--estimator", f"ratpred:{wrong}")
        for wrong in ("epochs=0", "hidden=-1", "device=\x1b[2J")
    ),
    ("metric", "good.jsonl", "-m", ""), ("metric", "good.jsonl", "-m", "bleu", "-m", "bleu"),
    ("metric", "good.jsonl", "-m", "bertscore:model=folder", "--column", "reference=text"),
    ("metric", "good.jsonl", "--reference-file", "binary"), ("metric", "--reference-file", ""),
    ("judge", "good.jsonl", "--score-column", "\x1b"), ("judge", "good.jsonl", "--resamples", "-1"),
    ("huse", "good.jsonl", "--column", "logprob=text"), ("huse", "good.jsonl", "--neighbors", "0"),
    ("mine",), ("mine", "--out-dir", "."), ("mine", "--ratings", "good.jsonl", "--out-dir", "."),
    ("mine", "good.jsonl", "--seeds", "good.jsonl", "--out-dir", "x" * 300),
    ("stress", "good.jsonl"), ("stress", "good.jsonl", "--scorer", "exit 7"),
    ("stress", "good.jsonl", "--scorer", "\x1b"), ("stress", "good.jsonl", "--probe", "x"),
    ("demo", "--out-dir", "good.jsonl"), ("demo", "--out-dir", ""), ("demo", "--seed", "-1"),
    ("demo", "--out-dir", "x" * 300), ("demo", "--out-dir", "/proc/x"),
    ("list", "nope"), ("list", "metrics", "--get", "x"), ("list", "estimators", "-o", "x.exe"),
)  # fmt: skip


def files(folder: Path) -> list[str]:
    """Makes the nasty files; their names."""
    good = [
        {
            "id": f"t{i}",
            "system": f"m{i % 2}",
            "text": f"text number {i % 7}",
            "rating": i % 5 + 1,
        }
        for i in range(24)
    ]
    whole = "".join(json.dumps(row) + "\n" for row in good).encode()
    (folder / "good.jsonl").write_bytes(whole)
    (folder / "folder").mkdir()
    content: dict[str, bytes] = {
        "empty.jsonl": b"",
        "blank.csv": b"\n \n\n",
        "header.csv": b"text,rating\n",
        "binary": bytes(range(256)) * 9,
        "zeros.csv": b"\0" * 9999,
        "damaged.jsonl.gz": gzip.compress(whole)[:-9],
        "altered.jsonl.gz": gzip.compress(whole)[:30]
        + b"\xff" * 30
        + gzip.compress(whole)[60:],
        "no-gzip.jsonl.gz": whole,
        "deep.jsonl": b'{"text": "a", "rating": '
        + b"[" * 100_000
        + b"]" * 100_000
        + b"}",
        "array.json": b"[" + whole.replace(b"\n", b",") + b"{}]",
        "digits.jsonl": b'{"text": "a", "rating": ' + b"9" * 10_000 + b"}",
        "latin.csv": "text,rating\ncaf\xe9,1\n".encode("latin-1"),
        "utf-16.csv": "text,rating\nab,1\n".encode("utf-16"),
        "quote.csv": b'text,rating\n"a,1\nb,2\n',
        "columns.csv": b"text,text,rating\na,b,1\n",
        "escape.csv": b"te\x1b[2Jxt,rating,id\n\x1b]0;x\x07,1,\x1b[31m\n=1+1,2,@x\n",
        "surrogate.jsonl": b'{"text": "\\ud800", "rating": 1}\n',
        "huge.csv": b"text,rating\na,1e308\nb,-1e308\nc,1e-320\n",
        "damaged.parquet": b"PAR1" + bytes(range(200)) + b"PAR1",
        "one-line.txt": b"a" * 10**6,
        "\udcff\x1b[2J.jsonl": whole,
    }
    for name, raw in content.items():
        with suppress(OSError):  # not every system has such names
            (folder / name).write_bytes(raw)
    (folder / "loop.csv").symlink_to("loop.csv")
    (folder / "nothing.csv").symlink_to("missing.csv")
    return [
        *content,
        *_parquet(folder),
        "loop.csv",
        "nothing.csv",
        "folder",
        "/dev/zero",
        "/dev/null",
    ]


def _parquet(folder: Path) -> list[str]:
    """Files of Parquet with columns of foreign types; none without pyarrow."""
    with suppress(ImportError):
        import pyarrow as pa
        from pyarrow import parquet

        broken = pa.array([b"a", b"\xff"], pa.binary()).view(pa.string())
        columns = {
            "nested": pa.array([["a"], ["b"]]),
            "broken": broken,
            "dates": pa.array([2**31 - 1, 0], pa.date32()),
            "times": pa.array([1, 2], pa.timestamp("ns")),
        }
        for name, column in columns.items():
            table = pa.table({"text": column, "rating": [1, 2], "id": column})
            parquet.write_table(table, folder / f"{name}.parquet")
        return [f"{name}.parquet" for name in columns]
    return []


def lines(names: Sequence[str]) -> list[Line]:
    """All command lines."""
    found = [*LINES]
    for words in ON_ROWS.values():
        found += [
            tuple(name if word == "IT" else word for word in words) for name in names
        ]
    known = ("validate", "good.jsonl", "--estimator", FAST)
    for flag, values in VALUES.items():
        found += [(*known, flag, value) for value in values]
    found += [
        ("judge", "good.jsonl", "--resamples", value) for value in ("0", "-1", "9" * 30)
    ]
    for spec in IN_SPECS:
        found += [
            ("validate", "good.jsonl", "--estimator", spec.format(one))
            for one in names[::4]
        ]
    return found


@contextmanager
def workplace() -> Iterator[list[Line]]:
    """A folder with the nasty files, which is the current one meanwhile; all command lines."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="refless-lines-") as folder:
        names = files(Path(folder))
        os.chdir(folder)
        try:
            yield lines(names)
        finally:
            os.chdir(before)


def ran(words: Line) -> tuple[int, str]:
    """`refless WORDS...` in this process: its exit status, and what it said to people."""
    out = io.TextIOWrapper(
        io.BytesIO(), encoding="utf-8", errors="replace", write_through=True
    )
    err = io.StringIO()
    nothing = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with (
        redirect_stdout(out),
        redirect_stderr(err),
        mock.patch.object(sys, "argv", ["refless", *words]),
        mock.patch.object(sys, "stdin", nothing),
    ):
        try:
            refless()
            status = 0
        except SystemExit as left:
            status = left.code if isinstance(left.code, int) else int(bool(left.code))
    data = any(one in words for one in ("csv", "json", "jsonl"))
    shown = "" if data else out.buffer.getvalue().decode()
    return status, err.getvalue() + shown


def as_process(words: Line) -> tuple[int, str]:
    """The same as a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "refless", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=PATIENCE,
    )
    return done.returncode, done.stderr.decode("utf-8", "replace")


def wrong(status: int, said: str) -> str:
    """What is wrong with how a command line ended; "" for nothing."""
    if "Traceback" in said:
        return f"a traceback: {said.strip().splitlines()[-1][:200]}"
    if status not in ALLOWED:
        return f"exit status {status}: {said.strip()[-200:]}"
    found = COMMANDS.search(said)
    return f"{found[0]!r} reaches the terminal" if found else ""


@contextmanager
def _patient() -> Iterator[None]:
    """Ends what takes too long; on systems without such signals nothing does."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def late(*_: object) -> None:
        raise TimeoutError(f"no end after {PATIENCE} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs so many of the command lines; 1 where one ends badly."""
    budget, seed = asked(argv, 10**6, __doc__)
    faults: dict[str, Line] = {}
    count = 0
    with workplace() as all_lines:
        random.Random(seed).shuffle(all_lines)
        for number, words in enumerate(all_lines, 1):
            if not budget.left(number - 1):
                break
            for way in (ran, as_process) if number % AS_PROCESS == 0 else (ran,):
                count += 1
                with _patient():
                    fault = wrong(*way(words))
                if fault and fault not in faults:
                    faults[fault] = words
                    shown = [word[:80] for word in words]
                    print(f"FAULT {fault!r} of {shown!r}", flush=True)
    print(f"command_lines: {count} executions, {len(faults)} unique faults")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
