"""Doubts about pairs of source and translation, on invented documents."""

import random
import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from benchmark_assets.corpus.description import load
from benchmark_assets.corpus.pairs import Doubt, doubts, other_language
from benchmark_assets.corpus.renderings import doubted_pairs, with_doubts
from benchmark_assets.corpus.review import doubt_lines
from benchmark_assets.corpus.scan import scan
from resources.warehouse import Warehouse
from tests.audit.stored import put
from tests.corpus.prose import correct
from tests.corpus.support import describe, edit
from tests.support import write_corpus

IDS = [f"1.{number}" for number in range(1, 81)]
LATIN = "Agricola cum filia sua in horto laborat et aquam ex puteo portat dum mater cenam parat"
ENGLISH = "the farmer works with his daughter in the garden and carries water while her mother cooks dinner"


def named(translators: Sequence[str] = ("vale", "stone")) -> tuple[list[str], dict[str, list[str | None]]]:
    """A document whose segments have a length and two names of their own, in the source and in each translation."""
    draw = random.Random(44)
    sources: list[str] = []
    texts: dict[str, list[str | None]] = {translator: [] for translator in translators}
    for _ in IDS:
        one, other = ("".join(draw.choice("bdgklmnprst") + draw.choice("aeiou") for _ in range(3)) for _ in "ab")
        latin, english = LATIN.split(), ENGLISH.split()
        size = draw.randint(6, 16)
        sources.append(f"{one.title()}m {' '.join(draw.sample(latin, min(size, len(latin))))} {other.title()}s.")
        for translator in translators:
            texts[translator].append(
                f"{one.title()}, {' '.join(draw.sample(english, min(size + 1, len(english))))}, {other.title()}."
            )
    return sources, texts


def found(sources: list[str], texts: dict[str, list[str | None]], kind: str) -> list[Doubt]:
    return [doubt for doubt in doubts(IDS, sources, texts, "en") if doubt.kind == kind]


def test_a_sound_document_is_not_doubted() -> None:
    assert list(doubts(IDS, *named(), "en")) == []
    assert list(doubts(IDS, *named(["vale"]), "en")) == []


@pytest.mark.parametrize("translators", [["vale"], ["vale", "stone"]])
@pytest.mark.parametrize("late", [True, False])
def test_a_shift_is_found_where_it_begins(translators: list[str], late: bool) -> None:
    sources, texts = named(translators)
    own = texts["vale"]
    texts["vale"] = [*own[:40], *([None, *own[40:-1]] if late else [*own[41:], None])]
    shifted = found(sources, texts, "shifted")
    assert {doubt.translator for doubt in shifted} == {"vale"}
    assert {IDS.index(doubt.segment) for doubt in shifted} >= set(range(42, 79))
    (evidence,) = {doubt.evidence for doubt in shifted}
    assert abs(IDS.index(evidence.split()[1]) - 40) <= 2
    assert f"shifted by one: the text stands 1 {'after' if late else 'before'} its place" in evidence


@pytest.mark.parametrize("translators", [["vale"], ["vale", "stone"]])
@pytest.mark.parametrize("order", ["halves", "reversed", "eight"])
def test_a_text_that_stands_at_another_place_as_a_whole_is_found(translators: list[str], order: str) -> None:
    sources, texts = named(translators)
    own = texts["vale"]
    texts["vale"] = {"halves": [*own[40:], *own[:40]], "reversed": own[::-1], "eight": [*own[8:], *[None] * 8]}[order]
    run = [doubt for doubt in doubts(IDS, sources, texts, "en") if doubt.kind in ("shifted", "unlike")]
    assert {doubt.translator for doubt in run} == {"vale"}
    assert len(run) >= 70
    if order == "eight" and len(translators) == 1:
        assert run[0].evidence == "from 1.1 on shifted by 8: the text stands 8 before its place"


def test_translations_without_names_that_agree_nowhere_are_doubted() -> None:
    _, texts = named()
    own = texts["vale"]
    sources = ["學而時習之不亦說乎有朋自遠方來"] * len(IDS)
    assert list(doubts(IDS, sources, texts, "en")) == []
    run = found(sources, texts | {"vale": [*own[40:], *own[:40]]}, "unlike")
    assert {doubt.translator for doubt in run} == {"vale", "stone"}


