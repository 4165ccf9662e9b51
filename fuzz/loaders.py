"""Saved files whose content lies: fitted estimators of each kind.

Only errors of refless come out, and what is let in can be used without a crash. Children do it in
batches, so that a crash of one is seen and the seed of its execution is told.
"""

from __future__ import annotations

import json
import mmap
import random
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.forks import Budget, Found, campaign, command, ended, fork, jsonl, rows

PART = "gp:use_source=no"
NETWORK = "ratpred:embedding=4,hidden=4,epochs=2,synthetic_epochs=1"
FITTED = {"gp": "gp", "part": PART, "neighbors": "bleu-neighbors", "network": NETWORK}
KIND = "fitted estimator"
BATCH = 500
DEADLINE = 60.0  # seconds of a processor for a batch
NUMBERS = (
    0,
    1,
    -1,
    2,
    7,
    31,
    32,
    255,
    256,
    8192,
    65535,
    2**31 - 1,
    2**31,
    2**53,
    2**62,
    -(2**62),
)
VALUES: tuple[Any, ...] = (
    *NUMBERS, 10**30, 0.5, -0.5, 1e308, float("nan"), float("inf"), None, True, False, "", "x",
    "char", "words", "../..", "\ud800", [], [1], [1, 2, 3], {}, {"a": 1}, [[1.0], [2.0]],
)  # fmt: skip


class Saved:
    """A sound file, of which each execution writes a changed copy beside it."""

    def __init__(self, path: Path) -> None:
        from refless.files.arrays import read_arrays

        self.path = path
        self.copy = path.with_name(f"copy-{path.name}")
        self.content = path.read_bytes()
        self.facts, self.arrays = read_arrays(path, KIND, "")

    def lie(self, rng: random.Random) -> None:
        """Writes other bytes, or a whole file with other facts and arrays."""
        from refless.files.arrays import write_arrays

        if rng.random() < 0.3:
            self.copy.unlink(missing_ok=True)  # it may be mapped
            self.copy.write_bytes(tensors(self.content, rng))
            return
        facts = json.loads(json.dumps(self.facts))
        arrays = dict(self.arrays)
        for name in rng.sample(sorted(arrays), rng.choice((0, 1, 1, 1, 2))):
            arrays[name] = array_lie(arrays[name], rng)
        if rng.random() < 0.3:
            edited(facts, rng)
        write_arrays(self.copy, KIND, facts, arrays)


def array_lie(array: np.ndarray[Any, Any], rng: random.Random) -> np.ndarray[Any, Any]:
    """Some entries, or the length, or the order, or the type of numbers changed."""
    way = rng.randrange(8)
    array = array.copy()
    flat = array.reshape(-1)
    if way <= 3 and flat.size:
        for _ in range(rng.choice((1, 1, 2, 5))):
            place = rng.choice((0, flat.size - 1, rng.randrange(flat.size)))
            near = (
                int(flat[place]) + rng.choice((-2, -1, 1, 2))
                if np.isfinite(flat[place])
                else 0
            )
            with np.errstate(all="ignore"):
                value = np.array(rng.choice((*NUMBERS, near, near))).astype(array.dtype)
            flat[place] = value
        return array
    if way == 4:
        return array[: rng.randrange(len(array) + 1)]
    if way == 5:
        return np.concatenate([array, array[: rng.randrange(3)]])
    if way == 6:
        with np.errstate(all="ignore"):
            return array.astype(
                rng.choice((np.float64, np.int64, np.int32, np.float32, np.uint8))
            )
    return rng.choice(
        (array[::-1].copy(), array.T.copy(), array.reshape(-1, 1), np.sort(flat))
    )


def tensors(content: bytes, rng: random.Random) -> bytes:
    """Safetensors with another head, other bytes or other tables."""
    size = int.from_bytes(content[:8], "little")
    if rng.random() < 0.3:
        place = rng.randrange(len(content))
        return content[:place] + bytes([rng.randrange(256)]) + content[place + 1 :]
    if rng.random() < 0.2:
        return content[: rng.randrange(len(content))]
    head = json.loads(content[8 : 8 + size])
    name = rng.choice(sorted(head))
    way = rng.randrange(6)
    if way == 0:
        del head[name]
    elif way == 1:
        head[rng.choice(("x", f"9{name}", f"{name}.x"))] = head.pop(name)
    elif way == 2:
        head[name]["shape"] = rng.choice(
            ([], [1], [0], [2**40, 2**40], head[name].get("shape", [])[::-1])
        )
    elif way == 3:
        head[name]["dtype"] = rng.choice(
            ("F64", "F16", "BF16", "I64", "BOOL", "F8_E4M3", "U8", "X")
        )
    elif way == 4:
        head[name]["data_offsets"] = [rng.choice(NUMBERS), rng.choice(NUMBERS)]
    else:
        head[name] = rng.choice(VALUES)
    try:
        raw = json.dumps(head).encode()
    except ValueError:
        return content
    return len(raw).to_bytes(8, "little") + raw + content[8 + size :]


