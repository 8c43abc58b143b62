"""A browser without a network and without a window, on readers of a small corpus."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from benchmark_assets.reporting.reader.writing import write_blind, write_reader
from resources.warehouse import Warehouse
from tests.processes import CHROMIUM
from tests.reporting.reader.world import CORPUS, build


@pytest.fixture(scope="package")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    own = build(tmp_path_factory.mktemp("open"))
    with own.kept_open():
        yield own


@pytest.fixture(scope="package")
def reader(stored: Warehouse, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("out") / "reader"
    write_reader(stored, folder, CORPUS)
    return folder


@pytest.fixture(scope="package")
def blind(stored: Warehouse, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("out") / "blind"
    write_blind(stored, folder, CORPUS, "=mori")
    return folder


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("needs a browser: apt-get install chromium")
    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=CHROMIUM)
        yield running
        running.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that has no network, asks for none, and says nothing on its console."""
    context = browser.new_context(offline=True, accept_downloads=True, viewport={"width": 1400, "height": 900})
    page = context.new_page()
    page.set_default_timeout(10_000)
    noise: list[str] = []
    page.on("console", lambda message: noise.append(message.text))
    page.on("pageerror", lambda error: noise.append(str(error)))
    page.on("dialog", lambda dialog: noise.append(f"dialog {dialog.message}"))
    page.on("request", lambda asked: None if asked.url.startswith(("file:", "blob:")) else noise.append(asked.url))
    yield page
    context.close()
    assert noise == []