def test_the_text_of_another_translator_is_found() -> None:
    sources, texts = named()
    stretch = texts | {"stone": [*texts["stone"][:7], *texts["vale"][7:12], *texts["stone"][12:]]}
    evidence = "has the text of vale, in 5 segments or more in a row"
    expected = [Doubt("stone", f"1.{number}", "duplicate", evidence) for number in range(8, 13)]
    assert found(sources, stretch, "duplicate") == expected
    copy = texts | {"stone": [*texts["vale"][:60], *texts["stone"][60:]]}
    assert {doubt.translator for doubt in found(sources, copy, "duplicate")} == {"stone"}
    evidence_of_copy = {doubt.evidence for doubt in found(sources, copy, "duplicate")}
    assert evidence_of_copy == {"has the text of vale, as have 60 of 80 segments"}


@pytest.mark.parametrize("equal", [[7], [7, 8, 9, 10, 30], range(0, 80, 4), range(0, 80, 2)])
def test_translators_who_agree_in_single_segments_are_not_doubted(equal: Sequence[int]) -> None:
    sources, texts = named()
    for number in equal:
        texts["stone"][number] = texts["vale"][number]
    assert found(sources, texts, "duplicate") == []


def test_half_of_a_short_document_is_no_copy_and_all_of_it_is() -> None:
    sources, whole = named()
    sources, texts = sources[:6], {name: own[:6] for name, own in whole.items()}
    half = texts | {"stone": [*texts["vale"][:3], *texts["stone"][3:]]}
    assert [each for each in doubts(IDS[:6], sources, half, "en") if each.kind == "duplicate"] == []
    copy = texts | {"stone": texts["vale"]}
    assert len([each for each in doubts(IDS[:6], sources, copy, "en") if each.kind == "duplicate"]) == 6


def test_exchanged_neighbors_are_found() -> None:
    sources, texts = named()
    own = texts["vale"]
    own[30], own[31] = own[31], own[30]
    assert [(doubt.translator, doubt.segment) for doubt in found(sources, texts, "swapped")] == [
        ("vale", "1.31"), ("vale", "1.32"),
    ]  # fmt: skip


def test_a_text_that_fits_its_neighbor_better_is_found() -> None:
    sources, texts = named()
    own = texts["vale"]
    own[30], own[31] = own[31], None
    (doubt,) = found(sources, texts, "displaced")
    assert (doubt.segment, doubt.evidence) == ("1.31", "fits 1.32 better than its own source")


def test_a_text_with_that_of_the_next_segment_is_found() -> None:
    sources, texts = named(["vale"])
    sources = [f"{source} {source}" for source in sources]
    own = [f"{text} {text}" for text in texts["vale"]]
    merged = [*own[:30], f"{own[30]} {own[31]}", None, *own[32:]]
    evidence = "is as long as the texts of its own and 1.32, which has none"
    assert list(doubts(IDS, sources, {"vale": merged}, "en")) == [Doubt("vale", "1.31", "merged", evidence)]


@pytest.mark.parametrize("ellipsis", [" …", " . . .", " etc."])
def test_a_text_that_says_that_it_is_shortened_is_not_too_short(ellipsis: str) -> None:
    sources, texts = named(["vale"])
    sources = [f"{source} {source} {source}" for source in sources]
    own = [f"{text} {text} {text}" for text in texts["vale"]]
    own[50] = str(own[50])[:40]
    assert [doubt.kind for doubt in doubts(IDS, sources, {"vale": own}, "en")] == ["length"]
    assert list(doubts(IDS, sources, {"vale": [*own[:50], own[50] + ellipsis, *own[51:]]}, "en")) == []


