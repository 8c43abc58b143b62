"""The trial of a model at endpoints that accept all of its settings, that refuse some, and that answer nobody."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from resources.errors import BadInput
from resources.provider.provider import Provider
from resources.provider.trial import MOST, PURPOSE, Trial, check
from tests.processes import here
from tests.provider.server import Server

ANSWERING: dict[str, Any] = {"answer": "judge", "judgements": {"m": ['{"word": "here"}']}, "keep_bodies": True}
"""A server that gives the requested reply."""

TOKENS = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."


@pytest.fixture
def server(server: Server) -> Server:
    server.configure(**ANSWERING)
    return server


def written(folder: Path, url: str, endpoint: dict[str, Any] | None = None, **settings: Any) -> Path:
    """A registry with the model `ours` at this URL."""
    content = {
        "endpoints": {"place": {"url": url, "timeout": 5} | (endpoint or {})},
        "models": {"ours": {"endpoint": "place", "id": "m", "price": {"input": 1, "output": 2}} | settings},
        "embedders": {"minilm": {}}, "embedder": "minilm", "budget": {"run": 1},
    }  # fmt: skip
    path = folder / "models.yaml"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def tried(folder: Path, url: str, endpoint: dict[str, Any] | None = None, **settings: Any) -> tuple[Trial, Provider]:
    registry = written(folder, url, endpoint, **settings)
    provider = Provider(registry_path=str(registry), ledger_path=str(folder / "ledger.sqlite"))
    return check(provider, "ours"), provider


def test_an_endpoint_that_accepts_all_is_asked_once_with_the_fields_of_the_entry(
    tmp_path: Path, server: Server
) -> None:
    server.configure(**ANSWERING, served_model="m-2026-11", served_provider="upstream")
    endpoint = {"dialect": "openai", "structured": "schema"}
    found, provider = tried(tmp_path, server.url, endpoint, seed=7, effort="low", top_p=0.9)
    assert (found.refused, found.fault, found.problem) == ((), None, "")
    assert (found.reading.served_model, found.reading.served_provider) == ("m-2026-11", "upstream")
    (seen,) = server.log()
    assert seen.body is not None
    form = seen.body.pop("response_format")["json_schema"]
    assert (form["strict"], form["schema"]["required"]) == (True, ["word"])
    assert {**seen.body, "messages": []} == {
        "model": "m", "max_completion_tokens": 8192, "temperature": 0, "top_p": 0.9, "seed": 7,
        "reasoning_effort": "low", "messages": [],
    }  # fmt: skip
    (row,) = provider.ledger.attempts().rows(named=True)
    assert (row["purpose"], row["outcome"]) == (PURPOSE, "answered")
    assert found.costs == {"priced": pytest.approx((row["prompt_tokens"] + 2 * row["completion_tokens"]) / 1e6)}


def test_a_gateway_names_who_answered_and_the_cost_in_headers(tmp_path: Path, server: Server) -> None:
    headers = {"x-litellm-model-id": "deployment-7", "x-litellm-response-cost": "0.00025"}
    server.configure(**ANSWERING, headers=headers, system_fingerprint="fp_1")
    found, provider = tried(tmp_path, server.url, {"dialect": "litellm"})
    row = provider.ledger.attempts().row(0, named=True)
    assert (row["served_model"], row["served_provider"], row["system_fingerprint"]) == ("m", "deployment-7", "fp_1")
    assert found.costs == {"reported": pytest.approx(0.00025)}
    server.configure(**ANSWERING, headers={"x-litellm-response-cost": "0.0"})  # of a model without a price there
    assert set(check(provider, "ours").costs) == {"priced"}


def test_every_trial_asks_anew(tmp_path: Path, server: Server) -> None:
    tried(tmp_path, server.url)
    tried(tmp_path, server.url)
    assert len(server.log()) == 2


@pytest.mark.parametrize("blamed", [True, False])
@pytest.mark.parametrize(
    ("refused", "endpoint", "entry", "settings", "called"),
    [
        ({"temperature": "Only the default is supported."}, {}, {}, {"models.ours.temperature": None}, ""),
        (
            {"max_tokens": TOKENS}, {}, {}, {"endpoints.place.dialect": "openai"}, "max_completion_tokens",
        ),
        (
            {"max_tokens": TOKENS}, {"dialect": "litellm"}, {"effort": "low"}, {"endpoints.place.dialect": "openai"},
            "max_completion_tokens",
        ),
        ({"seed": "Extra inputs are not permitted"}, {}, {"seed": 3}, {"models.ours.seed": None}, ""),
        (
            {"response_format: json_schema": "This response_format type is unavailable now"}, {"structured": "schema"},
            {}, {"endpoints.place.structured": "json"}, "",
        ),
        (
            {"response_format": "Unknown field"}, {"structured": "schema"}, {}, {"endpoints.place.structured": "text"},
            "",
        ),
        (
            {"reasoning_effort": "Unknown field"}, {"dialect": "litellm"}, {"effort": "low"},
            {"endpoints.place.dialect": "openrouter"}, "reasoning",
        ),
        (
            {name: f"Unrecognized request argument: {name}" for name in ("reasoning_effort", "reasoning")},
            {"dialect": "openrouter"}, {"effort": "low"}, {"models.ours.effort": None}, "",
        ),
        (
            {"temperature": "Not this.", "seed": "Nor this.", "max_tokens": TOKENS}, {}, {"seed": 3},
            {"models.ours.temperature": None, "models.ours.seed": None, "endpoints.place.dialect": "openai"},
            "max_completion_tokens",
        ),
    ],
)  # fmt: skip
def test_a_refused_field_is_named_with_what_to_write(
    refused: dict[str, str], endpoint: dict[str, Any], entry: dict[str, Any], settings: dict[str, Any], called: str,
    blamed: bool, tmp_path: Path, server: Server,
) -> None:  # fmt: skip
    server.configure(**ANSWERING, refused=refused, blamed=blamed)
    found, provider = tried(tmp_path, server.url, endpoint, **entry)
    assert (found.settings, found.fault) == (settings, None)
    assert called in {each.change.called for each in found.refused}
    assert {each.words.removeprefix("400: ") for each in found.refused} <= set(refused.values())
    assert len(server.log()) == len(provider.ledger.attempts()) <= MOST
    written(tmp_path, server.url, **_applied(endpoint, entry, settings))
    assert check(provider, "ours").refused == ()


def _applied(endpoint: dict[str, Any], entry: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Arguments of `written` for an entry with the settings that a trial advises."""
    endpoint, entry = dict(endpoint), dict(entry)
    for place, value in settings.items():
        section, _, name = place.split(".")
        (endpoint if section == "endpoints" else entry)[name] = value
    return {"endpoint": endpoint, **entry}


