"""The gate before Dagster's own application: what a page of another site sends, by hand and from a browser, changes and
shows nothing; what our pages and programs send passes."""

import json
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import dagster as dg
import httpx
import pytest
import uvicorn
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import EmptyWorkspaceTarget
from dagster_webserver.app import create_app_from_workspace_process_context
from playwright.sync_api import Page, sync_playwright
from starlette.applications import Starlette
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from benchmark_assets.automation.gate import ENDPOINTS, HEALTH
from benchmark_assets.automation.webserver import application, hosts, listener
from benchmark_assets.reporting.served import ServedHome
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.errors import BadInput
from tests.automation.dagster_ui import serving
from tests.processes import CHROMIUM, free_port, until
from tests.support import copy_finished, write_corpus
from tests.systems import provider

ALLOWED = "variorum.example"
JSON = {"Content-Type": "application/json"}
FOREIGN = {"Origin": "http://evil.example"}
LINK = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
RUNS = "{ runsOrError { ... on Runs { results { id } } } }"

ATTACKS = """<body><iframe name="out"></iframe><script>
const attacks = async ({url, socket, query, report}) => {
  const address = `${url}/graphql?query=${encodeURIComponent(query)}`
  const results = {}
  const loaded = (name, tag, address) => new Promise(done => {
    const each = Object.assign(document.createElement(tag), {src: address})
    each.onload = () => { results[name] = 'loaded'; done() }
    each.onerror = () => { results[name] = 'refused'; done() }
    document.body.append(each)
  })
  const asked = async (name, address, options) => {
    try {
      const answer = await fetch(address, options)
      results[name] = answer.type == 'opaque' ? 'opaque' : `${answer.status} ${await answer.text()}`
    } catch { results[name] = 'refused' }
  }
  const sent = (action, enctype, fields) => new Promise(done => {
    const form = Object.assign(document.createElement('form'), {action, enctype, method: 'POST', target: 'out'})
    for (const [name, value] of fields) form.append(Object.assign(document.createElement('input'), {name, value}))
    document.querySelector('iframe').onload = done
    setTimeout(done, 2000)
    document.body.append(form)
    form.submit()
  })
  const body = JSON.stringify({query})
  await loaded('image', 'img', address)
  await loaded('script', 'script', `${url}/graphql?query={version}`)
  await sent(address, 'application/x-www-form-urlencoded', [['query', query]])
  await sent(address, 'text/plain', [[body.slice(0, -1) + ', "a": "', '"}']])
  await sent(report, 'application/x-www-form-urlencoded', [])
  const opaque = {mode: 'no-cors', credentials: 'include'}
  await asked('get', address, opaque)
  await asked('text', address, {...opaque, method: 'POST', headers: {'Content-Type': 'text/plain'}, body})
  await asked('disguised', address,
    {...opaque, method: 'POST', headers: {'Content-Type': 'text/plain; application/json'}, body})
  await asked('json', `${url}/graphql`, {method: 'POST', headers: {'Content-Type': 'application/json'}, body})
  await asked('report', report, {...opaque, method: 'POST'})
  await asked('page', `${url}/readers/`, {})
  navigator.sendBeacon(address, body)
  results.socket = await new Promise(done => {
    const each = new WebSocket(`${socket}/graphql`, 'graphql-ws')
    each.onopen = () => done('open')
    each.onerror = () => done('refused')
  })
  await new Promise(done => setTimeout(done, 200))
  return results
}
</script>"""


def deletion(run: str) -> str:
    return f'mutation {{ deletePipelineRun(runId: "{run}") {{ __typename }} }}'


