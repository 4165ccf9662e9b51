"""Rated in headless Chromium by keyboard alone, at two widths, and read back equal."""

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from benchmarks.simulate import simulate

from command_line import jsonl, run
from refless.data.rows import rows_of
from rows import read_jsonl
from serving import DATABASES, HASTY, HOSTILE, cut_off, free_port

CHROMIUM = shutil.which("chromium")
DRIVER = shutil.which("chromedriver")
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")
ITEMS = 24

pytestmark = pytest.mark.skipif(
    not (CHROMIUM and DRIVER),
    reason="needs chromium and chromedriver (Debian: chromium, chromium-driver)",
)


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = rows_of(simulate(ITEMS, seed=2).pool)
    rows[0]["text"] = f"{rows[0]['text']} {HOSTILE}"
    return jsonl(tmp_path_factory.mktemp("rate") / "outputs.jsonl", rows)


@pytest.fixture(scope="module")
def links(outputs: Path) -> Iterator[dict[str, str]]:
    """Of the owner and three raters, while their page is served."""
    with serving(outputs, "--repeat", "0") as found:
        yield found


@contextmanager
def serving(outputs: Path, *more: str, port: int = 0) -> Iterator[dict[str, str]]:
    """The links that `refless rate` prints, while it serves."""
    words = (
        "rate",
        str(outputs),
        "--raters",
        "3",
        "--port",
        str(port or free_port()),
        *more,
    )
    command = [sys.executable, *HASTY, *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as served:
        assert served.stdout is not None
        found: dict[str, str] = {}
        line = ""
        while not line.startswith("API token"):
            line = served.stdout.readline()
            assert line, "the service has ended"
            if match := re.fullmatch(r"(owner|rater \w+): (http\S+)\n", line):
                found[match[1].removeprefix("rater ")] = match[2]
        try:
            yield found
        finally:
            served.terminate()
        assert served.wait(20) == 0


@pytest.fixture(scope="module")
def started() -> Iterator[list[Any]]:
    """Browsers that tests have started."""
    found: list[Any] = []
    yield found
    for one in found:
        one.quit()


@pytest.fixture
def browsers(
    started: list[Any], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[int], Any]]:
    """A browser that knows nothing, with a window of so many pixels; another at each call."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    taken: list[Any] = []

    def start() -> Any:
        options = webdriver.ChromeOptions()
        options.binary_location = str(CHROMIUM)
        for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        return webdriver.Chrome(options=options, service=Service(str(DRIVER)))

    def take(width: int) -> Any:
        driver = started.pop() if started else start()
        taken.append(driver)
        size = {
            "width": width,
            "height": 900,
            "deviceScaleFactor": 1,
            "mobile": width < 500,
        }
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        return driver

    yield take
    for one in taken:
        one.delete_network_conditions()
        one.get("about:blank")
        one.execute_cdp_cmd("Network.clearBrowserCookies", {})
        everything = {"origin": "*", "storageTypes": "all"}
        one.execute_cdp_cmd("Storage.clearDataForOrigin", everything)
        one.get_log("browser")
        started.append(one)


def until(browser: Any, script: str, wanted: Callable[[Any], bool] = bool) -> Any:
    """The value of a script, as soon as it is the wanted one, within two minutes or more."""
    for _ in range(2_400):
        found = browser.execute_script(f"return {script}")
        if wanted(found):
            return found
        time.sleep(0.05)
    raise AssertionError(f"{script} stayed {found!r}")


DONE = "Number(document.getElementById('done').value)"
SAVED = "document.getElementById('saved').textContent"


def press(browser: Any, *keys: str) -> None:
    from selenium.webdriver import ActionChains

    ActionChains(browser).send_keys(*keys).perform()


OVER = "!document.getElementById('over').classList.contains('hidden')"
TEXT = "document.querySelector('#texts .text')?.textContent"


def by_length(text: str) -> int:
    """A rating that has nothing to do with who wrote a text."""
    return 1 + len(text) % 5


def rate(
    browser: Any, most: int, rating: Callable[[str], int] = by_length
) -> dict[str, int]:
    """Rates so many items by keyboard, or all there are: what was pressed for each text."""
    found: dict[str, int] = {}
    while len(found) < most and until(browser, f"{OVER} ? 'over' : {TEXT}") != "over":
        before = browser.execute_script(f"return {DONE}")
        text = browser.execute_script(f"return {TEXT}")
        key = rating(text)
        press(browser, str(key))
        until(browser, DONE, lambda value, old=before: value == old + 1)
        found[text] = key
    return found


def export_of(browser: Any, name: str) -> list[dict[str, Any]]:
    """The rows of a file that the owner's page offers."""
    fetched = f"fetch('/owner/export/{name}').then((a) => a.text()).then(arguments[0])"
    return read_jsonl(browser.execute_async_script(fetched))


