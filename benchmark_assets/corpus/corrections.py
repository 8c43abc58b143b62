"""Corrections of references: a file in which editors say what belongs to a segment of the source.

The file has JSON lines `{"segment": id, "translator": name, …}`, at most one for each segment and translator. A line
has one of these keys, or only a comment:

- `text`: the text of the segment in a continuous translation; null if the translator left the segment out. Such
  segments are not aligned automatically, but are verified like all others.
- `right: true`: a doubted pair of a segmented reference is right; with the id of a document in place of a segment's,
  all pairs of the document are.
- `wrong: true`: the text does not translate the segment, in a segmented reference or a continuous translation. The pair
  is doubted by hand (corpus.pairs), and the translator's reference of the passage is incomplete.

Beside these, `author`, `time`, `comment` and `replaces`, which lists the digests of former lines of the segment. Git
merges the file line by line and keeps the lines of both sides (`merge=union`): a line that another one replaces does
not count. Here: reading, checking and saving the file. Not here: the page on which people correct (reporting.reader),
texts of segmented references, which are edited in the translators' own files.
"""

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from benchmark_assets.corpus.description import Description
from benchmark_assets.corpus.model import Document
from benchmark_assets.corpus.readers.characters import clean, decode
from benchmark_assets.corpus.readers.strict_json import parse
from benchmark_assets.corpus.readers.unknown_keys import FIXED, unknown_keys
from resources import locks
from resources.errors import BadInput, collecting, one_of, raise_all

Corrections = Mapping[tuple[str, str], str | None]
"""Texts by segment id and translator."""

NEEDED = ("segment", "translator")
TEXT, RIGHT, WRONG = SAID = ("text", "right", "wrong")
NOTED = ("author", "time", "comment")
REPLACES = "replaces"
KEYS = (*NEEDED, *SAID, *NOTED, REPLACES)
"""Keys of a line, in the order in which they are saved."""

FILE = "corrections.jsonl"
"""Name of the file, beside the description, if the description names none yet."""


class CorrectionLine(NamedTuple):
    """A line of the file: its number from 1, the line as it stands there, and its content."""

    number: int
    line: str
    record: dict[str, Any]

    @property
    def key(self) -> tuple[str, str]:
        """Segment or document, and translator."""
        return self.record["segment"], self.record["translator"]

    @property
    def digest(self) -> str:
        """Name of the line, by which a later one replaces it."""
        return blake2b(self.line.encode(), digest_size=6).hexdigest()


Lines = Mapping[tuple[str, str], CorrectionLine]
"""Lines that count, by segment or document, and translator."""


class Change(NamedTuple):
    """What an editor saves for a segment and translator.

    `base` is the digest of the line on which the change is based, '' if there was none. `record` has the keys of SAID
    and `comment`; it is empty if the correction is taken back.
    """

    segment: str
    translator: str
    base: str
    record: Mapping[str, Any]


class Overtaken(Exception):  # noqa: N818 - not an error of the program
    """Changes whose segment another editor has corrected meanwhile, each with the line that is there now, if any."""

    def __init__(self, pairs: Sequence[tuple[Change, CorrectionLine | None]]) -> None:
        super().__init__(", ".join(change.segment for change, _ in pairs))
        self.pairs = pairs


def lines(description: Description) -> list[CorrectionLine]:
    """The lines that count, in the order of the file; none if the description names no file of corrections.

    Raises
    ------
    BadInput
        If the file cannot be read, a line is malformed, the translator is unknown, a text is for a translator without a
        continuous translation, or two lines are for one segment and translator and neither replaces the other.
        All faults are raised together.
    """
    path = description.corrections
    if path is None:
        return []
    found: list[CorrectionLine] = []
    faults: list[BadInput] = []
    for number, text in enumerate(decode(path).split("\n"), start=1):
        with collecting(faults):
            if text.strip():
                line = CorrectionLine(number, text.strip(), parse(text, path, number))
                _check_line(line, description, path)
                found.append(line)
    replaced = {name for line in found for name in line.record.get(REPLACES, [])}
    standing = [line for line in found if line.digest not in replaced]
    taken: dict[tuple[str, str], CorrectionLine] = {}
    for line in standing:
        first = taken.setdefault(line.key, line)
        if first is not line and not (RIGHT in first.record and RIGHT in line.record):
            where, problem = f"line {line.number} {line.key[0]}", "the segment is corrected twice"
            faults.append(BadInput(path, where, problem, "keep one of the lines"))
    raise_all(faults)
    return standing