def test_single_segments_are_doubted_for_what_they_hold() -> None:
    sources, texts = named()
    own = texts["vale"]
    own[5] = sources[5]
    own[20] = "Der Bauer arbeitet mit seiner Tochter im Garten, und die Mutter kocht inzwischen das Essen."
    sources[30], own[30] = "Mercator navem vendidit quia pecuniam debebat, frumentumque emit frater eius.", own[29]
    own[50] = f"{own[50]} {own[51]} {own[52]} {own[53]} {own[54]} {own[55]} {own[56]} {own[57]}"
    kinds = {doubt.segment: doubt.kind for doubt in doubts(IDS, sources, texts, "en") if doubt.translator == "vale"}
    assert {id: kinds.get(id) for id in ("1.6", "1.21", "1.31", "1.51")} == {
        "1.6": "copied", "1.21": "language", "1.31": "repeated", "1.51": "length",
    }  # fmt: skip


GERMAN = "Der Bauer trägt das Wasser heim, die Mutter kocht für ihre Kinder, und am Abend sitzen alle unter der Linde"


def test_short_segments_in_another_language_are_found_together() -> None:
    sources = [" ".join(random.Random(number).sample(LATIN.split(), 5)) for number in range(80)]
    own: list[str | None] = [" ".join(random.Random(number).sample(ENGLISH.split(), 7)) for number in range(80)]
    assert found(sources, {"vale": own}, "language") == []
    words = GERMAN.split()
    german = [*own[:40], *(" ".join(words[at : at + 7]) for at in (0, 7, 14)), *own[43:]]
    assert all(len(text or "") < 60 for text in german)
    places = {IDS.index(doubt.segment) for doubt in found(sources, {"vale": german}, "language")}
    assert {40, 41, 42} <= places <= set(range(39, 45))


@pytest.mark.parametrize("text", ["-", "...", "[not translated]", "Same as the line above it."])
def test_one_text_in_place_of_several_translations_is_found(text: str) -> None:
    sources, texts = named()
    sources[10] = "Mercator navem vendidit quia pecuniam debebat."
    sources[30] = "Milites castra muniebant, dux litteras scripsit."
    sources[50] = "Cras ibimus ad flumen piscesque captabimus."
    own = [text if at in (10, 30, 50) else each for at, each in enumerate(texts["vale"])]
    repeated = found(sources, texts | {"vale": own}, "repeated")
    assert [doubt.segment for doubt in repeated] == ["1.11", "1.31", "1.51"]
    assert {doubt.evidence for doubt in repeated} == {"is the same in 3 segments"}
    answers = [{10: "Ita vero.", 30: "Sic est.", 50: "Quidni?"}.get(at, each) for at, each in enumerate(sources)]
    yes = ["Yes." if at in (10, 30, 50) else each for at, each in enumerate(texts["vale"])]
    assert found(answers, texts | {"vale": yes}, "repeated") == []


def test_a_formula_may_be_short() -> None:
    sources, texts = named(["vale"])
    formula = " ".join(["Mercator respondit ei ut antea", *[LATIN] * 2])
    sources = [formula if at in (20, 60) else f"{source} {source}" for at, source in enumerate(sources)]
    own = [f"{text} {text}" for text in texts["vale"]]
    assert found(sources, {"vale": [*own[:20], "He said so.", *own[21:]]}, "length") != []
    twice = ["He said so." if at in (20, 60) else text for at, text in enumerate(own)]
    assert found(sources, {"vale": list(twice)}, "length") == []


def test_another_language_is_named_only_where_it_is_plain() -> None:
    assert other_language(LATIN, "en") == "la"
    assert other_language(ENGLISH, "en") is None
    assert other_language(LATIN, "non") is None  # a language that cannot be identified
    assert other_language("Ave, Caesar", "en") is None


def latin_corpus(folder: Path) -> Path:
    """A corpus of a document in which Vale's translation is Latin."""
    sources, texts = named()
    of_ids = {f"doc:{id}": text for id, text in zip(IDS, sources, strict=True)}
    english = {f"doc:{id}": text or "" for id, text in zip(IDS, texts["stone"], strict=True)}
    return write_corpus(folder, {"doc": of_ids}, {"vale": {"doc": of_ids}, "stone": {"doc": english}})


def test_a_translation_in_the_wrong_language_is_refused_by_name(tmp_path: Path) -> None:
    path = latin_corpus(tmp_path)
    scanned = scan([load(path)])
    (fault,) = scanned.faults
    assert fault.key == "doc vale"
    assert fault.problem == "is in the language la, not in en: the source in place of a translation"
    assert "remove this file" in fault.remedy
    assert set(scanned.reference["translator"]) == {"stone"}


