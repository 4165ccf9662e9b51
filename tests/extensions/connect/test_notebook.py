"""Results in a notebook: a real kernel of Jupyter shows each of them once."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from places import ROOT

jupyter = pytest.importorskip(
    "jupyter_client", reason="jupyter_client is not installed"
)
pytest.importorskip("ipykernel", reason="ipykernel is not installed")
SHOWN = {"display_data", "execute_result", "stream", "error"}
SCORED = """
import refless
texts = [f"the {noun} {verb}" for noun in ("cat", "dog", "bird", "horse", "ferry")
         for verb in ("sleeps here", "runs away", "eats it all", "is late again")]
rated = [{"text": text, "rating": 1 + i % 5} for i, text in enumerate(texts)]
result = refless.score({"text": ["the cat runs away", "a dog is late"]}, rated=rated, scale=(1, 5),
                       estimator="bleu-neighbors:min_neighbors=1")
"""


@contextmanager
def kernel() -> Iterator[Any]:
    """A client of a kernel that runs this Python."""
    manager = jupyter.KernelManager(kernel_name="python3")
    source = str(ROOT / "src")
    manager.start_kernel(
        env={**os.environ, "PYTHONPATH": source, "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    )
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=120)
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def shown(client: Any, code: str) -> list[tuple[str, dict[str, Any]]]:
    """The messages of a cell: the kind of each, and its content."""
    found: list[tuple[str, dict[str, Any]]] = []

    def heard(message: dict[str, Any]) -> None:
        if message["msg_type"] in SHOWN:
            found.append((message["msg_type"], message["content"]))

    client.execute_interactive(code, timeout=120, output_hook=heard)
    return found


@pytest.mark.filterwarnings("ignore")  # of Jupyter's own
def test_a_result_is_shown_once() -> None:
    """Text and HTML are one output; `str` is the whole text, and so is what is saved."""
    with kernel() as client:
        assert shown(client, SCORED) == []
        ((kind, content),) = shown(client, "result")
        assert kind == "execute_result"
        assert {*content["data"]} == {"text/plain", "text/html"}
        assert "signature: bleu-neighbors|" in content["data"]["text/plain"]
        assert "bleu-neighbors|" in content["data"]["text/html"]
        code = "import io\ntext = str(result)\nmd = result.content('md')\nprint(len(text), len(md))"
        ((kind, content),) = shown(client, code)
        assert kind == "stream"
        assert min(map(int, content["text"].split())) > 500
