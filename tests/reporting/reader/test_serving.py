"""Readers over HTTP: written when they are first asked for, written again after a change, and nothing else served."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from time import monotonic, sleep

import httpx
import polars as pl
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from benchmark_assets.automation.webserver import application, listener
from benchmark_assets.reporting.reader.serving import LOCAL
from benchmark_assets.reporting.reader.writing import write_reader
from benchmark_assets.reporting.served import ServedHome
from resources.errors import BadInput
from resources.folders import PRIVATE
from resources.warehouse import Replacement, Warehouse
from tests.reporting.reader.world import CLOSED, CORPUS, build
from tests.systems import provider


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """A warehouse in whose corpus one reference is restricted. No test changes it."""
    return build(tmp_path_factory.mktemp("closed"), restricted=True, count=6)


@pytest.fixture(scope="module")
def public(closed: Warehouse) -> Iterator[httpx.Client]:
    yield from served(closed, private=False)


@pytest.fixture(scope="module")
def private(closed: Warehouse) -> Iterator[httpx.Client]:
    yield from served(closed, private=True)


@pytest.fixture
def own(tmp_path: Path) -> Warehouse:
    """Such a warehouse of the test's own."""
    return build(tmp_path, restricted=True, count=6)


@pytest.fixture
def client(own: Warehouse) -> Iterator[httpx.Client]:
    yield from served(own, private=False)


def served(warehouse: Warehouse, private: bool, read_only: bool = False) -> Iterator[httpx.Client]:
    """A client of a server, at whose other addresses there is one page in place of Dagster's."""
    pages = Starlette(routes=[Route("/{path:path}", lambda _: PlainTextResponse("a page of Dagster"))])
    served_home = ServedHome(warehouse, provider(warehouse.folder), private, read_only)
    server = uvicorn.Server(uvicorn.Config(application(pages, served_home, LOCAL), log_level="warning"))
    with listener("127.0.0.1", 0, private) as listening:
        thread = Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            url = f"http://127.0.0.1:{listening.getsockname()[1]}"
            with httpx.Client(base_url=url, follow_redirects=True, timeout=30) as client:
                yield client
        finally:
            server.should_exit = True
            thread.join()


def files(client: httpx.Client, page: httpx.Response) -> str:
    """The page with the index and the texts that it loads."""
    assert page.status_code == 200, page.text
    names = ["index.js", "texts/000.js"]
    return "".join([page.text, *(client.get(page.url.join(name)).raise_for_status().text for name in names)])


def test_a_reader_is_served_at_the_address_of_its_corpus(public: httpx.Client) -> None:
    assert f'<a href="{CORPUS}/">' in public.get("/readers").text
    page = public.get(f"/readers/{CORPUS}")
    assert page.headers["cache-control"] == "no-cache"
    assert "The spring tiny/a0:1 runs quickly" in files(public, page)
    assert public.get("/assets/reference").text == "a page of Dagster"


def test_a_reader_is_written_again_after_a_change_and_only_then(client: httpx.Client, own: Warehouse) -> None:
    first = client.get(f"/readers/{CORPUS}/")
    index = own.folder / "readers/public" / CORPUS / first.url.path.split("/")[3] / "index.html"
    written = index.stat().st_mtime_ns
    assert client.get(f"/readers/{CORPUS}/").url == first.url
    assert index.stat().st_mtime_ns == written
    references = own.read("reference")
    content = references.select(own.empty("reference").columns)
    text = pl.when(passage=f"{CORPUS}/a0:1", translator="ann").then(pl.lit("The well runs.")).otherwise("text")
    own.write([Replacement("reference", content.with_columns(text=text), None)], run_id="edit")
    second = client.get(first.url)  # a former version's page leads to the current one
    assert second.url != first.url
    assert "The well runs." in files(client, second)
    assert not index.parent.exists()
    assert client.get(first.url.join("index.js")).status_code == 404