def project_in(folder: Path, text: str) -> tuple[str, ...]:
    """The flags of a project, and of a database of its own."""
    project = folder / "project.toml"
    project.write_text(text, "utf-8")
    return ("--project", str(project), "--database", str(folder / "ratings.sqlite"))


def test_undo_skip_help_and_back(
    links: dict[str, str], browsers: Callable[[int], Any]
) -> None:
    """Each by its key; what was said before is shown again, and can be changed."""
    from selenium.webdriver.common.keys import Keys

    browser = browsers(390)
    browser.get(links["r01"])
    rate(browser, 1)  # if no test before has rated all
    now = int(until(browser, DONE))
    pressed = "document.querySelector('[aria-pressed=true]')?.textContent"
    press(browser, Keys.ARROW_LEFT)
    first = until(browser, pressed)
    other = "1" if first != "1" else "2"
    press(browser, other)
    until(browser, SAVED, lambda text: text == f"Rated {other}. Saved.")
    press(browser, "z")
    until(browser, SAVED, lambda text: text.startswith("Undone"))
    assert until(browser, pressed) == first
    press(browser, "s")
    assert browser.execute_script("return document.activeElement.id") == "reason"
    press(browser, "I cannot tell", Keys.ENTER)
    until(browser, SAVED, lambda text: text.startswith("Skipped"))
    press(browser, "z")
    until(browser, SAVED, lambda text: text.startswith("Undone"))
    press(browser, "?")
    assert browser.execute_script("return document.getElementById('keys').open")
    press(browser, "3")  # rates nothing behind the help
    press(browser, Keys.ESCAPE)
    assert until(browser, DONE) == now
    assert browser.get_log("browser") == []


def test_neither_is_said_in_words(
    outputs: Path, tmp_path: Path, browsers: Callable[[int], Any]
) -> None:
    """A saved answer is called as its button is; both texts are seen above the buttons."""
    browser = browsers(390)
    with serving(
        outputs, "--ask", "pair", "--database", str(tmp_path / "p.sqlite")
    ) as links:
        browser.get(links["r01"])
        until(browser, TEXT)
        parts = "[...document.querySelectorAll('#texts .text, footer')]"
        tops = f"{parts}.map((part) => part.offsetTop)"
        assert (found := until(browser, tops)) == sorted(found)
        assert found[-1] - found[-2] > 50
        press(browser, "0")
        assert until(browser, SAVED) == "Neither is better. Saved."


def test_the_best_of_several(
    outputs: Path, tmp_path: Path, browsers: Callable[[int], Any]
) -> None:
    """The exported choice is the text that stood where the key said; on a narrow screen."""
    from selenium.webdriver.common.keys import Keys

    browser = browsers(390)
    texts = (
        "[...document.querySelectorAll('#texts .text')].map((one) => one.textContent)"
    )
    given: dict[str, list[str]] = {}
    with serving(
        outputs, "--ask", "best", "--database", str(tmp_path / "b.sqlite")
    ) as links:
        browser.get(links["r01"])
        for n in range(6):
            shown = until(browser, texts)
            key = 1 + n % len(shown)
            press(browser, str(key))
            until(browser, DONE, lambda value, n=n: value == n + 1)
            assert browser.execute_script(f"return {SAVED}") == f"Text {key}. Saved."
            given[shown[key - 1]] = sorted(set(shown) - {shown[key - 1]})
        press(browser, Keys.ARROW_LEFT)
        pressed = "document.querySelector('[aria-pressed=true] span')?.textContent"
        assert until(browser, pressed) == f"Text {key}"
        browser.delete_all_cookies()
        browser.get(links["owner"])
        until(
            browser,
            "document.querySelectorAll('#raters tbody tr').length",
            lambda n: n == 3,
        )
        wide = """[...document.querySelectorAll('.scroll')]
          .some((x) => x.scrollWidth > x.clientWidth)"""
        assert not browser.execute_script(f"return {wide}")
        rows = export_of(browser, "ratings.jsonl")
        assert browser.get_log("browser") == []
    told: dict[str, list[str]] = {}
    for row in rows:
        told.setdefault(row["chosen"], []).append(row["rejected"])
    assert {chosen: sorted(others) for chosen, others in told.items()} == given


