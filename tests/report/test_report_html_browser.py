"""The HTML report in headless Chromium: silent, alone, and usable by pointer and keyboard."""

import json
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from command_line import jsonl, output_rows, rated_rows, run

CHROMIUM = shutil.which("chromium")
DRIVER = shutil.which("chromedriver")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)
WIDTHS = (1280, 400)
REPORTS = ["trust", "worth", "next", "look"]
if find_spec("torch"):
    REPORTS.append("trained")
NASTY = "</script><script>document.title='taken'</script><img src=x onerror=alert(1)>"

pytestmark = pytest.mark.skipif(
    not (CHROMIUM and DRIVER),
    reason="needs chromium and chromedriver (Debian: chromium, chromium-driver)",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reports, with texts that would like to run, and the JSON of the same run."""
    where = tmp_path_factory.mktemp("browser")
    rows = rated_rows(130)
    for row in rows:
        row["text"] = f"{row['text']} {NASTY if row['id'] == 't005' else ''}".strip()
    rated = jsonl(
        where / "rated.jsonl", [*rows, {**rows[0], "id": "short", "text": "ab"}]
    )
    outputs = jsonl(where / "outputs.jsonl", output_rows())
    scale = ("--scale", 1, 5)
    out = ("-o", where / "trust.html", "-o", where / "trust.json")
    assert (
        run("validate", rated, *scale, "--estimator", "bleu-neighbors", *out).code == 0
    )
    assert (
        run("score", outputs, "--rated", rated, *scale, "-o", where / "worth.html").code
        == 0
    )
    goal = ("--goal", "compare", "-n", 3, "--within", 0.5, "-o", where / "next.html")
    assert run("next", outputs, "--rated", rated, *scale, *goal).code == 0
    assert run("look", rated, *scale, "-o", where / "look.html").code == 0
    if "trained" in REPORTS:
        model = ("--to", where / "<img src=x onerror=alert(1)>.safetensors")
        shape = (
            "ratpred:hidden=8,embedding=8,epochs=3,synthetic_epochs=2,ensemble_size=2"
        )
        small = ("--estimator", shape)
        out = ("-o", where / "trained.html")
        assert (
            run("train", rated, *scale, *model, *small, "--threads", 1, *out).code == 0
        )
    return where


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    logged = {"browser": "ALL", "performance": "ALL"}
    options.set_capability("goog:loggingPrefs", logged)
    driver = webdriver.Chrome(options=options, service=Service(str(DRIVER)))
    yield driver
    driver.quit()


def opened(browser: Any, page: Path, *, width: int = 1280, dark: bool = False) -> Any:
    """The page in a window of that width; its logs begin anew."""
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    for log in ("browser", "performance"):
        browser.get_log(log)
    browser.get(page.as_uri())
    return browser


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_silent_and_alone(
    browser: Any, folder: Path, name: str, width: int, dark: bool
) -> None:
    """No message in the console, no request but for the file, nothing wider than the window."""
    page = folder / f"{name}.html"
    opened(browser, page, width=width, dark=dark)
    assert browser.get_log("browser") == []
    events = [
        json.loads(entry["message"])["message"]
        for entry in browser.get_log("performance")
    ]
    asked = [e["params"] for e in events if e["method"] == "Network.requestWillBeSent"]
    asked = [
        params for params in asked if not params["documentURL"].startswith("chrome")
    ]  # its own
    assert {params["request"]["url"] for params in asked} == {page.as_uri()}
    assert (
        browser.execute_script("return document.documentElement.scrollWidth") <= width
    )
    assert browser.title.endswith(": refless")
    ground = browser.execute_script(
        "return getComputedStyle(document.body).backgroundColor"
    )
    assert (ground == "rgb(255, 255, 255)") is not dark


def test_texts_are_only_text(browser: Any, folder: Path) -> None:
    """Markup in a text is shown, and never run."""
    opened(browser, folder / "trust.html")
    shown = browser.execute_script(
        "const search = document.getElementById('search'); search.value = 'onerror';"
        "search.dispatchEvent(new Event('input'));"
        "document.querySelector('#rows button').click();"
        "return document.querySelector('.whole').textContent"
    )
    assert NASTY in shown
    assert not browser.execute_script("return document.querySelectorAll('img').length")
    assert browser.title.endswith(": refless")
    assert browser.get_log("browser") == []


def test_labels_do_not_overlap(browser: Any, folder: Path) -> None:
    """Words within a drawing keep clear of each other and of its edges, at either width."""
    for name in REPORTS:
        for width in WIDTHS:
            opened(browser, folder / f"{name}.html", width=width)
            clashes = browser.execute_script(
                "const out = [];"
                "for (const svg of document.querySelectorAll('figure > svg')) {"
                " const frame = svg.getBoundingClientRect();"
                " const boxes = [...svg.querySelectorAll('text')].map(t =>"
                "  [t.textContent, t.getBoundingClientRect()]);"
                " boxes.forEach(([a, p], i) => {"
                "  if (p.left < frame.left - 1 || p.right > frame.right + 1) out.push([a, 'edge']);"
                "  boxes.slice(i + 1).forEach(([b, q]) => {"
                "   const wide = Math.min(p.right, q.right) - Math.max(p.left, q.left);"
                "   const high = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);"
                "   if (wide > 1 && high > 3) out.push([a, b]); }); }); }"
                "return out;"
            )
            assert clashes == [], f"{name} at {width}"


def test_paper(browser: Any, folder: Path) -> None:
    """In print the ground is white, and what only a screen can do is left out.

    Items beyond the first 30 leave no room behind either.
    """
    opened(browser, folder / "trust.html", dark=True)
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"media": "print", "features": []}
    )
    ground = browser.execute_script(
        "return getComputedStyle(document.body).backgroundColor"
    )
    hidden = browser.execute_script(
        "return getComputedStyle(document.querySelector('.tools')).display"
    )
    lines, blank = browser.execute_script(
        "dispatchEvent(new Event('beforeprint')); const pad = document.querySelector('.pad');"
        "return [document.querySelectorAll('#rows .line').length, pad.offsetHeight]"
    )
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    assert (lines, blank) == (30, 0)
    assert (ground, hidden) == ("rgb(255, 255, 255)", "none")


def test_outputs_side_by_side(browser: Any, folder: Path) -> None:
    """Search and filters choose rows, a press shows whole texts, arrows go from row to row."""
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys

    opened(browser, folder / "look.html")
    count = "return document.getElementById('count').textContent"
    assert browser.execute_script(count) == "34 of 34 rows"
    typed = (
        "const search = document.getElementById('search'); search.value = arguments[0];"
        "search.dispatchEvent(new Event('input'))"
    )
    browser.execute_script(typed, "ferry")
    shown, _, every = str(browser.execute_script(count)).split()[:3]
    assert 0 < int(shown) < int(every)
    marks = (
        "return [...document.querySelectorAll('#rows mark')].map(m => m.textContent)"
    )
    assert {*browser.execute_script(marks)} == {"ferry"}
    browser.execute_script(typed, "")
    browser.execute_script("document.querySelector('#rows button').click()")
    assert (
        browser.execute_script("return document.querySelectorAll('.whole').length") == 1
    )
    browser.execute_script("document.querySelector('#rows button').focus()")
    ActionChains(browser).send_keys(Keys.ARROW_DOWN).perform()
    focused = "return document.activeElement.getAttribute('aria-expanded')"
    assert browser.execute_script(focused) == "false"
    assert browser.get_log("browser") == []