def test_fields_that_an_endpoint_refuses_without_a_word_are_left_out_together(tmp_path: Path, server: Server) -> None:
    server.configure(**ANSWERING, refused={"temperature": "no", "seed": "no"}, blamed=False)
    found, _ = tried(tmp_path, server.url, seed=3)
    assert found.fault is None
    assert {"models.ours.temperature": None, "models.ours.seed": None}.items() <= found.settings.items()
    assert len(server.log()) <= MOST


def test_an_endpoint_that_refuses_everything_is_left_alone_soon(tmp_path: Path, server: Server) -> None:
    server.configure(refused={"model": "You did something wrong, request 17."})
    endpoint = {"dialect": "vllm", "structured": "schema"}
    found, _ = tried(tmp_path, server.url, endpoint, seed=3, top_p=0.9, effort="low")
    assert found.fault is not None
    assert "You did something wrong" in str(found.fault)
    assert found.refused == ()
    assert len(server.log()) <= MOST


@pytest.mark.parametrize(
    ("script", "place", "problem", "remedy"),
    [
        (["unauthorized"], "endpoints.place", "Incorrect API key provided", "check the key in VARIORUM_TEST_KEY"),
        (["not_found"], "models.ours", "The model does not exist", "check `id` and `url`"),
        (["no_credit"], "models.ours", "Insufficient credits", "pay for credit"),
        (["overloaded"], "models.ours", "overloaded", "try again later"),
        (["html"], "models.ours", "log in", "API addresses often end in /v1"),
    ],
)
def test_other_faults_are_named_after_a_single_request(
    script: list[str], place: str, problem: str, remedy: str, tmp_path: Path, server: Server,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("VARIORUM_TEST_KEY", "a wrong one".replace(" ", "-"))
    server.configure(script=script)
    found, _ = tried(tmp_path, server.url, {"key": "VARIORUM_TEST_KEY"})
    assert found.fault is not None
    assert found.fault.key == place
    assert problem in found.fault.problem
    assert remedy in found.fault.remedy
    assert len(server.log()) == 1


def test_a_fault_after_a_refusal_is_no_proof_that_a_change_helped(tmp_path: Path, server: Server) -> None:
    server.configure(refused={"temperature": "Only the default is supported."}, script=["ok", "rate_limited"])
    found, _ = tried(tmp_path, server.url)
    assert found.refused == ()
    assert found.fault is not None
    assert "Rate limit reached" in found.fault.problem


def test_a_port_without_a_server_is_named(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    found, _ = tried(tmp_path, f"http://127.0.0.1:{port}/v1")
    assert found.fault is not None
    assert f"endpoints.place: nothing listens at 127.0.0.1:{port}; start the server, or check `url`" in str(found.fault)
    assert found.costs == {}


def test_a_gateway_without_a_provider_for_all_fields_is_not_taken_for_a_missing_model(
    tmp_path: Path, server: Server
) -> None:
    message = "No endpoints found that can handle the requested parameters."
    server.configure(**ANSWERING, refused={"seed": message}, refused_status=404)
    found, _ = tried(tmp_path, server.url, seed=3)
    assert found.settings == {"models.ours.seed": None}


def test_a_budget_that_a_request_would_exceed_is_kept(tmp_path: Path, server: Server) -> None:
    with pytest.raises(BadInput, match="budget of model ours"):
        tried(tmp_path, server.url, budget=0.0001)
    assert server.log() == []


def test_a_reply_in_another_form_is_said(tmp_path: Path, server: Server) -> None:
    server.configure()
    found, _ = tried(tmp_path, server.url)
    assert found.fault is None
    assert found.problem


def test_without_tokens_and_cost_the_cost_is_unknown(tmp_path: Path, server: Server) -> None:
    server.configure(**ANSWERING, usage=False)
    found, _ = tried(tmp_path, server.url)
    assert (found.costs, found.unknown) == ({}, 1)


def test_the_command_prints_findings_and_ends_with_what_to_write(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.configure(**ANSWERING, refused={"max_tokens": TOKENS}, cost_per_token=1e-6, served_model="m-2026-11")
    monkeypatch.setenv("VARIORUM_MODELS", str(written(tmp_path, server.url)))
    done = here(tmp_path / "home", "check", "model", "ours", code=1)
    assert f"refused: max_tokens (400: {TOKENS})" in done.stdout
    assert "accepted: max_completion_tokens" in done.stdout
    assert "answered by m-2026-11" in done.stdout
    assert "dollars, reported by the endpoint" in done.stdout
    assert "write endpoints.place.dialect: openai" in done.stderr
    written(tmp_path, server.url, {"dialect": "openai"})
    assert "refused" not in here(tmp_path / "home", "check", "model", "ours").stdout
    costs = [line.split() for line in here(tmp_path / "home", "costs").stdout.splitlines() if "trial" in line]
    assert [line[1:5] for line in costs] == [["ours", "trial", "3", "2"]]


@pytest.mark.parametrize(("name", "words"), [("nobody", "no such model"), ("literal", "is a recording")])
def test_what_cannot_be_checked_is_said(name: str, words: str, tmp_path: Path) -> None:
    assert words in here(tmp_path, "check", "model", name, code=1).stderr
