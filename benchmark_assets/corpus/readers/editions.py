"""TEI by citation: documents, their passages and segments, and translations that share the citations.

The segments of a document are the texts at one level of its citation scheme, the level `segment` of the corpus
description. Its passages are the texts at a higher level (`passage`), or windows of `lines` segments of such a text. An
id is the document's id, a colon and the citation: `phi0914:21.1.3`, and `phi0690:1.1-20` for a range.

A TEI translation that shares the segments' level with the source is a segmented reference: each segment has the text
with the segment's citation, or no text. A level is shared if it has the same depth and name in both texts, and the
source has at least half of the translation's citations at this level. A source that shares no level by its first scheme
is read by another one of its schemes that does. If a translation numbers at most half of the
segments of its chapters or poems (such as every fifth line of verse), its numbers are taken as the beginnings of
ranges: the segments are then joined up to the next number that all such translations have. Text with a citation that
the source lacks belongs to no segment; a log message lists such citations. Other TEI translations are continuous; their
numbers become asides (tei). Notes on the segments become asides, too.

Text between or after the parts of a division that has no number of its own is joined to the part before it, with a
doubt.

Here: documents of a TEI corpus. Not here: text and citations of a file (tei, citations).
"""

import logging
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmark_assets.corpus.description import Description
from benchmark_assets.corpus.model import Document, SegmentAside
from benchmark_assets.corpus.readers.citations import LINE, Citation, Cited
from benchmark_assets.corpus.readers.files import check_sources_only, fitting, listed, translations
from benchmark_assets.corpus.readers.segments import passages
from benchmark_assets.corpus.readers.tei import Edition, complete_levels, edition
from resources.errors import BadInput

logger = logging.getLogger("variorum.corpus")

RANGES = 0.9
"""Maximum share of the source's citations that a translation numbers if its numbers are the beginnings of ranges."""

LONGEST = 5000
"""Maximum number of characters of a passage's source, about 750 words of Latin; longer passages are reported.

Models shorten longer passages, MiniLM embeds only their beginning, and an error in one of thirty sentences hardly
changes a score. Livy's and Caesar's longest chapters have 3,200 characters.
"""


def documents(description: Description) -> Iterator[Document | BadInput]:
    """Documents of one .xml file, or of all .xml files in a folder and its subfolders in order of their paths.

    Raises
    ------
    BadInput
        If there is no such file, no file matches the source's `files`, a TEI translation has no file, or a reference
        has no layout of its own.
    """
    check_sources_only(description)
    sources = _sources(description)
    names = {name for name, _ in sources}
    files = {
        translator: translations(description, translator, ".xml", names, all_read=True)
        for translator, text in description.continuous.items()
        if text.layout == "tei"
    }
    for name, path in sources:
        own = {translator: paths[name][0] for translator, paths in files.items() if len(paths.get(name, [])) == 1}
        try:
            yield from _document(description, name, path, own)
        except BadInput as fault:
            yield fault


def _sources(description: Description) -> list[tuple[str, Path]]:
    """Ids of the documents, each with the file of its source."""
    if not (pattern := description.source.files):
        return [(path.stem, path) for path in listed(description, ".xml")]
    found = fitting(description.root, pattern)
    if not found:
        remedy = "correct `files` of the source, or `root`"
        raise BadInput(description.root, "source.files", f"no file matches {pattern!r}", remedy)
    return [(name, path) for name, paths in found.items() for path in paths]


def _document(
    description: Description, name: str, path: Path, files: Mapping[str, Path]
) -> Iterator[Document | BadInput]:
    """The document, or its faults. `files` has its TEI translations by translator."""
    if own := [translator for translator, file in files.items() if file.samefile(path)]:
        remedy = "give the translation's `files` or `root`"
        raise BadInput(description.name, f"references.{own[0]}.files", f"matches the source, {path}", remedy)
    source, editions = _editions(description, name, path, files)
    yield from divided(description, name, path, source, editions, lambda: complete_levels(path, name))


