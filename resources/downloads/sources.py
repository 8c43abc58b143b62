"""Public sources of texts: the URLs of each text, and the licence of each source.

Here: one rule per source, which maps a text's uid to its files; the sources `github` and `github-lfs`, whose files are
listed by path. Not here: HTTP (transfer), the folder (downloads). To add a source, write a function from a uid to paths
and register it in `SOURCES`.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Annotated
from urllib.parse import quote

from pydantic import Field, model_validator

from resources.errors import BadInput
from resources.frozen import Frozen

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_NUMBER = "([1-9][0-9]*)"
_WHOLE = re.compile(f"(dn|mn){_NUMBER}")
_BOOK = re.compile(f"(sn|an){_NUMBER}\\.({_NUMBER}(?:-{_NUMBER})?)")
_VERSES = re.compile(f"dhp{_NUMBER}-{_NUMBER}")

_CHAPTERS = (
    1, 21, 33, 44, 60, 76, 90, 100, 116, 129, 146, 157, 167, 179, 197, 209, 221, 235, 256, 273, 290, 306, 320, 334, 360,
    383, 424,
)  # fmt: skip
"""Number of the first verse of each of the Dhammapada's 26 chapters. The final entry is the number of the last verse
plus one."""


REPOSITORIES = ("github", "github-lfs")
"""Sources whose files are listed by path in a repository, at a commit. Files of `github-lfs` are in Git LFS: the
repository has pointers, which name the SHA-256 of the files themselves."""


class Download(Frozen):
    """Texts to download from a source, or files from a repository on GitHub, as listed in a corpus description.

    Parameters
    ----------
    source
        A name in `SOURCES`.
    texts
        Uids, which are the ids of the corpus's documents: `mn1`, `sn12.2`, `dhp1-20`. A uid with a dash names one file
        with several texts; the file is not split.
    repository, files, licence, restricted
        For the sources in `REPOSITORIES` only: `owner/name`, paths in the repository, and the terms of these files.
    commit
        Full hash of the commit whose files are downloaded; required for `REPOSITORIES`. For other sources on GitHub, a
        branch is the default. Because a branch moves, only the SHA-256 in the manifest then identifies the downloaded
        version.
    sha256
        Expected digests by path at the source. A file with another digest is refused.
    base
        URL of a mirror with the same paths; by default the source itself. `{repository}` and `{commit}` are replaced.
    path
        Path of a text below the base. Give it if the source's rule yields a wrong path, for instance because the source
        numbers the text differently. `{uid}` is replaced by the uid, `{folder}` by its collection and book (`mn`,
        `sn/sn12`, `kn/dhp`). Do not use it for files by another translator, because they would be recorded with the
        source's licence.
    """

    source: str
    texts: tuple[str, ...] = ()
    repository: str = Field(default="", pattern=r"^([\w-][\w.-]*/[\w-][\w.-]*)?$")
    files: tuple[str, ...] = ()
    licence: str = ""
    restricted: bool = False
    commit: str = Field(default="", pattern="^([0-9a-f]{40})?$")
    sha256: dict[str, Annotated[str, Field(pattern="^[0-9a-f]{64}$")]] = Field(default={})
    base: str = ""
    path: str = ""

    @model_validator(mode="after")
    def _complete(self) -> "Download":
        if self.source in REPOSITORIES:
            if not (self.repository and self.commit and self.files and self.licence):
                raise ValueError(f"source {self.source} needs `repository`, `commit`, `files` and `licence`")
            if self.texts or self.path:
                raise ValueError(f"`texts` and `path` are not for source {self.source}; list its `files` instead")
        elif self.repository or self.files or self.licence or self.restricted:
            sources = " and ".join(REPOSITORIES)
            raise ValueError(f"`repository`, `files`, `licence` and `restricted` are for {sources} only")
        elif not self.texts:
            raise ValueError("`texts` lists no text")
        return self


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file to download. `text` is the uid of its text, or its path in the repository for `REPOSITORIES`. `path` is
    its path below the download folder.

    `commit` is the commit in the URL, '' if it has none. `sha256` is the expected digest; '' accepts any.
    """

    text: str
    url: str
    path: str
    licence: str
    restricted: bool
    commit: str = ""
    sha256: str = ""

    def fault(self, problem: str, remedy: str) -> BadInput:
        """Make the exception for a fault of this file."""
        return BadInput(self.url, self.text, problem, remedy)


