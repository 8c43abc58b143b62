"""The page of `variorum open`, in a browser: what was taken for what, questions, the import, the reader."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Literal

import pytest
import uvicorn
import yaml
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, sync_playwright

from benchmark_assets.automation import webserver
from benchmark_assets.automation.opening_page import ADDRESS, OpeningPage
from benchmark_assets.reporting.served import ServedHome
from resources.warehouse import Warehouse
from tests.corpus.forms import FORMS, LA, VALE, columns, placed, separated
from tests.processes import CHROMIUM, VARIORUM, environment
from tests.systems import provider

ROWS = columns(["", "Latin", "Latin B", "text"], range(1, 13), LA, [line.upper() for line in LA], VALE)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("needs a browser: apt-get install chromium")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


@contextmanager
def served(page: OpeningPage, warehouse: Warehouse) -> Iterator[str]:
    """The address of a page, behind the gate, with nobody who imports."""
    with webserver.listener("127.0.0.1", 0, private=False) as listening:
        names = webserver.hosts("127.0.0.1", listening, ())
        home = ServedHome(warehouse, provider(warehouse.folder), private=False)
        application = webserver.application(page.application(), home, names)
        server = uvicorn.Server(uvicorn.Config(application, log_level="warning"))
        thread = Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}{ADDRESS}"
        server.should_exit = True
        thread.join()


def test_a_page_shows_what_was_taken_for_what_and_its_form_gives_the_answers(
    browser: Browser, warehouse: Warehouse, tmp_path: Path
) -> None:
    separated(ROWS)(tmp_path / "pons.csv")
    page = OpeningPage(tmp_path / "pons.csv")
    with served(page, warehouse) as url:
        context = browser.new_context(viewport={"width": 390, "height": 800})
        shown = context.new_page()
        shown.goto(url)
        assert shown.evaluate("document.documentElement.scrollWidth") == 390
        assert shown.get_by_role("heading", level=3).all_inner_texts() == [
            "Latin: the source", "text: translated by text", "Latin B: not read"
        ]  # fmt: skip
        assert shown.locator("section").first.locator("li").all_inner_texts() == LA[:5]
        schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
        for scheme in schemes:
            shown.emulate_media(color_scheme=scheme)
            violations = Axe().run(shown, None, {"resultTypes": ["violations"]}).response["violations"]
            assert [(each["id"], each["nodes"][0]["html"][:200]) for each in violations] == [], scheme
        shown.get_by_label("is the source?").select_option("Latin B")
        shown.get_by_role("button", name="Look again").click()
        assert shown.get_by_role("heading", level=3).first.inner_text() == "Latin B: the source"
        refused = context.request.post(f"{url}import", headers={"Origin": "http://evil.example"})
        assert (refused.status, page.chosen.empty()) == (403, True)
        shown.get_by_role("button", name="Import and read").click()
        assert page.chosen.get(timeout=10)["source"] == "Latin B"
        assert shown.get_by_role("status").inner_text() == "Reading the files"
        page.failure, page.progress = "pons.csv: is gone", ""
        shown.get_by_role("alert").get_by_text("pons.csv: is gone").wait_for()
        context.close()


def test_a_page_says_why_a_folder_cannot_be_evaluated(browser: Browser, warehouse: Warehouse, tmp_path: Path) -> None:
    placed({"latin.csv": separated(columns(["No", "Latin"], range(12), LA))})(tmp_path / "latin")
    with served(OpeningPage(tmp_path / "latin"), warehouse) as url:
        shown = browser.new_page()
        shown.goto(url)
        assert "has a source in la and no translation" in shown.get_by_role("alert").inner_text()
        assert shown.get_by_role("button").count() == 0
        shown.close()


def test_a_dropped_table_is_read_after_one_click(browser: Browser, home: Path, tmp_path: Path) -> None:
    next(each for each in FORMS if each.name == "languages.xlsx").write(tmp_path / "pons.xlsx")
    command = [VARIORUM, "open", str(tmp_path / "pons.xlsx")]
    env = environment(home, BROWSER="true")
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        try:
            assert process.stdout is not None
            shown = browser.new_page()
            shown.set_default_timeout(300_000)
            shown.goto(process.stdout.readline().split()[0])
            shown.get_by_label("which are read?").select_option("de")
            shown.get_by_role("button", name="Import and read").click()
            shown.wait_for_url("**/readers/pons/*/")
            shown.get_by_text(LA[0]).first.wait_for()
        finally:
            os.kill(process.pid, signal.SIGINT)
            process.wait(60)
    description = yaml.safe_load((tmp_path / "pons.yaml").read_text(encoding="utf-8"))
    assert {name: text["language"] for name, text in description["references"].items()} == {"Kern": "de"}
    assert (tmp_path / description["corrections"]).read_bytes() == b""
