"""Which version of a model answers: a short question says so, and another version is asked everything anew."""

import asyncio
import json
import logging
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.provider.client import Reply
from resources.provider.ledger import PROBE
from resources.provider.provider import Provider
from resources.provider.question import Question
from resources.provider.reading import Raw, read
from tests.provider.server import Server
from tests.provider.support import NO_BUDGET, model, question

OURS: dict[str, Any] = {"endpoint": "server", "id": "m", "price": {"input": 1, "output": 1}, "max_tokens": 1000}


class Deployment:
    """A registry of models at the server, and a ledger of its own."""

    def __init__(self, folder: Path, server: Server) -> None:
        self._registry, self._server = folder / "models.yaml", server
        self.provider = Provider(registry_path=str(self._registry), ledger_path=str(folder / "ledger.sqlite"))
        self.registry(ours=OURS)

    def registry(self, url: str = "", **models: Any) -> None:
        """Write the registry; besides the server there are endpoints that cannot be asked."""
        endpoints = {
            "server": {"url": url or self._server.url},
            "nowhere": {"url": self._server.url.replace("/v1", "/v0")},  # answers everything with a 404
            "locked": {"url": self._server.url, "key": "VARIORUM_TEST_KEY_THAT_NOBODY_HAS"},
            "tape": {"recording": "no such tape.jsonl"},
        }
        content = {"endpoints": endpoints, "models": models, "embedders": {"minilm": {}}, "embedder": "minilm"}
        self._registry.write_text(json.dumps(content), encoding="utf-8")

    def serve(self, version: str, *script: str) -> None:
        """Have the server answer as a version, and fault as the script says first."""
        self._server.configure(served_model=version, prefix=f"{version}: ", script=list(script))

    def question(self, number: int = 0, name: str = "ours") -> Question:
        return question(self.provider.model(name), number)

    def ask(self, number: int = 0, name: str = "ours") -> Reply:
        """Put a question to a model as it is now."""
        return self._ask(self.question(number, name))

    def probed(self, version: str, days_ago: int) -> None:
        """Have the ledger hold a probe of an earlier day, in which this version answered."""
        self.serve(version)
        day = datetime.now(UTC).toordinal() - days_ago
        self._ask(replace(question(self.provider.registry().model("ours"), -1), purpose=PROBE, replicate=day))

    def probe(self, *names: str) -> None:
        self.provider.probe(names or ["ours"], "run")

    def version(self, name: str = "ours") -> str:
        return self.provider.model(name).served

    def requests(self) -> int:
        return len(self._server.log())

    def _ask(self, question: Question) -> Reply:
        async def main() -> Reply:
            async with self.provider.opened("run") as client:
                return await client.ask(question)

        return asyncio.run(main())


@pytest.fixture
def deployment(tmp_path: Path, server: Server) -> Deployment:
    return Deployment(tmp_path, server)


# Versions and keys


def test_before_a_probe_no_version_is_told_apart(deployment: Deployment) -> None:
    plain = deployment.provider.registry().model("ours")
    assert deployment.provider.model("ours") == plain
    for number, version in enumerate(("v1", "v2")):
        deployment.serve(version)
        deployment.ask(number)
    assert deployment.provider.model("ours") == plain


@pytest.mark.parametrize("asked_before", [True, False])
def test_a_probe_that_finds_the_first_version_changes_no_key(deployment: Deployment, asked_before: bool) -> None:
    deployment.serve("v1")
    key = deployment.question().key
    if asked_before:
        deployment.ask()
    deployment.probe()
    assert deployment.question().key == key
    assert deployment.ask().recorded is asked_before


def test_a_probe_that_finds_another_version_has_everything_asked_anew_once(deployment: Deployment) -> None:
    deployment.serve("v1")
    old = deployment.ask()
    deployment.serve("v2")
    deployment.probe()
    assert deployment.version() == "v2"
    new, again = deployment.ask(), deployment.ask()
    assert new.key == again.key != old.key
    assert (new.recorded, again.recorded) == (False, True)
    for reply, version in ((old, "v1"), (new, "v2"), (again, "v2")):
        assert f"{version}: Sententia" in reply.reading.text


def test_the_replies_of_a_version_that_returns_are_found_again_at_no_cost(deployment: Deployment) -> None:
    replies = {}
    for days_ago, version in ((4, "v1"), (3, "v2"), (2, "v3")):
        deployment.probed(version, days_ago)
        replies[version] = deployment.ask()
    assert len({each.key for each in replies.values()}) == 3
    deployment.probed("v2", days_ago=1)
    assert deployment.ask() == replace(replies["v2"], recorded=True)
    deployment.serve("v1")
    deployment.probe()
    requests, paid = deployment.requests(), deployment.provider.ledger.attempts()["cost"].sum()
    assert deployment.ask() == replace(replies["v1"], recorded=True)
    assert (deployment.requests(), deployment.provider.ledger.attempts()["cost"].sum()) == (requests, paid)