def test_everything_has_a_name_and_a_role(
    links: dict[str, str], browsers: Callable[[int], Any]
) -> None:
    """Buttons and keys say what they do; headings, status lines and groups are there."""
    browser = browsers(1200)
    for link, roles in (
        (links["r02"], {"main", "status", "alert", "heading", "banner"}),
        (links["owner"], {"main", "status", "alert", "heading", "region", "table"}),
    ):
        browser.delete_all_cookies()
        browser.get(link)
        until(browser, "document.readyState === 'complete'")
        tree = browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        seen = [node for node in tree if not node["ignored"]]
        there = {node["role"]["value"] for node in seen}
        assert roles <= there, roles - there
        for node in seen:
            if node["role"]["value"] in {
                "button",
                "link",
                "textbox",
                "progressbar",
                "combobox",
            }:
                assert node["name"]["value"].strip(), node


@pytest.mark.parametrize("width", [390, 1440])
def test_axe_finds_nothing(
    outputs: Path, tmp_path: Path, browsers: Callable[[int], Any], width: int
) -> None:
    """No fault of any rule of axe-core: guidelines, an item, what is over, items, the owner."""
    from selenium.webdriver.common.keys import Keys

    axe = Path(str(pytest.importorskip("axe_core_python").__file__)).with_name(
        "axe.min.js"
    )
    run_axe = """const end = arguments[0];
          axe.run().then((r) => end([r.violations, r.passes.length]))"""
    browser = browsers(width)
    words = project_in(tmp_path, PROJECT + "most_items = 12\n")

    def check() -> None:
        browser.execute_script(axe.read_text("utf-8"))
        faults, passes = browser.execute_async_script(run_axe)
        assert passes >= 10
        assert not faults, json.dumps(faults, indent=1)[:3000]

    with serving(outputs, *words) as links:
        browser.get(links["r01"])
        until(browser, "document.getElementById('guide').open")
        check()
        press(browser, Keys.ENTER)
        until(browser, TEXT)
        check()
        for done in range(1, 13):
            press(browser, str(done % 5 + 1))
            until(browser, DONE, lambda value, done=done: value == done)
        until(browser, OVER)
        check()
        for page in ("", "/items"):
            browser.get(
                f"{links['owner']}" if not page else f"{browser.current_url}{page}"
            )
            until(browser, "document.readyState === 'complete'")
            check()


PROJECT = """
title = "هل هذا مفيد؟"
guidelines = "# What to rate\\n\\nOnly **usefulness**. <b>x</b>"
consent = "I am 18 or older."
render = "markdown"
labels = {1 = "unusable", "quality=5" = "publishable"}
questions = {quality = "Could you use it?"}
"""


def test_guidelines_come_first(
    outputs: Path, tmp_path: Path, browsers: Callable[[int], Any]
) -> None:
    """They ask for consent, by keyboard; then they are a key away, and the scale has words."""
    from selenium.webdriver.common.keys import Keys

    browser = browsers(390)
    words = project_in(tmp_path, PROJECT)
    guide = "document.getElementById('guide')"
    with serving(outputs, *words) as links:
        browser.get(links["r01"])
        until(browser, f"{guide}.open")
        press(browser, Keys.ESCAPE)
        until(browser, f"{guide}.open")
        assert browser.execute_script(f"return {TEXT}") is None
        assert "<b>x</b>" in browser.execute_script(f"return {guide}.innerText")
        press(browser, Keys.ENTER)
        until(browser, TEXT)
        labels = (
            "[...document.querySelectorAll('.labels span')].map((x) => x.textContent)"
        )
        assert until(browser, labels) == ["1 unusable", "5 publishable"]
        title = "getComputedStyle(document.querySelector('h1')).direction"
        assert until(browser, title) == "rtl"
        assert until(browser, "document.querySelector('.question h2').textContent") == (
            "Could you use it?"
        )
        press(browser, "g")
        until(browser, f"{guide}.open")
        press(browser, Keys.ESCAPE)
        press(browser, "4")
        until(browser, DONE, lambda value: value == 1)
        browser.get(links["r01"])
        until(browser, TEXT)
        assert not browser.execute_script(f"return {guide}.open")
        assert browser.get_log("browser") == []


