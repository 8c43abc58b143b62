"""Plain text: without format characters, HTML and Beta Code, which become asides or letters.

Every document and every continuous translation passes through `plain` or `plain_prose` when corpora are read, whatever
its layout. So a reader hands over the text of its file, with tags and marks. Here: what is removed from any text. Not
here: structure of a layout (its reader), refusal of damaged text (characters).
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from html import unescape
from html.entities import html5
from html.parser import HTMLParser
from itertools import pairwise
from typing import NamedTuple

from betacode.conv import beta_to_uni

from benchmark_assets.corpus.description import Description
from benchmark_assets.corpus.model import Aside, Document, Passage, Prose, Reference, SegmentAside
from benchmark_assets.corpus.readers import aozora
from benchmark_assets.corpus.readers.furniture import hyphens
from benchmark_assets.corpus.readers.running_text import LINE, PARAGRAPH, RunningText, without
from resources.errors import BadInput

_JOINERS = "\u200c\u200d"
_SHAPED = "\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u1cff\ua840-\uabff\u2190-\u2bff\ufe0f\U00010a00-\U0001faff"
"""Scripts in which a joiner changes the form of letters, and symbols that it joins."""
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Scripts without spaces, in which U+200B separates words."""
FORMAT = re.compile(
    "\u00ad(?:[^\\S\n]*\n[^\\S\n]*)?|[\u200e\u200f\u061c\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]"
    f"|(?<![{_SHAPED}])[{_JOINERS}]|(?<![{_UNSPACED}])\u200b|[\x01-\x08\x0e-\x1b\x7f]"
)
"""Characters that format a text and are not part of it. A soft hyphen at the end of a line takes the break with it."""

