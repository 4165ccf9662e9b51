"""The HTML report in headless Chromium: silent, alone, and usable by pointer and keyboard."""

import json
import re
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
    rows = rated_rows(60)
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


def panel(browser: Any) -> str:
    return str(
        browser.execute_script("return document.querySelector('.panel').innerText")
    )


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


def test_hover_shows_the_text(browser: Any, folder: Path) -> None:
    """A pointer over a point brings up its text and its numbers."""
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.by import By

    opened(browser, folder / "trust.html")
    assert "Point at a text" in panel(browser)
    dot = browser.find_element(By.CSS_SELECTOR, ".linked .dot")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", dot)
    ActionChains(browser).move_to_element(dot).perform()
    text = browser.execute_script(
        "return document.querySelector('.panel .whole').textContent"
    )
    stored = {
        cell.get_attribute("textContent")
        for cell in browser.find_elements(By.CSS_SELECTOR, "#texts td.text")
    }
    assert text in stored
    said = panel(browser)
    assert re.search(r"people \d\.\d{3} · estimate \d\.\d{3}", said)


def test_keyboard_reaches_every_point(browser: Any, folder: Path) -> None:
    """Tab enters the chart once; arrows, Page Down, Home and End move; Tab leaves it."""
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys

    opened(browser, folder / "trust.html")

    def press(key: str) -> str:
        ActionChains(browser).send_keys(key).perform()
        return str(
            browser.execute_script("return document.activeElement.dataset.t ?? ''")
        )

    for _ in range(40):
        if press(Keys.TAB):
            break
    first = panel(browser)
    assert "Point at a text" not in first
    label = browser.execute_script(
        "return document.activeElement.getAttribute('aria-label')"
    )
    assert label.startswith("1 of 60: id")
    described = browser.execute_script(
        "return document.activeElement.getAttribute('aria-describedby')"
    )
    assert (
        browser.execute_script("return document.querySelector('.panel').id")
        == described
    )
    seen = {press(Keys.ARROW_RIGHT) for _ in range(59)}
    assert len(seen) == 59
    assert panel(browser) != first
    press(Keys.HOME)
    assert panel(browser) == first
    assert press(Keys.PAGE_DOWN)
    assert press(Keys.END)
    focused = (
        "return document.querySelector('.linked').contains(document.activeElement)"
    )
    ActionChains(browser).send_keys(Keys.TAB).perform()
    assert not browser.execute_script(focused)


def test_texts_are_only_text(browser: Any, folder: Path) -> None:
    """Markup in a text is shown, in the panel and under misses too, and never run."""
    opened(browser, folder / "trust.html")
    shown = browser.execute_script(
        "return [...document.querySelectorAll('.dot')].map(dot => {"
        " dot.dispatchEvent(new PointerEvent('click', {bubbles: true}));"
        " const box = dot.getBoundingClientRect();"
        " dot.dispatchEvent(new PointerEvent('pointermove', {bubbles: true,"
        " clientX: box.x + box.width / 2, clientY: box.y + box.height / 2}));"
        " return document.querySelector('.panel').innerText})"
    )
    assert any(NASTY in text for text in shown)
    assert not browser.execute_script("return document.querySelectorAll('img').length")
    assert browser.title.endswith(": refless")
    misses = browser.execute_script(
        "return [...document.querySelectorAll('.misses td.text')].map(cell => cell.textContent)"
    )
    assert len(misses) == 10
    assert all(misses)
    assert browser.get_log("browser") == []


def test_link_opens_the_folded_texts(browser: Any, folder: Path) -> None:
    """A miss leads to its row, which is folded away until then."""
    opened(browser, folder / "trust.html")
    assert not browser.execute_script(
        "return document.querySelector('#texts details').open"
    )
    browser.execute_script("document.querySelector('.misses a').click()")
    assert browser.execute_script(
        "return document.querySelector('#texts details').open"
    )
    row = browser.execute_script("return document.querySelector('tr:target').id")
    assert row == browser.execute_script(
        "return document.querySelector('.misses a').getAttribute('href').slice(1)"
    )


def test_labels_do_not_overlap(browser: Any, folder: Path) -> None:
    """Words within a drawing keep clear of each other and of its edges, at either width."""
    for name in REPORTS:
        for width in WIDTHS:
            opened(browser, folder / f"{name}.html", width=width)
            clashes = browser.execute_script(
                "const out = [];"
                "for (const svg of document.querySelectorAll('figure > svg, .beside > svg')) {"
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
    """In print the ground is white, and what only a screen can do is left out."""
    opened(browser, folder / "trust.html", dark=True)
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"media": "print", "features": []}
    )
    ground = browser.execute_script(
        "return getComputedStyle(document.body).backgroundColor"
    )
    hidden = browser.execute_script(
        "return getComputedStyle(document.querySelector('.panel')).display"
    )
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    assert (ground, hidden) == ("rgb(255, 255, 255)", "none")


def test_outputs_side_by_side(browser: Any, folder: Path) -> None:
    """Search and filters choose rows, a press shows whole texts, arrows go from row to row."""
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys

    opened(browser, folder / "look.html")
    count = "return document.getElementById('count').textContent"
    assert browser.execute_script(count) == "15 of 15 items"
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
