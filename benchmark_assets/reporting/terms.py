"""The words of Variorum and their meanings, for pages and documentation: the only place that explains them.

Here: meanings, and HTML and Markdown made of them. Not here: meanings of tables and columns (the catalogue), which
text is explained (report.page, reader.writing). `docs/index.md` repeats `markdown()`, which a test compares.
"""

import re
from collections.abc import Iterable
from html import escape
from textwrap import fill

TERMS = {
    "passage": "The unit of text that is translated and scored, such as a paragraph or a stanza. Its id is "
    "`corpus/document:number`.",
    "segment": "The smallest unit that source and translations share, such as a sentence or a verse. A passage has one "
    "or more.",
    "verbatim": "Found word for word in a translator's prose. Text that is normalized differs from the prose in marks "
    "or case only; expanded text spells out an abbreviation of the prose; suspicious text should be looked at.",
    "reference": "A human translation of a passage.",
    "output": "A model's translation of a passage.",
    "envelope": "Where the references of a passage lie in the space of an embedder: their centroid, and their spread "
    "around it.",
    "drift": "The distance of an output from the centroid, divided by the spread. At 1, the output is as far away as "
    "the references are on average. Distance is not error.",
    "adjusted drift": "The mean distance of an output from the references, divided by their mean distance from each "
    "other: drift that does not grow if there are fewer references.",
    "similarity": "The cosine of the embeddings of two texts, at most 1; on boards, that of an output and its closest "
    "reference.",
    "closest reference": "The reference to which an output is most similar.",
    "band": "A range of drift, such as 1.0-1.5, or of what the band's name begins with.",
    "outlier": "An output whose drift is above the threshold, by default 2. It is a reason to look, not an error.",
    "fault": "What is visibly wrong with an output without judging its meaning, such as a refusal or an output that "
    "stops early.",
    "panel": "The judges, models themselves, that label the outputs in the queue of the audit.",
    "verdict": "What a panel of judges decides about an output: valid variation, minor error, major error, or "
    "uncertain.",
    "label": "What one person or one judge says about an output, in the same words as a verdict.",
    "unit": "Passages that may depend on each other and count as one observation: a document, or a few passages in a "
    "row if there are fewer than five documents.",
    "interval": "Values that agree with what was observed: in 95 of 100 such studies, it holds the true value. There "
    "is none with fewer than five units.",
    "margin": "The largest difference in a measure that counts as none.",
    "cluster": "Models that a measure does not tell apart.",
    "home": "The folder with everything that Variorum stores; `VARIORUM_HOME` names it.",
    "stale": "A row whose inputs or method have changed since it was computed.",
}
"""Each word and its meaning, in the order in which they are read."""

LABELING = ("passage", "segment", "reference", "output", "label")
"""Words of a page on which people label outputs, whose scores it does not show."""

_LONGEST_FIRST = sorted(TERMS, key=len, reverse=True)
_WORD = re.compile(rf"(?<![\w<>/-])({'|'.join(map(re.escape, _LONGEST_FIRST))})(s?)(?![\w>-])", re.IGNORECASE)
_CODE = re.compile(r"`([^`]*)`")


def explained(html: str) -> str:
    """HTML of a paragraph without links, in which code may stand between backticks.

    The first occurrence of each word becomes a link to the glossary (`glossary`) that shows the meaning while a reader
    points at it or has moved to it by keyboard. What stands between backticks becomes code.
    """
    seen: set[str] = set()

    def link(found: re.Match[str]) -> str:
        word = found[1].lower()
        if word in seen or (word == "unit" and found.string.startswith(" of", found.end())):  # in units of the spread
            return found[0]
        seen.add(word)
        meaning = escape(_CODE.sub(r"\1", TERMS[word]))
        return f'<a class="term" href="#{_id(word)}" data-meaning="{meaning}">{found[0]}</a>'

    parts = _CODE.split(html)
    return "".join(f"<code>{part}</code>" if at % 2 else _WORD.sub(link, part) for at, part in enumerate(parts))


def glossary(words: Iterable[str] = TERMS) -> str:
    """Words and their meanings as the items of an HTML list of definitions."""
    return "\n".join(
        f'<dt id="{_id(word)}">{word}</dt><dd>' + _CODE.sub(r"<code>\1</code>", escape(TERMS[word])) + "</dd>"
        for word in words
    )


def markdown() -> str:
    """Words and their meanings as a list of definitions in Markdown."""
    return "\n\n".join(f"{word}\n{fill(f': {meaning}', 120)}" for word, meaning in TERMS.items())


def _id(word: str) -> str:
    return f"term-{word.replace(' ', '-')}"
