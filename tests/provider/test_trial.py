"""The trial of a model at endpoints that accept all of its settings, that refuse one, and that answer nobody."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from resources.errors import BadInput
from resources.provider.client import Waits
from resources.provider.provider import Provider
from resources.provider.trial import PURPOSE, WAITS, Trial, check
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


def tried(
    folder: Path, url: str, endpoint: dict[str, Any] | None = None, waits: Waits = WAITS, **settings: Any
) -> tuple[Trial, Provider]:
    registry = written(folder, url, endpoint, **settings)
    provider = Provider(registry_path=str(registry), ledger_path=str(folder / "ledger.sqlite"))
    return check(provider, "ours", waits), provider


def test_an_endpoint_that_accepts_all_is_asked_once_with_the_fields_of_the_entry(
    tmp_path: Path, server: Server
) -> None:
    server.configure(**ANSWERING, served_model="m-2026-11", served_provider="upstream")
    endpoint = {"dialect": "openai", "structured": "schema"}
    found, provider = tried(tmp_path, server.url, endpoint, seed=7, effort="low", top_p=0.9)
    assert (found.fault, found.problem) == (None, "")
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
    assert found.call == row
    assert row["cost"] == pytest.approx((row["prompt_tokens"] + 2 * row["completion_tokens"]) / 1e6)


def test_a_gateway_names_who_answered_and_the_cost_in_headers(tmp_path: Path, server: Server) -> None:
    headers = {"x-litellm-model-id": "deployment-7", "x-litellm-response-cost": "0.00025"}
    server.configure(**ANSWERING, headers=headers, system_fingerprint="fp_1")
    found, provider = tried(tmp_path, server.url, {"dialect": "litellm"})
    row = found.call
    assert (row["served_model"], row["served_provider"], row["system_fingerprint"]) == ("m", "deployment-7", "fp_1")
    assert row["cost"] == row["reported_cost"] == pytest.approx(0.00025)
    server.configure(**ANSWERING, headers={"x-litellm-response-cost": "0.0"})  # of a model without a price there
    assert check(provider, "ours").call["reported_cost"] is None


def test_every_trial_asks_anew(tmp_path: Path, server: Server) -> None:
    tried(tmp_path, server.url)
    tried(tmp_path, server.url)
    assert len(server.log()) == 2


@pytest.mark.parametrize("blamed", [True, False])
@pytest.mark.parametrize(
    ("refused", "endpoint", "entry", "remedy"),
    [
        ({"temperature": "temperature: only the default."}, {}, {}, "write `temperature: null`"),
        ({"max_tokens": TOKENS}, {}, {}, "lower `max_tokens`, or use another `dialect`"),
        ({"seed": "Extra inputs in seed are not permitted"}, {}, {"seed": 3}, "leave out `seed`"),
        (
            {"response_format": "This response_format type is unavailable now"}, {"structured": "schema"}, {},
            "set the endpoint's `structured` to `json` or `text`",
        ),
        (
            {"reasoning_effort": "Unknown field reasoning_effort"}, {"dialect": "litellm"}, {"effort": "low"},
            "leave out `effort`, or use another `dialect`",
        ),
        (
            {"seed": "Neither seed nor top_p, says this endpoint."}, {}, {"seed": 3, "top_p": 0.9},
            "leave out `top_p`; leave out `seed`",
        ),
    ],
)  # fmt: skip
def test_the_remedy_for_a_refused_field_names_the_setting_to_change(
    refused: dict[str, str], endpoint: dict[str, Any], entry: dict[str, Any], remedy: str, blamed: bool,
    tmp_path: Path, server: Server,
) -> None:  # fmt: skip
    server.configure(**ANSWERING, refused=refused, blamed=blamed)
    found, provider = tried(tmp_path, server.url, endpoint, **entry)
    assert found.fault is not None
    assert (found.fault.key, found.fault.remedy) == ("models.ours", remedy)
    assert all(message in found.fault.problem for message in refused.values())
    assert len(server.log()) == len(provider.ledger.attempts()) == 1


def test_a_refusal_without_a_field_lists_the_settings_of_the_request(tmp_path: Path, server: Server) -> None:
    server.configure(refused={"model": "You did something wrong, request 17."}, blamed=False)
    found, _ = tried(tmp_path, server.url, {"structured": "schema"}, seed=3)
    assert found.fault is not None
    assert "You did something wrong" in found.fault.problem
    assert found.fault.remedy.endswith("the request has max_tokens, temperature, seed, response_format")


@pytest.mark.parametrize(
    ("script", "place", "problem", "remedy"),
    [
        (["unauthorized"], "endpoints.place", "Incorrect API key provided", "check the key in VARIORUM_TEST_KEY"),
        (["not_found"], "models.ours", "The model does not exist", "check `id` and `url`"),
        (["no_credit"], "models.ours", "Insufficient credits", "pay for credit"),
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


def test_a_server_that_throttles_or_fails_is_asked_again_and_that_is_said(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    rude = ["rate_limited", "overloaded", "server_error", "rate_limited"]
    server.configure(**ANSWERING, script=rude, retry_after={"seconds": 0.05})
    monkeypatch.setenv("VARIORUM_MODELS", str(written(tmp_path, server.url)))
    said = here(tmp_path / "home", "check", "model", "ours").stdout
    assert "asked 5 times: rate limited: Rate limit reached for requests. (status 429); server error: " in said
    assert "; then it answered" in said
    assert len(server.log()) == 5


@pytest.mark.parametrize(("script", "retry_after"), [(["overloaded"] * 99, {}), (["rate_limited"], {"seconds": 500})])
def test_a_server_that_goes_on_failing_is_asked_for_a_bounded_time(
    script: list[str], retry_after: dict[str, float], tmp_path: Path, server: Server
) -> None:
    server.configure(script=script, retry_after=retry_after)
    found, provider = tried(tmp_path, server.url, waits=Waits(first=0.1, patience=0.8))
    assert found.fault is not None
    assert (found.fault.key, found.fault.remedy) == (
        "models.ours",
        "wait, then try again" if retry_after else "try again later",
    )
    assert len(server.log()) == len(provider.ledger.attempts()) == len(found.before) + 1 == (1 if retry_after else 4)


def test_a_port_without_a_server_is_named(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    found, _ = tried(tmp_path, f"http://127.0.0.1:{port}/v1")
    assert found.fault is not None
    assert f"endpoints.place: nothing listens at 127.0.0.1:{port}; start the server, or check `url`" in str(found.fault)


def test_a_gateway_without_a_provider_for_all_fields_is_not_taken_for_a_missing_model(
    tmp_path: Path, server: Server
) -> None:
    message = "No endpoints found that can handle the requested parameters."
    server.configure(**ANSWERING, refused={"seed": message}, refused_status=404, blamed=False)
    found, _ = tried(tmp_path, server.url, seed=3)
    assert found.fault is not None
    assert "the request has max_tokens, temperature, seed" in found.fault.remedy


def test_a_budget_that_a_request_would_exceed_is_kept(tmp_path: Path, server: Server) -> None:
    with pytest.raises(BadInput, match="budget of model ours"):
        tried(tmp_path, server.url, budget=0.0001)
    assert server.log() == []


def test_a_reply_in_another_form_is_said(tmp_path: Path, server: Server) -> None:
    server.configure(answer="bytes", reply_bytes=500)
    found, _ = tried(tmp_path, server.url)
    assert found.fault is None
    assert found.problem


def test_without_tokens_and_cost_the_cost_is_unknown(tmp_path: Path, server: Server) -> None:
    server.configure(**ANSWERING, usage=False)
    found, _ = tried(tmp_path, server.url)
    assert found.call["cost"] is None


def test_the_command_prints_findings_or_what_to_change(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.configure(**ANSWERING, refused={"max_tokens": TOKENS}, cost_per_token=1e-6, served_model="m-2026-11")
    monkeypatch.setenv("VARIORUM_MODELS", str(written(tmp_path, server.url)))
    done = here(tmp_path / "home", "check", "model", "ours", code=1)
    assert f"{TOKENS} (status 400); lower `max_tokens`, or use another `dialect`" in done.stderr
    written(tmp_path, server.url, {"dialect": "openai"})
    done = here(tmp_path / "home", "check", "model", "ours")
    assert "answered by m-2026-11; in the requested form" in done.stdout
    assert "dollars, reported by the endpoint" in done.stdout
    costs = [line.split() for line in here(tmp_path / "home", "costs").stdout.splitlines() if "trial" in line]
    assert [line[1:5] for line in costs] == [["ours", "trial", "2", "1"]]
    server.configure(answer="bytes", reply_bytes=500)
    done = here(tmp_path / "home", "check", "model", "ours", code=1)
    assert "ours: answers, but in no form that a study could read: no JSON" in done.stderr


@pytest.mark.parametrize(("name", "words"), [("nobody", "no such model"), ("literal", "is a recording")])
def test_what_cannot_be_checked_is_said(name: str, words: str, tmp_path: Path) -> None:
    assert words in here(tmp_path, "check", "model", name, code=1).stderr
