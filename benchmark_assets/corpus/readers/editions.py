"""TEI by citation: documents, their passages and segments, and translations that share the citations.

The segments of a document are the texts at one level of its citation scheme, the level `segment` of the corpus
description. Its passages are the texts at a higher level (`passage`), or windows of `lines` segments of such a text. An
id is the document's id, a colon and the citation: `phi0914:21.1.3`, and `phi0690:1.1-20` for a range.

A TEI translation that shares the segments' level with the source is a segmented reference: each segment has the text
with the segment's citation, or no text. A level is shared if it has the same depth and name in both texts, and the
source has at least half of the translation's citations at this level. If a translation numbers at most half of the
segments of its chapters or poems (such as every fifth line of verse), its numbers are taken as the beginnings of
ranges: the segments are then joined up to the next number that all such translations have. Text with a citation that
the source lacks belongs to no segment; a log message lists such citations. Other TEI translations are continuous; their
numbers become asides (tei). Notes on the segments become asides, too.

Here: documents of a TEI corpus. Not here: text and citations of a file (tei, citations).
"""

import logging
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmark_assets.corpus.description import Description
from benchmark_assets.corpus.model import Document, SegmentAside
from benchmark_assets.corpus.readers.citations import LINE, Citation
from benchmark_assets.corpus.readers.files import check_sources_only, fitting, listed, translations
from benchmark_assets.corpus.readers.segments import passages, source_faults
from benchmark_assets.corpus.readers.tei import Edition, edition
from resources.errors import BadInput

logger = logging.getLogger("variorum.corpus")

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
    source = edition(path, name)
    if not source.units:
        raise BadInput(path, "", "contains no numbered segments", "give its segments an `xml:id` or `n`")
    editions = {translator: edition(file, name) for translator, file in files.items()}
    yield from divided(description, name, path, source, editions)


def divided(
    description: Description, name: str, path: Path, source: Edition, editions: Mapping[str, Edition]
) -> Iterator[Document | BadInput]:
    """The document with this source and these translations by citation, or its faults. `path` is the source's file."""
    division = _division(description, path, source, editions)
    segment_of, texts = _segments(name, source, editions, division)
    lines = {segment: source.units[citation] for citation, segment in reversed(segment_of.items())}
    passage_of = _with_text(_passages(name, segment_of, division, description.lines), texts)
    texts = {segment: text for segment, text in texts.items() if segment in passage_of}
    faults = []
    if source.outside:
        line, tag = source.outside
        problem = f"has text outside the segments, in <{tag}>"
        if not source.declared:
            faults.append(BadInput(path, f"line {line}", problem, "give the element an `xml:id` or `n`"))
        else:  # the publisher does not count it as part of the work
            count = sum(len(text) for citation, text in source.pieces if not citation)
            logger.warning("%s: line %d %s: %s characters are not read", path, line, problem, f"{count:,}")
    for citation, line in source.repeated:
        if len(citation) == division.segment:
            where = f"line {line} {name}:{'.'.join(citation)}"
            faults.append(BadInput(path, where, "the segment occurs twice", "renumber one of them"))
    faults += source_faults(path, texts, lines, passage_of.get)
    if faults:
        yield from faults
        return
    references = {
        translator: _texts(editions[translator], segment_of, division.segment, f"{name}: {translator}")
        for translator in division.translators
    }
    found = passages(description.source.language, texts, references, passage_of.get)
    _report_long_passages(name, {passage.id: sum(len(s.text) for s in passage.segments) for passage in found}, source,
                          division)  # fmt: skip
    asides = [*_notes("", source, segment_of, texts, division.segment)]
    for translator in division.translators:
        asides += _notes(translator, editions[translator], segment_of, texts, division.segment)
    yield Document(name, path, found, asides=tuple(asides))


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
    depths = {name: depth for depth, name in enumerate(levels, start=1)} | {
        depth: depth for depth in range(1, len(levels) + 1)
    }
    depth = depths.get(level.casefold() if isinstance(level, str) else level)
    if depth is None:
        problem = f"{level!r} is not a level of the text, whose levels are {', '.join(levels)}"
        raise BadInput(path, key, problem, f"use one of these, or a number up to {len(levels)}")
    return depth


