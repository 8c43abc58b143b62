"""Questions whether a model knows a translation by heart: its second half, and words that only this translator has.

Here: the drawn passages, the questions, their replies, and the summary of a model and a translator. Not here: shared
wording (wording), what counts as a copy (judging, evidence).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from benchmark_assets.contamination import evidence
from benchmark_assets.contamination.elsewhere import FOUND
from benchmark_assets.contamination.evidence import FEWEST, LEAST
from benchmark_assets.contamination.judging import PAIR, contamination
from benchmark_assets.contamination.wording import places, shared
from benchmark_assets.corpus.description import Memory
from benchmark_assets.corpus.registry import corpus_languages, sections
from benchmark_assets.metrics.intervals import SIGNATURE, mean_interval, rate_interval
from benchmark_assets.metrics.measures import Estimate, numbered_units
from benchmark_assets.references.texts import complete_texts
from benchmark_assets.studies.study import Group, Item, ItemStudy
from benchmark_assets.translation.systems import language_names
from resources.catalogue import schema
from resources.digest import digest
from resources.keys import CORPUS
from resources.provider.asking import Template, Verdict, template_of
from resources.provider.reading import storable
from resources.provider.registry import Model
from resources.provider.replies import TEXT, object_of
from resources.warehouse import Warehouse

CONTINUATION, CLOZE = "continuation", "cloze"

BLANKS = 4
"""Most words of a passage that are left out."""

STEM = 5
"""Fewest letters of a word that is left out. No other word of the passage, of any translator, begins with the same
letters: another form of a word would give it away."""

RULE = (
    f"continuations: second halves by words; {evidence.SIGNATURE}; cloze: up to {BLANKS} words of {STEM} letters or "
    f"more that one translator has, means of passages; {FEWEST} passages or more; {SIGNATURE}"
)
"""Signature of the summary."""

_SYSTEM = "|"  # joins a model and the translator that it was asked about; names of neither contain it


def drawn(passages: Iterable[str], count: int, seed: int) -> list[str]:
    """The first `count` passages in the order of a hash. A further passage displaces at most one of them."""
    return sorted(passages, key=lambda passage: digest(seed, passage))[:count]


def halves(text: str) -> tuple[str, str]:
    """The text up to the word in the middle, and the rest, which has the odd word; all is rest without words."""
    words = places(text)
    middle = words[len(words) // 2].start if words else 0
    return text[:middle], text[middle:]


def continued(reply: str, beginning: str, count: int) -> str:
    """The first `count` words of a continuation, at least one, without the beginning if it is repeated."""
    text = reply.strip().removeprefix(beginning.strip()).strip()
    words = places(text)
    return text[: words[count - 1].end] if len(words) > count else text


def blanked(text: str, others: Iterable[str]) -> tuple[str, list[str]]:
    """A text with up to `BLANKS` words replaced by [1], [2], …, and these words in lower case.

    They are the longest that no other translator has (see `STEM`), the earliest of equally long ones. In scripts
    without spaces, words are single characters, which are too short.
    """
    stems = Counter(place.word[:STEM] for each in (text, *others) for place in places(each))
    own = [place for place in places(text) if len(place.word) >= STEM and place.word.isalpha()]
    unique = [place for place in own if stems[place.word[:STEM]] == 1]
    chosen = sorted(sorted(unique, key=lambda place: -len(place.word))[:BLANKS])
    for number, place in reversed(list(enumerate(chosen, start=1))):
        text = f"{text[: place.start]}[{number}]{text[place.end :]}"
    return text, [place.word for place in chosen]


def right(replies: Sequence[str], words: Sequence[str]) -> int:
    """Number of replies that are the word at their place, whatever their case and punctuation."""
    read = [[place.word for place in places(reply)] for reply in replies]
    return sum(reply == [word] for reply, word in zip(read, words, strict=False))


def read_continuation(values: Mapping[str, Any]) -> str:
    """The continuation, '' if the model gives none. Raises ValueError if it is no text."""
    if not isinstance(text := values.get("continuation"), str):
        raise ValueError("continuation is not a text")  # noqa: TRY004 - a fault of the reply
    return storable(text)


def read_words(values: Mapping[str, Any]) -> list[str]:
    """The words. Raises ValueError if they are no list of texts."""
    words = values.get("words")
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise ValueError("words is not a list of texts")
    return [storable(word) for word in words]


def questions(model: Model, languages: Mapping[str, str]) -> tuple[Template[Any], ...]:
    """Templates of the questions for a continuation and for words. Each is asked once, so that the cost is bounded."""
    words = object_of({"words": {"type": "array", "items": TEXT}})
    continuing = template_of(model, "continue", languages, object_of({"continuation": TEXT}), read_continuation)
    filling = template_of(model, "cloze", languages, words, read_words)
    return replace(continuing, tries=1), replace(filling, tries=1)


class MemoryVotes(ItemStudy[tuple[Template[Any], ...]]):
    """Replies of a model about the references of a drawn passage: the second half of each, given the first; and words
    that no other translator of the passage has, given the rest. The model does not see the source.

    Only models of the registry are asked. A model is asked again only if a reference of the passage or the model
    changes.
    """

    name = "memory_vote"

    def groups(self, partitions: pl.DataFrame) -> Iterator[Group[tuple[Template[Any], ...]]]:
        """Drawn passages, by model and corpus. Models that are no longer registered keep their replies."""
        wanted = {corpus: each for corpus, each in memories(self.warehouse).items() if each.passages}
        if not wanted:
            return
        registered, languages = self.provider.registry().models, corpus_languages(self.warehouse)
        imported = self.systems.known(partitions["model"].unique()) - set(registered)
        complete = self.warehouse.read("reference", columns=["passage", "complete"]).filter("complete")
        complete = complete.select("passage", CORPUS).unique()
        for corpus, settings in wanted.items():
            passages = drawn(complete.filter(corpus=corpus)["passage"], settings.passages, settings.seed)
            rows = partitions.filter(pl.col("passage").is_in(passages), ~pl.col("model").is_in(list(imported)))
            for (model,), own in rows.select(self.dims).group_by("model", maintain_order=True):
                known = str(model) in registered
                names = language_names(*languages[corpus])
                templates = questions(self.provider.model(str(model)), names) if known else ()
                yield Group(own, templates, digest(*(template.determinants for template in templates)))

    def items(self, partitions: pl.DataFrame, how: tuple[Template[Any], ...]) -> Iterator[Item]:
        """Up to two items for each reference. Halves below `LEAST` words are left out, and words of a passage with one
        translator: nothing shows what others would say."""
        continuing, filling = how
        texts = complete_texts(self.warehouse, partitions)
        for model, passage in partitions.select(self.dims).iter_rows():
            for translator, text in texts.get(passage, {}).items():
                key = {"translator": translator, "kind": CONTINUATION}
                beginning, rest = halves(text)
                if (count := len(places(rest))) >= LEAST:
                    content = {"words": count, "beginning": beginning}
                    yield Item((model, passage), key, continuing, content, facts=(beginning, count))
                others = [other for name, other in texts[passage].items() if name != translator]
                blank, words = blanked(text, others)
                if words and others:
                    content = {"blanks": len(words), "text": blank}
                    yield Item((model, passage), key | {"kind": CLOZE}, filling, content, facts=words)

    def rows_of(self, item: Item, verdict: Verdict[Any]) -> Iterable[Mapping[str, object]]:
        """One row: the reply, and how many of its words are right; or the reason for an abstention."""
        value, cloze = verdict.value, item.key["kind"] == CLOZE
        row: dict[str, object] = {"abstention": verdict.abstention, "blanks": len(item.facts) if cloze else None}
        if value is not None and cloze:
            row |= {"reply": ", ".join(value), "right": right(value, item.facts)}
        elif value is not None:
            row["reply"] = continued(value, *item.facts)
        yield row


def memories(warehouse: Warehouse) -> dict[str, Memory]:
    """The section `memory` of each corpus's description, by corpus."""
    return sections(warehouse, "memory", Memory)