def test_text_and_buttons_stay_in_sight(
    tmp_path: Path, browsers: Callable[[int], Any]
) -> None:
    """Under a source of 300 lines, at three widths; what differs is marked at one key."""
    rows = [
        {
            "id": f"a{k}",
            "item": "i",
            "source": "Line of the source.\n" * 300,
            "system": f"S{k}",
            "text": text,
        }
        for k, text in enumerate(
            ("No award near a library.", "The library has one award.")
        )
    ]
    path = jsonl(tmp_path / "o.jsonl", rows)
    edges = (
        "['#texts .text', '#texts article:last-child .text', '.choices button:last-child']"
        ".map((x) => document.querySelector(x)?.getBoundingClientRect())"
        ".map((x) => x && [x.top, x.bottom])"
    )
    marks = "[...document.querySelectorAll('#texts mark')].map((x) => x.textContent)"
    with serving(
        path, "--ask", "pair", "--database", str(tmp_path / "l.sqlite")
    ) as links:
        for width in (390, 768, 1440):
            browser = browsers(width)
            browser.get(links["r01"])
            until(browser, TEXT)
            first, last, button = browser.execute_script(f"return {edges}")
            assert 0 < first[0] < first[1] <= button[0] < button[1] <= 900
            assert last[1] <= button[0] or width == 390
            press(browser, "d")
            differ = until(browser, marks)
            assert (
                {"No", "near", "a", "The", "has", "one"} <= {*differ} < {*differ, "."}
            )
            assert sorted(map(differ.count, ("award", "library"))) == [
                0,
                2,
            ]  # the same in both
            press(browser, "d")
            assert until(browser, f"{marks}.length", lambda n: n == 0) == 0
            width_of = "document.documentElement.scrollWidth"
            assert browser.execute_script(f"return {width_of}") <= width
            browser.delete_all_cookies()


JOIN = """
join = true
most_items = 2
completion_code = "C0DE"
return_url = "https://a.example/complete?cc=C0DE"
"""


def test_one_link_for_everybody(
    outputs: Path, tmp_path: Path, browsers: Callable[[int], Any]
) -> None:
    """It makes a rater of a browser, who is given a code and the way back after two items."""
    from selenium.webdriver.common.keys import Keys

    words = project_in(tmp_path, JOIN)
    thanks = "document.getElementById('thanks').innerText"
    with serving(outputs, *words) as links:
        owner = browsers(1440)
        owner.get(links["owner"])
        link = until(owner, "document.querySelector('a[href^=\"/begin/\"]').href")
        for width in (390, 1440):
            browser = browsers(width)
            browser.get(f"{link}?PROLIFIC_PID=person-{width}")
            until(
                browser,
                "document.activeElement.innerText",
                lambda name: "Begin" in name,
            )
            press(browser, Keys.ENTER)
            until(browser, TEXT)
            assert "person" not in browser.current_url
            assert len(rate(browser, 3)) == 2
            assert (
                until(browser, thanks)
                .split("\n")[0]
                .startswith("Your completion code: C0DE")
            )
            back = "document.querySelector('#thanks a').href"
            assert until(browser, back) == "https://a.example/complete?cc=C0DE"
            assert (
                browser.execute_script("return document.documentElement.scrollWidth")
                <= width
            )
            assert browser.get_log("browser") == []
        names = "[...document.querySelectorAll('#raters tbody th')].map((x) => x.textContent)"
        assert until(owner, names, lambda rows: len(rows) == 5)[3:] == ["r04", "r05"]


def test_the_decider_decides(tmp_path: Path, browsers: Callable[[int], Any]) -> None:
    """Sees both ratings without names; the page of items shows all three, and those of a rater.

    The owner finds the link on their own page.
    """
    from selenium.webdriver.common.keys import Keys

    path = jsonl(
        tmp_path / "o.jsonl", [{"id": "a", "source": "Where?", "text": "There."}]
    )
    asked = "document.getElementById('questions').innerText"
    words = (
        *project_in(tmp_path, "adjudicate = 1"),
        "--per-item",
        "2",
        "--overlap",
        "0",
    )
    with serving(path, *words) as links:
        for name, width, key in (
            ("r01", 390, "1"),
            ("r02", 1440, "5"),
            ("decider", 768, "4"),
        ):
            browser = browsers(width)
            browser.get(links[name])
            until(browser, TEXT)
            said = "Raters gave 1 and 5. What is right?"
            assert (said in browser.execute_script(f"return {asked}")) == (
                name == "decider"
            )
            assert "r01" not in browser.page_source
            press(browser, key)
            until(browser, DONE, lambda value: value == 1)
            assert browser.get_log("browser") == []
        owner = browsers(1440)
        owner.get(links["owner"])
        owner.get(owner.current_url + "/items")
        cell = (
            "[...document.querySelectorAll('#items tbody td')].map((x) => x.innerText)"
        )
        cells = until(owner, cell)
        assert {"r01: 1; r02: 5", "decider: 4"} <= {*cells}
        owner.get(owner.current_url.removesuffix("/items"))
        tab_to(owner, "a[href='/owner/items#r02']")
        press(owner, Keys.ENTER)
        assert until(owner, "document.getElementById('search')?.value") == "r02"
        shown = "[...document.querySelectorAll('#items tbody tr:not(.hidden)')].length"
        assert until(owner, shown) == 1