def divided(
    description: Description, name: str, path: Path, source: Edition, editions: Mapping[str, Edition],
    complete: Callable[[], Sequence[str]] = tuple,
) -> Iterator[Document | BadInput]:  # fmt: skip
    """The document with this source and these translations by citation.

    Parameters
    ----------
    path
        The source's file.
    complete
        Describes the schemes of citations that read the whole source.

    Raises
    ------
    BadInput
        If the source lacks a level that the description names, or the description permits no scheme that leaves so much
        text out.
    """
    _check_coverage(description, path, source, complete)
    division = _division(description, path, source, editions)
    source = _in_place(source, division.segment)
    editions = {translator: _in_place(each, division.segment) for translator, each in editions.items()}
    segment_of, texts = _segments(name, source, editions, division)
    passage_of = _with_text(_passages(name, segment_of, source, division, description.lines), texts)
    texts = {segment: text for segment, text in texts.items() if segment in passage_of}
    depth = division.segment
    asides = _notes("", source, segment_of, texts, depth)
    asides += _doubts("", source.odd, segment_of, texts, depth, name)
    references: dict[str, dict[str, str]] = {}
    lengths = {"": source.lengths}
    for translator in division.translators:
        own, where = editions[translator], f"{name}: {translator}"
        references[translator], joined = _texts(own, segment_of, depth, where)
        read = sum(map(len, references[translator].values()))
        nothing = own.lengths.segments + own.lengths.nothing - read
        lengths[translator] = own.lengths._replace(segments=read, nothing=max(nothing, 0))
        asides += _notes(translator, own, segment_of, texts, depth)
        asides += _doubts(translator, [*own.odd, *joined], segment_of, texts, depth, where)
    found = passages(description.source.language, texts, references, passage_of.get)
    _report_long_passages(name, {passage.id: sum(len(s.text) for s in passage.segments) for passage in found}, source,
                          division)  # fmt: skip
    yield Document(name, path, found, asides=tuple(asides), lengths=lengths)


def _editions(
    description: Description, name: str, path: Path, files: Mapping[str, Path]
) -> tuple[Edition, dict[str, Edition]]:
    """The source and its TEI translations, each by the scheme that fits best.

    A scheme of the source has to have the levels that the description names. If such schemes differ in what they share
    with the translations, one that shares a level is used.
    """
    wanted = [level for level in (description.segment, description.passage) if level]

    def has_levels(cited: Cited) -> bool:
        return all(_depth_of(level, cited.levels) for level in wanted)

    def is_shared(cited: Cited | Edition) -> bool:
        return any(_shared_depth(cited, each) for each in editions.values())

    source = edition(path, name, has_levels)
    if not source.units:
        raise BadInput(
            path,
            "",
            "contains no numbered segments",
            "give its segments an `xml:id` or `n`, or its text as .txt: paragraphs are read then",
        )
    editions = {
        translator: edition(file, name, lambda cited: bool(_shared_depth(source, cited)))
        for translator, file in files.items()
    }
    if editions and not is_shared(source):
        other = edition(path, name, lambda cited: cited.is_complete and has_levels(cited) and is_shared(cited))
        source = other if is_shared(other) else source
    return source, {translator: _as_in(source, each) for translator, each in editions.items()}


def _as_in(source: Edition, translation: Edition) -> Edition:
    """A translation with the levels of the source, if only one of them has a highest level with a single number.

    A file of one book may number its chapters and sections with the book, or without it.
    """
    own, others = translation.levels, source.levels
    if not _shared_depth(source, translation) and own and others:
        if own[1:] == others and sum(len(each) == 1 for each in translation.units) == 1:
            return _renumbered(translation, own[1:], lambda citation: citation[1:])
        above = [each for each in source.units if len(each) == 1]
        if others[1:] == own and len(above) == 1:
            return _renumbered(translation, others, lambda citation: (*above[0], *citation) if citation else ())
    return translation