def _shared_depth(source: Edition, translation: Edition) -> int:
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
    numbered = [editions[translator].units.keys() & set(citations) for translator in division.translators]
    sparse = [numbers for numbers in numbered if _numbers_ranges(numbers, citations)]
    runs: list[list[Citation]] = []
    for citation in citations:
        follows = runs and runs[-1][-1][:-1] == citation[:-1]
        if follows and sparse and not all(citation in numbers for numbers in sparse):
            runs[-1].append(citation)
        else:
            runs.append([citation])
    segment_of = {citation: f"{name}:{_span(run)}" for run in runs for citation in run}
    return segment_of, {f"{name}:{_span(run)}": " ".join(t for each in run for t in texts[each]) for run in runs}


def _numbers_ranges(numbers: Iterable[Citation], citations: Sequence[Citation]) -> bool:
    """Whether a translation numbers at most half of the citations in the chapters or poems in which it has numbers."""
    counts = Counter(citation[:-1] for citation in citations)
    numbered = Counter(number[:-1] for number in numbers)
    return 0 < 2 * numbered.total() <= sum(counts[parent] for parent in numbered)


def _span(citations: Sequence[Citation]) -> str:
    """Write one citation, or a range from the first citation to the last. The last citation is written without the
    leading numbers that it has in common with the first."""
    first, last = citations[0], citations[-1]
    if first == last:
        return ".".join(first)
    common = next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    return f"{'.'.join(first)}-{'.'.join(last[common:])}"


def _passages(name: str, segment_of: Mapping[Citation, str], division: _Division, lines: int) -> dict[str, str]:
    """The passage of each segment."""
    groups: dict[str, dict[str, list[Citation]]] = defaultdict(lambda: defaultdict(list))
    for citation, segment in segment_of.items():
        upper = ".".join(citation[: division.passage])
        passage = segment if division.passage >= division.segment else f"{name}:{upper}" if upper else name
        groups[passage][segment].append(citation)
    passage_of: dict[str, str] = {}
    for passage, segments in groups.items():
        windows = list(_windows(segments, lines)) if lines else [list(segments)]
        for window in windows:
            span = _span([segments[window[0]][0], segments[window[-1]][-1]])
            passage_of |= dict.fromkeys(window, passage if len(windows) == 1 else f"{name}:{span}")
    return passage_of


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


def _texts(translation: Edition, segment_of: Mapping[Citation, str], depth: int, where: str) -> dict[str, str]:
    """Text of a translation by segment; logs the citations that the source lacks."""
    texts: dict[str, list[str]] = defaultdict(list)
    unknown: Counter[Citation] = Counter()
    for citation, text in translation.pieces:
        if segment := segment_of.get(citation[:depth]):
            texts[segment].append(text)
        else:
            unknown[citation[:depth]] += len(text)
    if unknown:
        citations = [".".join(citation) or "no number" for citation in unknown]
        shown = f"{', '.join(citations[:10])}{', …' if len(citations) > 10 else ''}"
        logger.warning(
            "%s: %s characters are not read, because the source lacks their citations: %s", where,
            f"{unknown.total():,}", shown,
        )  # fmt: skip
    repeated = sorted({".".join(citation) for citation, _ in translation.repeated if len(citation) == depth})
    if repeated:
        logger.warning("%s: these citations occur twice, and their texts are joined: %s", where, ", ".join(repeated))
    return {segment: " ".join(parts) for segment, parts in texts.items()}


def _notes(
    translator: str, text: Edition, segment_of: Mapping[Citation, str], segments: Collection[str], depth: int
) -> list[SegmentAside]:
    """The notes on segments. All notes on a segment are joined into one aside."""
    notes: dict[str, list[str]] = defaultdict(list)
    for citation, note in text.notes:
        if (segment := segment_of.get(citation[:depth])) in segments:
            notes[str(segment)].append(note)
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
