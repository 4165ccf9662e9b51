"""The command line run in this process, and files for it."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from rich.cells import cell_len

from refless.cli import main

NOUNS = ("ferry", "choir", "museum", "bridge", "school", "tower", "garden", "bakery")
VERBS = ("opens", "closes", "burns", "wins", "moves", "returns", "sinks", "sings")
ENDS = (
    "at noon",
    "in Torby",
    "after the storm",
    "for a year",
    "by the river",
    "again today",
)
NEIGHBORS = ("--estimator", "bleu-neighbors")
ANY_NEIGHBOR = ("--estimator", "bleu-neighbors:min_neighbors=1,max_fraction=1")


SHOWN = frozenset(  # questions whose text is brief unless all is asked for
    {"compare", "judge", "next", "validate", "score", "explain", "stress"}
)


def one_line(shown: object) -> str:
    """The text of an object, such as a result, on one line."""
    return " ".join(str(shown).split())


@dataclass(frozen=True)
class Ran:
    """The exit status and the output of a command line."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, which must be JSON and nothing else."""
        return json.loads(self.out)

    @property
    def line(self) -> str:
        """Standard output on one line."""
        return one_line(self.out)

    @property
    def notes(self) -> str:
        """Standard error on one line."""
        return one_line(self.err)

    def ended(self, code: int, said: str) -> bool:
        """Whether it ended with this status, and said so on standard error, lines aside."""
        return self.code == code and (said in self.err or said in self.notes)

    def refuses(self, said: str) -> bool:
        """Whether it ended as wrong usage or input do, and said why."""
        return self.ended(2, said)

    @property
    def found(self) -> Any:
        """Its JSON without the notes, which name files."""
        return unnoted(self.json)


def unnoted(result: Mapping[str, Any]) -> dict[str, Any]:
    """The object of a result without what was noticed on the way."""
    return {name: value for name, value in result.items() if name != "notes"}


def run(*words: object, stdin: str | bytes = b"") -> Ran:
    """`refless WORDS...` in this process, with its exit status; text is shown whole."""
    if words and words[0] in SHOWN and "--format" not in words:
        words = (*words, "--format", "text")
    given = stdin.encode() if isinstance(stdin, str) else stdin
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    err = io.StringIO()
    code = 0
    with (
        redirect_stdout(out),
        redirect_stderr(err),
        mock.patch.object(sys, "argv", ["refless", *map(str, words)]),
        mock.patch.object(
            sys, "stdin", io.TextIOWrapper(io.BytesIO(given), encoding="utf-8")
        ),
    ):
        try:
            main()
        except SystemExit as left:
            code = left.code if isinstance(left.code, int) else int(bool(left.code))
    return Ran(code, out.buffer.getvalue().decode(), err.getvalue())  # type: ignore[attr-defined]


def run_well(*words: object, stdin: str | bytes = b"") -> Ran:
    """The same of a command line that must end with status 0."""
    ran = run(*words, stdin=stdin)
    assert ran.code == 0, ran.err
    return ran


def json_of(*words: object) -> Any:
    """The JSON that a command line writes to standard output."""
    return run(*words, "--format", "json").json


def repeated(flag: str, values: Iterable[object]) -> list[object]:
    """The words of a flag that is given once for each value."""
    words: list[object] = []
    for value in values:
        words += [flag, value]
    return words


def run_source(source: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """The command line of a copy of the source, as a process that knows of nothing else."""
    return subprocess.run(
        [sys.executable, "-m", "refless", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(source), "PATH": "", "HOME": str(source)},
        cwd=source,
    )


def headlines(n: int) -> list[str]:
    """Short texts that share some words, so that each has some neighbours but not all."""
    return [
        f"{NOUNS[i % 8]} {VERBS[(i // 8 + 3 * i) % 8]} {ENDS[(i * 5 + i // 6) % 6]} {i}"
        for i in range(n)
    ]


def rated_rows(n: int = 48, people: int = 3) -> list[dict[str, object]]:
    """Rated headlines, 1 to 5, each by so many people; what ends in Torby is liked."""
    rows = []
    for i, text in enumerate(headlines(n)):
        liked = 3 if "Torby" in text or "river" in text else 1
        for who in range(people):
            rating = liked + (i * 7 + who * 3) % 3
            row = {
                "id": f"t{i:03}",
                "source": f"s{i // 4}",
                "system": f"m{i % 4}",
                "text": text,
            }
            rows.append({**row, "annotator": f"p{who}", "rating": rating})
    return rows


def output_rows(n: int = 12) -> list[dict[str, object]]:
    """Outputs of two systems; the last one is too short for an estimate."""
    texts = [
        f"{VERBS[i % 8]} the {NOUNS[(i * 3) % 8]} {ENDS[i % 6]}" for i in range(n - 1)
    ] + ["ab"]
    return [
        {"id": f"o{i:02}", "system": f"m{i % 2}", "source": f"s{i // 2}", "text": text}
        for i, text in enumerate(texts)
    ]


def new_rows(n: int = 12, after: int = 48) -> list[dict[str, object]]:
    """Outputs of two systems, of the kind of so many rated headlines."""
    texts = headlines(after + n)[after:]
    return [
        {**row, "text": text} for row, text in zip(output_rows(n), texts, strict=True)
    ]


def jsonl(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    """The rows as a JSONL file."""
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text("".join(lines), encoding="utf-8")
    return path


def too_wide(text: str, width: int = 80) -> list[str]:
    """Lines of more columns than `width`; command lines and signatures are left whole."""
    return [
        line
        for line in text.splitlines()
        if cell_len(line) > width and not line.startswith(("  refless ", "signature: "))
    ]