def _renumbered(edition: Edition, levels: tuple[str, ...], renumber: Callable[[Citation], Citation]) -> Edition:
    return edition._replace(
        levels=levels,
        units={renumber(citation): line for citation, line in edition.units.items() if renumber(citation)},
        pieces=[(renumber(citation), text) for citation, text in edition.pieces],
        notes=[(renumber(citation), text) for citation, text in edition.notes],
        odd=[(renumber(citation), sentence) for citation, sentence in edition.odd],
    )


def _check_coverage(
    description: Description, path: Path, source: Edition, complete: Callable[[], Sequence[str]]
) -> None:
    """Raise BadInput if a scheme leaves out more of the source than the description permits. Log what it leaves out."""
    if source.outside is None:
        return
    line, tag = source.outside
    read, nothing = source.lengths.segments, source.lengths.nothing
    share = read / (read + nothing)
    problem = f"has text outside the segments, in <{tag}>: {nothing:,} characters are not read"
    if share >= description.coverage:
        logger.warning("%s: line %d %s", path, line, problem)
        return
    found = complete()
    levels = f"choose other levels: {'; '.join(found)}" if found else "number the text with `xml:id` or `n`"
    raise BadInput(
        path, f"line {line}", f"{problem}, and only {share:.1%} of the text are",
        f"{levels}; or write `coverage: {math.floor(100 * share) / 100}` in the description to go on",
    )  # fmt: skip


class _Division(NamedTuple):
    """How a document is divided: depth of the citations of segments, depth of the citations of passages (0 if the whole
    document is one passage), and the translators whose translations share the level of the segments."""

    segment: int
    passage: int
    translators: tuple[str, ...]


def _division(description: Description, path: Path, source: Edition, editions: Mapping[str, Edition]) -> _Division:
    """Return the division of a document. Raises BadInput for a level that is not in the scheme of the document, or if
    passages would be smaller than segments."""
    shared = {translator: _shared_depth(source, translation) for translator, translation in editions.items()}
    if description.segment:
        segment = _depth(description.segment, "segment", path, source.levels)
    else:
        segment = min((depth for depth in shared.values() if depth), default=len(source.levels))
    in_windows = description.lines > 0 or source.levels[segment - 1] == LINE
    passage = segment - 1 if in_windows else max(segment - 1, 1)
    if description.passage:
        passage = _depth(description.passage, "passage", path, source.levels)
    if passage > segment:
        problem = f"{description.passage!r} is a level below the segments ({source.levels[segment - 1]})"
        raise BadInput(path, "passage", problem, f"choose a higher level, or set `segment: {description.passage}`")
    passage = min(passage, segment - 1) if description.lines else passage
    return _Division(segment, passage, tuple(name for name, depth in shared.items() if depth >= segment))


def _depth(level: str | int, key: str, path: Path, levels: Sequence[str]) -> int:
    """The depth of a level, given by its name or number."""
    if not (depth := _depth_of(level, levels)):
        problem = f"{level!r} is not a level of the text, whose levels are {', '.join(levels)}"
        raise BadInput(path, key, problem, f"use one of these, or a number up to {len(levels)}")
    return depth


def _depth_of(level: str | int, levels: Sequence[str]) -> int:
    """The depth of a level, given by its name or number; 0 if it is none of `levels`."""
    if isinstance(level, int):
        return level if level <= len(levels) else 0
    return 1 + list(levels).index(level.casefold()) if level.casefold() in levels else 0


def _shared_depth(source: Edition | Cited, translation: Edition | Cited) -> int:
    """Depth of the finest level that a translation shares with the source; 0 if there is none."""
    for depth in range(min(len(source.levels), len(translation.levels)), 0, -1):
        citations = {citation for citation in translation.units if len(citation) == depth}
        same_name = source.levels[depth - 1] == translation.levels[depth - 1]
        if same_name and citations and 2 * len(citations & source.units.keys()) >= len(citations):
            return depth
    return 0


