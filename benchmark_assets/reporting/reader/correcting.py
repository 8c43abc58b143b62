"""The page on which editors correct references: what it shows of a document, and what it saves.

Here: texts with their places in the prose, doubts and corrections of a document; the queue of doubts of a corpus;
checks of what a browser sends. Not here: addresses and who may save (serving), the file (corpus.corrections), what runs
in the browser (corrections.js).
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import polars as pl

from benchmark_assets.alignment.units import units
from benchmark_assets.alignment.verification import SUSPICIOUS, with_ids
from benchmark_assets.corpus import corrections
from benchmark_assets.corpus.corrections import Change, CorrectionLine
from benchmark_assets.corpus.description import Description
from benchmark_assets.corpus.pairs import CALLED_WRONG
from benchmark_assets.corpus.registry import current, paths
from benchmark_assets.corpus.rights import disclosure
from benchmark_assets.reporting.reader.content import Record
from resources.errors import BadInput, one_of
from resources.warehouse import Warehouse

SHOWN = (*corrections.SAID, *corrections.NOTED)
"""Keys of a correction that the page shows."""

LABELS = pl.when(pl.col("segment_ids").list.len() > 1).then("segment_ids").otherwise(pl.concat_list("passage_id"))
"""The segments of a passage as pages show them: the only one as the passage, as in the reader."""

Place = tuple[str, str]
"""A segment or document, and a translator."""


def shown(warehouse: Warehouse, corpus: str, where: str, private: bool) -> Record:
    """A document with its references, and the queue of doubts of its corpus.

    Parameters
    ----------
    where
        Id of a passage or document; '' for the first document in doubt, or else the first one.
    private
        Whether to include restricted texts, and evidence, which may quote them.

    Raises
    ------
    BadInput
        For an unknown corpus, passage or document, or an unusable description or file of corrections.
    """
    description = current(warehouse, corpus)
    standing = {line.key: line for line in corrections.lines(description)}
    key = pl.DataFrame({"corpus": [corpus]})
    with warehouse.consistently():
        places = warehouse.read("source_text", key, ["passage", "passage_id", "document", "position", "segment_ids"])
        places = places.sort("document", "position")
        hidden = disclosure(warehouse, corpus, description.references, private).hidden
        queue = list(_queue(warehouse, places, standing, hidden))
        chosen = str(where or (queue[0]["passage"] if queue else places["passage_id"].first() or ""))
        document = places.filter((pl.col("passage_id") == chosen) | (pl.col("document") == chosen))["document"]
        if document.is_empty():
            remedy = (
                "write the id of a passage or document, as `variorum trace` does; after a change of files scan them"
            )
            raise BadInput(chosen or corpus, "", "no such passage or document", remedy)
        sources = warehouse.read("source_text", places.filter(document=document[0]).select("passage"))
        sources = sources.sort("position")
        translators = [
            _translator(warehouse, description, sources, name, standing, hidden) for name in description.references
        ]
    return {
        "corpus": corpus, "document": document[0], "passage": "" if chosen == document[0] else chosen,
        "documents": places["document"].unique(maintain_order=True).to_list(), "language": description.source.language,
        "target": description.target_language, "queue": queue, "translators": translators,
        "source": [
            {"passage": passage, "id": id, "text": None if "" in hidden else text, "characters": len(text)}
            for passage, ids, texts in sources.select("passage_id", "segment_ids", "segments").iter_rows()
            for id, text in zip(ids, texts, strict=True)
        ],
    }  # fmt: skip


def _queue(
    warehouse: Warehouse, places: pl.DataFrame, standing: Mapping[Place, CorrectionLine], hidden: frozenset[str]
) -> Iterator[dict[str, object]]:
    """Doubts in the order of the text: passages without credible text, suspicious segments, doubted pairs. Those that
    an editor has settled are marked."""
    passages = places.select("passage")
    columns = ["passage", "translator", "segment_id", "evidence"]
    doubts = warehouse.read("alignment", passages, ["passage", "translator", "doubt"]).drop_nulls("doubt")
    first = places.select("passage", segment_id=pl.col("segment_ids").list.first())
    suspicious = warehouse.read("verification", passages, [*columns, "stage"]).filter(stage=SUSPICIOUS)
    pairs = warehouse.read("pair_doubt", passages, [*columns, "kind", "accepted"])
    pairs = pairs.filter(~pl.col("accepted"), pl.col("kind") != CALLED_WRONG)
    rows = pl.concat(
        [doubts.join(first, on="passage").rename({"doubt": "evidence"}).select(columns), suspicious.select(columns),
         pairs.select(columns)]
    )  # fmt: skip
    order = places.select("passage", "passage_id", "document", "segment_ids").with_row_index("row")
    rows = rows.join(order, on="passage").sort("row", "translator", "segment_id")
    labels = dict(places.select("document", LABELS.alias("of")).explode("of").group_by("document", maintain_order=True)
                  .agg("of").iter_rows())  # fmt: skip
    for id, document, translator, segment, evidence in rows.select(
        "passage_id", "document", "translator", "segment_id", "evidence"
    ).iter_rows():
        words = "" if translator in hidden else with_ids(evidence, labels[document])
        settled = (segment, translator) in standing or (document, translator) in standing
        yield {"passage": id, "translator": translator, "segment": segment, "evidence": words, "settled": settled}


def _translator(
    warehouse: Warehouse, description: Description, sources: pl.DataFrame, name: str,
    standing: Mapping[Place, CorrectionLine], hidden: frozenset[str],
) -> Record:  # fmt: skip
    """A translator's texts of a document, by segment, with doubts and corrections; of a continuous translation also the
    prose, and where in it the texts and possible boundaries are."""
    continuous, withheld = name in description.continuous, name in hidden
    keys = sources.select("passage", translator=pl.lit(name))
    table = "alignment" if continuous else "segmented_reference"
    stored = {row["passage"]: row for row in warehouse.read(table, keys).to_dicts()}
    found = warehouse.read("verification", keys, ["segment_id", "stage", "evidence"]).rows()
    found += (
        warehouse.read("pair_doubt", keys.select("passage"), ["segment_id", "translator", "kind", "evidence"])
        .filter(translator=name)
        .drop("translator")
        .rows()
    )
    stages = {segment: (stage, evidence) for segment, stage, evidence in found}
    document = pl.DataFrame({"corpus": [description.name], "document": [sources["document"][0]], "translator": [name]})
    texts = warehouse.read("prose", document, ["text"])["text"].to_list()
    prose = texts[0] if texts else ""
    segments: list[dict[str, Any]] = []
    labels, end = sources.select(LABELS.alias("of").explode())["of"].to_list(), 0
    for passage, ids in sources.select("passage", "segment_ids").iter_rows():
        row = stored.get(passage, {})
        for at, id in enumerate(ids):
            line = standing.get((id, name))
            record = line.record if line else {}
            aligned = row["segments"][at] if row.get("segments") else None
            text = record.get("text", aligned)
            start = row["starts"][at] if "starts" in row and "text" not in record else None
            stop = start + len(text) if text and start is not None else None
            if text and start is None:
                place = prose.find(text, end)
                places = [(place, place + len(text))] if place >= 0 else _places(text, prose)
                start, stop = places[-1] if places else (None, None)
            end = max(end, stop or 0)
            stage, evidence = stages.get(id, ("", ""))
            evidence = "" if withheld else with_ids(evidence or row.get("doubt") or "", labels)
            segments.append({
                "id": id, "label": labels[len(segments)], "start": start, "end": stop,
                "text": None if withheld else text, "characters": len(text or ""),
                "stage": stage, "evidence": evidence, "base": line.digest if line else "",
                "saved": {} if withheld else {key: record[key] for key in SHOWN if key in record},
                "waits": _waits(record, text != aligned, row.get("methods"), at, stage),
            })  # fmt: skip
    cuts = [] if withheld else [start for start, _ in units(prose, 0).spans]
    return {
        "name": name, "continuous": continuous, "withheld": withheld, "prose": "" if withheld else prose,
        "cuts": cuts, "segments": segments, "files": str(description.references[name].root or description.root),
    }  # fmt: skip


def _places(text: str, prose: str) -> list[tuple[int, int]]:
    """All places where a text occurs, whatever the white space between its words or, if there is none, whatever the
    capitals and signs."""
    exact = [found.span() for found in re.finditer(r"\s+".join(map(re.escape, text.split())), prose)]
    words = r"[\W_]+".join(map(re.escape, re.findall(r"[^\W_]+", text)))
    return exact or [found.span() for found in re.finditer(words, prose, re.IGNORECASE) if words]


def _waits(record: Mapping[str, Any], differs: bool, methods: Sequence[str | None] | None, at: int, stage: str) -> bool:
    """Whether a correction that was saved or taken back has no effect before the corpus is scanned and updated."""
    by_hand = methods is not None and methods[at] == "hand"
    text = differs if corrections.TEXT in record else by_hand
    return text or (corrections.WRONG in record) != (stage == CALLED_WRONG)


def saved(warehouse: Warehouse, corpus: str, body: object, private: bool) -> None:
    """Save the changes that a browser sent: `{"author": …, "changes": [{"segment", "translator", "base", …}]}`, where …
    stands for what a line says (corpus.corrections), or for nothing if a correction is taken back.

    Raises
    ------
    BadInput
        For a malformed request, an unknown segment or translator, a translator whose text is restricted unless
        `private`, a text that claims prose of another segment (`_check_apart`), or as `corrections.save`.
    Overtaken
        If another editor has corrected one of the segments meanwhile.
    """
    description = current(warehouse, corpus)
    author, sent = (body.get("author"), body.get("changes")) if isinstance(body, dict) else (None, None)
    if not isinstance(author, str) or not author.strip() or not isinstance(sent, list) or not sent:
        raise BadInput("request", "author", "is missing, or there are no changes", "write your name")
    hidden = disclosure(warehouse, corpus, description.references, private).hidden
    changes = [_change(each, description) for each in sent]
    for change in changes:
        if change.translator in hidden:
            problem = "has a restricted text, which this server does not show"
            raise BadInput("request", change.translator, problem, "start it with `variorum ui --private`")
    prose = warehouse.read("prose", pl.DataFrame({"corpus": [corpus]}), ["document", "translator"])
    rows = warehouse.read("source_text", pl.DataFrame({"corpus": [corpus]}), ["document", "segment_ids"])
    documents = {segment: document for document, ids in rows.iter_rows() for segment in ids}
    translated = {*prose.iter_rows()}
    for change in changes:
        document = documents.get(change.segment)
        absent = change.translator in description.continuous and (document, change.translator) not in translated
        if document is None or absent:
            problem = (
                "no such segment" if document is None else f"its document is not translated by {change.translator}"
            )
            raise BadInput("request", change.segment, problem, "load the page again")
    now = datetime.now(UTC).isoformat(timespec="seconds")

    def check(lines: corrections.Lines) -> None:
        set_by_hand = (change for change in changes if change.record.get(corrections.TEXT))
        for document, translator in sorted({(documents[each.segment], each.translator) for each in set_by_hand}):
            sources = warehouse.read("source_text", pl.DataFrame({"corpus": [corpus], "document": [document]}))
            own = _translator(warehouse, description, sources.sort("position"), translator, lines, hidden)
            _check_apart(own, {change.segment for change in changes})

    corrections.save(description, paths(warehouse)[corpus], changes, author.strip(), now, check)


def _check_apart(own: Mapping[str, Any], changed: Collection[str]) -> None:
    """Raise BadInput for a changed text, of those that `_translator` returns, that occurs in the prose only where
    another segment's text is. Texts that are wrong, or are taken back but still stored, claim nothing."""
    claimed = [
        each for each in own["segments"] if each["end"] is not None
        and (corrections.TEXT in each["saved"] or (not each["waits"] and corrections.WRONG not in each["saved"]))
    ]  # fmt: skip
    for each in own["segments"]:
        if each["id"] in changed and each["saved"].get(corrections.TEXT):
            beside = [
                [of["label"] for of in claimed if of is not each and of["start"] < end and start < of["end"]]
                for start, end in _places(each["text"], own["prose"])
            ]
            if beside and all(beside):
                remedy = "move the boundary, shorten one of the texts, or call one of the segments untranslated (u)"
                problem = f"its text is also that of {beside[0][0]}, at least in part"
                raise BadInput("not saved", each["label"], problem, remedy)


def _change(sent: object, description: Description) -> Change:
    """A change as a browser sent it."""
    if not isinstance(sent, dict) or not all(
        isinstance(sent.get(key), str) for key in ("segment", "translator", "base")
    ):
        raise BadInput("request", "changes", "are malformed", "load the page again")
    if sent["translator"] not in description.references:
        remedy = f"name {one_of(description.references)}"
        raise BadInput("request", sent["translator"], "is no translator of the corpus", remedy)
    record = {key: value for key, value in sent.items() if key not in ("segment", "translator", "base")}
    return Change(sent["segment"], sent["translator"], sent["base"], record)


def conflicts(fault: corrections.Overtaken) -> list[Record]:
    """Both versions of each change that was refused: what was sent, and the line that is there now."""
    return [
        {"segment": change.segment, "translator": change.translator, "yours": change.record,
         "theirs": line.record if line else None, "base": line.digest if line else ""}
        for change, line in fault.pairs
    ]  # fmt: skip
