"""No space at a drawn moment: exit status 2, the old state whole, nothing half-written left.

Files that grow beyond a drawn size fail in the child (RLIMIT_FSIZE), or its n-th flush to the disk
does as on a full one. Where root may mount, a small file system is filled as well.
"""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from fuzz.forks import (
    NEIGHBORS,
    TINY,
    Budget,
    Found,
    Words,
    campaign,
    command,
    ended,
    fork,
    jsonl,
    let_through,
    rows,
)


def full_at_flush(count: int) -> None:
    """From the n-th flush on there is no space."""
    left = [count]
    flush = os.fsync

    def full(handle: int) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        flush(handle)

    os.fsync = full  # type: ignore[assignment]


def full_at_size(size: int) -> None:
    """No file grows beyond so many bytes."""
    import resource

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def once(
    folder: Path, rng: random.Random, found: Found, shrink: Callable[[], None]
) -> None:
    """One command that is short of space."""
    rated = folder / f"r{rng.randrange(2)}.jsonl"
    outputs = folder / "o.jsonl"
    words: Words = rng.choice(commands(folder, rated, outputs))
    reader, writer = os.pipe()  # a file would be full too

    def work() -> int:
        os.dup2(writer, 2)
        shrink()
        return command(words, Path(f"/dev/fd/{writer}"))

    status = ended(fork(work))
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8", errors="replace") as told:
        text = told.read()
    found.executions += 1
    found.hold(f"{words[0]} exits {status}", holds=status in (0, 2), told=text[-300:])
    if status == 2:
        found.hold(
            f"{words[0]} says", holds="cannot be written" in text, told=text[-300:]
        )
    check(folder, found)


def commands(folder: Path, rated: Path, outputs: Path) -> list[Words]:
    """What is run."""
    written = folder / "written"
    return [
        ("fit", rated, "--to", written / "fit.safetensors", *NEIGHBORS),
        ("train", rated, "--to", written / "net.safetensors", *TINY),
        ("score", outputs, "--rated", rated, *NEIGHBORS, "-o", written / "o.json"),
    ]


def check(folder: Path, found: Found) -> None:
    """All files are whole, and nothing is beside them."""
    from refless import load
    from refless.registry.errors import RefLessError

    written = folder / "written"
    try:
        load(written / "fit.safetensors")
        load(written / "net.safetensors")
        json.loads((written / "o.json").read_text(encoding="utf-8"))
    except (RefLessError, ValueError) as fault:
        found.hold("not whole", holds=False, told=fault)
    left = sorted(path.name for path in written.iterdir())
    found.hold("left", holds=len(left) == 3, told=left)


def begin(folder: Path) -> None:
    """Sound states, before the disk is full."""
    for i in range(2):
        jsonl(folder / f"r{i}.jsonl", rows(100 * i, 30))
    jsonl(folder / "o.jsonl", rows(500, 5))
    (folder / "written").mkdir()
    for words in commands(folder, folder / "r0.jsonl", folder / "o.jsonl"):
        status = let_through(lambda words=words: command(words))  # type: ignore[misc]
        if status:
            raise RuntimeError(f"{words} exits {status}")


def mounted(folder: Path, rng: random.Random, found: Found, budget: Budget) -> None:
    """The same on a small file system that is filled up to a drawn number of bytes."""
    disk = folder / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        print("full_disk: no file system is mounted here, that part is skipped")
        return
    try:
        begin(disk)
        first = found.executions
        while budget.left(found.executions - first):
            free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
            (disk / "filler").write_bytes(b"0" * rng.randrange(max(1, free)))
            once(disk, rng, found, lambda: None)
            (disk / "filler").unlink()
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def fill(folder: Path, rng: random.Random, found: Found, budget: Budget) -> None:
    """So many commands, and a quarter as many on a file system of their own."""
    begin(folder)
    while budget.left(found.executions):
        count = rng.randrange(45)
        size = int(2 ** rng.uniform(0, 17))
        shrink: Callable[[], None] = rng.choice(
            (lambda n=count: full_at_flush(n), lambda n=size: full_at_size(n))
        )
        once(folder, rng, found, shrink)
    mounted(folder, rng, found, Budget(budget.runs // 4, budget.seconds / 4))


def main(argv: Sequence[str] | None = None) -> int:
    """Runs so many commands."""
    return campaign("full_disk", argv, 200, __doc__, fill)


if __name__ == "__main__":
    sys.exit(main())