def summary(votes: pl.DataFrame, references: pl.DataFrame, kin: pl.DataFrame, units: pl.DataFrame) -> pl.DataFrame:
    """Judge each model and translator of each corpus.

    Parameters
    ----------
    votes
        Rows of `memory_vote`.
    references
        Complete references of these passages: columns `passage`, `translator` and `text`.
    kin
        Pairs of related translators (`judging.related`).
    units
        Columns `passage` and `unit`, for intervals.

    Returns
    -------
    Rows of `memory`.

    Notes
    -----
    Continuations about a translator are judged as the outputs of a system are (`judging.contamination`), with second
    halves in place of references: what independent translators share is expected. Verdicts and estimates are null below
    `FEWEST` passages.
    """
    votes = votes.with_columns(CORPUS)
    counts = votes.group_by(PAIR).agg(asked=pl.len(), abstained=pl.col("reply").is_null().sum())
    rests = references.with_columns(pl.col("text").map_elements(lambda text: halves(text)[1], pl.String))
    replies = votes.filter(kind=CONTINUATION).drop_nulls("reply")
    replies = replies.select(pl.concat_str("model", "translator", separator=_SYSTEM), "passage", text="reply")
    wordings = shared(replies.join(rests.rename({"text": "reference"}), on="passage"))
    people = rests.join(rests.rename({"translator": "other", "text": "reference"}), on="passage")
    people = shared(people.filter(pl.col("translator") != pl.col("other")))
    pairs, _ = contamination(wordings, people, kin, pl.DataFrame(schema=FOUND), units)
    model, asked = (pl.col("model").str.split(_SYSTEM).list.get(at) for at in (0, 1))
    pairs = pairs.filter(asked == pl.col("translator")).with_columns(model).drop("signature")
    rows = counts.join(pairs, on=PAIR, how="left").join(_cloze(votes, units), on=PAIR, how="left")
    rows = rows.sort(PAIR).with_columns(signature=pl.lit(RULE))
    return rows.select(pl.col(name).cast(kind) for name, kind in schema("memory").items())