def _segments(
    name: str, source: Edition, editions: Mapping[str, Edition], division: _Division
) -> tuple[dict[Citation, str], dict[str, str]]:
    """The segment id of each citation, and the text of each segment, both in order."""
    depth = division.segment
    texts: dict[Citation, list[str]] = defaultdict(list)
    for citation, text in source.pieces:
        texts[citation[:depth]].append(text)
    citations = [each for each in source.units if len(each) == depth or (len(each) < depth and each in texts)]
    lengths = {citation: sum(map(len, texts[citation])) for citation in citations}
    numbered = [_lengths(editions[translator], lengths, depth) for translator in division.translators]
    sparse = [numbers for numbers in numbered if _numbers_ranges(numbers, lengths)]
    runs: list[list[Citation]] = []
    for citation in citations:
        follows = runs and runs[-1][-1][:-1] == citation[:-1]
        if follows and sparse and not all(citation in numbers for numbers in sparse):
            runs[-1].append(citation)
        else:
            runs.append([citation])
    segment_of = {citation: f"{name}:{_span(run)}" for run in runs for citation in run}
    return segment_of, {f"{name}:{_span(run)}": " ".join(t for each in run for t in texts[each]) for run in runs}


def _in_place(edition: Edition, depth: int) -> Edition:
    """An edition whose text between or after the parts of a division, which has the division's number alone, belongs to
    the part before it. Text before the first part keeps the number of the division."""
    latest: dict[Citation, Citation] = {}
    pieces: list[tuple[Citation, str]] = []
    odd: dict[tuple[Citation, str], None] = {}
    for citation, text in edition.pieces:
        taken = latest.get(citation, citation) if len(citation) < depth else citation
        if taken != citation:
            odd[taken, f"text of {'.'.join(citation)} without a number is joined to {'.'.join(taken)}"] = None
        pieces.append((taken, text))
        latest |= dict.fromkeys((taken[:length] for length in range(1, len(taken))), taken)
    return edition._replace(pieces=pieces, odd=[*edition.odd, *odd]) if odd else edition


def _lengths(translation: Edition, citations: Collection[Citation], depth: int) -> dict[Citation, int]:
    """Number of characters of a translation by citation, for the citations of the source that it has."""
    lengths = {citation: 0 for citation in translation.units if citation in citations}
    for citation, text in translation.pieces:
        if citation[:depth] in lengths:
            lengths[citation[:depth]] += len(text)
    return lengths


def _numbers_ranges(numbers: Mapping[Citation, int], lengths: Mapping[Citation, int]) -> bool:
    """Whether the numbers of a translation are the beginnings of ranges.

    They are if it numbers at most half of the citations in the chapters or poems in which it has numbers. They also are
    if it numbers at most RANGES of them, and the text of most numbers that are followed by unnumbered citations has the
    length of a translation of all these citations, rather than of the first one.

    Parameters
    ----------
    numbers, lengths
        Number of characters by citation, of the translation and of the source.
    """
    counts = Counter(citation[:-1] for citation in lengths)
    among = sum(counts[parent] for parent in {number[:-1] for number in numbers})
    if 2 * len(numbers) <= among or len(numbers) > RANGES * among:
        return 0 < 2 * len(numbers) <= among
    ranges: list[list[Citation]] = []
    for citation in lengths:
        if citation in numbers:
            ranges.append([citation])
        elif ranges and ranges[-1][0][:-1] == citation[:-1]:
            ranges[-1].append(citation)
    single = [run[0] for run in ranges if len(run) == 1]
    ratio = sum(numbers[each] for each in single) / max(sum(lengths[each] for each in single), 1)
    likely = Counter(
        abs(math.log(numbers[run[0]] / (ratio * whole))) < abs(math.log(numbers[run[0]] / (ratio * lengths[run[0]])))
        for run in ranges
        if len(run) > 1 and numbers[run[0]] and lengths[run[0]] and ratio
        and (whole := sum(lengths[each] for each in run)) > lengths[run[0]]
    )  # fmt: skip
    return likely[True] > likely[False]


def _span(citations: Sequence[Citation]) -> str:
    """Write one citation, or a range from the first citation to the last. The last citation is written without the
    leading numbers that it has in common with the first."""
    first, last = citations[0], citations[-1]
    if first == last:
        return ".".join(first)
    common = next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    return f"{'.'.join(first)}-{'.'.join(last[common:])}"


