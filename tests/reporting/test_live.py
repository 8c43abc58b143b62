"""The live page, the report and the start page over HTTP, while evaluations run and afterwards."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import dagster as dg
import httpx
import pytest
import uvicorn
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, sync_playwright
from starlette.applications import Starlette

from benchmark_assets.automation import runs
from benchmark_assets.automation.webserver import application, listener
from benchmark_assets.definitions import build_definitions
from benchmark_assets.reporting.graph import VIEWS
from benchmark_assets.reporting.reader.serving import LOCAL
from benchmark_assets.reporting.served import ServedHome
from resources import journal
from resources.errors import RunFailedError
from resources.home import PROJECT
from resources.provider.provider import Provider
from resources.warehouse import Replacement, Warehouse
from tests.processes import CHROMIUM, environment, free_port, started
from tests.provider.server import Server
from tests.reporting.reader.world import CLOSED, CORPUS, build
from tests.support import CORE, PASSAGES, LetterEmbedder, write_registry
from tests.systems import provider


def got(address: str) -> httpx.Response:
    return httpx.get(address, timeout=120, follow_redirects=True)


class Watch(Thread):
    """Asks a server what runs, ten times a second, as a page does, until it is ended."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        self.states: list[list[dict[str, Any]]] = []
        self._url, self._ended = url, Event()

    def run(self) -> None:
        with httpx.Client(base_url=self._url, timeout=120) as client:
            while not self._ended.wait(0.1):
                self.states.append(client.get("/live/state").raise_for_status().json()["updates"])

    def end(self) -> None:
        self._ended.set()
        self.join()


