"""Verification by the published stages of PaliBench, faults included.

Here: the rules of its program (code/pipeline/verify_alignment.py; PaliBench Contributors, CC BY 4.0). Not here: the
project's own verification, which also checks places and extents (verification, extent).

Named faults: the program means to unify quotation marks, but its lists lack the curly ones; its pattern for verses has
a capital, and the text in which it is searched has none, so that it never matches. Neither the order of segments nor
the repeated use of a place is checked, and segments that occur by chance count as found.
"""

import re
import unicodedata
from collections.abc import Collection, Sequence
from functools import cached_property

from benchmark_assets.alignment.nearest import Nearest
from benchmark_assets.alignment.placement import Concordance
from benchmark_assets.alignment.verification import (
    CROSS_REFERENCE,
    EXPANDED,
    NO_TEXT,
    NORMALIZED,
    SUSPICIOUS,
    VERBATIM,
    Finding,
)

BY_HAND = "by hand"

EVIDENCE = {
    EXPANDED: "may spell out an abbreviation, by the published rules",
    CROSS_REFERENCE: "may be in a text to which the prose refers, by the published rules",
    SUSPICIOUS: "not found by the published rules",
}

_REFERENCES = [
    r"identical with those of \d+:\d+", r"cites.*entire discourse of \d+:\d+", r"see \d+:\d+",
    r"\[\d+[–-]\d+\].*\.\.\.", r"The verses? (?:is|are) (?:the same|identical)", r"as in \d+:\d+", r"omitted.*see",
]  # fmt: skip
_FORMULAS = (
    "excellent", "righting the overturned", "revealing the hidden", "pointing out the path", "lighting a lamp",
    "that's what i said", "why did i say it",
)  # fmt: skip
_WINDOWS = (10, 7, 5, 4, 3)


def published_findings(texts: Sequence[str | None], prose: str, by_hand: Collection[int] = ()) -> list[Finding]:
    """One finding per segment, by the stages of the published program.

    The place of a text that does not occur verbatim is the most similar one. `by_hand` are the indices of corrected
    texts, which are never suspicious.
    """
    program, text = PublishedStages(prose), Concordance(prose)
    nearest = Nearest(text.form)
    findings: list[Finding] = []
    for at, segment in enumerate(texts):
        stage = program.stage(segment) if segment else None
        if not segment or not stage:
            findings.append(NO_TEXT)
            continue
        start, end, likeness = prose.find(segment), prose.find(segment) + len(segment), 1.0
        if start < 0:
            start, end, likeness = nearest.find(text.look_up(segment.strip()).form, (0, len(prose)))
        shown = BY_HAND if stage == SUSPICIOUS and at in by_hand else stage
        findings.append(Finding(shown, start, end, likeness, True, EVIDENCE.get(shown, "")))
    return findings


class PublishedStages:
    """The stages of the published program for segments of one continuous translation."""

    def __init__(self, prose: str) -> None:
        self._prose = prose
        self._normal, self._unnumbered = normalized(prose), normalized(prose, numbers=False)
        self._stripped, self._lower = stripped(self._normal), self._normal.lower()
        self._abbreviates = "..." in prose or "…" in prose

    @cached_property
    def _refers(self) -> bool:
        return any(re.search(pattern, self._prose.lower()) for pattern in _REFERENCES)

    def stage(self, segment: str) -> str | None:
        """The stage at which a segment's text is found; None for ''."""
        if not segment:
            return None
        if segment in self._prose:
            return VERBATIM
        normal = normalized(segment)
        bare = stripped(normal)
        if normal in self._normal or (len(bare) > 10 and bare in self._stripped):
            return NORMALIZED
        if normalized(segment, numbers=False) in self._unnumbered:
            return NORMALIZED
        if self._expands(normal):
            return EXPANDED
        return CROSS_REFERENCE if self._refers and self._may_be_elsewhere(normal) else SUSPICIOUS

    def _expands(self, segment: str) -> bool:
        words = segment.split()
        if len(words) < 4:
            return self._abbreviates and self._shortly_expands(segment, words)
        for size in _WINDOWS:
            windows = [" ".join(words[at : at + size]) for at in range(len(words) - size + 1)]
            if windows and sum(window in self._normal for window in windows) / len(windows) > 0.20:
                return True
        if " ".join(words[:4]) in self._normal or " ".join(words[-4:]) in self._normal:
            return True
        if not self._abbreviates:
            return False
        content = _content(words)
        if len(content) >= 2 and self._known(content) >= len(content) * 0.4:
            return True
        return any(formula in segment.lower() for formula in _FORMULAS)

    def _shortly_expands(self, segment: str, words: Sequence[str]) -> bool:
        long = [word for word in words if len(word) > 3]
        if long and self._known(long) >= len(long) * 0.5:
            return True
        bare = stripped(segment)
        return bool(bare) and bare in self._stripped

    def _may_be_elsewhere(self, segment: str) -> bool:
        words = segment.split()
        return len(words) <= 3 or self._known(_content(words)) >= 1

    def _known(self, words: Sequence[str]) -> int:
        return sum(word.lower() in self._lower for word in words)


def normalized(text: str, *, numbers: bool = True) -> str:
    """Text with simple marks and blanks, and without numbers of lists unless `numbers`."""
    text = unicodedata.normalize("NFKC", text)
    text = re.sub('["„‟❝❞〝〞]', '"', text)
    text = re.sub("['‚‛❛❜`]", "'", text)
    text = re.sub("[–—―‐‑‒]", "-", text)
    text = re.sub(r"\.{2,}|…", "...", text)
    text = re.sub(r"\s+", " ", text).strip()
    return text if numbers else re.sub(r"^\d+\.\s*", "", re.sub(r"\(\d+\)\s*", "", text))


def stripped(text: str) -> str:
    """Text in lower case, without marks."""
    return re.sub(r"[^\w\s]", "", text).lower()


def _content(words: Sequence[str]) -> list[str]:
    return [word for word in words if len(word) > 3 and word.isalpha()]