WHOLE = """
title = "Could you send this reply?"
guidelines = "# How to rate\\n\\nRead the reply. **5** needs no change."
consent = "I am 18 or older."
labels = {1 = "unusable", 5 = "publishable"}
adjudicate = 1
ahead = 3
gold = [{id = "GOLD", answer = 5, why = "It says where.", practice = true}]
"""
SLOWER = (
    "const now = performance.now.bind(performance); performance.now = () => 30 * now()"
)
PRACTICE = "document.getElementById('practice').innerText.trim()"
RESULTS = "document.getElementById('results').innerText"
PROBLEM = "document.getElementById('problem').textContent"


def tab_to(browser: Any, selector: str) -> None:
    """Presses Tab until what is selected has the focus."""
    from selenium.webdriver.common.keys import Keys

    until(browser, f"document.querySelector({selector!r})")
    for _ in range(80):
        if browser.execute_script(
            f"return document.activeElement.matches({selector!r})"
        ):
            return
        press(browser, Keys.TAB)
    raise AssertionError(f"Tab does not reach {selector}")


def begin(browser: Any, link: str | None) -> None:
    """Opens a rater's page, agrees, and is told the right answer to the practice item.

    Without a link it is the page that is open, of the decider, who has no practice.
    """
    from selenium.webdriver.common.keys import Keys

    if link is not None:
        browser.get(link)
    until(browser, "document.getElementById('guide').open")
    press(browser, Keys.ENTER)
    until(browser, TEXT)
    if link is None:
        return
    press(browser, "5")
    told = until(browser, PRACTICE, lambda text: "right" in text)
    assert told.startswith(
        "Practice 1 of 1. The right answer is 5. It says where. Go on"
    )
    assert until(browser, "document.activeElement.innerText").startswith("Go on")
    press(browser, Keys.ENTER)
    until(browser, "document.getElementById('practice').classList.contains('hidden')")


def ask_again(browser: Any) -> None:
    """Presses → until the service has answered: what the page then shows takes a mark away."""
    from selenium.webdriver.common.keys import Keys

    mark = "document.getElementById('thanks').append(document.createElement('i'))"
    browser.execute_script(mark)
    while browser.execute_script("return document.querySelector('#thanks i')"):
        press(browser, Keys.ARROW_RIGHT)
        time.sleep(0.05)


def answer(browser: Any, key_of: Callable[[str], str]) -> bool:
    """Rates what is shown; whether there is something, which a rater who is through asks by →."""
    if until(browser, f"{OVER} ? 'over' : {TEXT}") == "over":
        ask_again(browser)
        if browser.execute_script(f"return {OVER}"):
            return False
    text = browser.execute_script(f"return {TEXT}")
    press(browser, key_of(text))
    until(browser, TEXT, lambda shown: shown != text)
    return True


def project_files(folder: Path) -> tuple[Path, tuple[str, ...], dict[str, str]]:
    """Outputs, the flags of a project, and the key that a careful rater presses for each text."""
    pool = simulate(24, seed=2).pool
    rows = rows_of(pool)
    values = (round(1 + 4 * value) for value in pool.human.tolist())
    keys = {text: str(value) for text, value in zip(pool.texts, values, strict=True)}
    flags = project_in(folder, WHOLE.replace("GOLD", rows[0]["id"]))
    return jsonl(folder / "o.jsonl", rows), flags[:2], keys | {rows[0]["text"]: "5"}