@pytest.mark.usefixtures("built")
def test_an_evaluation_is_seen_while_it_runs_from_another_process(
    home: Path, instance: dg.DagsterInstance, warehouse: Warehouse, tmp_path: Path, server: Server,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Outputs, a failure, money and what remains; and calls are counted for the run that pays for them alone."""
    write_registry(tmp_path / "models.yaml", server.url, "newcomer", "other", in_flight=1)
    monkeypatch.setenv("VARIORUM_MODELS", str(tmp_path / "models.yaml"))
    provider = Provider(registry_path=str(tmp_path / "models.yaml"), ledger_path=str(home / "ledger.sqlite"), cap=0.5)
    resources = {"warehouse": warehouse, "provider": provider, "embedder": LetterEmbedder()}
    definitions = build_definitions(rooms=CORE, resource_overrides=resources)
    port = free_port()
    url, command = f"http://127.0.0.1:{port}", (sys.executable, "-m", "tests.reporting.pages_server", str(home))
    paths = environment(home, PYTHONPATH=str(PROJECT))
    with started((*command, str(port)), f"{url}/live", tmp_path / "server.log", paths):
        assert got(f"{url}/live/state").json() == {"updates": []}
        report = got(f"{url}/report")
        server.configure(latency=0.7, by_key={"doc1:2": "bad_request"})
        watch = Watch(url)
        watch.start()
        with pytest.raises(RunFailedError):
            runs.evaluate(definitions, instance, "newcomer", payer="mine")
        provider.probe(["other"], "another run")
        watch.end()
        assert got(f"{url}/live/state").json() == {"updates": []}
        assert "newcomer" not in report.text
        assert "newcomer" in got(f"{url}/report").text

    updates = [update for (update,) in filter(None, watch.states)]
    assert updates[0]["dollars"] == 0
    assert {update["cap"] for update in updates} == {0.5}
    rows = [row for update in updates for row in update["models"] if row["model"] == "newcomer"]
    assert {row["done"] + row["failed"] + row["left"] for row in rows if row["left"] is not None} == {len(PASSAGES)}
    assert {row["left"] for row in rows} & {1, 2}
    assert rows[-1]["left"] == 0
    assert updates[-1]["dollars"] > 0
    (shown,) = [each for each in updates[-1]["passages"] if each["passage"] == PASSAGES[0]]
    assert shown["text"] == "EN: Mus currit. Felis sedet."
    assert (shown["model"], shown["address"]) == ("newcomer", "/readers/tiny/#passage=doc1:1&model=newcomer")
    failures = {each["passage"]: each["reason"] for each in updates[-1]["failures"]}
    assert "The request is not valid." in failures["tiny/doc1:2"]

    mine, another = (sum(provider.ledger.charged(run, 0)["calls"]) for run in ("mine", "another run"))
    assert (mine + another, another) == (len(server.log()), 1)
    assert provider.ledger.charged("mine", provider.ledger.last_attempt()).is_empty()


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """A warehouse in whose corpus one reference is restricted."""
    return build(tmp_path_factory.mktemp("closed"), restricted=True, count=6)


def served_home(warehouse: Warehouse, private: bool = False) -> ServedHome:
    return ServedHome(warehouse, provider(warehouse.folder), private)


@contextmanager
def serving(home: ServedHome) -> Iterator[str]:
    """The URL of a server of a home's own pages."""
    with listener("127.0.0.1", 0, home.private) as listening:
        server = uvicorn.Server(uvicorn.Config(application(Starlette(), home, LOCAL), log_level="warning"))
        thread = Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def noted(home: ServedHome, run: str, passage: str, text: str | None, error: str | None = None) -> None:
    entry = {"model": "ours", "passage": f"{CORPUS}/{passage}", "text": text, "refused": False, "error": error}
    journal.note(home.warehouse.folder, run, entry)


@pytest.mark.parametrize("private", [False, True])
def test_an_output_that_copies_a_restricted_text_is_reduced_to_its_length(closed: Warehouse, private: bool) -> None:
    home = served_home(closed, private)
    with journal.kept(closed.folder, "run", home.provider), serving(home) as url:
        noted(home, "run", "a0:1", f"He says: {CLOSED}.")
        noted(home, "run", "b1:1", "The spring runs.")
        (update,) = got(f"{url}/live/state").json()["updates"]
    texts = {each["passage"]: each["text"] for each in update["passages"]}
    assert texts == {f"{CORPUS}/b1:1": "The spring runs.", f"{CORPUS}/a0:1": f"He says: {CLOSED}." if private else None}
    assert {each["characters"] for each in update["passages"]} == {len(f"He says: {CLOSED}."), 16}


def test_a_journal_of_a_killed_process_is_not_shown_and_is_removed(closed: Warehouse) -> None:
    home = served_home(closed)
    with journal.kept(closed.folder, "killed", home.provider):
        (path,) = (closed.folder / "live").iterdir()
        first = json.loads(path.read_text(encoding="utf-8"))
    former = first | {"process": f"{first['process'].split()[0]} 1.00"}  # of another process with the same id
    path.write_text(f"{json.dumps(former)}\n", encoding="utf-8")
    assert journal.running(closed.folder) == []
    with journal.kept(closed.folder, "next", home.provider) as first:
        assert first
        assert [each.run for each in journal.running(closed.folder)] == ["next"]
        assert not path.exists()
        with journal.kept(closed.folder, "next", home.provider) as second:
            assert not second


@pytest.fixture
def page() -> Iterator[Page]:
    if CHROMIUM is None:
        pytest.skip("needs a browser: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        own = browser.new_page()
        own.set_default_timeout(90_000)
        yield own
        browser.close()


def accessible(page: Page) -> None:
    """No finding of axe, and nothing that scrolls sideways, on a phone and on a wide screen, light and dark."""
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
    for scheme, rules in (("light", {}), ("dark", {"runOnly": ["color-contrast"]})):
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        found = Axe().run(page, options={"resultTypes": ["violations"], **rules}).response["violations"]
        assert [(each["id"], each["nodes"][0]["html"]) for each in found] == [], scheme


def test_the_live_page_follows_an_update_by_itself(closed: Warehouse, page: Page) -> None:
    home = served_home(closed)
    with serving(home) as url:
        page.goto(f"{url}/live")
        page.get_by_text("Nothing runs.").wait_for()
        with journal.kept(closed.folder, "quiet", home.provider):
            page.get_by_text("No model has been asked.").wait_for()
            assert page.get_by_role("table").count() == 0
        with journal.kept(closed.folder, "run", home.provider, ["ours"]):
            plan = {"asset": "model_output", "calls": 3, "partitions": {"ours": 3}}
            journal.note(closed.folder, "run", plan)
            noted(home, "run", "a0:1", "<b>The spring</b> runs.")
            page.get_by_text("<b>The spring</b> runs.").wait_for()
            assert page.get_by_role("row", name="ours").first.inner_text().split()[1:4] == ["1", "0", "2"]
            noted(home, "run", "b1:1", None, "the provider said no")
            page.get_by_text("the provider said no").wait_for()
            link = page.get_by_role("link", name=f"{CORPUS}/a0:1").first
            assert link.get_attribute("href") == f"/readers/{CORPUS}/#passage=a0:1&model=ours"
            accessible(page)
        page.get_by_text("The update has ended").wait_for()
        assert page.get_by_text("the provider said no").is_visible()


def test_the_start_page_links_what_there_is(closed: Warehouse, page: Page) -> None:
    with serving(served_home(closed)) as url:
        page.goto(url)
        accessible(page)
        own = [link.get_attribute("href") or "" for link in page.get_by_role("link").all()]
        of_views = [address for address in own if address.startswith("/asset-groups~")]
        assert of_views == [view.address for view in VIEWS]
        assert f"/readers/{CORPUS}/corrections/" not in own  # it has no alignment
        for address in ("/live", "/report", f"/readers/{CORPUS}/"):
            assert address in own
            assert got(f"{url}{address}").status_code == 200


def test_the_report_is_written_again_after_a_change_and_only_then(tmp_path: Path) -> None:
    own = build(tmp_path, count=6)
    with serving(served_home(own)) as url:
        first = got(f"{url}/report")
        (file,) = (own.folder / "reports" / "served").iterdir()
        assert got(f"{url}/report").content == first.content
        outputs = own.read("model_output")
        own.write(
            [Replacement("model_output", outputs.clear().select(own.empty("model_output").columns), None)], "edit"
        )
        assert got(f"{url}/report").status_code == 200
        assert not file.exists()
        assert len([*file.parent.iterdir()]) == 1