@dataclass(frozen=True, slots=True)
class Source:
    """A publisher of texts. `paths` maps a uid to the paths of its files below `base`; no paths if no rule applies.

    `repository` and `branch` are the defaults for `{repository}` and `{commit}` in `base`.
    """

    base: str
    paths: Callable[[str], tuple[str, ...]]
    licence: str
    restricted: bool
    repository: str = ""
    branch: str = ""


def wanted(downloads: Sequence[Download], where: object) -> list[Wanted]:
    """List the files to download for a corpus description, in the order of the description and without duplicates.

    A file keeps its folder below the base. Its name is kept if the name begins with the uid (`mn1_root-pli-ms.json`),
    and is otherwise replaced by the uid (`suttas/MN/mn1.html`), because readers look for the uid. A file of a
    repository keeps its path in the repository.

    Parameters
    ----------
    where
        The description, for error messages.

    Raises
    ------
    BadInput
        For an unknown source, an invalid base URL, a commit for a base without `{commit}`, a uid without a rule, a
        digest for a path that is not downloaded, or a path with two URLs or digests.
    """
    files: dict[str, Wanted] = {}
    for number, download in enumerate(downloads):
        key = f"downloads.{number}"
        source = SOURCES.get(download.source)
        if source is None:
            raise BadInput(where, f"{key}.source", f"no such source: {download.source!r}", f"use one of {[*SOURCES]}")
        base = _base(download, source, where, key)
        paths = _paths(download, source, where, key)
        for unknown in download.sha256.keys() - {path for path, _ in paths}:
            problem = f"{unknown!r} is not a path of this download"
            raise BadInput(where, f"{key}.sha256", problem, f"use paths such as {paths[0][0]!r}")
        for path, uid in paths:
            file = Wanted(
                uid, f"{base}/{path if download.texts else quote(path)}", _place(path, uid),
                download.licence or source.licence, download.restricted or source.restricted,
                download.commit, download.sha256.get(path, ""),
            )  # fmt: skip
            first = files.setdefault(file.path, file)
            if (first.url, first.sha256) != (file.url, file.sha256):
                problem = f"{file.path} has two URLs or digests: {first.url} and {file.url}"
                raise BadInput(where, f"{key}.texts", problem, "keep one")
    return list(files.values())


def _base(download: Download, source: Source, where: object, key: str) -> str:
    """The URL that paths are appended to, without a slash at its end."""
    base = download.base or source.base
    if not re.match(r"https?://[^/]", base):
        raise BadInput(where, f"{key}.base", f"{base!r} is not a URL", "give a URL such as https://example.org/texts")
    if download.commit and "{commit}" not in base:
        problem = f"{base} has no placeholder for the commit"
        raise BadInput(where, f"{key}.commit", problem, "put `{commit}` into the mirror's URL, or remove `commit`")
    base = base.replace("{repository}", download.repository or source.repository)
    return base.replace("{commit}", download.commit or source.branch).rstrip("/")


def _paths(download: Download, source: Source, where: object, key: str) -> list[tuple[str, str]]:
    """The paths of a download's files below the base, each with the uid of its text, which is the path itself for
    `REPOSITORIES`.

    Raises
    ------
    BadInput
        For a uid without a rule.
    """
    paths = [(path, path) for path in download.files]
    for uid in download.texts:
        of_text = _templated(download.path, uid) if download.path else source.paths(uid)
        if not of_text:
            problem = f"no rule gives the path of {uid!r} at {download.source}"
            raise BadInput(where, f"{key}.texts", problem, "correct the uid, or give its `path`")
        paths += [(path, uid) for path in of_text]
    return paths


def _bilara(uid: str) -> tuple[str, ...]:
    """SuttaCentral's segmented texts, branch `published`: the Pali of the Mahasangiti edition and Sujato's English."""
    folder = _folder(uid)
    if not folder:
        return ()
    return (
        f"root/pli/ms/sutta/{folder}/{uid}_root-pli-ms.json",
        f"translation/en/sujato/sutta/{folder}/{uid}_translation-en-sujato.json",
    )