def load(description: Description) -> Corrections:
    """Texts that editors set by hand, by segment and translator. Raises BadInput like `lines`."""
    return {line.key: line.record[TEXT] for line in lines(description) if TEXT in line.record}


def marked(description: Description, verdict: str) -> frozenset[tuple[str, str]]:
    """Segments or documents, and translators, whose pairs a person calls RIGHT or WRONG. Raises as `lines`."""
    return frozenset(line.key for line in lines(description) if verdict in line.record)


def _check_line(line: CorrectionLine, description: Description, path: Path) -> None:
    """Raise BadInput for a line that cannot be used. A text is replaced by its clean form."""
    record, where = line.record, f"line {line.number}"
    raise_all(unknown_keys(path, dict.fromkeys(record, where), KEYS, FIXED))
    verdicts = [key for key in SAID if key in record]
    named = all(isinstance(record.get(key), str) for key in NEEDED)
    for verdict in {RIGHT, WRONG} & {*verdicts}:
        if not named or len(verdicts) > 1 or record[verdict] is not True or line.key[1] not in description.references:
            remedy = f"write the id of a segment or document, one of {', '.join(description.references)}, and true"
            raise BadInput(path, where, f"does not say which pair is {verdict}", remedy)
    if not named or not (verdicts or record.get("comment")):
        raise BadInput(
            path, where, "needs exactly the keys segment, translator and text", "write these three keys; in place of "
            "text, `right: true`, `wrong: true` or a comment",
        )  # fmt: skip
    if bad := [key for key in NOTED if not isinstance(record.get(key, ""), str)]:
        raise BadInput(path, f"{where} {bad[0]}", "is not a text", "write a text in quotation marks")
    former = record.get(REPLACES, [])
    if not isinstance(former, list) or not all(isinstance(name, str) for name in former):
        raise BadInput(path, f"{where} {REPLACES}", "is not a list of digests", "leave the key out")
    if TEXT not in record:
        if line.key[1] not in description.references:
            remedy = f"name {one_of(sorted(description.references))}"
            raise BadInput(path, f"{where} {line.key[1]}", "is no translator of the corpus", remedy)
        return
    text = record[TEXT]
    if not (text is None or (isinstance(text, str) and text.strip())):
        remedy = "write the text, or null if the translator left the segment out"
        raise BadInput(path, f"{where} text", "is neither a text nor null", remedy)
    if line.key[1] not in description.continuous:
        remedy = f"name {one_of(sorted(description.continuous))}, or edit the translator's own files"
        problem = "this translator has no continuous translation in the corpus"
        raise BadInput(path, f"{where} {line.key[1]}", problem, remedy)
    record[TEXT] = clean(text, path, f"{where} text").strip() if text else None


def check(description: Description, documents: list[Document]) -> None:
    """Check that every line names an existing segment, and a text a translator who translated the segment's document.
    A line about a right pair may name a document.

    Raises
    ------
    BadInput
        For all lines that fail the check.
    """
    path = description.corrections
    standing = lines(description)
    translators = {
        segment.id: {prose.translator for prose in document.prose}
        for document in documents
        for passage in document.passages
        for segment in passage.segments
    }
    faults = []
    for segment, translator in sorted(line.key for line in standing if RIGHT not in line.record):
        remedy = "correct the id or the translator, or drop the line"
        if segment not in translators:
            faults.append(BadInput(path, segment, "the corpus has no such segment", remedy))
        elif translator in description.continuous and translator not in translators[segment]:
            problem = f"{translator} has no translation of this segment's document"
            faults.append(BadInput(path, segment, problem, remedy))
    first = {passage.id: passage.segments[0].id for document in documents for passage in document.passages}
    of_pairs = {line.key[0] for line in standing if RIGHT in line.record}
    for id in sorted(of_pairs - translators.keys() - {document.id for document in documents}):
        problem = "is a passage" if id in first else "the corpus has no such segment or document"
        remedy = f"write the id of a segment{f', such as {first[id]},' if id in first else ''} or of a document"
        faults.append(BadInput(path, id, problem, remedy))
    raise_all(faults)


