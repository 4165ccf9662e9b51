"""refless list datasets: listed, fetched, converted. No network is needed."""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from http.server import (
    BaseHTTPRequestHandler,
    SimpleHTTPRequestHandler,
    ThreadingHTTPServer,
)
from pathlib import Path

import pytest

import refless
from command_line import json_of, one_line, run, run_well
from refless.extensions.connect.datasets import (
    DATASETS,
    RAW,
    Dataset,
    PublishedFile,
    convert,
    dataset_of,
)

pytest.importorskip("pooch")

REPLIES = [
    {
        "ID": i,
        "Dataset": "daily_EVAL",
        "DialogModel": "m",
        "Context": "hi|||ho",
        "Response": text,
        "HumanScores": "[1, 5]",
    }
    for i, text in enumerate(["a b", "c\td"])
]
CONTENT = json.dumps(REPLIES).encode()
PLACE = "someone/talk/0123456789abcdef/scores/talk.json"
SOURCE = PublishedFile(
    place=PLACE, sha256=hashlib.sha256(CONTENT).hexdigest(), size=len(CONTENT)
)
ROWS = """id	task	system	source	text	annotator	rating
0	daily	m	hi|||ho	a b	slot0	1
0	daily	m	hi|||ho	a b	slot1	5
1	daily	m	hi|||ho	c d	slot0	1
1	daily	m	hi|||ho	c d	slot1	5
"""


@pytest.fixture
def talk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Dataset:
    """A data set of our own in the registry, an empty cache, and a folder to work in."""
    made = replace(DATASETS["grade"], name="talk", sources=(SOURCE,))
    monkeypatch.setitem(DATASETS, "talk", made)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return made


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """The folder that the server shows, with the file in its place."""
    file = tmp_path / "published" / PLACE
    file.parent.mkdir(parents=True)
    file.write_bytes(CONTENT)
    return tmp_path / "published"


def serving(
    handler: type[BaseHTTPRequestHandler] | partial[BaseHTTPRequestHandler],
) -> Iterator[str]:
    """The address of a server in this process."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        """Says nothing."""


class Cut(Quiet):
    """Promises a whole file and stops in the middle."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(CONTENT[:50])


class Endless(Quiet):
    """Never stops, and does not say how much will come."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        with suppress(ConnectionError):  # the other side hangs up
            for _ in range(100):
                self.wfile.write(bytes(1 << 16))


@pytest.fixture
def server(published: Path) -> Iterator[str]:
    yield from serving(partial(Quiet, directory=str(published)))


def made() -> list[str]:
    """Every file in the folder to work in."""
    return sorted(str(path) for path in Path().rglob("*") if path.is_file())


def cached(tmp_path: Path) -> list[Path]:
    return [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_fetched_from_a_server(
    talk: Dataset, server: str, published: Path, tmp_path: Path
) -> None:
    """Rows that validate reads, terms beside them and on standard error; then from the cache."""
    ran = run_well("list", "datasets", "--get", "talk", "--mirror", server + "/")
    assert made() == ["talk/SOURCE.txt", "talk/judgements.tsv"]
    assert Path("talk/judgements.tsv").read_text() == ROWS
    told = Path("talk/SOURCE.txt").read_text()
    for text in (talk.licence, talk.citation):
        assert text in told
        assert text in ran.err
    assert f"{SOURCE.sha256} {len(CONTENT)} {RAW}/{PLACE}" in told
    assert "  refless validate talk/judgements.tsv --scale 1 5\n" in ran.out
    assert str(tmp_path / "cache") in ran.err
    (published / PLACE).unlink()
    assert (
        run(
            "list",
            "datasets",
            "--get",
            "talk",
            "--mirror",
            server,
            "--out-dir",
            "again",
        ).code
        == 0
    )
    assert Path("again/talk/judgements.tsv").read_text() == ROWS


def test_python_gives_a_file_that_is_read(talk: Dataset, published: Path) -> None:
    path = refless.dataset("talk", folder="there", mirror=published)
    assert path == Path("there/talk/judgements.tsv")
    pool = refless.read_pool(str(path)).pool
    assert (pool.texts, pool.human.tolist()) == (("a b", "c d"), [3, 3])


def test_python_keeps_it_in_the_cache(
    talk: Dataset, published: Path, tmp_path: Path
) -> None:
    """It is fetched once: then neither network nor mirror is needed."""
    path = refless.dataset("talk", mirror=str(published))
    assert path.is_relative_to(tmp_path / "cache")
    assert path.read_text() == ROWS
    assert refless.dataset("talk", mirror="http://127.0.0.1:9") == path


@pytest.mark.parametrize(
    "at",
    [PLACE, "talk/scores/talk.json", "scores/talk.json", "talk.json"],
    ids=["as the network", "clones", "a clone", "files alone"],
)
def test_folders_that_are_mirrors(talk: Dataset, tmp_path: Path, at: str) -> None:
    """Whatever the folder is called."""
    folder = tmp_path / "a #b %41 \x1b[31m"
    (folder / at).parent.mkdir(parents=True)
    (folder / at).write_bytes(CONTENT)
    ran = run_well("list", "datasets", "--get", "talk", "--mirror", folder)
    assert Path("talk/judgements.tsv").read_text() == ROWS
    assert "\x1b" not in ran.out + ran.err


@pytest.mark.parametrize(
    "change", [CONTENT + b" ", CONTENT[:-1], b""], ids=["more", "less", "no"]
)
def test_other_bytes(
    talk: Dataset, server: str, published: Path, tmp_path: Path, change: bytes
) -> None:
    """From a server and from a folder; nothing is kept or written."""
    (published / PLACE).write_bytes(change)
    for mirror in (server, published):
        ran = run("list", "datasets", "--get", "talk", "--mirror", mirror)
        assert ran.refuses(
            f"{mirror}/{PLACE}: these are not the bytes that were published; "
        )
    assert (made(), cached(tmp_path)) == ([], [])


@pytest.mark.parametrize(
    ("handler", "found"),
    [(Cut, "the download was cut off; check"), (Endless, "these are not the bytes")],
    ids=["cut", "endless"],
)
def test_downloads_that_go_wrong(
    talk: Dataset, tmp_path: Path, handler: type[Quiet], found: str
) -> None:
    """One line, no file left over; the next try starts afresh."""
    for address in serving(handler):
        ran = run("list", "datasets", "--get", "talk", "--mirror", address)
    assert ran.refuses(found)
    assert ran.err.count("\n") == 1
    assert (made(), cached(tmp_path)) == ([], [])


def test_no_such_file_and_no_server(
    talk: Dataset, server: str, published: Path
) -> None:
    (published / PLACE).unlink()
    ran = run("list", "datasets", "--get", "talk", "--mirror", server)
    assert ran.refuses("the server answered 404 File not found; check")
    ran = run("list", "datasets", "--get", "talk", "--mirror", "http://127.0.0.1:9")
    assert ran.refuses("the server cannot be reached; check the network")
    assert "--mirror URL|FOLDER" in ran.err
    ran = run("list", "datasets", "--get", "talk", "--mirror", published)
    assert ran.refuses(f"copy it there: {RAW}/{PLACE}")
    ran = run("list", "datasets", "--get", "talk", "--mirror", "nowhere")
    assert ran.refuses("--mirror nowhere: no such folder")


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "GRADE\x1b[31m", "", "a" * 300, "\udcff"]
)
def test_names_that_there_are_not(talk: Dataset, name: str) -> None:
    """A name is a key of the registry, never a path."""
    ran = run("list", "datasets", "--get", name)
    assert (ran.code, ran.err.startswith("refless: error: no data set '")) == (2, True)
    assert "\x1b" not in ran.err
    assert made() == []


def test_a_file_of_the_user_is_not_overwritten(talk: Dataset, published: Path) -> None:
    Path("talk").mkdir()
    Path("talk/judgements.tsv").write_text("mine")
    ran = run("list", "datasets", "--get", "talk", "--mirror", published)
    assert ran.refuses("another file is there already; move it away")
    assert made() == ["talk/judgements.tsv"]
    assert Path("talk/judgements.tsv").read_text() == "mine"


def test_pooch_is_an_extra(talk: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder needs nothing, and neither does the list."""
    monkeypatch.setitem(__import__("sys").modules, "pooch", None)
    ran = run("list", "datasets", "--get", "talk")
    assert ran.refuses("pip install '.[datasets]'")
    assert run("list", "datasets").code == 0


