"""The worked examples of a corpus as a page that one can read: source, references, outputs, votes and labels.

Here: HTML, and what of it may be shown. Not here: which outputs are examples (examples).
"""

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import NamedTuple

import polars as pl

from benchmark_assets.adjudication.labels import NO_CATEGORY
from benchmark_assets.audit.rated import anonymous
from benchmark_assets.corpus.rights import Disclosure, disclosure
from resources.warehouse import Warehouse

RULES = {
    "shared failure": "Passages of which several models made a major error",
    "far but valid": "Far from the references, and valid by every vote",
    "near but wrong": "Near the references, and a major error by people's labels",
    "split panel": "Outputs on which the panel fell apart",
}

STYLE = """
:root { color-scheme: light dark; }
body { font: 1rem/1.55 Georgia, serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.25; } h3 { margin-bottom: .3rem; }
article { border-top: 1px solid; padding: .3rem 0 1rem; }
dd p { margin: 0; }
dl { display: grid; grid-template-columns: minmax(7rem, auto) 1fr; gap: .35rem 1rem; margin: 0; }
dt { font-weight: bold; overflow-wrap: anywhere; } dd { margin: 0; white-space: pre-wrap; }
section.output { margin: .8rem 0 0; padding: .5rem .8rem; border-left: 4px solid; }
p.why, li { font-size: .92rem; } ul { margin: .3rem 0 0; padding-left: 1.2rem; }
"""


class _Rights(NamedTuple):
    """What of the texts may be shown (`texts`); annotators by `numbers`, or by name where there is none."""

    texts: Disclosure
    numbers: Mapping[str, str]


def page(warehouse: Warehouse, corpus: str, private: bool = False) -> str:
    """The page as HTML that needs nothing else.

    Parameters
    ----------
    private
        Whether restricted texts are shown, and with them outputs that repeat one, the words of judges and annotators,
        who may quote them, and annotators' names.
    """
    with warehouse.exclusively():  # the tables of one moment
        rows, rights = _examples(warehouse, corpus), _rights(warehouse, corpus, private)
        parts = [
            f"<h1>Worked examples: {escape(corpus)}</h1>",
            ""
            if rights.texts.words
            else "<p>Restricted texts are left out, and what judges and annotators say of them.</p>",
        ]
        for (rule,), own in rows.sort("rule").group_by("rule", maintain_order=True):
            parts.append(f"<h2>{escape(RULES[str(rule)])}</h2>")
            for (_, passage), some in own.sort("place", "model").group_by("place", "passage", maintain_order=True):
                parts += _article(warehouse, str(passage), some, rights)
    title = "PRIVATE, do not pass on: " if private else ""
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width"><title>{title}Worked examples: {escape(corpus)}</title>'
        f"<style>{STYLE}</style></head>\n<body>\n{chr(10).join(parts)}\n</body>\n</html>\n"
    )


def _examples(warehouse: Warehouse, corpus: str) -> pl.DataFrame:
    """Examples with source and output; one that lost either since the last update is left out."""
    rows = warehouse.read("worked_example", pl.DataFrame({"corpus": [corpus]}))
    sources = warehouse.read("source_text", rows.select("passage"), ["passage", "text", "language"])
    outputs = warehouse.read("model_output", rows.select("model", "passage"), ["model", "passage", "text"])
    found = rows.join(sources.rename({"text": "source"}), on="passage")
    return found.join(outputs.rename({"text": "output"}), on=["model", "passage"])


def _rights(warehouse: Warehouse, corpus: str, private: bool) -> _Rights:
    key = pl.DataFrame({"corpus": [corpus]})
    passages = warehouse.read("worked_example", key, ["passage"])
    translators = warehouse.read("reference", passages, ["translator"])["translator"]
    labels = warehouse.read("human_label", passages, ["annotator"])
    texts = disclosure(warehouse, corpus, translators, passages.unique(), private)
    return _Rights(texts, {} if private else anonymous(labels["annotator"]))


def _article(warehouse: Warehouse, passage: str, rows: pl.DataFrame, rights: _Rights) -> Iterator[str]:
    """A passage with the outputs of it that are examples."""
    key = pl.DataFrame({"passage": [passage]})
    source, language = rows.row(0, named=True)["source"], rows.row(0, named=True)["language"]
    references = warehouse.read("reference", key, ["translator", "text", "complete"]).filter("complete")
    yield f"<article><h3>{escape(passage)}</h3>"
    texts = [("", source, language), *((who, text, "") for who, text, _ in references.sort("translator").rows())]
    yield _list((who or "source", _text(text, tag, who in rights.texts.hidden)) for who, text, tag in texts)
    closed = rights.texts.withheld(rows.select("passage", text="output"))
    for model, why, text, hidden in rows.select("model", "why", "output", withheld=closed).iter_rows():
        own = pl.DataFrame({"model": [model], "passage": [passage]})
        yield f'<section class="output"><strong>{escape(model)}</strong>{_text(text, "", hidden)}'
        yield f'<p class="why">{escape(why)}</p><ul>'
        yield from _votes(warehouse, own, rights)
        yield "</ul></section>"
    yield "</article>"


def _votes(warehouse: Warehouse, output: pl.DataFrame, rights: _Rights) -> Iterator[str]:
    """What each judge and each person says."""
    votes = warehouse.read("judge_vote", output).sort("judge").fill_null("")
    for vote in votes.iter_rows(named=True):
        abstained = f"abstained: {vote['abstention']}" if rights.texts.words else "abstained"
        said = f"{_label(vote)}, confidence {vote['confidence']}" if vote["label"] else abstained
        yield _item(vote["judge"], said, [vote["cause"], vote["evidence"]] if rights.texts.words else [])
    labels = warehouse.read("human_label", output).sort("annotator")
    for given in labels.iter_rows(named=True):
        who = rights.numbers.get(given["annotator"], given["annotator"])
        said = f"{_label(given)}, severity {given['severity']}"
        yield _item(who, said, [given["notes"]] if rights.texts.words else [])


def _label(judgement: Mapping[str, str]) -> str:
    category = judgement["error_category"]
    return judgement["label"] if category == NO_CATEGORY else f"{judgement['label']} ({category})"


def _item(who: str, said: str, words: Iterable[str]) -> str:
    further = "".join(f"<br>{escape(each)}" for each in words if each)
    return f"<li>{escape(who)}: {escape(said)}{further}</li>"


def _list(entries: Iterable[tuple[str, str]]) -> str:
    return "<dl>" + "".join(f"<dt>{escape(name)}</dt><dd>{text}</dd>" for name, text in entries) + "</dl>"


def _text(text: str, language: str, hidden: bool) -> str:
    if hidden:
        return f"<em>restricted: {len(text)} characters</em>"
    tag = f' lang="{escape(language)}"' if language else ""
    return f'<p dir="auto"{tag}>{escape(text)}</p>'
