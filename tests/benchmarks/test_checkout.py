"""Recipes in git repositories, over file:// and from git's own HTTP server."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from benchmark_assets.benchmarks import checkout
from benchmark_assets.benchmarks.checkout import Address, check_out, parse
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.errors import BadInput
from tests.benchmarks.mirror import serving
from tests.benchmarks.recipes import publish, write_recipe
from tests.processes import here

BACKEND = Path(subprocess.check_output(["git", "--exec-path"], text=True).strip()) / "git-http-backend"


def git(folder: Path, *arguments: str) -> str:
    author = {f"GIT_{role}_{part}": "a@b" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], env=os.environ | author, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def commit(folder: Path) -> str:
    """Commit everything in a folder; return the commit."""
    if not (folder / ".git").exists():
        git(folder, "init", "-q")
        git(folder, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "A recipe")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose folder `recipes/small` has two files, in two commits."""
    folder = tmp_path / "repository"
    (folder / "recipes/small").mkdir(parents=True)
    (folder / "recipes/small/recipe.yaml").write_text("first")
    commit(folder)
    (folder / "recipes/small/recipe.yaml").write_text("second")
    (folder / "recipes/small/README.md").write_text("About it.")
    return folder


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """URL of git's HTTP server for the repositories in a folder."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            place, _, query = self.path.partition("?")
            settings = {
                "GIT_PROJECT_ROOT": str(folder), "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": place, "QUERY_STRING": query,
                "REQUEST_METHOD": self.command, "CONTENT_TYPE": self.headers.get("content-type", ""),
                "GIT_PROTOCOL": self.headers.get("git-protocol", ""), "REMOTE_ADDR": "127.0.0.1",
                "HTTP_CONTENT_ENCODING": self.headers.get("content-encoding", ""),
            }  # fmt: skip
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            done = subprocess.run([BACKEND], env=os.environ | settings, input=body, capture_output=True, check=True)
            head, _, content = done.stdout.partition(b"\r\n\r\n")
            self.send_response(200)
            for line in head.decode().splitlines():
                self.send_header(*line.split(": ", 1))
            self.end_headers()
            self.wfile.write(content)

        def do_GET(self) -> None:
            self.do_POST()

        def log_message(self, *_: Any) -> None:
            """Keep the tests' output clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("https://e.org/r.git", Address("https://e.org/r.git", "HEAD", "")),
        ("https://e.org/r.git@v1.0#a/b/", Address("https://e.org/r.git", "v1.0", "a/b")),
        ("ssh://git@e.org/r.git@main", Address("ssh://git@e.org/r.git", "main", "")),
        ("file:///tmp/r#x", Address("file:///tmp/r", "HEAD", "x")),
        (f"http://e.org/r@{'a' * 40}", Address("http://e.org/r", "a" * 40, "")),
    ],
)
def test_an_address_names_repository_commit_and_folder(name: str, address: Address) -> None:
    assert parse(name) == address


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("ext::sh://x", "not the address"), ("git://e.org/r", "not the address"), ("https://", "not the address"),
        ("https://me:secret@e.org/r", "a password"), ("https://e.org/r@--upload-pack=x", "not a commit"),
        ("http://e.org/r@main", "not encrypted"), ("http://e.org/r", "not encrypted"),
        ("https://e.org/r#../x", "not a folder"), ("https://e.org/r#/etc", "not a folder"),
    ],
)  # fmt: skip
def test_an_address_that_is_unsafe_is_refused(name: str, problem: str) -> None:
    with pytest.raises(BadInput, match=problem) as refused:
        parse(name)
    assert "secret" not in str(refused.value)


def test_the_latest_commit_or_a_named_one_is_read(repository: Path, tmp_path: Path) -> None:
    first = git(repository, "rev-parse", "HEAD")
    second = commit(repository)
    url = f"file://{repository}"
    assert check_out(Address(url, "HEAD", "recipes/small"), tmp_path / "new") == f"{url}@{second}#recipes/small"
    assert (tmp_path / "new/recipe.yaml").read_text() == "second"
    assert check_out(Address(url, first, ""), tmp_path / "old") == f"{url}@{first}"
    assert [path.name for path in (tmp_path / "old").rglob("*") if path.is_file()] == ["recipe.yaml"]


def test_a_repository_is_read_over_http(repository: Path, tmp_path: Path) -> None:
    last = commit(repository)
    with served(tmp_path) as url:
        address = parse(f"{url}/repository/.git@{last}#recipes/small")
        assert check_out(address, tmp_path / "copy").endswith(f"@{last}#recipes/small")
    assert (tmp_path / "copy/README.md").read_text() == "About it."


def test_what_is_no_file_is_refused(repository: Path, tmp_path: Path) -> None:
    (repository / "recipes/small/passwd.txt").symlink_to("/etc/passwd")
    commit(repository)
    with pytest.raises(BadInput, match=r"passwd\.txt: is a link"):
        check_out(Address(f"file://{repository}", "HEAD", ""), tmp_path / "copy")
    git(repository, "rm", "-q", "recipes/small/passwd.txt")
    git(repository, "update-index", "--add", "--cacheinfo", f"160000,{git(repository, 'rev-parse', 'HEAD')},sub")
    git(repository, "commit", "-qm", "A submodule")
    with pytest.raises(BadInput, match="sub: is a submodule"):
        check_out(Address(f"file://{repository}", "HEAD", ""), tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_neither_hooks_nor_filters_of_a_repository_run(repository: Path, tmp_path: Path) -> None:
    (repository / ".gitattributes").write_text("*.md filter=lfs\n")
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
    (repository / "recipes/small/README.md").write_text(pointer)
    commit(repository)
    for hook in ("post-checkout", "post-merge", "reference-transaction"):
        (repository / ".git/hooks" / hook).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        (repository / ".git/hooks" / hook).chmod(0o755)
    check_out(Address(f"file://{repository}", "HEAD", "recipes/small"), tmp_path / "copy")
    assert (tmp_path / "copy/README.md").read_text() == pointer
    assert not (tmp_path / "ran").exists()


def test_a_recipe_of_too_many_bytes_is_refused_before_it_is_written(repository: Path, tmp_path: Path) -> None:
    with (repository / "recipes/small/large.txt").open("wb") as file:
        file.truncate(checkout.MOST_BYTES + 1)
    commit(repository)
    with pytest.raises(BadInput, match=r"a recipe has at most 1000 and 20 MB"):
        check_out(Address(f"file://{repository}", "HEAD", "recipes/small"), tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


@pytest.mark.parametrize("address", [("HEAD", "missing"), ("missing", ""), ("a" * 40, "")])
def test_what_does_not_exist_is_named(repository: Path, tmp_path: Path, address: tuple[str, str]) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        check_out(Address(f"file://{repository}", *address), tmp_path / "copy")


def test_a_benchmark_is_added_from_a_repository(tmp_path: Path) -> None:
    with serving(publish(tmp_path / "published")) as mirror:
        recipe = write_recipe(tmp_path / "repository/small", tmp_path / "published")
        last = commit(tmp_path / "repository")
        address = f"file://{tmp_path}/repository#small"
        said = here(tmp_path / "home", "add", address, "--no-update", "--base", mirror.url).stdout
    origin = f"file://{tmp_path}/repository@{last}#small"
    assert f"recipe from {origin}" in said
    row = DuckDBWarehouse(path=str(tmp_path / "home/variorum.duckdb")).read("benchmark").row(0, named=True)
    assert (row["benchmark"], row["origin"], row["corpora"]) == ("small", origin, ["tiny"])
    assert json.loads(recipe.joinpath("recipe.yaml").read_text())["name"] == "small"
