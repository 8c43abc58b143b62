"""Diagnoses of outputs: defects that are visible without judging the meaning, with evidence.

Here: the choice among findings, and equal outputs of a model. Not here: rules on form and wording (metrics.packaging),
on text that addresses a judge (metrics.addressing), and on comparison with source and references (metrics.fidelity);
similarity in meaning (metrics.drift); rates over a corpus (metrics.summary).

No rule uses references of other passages. Correcting a reference therefore changes only the diagnoses of its passage.
"""

from collections.abc import Mapping
from types import MappingProxyType

import polars as pl

from benchmark_assets.corpus.trigrams import jaccard, trigrams
from benchmark_assets.metrics import fidelity, packaging
from benchmark_assets.metrics.addressing import addressing
from benchmark_assets.metrics.fidelity import NOTHING, UNKNOWN, ComparedPassage, Finding
from benchmark_assets.metrics.texts import MeasuredText
from benchmark_assets.metrics.unmeasured import Background, unlike_source

DIAGNOSES = [
    "empty", "refused", "preamble", "thinking", "markup", "mojibake", "copied", "wrong_script", "wrong_language",
    "repeated", "truncated", "other_passage",
]  # fmt: skip

_AROUND = ("preamble", "thinking")

ALIKE = 0.5
"""Two sources whose trigrams have at least this Jaccard similarity may have the same translation."""


def diagnose(
    outputs: pl.DataFrame, references: pl.DataFrame, sources: pl.DataFrame,
    known: Mapping[tuple[str, str], Background] = MappingProxyType({}),
) -> pl.DataFrame:  # fmt: skip
    """Diagnose each output.

    Parameters
    ----------
    outputs
        Columns `model`, `passage`, `text` and `twins` (list of passages as returned by `twins`; may be null or empty).
    references
        Columns `passage` and `text`: complete references, any number per passage.
    sources
        Columns `passage` and `text`, one row for each passage of `outputs`.
    known
        Backgrounds of the comparison with sources, by model and corpus (see `unmeasured.backgrounds`).

    Returns
    -------
    One row per output: columns `model`, `passage`, `DIAGNOSES` (boolean; null where undecidable, because there are no
    references or the text is too short), `addresses_judge` (boolean, null for an empty output) and `evidence` (''
    without a finding; never quotes a reference).
    """
    texts = references.group_by("passage").agg(references=pl.col("text"))
    rows = outputs.join(sources.select("passage", source="text"), on="passage", maintain_order="left")
    rows = rows.join(texts, on="passage", how="left", maintain_order="left")
    passages = {
        passage: ComparedPassage(source, human or [])
        for passage, source, human in rows.select("passage", "source", "references").unique("passage").iter_rows()
    }
    findings = [
        _diagnosed(
            MeasuredText(text),
            passages[passage],
            twins or [],
            known.get((model, passage.partition("/")[0]), Background()),
        )
        for model, passage, text, twins in rows.select("model", "passage", "text", "twins").iter_rows()
    ]
    schema = {**dict.fromkeys([*DIAGNOSES, "addresses_judge"], pl.Boolean()), "evidence": pl.String()}
    return pl.concat(
        [rows.select("model", "passage"), pl.DataFrame(findings, schema=schema, orient="row")], how="horizontal"
    )


def repeated(outputs: pl.DataFrame) -> pl.DataFrame:
    """The outputs that a model gives more than once, without surrounding whitespace: columns `model`, `passage`,
    `text`, like `outputs`, which has all outputs of each model."""
    return outputs.with_columns(pl.col("text").str.strip_chars()).filter(pl.struct("model", "text").is_duplicated())


def twins(outputs: pl.DataFrame, sources: pl.DataFrame) -> pl.DataFrame:
    """Find equal outputs by the same model for passages whose sources differ.

    `outputs` is the result of `repeated`; `sources` has columns `passage`, `text`. Returns columns `model`, `passage`,
    `twins` (the other passages, sorted), one row per output that has twins. Outputs without a source are ignored.
    """
    texts = sources.select("passage", "text").join(outputs, on="passage", how="semi")
    grams = {passage: trigrams(text) for passage, text in texts.iter_rows()}
    equal = outputs.join(texts, on="passage", how="semi", maintain_order="left")
    rows = [
        (model, passage, others)
        for (model, _), group in equal.group_by("model", "text", maintain_order=True)
        for passage in group["passage"]
        if (others := sorted(other for other in group["passage"] if jaccard(grams[passage], grams[other]) < ALIKE))
    ]
    schema = {"model": pl.String(), "passage": pl.String(), "twins": pl.List(pl.String)}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _diagnosed(
    text: MeasuredText, passage: ComparedPassage, twins: list[str], background: Background
) -> tuple[bool | str | None, ...]:
    """The columns `DIAGNOSES`, `addresses_judge` and `evidence` of one output."""
    if not any(letter.isalnum() for letter in text.text):
        return True, *[None] * len(DIAGNOSES), "no letters or digits"
    findings: dict[str, Finding] = {
        "markup": packaging.markup(text, passage),
        "mojibake": packaging.mojibake(text, passage),
        "copied": fidelity.copied(text, passage),
        "wrong_script": fidelity.wrong_script(text, passage),
        "wrong_language": fidelity.wrong_language(text, passage),
        "repeated": fidelity.repeated(text, passage, twins),
    }
    # Words that are garbled, repeated or those of the source have no meaning that could be compared.
    unread = any(findings[name][0] for name in ("mojibake", "copied")) or fidelity.repeated(text, passage, [])[0]
    findings["refused"] = NOTHING if unread else packaging.refused(text, passage)
    refused = findings["refused"][0]
    if refused:  # a model declines in its own language
        findings["wrong_language"] = NOTHING
    findings |= packaging.talk(text, passage) if not (unread or refused) else dict.fromkeys(_AROUND, NOTHING)
    if findings["thinking"][0]:
        findings["preamble"] = NOTHING
    foreign = any(findings[name][0] for name in ("copied", "wrong_script", "wrong_language"))
    spoiled = any(findings[name][0] for name in ("markup", "mojibake"))  # these hide how a text ends
    findings["truncated"] = NOTHING if refused or foreign else UNKNOWN if spoiled else fidelity.truncated(text, passage)
    # Few words in common with the references may indicate another language or another text, so both may be found.
    elsewhere = not refused and not findings["copied"][0] and not findings["wrong_script"][0]
    findings["other_passage"] = (
        NOTHING if not elsewhere
        else fidelity.other_passage(text, passage) if passage.references
        else unlike_source(text, passage.source.text, background)
    )  # fmt: skip
    ordered = [*(findings[name] for name in DIAGNOSES[1:]), addressing(text, passage)]
    return False, *(defect for defect, _ in ordered), "; ".join(words for _, words in ordered if words)