@pytest.mark.parametrize("database", DATABASES, indirect=True)
def test_a_whole_project(
    tmp_path: Path, browsers: Callable[[int], Any], database: str
) -> None:
    """Three raters, one careless, one on a phone, one offline; the owner decides; no mouse.

    Half-way the service ends; SQLite goes back to a backup, which knows nothing of the latest
    ratings, nor of what waits in two browsers. At the end every rating is of the text it was
    given for, and there once.
    """
    from selenium.webdriver.common.keys import Keys

    path, project, keys = project_files(tmp_path)
    words = (
        *project,
        "--database",
        database.replace("+psycopg", ""),
        "--per-item",
        "2",
        "--overlap",
        "0.4",
        "--repeat",
        "0",
    )
    people = {"r01": browsers(1440), "r02": browsers(390), "r03": browsers(768)}
    key_of = dict.fromkeys(people, keys.__getitem__) | {"r03": lambda _: "3"}
    desk = people["r01"]
    phone = people["r02"]
    owner = browsers(1440)
    port = free_port()
    copy = tmp_path / "copy.sqlite"

    def everybody() -> bool:
        """Each rates an item; whether somebody could."""
        return (
            sum(answer(browser, key_of[name]) for name, browser in people.items()) > 0
        )

    with serving(path, *words, port=port) as links:
        owner.get(links["owner"])
        for name, browser in people.items():
            begin(browser, links[name])
            if name != "r03":
                browser.execute_script(SLOWER)
        for _ in range(7):
            assert everybody()
        if "sqlite" in database:
            assert run("rate", path, *words, "--backup", copy).code == 0
        assert everybody()
        tab_to(owner, "#note")
        press(owner, "a fourth one", Keys.ENTER)
        assert "/join/" in until(
            owner, "document.querySelector('#link code')?.textContent"
        )
        connect(desk, online=False)
        assert answer(desk, key_of["r01"])
        assert answer(desk, key_of["r01"])
        assert "2 not saved yet" in until(desk, PROBLEM)
    done, text = phone.execute_script(f"return [{DONE}, {TEXT}]")
    press(phone, keys[text])  # while there is no server
    assert "no connection" in until(phone, PROBLEM)
    if copy.exists():
        assert run("rate", path, *words, "--restore", copy).code == 0
    with serving(path, *words, port=port) as links:
        until(phone, WAITING, lambda n: n == 0)
        assert phone.execute_script(f"return {PROBLEM}") == ""
        assert phone.execute_script(f"return {DONE}") == done + (
            0 if copy.exists() else 1
        )
        connect(desk, online=True)
        until(desk, WAITING, lambda n: n == 0)
        assert everybody()
        if "postgresql" in database:
            cut_off(database)
        while everybody():
            pass
        until(owner, PROBLEM, lambda text: "open the owner's newest link" in text)
        decide(owner, links["decider"])
        owner.get(links["owner"])
        until(
            owner,
            "document.getElementById('state').textContent",
            lambda s: "24 of 24" in s,
        )
        results = until(owner, RESULTS, lambda text: "careless" in text)
        assert "r03 may be careless: gives the same answer" in results
        assert results.count("may be careless") == 1
        to_decide = (
            "[...document.querySelectorAll('#facts div')].map((x) => x.innerText)"
        )
        facts = owner.execute_script(f"return {to_decide}")
        assert any(fact.startswith("to decide\n0") for fact in facts)
        tab_to(owner, "a[href='/owner/items']")
        press(owner, Keys.ENTER)
        tab_to(owner, "#search")
        press(owner, "r03: 3")
        rows = "[...document.querySelectorAll('#items tbody tr:not(.hidden)')].length"
        assert 0 < owner.execute_script(f"return {rows}") < 24
        acts = export_of(owner, "events.jsonl")
        rated = export_of(owner, "ratings.jsonl")
    check_acts(acts, {row["id"]: row["text"] for row in rated}, keys)
    for name, browser in people.items():
        done = browser.execute_script(f"return {DONE}")
        assert done == sum(act["annotator"] == name for act in acts)
        width = browser.execute_script("return document.documentElement.scrollWidth")
        assert width <= browser.execute_script("return innerWidth")


def decide(browser: Any, link: str) -> None:
    """Opens the decider's link, and decides whatever there is."""
    browser.get(link)
    begin(browser, None)
    while answer(browser, lambda _: "4"):
        pass


def check_acts(
    acts: list[dict[str, Any]], texts: dict[str, str], keys: dict[str, str]
) -> None:
    """Each is a rating, there once, of the text for which that key was pressed."""
    ratings = [(act["annotator"], act["item"], act["round"]) for act in acts]
    assert len(ratings) == len({*ratings})
    for act in acts:
        text = texts[act["item"]]
        pressed = (
            "5"
            if act["stream"] == "gold"
            else {"r03": "3", "decider": "4"}.get(act["annotator"], keys[text])
        )
        assert (act["kind"], act["value"]) == ("rated", float(pressed))
    assert {act["round"] for act in acts if act["annotator"] == "decider"} == {2}


LOSES = """
const real = window.fetch;
window.fetch = async (...request) => {
  const answer = await real(...request);
  if (!String(request[0]).endsWith("/events")) return answer;
  window.fetch = real;
  throw new TypeError("the answer was lost");
};
"""
WAITING = "Object.keys(localStorage).filter((key) => !key.startsWith('kept')).length"