_NAMES = (
    "a|abbr|b|big|blockquote|br|center|cite|dd|del|div|dl|dt|em|font|h[1-6]|hr|i|img|ins|li|mark|ol|p|pre|q|rp|rt|ruby"
    "|s|script|small|span|strike|strong|style|sub|sup|table|tbody|td|th|thead|tr|tt|u|ul|wbr"
)
_TAG = re.compile(_NAMES)
_BREAKS = {"br": LINE, "li": LINE, "tr": LINE, "dd": LINE, "dt": LINE, "td": " ", "th": " "} | dict.fromkeys(
    ("p", "div", "blockquote", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "table", "ul", "ol", "pre"), PARAGRAPH
)
_EMPTY = frozenset(["br", "hr", "img", "wbr"])
_DROPPED = frozenset(["script", "style", "rp", "del"])
_SIGN = re.compile(rf"<(?:br|hr)\s*/?>|<(?:{_NAMES})\s+[\w-]+=[\"'][^<>]*>", re.IGNORECASE)
_OPENING = re.compile(rf"<({_NAMES})\b[^<>]*>", re.IGNORECASE)
_CLOSING = re.compile(rf"</({_NAMES})\s*>", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_MARK = re.compile(r"[\s\[(]*(?:\d{1,3}|[*†‡§]{1,3})[\s\])]*")
_MARK_OR_LETTER = re.compile(rf"{_MARK.pattern}|[\s\[(]*[a-z][\s\])]*")
_NOTE = re.compile(r"\b(?:foot|end)?notes?\b|\bfn\b", re.IGNORECASE)

_SUSPECT = re.compile(rf"<\w|<!--|</\w|{_ENTITY.pattern}|{FORMAT.pattern}")
"""A text without a match stays as it is."""

_BETA = re.compile(r"(?i)[aeiouhwr][)(]?[/\\=]|(?<![a-z*])[aeiouhwr]{1,2}[)(]|\*[)(]?[/\\=]?[a-z]")
_BRACKET = re.compile(r"(?i)([bgdzqklmncprstfxy][a-z/\\=|+']*)\)(?![a-z/\\=|+])")
LEAST_BETA = 0.05
"""Least number of Beta Code's breathings, accents and capitals per letter. Greek has about one for five letters."""


_BREAK = re.compile(r"(?<![^\W\d_])(?P<one>[^\W\d_]+)[-‐][^\S\n]*\n[^\S\n]*(?P<two>[^\W\d_]+(?:[-‐’'][^\W\d_]+)*)")
"""A word that the end of a line cuts in two."""
_RAISED = re.compile(r"(?<!\w)(\w*)<sup\b[^<>]*>\s*([a-z])\s*</sup\s*>", re.IGNORECASE)


class _Signs(NamedTuple):
    """How a text is written: with tags, in Beta Code, or with readings of characters; whether raised letters are marks
    of notes; and for each word that a line break cuts in two, whether its hyphen stays."""

    tags: bool
    beta: bool
    readings: bool
    raised: bool
    hyphens: Mapping[tuple[str, str], bool]

    def joined(self, match: re.Match[str]) -> str:
        """The word that a line break cuts in two; what is no word stays as it is."""
        one, two = match.group("one", "two")
        return f"{one}{'-' * self.hyphens[one, two]}{two}" if (one, two) in self.hyphens else match[0]

    def doubtful(self, raw: str) -> bool:
        """Whether a text may have to be changed."""
        broken = bool(self.hyphens) and _BREAK.search(raw) is not None
        return self.beta or self.readings or broken or _SUSPECT.search(raw) is not None


def plain(document: Document, description: Description) -> Document:
    """A document whose texts are plain. What is removed becomes an aside of its segment.

    Whether `<` begins a tag, and whether letters are Beta Code, is decided for a whole text: all segments of the source
    or of a translator. A text has tags if one of them is closed, empty or has an attribute; `vir<i>` has none, and is
    an editor's supplement. Entities (`&nbsp;`) are always read.

    Raises
    ------
    BadInput
        If nothing of a passage's source is text.
    """
    texts: dict[str, dict[str, str]] = defaultdict(dict)
    for passage in document.passages:
        texts[""].update((segment.id, segment.text) for segment in passage.segments)
        for reference in passage.references:
            pairs = zip(passage.segments, reference.segments, strict=True)
            texts[reference.translator].update((segment.id, text) for segment, text in pairs if text)
    removed = {(each.segment, each.translator, each.kind): each.text for each in document.asides}
    changed: dict[tuple[str, str], str] = {}
    lengths = dict(document.lengths)
    signs: dict[str, _Signs] = {}
    for translator, own in texts.items():
        text = description.texts.get(translator)
        signs[translator] = _signs(own.values(), text.language if text else "")
        for segment, raw in own.items():
            if signs[translator].doubtful(raw):
                words, asides = _plain(raw, signs[translator])
                changed[segment, translator] = " ".join(words.split()) if signs[translator].tags else words.strip()
                if known := lengths.get(translator):
                    notes = sum(len(aside.text) for aside in asides if aside.kind in ("note", "footnote"))
                    lengths[translator] = known._replace(notes=known.notes + notes)
                for aside in asides:
                    key = (segment, translator, aside.kind)
                    removed[key] = f"{removed[key]}\n{aside.text}" if key in removed else aside.text
    if not changed:
        return document
    passages = tuple(_changed(passage, changed, signs[""], document) for passage in document.passages)
    beside = tuple(SegmentAside(*key, text) for key, text in removed.items())
    return replace(document, passages=passages, asides=beside, lengths=lengths)


def plain_prose(prose: Prose) -> Prose:
    """A continuous translation without format characters. Their number becomes an aside where the first one was."""
    found = [(match.start(), match.end()) for match in FORMAT.finditer(prose.text)]
    if not found:
        return prose
    text, asides = without(prose.text, prose.asides, found, _counted(prose.text))
    return replace(prose, text=text, asides=asides)


def with_html(content: str, text: RunningText, raised: bool = False) -> None:
    """Add a piece of HTML to a text. Footnotes, comments and readings (`rt`) become asides; unknown tags are text. If
    `raised` is true, raised letters are marks of footnotes."""
    parser = _Html(text, raised)
    parser.feed(content)
    parser.close()


def text_of_html(content: str) -> str:
    """Plain text without the tags and entities that it has in spite of being plain; notes become `[Footnote: …]`."""
    if not has_tags([content]):
        return _ENTITY.sub(_character, content)
    paragraphs, raised = [], _raised([content])
    for paragraph in re.split(r"\n\s*\n", content):
        running = RunningText()
        with_html(paragraph, running, raised)
        text, asides = running.finish()
        for aside in reversed(asides):
            text = f"{text[: aside.at]} [Footnote: {aside.text}]{text[aside.at :]}"
        paragraphs.append(text)
    return PARAGRAPH.join(paragraphs)


def has_tags(texts: Iterable[str]) -> bool:
    """Whether a text, given in parts, has HTML tags (see `plain`)."""
    return any("<" in text and _is_marked(text) for text in texts)


def _is_marked(text: str) -> bool:
    """Whether a text has a comment, an empty tag, one with an attribute, or one that is closed later."""
    comment = text.find("<!--")
    if _SIGN.search(text) or (comment >= 0 and text.find("-->", comment) >= 0):
        return True
    closed = {tag[1].lower(): tag.start() for tag in _CLOSING.finditer(text)}
    return any(tag.start() < closed.get(tag[1].lower(), -1) for tag in _OPENING.finditer(text) if closed)


def _signs(texts: Collection[str], language: str) -> _Signs:
    own, tags = language.split("-")[0], has_tags(texts)
    found = (match for text in texts if "\n" in text for match in _BREAK.finditer(text))
    words = [(match["one"], match["two"]) for match in found if match["two"][0].islower()]
    stay = hyphens([(one.casefold(), two.casefold()) for one, two in words], "\n".join(texts)) if words else []
    return _Signs(
        tags, own in ("grc", "el") and _is_beta(texts), own == "ja" and aozora.has_readings(texts),
        tags and _raised(texts), dict(zip(words, stay, strict=True)),
    )  # fmt: skip


def _raised(texts: Iterable[str]) -> bool:
    """Whether raised letters are marks of notes: each is `a` or follows the one before, and none is an ordinal or the
    end of an abbreviation (1<sup>a</sup>, M<sup>a</sup>)."""
    found = [match.groups() for text in texts if "<" in text for match in _RAISED.finditer(text)]
    letters = [letter for _, letter in found]
    in_order = all(two in ("a", chr(ord(one) + 1)) for one, two in pairwise(["`", *letters]))
    whole = "b" in letters or all(len(word) != 1 and len(word) != 2 for word, _ in found)
    return in_order and whole and not any(word[-1:].isdigit() for word, _ in found)


def _is_beta(texts: Iterable[str]) -> bool:
    text = "\n".join(texts)
    letters = sum(map(str.isalpha, text))
    return len(_BETA.findall(text)) > LEAST_BETA * letters and sum(map(str.isascii, text)) > 0.9 * len(text)


def _plain(raw: str, signs: _Signs) -> tuple[str, list[Aside]]:
    """A text without format characters, tags, entities and Beta Code, and what was removed."""
    asides = _counted(raw)
    text = FORMAT.sub("", raw)
    if signs.hyphens:
        text = _BREAK.sub(signs.joined, text)
    if signs.readings:
        text, marks = aozora.without_marks_in_line(text)
        asides += [Aside(kind, 0, words) for kind, words, _ in marks]
    if signs.tags:
        running = RunningText()
        with_html(text, running, signs.raised)
        text, notes = running.finish()
        asides += notes
    else:
        text = unicodedata.normalize("NFC", _ENTITY.sub(_character, text))
    return _greek(text) if signs.beta else text, asides


def _greek(beta: str) -> str:
    """Greek from Beta Code. `)` at the end of a word with a consonant is a bracket, not a breathing."""
    marked = _BRACKET.sub("\\1\uff09", beta)
    return unicodedata.normalize("NFC", beta_to_uni(marked)).replace("\uff09", ")")


def _character(entity: re.Match[str]) -> str:
    """The character that an entity names; an unknown entity is text."""
    known = entity[0][1] == "#" or entity[0][1:] in html5
    return unescape(entity[0]).replace("\xa0", " ") if known else entity[0]


def _counted(text: str) -> list[Aside]:
    """An aside for each format character in a text: its name and number, where it first occurs."""
    first: dict[str, int] = {}
    counts = Counter[str]()
    for match in FORMAT.finditer(text):
        first.setdefault(match[0][0], match.start())
        counts[match[0][0]] += 1
    names = {sign: f"U+{ord(sign):04X} {unicodedata.name(sign, 'CONTROL CHARACTER')}" for sign in first}
    return [Aside("character", at, f"{names[sign]}: {counts[sign]}") for sign, at in first.items()]


def _changed(passage: Passage, changed: Mapping[tuple[str, str], str], signs: _Signs, document: Document) -> Passage:
    """A passage with changed texts of segments, by segment and translator."""
    segments = tuple(replace(each, text=changed.get((each.id, ""), each.text)) for each in passage.segments)
    if any(each.text.strip() for each in passage.segments) and not any(each.text for each in segments):
        problem = "contains no text, only markup or invisible characters"
        raise BadInput(document.file, passage.id, problem, "write the text, or drop its segments")
    references = []
    for reference in passage.references:
        texts = tuple(
            (changed.get((each.id, reference.translator), text) or ("" if not each.text else None)) if text else text
            for each, text in zip(segments, reference.segments, strict=True)
        )
        if any(texts) or texts == reference.segments:
            references.append(Reference(reference.translator, texts, reference.flag))
    around = (passage.text, passage.previous, passage.following)
    text, previous, following = (part and _plain(part, signs)[0].strip() for part in around)
    return replace(
        passage, segments=segments, references=tuple(references), text=text, previous=previous, following=following
    )


class _Html(HTMLParser):
    """Writes HTML to a running text."""

    def __init__(self, text: RunningText, raised: bool) -> None:
        super().__init__(convert_charrefs=True)
        self._mark = _MARK_OR_LETTER if raised else _MARK
        self._text, self._inside = text, list[str]()
        self._tag, self._depth, self._note = "", 0, False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Separate words, or begin a note; an unknown tag is text."""
        if not _TAG.fullmatch(tag):
            self.handle_data(self.get_starttag_text() or "")
        elif self._tag:
            self._depth += tag == self._tag
        elif (note := _NOTE.search(dict(attrs).get("class") or "") is not None) or tag in (*_DROPPED, "sup", "rt"):
            if tag not in _EMPTY:
                self._tag, self._depth, self._note = tag, 1, note
        else:
            self._text.separate(_BREAKS.get(tag, ""))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A tag such as `<br/>`."""
        if _TAG.fullmatch(tag):
            self._text.separate(_BREAKS.get(tag, ""))
        else:
            self.handle_data(self.get_starttag_text() or "")

    def handle_endtag(self, tag: str) -> None:
        """Separate words, or end a note; an unknown tag is text."""
        if not _TAG.fullmatch(tag):
            self.handle_data(f"</{tag}>")
        elif not self._tag:
            self._text.separate(_BREAKS.get(tag, ""))
        elif tag == self._tag:
            self._depth -= 1
            if not self._depth:
                self._end()

    def handle_data(self, data: str) -> None:
        """Add text, to the text or to the note that is open."""
        if self._tag:
            self._inside.append(data)
        else:
            self._text.add(data)

    def handle_comment(self, data: str) -> None:
        """A comment is a note."""
        self._text.after("note", " ".join(data.split()))

    def close(self) -> None:
        """End the piece; a note that is not closed ends here."""
        super().close()
        if self._tag:
            self._end()

    def _end(self) -> None:
        """End an element that is no text, or that was found to be text."""
        tag, inside, self._tag = self._tag, "".join(self._inside), ""
        self._inside.clear()
        words = " ".join(inside.split())
        if tag in _DROPPED:
            return
        if tag == "rt":
            self._text.after("ruby", words)
        elif self._note or self._mark.fullmatch(inside):
            self._text.after("footnote", words)
        else:
            self._text.add(inside)
