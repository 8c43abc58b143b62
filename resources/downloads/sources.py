"""Public sources of texts: where each keeps which text, and under which terms.

Here: the rules from a text's uid to its files, one entry a source. Not here: how a file is fetched (transfer), where it
is kept (downloads). A new source is a function from a uid to paths, and a line in `SOURCES`.
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
"""First verse of each of the 26 chapters of the Dhammapada, and the one after its last."""


class Download(BaseModel):
    """What a corpus description asks for.

    Parameters
    ----------
    source
        A name in `SOURCES`.
    texts
        Uids, the ids of the corpus's documents: `mn1`, `sn12.2`, `dhp1-20`. A uid with a dash names one file of several
        texts, and nothing is taken out of it or put together.
    base
        URL of a mirror with the same paths; by default that of the source.
    path
        Where a text lies below the base, if it is not where the source's own rule says, for instance because the source
        numbers it otherwise: `{uid}` stands for the uid and `{folder}` for its collection and book (`mn`, `sn/sn12`,
        `kn/dhp`). The licence stays that of the source: this corrects a rule, and does not name another translator's
        file.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: str
    texts: tuple[str, ...] = Field(min_length=1)
    base: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """One file: the text for which it is fetched, its URL, its path below the folder of downloads and its terms.

    `sha256` is the digest that it must have; any where it is ''.
    """

    text: str
    url: str
    path: str
    licence: str
    restricted: bool
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A place that publishes texts. `paths` gives those of a uid's files below `base`, none without a rule for it."""

    base: str
    paths: Callable[[str], tuple[str, ...]]
    licence: str
    restricted: bool


def wanted(downloads: Sequence[Download], where: object) -> list[Wanted]:
    """The files of what a description asks for, each once, in its order.

    A file lies in the folder that it has below the base, under its own name where that begins with the uid
    (`mn1_root-pli-ms.json`), else named by the uid (`suttas/MN/mn1.html`), for readers find it by that.

    Parameters
    ----------
    where
        What an error names: the file of the description.

    Raises
    ------
    BadInput
        For a source that is not known, a base that is no URL, a uid for which there is no rule, or a file that is asked
        of two URLs.
    """
    found: dict[str, Wanted] = {}
    for at, download in enumerate(downloads):
        key = f"downloads.{at}"
        source = SOURCES.get(download.source)
        if source is None:
            raise BadInput(where, f"{key}.source", f"no such source: {download.source!r}", f"use one of {[*SOURCES]}")
        base = download.base or source.base
        if not re.match(r"https?://[^/]", base):
            raise BadInput(where, f"{key}.base", f"{base!r} is no URL", "write one, as https://example.org/texts")
        for uid in download.texts:
            paths = _templated(download.path, uid) if download.path else source.paths(uid)
            if not paths:
                raise BadInput(
                    where, f"{key}.texts", f"there is no rule where {download.source} keeps {uid!r}",
                    "correct the uid, or say where the text lies with `path`",
                )  # fmt: skip
            for path in paths:
                each = Wanted(uid, f"{base.rstrip('/')}/{path}", _place(path, uid), source.licence, source.restricted)
                first = found.setdefault(each.path, each)
                if first.url != each.url:
                    raise BadInput(
                        where, f"{key}.texts", f"{each.path} is asked of {first.url} and of {each.url}", "keep one"
                    )
    return list(found.values())


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

    They lie in the collection's own folder; translators that came later have folders of their own in it
    (`mn/horner/mn1.html`). DN and Dhp have no rule, for what lies in the same place there is mostly by others and under
    other terms. Single texts of SN and AN are by others too: each page names its translator and terms at its end.
    """
    folder = _folder(uid)
    return (f"html_text/en/pli/sutta/{folder}/{uid}.html",) if folder and uid[:2] in ("mn", "sn", "an") else ()


def _dhammatalks(uid: str) -> tuple[str, ...]:
    """Thanissaro's translations on dhammatalks.org: `MN/MN1.html`, `SN/SN12_2.html`, `KN/Dhp/Ch01.html`.

    The number of a DN text and of a Dhp chapter has two digits (`DN/DN01.html`). The site follows the Thai edition and
    numbers parts of AN and SN 35 otherwise than SuttaCentral does: its AN 3:66 is an3.65. There the rule leads to a
    neighbouring text, and `path` must name the right one. A page that holds a range is named by the first number alone,
    so ranges of SN and AN have no rule.
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
    """Where the file of a text goes, given its path at the source."""
    there = PurePosixPath(path)
    named = there.name.startswith((f"{uid}.", f"{uid}_"))
    return str(there if named else there.with_name(f"{uid}{there.suffix}"))


def _templated(template: str, uid: str) -> tuple[str, ...]:
    folder = _folder(uid)
    if not _NAME.fullmatch(uid) or not PurePosixPath(template).name or ("{folder}" in template and not folder):
        return ()
    return (template.replace("{uid}", uid).replace("{folder}", folder),)


def _folder(uid: str) -> str:
    """SuttaCentral's folder of a text below `sutta/`; '' where the uid is of no form that has a rule."""
    if (whole := _WHOLE.fullmatch(uid)) is not None:
        return whole[1]
    if (book := _BOOK.fullmatch(uid)) is not None:
        return f"{book[1]}/{book[1]}{book[2]}"
    return "kn/dhp" if _chapter(uid) else ""


def _chapter(uid: str) -> int:
    """Chapter of the Dhammapada whose verses a uid names, from 1; 0 where it does not name those of one chapter."""
    verses = _VERSES.fullmatch(uid)
    if verses is None:
        return 0
    first, last = int(verses[1]), int(verses[2])
    chapter = bisect_right(_CHAPTERS, first)
    whole = chapter < len(_CHAPTERS) and (first, last + 1) == _CHAPTERS[chapter - 1 : chapter + 1]
    return chapter if whole else 0