def test_for_a_column_in_the_wrong_language_no_file_is_removed(tmp_path: Path) -> None:
    sources, texts = named()
    rows = ["\t".join(row) for row in zip(IDS, sources, sources, [each or "" for each in texts["stone"]], strict=True)]
    (tmp_path / "doc.tsv").write_text("\n".join(["segment_id\tsource\tvale\tstone", *rows]), encoding="utf-8")
    (fault,) = scan([load(describe(tmp_path / "c.yaml", "table", tmp_path, ["vale", "stone"]))]).faults
    assert (fault.key, fault.remedy.partition(" or ")[0]) == ("doc vale", "drop this reference")


def test_a_person_overrules_doubts_about_a_segment_or_a_document(tmp_path: Path) -> None:
    path = latin_corpus(tmp_path)
    correct(path, {"segment": "doc", "translator": "vale", "right": True})
    scanned = scan([load(path)])
    assert scanned.faults == []
    assert set(scanned.reference["translator"]) == {"vale", "stone"}
    assert scanned.pair_doubt["accepted"].all()
    assert [line for line in doubt_lines(scanned.pair_doubt) if line.endswith("but right by hand")]
    correct(path, {"segment": "doc:1.1", "translator": "nobody", "right": True})
    (fault,) = scan([load(path)]).faults
    assert (fault.key, fault.problem) == ("line 1", "does not say which pair is right")


@pytest.mark.parametrize(
    ("id", "fault"), [("doc:9.9", "no such segment or document"), ("doc:1", "is a passage; .* such as doc:1.1, or")]
)
def test_a_pair_called_right_is_a_pair(tmp_path: Path, id: str, fault: str) -> None:
    path = write_corpus(tmp_path, {"doc": {"doc:1.1": LATIN}}, {"vale": {"doc": {"doc:1.1": ENGLISH}}})
    correct(path, {"segment": id, "translator": "vale", "right": True})
    (found,) = scan([load(path)]).faults
    assert found.key == id
    assert re.search(fault, f"{found.problem}; {found.remedy}")


def test_doubted_pairs_are_not_used_but_in_published_benchmarks(warehouse: Warehouse) -> None:
    doubt = {"document": "a", "translator": "ann", "kind": "length", "evidence": "is 4.0 times too long"}
    pairs = [(corpus, *pair) for corpus in ("own", "published") for pair in (("a:1", False), ("a:2", True))]
    put(warehouse, "pair_doubt", *(
        doubt | {"corpus": corpus, "passage": f"{corpus}/{id}", "segment_id": f"{id}.1", "accepted": accepted}
        for corpus, id, accepted in pairs
    ))  # fmt: skip
    put(warehouse, "benchmark", {
        "benchmark": "b", "version": 1, "recipe_hash": "", "title": "", "corpora": ["published"], "tasks": [],
        "parts": "{}", "left_out": "{}", "recipe": "r", "home": "h",
    })  # fmt: skip
    passages = pl.DataFrame({"passage": [f"{corpus}/a:{n}" for corpus in ("own", "published") for n in (1, 2)]})
    assert doubted_pairs(warehouse, passages).rows() == [("own/a:1", "ann", "a:1.1")]
    settings = with_doubts(warehouse, passages.with_columns(settings=pl.lit("s")))
    assert settings["settings"].to_list() == ["s ann a:1.1", "s", "s", "s"]


def test_the_lines_about_doubts_name_runs_and_examples(tmp_path: Path) -> None:
    sources, texts = named()
    texts["vale"] = [*texts["vale"][:40], None, *texts["vale"][40:-1]]
    ids = [f"doc:{id}" for id in IDS]
    documents = {
        name: {"doc": dict(zip(ids, [text or "" for text in own], strict=True))} for name, own in texts.items()
    }
    path = write_corpus(tmp_path, {"doc": dict(zip(ids, sources, strict=True))}, documents)
    edit(path, {"name": "runs"})
    (line,) = doubt_lines(scan([load(path)]).pair_doubt)
    assert line.startswith("  doubted: doc vale: from doc:1.4")
    assert "on shifted by one" in line