class Served:
    """A server with one run, whose application is Dagster's own behind the gate."""

    def __init__(
        self, instance: dg.DagsterInstance, port: int, run: str = "8f0c6f3c-58b4-4f0e-9d0a-3b1b1f6f2a11"
    ) -> None:
        self.instance = instance
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.run = instance.add_run(dg.DagsterRun(job_name="update", run_id=run)).run_id

    def state(self) -> tuple[list[str], int]:
        """The ids of runs, and the number of assets with an event."""
        return [run.run_id for run in self.instance.get_runs()], len(self.instance.all_asset_keys())

    def ask(self, method: str = "GET", path: str = "/graphql", **options: Any) -> int:
        return httpx.request(method, f"{self.url}{path}", **options).status_code

    def opened(self, **headers: str) -> int | None:
        """Status with which a websocket is refused; None for one that is opened."""
        try:
            with connect(
                f"ws://127.0.0.1:{self.port}/graphql",
                additional_headers=headers,
                subprotocols=[Subprotocol("graphql-ws")],
            ):
                pass
        except InvalidStatus as refused:
            return refused.response.status_code
        return None


@pytest.fixture(scope="module")
def dagster_pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[dg.DagsterInstance, Starlette]]:
    instance = dg.DagsterInstance.local_temp(str(tmp_path_factory.mktemp("dagster")))
    with instance, WorkspaceProcessContext(instance, EmptyWorkspaceTarget()) as context:
        yield instance, create_app_from_workspace_process_context(context)


@contextmanager
def listening_with(application: Callable[[Collection[str]], ASGIApp]) -> Iterator[int]:
    """The port of a server on this machine, whose application is made for the names of the server."""
    with listener("127.0.0.1", 0, private=False) as listening:
        names = hosts("127.0.0.1", listening, [ALLOWED])
        server = uvicorn.Server(uvicorn.Config(application(names), log_level="warning"))
        thread = Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="module")
def served(
    dagster_pages: tuple[dg.DagsterInstance, Starlette], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("gate")
    warehouse = DuckDBWarehouse(path=str(folder / "variorum.duckdb"))
    home = ServedHome(warehouse, provider(folder), private=False)
    instance, pages = dagster_pages
    with listening_with(lambda names: application(pages, home, names)) as port:
        yield Served(instance, port)


@pytest.fixture
def unchanged(served: Served) -> Iterator[Served]:
    """The server, in which the test changes nothing."""
    before = served.state()
    assert before[0] == [served.run]
    yield served
    assert served.state() == before


def test_every_route_of_dagster_is_known(dagster_pages: tuple[dg.DagsterInstance, Starlette]) -> None:
    routes = dagster_pages[1].routes
    paths = {
        route.path for route in routes if isinstance(route, Route | WebSocketRoute) and route.name != "root_static"
    }
    ends = {path.partition("{")[0] for path in paths}
    assert ends == {*ENDPOINTS, "/"}  # `/` is Dagster's page, at each address that is no other's


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "127.0.0.1@evil.example", ""])
@pytest.mark.parametrize("path", ["/graphql?query={version}", "/readers/", "/", "/runs", "/server_info"])
def test_another_host_is_answered_nowhere(unchanged: Served, host: str, path: str) -> None:
    assert unchanged.ask(path=path, headers={"Host": host}) == 403


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost:4000", "LOCALHOST", "variorum.example", "variorum.example:443"]
)
def test_a_program_passes_with_a_host_of_the_server(unchanged: Served, host: str) -> None:
    assert unchanged.ask(path="/graphql?query={version}", headers={"Host": host}) == 200
    assert unchanged.ask("POST", json={"query": RUNS}, headers={"Host": host}) == 200
    assert unchanged.opened() is None


def test_a_probe_is_answered_for_every_host_with_nothing(unchanged: Served) -> None:
    answer = httpx.get(f"{unchanged.url}{HEALTH}", headers={"Host": "10.0.0.7:3000"})
    assert (answer.status_code, answer.content) == (204, b"")


