"""Public sources of texts: the URLs of each text, and the licence of each source.

Here: rules from a text's uid to its files, one per source. Not here: HTTP (transfer), the download folder (downloads).
To add a source, write a function from a uid to paths, and add it to `SOURCES`.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from pydantic import BaseModel, ConfigDict, Field

from resources.errors import BadInput

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_NUMBER = "([1-9][0-9]*)"
_WHOLE = re.compile(f"(dn|mn){_NUMBER}")
_BOOK = re.compile(f"(sn|an){_NUMBER}\\.({_NUMBER}(?:-{_NUMBER})?)")
_VERSES = re.compile(f"dhp{_NUMBER}-{_NUMBER}")

_CHAPTERS = (
    1, 21, 33, 44, 60, 76, 90, 100, 116, 129, 146, 157, 167, 179, 197, 209, 221, 235, 256, 273, 290, 306, 320, 334, 360,
    383, 424,
)  # fmt: skip
"""First verse of each of the 26 chapters of the Dhammapada, then the last verse plus one."""


class Download(BaseModel):
    """Texts to download from a source, as listed in a corpus description.

    Parameters
    ----------
    source
        A name in `SOURCES`.
    texts
        Uids, the ids of the corpus's documents: `mn1`, `sn12.2`, `dhp1-20`. A uid with a dash names one file with
        several texts, which is neither split nor assembled.
    base
        URL of a mirror with the same paths; by default the source's own.
    path
        Path of a text below the base, where the source's rule is wrong, for instance because the source numbers texts
        differently: `{uid}` stands for the uid and `{folder}` for its collection and book (`mn`, `sn/sn12`, `kn/dhp`).
        Do not use it for another translator's file: the licence stays that of the source.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: str
    texts: tuple[str, ...] = Field(min_length=1)
    base: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file to download: the text it belongs to, its URL, its path below the download folder, and its licence.

    `sha256` is the required digest; '' accepts any.
    """

    text: str
    url: str
    path: str
    licence: str
    restricted: bool
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A publisher of texts. `paths` maps a uid to the paths of its files below `base`, empty if no rule applies."""

    base: str
    paths: Callable[[str], tuple[str, ...]]
    licence: str
    restricted: bool


def wanted(downloads: Sequence[Download], where: object) -> list[Wanted]:
    """The files to download for a description, in its order, without duplicates.

    A file keeps its folder below the base. It keeps its name if that begins with the uid (`mn1_root-pli-ms.json`), and
    is named by the uid otherwise (`suttas/MN/mn1.html`), because readers look for the uid.

    Parameters
    ----------
    where
        The description's file, for error messages.

    Raises
    ------
    BadInput
        For an unknown source, an invalid base URL, a uid without a rule, or a path with two URLs.
    """
    files: dict[str, Wanted] = {}
    for at, download in enumerate(downloads):
        key = f"downloads.{at}"
        source = SOURCES.get(download.source)
        if source is None:
            raise BadInput(where, f"{key}.source", f"no such source: {download.source!r}", f"use one of {[*SOURCES]}")
        base = download.base or source.base
        if not re.match(r"https?://[^/]", base):
            raise BadInput(
                where, f"{key}.base", f"{base!r} is not a URL", "give a URL such as https://example.org/texts"
            )
        for uid in download.texts:
            paths = _templated(download.path, uid) if download.path else source.paths(uid)
            if not paths:
                raise BadInput(
                    where, f"{key}.texts", f"no rule gives the path of {uid!r} at {download.source}",
                    "correct the uid, or give its `path`",
                )  # fmt: skip
            for path in paths:
                file = Wanted(uid, f"{base.rstrip('/')}/{path}", _place(path, uid), source.licence, source.restricted)
                first = files.setdefault(file.path, file)
                if first.url != file.url:
                    raise BadInput(
                        where, f"{key}.texts", f"{file.path} has two URLs: {first.url} and {file.url}", "keep one"
                    )
    return list(files.values())


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

    They are in the collection's own folder; later translators have subfolders (`mn/horner/mn1.html`). DN and Dhp have
    no rule, because their files in that folder are mostly by other translators under other terms. So are some texts of
    SN and AN: each page names its translator and terms at its end.
    """
    folder = _folder(uid)
    return (f"html_text/en/pli/sutta/{folder}/{uid}.html",) if folder and uid[:2] in ("mn", "sn", "an") else ()


def _dhammatalks(uid: str) -> tuple[str, ...]:
    """Thanissaro's translations on dhammatalks.org: `MN/MN1.html`, `SN/SN12_2.html`, `KN/Dhp/Ch01.html`.

    Numbers of DN texts and Dhp chapters have two digits (`DN/DN01.html`). The site follows the Thai edition, and its
    numbers in parts of AN and SN 35 differ from SuttaCentral's: its AN 3:66 is an3.65. There the rule gives a
    neighboring text, and `path` must give the right one. A page with a range is named by its first number alone, so
    ranges of SN and AN have no rule.
    """
    if (whole := _WHOLE.fullmatch(uid)) is not None:
        collection, number = whole[1].upper(), whole[2]
        return (f"suttas/{collection}/{collection}{number.zfill(2) if collection == 'DN' else number}.html",)
    if (book := _BOOK.fullmatch(uid)) is not None and "-" not in uid:
        collection = book[1].upper()
        return (f"suttas/{collection}/{collection}{book[2]}_{book[3]}.html",)
    return (f"suttas/KN/Dhp/Ch{chapter:02}.html",) if (chapter := _chapter(uid)) else ()


SOURCES = {
    "suttacentral": Source(
        "https://raw.githubusercontent.com/suttacentral/bilara-data/published/", _bilara, "CC0-1.0", restricted=False
    ),
    "suttacentral-legacy": Source(
        "https://raw.githubusercontent.com/suttacentral/sc-data/main/", _legacy, "CC BY-NC-ND 3.0", restricted=True
    ),
    "dhammatalks": Source("https://www.dhammatalks.org/", _dhammatalks, "CC BY-NC 4.0", restricted=True),
}


def _place(path: str, uid: str) -> str:
    """Path of a text's file below the download folder, from its path at the source."""
    there = PurePosixPath(path)
    named = there.name.startswith((f"{uid}.", f"{uid}_"))
    return str(there if named else there.with_name(f"{uid}{there.suffix}"))


def _templated(template: str, uid: str) -> tuple[str, ...]:
    folder = _folder(uid)
    if not _NAME.fullmatch(uid) or not PurePosixPath(template).name or ("{folder}" in template and not folder):
        return ()
    return (template.replace("{uid}", uid).replace("{folder}", folder),)


def _folder(uid: str) -> str:
    """SuttaCentral's folder of a text below `sutta/`; '' if no rule applies to the uid."""
    if (whole := _WHOLE.fullmatch(uid)) is not None:
        return whole[1]
    if (book := _BOOK.fullmatch(uid)) is not None:
        return f"{book[1]}/{book[1]}{book[2]}"
    return "kn/dhp" if _chapter(uid) else ""


def _chapter(uid: str) -> int:
    """Number of the Dhammapada chapter whose verses a uid names, from 1; 0 if they are not exactly one chapter."""
    verses = _VERSES.fullmatch(uid)
    if verses is None:
        return 0
    first, last = int(verses[1]), int(verses[2])
    chapter = bisect_right(_CHAPTERS, first)
    whole = chapter < len(_CHAPTERS) and (first, last + 1) == _CHAPTERS[chapter - 1 : chapter + 1]
    return chapter if whole else 0
