"""Folders whose seals hold and whose content lies: index, fitted estimator, model, checkpoint.

Only errors of refless come out, and what is let in can be used without a crash. Children do it in
batches, so that a crash of one is seen and the seed of its execution is told.
"""

from __future__ import annotations

import hashlib
import io
import json
import mmap
import random
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from fuzz.forks import TINY, Budget, Found, campaign, command, ended, fork, jsonl, rows

WORDS = "bleu*:tokenize=words,orders=1-2,clip=no"
INDUCING = "gp:exact_up_to=20,inducing=10,use_source=no"
FITTED = ("gp", "inducing", "neighbors")
BATCH = 500
DEADLINE = 60.0  # seconds of a processor for a batch
NUMBERS = (0, 1, -1, 2, 7, 31, 32, 255, 256, 8192, 65535, 2**31 - 1, 2**31, 2**53, 2**62, -(2**62))
VALUES: tuple[Any, ...] = (
    *NUMBERS, 10**30, 0.5, -0.5, 1e308, float("nan"), float("inf"), None, True, False, "", "x",
    "char", "words", "../..", "\ud800", [], [1], [1, 2, 3], {}, {"a": 1}, [[1.0], [2.0]],
    "gru", "lstm", "cnn",
)  # fmt: skip


class Saved:
    """A sound folder whose files are changed one execution, and put back before the next."""

    def __init__(self, folder: Path, manifest: str, use: Callable[[Path], None]) -> None:
        self.folder, self.path, self.use = folder, folder / manifest, use
        self.sound = json.loads(self.path.read_text(encoding="utf-8"))
        self.whole = self.path.read_bytes()
        self.data = folder / self.sound["data"]
        self.files = {path: path.read_bytes() for path in self.data.iterdir()}

    def lie(self, rng: random.Random) -> list[Path]:
        """Writes changed files and a manifest whose seal holds; what was changed."""
        manifest = json.loads(self.whole)
        count = min(rng.choice((0, 1, 1, 1, 2)), len(self.files))
        changed = rng.sample(sorted(self.files), count)
        for path in changed:
            content = mutated(self.files[path], rng)
            path.write_bytes(content)
            facts = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            manifest["files"][path.stem] = facts
        if not changed or rng.random() < 0.2:
            edited(manifest, rng)
        rest = {name: value for name, value in manifest.items() if name != "sha256"}
        seal = hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
        self.path.write_text(json.dumps({**rest, "sha256": seal}), encoding="utf-8")
        return changed

    def restore(self, changed: list[Path]) -> None:
        """The sound state again, in new files: the old ones may be mapped."""
        for path in changed:
            path.unlink()
            path.write_bytes(self.files[path])


def mutated(content: bytes, rng: random.Random) -> bytes:
    """A file of numpy or of safetensors with other content."""
    if content[:6] != b"\x93NUMPY":
        return tensors(content, rng)
    if rng.random() < 0.05:  # the head
        place = rng.randrange(128)
        return content[:place] + bytes([rng.randrange(256)]) + content[place + 1 :]
    stream = io.BytesIO()
    np.save(stream, array_lie(np.load(io.BytesIO(content)), rng), allow_pickle=False)
    return stream.getvalue()


def array_lie(array: np.ndarray[Any, Any], rng: random.Random) -> np.ndarray[Any, Any]:
    """Some entries, or the length, or the order, or the type of numbers changed."""
    way = rng.randrange(8)
    array = array.copy()
    flat = array.reshape(-1)
    if way <= 3 and flat.size:
        for _ in range(rng.choice((1, 1, 2, 5))):
            place = rng.choice((0, flat.size - 1, rng.randrange(flat.size)))
            near = int(flat[place]) + rng.choice((-2, -1, 1, 2)) if np.isfinite(flat[place]) else 0
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
            return array.astype(rng.choice((np.float64, np.int64, np.int8, np.uint64, np.bool_)))
    return rng.choice((array[::-1].copy(), array.T.copy(), array.reshape(-1, 1), np.sort(flat)))


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
        inner = [key for key in keys if isinstance(place[key], dict | list) and place[key]]
        if not inner:
            break
        place = place[rng.choice(inner)]
    key = rng.choice(sorted(place)) if isinstance(place, dict) else rng.randrange(len(place))
    if rng.random() < 0.15:
        del place[key]
    else:
        place[key] = rng.choice(VALUES)