@given(st.text(), st.text())
def test_versions_share_a_key_only_when_they_are_equal(one: str, other: str) -> None:
    plain = question(model("http://127.0.0.1:1/v1"), 0)
    versions = [replace(plain, model=replace(plain.model, served=served)) for served in (one, other)]
    assert (versions[0].key == versions[1].key) == (one == other)
    assert all(each.body == plain.body and each.recording_key == plain.recording_key for each in versions)


def test_a_first_reply_that_does_not_say_who_answered_is_of_no_other_version(deployment: Deployment) -> None:
    asked = deployment.question()
    unsaid = Raw(200, {}, b'{"choices": [{"message": {"content": "Salve."}, "finish_reason": "stop"}]}')

    async def record() -> None:
        with deployment.provider.ledger.session("run", NO_BUDGET) as ledger:
            attempt = await ledger.claim(asked)
            await ledger.receive(attempt, unsaid)
            ledger.settle(attempt, read(unsaid))
            await ledger.drained()

    asyncio.run(record())
    deployment.serve("v1")
    deployment.probe()
    assert deployment.question().key == asked.key


def test_another_endpoint_has_versions_of_its_own(deployment: Deployment, server: Server) -> None:
    deployment.serve("v1")
    deployment.ask()
    deployment.registry(url=server.url.replace("127.0.0.1", "localhost"), ours=OURS)
    deployment.serve("v2")
    deployment.probe()
    assert deployment.version() == ""
    deployment.registry(ours=OURS)
    assert deployment.version() == ""


def test_an_error_before_the_first_reply_is_no_version(deployment: Deployment) -> None:
    deployment.serve("v1", "rate_limited")
    deployment.ask()
    deployment.serve("v2")
    deployment.probe()
    assert deployment.version() == "v2"


def test_another_model_under_the_same_name_is_no_other_version(deployment: Deployment) -> None:
    deployment.serve("v1")
    deployment.ask()
    deployment.registry(ours=OURS | {"id": "n"})
    deployment.serve("n1")
    key = deployment.ask().key
    deployment.probe()
    assert deployment.question().key == key


# Probing


def test_a_probe_is_asked_at_most_once_a_day(deployment: Deployment) -> None:
    deployment.probed("v1", days_ago=1)
    for _ in range(3):
        deployment.probe()
    assert deployment.requests() == 2


def test_a_probe_is_short_and_the_run_pays_for_it(deployment: Deployment) -> None:
    deployment.probe()
    row = deployment.provider.ledger.attempts().row(0, named=True)
    assert (row["run"], row["purpose"], row["model"]) == ("run", PROBE, "ours")
    assert 0 < row["cost"] < 100e-6  # at a dollar for a million tokens
    assert date.fromordinal(row["replicate"]) == row["asked"].date()  # that of another day is another question


@pytest.mark.parametrize("names", [["gone", "ours"], ["ours", "gone"]])
def test_a_model_that_cannot_be_asked_is_passed_over_with_a_warning(
    deployment: Deployment, caplog: pytest.LogCaptureFixture, names: list[str]
) -> None:
    deployment.registry(ours=OURS, gone=OURS | {"endpoint": "nowhere"})
    deployment.serve("v1")
    deployment.ask()
    deployment.serve("v2")
    deployment.probe(*names)
    assert (deployment.version("ours"), deployment.version("gone")) == ("v2", "")
    (warning,) = (each.getMessage() for each in caplog.records if each.levelno == logging.WARNING)
    assert warning.startswith("gone: the served version is unknown; ")


def test_a_model_whose_key_is_missing_does_not_keep_others_from_being_probed(deployment: Deployment) -> None:
    deployment.registry(ours=OURS, locked=OURS | {"endpoint": "locked"})
    deployment.serve("v1")
    deployment.ask()
    deployment.serve("v2")
    deployment.probe("locked", "ours")
    assert deployment.version("ours") == "v2"


def test_a_probe_that_fails_leaves_the_version_that_was_found_last(deployment: Deployment) -> None:
    deployment.probed("v1", days_ago=2)
    deployment.probed("v2", days_ago=1)
    deployment.serve("v2", "not_found")
    deployment.probe()
    assert deployment.requests() == 3
    assert deployment.version() == "v2"


def test_models_that_share_their_replies_share_their_version(deployment: Deployment) -> None:
    deployment.registry(ours=OURS, batched=OURS | {"batch_tokens": 50})
    deployment.serve("v1")
    assert deployment.ask(name="ours").key == deployment.ask(name="batched").key
    deployment.serve("v2")
    deployment.probe("ours", "batched")
    assert deployment.version("ours") == deployment.version("batched") == "v2"


def test_worth_asking_are_models_that_have_answered_and_were_not_asked_today(deployment: Deployment) -> None:
    deployment.registry(ours=OURS, tape={"endpoint": "tape", "id": "m"})
    names = ["ours", "tape", "of no registry"]
    assert deployment.provider.worth_probing(names) == []  # the first reply will say its version by itself
    deployment.probed("v1", days_ago=1)
    assert deployment.provider.worth_probing(names) == ["ours"]  # a recording does not change
    assert deployment.provider.cost_of_probing(["ours"]).calls == 1
    deployment.probe("ours")
    assert deployment.provider.worth_probing(names) == []
