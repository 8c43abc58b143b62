"""The worked examples of a corpus as an HTML page: source, references, outputs, votes and labels.

Not here: the selection of examples (audit.examples), the page around them (page).
"""

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import NamedTuple

import polars as pl

from benchmark_assets.adjudication.labels import NO_CATEGORY, WORDS
from benchmark_assets.audit.rated import anonymous
from benchmark_assets.corpus.rights import Disclosure, disclosure
from benchmark_assets.reporting.report.page import document
from resources.warehouse import Warehouse

RULES = {
    "shared failure": "Passages with a major error by several models",
    "far but valid": "Far from the references, but valid by every vote",
    "near but wrong": "Near the references, but a major error according to people's labels",
    "split panel": "Outputs on which the panel is split",
}


class _Rights(NamedTuple):
    """Which texts may be shown, and which annotators have a pseudonym. Other annotators are shown by name."""

    texts: Disclosure
    pseudonyms: Mapping[str, str]


def examples_page(warehouse: Warehouse, corpus: str, private: bool = False) -> str:
    """The page of a corpus as self-contained HTML.

    Parameters
    ----------
    private
        Whether to show restricted texts, outputs that repeat them, remarks of judges and annotators (which may quote
        them), and annotators' names.
    """
    with warehouse.consistently():
        rows, rights = _examples(warehouse, corpus), _rights(warehouse, corpus, private)
        body = []
        for (rule,), examples in rows.sort("rule", "place", "model").group_by("rule", maintain_order=True):
            body.append(f"<h2>{escape(RULES[str(rule)])}</h2>")
            for (_, passage), group in examples.group_by("place", "passage", maintain_order=True):
                body += _article(warehouse, str(passage), group, rights)
    omitted = "" if private else "<p>Restricted texts and the remarks of judges and annotators are omitted.</p>"
    warning = "PRIVATE, do not pass on: " if private else ""
    return document(f"{warning}Worked examples: {corpus}", omitted, "\n".join(body))


def _examples(warehouse: Warehouse, corpus: str) -> pl.DataFrame:
    """Examples with columns `source`, `language` and `output`, except examples whose source or output was removed."""
    rows = warehouse.read("worked_example", pl.DataFrame({"corpus": [corpus]}))
    sources = warehouse.read("source_text", rows.select("passage"), ["passage", "text", "language"])
    outputs = warehouse.read("model_output", rows.select("model", "passage"), ["model", "passage", "text"])
    with_source = rows.join(sources.rename({"text": "source"}), on="passage")
    return with_source.join(outputs.rename({"text": "output"}), on=["model", "passage"])


def _rights(warehouse: Warehouse, corpus: str, private: bool) -> _Rights:
    key = pl.DataFrame({"corpus": [corpus]})
    passages = warehouse.read("worked_example", key, ["passage"])
    translators = warehouse.read("reference", passages, ["translator"])["translator"]
    labels = warehouse.read("human_label", passages, ["annotator"])
    texts = disclosure(warehouse, corpus, translators, private)
    return _Rights(texts, {} if private else anonymous(labels["annotator"]))


def _article(warehouse: Warehouse, passage: str, rows: pl.DataFrame, rights: _Rights) -> Iterator[str]:
    """HTML of a passage: its source, its references, and the outputs shown as examples."""
    key = pl.DataFrame({"passage": [passage]})
    source, language = rows.row(0, named=True)["source"], rows.row(0, named=True)["language"]
    references = warehouse.read("reference", key, ["translator", "text", "complete"]).filter("complete")
    yield f"<article><h3>{escape(passage)}</h3>"
    texts = [("", source, language), *((name, text, "") for name, text, _ in references.sort("translator").rows())]
    entries = ((name or "source", _text(text, tag, name in rights.texts.hidden)) for name, text, tag in texts)
    yield f"<dl>{''.join(f'<dt>{escape(name)}</dt><dd>{text}</dd>' for name, text in entries)}</dl>"
    withheld = rights.texts.withheld(rows.select("model", "passage", text="output"))
    for model, why, text, hidden in rows.select("model", "why", "output", withheld=withheld).iter_rows():
        key = pl.DataFrame({"model": [model], "passage": [passage]})
        yield f'<section class="output"><strong>{escape(model)}</strong>{_text(text, "", hidden)}'
        yield f'<p class="why">{escape(why)}</p><ul>'
        yield from _votes(warehouse, key, rights)
        yield "</ul></section>"
    yield "</article>"


def _votes(warehouse: Warehouse, output: pl.DataFrame, rights: _Rights) -> Iterator[str]:
    """Each judge's vote and each person's label, as list items."""
    votes = warehouse.read("judge_vote", output).sort("judge").fill_null("")
    for vote in votes.iter_rows(named=True):
        abstained = f"abstained: {vote['abstention']}" if rights.texts.words else "abstained"
        judgement = f"{_label(vote)}, confidence {vote['confidence']}" if vote["label"] else abstained
        yield _item(vote["judge"], judgement, [vote["cause"], vote["evidence"]] if rights.texts.words else [])
    labels = warehouse.read("human_label", output).sort("annotator")
    for row in labels.iter_rows(named=True):
        annotator = rights.pseudonyms.get(row["annotator"], row["annotator"])
        judgement = f"{_label(row)}, severity {row['severity']}"
        yield _item(annotator, judgement, [row["notes"]] if rights.texts.words else [])


def _label(judgement: Mapping[str, str]) -> str:
    label, category = WORDS[judgement["label"]], judgement["error_category"]
    return label if category == NO_CATEGORY else f"{label} ({WORDS[category]})"


def _item(rater: str, judgement: str, remarks: Iterable[str]) -> str:
    further = "".join(f"<br>{escape(remark)}" for remark in remarks if remark)
    return f"<li>{escape(rater)}: {escape(judgement)}{further}</li>"


def _text(text: str, language: str, hidden: bool) -> str:
    if hidden:
        return f"<em>restricted: {len(text)} characters</em>"
    tag = f' lang="{escape(language)}"' if language else ""
    return f'<p dir="auto"{tag}>{escape(text)}</p>'