def use_index(folder: Path) -> None:
    """Opens an index, and matches outputs and its own texts."""
    from refless.estimators import BLEUNeighbors
    from refless.metrics.index import load_index

    index = load_index(folder)
    shape = index.shape
    kernel = f"bleu*:tokenize={shape.tokenize},orders={shape.low}-{shape.high},"
    kernel += f"clip={'yes' if shape.clip else 'no'}"
    model = BLEUNeighbors(kernel=kernel, min_neighbors=1, threads=1).fit(index)
    model.estimate(["ferry choir 7 at noon", "", "x" * 40, "museum bridge opens today 12"])
    model.held_out(index)


def use_model(folder: Path) -> None:
    """Opens a model and estimates."""
    from refless.extensions.ratpred.estimator import RatPred

    model = RatPred(model=str(folder))
    pool = model.from_model()
    model.fit(pool)
    model.estimate(["ferry choir 7 at noon", "", "museum"])
    str(model.signature())


def use_fitted(folder: Path) -> None:
    """Opens a fitted estimator, estimates and explains."""
    from refless import load

    model = load(folder, threads=1)
    texts = ["ferry choir 7 at noon", "", "x" * 40, "museum bridge opens today 12"]
    model.estimate({"text": texts, "source": ["s1", "", "s2", "s9"]})
    model.explain(texts[0] if not model.rated.sources else _sourced(texts[0]))
    str(model.signature())


def _sourced(text: str) -> Any:
    from refless.estimators.inputs import outputs_in

    return outputs_in({"text": [text], "source": ["s1"]})


class Checkpoint:
    """A run of training that goes on from a folder."""

    def __init__(self, folder: Path) -> None:
        from refless.extensions.ratpred.batches import Encoded, padded
        from refless.extensions.ratpred.progress import TrainingData
        from refless.extensions.ratpred.settings import Settings

        self.folder = folder
        self.settings = Settings(embedding=4, hidden=4, epochs=6, synthetic_epochs=0, layers=1)
        ids = padded([[2 + i % 3, 3] for i in range(12)])
        part = Encoded(source=ids, text=ids, y=np.linspace(-1, 1, 12))
        self.data = TrainingData(
            seed=0, rated=part, validation=part, synthetic=None, sizes={"source": 5, "text": 5}
        )

    def run(self, folder: Path) -> None:
        """Goes on for an epoch, and writes nothing."""
        from refless.extensions.ratpred.checkpoints import Store
        from refless.extensions.ratpred.training import Run

        run = Run.begin(self.data, self.settings, (), "cpu")
        store = Store(folder, self.data, self.settings)
        run.state = store.restored(run.network, run.best, run.adam) or run.state
        run.select(run.epoch())

    def stopped(self) -> None:
        """A state after five epochs of six."""

        class StopError(Exception):
            pass

        from refless.extensions.ratpred.training import train

        def tell(told: Any) -> None:
            if told.number > 5:
                raise StopError

        with suppress(StopError):
            train(self.data, self.settings, checkpoint=self.folder, tell=tell)


def grown(folder: Path, files: Sequence[Path], said: Path) -> None:
    """An index that was appended to, of several segments, which here are small."""
    from refless.metrics import growth
    from refless.metrics.kernels import bleu

    small = ((growth, "SMALL", -1), (growth, "SEGMENT", 9), (bleu, "SEGMENT", 9))
    with ExitStack() as stack:
        for one in small:
            stack.enter_context(patch.object(*one))
        for file, more in zip(files, ((), ("--append",)), strict=True):
            if command(("index", file, "--out-dir", folder, "--scale", 1, 5, *more), said):
                raise RuntimeError(said.read_text(encoding="utf-8"))