def _cloze(votes: pl.DataFrame, units: pl.DataFrame) -> pl.DataFrame:
    """Shares of right words by model and translator, and the same model's shares for the other translators."""
    rows = votes.filter(kind=CLOZE).drop_nulls("right").with_columns(share=pl.col("right") / pl.col("blanks"))
    rest = (pl.sum("share") - pl.col("share")) / (pl.len() - 1)
    rows = rows.with_columns(others=pl.when(pl.len().over("model", "passage") > 1).then(rest.over("model", "passage")))
    rows = rows.join(units.select("passage", "unit"), on="passage", how="left").sort(*PAIR, "passage")
    found: list[dict[str, object]] = []
    for names, group in rows.group_by(PAIR, maintain_order=True):
        paired = group.drop_nulls("others")
        row: dict[str, object] = {**dict(zip(PAIR, names, strict=True)), "cloze_passages": len(paired)}
        if len(paired) >= FEWEST:
            share, others = (paired[name].to_numpy().astype(np.float64) for name in ("share", "others"))
            numbers = numbered_units(paired["unit"])
            row |= Estimate(float(share.mean()), *rate_interval(share, numbers)).columns("cloze")
            gap = share - others
            row |= Estimate(float(gap.mean()), *mean_interval(gap, numbers, -1, 1)).columns("cloze_gap")
            row["cloze_others"] = float(others.mean())
        found.append(row)
    columns = schema("memory")
    return pl.DataFrame(found, schema={name: columns[name] for name in columns if name in PAIR or "cloze" in name})