def test_a_text_that_was_just_restricted_is_no_longer_served(
    client: httpx.Client, own: Warehouse, tmp_path: Path
) -> None:
    said = "runs quickly, ann says."
    assert said in files(client, client.get(f"/readers/{CORPUS}/"))
    description = next((tmp_path / "corpus").glob("*.yaml"))
    content = json.loads(description.read_text())
    content["references"]["ann"]["restricted"] = True
    description.write_text(json.dumps(content))
    assert said not in files(client, client.get(f"/readers/{CORPUS}/"))
    assert all(said not in file.read_text() for file in (own.folder / "readers").rglob("*.js"))


def test_first_requests_at_once_write_a_reader_once(client: httpx.Client, own: Warehouse) -> None:
    with ThreadPoolExecutor(8) as pool:
        pages = list(pool.map(lambda _: client.get(f"/readers/{CORPUS}/"), range(8)))
    assert {(page.status_code, page.url) for page in pages} == {(200, pages[0].url)}
    assert len(list((own.folder / "readers/public" / CORPUS).iterdir())) == 1


def test_another_page_does_not_wait_for_a_reader(client: httpx.Client, own: Warehouse) -> None:
    with ThreadPoolExecutor(1) as pool, own.exclusively():  # as while a run writes
        reader = pool.submit(client.get, f"/readers/{CORPUS}/")
        sleep(0.3)
        begun = monotonic()
        assert client.get("/assets").text == "a page of Dagster"
        assert monotonic() - begun < 2
        assert not reader.done()
    assert reader.result().status_code == 200


def test_an_unknown_corpus_is_refused_with_the_names_of_those_that_there_are(public: httpx.Client) -> None:
    refused = public.get("/readers/iliad/")
    assert (refused.status_code, refused.text) == (404, f"iliad: no such corpus; there are: {CORPUS}")


def test_no_file_outside_of_the_readers_is_served(public: httpx.Client, closed: Warehouse) -> None:
    public.get(f"/readers/{CORPUS}/")
    write_reader(closed, closed.folder / "readers/private/README", CORPUS, private=True)
    connection = HTTPConnection(public.base_url.host, public.base_url.port or 0)
    for way in ("../private", "..%2fprivate", f"{CORPUS}/..%2f../..%2fprivate", "../../variorum.duckdb"):
        for path in (way, f"{way}/README/README.md"):
            connection.request("GET", f"/readers/{path}")  # leaves the path as it is
            with connection.getresponse() as refused:
                assert (refused.status, refused.read()) == (404, b"Not Found"), path


def test_a_corpus_without_a_passage_says_so(client: httpx.Client, own: Warehouse) -> None:
    own.write([Replacement("selection", own.empty("selection"), None)], run_id="edit")
    refused = client.get(f"/readers/{CORPUS}/")
    assert refused.status_code == 503
    assert "has no passage in the benchmark" in refused.text


def test_restricted_texts_are_served_only_by_a_private_server(public: httpx.Client, private: httpx.Client) -> None:
    assert CLOSED not in files(public, public.get(f"/readers/{CORPUS}/")).lower()
    page = private.get(f"/readers/{CORPUS}/")
    assert page.url.path.endswith(f"/{PRIVATE}/")
    assert CLOSED in files(private, page)
    assert private.get(f"/readers/{CORPUS}/former/{PRIVATE}/").url == page.url


@pytest.mark.parametrize(
    ("host", "allowed", "named"), [("0.0.0.0", [], "0.0.0.0"), ("localhost", ["a.test"], "a.test")]
)
def test_a_private_server_that_other_machines_reach_is_refused(host: str, allowed: list[str], named: str) -> None:
    with pytest.raises(BadInput, match=f"would show restricted texts to all machines that reach {named}"):
        listener(host, 0, private=True, allowed=allowed)


def test_an_address_in_use_is_named() -> None:
    with listener("127.0.0.1", 0, private=False) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(BadInput, match=rf"127\.0\.0\.1:{port}: cannot be served \(Address already in use\)"):
            listener("127.0.0.1", port, private=False)
