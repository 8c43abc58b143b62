"""The worked examples of a corpus as a page that one can read: source, references, outputs, votes and labels.

Here: HTML, and what of it may be shown. Not here: which outputs are examples (examples).
"""

from collections.abc import Iterable, Iterator, Mapping
from html import escape

import polars as pl

from benchmark_assets.adjudication.labels import NO_CATEGORY
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


def page(warehouse: Warehouse, corpus: str, private: bool = False) -> str:
    """The page as HTML that needs nothing else.

    Parameters
    ----------
    private
        Whether restricted texts are shown, and with them the words of judges and annotators, who may quote them.
    """
    key = pl.DataFrame({"corpus": [corpus]})
    examples = warehouse.read("worked_example", key)
    rights = warehouse.read("licence", key, ["translator", "restricted"])
    hidden = set() if private else set(rights.filter("restricted")["translator"])
    words = private or not hidden
    parts = [
        f"<h1>Worked examples: {escape(corpus)}</h1>",
        "" if words else "<p>Restricted texts are left out, and what judges and annotators say of them.</p>",
    ]
    for (rule,), own in examples.sort("rule").group_by("rule", maintain_order=True):
        parts.append(f"<h2>{escape(RULES[str(rule)])}</h2>")
        for (_, passage), rows in own.sort("place", "model").group_by("place", "passage", maintain_order=True):
            parts += _article(warehouse, str(passage), rows, hidden, words)
    title = "PRIVATE, do not pass on: " if private and len(rights.filter("restricted")) else ""
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width"><title>{title}Worked examples: {escape(corpus)}</title>'
        f"<style>{STYLE}</style></head>\n<body>\n{chr(10).join(parts)}\n</body>\n</html>\n"
    )


def _article(warehouse: Warehouse, passage: str, rows: pl.DataFrame, hidden: set[str], words: bool) -> Iterator[str]:
    """A passage with the outputs of it that are examples."""
    key = pl.DataFrame({"passage": [passage]})
    source = warehouse.read("source_text", key, ["text", "language"])
    references = warehouse.read("reference", key, ["translator", "text", "complete"]).filter("complete")
    yield f"<article><h3>{escape(passage)}</h3>"
    texts = [("source", "", *source.row(0)), *((t, t, text, "") for t, text, _ in references.sort("translator").rows())]
    yield _list((name, _text(text, language, who in hidden)) for name, who, text, language in texts)
    outputs = rows.select("model", "passage").join(
        warehouse.read("model_output", rows.select("model", "passage")), on=["model", "passage"], maintain_order="left"
    )
    for model, why, text in zip(rows["model"], rows["why"], outputs["text"], strict=True):
        own = pl.DataFrame({"model": [model], "passage": [passage]})
        yield f'<section class="output"><strong>{escape(model)}</strong>{_text(text, "", hidden=False)}'
        yield f'<p class="why">{escape(why)}</p><ul>'
        yield from _votes(warehouse, own, words)
        yield "</ul></section>"
    yield "</article>"


def _votes(warehouse: Warehouse, output: pl.DataFrame, words: bool) -> Iterator[str]:
    """What each judge and each person says."""
    votes = warehouse.read("judge_vote", output).sort("judge").fill_null("")
    for vote in votes.iter_rows(named=True):
        said = (
            f"{_label(vote)}, confidence {vote['confidence']}" if vote["label"] else f"abstained: {vote['abstention']}"
        )
        yield _item(vote["judge"], said, [vote["cause"], vote["evidence"]] if words else [])
    labels = warehouse.read("human_label", output).sort("annotator")
    for given in labels.iter_rows(named=True):
        said = f"{_label(given)}, severity {given['severity']}"
        yield _item(given["annotator"], said, [given["notes"]] if words else [])


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
