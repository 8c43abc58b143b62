"""Folders of users: which files are copied into a home, and which are refused."""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from benchmark_assets.benchmarks.folders import MOST_BYTES, bring, given
from benchmark_assets.benchmarks.recipe import UserFolder, read
from resources.errors import BadInput
from tests.benchmarks.recipes import change, publish, write_recipe

TEXTS = {"a.txt": b"One.", "deep/b.txt": b"Two."}
PINNED = UserFolder(licence="CC0-1.0", sha256={name: sha256(text).hexdigest() for name, text in TEXTS.items()})
FREE = UserFolder(licence="CC0-1.0")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in TEXTS.items():
        (tmp_path / "mine" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "mine" / name).write_bytes(text)
    return tmp_path / "mine"


def obtained(source: UserFolder, folder: Path | None, place: Path) -> tuple[dict[str, bytes], list[BadInput]]:
    """The copied files by path, and the faults."""
    result = bring("texts", source, folder, place, "bring it")
    copies = {path for path in (place / "texts").rglob("*") if path.is_file()}
    assert result is not None
    return {str(path.relative_to(place / "texts")): path.read_bytes() for path in copies}, result.faults


@pytest.mark.parametrize("source", [PINNED, FREE])
def test_files_are_copied_and_later_checked_without_the_folder(
    source: UserFolder, folder: Path, tmp_path: Path
) -> None:
    assert bring("texts", source, None, tmp_path / "home", "") is None
    assert obtained(source, folder, tmp_path / "home") == (TEXTS, [])
    assert obtained(source, None, tmp_path / "home") == (TEXTS, [])
    copy = tmp_path / "home" / "texts" / "a.txt"
    copy.write_bytes(b"")
    _, (fault,) = obtained(source, None, tmp_path / "home")
    assert str(fault) == f"{copy}: has the digest {sha256(b'').hexdigest()}, not {PINNED.sha256['a.txt']}; bring it"
    copy.unlink()
    _, (fault,) = obtained(source, None, tmp_path / "home")
    assert fault.problem == f"is missing; expected a file with the digest {PINNED.sha256['a.txt']}"
    assert obtained(source, folder, tmp_path / "home") == (TEXTS, [])


def test_files_without_a_digest_are_ignored_or_copied(folder: Path, tmp_path: Path) -> None:
    (folder / "c.txt").write_bytes(b"Three.")
    (folder / ".git").mkdir()
    (folder / ".git" / "index").write_bytes(b"")
    assert obtained(PINNED, folder, tmp_path / "pinned") == (TEXTS, [])
    assert obtained(FREE, folder, tmp_path / "free") == (TEXTS | {"c.txt": b"Three."}, [])
    (folder / "c.txt").unlink()
    assert obtained(FREE, folder, tmp_path / "free") == (TEXTS, [])


def link(folder: Path) -> None:
    (folder / "a.txt").rename(folder.parent / "a.txt")
    (folder / "a.txt").symlink_to(folder.parent / "a.txt")


def link_folder(folder: Path) -> None:
    (folder / "deep").rename(folder.parent / "deep")
    (folder / "deep").symlink_to(folder.parent / "deep")


@pytest.mark.parametrize("source", [PINNED, FREE])
@pytest.mark.parametrize("spoil", [link, link_folder])
def test_links_are_refused_and_nothing_is_copied(
    source: UserFolder, spoil: Callable[[Path], None], folder: Path, tmp_path: Path
) -> None:
    spoil(folder)
    copies, (fault,) = obtained(source, folder, tmp_path / "home")
    assert "is a link" in fault.problem
    assert not copies


def test_an_empty_or_huge_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    _, (fault,) = obtained(FREE, tmp_path / "empty", tmp_path / "home")
    assert fault.problem == "contains no file"
    with (folder / "a.txt").open("wb") as file:
        file.truncate(MOST_BYTES)
    copies, (fault,) = obtained(FREE, folder, tmp_path / "home")
    assert fault.problem == "has more than 50 MB"
    assert not copies


def test_folders_are_given_for_sources_that_take_one(folder: Path, tmp_path: Path) -> None:
    publish(tmp_path / "published")
    recipe = write_recipe(tmp_path / "recipe", tmp_path / "published")
    assert given(read(recipe), []) == {}
    with pytest.raises(BadInput, match="'texts' is not a source that takes a folder; drop it"):
        given(read(recipe), [f"texts={folder}"])
    source = {"source": "folder", "files": "texts.sha256", "licence": "CC0-1.0", "terms": "Any.", "how": "By post."}
    change(recipe / "recipe.yaml", {"sources": {"texts": source, "more": source}})
    assert given(read(recipe), [f"texts={folder}"]) == {"texts": folder.resolve()}
    for option, words in (("other=.", "SOURCE is one of texts, more"), ("texts=/nowhere", "there is no folder")):
        with pytest.raises(BadInput, match=words):
            given(read(recipe), [option])