def test_got_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If an account is needed the command says where, and converts what it is given."""
    monkeypatch.chdir(tmp_path)
    ran = run("list", "datasets", "--get", "asap-sas")
    assert ran.refuses(
        "Get train.tsv from https://www.kaggle.com/c/asap-sas/data, then: refless"
    )
    Path("train.tsv").write_bytes(
        b"Id\tEssaySet\tScore1\tScore2\tEssayText\r\n1\t1\t0\t1\tna\xefve\r\n"
    )
    assert run("list", "datasets", "--get", "asap-sas", "--mirror", ".").code == 0
    expected = "Id\tEssaySet\tScore1\tScore2\tEssayText\n1\t1\t0\t1\tna\u00efve\n"
    assert Path("asap-sas/train.tsv").read_text("utf-8") == expected
    Path("train.tsv").write_bytes(b"id,text\n")
    ran = run(
        "list", "datasets", "--get", "asap-sas", "--mirror", ".", "--out-dir", "other"
    )
    assert ran.refuses("the columns are not Id, EssaySet, Score1")


def test_the_list() -> None:
    """Every data set with its terms; those that are rated with a command."""
    text = run("list", "datasets").line
    found = json_of("list", "datasets")["datasets"]
    assert [one["name"] for one in found] == list(DATASETS)
    for one in found:
        for key in ("about", "good_for", "licence", "citation", "home"):
            assert one[key]
            assert one_line(one[key]) in text


@pytest.mark.parametrize("name", DATASETS)
def test_the_registry(name: str) -> None:
    """Digests and commits are whole; no two files of a data set have the same path."""
    one = dataset_of(name)
    assert one.sources
    assert len({source.path for source in one.sources}) == len(one.sources)
    for source in one.sources:
        if not source.sha256:
            continue  # users get it for themselves
        assert len(source.sha256) == 64
        assert int(source.sha256, 16)
        assert source.size > 0
        assert len(source.place.split("/")[2]) == 40
        assert ".." not in source.place


def test_converters_have_no_paths_of_others() -> None:
    """Files are written to the data set's own folder, whatever published paths are."""
    assert list(convert.as_it_is({"../../x/y.csv": b"", "/etc/z": b""})) == [
        "y.csv",
        "z",
    ]
