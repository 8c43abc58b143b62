"""Paths of the project and of the home, the folder of a deployment's data."""

import os
import re
from pathlib import Path

from resources import extras
from resources.errors import BadInput

CODE = Path(__file__).resolve().parents[1]
"""Folder of the packages `benchmark_assets` and `resources`."""

_IN_WHEEL = Path(__file__).resolve().with_name("project")

INSTALLED = _IN_WHEEL.is_dir()
"""Whether the program was installed from a wheel, which contains the files of the project (resources.wheel)."""

PROJECT = _IN_WHEEL if INSTALLED else CODE
"""Folder of the project's files: prompts, samples, recipes, schema, settings. In a checkout, its root."""

_TEXT = r"(?:[^\s/?#@:%\[\]]|%[0-9A-Fa-f]{2})*"
_HOST = rf"(?:\[[0-9A-Fa-f:.]+\]|{_TEXT})(?::\d*)?"
_URL = re.compile(rf"postgres(?:ql)?://(?:{_TEXT}(?::{_TEXT})?@)?{_HOST}(?:,{_HOST})*(?:/{_TEXT})?(?:\?[^\s#]*)?")

FORMER = {
    "resources.event_storage": "resources.dagster_storage.event_storage",
    "resources.run_storage": "resources.dagster_storage.run_storage",
    "resources.postgres_storage": "resources.postgres.postgres_storage",
}
"""Present names of modules that a dagster.yaml of one's own may name by former names."""

RESTORING = ".restoring"
"""Subfolder of a home for the files that a repair makes. The subfolder has a file `ready` once they are complete."""


def home() -> Path:
    """Folder of the warehouse and of Dagster's state: `VARIORUM_HOME`.

    By default, `warehouse/` of a checkout; of an installed wheel, `variorum` in the user's folder of data
    (`XDG_DATA_HOME`, else `~/.local/share`).
    """
    return Path(os.environ.get("VARIORUM_HOME") or _default_home()).resolve()


def _default_home() -> Path:
    if not INSTALLED:
        return PROJECT / "warehouse"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "variorum"


def database() -> str | None:
    """URL of the PostgreSQL database of a home that several machines share: `VARIORUM_DATABASE`. None if the home
    consists of files.

    Raises
    ------
    BadInput
        As for `checked`.
    """
    url = os.environ.get("VARIORUM_DATABASE")
    return checked(url, "VARIORUM_DATABASE") if url else None


def checked(url: str, where: str) -> str:
    """The URL of a database, whose parts cannot be mistaken for each other: no message of a driver quotes its password.

    Raises
    ------
    BadInput
        If it is no URL of a PostgreSQL database, its password has characters that have to be encoded, or the extra
        `server` is not installed. `where` names what contains the URL, which is not quoted.
    """
    if not _URL.fullmatch(url):
        raise BadInput(
            where, "", "is not the URL of a PostgreSQL database",
            "write postgresql://USER:PASSWORD@HOST/DATABASE, with %40 for @ in a password, %2F for /, %3A for :, %23 "
            "for #, %3F for ? and %25 for %",
        )  # fmt: skip
    extras.require("server", extras.SERVER, where, "", "names a PostgreSQL database")
    return url


def vectors() -> str:
    """Place of the vectors of a home in a database: `VARIORUM_VECTORS`, by default the folder `vectors` in the home."""
    return os.environ.get("VARIORUM_VECTORS") or str(home() / "vectors")


def stored(path: Path, folder: Path) -> str:
    """The form in which the home in `folder` stores an absolute path: relative to the home if it is inside, else
    unchanged."""
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)


def restored(text: str, written_in: str | None, folder: Path) -> Path:
    """The absolute path of a file, from the form `text` that `stored` returned.

    `folder` is the present place of the home. `written_in` is the place where the home was when the path was stored;
    None if unknown. If the home has moved since, a file outside the home is first looked up at the same relative path
    from the home, because it may have been moved or copied together with the home.
    """
    if not os.path.isabs(text):
        return folder / text
    if written_in and written_in != str(folder):
        beside = Path(os.path.normpath(folder / os.path.relpath(text, written_in)))
        if beside.exists():
            return beside
    return Path(text)


def prepare() -> Path:
    """Create the home, set `DAGSTER_HOME` to its subfolder `dagster` unless already set, and return the home.

    Without `DAGSTER_HOME`, Dagster ignores dagster.yaml and loses its state on exit. A dagster.yaml of one's own is
    rewritten if it names modules of this project by former names.

    Raises
    ------
    BadInput
        If a repair was interrupted, the warehouse is missing although the home has been used, the database cannot be
        reached, or a dagster.yaml of one's own names moved modules and cannot be written.
    """
    place = home()
    if url := database():
        from resources.postgres.connections import reach  # a home of files has no driver

        reach(url)
    if (place / RESTORING / "ready").exists():
        raise BadInput(
            place, "", "a repair was interrupted", "run the same `variorum restore` or `variorum rebuild` again"
        )
    if not database() and (place / "variorum.duckdb.lock").exists() and not (place / "variorum.duckdb").exists():
        raise BadInput(
            place / "variorum.duckdb", "", "is missing, although this home has been used",
            "bring it back with `variorum restore FOLDER`; or begin with an empty warehouse: `variorum rebuild`",
        )  # fmt: skip
    os.environ["VARIORUM_HOME"] = str(place)  # absolute, for processes with another working directory
    dagster_home = Path(os.environ.setdefault("DAGSTER_HOME", str(place / "dagster")))
    dagster_home.mkdir(parents=True, exist_ok=True)
    instance = dagster_home / "dagster.yaml"
    settings = PROJECT / "deploy" / "dagster.yaml" if database() else PROJECT / "dagster.yaml"
    ours = instance.is_symlink() and instance.readlink().is_absolute()  # unlike the links in a volume of Kubernetes
    if not instance.exists() or (ours and instance.resolve() != settings):
        instance.unlink(missing_ok=True)  # the target has moved, or the home has moved to a database
        instance.symlink_to(settings)
    elif instance.resolve() != settings:
        _rename_modules(instance)
    return place


def _rename_modules(settings: Path) -> None:
    """Rewrite a dagster.yaml of one's own that names a module of this project by a former name.

    Raises
    ------
    BadInput
        If it names a class that is gone, or cannot be written.
    """
    text = settings.read_text(encoding="utf-8")
    if gone := re.search(r"\b(WorkerRunLauncher|PartQueue)\b", text):
        problem = "is a class of an earlier version"
        raise BadInput(settings, gone[1], problem, "take deploy/dagster.yaml of this version")
    names = "|".join(map(re.escape, FORMER))
    renamed = re.sub(rf"(\bmodule:\s*[\"']?)({names})(?![\w.])", lambda found: found[1] + FORMER[found[2]], text)
    if renamed == text:
        return
    from resources.whole_files import write  # whose modes depend on this module

    try:
        write(settings.resolve(), renamed)
    except OSError as error:
        raise BadInput(
            settings, "module", "names modules that were moved, and cannot be written",
            "take deploy/dagster.yaml of this version",
        ) from error  # fmt: skip
