"""Paths of the project and of the home, the folder of a deployment's data."""

import os
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]


def home() -> Path:
    """Folder of the warehouse and of Dagster's state: `VARIORUM_HOME`, by default `warehouse/` of the project."""
    return Path(os.environ.get("VARIORUM_HOME", PROJECT / "warehouse")).resolve()


def prepare() -> Path:
    """Create the home, set `DAGSTER_HOME` to its subfolder `dagster` unless already set, and return the home.

    Without `DAGSTER_HOME`, Dagster ignores dagster.yaml and loses its state on exit.
    """
    place = home()
    os.environ["VARIORUM_HOME"] = str(place)  # absolute, for processes with another working directory
    dagster_home = Path(os.environ.setdefault("DAGSTER_HOME", str(place / "dagster")))
    dagster_home.mkdir(parents=True, exist_ok=True)
    instance = dagster_home / "dagster.yaml"
    if not instance.exists():
        instance.unlink(missing_ok=True)  # a symlink whose target has moved
        instance.symlink_to(PROJECT / "dagster.yaml")
    return place