def connect(browser: Any, online: bool) -> None:
    """Gives a browser its connection, or takes it."""
    if online:
        browser.delete_network_conditions()
    else:
        browser.set_network_conditions(offline=True, latency=0, throughput=0)


def exported_acts(browser: Any, link: str) -> list[dict[str, Any]]:
    """Every act, as the owner's page exports it."""
    browser.get(link)
    return export_of(browser, "events.jsonl")


def test_ratings_without_a_connection(
    outputs: Path, tmp_path: Path, browsers: Callable[[int], Any]
) -> None:
    """Four items are rated offline, one press is taken back; they are sent later, and once."""
    browser = browsers(390)
    owner = browsers(1440)
    words = (*project_in(tmp_path, "ahead = 3"), "--repeat", "0")
    with serving(outputs, *words) as links:
        browser.get(links["r01"])
        given = rate(browser, 2)
        connect(browser, online=False)
        given |= rate(browser, 2)
        assert "2 not saved yet, but kept on this device" in until(browser, PROBLEM)
        press(browser, "z")  # the second one was never sent
        until(browser, DONE, lambda value: value == 3)
        given |= rate(browser, 2)
        text = until(browser, TEXT)
        press(browser, "3")  # nothing more is there
        until(browser, PROBLEM, lambda line: "4 not saved yet" in line)
        press(browser, "4")
        assert browser.execute_script(f"return [{TEXT}, {WAITING}]") == [text, 4]
        pressed = "document.querySelector('[aria-pressed=true][type=button] span')?.textContent"
        assert browser.execute_script(f"return {pressed}") == "3"
        browser.get("about:blank")  # the page is closed
        connect(browser, online=True)
        assert len(exported_acts(owner, links["owner"])) < 6
        browser.get(links["r01"])
        until(browser, DONE, lambda value: value == 6)
        assert browser.execute_script(f"return {WAITING}") == 0
        connect(browser, online=False)
        given |= {text: 3} | rate(browser, 2)
        connect(browser, online=True)
        until(browser, WAITING, lambda n: n == 0)
        browser.execute_script(LOSES)
        given |= rate(browser, 2)
        until(browser, WAITING, lambda n: n == 0)
        assert browser.execute_script(f"return {PROBLEM}") == ""
        acts = exported_acts(owner, links["owner"])
    rows = read_jsonl(outputs.read_text("utf-8"))
    texts = {row["id"]: row["text"] for row in rows}
    assert [act["kind"] for act in acts] == ["rated"] * 10
    assert {texts[act["item"]]: act["value"] for act in acts} == given


def test_the_page_opens_without_a_connection(
    outputs: Path, tmp_path: Path, browsers: Callable[[int], Any]
) -> None:
    """By the rater's own link alone, twice; what is rated there is sent once there is a server."""
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.common.keys import Keys

    browser = browsers(390)
    owner = browsers(1440)
    words = (*project_in(tmp_path, 'ahead = 4\nconsent = "Yes."'), "--repeat", "0")
    port = free_port()
    with serving(outputs, *words, port=port) as links:
        browser.get(links["r01"])
        until(browser, "document.getElementById('guide').open")
        press(browser, Keys.ENTER)
        given = rate(browser, 2)
        kept = "caches.match(location.href).then((page) => arguments[0](Boolean(page)))"
        while not browser.execute_async_script(kept):
            time.sleep(0.05)
    given |= rate(
        browser, 1
    )  # the server is gone, and so is what was pressed, but for its place
    for most in (1, 2):
        with suppress(WebDriverException):
            browser.get(links["r02"])
        assert browser.execute_script(f"return {TEXT}") is None
        browser.get(links["r01"])
        given |= rate(browser, most)
        waiting = f"{len(given) - 2} not saved yet"
        until(browser, PROBLEM, lambda text, waiting=waiting: waiting in text)
    assert until(browser, DONE) == 6
    with serving(outputs, *words, port=port) as links:
        until(browser, WAITING, lambda n: n == 0)
        until(browser, PROBLEM, lambda text: not text)
        given |= rate(browser, 1)
        acts = exported_acts(owner, links["owner"])
    rows = read_jsonl(outputs.read_text("utf-8"))
    texts = {row["text"]: row["id"] for row in rows}
    told = {(act["item"], act["value"]) for act in acts if act["kind"] == "rated"}
    assert told == {(texts[text], key) for text, key in given.items()}
    assert len(acts) == len(given) == 7


AWAY = (
    "window.real = fetch; window.fetch = () => Promise.reject(new TypeError('away'));"
)
BACK = "window.fetch = window.real; dispatchEvent(new Event('online'));"


