"""All campaigns in some minutes of processor time: `scripts/fuzz --minutes 10`.

Each has an equal share of them however busy the machine is, and some executions at least. Prints
executions and unique faults of each; the status is 1 where there is any fault. What made one is
kept in fuzz/found/, which the tests run.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
# each with --runs and --seed
MODULES = (
    "command_lines",
    "loaders",
    "kill",
    "kill_service",
    "race",
    "full_disk",
)
GUIDED = 30.0  # seconds of a target from which on it is worth a process with guidance
NEVER_ENDS = 300.0  # seconds that a campaign may take to begin and to end
LOADED = (
    30.0  # times its share of processor time that it may take, as machines are shared
)


@dataclass
class Told:
    """What came of one campaign."""

    name: str
    executions: int = 0
    faults: list[str] = field(default_factory=list)

    def line(self) -> str:
        """For people."""
        return f"{self.name:16} {self.executions:>9} executions {len(self.faults):>3} unique faults"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the campaigns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument(
        "--only", nargs="+", default=[], help="campaigns; all without it"
    )
    asked = parser.parse_args(argv)
    targets, modules = _names(asked.only)
    share = 60 * asked.minutes / max(1, len(targets) + 2 * len(modules))
    print(f"fuzz: seed {asked.seed}, {share:.1f} seconds a target", flush=True)
    found = []
    parts = [[name] for name in targets] if share >= GUIDED else [targets]
    for part in filter(None, parts):
        found += [*_targets(part, share, asked.seed)]
    found += [_rounds(name, 2 * share, asked.seed) for name in modules]
    faults = sorted(
        {f"{told.name}: {fault}" for told in found for fault in told.faults}
    )
    print(
        *(told.line() for told in found),
        *(f"FAULT {fault}" for fault in faults),
        sep="\n",
    )
    total = sum(told.executions for told in found)
    print(f"fuzz: {total} executions, {len(faults)} unique faults", flush=True)
    return int(bool(faults))


def _names(only: Sequence[str]) -> tuple[list[str], list[str]]:
    from fuzz.targets import TARGETS

    modules = [name for name in MODULES if (HERE / f"{name}.py").is_file()]
    chosen = [*only] or [*TARGETS, *modules]
    if unknown := {*chosen} - {*TARGETS, *modules}:
        raise SystemExit(
            f"no campaign {min(unknown)}; there are {', '.join([*TARGETS, *modules])}"
        )
    return [n for n in TARGETS if n in chosen], [n for n in modules if n in chosen]


def _environment() -> dict[str, str]:
    more = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "RUST_BACKTRACE": "0"}
    path = os.pathsep.join(
        filter(None, [str(HERE.parent), os.environ.get("PYTHONPATH")])
    )
    return {**os.environ, **more, "PYTHONPATH": path}


def _targets(names: Sequence[str], seconds: float, seed: int) -> Iterator[Told]:
    """One process with these targets; if it dies, its last input is unknown, its target is not."""
    words = [sys.executable, "-m", "fuzz.worker", *names, "--seconds", f"{seconds:.2f}"]
    told: list[Told] = []
    with subprocess.Popen(
        [*words, "--seed", str(seed)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_environment(),
    ) as process:
        for line in process.stdout or ():
            said = json.loads(line)
            if "way" in said:
                print(f"fuzz: {', '.join(names)}: {said['way']}", flush=True)
            elif "target" in said:
                told.append(Told(said["target"]))
            elif "fault" in said:
                told[-1].faults.append(said["fault"])
                print(
                    said["shown"],
                    _kept(told[-1].name, said["data"]),
                    sep="\n",
                    flush=True,
                )
            else:
                told[-1].executions = said["done"]
    if process.returncode not in {0, 1}:
        told = told or [Told(names[0])]
        told[-1].faults.append(f"the process ended with {process.returncode}")
    yield from told


def _kept(target: str, data: str) -> str:
    """Keeps what made a fault, for the tests; where."""
    raw = base64.b64decode(data)
    path = HERE / "found" / target / f"{hashlib.sha256(raw).hexdigest()[:12]}.bin"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(raw)
    return f"kept in {path}"


def _rounds(name: str, seconds: float, seed: int) -> Told:
    """A campaign in a process of its own, which ends by itself."""
    told = Told(name)
    words = [sys.executable, "-m", f"fuzz.{name}", "--seed", str(seed)]
    _round(told, [*words, "--seconds", f"{seconds:.2f}"], NEVER_ENDS + LOADED * seconds)
    return told


def _round(told: Told, words: Sequence[str], patience: float) -> None:
    try:
        done = subprocess.run(
            words,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=patience,
            env=_environment(),
        )
    except subprocess.TimeoutExpired:
        told.faults.append(f"no end: {' '.join(words[1:])}")
        return
    told.executions += sum(map(int, re.findall(r"(\d+) executions", done.stdout)))
    told.faults += re.findall(r"^FAULT (.*)$", done.stdout, flags=re.MULTILINE)
    if done.returncode and not told.faults:
        told.faults.append(
            f"exit status {done.returncode}: {done.stderr.strip()[-300:]}"
        )


if __name__ == "__main__":
    sys.exit(main())
