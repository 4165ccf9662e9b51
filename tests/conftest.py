"""Settings that hold for every test."""

import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

if find_spec("starlette") is None or find_spec("sqlalchemy") is None:
    collect_ignore_glob = ["extensions/serve/*"]  # they need the extra `serve`

settings.register_profile(
    "refless",
    deadline=None,  # shared cores stall, and compiled loops are slow the first time
    max_examples=60,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("refless")


OTHER_PROGRAMS = {"browser", "browsers", "postgresql_server"}  # fixtures that start one
TRIES_AGAIN = 2


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test that starts another program is tried again if it fails, aloud: machines stall."""
    for item in items:
        if OTHER_PROGRAMS & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.flaky(reruns=TRIES_AGAIN, reruns_delay=1))


def once(simulated: Callable[..., object]) -> Callable[..., object]:
    """The function, which simulates the studies of a goal of a plan once."""
    known: dict[str, object] = {}

    def of(*asked: object) -> object:
        key = repr(asked)
        if key not in known:
            known[key] = simulated(*asked)
        return known[key]

    return of


@pytest.fixture(scope="session", autouse=True)
def goals_are_planned_once() -> Iterator[None]:
    """Equal goals of plans are simulated once for all tests: each takes half a second."""
    from refless.commands.next import plan

    with pytest.MonkeyPatch.context() as patch:
        for name in ("ratings_for", "reach_of"):
            patch.setattr(plan, name, once(getattr(plan, name)))
        yield


@pytest.fixture
def few_studies(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan rests on 40 simulated studies: what is read and said of it is the same."""
    from refless.commands.next import plan, planning

    share_reached = planning.share_reached

    def by_few(goal: planning.Goal, ratings: int, seed: int, *_: int) -> float:
        return share_reached(goal, ratings, seed, 40)

    monkeypatch.setattr(planning, "share_reached", by_few)
    for name in ("ratings_for", "reach_of"):
        monkeypatch.setattr(plan, name, once(getattr(planning, name)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with rated texts and outputs."""
    from command_line import jsonl, output_rows, rated_rows

    where = tmp_path_factory.mktemp("files")
    jsonl(where / "rated.jsonl", rated_rows())
    jsonl(where / "outputs.jsonl", output_rows())
    return where


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a tiny encoder, which tests leave as it was."""
    from tiny_encoder import tiny_encoder

    return tiny_encoder(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """A PostgreSQL server that the tests start; skipped aloud where there is none."""
    from serving import postgresql

    try:
        with postgresql() as url:
            yield url
    except FileNotFoundError as fault:
        pytest.skip(str(fault))


@pytest.fixture
def sqlite(tmp_path: Path) -> str:
    """The URL of a fresh database of SQLite, where its kind makes no difference."""
    return f"sqlite:///{tmp_path / 'ratings.sqlite'}"


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, sqlite: str) -> str:
    """The URL of a fresh database, of each kind in turn."""
    from serving import new_database

    if request.param == "sqlite":
        return sqlite
    return new_database(request.getfixturevalue("postgresql_server"))
