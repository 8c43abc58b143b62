"""Dagster's web server and daemon as `variorum ui` starts them, asked through the API that the UI itself uses."""

import json
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.processes import VARIORUM, environment, started, until


class Ui:
    """The web server at a port."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"

    def ask(self, query: str, **variables: Any) -> dict[str, Any]:
        """The data that answers a GraphQL query."""
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(f"{self.url}/graphql", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as reply:
            answer = json.load(reply)
        assert "errors" not in answer, answer
        data: dict[str, Any] = answer["data"]
        return data

    def switch_on(self, sensor: str) -> None:
        """What the switch beside a sensor does."""
        query = (
            "mutation($s: SensorSelector!) { startSensor(sensorSelector: $s) { __typename "
            "... on PythonError { message } ... on Sensor { sensorState { status } } } }"
        )
        assert self.ask(query, s=_selector(sensor))["startSensor"]["__typename"] == "Sensor"

    def busy(self) -> bool:
        """Whether a run waits or is under way."""
        query = "{ runsOrError(filter: {statuses: [QUEUED, STARTING, STARTED]}) { ... on Runs { results { id } } } }"
        return bool(self.ask(query)["runsOrError"]["results"])

    def ticks(self, sensor: str) -> list[str]:
        """How the sensor's looks ended so far."""
        query = (
            "query($s: SensorSelector!) { sensorOrError(sensorSelector: $s) { ... on Sensor { sensorState "
            "{ ticks(limit: 100) { status } } } } }"
        )
        found = self.ask(query, s=_selector(sensor))["sensorOrError"]
        return [tick["status"] for tick in found["sensorState"]["ticks"]]


def _selector(sensor: str) -> dict[str, str]:
    return {"repositoryName": "__repository__", "repositoryLocationName": "variorum", "sensorName": sensor}


@contextmanager
def serving(home: Path, port: int, *command: str, **more: str) -> Iterator[Ui]:
    """`variorum ui`, or another command that serves Dagster's pages, on a home, until the block ends."""
    ui, log = Ui(port), home / "ui.log"
    with started(command or (VARIORUM, "ui", "--port", str(port)), ui.url, log, environment(home, **more)):
        until(lambda: loaded(ui), 120, log)
        yield ui


def loaded(ui: Ui) -> bool:
    """Whether the code location is there."""
    try:
        found = ui.ask("{ workspaceOrError { ... on Workspace { locationEntries { loadStatus } } } }")
    except OSError:
        return False
    return [entry["loadStatus"] for entry in found["workspaceOrError"].get("locationEntries", [])] == ["LOADED"]
