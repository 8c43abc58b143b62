"""Recipes in git repositories: the files of one commit, without running anything that the repository contains.

Files are read from git's objects and not checked out, so that no hook, filter (such as Git LFS) or submodule takes
part. Here: addresses, git, limits of size and time. Not here: what a recipe may contain (recipe).
"""

import os
import re
import subprocess
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import NamedTuple
from urllib.parse import urlsplit

from resources import whole_files
from resources.errors import BadInput

SCHEMES = ("https", "ssh", "file", "http")
"""Protocols of addresses. Without encryption (http), the commit must be given, because its hash protects the files."""

MOST_SECONDS = 300
"""Time limit of a transfer."""

MOST_FETCHED = 200 * 2**20
"""Size limit of the file in which git stores a commit, in bytes."""

MOST_BYTES = 20 * 2**20
"""Size limit of a recipe, in bytes. The largest recipe of this project has 0.3 MB."""

MOST_FILES = 1000
"""Maximum number of files of a recipe."""

_COMMIT = re.compile("[0-9a-f]{40}")
_REFERENCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*")
_FILE_MODES = ("100644", "100755")

_REMEDY = "write URL[@COMMIT][#FOLDER], such as https://example.org/recipes.git@COMMIT#livy"

_SETTINGS = {
    "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "true", "SSH_ASKPASS": "true", "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
    "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_ALLOW_PROTOCOL": ":".join(SCHEMES), "LC_ALL": "C",
}  # fmt: skip
"""Environment of git: it asks for nothing, and reads no settings of the user's that could run programs."""


class Address(NamedTuple):
    """A folder in a repository. `reference` is a commit, branch or tag, 'HEAD' by default; `folder` is '' for all."""

    url: str
    reference: str
    folder: str


class _CommitFile(NamedTuple):
    """A file in a commit: mode, hash of the content, size in bytes (0 for what is no file), and path."""

    mode: str
    object: str
    size: int
    path: str


def is_address(name: str) -> bool:
    """Whether a name is the address of a repository."""
    return "://" in name


def parse(name: str) -> Address:
    """Read an address of the form URL[@COMMIT][#FOLDER].

    Raises
    ------
    BadInput
        If it has another form or another protocol, contains a password, or leads out of the repository.
    """
    place, _, folder = name.partition("#")
    parts = urlsplit(place)
    path, at, reference = parts.path.rpartition("@")
    url = parts._replace(path=path if at else parts.path).geturl()
    if parts.scheme not in SCHEMES or parts.query or len(url) <= len(f"{parts.scheme}://"):
        raise BadInput(name, "", "is not the address of a repository", f"{_REMEDY}, with {', '.join(SCHEMES[:-1])}")
    if parts.password:
        raise BadInput(url.replace(parts.password, "…"), "", "contains a password", "let ssh or git's helper supply it")
    if at and not _REFERENCE.fullmatch(reference):
        raise BadInput(name, "", f"{reference!r} is not a commit", _REMEDY)
    if parts.scheme == "http" and not _COMMIT.fullmatch(reference if at else ""):
        raise BadInput(name, "", "is not encrypted, so that its files could be replaced", "add @ and the full commit")
    if any(part in ("..", ".git") for part in PurePosixPath(folder).parts) or folder.startswith("/"):
        raise BadInput(name, "", f"{folder!r} is not a folder of the repository", _REMEDY)
    return Address(url, reference if at else "HEAD", folder.strip("/"))


def check_out(address: Address, folder: Path) -> str:
    """Write the files of an address into an empty folder; return the address with the full commit.

    Raises
    ------
    BadInput
        If the repository cannot be read within the limits, the folder or commit does not exist, or an entry is a link
        or a submodule.
    """
    with TemporaryDirectory() as repository:
        _git(address, repository, "init", "--quiet", "--bare")
        fetch = ["fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules"]
        _git(address, repository, *fetch, "--", address.url, address.reference)
        commit = _git(address, repository, "rev-parse", "FETCH_HEAD^{commit}").decode().strip()
        tree = f"{commit}:{address.folder}" if address.folder else commit
        entries = [
            _entry(line) for line in _git(address, repository, "ls-tree", "-rlz", tree).decode().split("\0") if line
        ]
        _check(address, entries)
        for entry in entries:
            whole_files.write(folder / entry.path, _git(address, repository, "cat-file", "blob", entry.object))
    return f"{address.url}@{commit}" + (f"#{address.folder}" if address.folder else "")


def _entry(line: str) -> _CommitFile:
    words, _, path = line.partition("\t")
    mode, _, name, size = words.split()
    return _CommitFile(mode, name, 0 if size == "-" else int(size), path)


def _check(address: Address, entries: list[_CommitFile]) -> None:
    """Raise BadInput for entries that are no files, and for too many or too large files."""
    for mode, _, _, path in entries:
        if mode not in _FILE_MODES:
            problem = "is a submodule" if mode == "160000" else "is a link, which may lead out of the folder"
            raise BadInput(address.url, path, problem, "a recipe consists of files; replace it by the files themselves")
        if any(part in ("", "..", ".git") for part in path.split("/")):
            raise BadInput(address.url, path, "leads out of the folder", "rename it")
    size = sum(entry.size for entry in entries)
    if size > MOST_BYTES or len(entries) > MOST_FILES:
        problem = f"has {len(entries)} files with {size / 2**20:.1f} MB; a recipe has at most {MOST_FILES} and "
        remedy = "name the folder of the recipe after #; texts belong to its sources"
        raise BadInput(address.url, address.folder, f"{problem}{MOST_BYTES / 2**20:g} MB", remedy)


def _git(address: Address, repository: str, *arguments: str) -> bytes:
    """The output of a git command; files that git writes are limited to `MOST_FETCHED`.

    Raises
    ------
    BadInput
        If the command fails or takes too long.
    """
    limited = ["sh", "-c", f'ulimit -f {MOST_FETCHED // 512}; exec git -C "$0" "$@"', repository]
    checked = ["-c", "fetch.fsckObjects=true", "-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0"]
    try:
        done = subprocess.run(
            [*limited, *checked, *arguments], env=os.environ | _SETTINGS, stdin=subprocess.DEVNULL, capture_output=True,
            timeout=MOST_SECONDS, start_new_session=True, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise BadInput(address.url, "", f"was not read within {MOST_SECONDS} s", "try again later") from error
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().splitlines()
        problem = f"cannot be read ({reason[-1] if reason else 'git was stopped: the repository is too large'})"
        raise BadInput(address.url, address.folder, problem, "check the address, the commit and the folder")
    return done.stdout