def save(
    description: Description, place: Path, changes: Sequence[Change], author: str, time: str,
    check: Callable[[Lines], None] = lambda _: None,
) -> None:  # fmt: skip
    """Save changes to the corpus's file of corrections, all or none: a line for each segment and translator, sorted.

    A description without such a file gets one, `FILE` beside it. The lines of others are kept as they are.

    Parameters
    ----------
    place
        The file of the description.
    time
        Time of the changes, ISO 8601.
    check
        Raises BadInput if the lines that would count after the changes may not be saved. No other editor saves
        meanwhile.

    Raises
    ------
    Overtaken
        If a line on which a change is based is no longer the one that counts.
    BadInput
        If a change is malformed (as in `lines`), occurs twice, or a file cannot be written.
    """
    if twice := [name for name, count in Counter(change[:2] for change in changes).items() if count > 1]:
        raise BadInput("corrections", twice[0][0], "is changed twice", "send one change for each segment")
    path = description.corrections or place.resolve().with_name(FILE)
    with _locked(path):
        if description.corrections is None:
            description = _with_file(description, place, path)
        standing = {line.key: line for line in lines(description)}
        pairs = [(change, standing.get((change.segment, change.translator))) for change in changes]
        if overtaken := [pair for pair in pairs if (pair[1].digest if pair[1] else "") != pair[0].base]:
            raise Overtaken(overtaken)
        for change, former in pairs:
            standing.pop((change.segment, change.translator), None)
            if change.record:
                line = _line(change, former, author, time)
                _check_line(line, description, path)
                standing[line.key] = line
        check(standing)
        _replace(path, "".join(f"{standing[key].line}\n" for key in sorted(standing)))
        _let_git_unite(path)


def _line(change: Change, former: CorrectionLine | None, author: str, time: str) -> CorrectionLine:
    """The line of a change. Its text is the one that is saved: `clean` changes only the record."""
    replaces = [*former.record.get(REPLACES, []), former.digest] if former else []
    record = {
        "segment": change.segment, "translator": change.translator, **change.record, "author": author, "time": time,
        REPLACES: replaces,
    }  # fmt: skip
    names = [*(key for key in KEYS if key in record), *(key for key in record if key not in KEYS)]
    kept = {key: record[key] for key in names if key in (*NEEDED, *SAID) or record[key]}
    return CorrectionLine(0, json.dumps(kept, ensure_ascii=False), kept)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Lock the folder of a file, so that no lock file lies among an editor's files."""
    try:
        folder = os.open(path.parent, os.O_RDONLY)
    except OSError as error:
        raise BadInput(path.parent, "", f"cannot be opened ({error.strerror})", "correct the path") from error
    try:
        locks.exclusive(folder)
        yield
    finally:
        os.close(folder)


def _with_file(description: Description, place: Path, path: Path) -> Description:
    """Make an empty file of corrections, and name it in the description, unless another editor just did."""
    text = decode(place)
    named = text.rstrip("\n") + f"\ncorrections: {FILE}\n"
    try:
        before, after = yaml.safe_load(text), yaml.safe_load(named)
    except yaml.YAMLError:
        before = after = None
    if not isinstance(before, dict) or after != {**before, "corrections": before.get("corrections", FILE)}:
        remedy = f"add `corrections: {FILE}`"
        raise BadInput(place, "corrections", "names no file in which corrections could be saved", remedy)
    if not path.exists():
        _replace(path, "")
    if "corrections" not in before:
        _replace(place.resolve(), named)
    return description.model_copy(update={"corrections": path})


def _let_git_unite(path: Path) -> None:
    """Have git keep the lines of both sides of a merge, which a person may have said otherwise about this file."""
    attributes = path.with_name(".gitattributes")
    stated = decode(attributes) if attributes.exists() else ""
    if path.name not in stated.split():
        _replace(
            attributes, f"{stated}{'' if stated.endswith(chr(10)) or not stated else chr(10)}{path.name} merge=union\n"
        )


def _replace(path: Path, text: str) -> None:
    """Write a file completely or not at all; it keeps its mode, and a link leads to the new file."""
    path = path.resolve()
    draft = path.with_name(f".{path.name}.new")
    try:
        with draft.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            locks.flush(file.fileno())
        if path.exists():
            shutil.copymode(path, draft)
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise BadInput(path, "", f"cannot be written ({error.strerror})", "correct its permissions") from error
