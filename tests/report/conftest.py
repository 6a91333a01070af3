"""A browser for tests of pages, which need ``chromium`` and ``chromedriver`` on the PATH."""

from __future__ import annotations

import json
import shutil
import tempfile

import pytest

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
ARGUMENTS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("chromium or chromedriver is not installed: nothing is checked in a browser")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for argument in (*ARGUMENTS, f"--user-data-dir={profile}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        driver = webdriver.Chrome(options=options, service=Service(DRIVER))
        try:
            yield driver
        finally:
            driver.quit()


@pytest.fixture
def shown(browser, tmp_path):
    """Shows a page in a window of a width, and says what the browser had to say and to fetch."""

    def show(page: str, width: int = 1200) -> tuple[list[str], set[str]]:
        path = tmp_path / "report.html"
        path.write_text(page, encoding="utf-8")
        browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600},
        )
        browser.get("about:blank")
        browser.get_log("browser"), browser.get_log("performance")
        browser.get(path.as_uri())
        messages = [json.loads(one["message"])["message"] for one in browser.get_log("performance")]
        fetched = {
            one["params"]["request"]["url"]
            for one in messages
            if one["method"] == "Network.requestWillBeSent"
        }
        return [one["message"] for one in browser.get_log("browser")], fetched - {path.as_uri()}

    return show