@pytest.mark.parametrize(
    "query",
    [
        "mutation {{ deletePipelineRun(runId: \"{run}\") {{ __typename }} }}",
        "query A {{ version }} mutation B {{ deletePipelineRun(runId: \"{run}\") {{ __typename }} }}&operationName=B",
        "fragment F on Query {{ version }} mutation {{ deletePipelineRun(runId: \"{run}\") {{ __typename }} }}",
        "subscription {{ locationStateChangeEvents {{ __typename }} }}",
        "{{ version }}&query=mutation {{ deletePipelineRun(runId: \"{run}\") {{ __typename }} }}",
        "mutation {{ deletePipelineRun(runId: \"{run}\")",
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/graphql", "/%67raphql", "/graphql%0A"])
def test_nothing_is_changed_by_get(unchanged: Served, query: str, path: str) -> None:
    assert unchanged.ask(path=f"{path}?query={query.format(run=unchanged.run)}") == 403
    assert unchanged.ask("HEAD", path=f"{path}?query={query.format(run=unchanged.run)}") == 403


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "text/plain; application/json", "application/x-www-form-urlencoded", "multipart/form-data", None],
)
def test_graphql_by_post_is_json(unchanged: Served, kind: str | None) -> None:
    query = deletion(unchanged.run)
    headers = {} if kind is None else {"Content-Type": kind}
    body = json.dumps({"query": query}).encode()
    assert unchanged.ask("POST", params={"query": query}, content=body, headers=headers) == 403


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://127.0.0.1:{other}", "http://127.0.0.1", "file://", "https://localhost"],
)
def test_a_page_of_another_origin_does_nothing(unchanged: Served, origin: str) -> None:
    headers = {"Origin": origin.format(other=unchanged.port + 1)}
    assert unchanged.ask("POST", json={"query": deletion(unchanged.run)}, headers=headers) == 403
    assert unchanged.ask("POST", "/report_asset_materialization/leaderboard", headers=headers) == 403
    assert unchanged.ask("OPTIONS", headers=headers) == 403
    assert unchanged.ask(path="/readers/", headers=headers) == 403
    assert unchanged.opened(**headers) == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_site_may_link_to_pages_and_do_nothing_else(unchanged: Served, site: str) -> None:
    link = LINK | {"Sec-Fetch-Site": site}
    assert [unchanged.ask(path=path, headers=link) for path in ("/", "/runs/1", "/readers/")] == [200, 200, 200]
    for endpoint in ENDPOINTS:
        assert unchanged.ask(path=endpoint, headers=link) == 403
    assert unchanged.ask("POST", path="/", headers=link) == 403
    assert unchanged.ask(path="/readers/", headers=link | {"Sec-Fetch-Dest": "iframe"}) == 403
    assert unchanged.ask(path="/readers/", headers={"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"}) == 403
    assert unchanged.opened(**{"Sec-Fetch-Site": site}) == 403


def test_a_page_cannot_be_framed_or_loaded_by_another_site(unchanged: Served) -> None:
    for path in ("/", "/readers/", "/graphql?query={version}"):
        headers = httpx.get(f"{unchanged.url}{path}").headers
        assert headers["x-frame-options"] == "SAMEORIGIN"
        assert headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize(("origin", "host"), [("https://variorum.example", "variorum.example"),
    ("https://variorum.example:8443", "variorum.example:8443"), ("https://variorum.example", "variorum.example:443"),
    ("http://[::1]:3000", "[::1]:3000")])  # fmt: skip
def test_a_page_behind_a_proxy_that_passes_on_the_host_works(unchanged: Served, origin: str, host: str) -> None:
    headers = {"Origin": origin, "Host": host, "Sec-Fetch-Site": "same-origin"}
    allowed = not host.startswith("[")  # this server listens at 127.0.0.1 alone
    assert unchanged.ask("POST", json={"query": RUNS}, headers=headers) == (200 if allowed else 403)
    assert unchanged.ask("POST", json={"query": RUNS}, headers={**headers, "Host": "127.0.0.1:3000"}) == 403


def test_a_server_at_every_address_needs_the_names_that_browsers_use() -> None:
    with pytest.raises(BadInput, match=r"--allowed-host: is missing, and 0\.0\.0\.0 stands for every address"):
        listener("0.0.0.0", 0, private=False)
    for name in ("https://variorum.example", "variorum.example:80", "*", "a b"):
        with pytest.raises(BadInput, match="is not a name"):
            listener("127.0.0.1", 0, private=False, allowed=[name])
    with listener("0.0.0.0", 0, private=False, allowed=["Variorum.example"]) as listening:
        names = hosts("0.0.0.0", listening, ["Variorum.example"])
    assert names == {"0.0.0.0", "127.0.0.1", "localhost", "variorum.example"}