def _passages(
    name: str, segment_of: Mapping[Citation, str], source: Edition, division: _Division, lines: int
) -> dict[str, str]:
    """The passage of each segment."""
    groups: dict[str, dict[str, list[Citation]]] = defaultdict(lambda: defaultdict(list))
    for citation, segment in segment_of.items():
        upper = ".".join(citation[: division.passage])
        passage = segment if division.passage >= division.segment else f"{name}:{upper}" if upper else name
        groups[passage][segment].append(citation)
    passage_of: dict[str, str] = {}
    for passage, segments in groups.items():
        if lines:
            windows = list(_windows(segments, lines))
        elif not division.passage and source.lengths.segments > LONGEST:
            windows = _divisions(segments, source.divisions)
        else:
            windows = [list(segments)]
        for window in windows:
            span = _span([segments[window[0]][0], segments[window[-1]][-1]])
            passage_of |= dict.fromkeys(window, passage if len(windows) == 1 else f"{name}:{span}")
    return passage_of


def _divisions(segments: Mapping[str, Sequence[Citation]], divisions: Collection[Citation]) -> list[list[str]]:
    """Divide the segments of a long text without a level above them where its acts, scenes or other parts begin."""
    windows: list[list[str]] = [[]]
    for segment, citations in segments.items():
        if citations[0] in divisions and windows[-1]:
            windows.append([])
        windows[-1].append(segment)
    return windows


def _with_text(passage_of: Mapping[str, str], texts: Mapping[str, str]) -> dict[str, str]:
    """Keep the segments of passages with text. Logs the other passages, which the edition numbers but leaves empty."""
    filled = {passage for segment, passage in passage_of.items() if texts[segment]}
    if empty := sorted(set(passage_of.values()) - filled):
        logger.warning("left out, because the source has no text: %s", ", ".join(empty))
    return {segment: passage for segment, passage in passage_of.items() if passage in filled}


def _windows(segments: Mapping[str, Sequence[Citation]], lines: int) -> Iterator[list[str]]:
    """Divide segments into windows of `lines` lines. A remainder of less than half a window joins the last window."""
    left = sum(map(len, segments.values()))
    window: list[str] = []
    size = 0
    for segment, citations in segments.items():
        if size >= lines and 2 * left >= lines:
            yield window
            window, size = [], 0
        window.append(segment)
        size += len(citations)
        left -= len(citations)
    yield window


def _texts(
    translation: Edition, segment_of: Mapping[Citation, str], depth: int, where: str
) -> tuple[dict[str, str], list[tuple[Citation, str]]]:
    """Text of a translation by segment, and citations whose text is joined to another segment, each with a sentence.

    A second number in brackets may be missing: 5.6 is the source's 5(6).6. Text with another number that the source
    lacks is joined to the segment before, if both are in the same chapter or poem. Text before the first number of a
    chapter is joined to the first segment, if the translation numbers others. Other text is not read, and a log message
    has its citations.
    """
    texts: dict[str, list[str]] = defaultdict(list)
    unknown: Counter[Citation] = Counter()
    joined: dict[tuple[Citation, Citation], str] = {}
    first: dict[Citation, Citation] = {}
    for citation in reversed(list(segment_of)):
        first[citation[:-1]] = citation
    numbered = Counter(citation[:-1] for citation in translation.units if citation in segment_of)
    other_numbers = {
        outer: citation for citation in segment_of if (outer := tuple(_outer(part) for part in citation)) != citation
    }
    before: Citation = ()
    for citation, text in translation.pieces:
        own = taken = citation[:depth]
        if own not in segment_of and own in other_numbers:
            taken = other_numbers[own]
        elif own not in segment_of:
            if own in first and numbered[own]:
                taken = first[own]
                where_it_is = f" of {'.'.join(own)}" * bool(own)
                joined[taken, own] = f"text before the first number{where_it_is} is joined to {'.'.join(taken)}"
            elif own[:-1] in segment_of and before[:-1] != own[:-1]:  # the source does not number a chapter's beginning
                taken = own[:-1]
            elif before and before[:-1] == own[:-1]:
                taken = before
                joined[taken, own] = f"the source lacks {'.'.join(own)}, whose text is joined to {'.'.join(taken)}"
            else:
                unknown[own] += len(text)
                continue
        before = taken
        texts[segment_of[taken]].append(text)
    if unknown:
        citations = [".".join(citation) or "no number" for citation in unknown]
        logger.warning(
            "%s: %s characters are not read, because the source lacks their citations: %s", where,
            f"{unknown.total():,}", some(citations),
        )  # fmt: skip
    return {segment: " ".join(parts) for segment, parts in texts.items()}, [
        (taken, sentence) for (taken, _), sentence in joined.items()
    ]


