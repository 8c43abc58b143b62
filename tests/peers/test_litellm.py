"""LiteLLM's proxy as an endpoint, in front of the tests' provider: what Variorum makes of its replies and errors."""

import asyncio
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from resources.duckdb_warehouse import DuckDBWarehouse
from resources.provider.client import CallFailed, Reply, opened
from resources.provider.sqlite_ledger import SqliteLedger
from tests.peers.environments import Peer
from tests.processes import free_port, started, variorum
from tests.provider.server import Server
from tests.provider.support import NO_BUDGET, Result, model, outcome, question
from tests.support import PASSAGES, write_corpus

PEER = "litellm"
pytestmark = pytest.mark.peer
KEY = "sk-of-the-proxy"
INPUT, OUTPUT = 3e-6, 5e-6
"""The proxy's prices in dollars per token; the registry's are others."""

JUDGES = ["first", "second", "third"]


@pytest.fixture(scope="module")
def proxy(peer: Peer, running: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of a proxy that passes everything on to the provider."""
    folder, port = tmp_path_factory.mktemp("proxy"), free_port()
    upstream = {"model": "openai/m", "api_base": running.url, "api_key": "none"}
    prices = {"input_cost_per_token": INPUT, "output_cost_per_token": OUTPUT}
    settings = {
        "model_list": [{"model_name": "m", "litellm_params": upstream | prices}],
        "litellm_settings": {"num_retries": 0, "telemetry": False},
        "router_settings": {"num_retries": 0, "disable_cooldowns": True},
        "general_settings": {"master_key": KEY},
    }
    (folder / "config.yaml").write_text(json.dumps(settings))  # JSON is YAML
    command = [str(peer.programs / "litellm"), "--config", "config.yaml", "--host", "127.0.0.1", "--port", str(port)]
    offline = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "NO_DOCS": "True"}
    url = f"http://127.0.0.1:{port}"
    with started(command, f"{url}/health/liveliness", folder / "log", os.environ | offline):
        yield f"{url}/v1"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The proxy's key."""
    monkeypatch.setenv("PROXY_KEY", KEY)


def ask(url: str, folder: Path, number: int = 0) -> Result:
    """The result of a question that goes through the proxy."""

    async def asked() -> Result:
        async with opened(SqliteLedger(folder / "ledger.sqlite").session("run", NO_BUDGET)) as client:
            endpoint = {"key": "PROXY_KEY", "dialect": "litellm", "timeout": 20}
            return await outcome(client, question(model(url, endpoint), number, passages=2))

    return asyncio.run(asked())


def test_a_reply_has_the_proxys_cost(
    proxy: str, server: Server, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """A reply through the proxy: its text, tokens, deployment and cost."""
    result = ask(proxy, tmp_path)
    assert isinstance(result, Reply)
    reading = result.reading
    assert json.loads(reading.text).keys() == {"d0:0", "d0:1"}
    assert reading.prompt_tokens
    assert reading.completion_tokens
    assert reading.cost == pytest.approx(reading.prompt_tokens * INPUT + reading.completion_tokens * OUTPUT)
    assert reading.served_provider
    record_property("result", "the proxy's price, not the registry's; tokens and deployment are those that it reports")


FAULTS = {
    "rate_limited": "",
    "server_error": "",
    "overloaded": "",
    "dropped": "",
    "bad_request": "rejected",
    "context_length": "too long",
    "not_found": "not found",
    "unauthorized": "unauthorized",
    "content_filter": "refused",
    "length": "length",
}
"""Word for the outcome of a question whose first request meets a fault; '' if it is asked again and answered."""


def words(result: Result) -> str:
    """The outcome of a question, or why the client stopped."""
    if isinstance(result, CallFailed):
        return result.reading.outcome.value if result.reading else str(result)
    return result.reading.outcome.value


def test_faults_behind_the_proxy_are_named(
    proxy: str, server: Server, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """Each of ten faults of the provider behind the proxy, on the first request."""
    for number, (fault, word) in enumerate(FAULTS.items()):
        server.configure(script=[fault])
        server.clear()
        found = words(ask(proxy, tmp_path / fault, number))
        assert (word or "answered") in found, fault
        assert (len(server.log()) > 1) == (not word), fault
    repeated = sum(not word for word in FAULTS.values())
    record_property("result", f"{repeated} asked again and answered, {len(FAULTS) - repeated} named as without a proxy")


def test_a_wrong_key_is_named(proxy: str, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that the proxy does not know."""
    monkeypatch.setenv("PROXY_KEY", "sk-another")
    result = ask(proxy, tmp_path)
    assert "unauthorized" in words(result)
    assert not server.log()


def test_a_home_translates_through_the_proxy(
    proxy: str, server: Server, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """`variorum evaluate` through the proxy, while 30 % of requests are rejected with status 429."""
    server.configure(rates={"rate_limited": 0.3}, seed=1)
    server.clear()
    corpus = write_corpus(tmp_path / "corpus")
    price = {"input": 1, "output": 1}
    registry = {
        "endpoints": {"proxy": {"url": proxy, "key": "PROXY_KEY", "dialect": "litellm"}},
        "models": {"alpha": {"endpoint": "proxy", "id": "m", "price": price, "batch_tokens": 5}},
        "embedders": {"minilm": {}},
        "embedder": "minilm",
    }
    (tmp_path / "models.yaml").write_text(json.dumps(registry))
    models = {"VARIORUM_MODELS": str(tmp_path / "models.yaml")}
    variorum(tmp_path / "home", "import", "corpus", str(corpus), code=0, **models)
    variorum(tmp_path / "home", "evaluate", "--accept", "alpha", code=0, **models)
    warehouse = DuckDBWarehouse(path=str(tmp_path / "home/variorum.duckdb"))
    outputs = warehouse.read("model_output")
    assert outputs["passage"].sort().to_list() == PASSAGES
    assert all(text.startswith("EN: ") for text in outputs["text"])
    calls = warehouse.read("model_call")
    answered = calls.filter(outcome="answered")
    expected = answered["prompt_tokens"] * INPUT + answered["completion_tokens"] * OUTPUT
    assert answered["cost"].to_list() == pytest.approx(expected.to_list())
    assert len(calls) == len(server.log()) > len(answered)
    record_property(
        "result",
        f"{len(outputs)} outputs; {len(calls) - len(answered)} of {len(calls)} calls repeated; costs are the proxy's",
    )