def test_what_one_tab_undoes_the_other_does_not_send(
    outputs: Path, tmp_path: Path, browsers: Callable[[int], Any]
) -> None:
    """Two tabs without a connection know of the same two ratings; one takes the second back."""
    browser = browsers(768)
    owner = browsers(1440)
    words = (*project_in(tmp_path, "ahead = 3"), "--repeat", "0")
    with serving(outputs, *words) as links:
        browser.get(links["r01"])
        until(browser, TEXT)
        browser.execute_script(AWAY)
        given = rate(browser, 2)
        first = browser.current_window_handle
        browser.switch_to.new_window("tab")
        browser.execute_cdp_cmd(
            "Page.addScriptToEvaluateOnNewDocument", {"source": AWAY}
        )
        browser.get(re.sub("/join.*", "/", links["r01"]))
        until(browser, PROBLEM, lambda text: "2 not saved yet" in text)
        second = browser.current_window_handle
        browser.switch_to.window(first)
        text, key = [*given.items()][-1]
        press(browser, "z")
        until(browser, TEXT, lambda shown: shown == text)
        last = 1 if key != 1 else 2
        press(browser, str(last))
        until(browser, TEXT, lambda shown: shown != text)
        for tab in (first, second):
            browser.switch_to.window(tab)
            browser.execute_script(BACK)
            until(browser, PROBLEM, lambda text: not text)
            until(browser, WAITING, lambda n: n == 0)
        browser.close()
        browser.switch_to.window(first)
        acts = exported_acts(owner, links["owner"])
    rows = read_jsonl(outputs.read_text("utf-8"))
    texts = {row["id"]: row["text"] for row in rows}
    given = {told: value for told, value in given.items() if told != text}
    assert [(texts[act["item"]], act["value"]) for act in acts] == [
        *given.items(),
        (text, last),
    ]


def test_what_is_refused_stays_in_the_browser(
    outputs: Path, tmp_path: Path, browsers: Callable[[int], Any]
) -> None:
    """A rating that the service refuses is said, is kept on the device, and stops nothing."""
    browser = browsers(390)
    words = (*project_in(tmp_path, "ahead = 3"), "--repeat", "0")
    with serving(outputs, *words) as links:
        browser.get(links["r01"])
        until(browser, TEXT)
        forged = """
            const real = fetch, body = (options) => JSON.parse(options.body);
            const forged = (options) => JSON.stringify({...body(options), assigned: "x"});
            window.fetch = (path, options) => real(path, String(path).endsWith("/events")
              ? {...options, body: forged(options)} : options);
            window.real = real;
        """
        browser.execute_script(forged)
        press(browser, "3")
        told = until(browser, PROBLEM)
        assert (
            "could not be saved, and stays on this device: you were not asked this"
            in told
        )
        assert browser.execute_script(f"return {WAITING}") == 1
        browser.execute_script("window.fetch = window.real")
        assert len(rate(browser, 2)) == 2
        assert browser.execute_script(f"return {WAITING}") == 1


@pytest.mark.parametrize("scale", ["0 1", "-5 5"])
def test_no_button_is_easier_to_press(
    outputs: Path, tmp_path: Path, browsers: Callable[[int], Any], scale: str
) -> None:
    """All are as wide, and 44 px at least, though only the ends have labels; at three widths."""
    low, high = scale.split()
    words = project_in(
        tmp_path, f'labels = {{"{low}" = "unusable as it is", "{high}" = "publish"}}'
    )
    sizes = """[...document.querySelectorAll('.choices button')]
      .map((x) => x.getBoundingClientRect()).map((x) => [Math.round(x.width), x.height, x.top])"""
    named = """[...document.querySelectorAll('.choices button')]
      .map((x) => x.ariaLabel || x.innerText)"""
    with serving(outputs, *words, "--scale", low, high) as links:
        for width in (390, 768, 1440):
            browser = browsers(width)
            browser.get(links["r01"])
            until(browser, TEXT)
            found = browser.execute_script(f"return {sizes}")
            assert len(found) == int(high) - int(low) + 1
            assert len({size[0] for size in found}) == 1
            assert all(min(size[:2]) >= 44 for size in found)
            rows = {top for *_, top in found}
            assert len(rows) == (2 if width == 390 and len(found) == 11 else 1)
            names = browser.execute_script(f"return {named}")
            assert "unusable as it is" in names[0]
            assert "publish" in names[-1]
            assert (
                browser.execute_script("return document.documentElement.scrollWidth")
                <= width
            )
            browser.delete_all_cookies()
