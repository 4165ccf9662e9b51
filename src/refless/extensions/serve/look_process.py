"""A look at the ratings, as a process: `python -m refless.extensions.serve.look_process`.

Reads what it is told as a line of JSON from standard input, the ratings from the database, and
writes what it found as JSON. Standard input stays open as long as the process lives that asked,
and when it closes, the look ends, even while its modules are imported.
"""

import os
import sys
import threading
from importlib import import_module

import msgspec


def _end_with_parent() -> None:
    """Waits until standard input closes, which it does when the parent dies, and ends the look."""
    while os.read(0, 1024):
        pass
    os._exit(1)  # not an exception: the look is in another thread


def main() -> None:
    """Looks once at each dimension; people's requests go first."""
    if hasattr(os, "nice"):
        os.nice(10)
    settings = msgspec.json.decode(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    worker = import_module("refless.extensions.serve.analysis_worker")
    sys.stdout.buffer.write(msgspec.json.encode(worker.results_of(settings)))


if __name__ == "__main__":
    main()