@contextmanager
def foreign_page() -> Iterator[int]:
    """The port of a server with a page that attacks."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(ATTACKS.encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    """A page in a browser for which the names `evil.example` and `other.example` are this machine."""
    if CHROMIUM is None:
        pytest.skip("needs a browser: apt-get install chromium")
    rules = "--host-resolver-rules=MAP *.example 127.0.0.1"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", rules])
        yield browser.new_page()
        browser.close()


def attack(page: Page, origin: str, url: str, query: str) -> dict[str, str]:
    """Do from a page of `origin` what it can do to a server at `url`; how each attempt ended."""
    page.goto(origin)
    report = f"{url}/report_asset_materialization/planted"
    given = {"url": url, "socket": url.replace("http", "ws", 1), "query": query, "report": report}
    results: dict[str, str] = page.evaluate("given => attacks(given)", given)
    return results


def test_a_page_of_another_site_in_a_browser_changes_and_reads_nothing(unchanged: Served, page: Page) -> None:
    query = deletion(unchanged.run)
    with foreign_page() as port:
        for origin in (f"http://evil.example:{port}", f"http://127.0.0.1:{port}"):
            results = attack(page, origin, unchanged.url, query)
            assert results.pop("image") == "refused"
            assert {results[name] for name in ("script", "json", "page", "socket")} == {"refused"}
            assert {results[name] for name in ("get", "text", "disguised", "report")} <= {"refused", "opaque"}
            page.goto(origin)
            page.set_content(f'<a href="{unchanged.url}/readers/">link</a>')
            page.get_by_role("link").click()
            page.get_by_role("heading", name="Readers").wait_for()


def test_a_name_that_comes_to_mean_this_machine_reads_nothing(unchanged: Served, page: Page) -> None:
    rebound = f"http://evil.example:{unchanged.port}"
    answer = page.goto(f"{rebound}/readers/")
    assert answer is not None
    assert answer.status == 403
    assert "Host evil.example" in answer.text()
    options = "{method: 'POST', headers: {'Content-Type': 'application/json'}, body}"
    script = f"async body => (await fetch('/graphql', {options})).status"
    assert page.evaluate(script, json.dumps({"query": deletion(unchanged.run)})) == 403


def test_without_the_gate_the_same_page_changes_records_and_reads(
    dagster_pages: tuple[dg.DagsterInstance, Starlette], page: Page
) -> None:
    """Control: what `dagster-webserver` and `dagster dev` are open to, and what the tests above would notice."""
    instance, pages = dagster_pages
    with listening_with(lambda _: pages) as open_port, foreign_page() as port:
        alone = Served(instance, open_port, "4d7f3b0e-7f0f-4c11-8c4f-2f7a7f7b5c22")
        results = attack(page, f"http://evil.example:{port}", alone.url, deletion(alone.run))
    assert alone.run not in alone.state()[0]
    assert results["socket"] == "open"
    instance.wipe_assets([dg.AssetKey("planted")])


@pytest.mark.proof
@pytest.mark.large
def test_no_page_of_another_site_starts_a_run_in_a_home(finished: Path, page: Page, tmp_path: Path) -> None:
    home, port = tmp_path / "home", free_port()
    copy_finished(finished, home, write_corpus(tmp_path / "corpus"))
    job = 'repositoryName: "__repository__", repositoryLocationName: "variorum", jobName: "update"'
    launch = f"mutation {{ launchRun(executionParams: {{selector: {{{job}}}, runConfigData: {{}}}}) {{ __typename }} }}"
    with serving(home, port) as ui, foreign_page() as own:
        before = ui.ask(RUNS)
        (run, *_) = before["runsOrError"]["results"]
        for name in ("evil.example", "127.0.0.1"):
            for query in (launch, deletion(run["id"])):
                attack(page, f"http://{name}:{own}", ui.url, query)
        assert ui.ask(RUNS) == before
        assert ui.ask(launch)["launchRun"]["__typename"] == "LaunchRunSuccess"  # what the page asked for in vain
        until(lambda: not ui.busy(), 120, home / "ui.log")