def _legacy(uid: str) -> tuple[str, ...]:
    """SuttaCentral's unsegmented HTML in English: Bodhi's translations of parts of MN, SN and AN.

    His files are directly in the folder of the collection; later translators have subfolders (`mn/horner/mn1.html`). DN
    and Dhp have no rule, because most of their files are by other translators, under other terms. Some files of SN and
    AN are by other translators, too; each page names its translator and terms at the end.
    """
    folder = _folder(uid)
    return (f"html_text/en/pli/sutta/{folder}/{uid}.html",) if folder and uid[:2] in ("mn", "sn", "an") else ()


def _dhammatalks(uid: str) -> tuple[str, ...]:
    """Thanissaro's translations on dhammatalks.org: `MN/MN1.html`, `SN/SN12_2.html`, `KN/Dhp/Ch01.html`.

    Numbers of DN texts and Dhp chapters have two digits (`DN/DN01.html`). The site follows the Thai edition, whose
    numbers in parts of AN and in SN 35 differ from SuttaCentral's: the site's AN 3:66 is an3.65. For such
    texts, the rule leads to a neighboring text, so `path` must be given. A page that covers a range of texts is named
    after the first one only, so ranges of SN and AN have no rule.
    """
    if (whole := _WHOLE.fullmatch(uid)) is not None:
        collection, number = whole[1].upper(), whole[2]
        return (f"suttas/{collection}/{collection}{number.zfill(2) if collection == 'DN' else number}.html",)
    if (book := _BOOK.fullmatch(uid)) is not None and "-" not in uid:
        collection = book[1].upper()
        return (f"suttas/{collection}/{collection}{book[2]}_{book[3]}.html",)
    return (f"suttas/KN/Dhp/Ch{chapter:02}.html",) if (chapter := _chapter(uid)) else ()


_MEDIA = "https://media.githubusercontent.com/media/{repository}/{commit}/"
_GITHUB = "https://raw.githubusercontent.com/{repository}/{commit}/"

SOURCES = {
    "suttacentral": Source(_GITHUB, _bilara, "CC0-1.0", False, "suttacentral/bilara-data", "published"),
    "suttacentral-legacy": Source(_GITHUB, _legacy, "CC BY-NC-ND 3.0", True, "suttacentral/sc-data", "main"),
    "dhammatalks": Source("https://www.dhammatalks.org/", _dhammatalks, "CC BY-NC 4.0", True),
    "github": Source(_GITHUB, lambda _: (), "", False),
    "github-lfs": Source(_MEDIA, lambda _: (), "", False),
}


def _place(path: str, uid: str) -> str:
    """Path of a text's file below the download folder, given its path at the source."""
    source_path = PurePosixPath(path)
    named = uid == path or source_path.name.startswith((f"{uid}.", f"{uid}_"))
    return str(source_path if named else source_path.with_name(f"{uid}{source_path.suffix}"))


def _templated(template: str, uid: str) -> tuple[str, ...]:
    folder = _folder(uid)
    if not _NAME.fullmatch(uid) or not PurePosixPath(template).name or ("{folder}" in template and not folder):
        return ()
    return (template.replace("{uid}", uid).replace("{folder}", folder),)


def _folder(uid: str) -> str:
    """SuttaCentral's folder of a text, relative to `sutta/`; '' if no rule applies to the uid."""
    if (whole := _WHOLE.fullmatch(uid)) is not None:
        return whole[1]
    if (book := _BOOK.fullmatch(uid)) is not None:
        return f"{book[1]}/{book[1]}{book[2]}"
    return "kn/dhp" if _chapter(uid) else ""


def _chapter(uid: str) -> int:
    """Number of the Dhammapada chapter that a uid names, from 1; 0 if its verses are not exactly one chapter."""
    verses = _VERSES.fullmatch(uid)
    if verses is None:
        return 0
    first, last = int(verses[1]), int(verses[2])
    chapter = bisect_right(_CHAPTERS, first)
    whole = chapter < len(_CHAPTERS) and (first, last + 1) == _CHAPTERS[chapter - 1 : chapter + 1]
    return chapter if whole else 0