def edited(manifest: dict[str, Any], rng: random.Random) -> None:
    """Another value, or none, somewhere in a manifest."""
    place: Any = manifest
    for _ in range(rng.choice((0, 0, 1, 2, 3))):
        keys = sorted(place) if isinstance(place, dict) else range(len(place))
        inner = [
            key for key in keys if isinstance(place[key], dict | list) and place[key]
        ]
        if not inner:
            break
        place = place[rng.choice(inner)]
    key = (
        rng.choice(sorted(place))
        if isinstance(place, dict)
        else rng.randrange(len(place))
    )
    if rng.random() < 0.15:
        del place[key]
    else:
        place[key] = rng.choice(VALUES)


def use(path: Path) -> None:
    """Opens a fitted estimator, estimates and explains."""
    from refless import load

    model = load(path, threads=1)
    texts = ["ferry choir 7 at noon", "", "x" * 40, "museum bridge opens today 12"]
    model.estimate({"text": texts, "source": ["s1", "", "s2", "s9"]})
    model.explain(texts[0] if not model.rated.sources else _sourced(texts[0]))
    str(model.signature())


def _sourced(text: str) -> Any:
    from refless.estimators.inputs import outputs_in

    return outputs_in({"text": [text], "source": ["s1"]})


def made(folder: Path) -> tuple[Saved, ...]:
    """What is lied about: a fitted estimator of each kind."""
    rated = jsonl(folder / "rated.jsonl", rows(0, 40))
    said = folder / "said"
    paths = [folder / f"{name}.safetensors" for name in FITTED]
    for path, spec in zip(paths, FITTED.values(), strict=True):
        if command(("fit", rated, "--to", path, "--estimator", spec), said):
            raise RuntimeError(said.read_text(encoding="utf-8"))
    sys.stdout = sys.__stdout__
    sys.stderr = sys.__stderr__
    return tuple(map(Saved, paths))


def once(saved: Saved, rng: random.Random) -> str:
    """One execution; the name of what came out that should not."""
    from refless.registry.errors import RefLessError

    saved.lie(rng)
    try:
        use(saved.copy)
    except RefLessError:
        pass
    except Exception as fault:  # noqa: BLE001 - that is what is looked for
        where = fault.__traceback__
        while where and where.tb_next:
            where = where.tb_next
        place = (
            f"{Path(where.tb_frame.f_code.co_filename).name}:{where.tb_lineno}"
            if where
            else ""
        )
        return f"{type(fault).__name__} {place}: {str(fault)[:100]}"
    return ""


def batch(saved: Sequence[Saved], seeds: range, now: mmap.mmap, told: Path) -> int:
    """Executions one after the other; the seed of the one under way stands in shared memory."""
    signal.setitimer(signal.ITIMER_PROF, DEADLINE)
    with np.errstate(all="ignore"), told.open("a", encoding="utf-8") as lines:
        for seed in seeds:
            now[:8] = seed.to_bytes(8, "little")
            rng = random.Random(seed)
            fault = once(rng.choice(saved), rng)
            if fault:
                lines.write(f"{fault}\tseed {seed}\n")
    return 0


def lie(folder: Path, rng: random.Random, found: Found, budget: Budget) -> None:
    """So many executions."""
    first = rng.randrange(2**40)
    now = mmap.mmap(-1, 8)
    saved = made(folder)
    told = folder / "told"
    told.touch()
    begin = first
    while budget.left(begin - first):
        seeds = range(begin, min(begin + BATCH, first + budget.runs))
        child = fork(lambda seeds=seeds: batch(saved, seeds, now, told))  # type: ignore[misc]
        status = ended(child)
        last = int.from_bytes(now[:8], "little")
        if status:
            found.hold(f"status {status}", holds=False, told=f"seed {last}")
        begin = last + 1
    found.executions = begin - first
    for line in told.read_text(encoding="utf-8").splitlines():
        kind, _, seed = line.rpartition("\t")
        found.hold(kind, holds=False, told=seed)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs so many executions."""
    return campaign("loaders", argv, 100_000, __doc__, lie)


if __name__ == "__main__":
    sys.exit(main())
