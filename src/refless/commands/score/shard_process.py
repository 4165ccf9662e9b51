"""A process that scores shards: `python -m refless.commands.score.shard_process`.

It reads a job and then shards from standard input, pickled, and answers each with None or an error.
When standard input closes, which it does when the parent dies, it ends after the shard at hand.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from contextlib import suppress
from typing import Any

from refless.commands.score.shard import Shard, ShardJob, ShardScorer
from refless.registry.errors import RefLessError

KILLED = (
    "a process that scores shards was killed: there may be too little memory. Run the command "
    "again, with fewer threads: it goes on where it was"
)


class OtherProcess:
    """A process that scores shards for this one."""

    def __init__(self, job: ShardJob) -> None:
        path = os.pathsep.join(filter(None, sys.path))
        self._process = subprocess.Popen(
            [sys.executable, "-m", __spec__.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
        )
        self._job: ShardJob | None = job

    def __call__(self, shard: Shard, below: float) -> None:
        """The same as a `ShardScorer`; raises RefLessError where the process is killed."""
        try:
            if self._job is not None:
                self._send(self._job)
                self._job = None
            self._send((shard, below))
            fault = pickle.load(self._process.stdout)  # type: ignore[arg-type] # noqa: S301
        except (OSError, EOFError, pickle.UnpicklingError):
            raise RefLessError(KILLED) from None
        if fault is not None:
            raise fault

    def _send(self, message: object) -> None:
        stream: Any = self._process.stdin
        pickle.dump(message, stream)
        stream.flush()

    def kill(self) -> None:
        """Ends the process at once; what it was writing is not there."""
        self._process.kill()

    def close(self) -> None:
        """The same, when nobody waits for its answer."""
        self.kill()
        with suppress(BrokenPipeError), self._process:
            pass


def main() -> None:
    """Scores shards until standard input closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent's to answer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no answer
    with suppress(EOFError, BrokenPipeError):  # the parent has ended
        job = pickle.load(sys.stdin.buffer)  # noqa: S301 - the parent's
        scorer: ShardScorer | None = None
        while True:
            shard, below = pickle.load(sys.stdin.buffer)  # noqa: S301
            fault: Exception | None = None
            try:
                scorer = scorer or ShardScorer(job)
                scorer(shard, below)
            except Exception as error:  # noqa: BLE001 - whatever it is, the parent raises it
                fault = error
            pickle.dump(fault, answers)
            answers.flush()


if __name__ == "__main__":
    main()
