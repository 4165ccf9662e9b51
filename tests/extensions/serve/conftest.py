"""Settings that hold for tests of the rating service."""

import msgspec
import pytest

from refless.extensions.serve import dashboard
from refless.extensions.serve.analysis_worker import results_of
from refless.extensions.serve.dashboard import Look


@pytest.fixture
def looks_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looks at ratings are in this process, where their process is not what is tested."""

    async def found(job: bytes) -> Look:
        results = msgspec.json.encode(results_of(msgspec.json.decode(job)))
        return dict(msgspec.json.decode(results))

    monkeypatch.setattr(dashboard, "_run", found)