def made(folder: Path) -> tuple[Saved, ...]:
    """What is lied about: three indexes, three fitted estimators, a model, a checkpoint."""
    rated, said = jsonl(folder / "r.jsonl", rows(0, 12, 2)), folder / "said"
    many = jsonl(folder / "m.jsonl", rows(0, 40))
    for words in (
        ("index", rated, "--out-dir", folder / "a", "--scale", 1, 5),
        (
            "index",
            many,
            "--out-dir",
            folder / "b",
            "--kernel",
            "bleu*:tokenize=words,orders=1-2,clip=no",
        ),
        ("train", many, "--out-dir", folder / "model", *TINY),
        ("fit", many, "--out-dir", folder / "gp"),
        ("fit", many, "--out-dir", folder / "inducing", "--estimator", INDUCING),
        ("fit", rated, "--out-dir", folder / "neighbors", "--estimator", "bleu-neighbors"),
    ):
        if command(words, said):
            raise RuntimeError(said.read_text(encoding="utf-8"))
    grown(folder / "grown", (rated, many), said)
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    checkpoint = Checkpoint(folder / "checkpoint")
    checkpoint.stopped()
    use = use_index
    return (
        Saved(folder / "a", "index.json", use),
        Saved(folder / "b", "index.json", use),
        Saved(folder / "grown", "index.json", use),
        Saved(folder / "model", "model.json", use_model),
        Saved(folder / "checkpoint", "state.json", checkpoint.run),
        *(Saved(folder / one, "fitted.json", use_fitted) for one in FITTED),
    )


def once(saved: Saved, rng: random.Random) -> str:
    """One execution; the name of what came out that should not."""
    from refless.registry.errors import RefLessError

    changed = saved.lie(rng)
    try:
        saved.use(saved.folder)
    except RefLessError:
        pass
    except Exception as fault:  # noqa: BLE001 - that is what is looked for
        where = fault.__traceback__
        while where and where.tb_next:
            where = where.tb_next
        place = f"{Path(where.tb_frame.f_code.co_filename).name}:{where.tb_lineno}" if where else ""
        return f"{type(fault).__name__} {place}: {str(fault)[:100]}"
    finally:
        saved.restore(changed)
        saved.path.write_bytes(saved.whole)
    return ""


def batch(saved: Sequence[Saved], seeds: range, now: mmap.mmap, told: Path) -> int:
    """Executions one after the other; the seed of the one under way stands in shared memory."""
    signal.setitimer(signal.ITIMER_PROF, DEADLINE)
    with np.errstate(all="ignore"), told.open("a", encoding="utf-8") as lines:
        for seed in seeds:
            now[:8] = seed.to_bytes(8, "little")
            rng = random.Random(seed)
            fault = once(rng.choices(saved, (3, 3, 3, 1, 1, 2, 2, 1))[0], rng)
            if fault:
                lines.write(f"{fault}\tseed {seed}\n")
    return 0


def lie(folder: Path, rng: random.Random, found: Found, budget: Budget) -> None:
    """So many executions."""
    first, now = rng.randrange(2**40), mmap.mmap(-1, 8)
    saved, told = made(folder), folder / "told"
    told.touch()
    begin = first
    while budget.left(begin - first):
        seeds = range(begin, min(begin + BATCH, first + budget.runs))
        child = fork(lambda seeds=seeds: batch(saved, seeds, now, told))  # type: ignore[misc]
        status, last = ended(child), int.from_bytes(now[:8], "little")
        if status:
            found.hold(f"status {status}", holds=False, told=f"seed {last}")
            for one in saved:  # what the dead one was at is put back
                one.restore([*one.files])
                one.path.write_bytes(one.whole)
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
