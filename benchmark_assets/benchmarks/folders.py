"""Files that users bring in folders of their own, for sources that no publisher has in a usable form.

Here: the folders named on the command line, and the checked copies of their files in the home. Not here: files that are
fetched (fetching).
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from benchmark_assets.benchmarks.pasted import canonical
from benchmark_assets.benchmarks.recipe import FETCHED, ReadRecipe, RecipeSource, UserFolder, read_digests
from benchmark_assets.corpus.readers.files import visible
from resources import whole_files
from resources.errors import BadInput, collecting

MOST_BYTES = 50 * 2**20
"""Size limit of a folder without digests, so that the wrong folder is not copied: as for a downloaded file."""


class Obtained(NamedTuple):
    """Sizes of a source's files in the home, in bytes, and a fault for each file that is missing or differs."""

    sizes: list[int]
    faults: list[BadInput]


def given(recipe: ReadRecipe, options: Sequence[str]) -> dict[str, Path]:
    """Folders by source, from options such as `bodhi=texts/bodhi`.

    Raises
    ------
    BadInput
        If an option has another form, names no source of the recipe that takes a folder, or names no folder.
    """
    names = [name for name, source in recipe.downloads.items() if isinstance(source, UserFolder)]
    folders = {}
    for option in options:
        name, _, path = option.partition("=")
        if name not in names:
            remedy = f"write SOURCE=PATH, where SOURCE is one of {', '.join(names)}" if names else "drop it"
            problem = f"{name!r} is not a source that takes a folder"
            raise BadInput("--folder", option, problem, remedy)
        if not path or not Path(path).is_dir():
            raise BadInput("--folder", option, f"there is no folder {path!r}", "give the path of a folder")
        folders[name] = Path(path).resolve()
    return folders


def check_folders(recipe: ReadRecipe, place: Path, folders: Mapping[str, Path]) -> None:
    """Raise BadInput if a required source needs a folder that is neither given nor copied to `place` before."""
    for name, source in recipe.recipe.sources.items():
        files = [place / FETCHED / name / file for file in recipe.downloads[name].files]
        needed = isinstance(recipe.downloads[name], UserFolder) and source.required and name not in folders
        if needed and not all(file.is_file() for file in files):
            problem = f"needs a folder of yours with {len(files)} files"
            raise BadInput(recipe.recipe.name, f"sources.{name}", problem, way(name, source))


def way(name: str, source: RecipeSource) -> str:
    """How users get the files of a source, and how they give their folder."""
    return f"{source.how.rstrip('.')}; then add `--folder {name}=PATH`"


def bring(name: str, source: UserFolder, folder: Path | None, place: Path, remedy: str) -> Obtained | None:
    """Copy the files of a source into the folder `name` below `place`, and check their digests.

    For a source without digests, all files of the folder are copied, and replace those of an earlier folder. The file
    `name`.sha256 beside the copies then has their digests.

    Parameters
    ----------
    folder
        The user's folder; None if copies are expected to be there.
    remedy
        What to do about a missing or different file.

    Returns
    -------
    The copied files; None if there is neither a folder nor a copy. If there is a fault, nothing is copied.
    """
    faults, bodies = list[BadInput](), dict[str, bytes]()
    listed, into = place / f"{name}.sha256", place / name
    if folder is None and not (into.is_dir() and (source.sha256 or listed.is_file())):
        return None
    digests = source.sha256
    if not digests:
        with collecting(faults):
            digests = _all_files(folder) if folder else read_digests(listed)
    for path, digest in digests.items():
        with collecting(faults):
            if (into / path).is_file() and whole_files.sha256(into / path) == digest:
                continue
            bodies[path] = _body(folder or into, path, digest, remedy, source.pasted)
    if not faults:
        for path, body in bodies.items():
            whole_files.write(into / path, body)
        if not source.sha256 and folder:
            for copy in into.rglob("*"):
                if copy.is_file() and copy.relative_to(into).as_posix() not in digests:
                    copy.unlink()
            whole_files.write(listed, "".join(f"{digest}  {path}\n" for path, digest in digests.items()))
    return Obtained([(into / path).stat().st_size for path in digests if (into / path).is_file()], faults)


def _all_files(folder: Path) -> dict[str, str]:
    """SHA-256 of all files below a folder by path, without hidden ones.

    Raises
    ------
    BadInput
        If there is no file, one of them is a link, or they are too large.
    """
    names = [path.relative_to(folder).as_posix() for path in visible(folder)]
    for name in names:
        _check_inside(folder, name)
    files = [name for name in names if (folder / name).is_file()]
    if not files:
        raise BadInput(folder, "", "contains no file", "give the folder that contains the texts")
    if sum((folder / name).stat().st_size for name in files) > MOST_BYTES:
        problem = f"has more than {MOST_BYTES // 2**20} MB"
        raise BadInput(folder, "", problem, "give a folder that contains only the texts")
    return {name: whole_files.sha256(folder / name) for name in files}


def _body(folder: Path, path: str, digest: str, remedy: str, pasted: bool) -> bytes:
    """The content of a file with this digest, in its canonical form if it was pasted.

    Raises
    ------
    BadInput
        If the file is missing, leads out of the folder, or has another digest.
    """
    _check_inside(folder, path)
    if not (folder / path).is_file():
        raise BadInput(folder / path, "", f"is missing; expected a file with the digest {digest}", remedy)
    body = (folder / path).read_bytes()
    if pasted:
        body = canonical(body.decode(errors="replace")).encode()
        remedy = f"paste it whole, without numbers of pages, and with each blank between words: {remedy}"
    found = sha256(body).hexdigest()
    if found != digest:
        raise BadInput(folder / path, "", f"has the digest {found}, not {digest}", remedy)
    return body


def _check_inside(folder: Path, path: str) -> None:
    """Raise BadInput if a path below a folder is a link, or has a folder on its way that is one."""
    if (folder / path).resolve() != folder.resolve() / path:
        problem = "is a link, or in a folder that is one"
        raise BadInput(folder / path, "", problem, "replace it by the file itself")