def _outer(number: str) -> str:
    """A number without the other number that it has in brackets: `5` for `5(6)`."""
    return re.sub(r"(?<=\w)\s*[(\[]\w+[)\]]$", "", number)


def some(items: Sequence[str]) -> str:
    """The first ten items."""
    return f"{', '.join(items[:10])}{', …' if len(items) > 10 else ''}"


def _doubts(
    translator: str, odd: Iterable[tuple[Citation, str]], segment_of: Mapping[Citation, str],
    segments: Collection[str], depth: int, where: str,
) -> list[SegmentAside]:  # fmt: skip
    """The doubts about numbers and words of segments, which are also logged. All doubts of a segment are one aside."""
    doubts: dict[str, list[str]] = defaultdict(list)
    for citation, sentence in odd:
        if (segment := segment_of.get(citation[:depth])) in segments:
            doubts[str(segment)].append(sentence)
    if doubts:
        sentences = [sentence for parts in doubts.values() for sentence in parts]
        logger.warning("%s: doubts about %d segments: %s", where, len(doubts), some(sentences))
    return [SegmentAside(segment, translator, "doubt", "\n".join(parts)) for segment, parts in doubts.items()]


def _notes(
    translator: str, text: Edition, segment_of: Mapping[Citation, str], segments: Collection[str], depth: int
) -> list[SegmentAside]:
    """The notes on the segments; one without a segment is on the first segment of its division. All notes on a segment
    are joined into one aside."""
    places: dict[Citation, str] = {}
    for citation, segment in segment_of.items():
        for length in range(len(citation) + 1) if segment in segments else ():
            places.setdefault(citation[:length], segment)
    notes: dict[str, list[str]] = defaultdict(list)
    for citation, note in text.notes:
        within = range(min(depth, len(citation)), 0, -1) or (0,)
        if place := next((places[citation[:end]] for end in within if citation[:end] in places), None):
            notes[place].append(note)
    return [SegmentAside(segment, translator, "note", "\n".join(parts)) for segment, parts in notes.items()]


def _report_long_passages(name: str, lengths: Mapping[str, int], source: Edition, division: _Division) -> None:
    """Log passages of more than LONGEST characters, and the settings that would make them shorter."""
    long = {passage: length for passage, length in lengths.items() if length > LONGEST}
    if not long:
        return
    ways = []
    for depth, level in enumerate(source.levels[division.passage :], start=division.passage + 1):
        at_level: Counter[Citation] = Counter()
        for citation, text in source.pieces:
            at_level[citation[:depth]] += len(text)
        segment = f"`segment: {level}` and " if depth > division.segment else ""
        if level == LINE:
            lines = LONGEST * len(at_level) // (2 * at_level.total()) // 10 * 10
            ways.append(f"{segment}`lines: {max(lines, 10)}`")
        else:
            above = sum(length > LONGEST for length in at_level.values())
            rest = f" (then {above} of {len(at_level)} are still too long)" * (above > 0)
            ways.append(f"{segment}`passage: {level}`{rest}")
    longest = max(long, key=long.__getitem__)
    logger.warning(
        "%s: %d of %d passages have more than %s characters of source; the longest is %s with %s. %s", name,
        len(long), len(lengths), f"{LONGEST:,}", longest, f"{long[longest]:,}",
        f"To shorten them, write {' or '.join(ways)} in the description" if ways else "The text has no finer level",
    )  # fmt: skip
