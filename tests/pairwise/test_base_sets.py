"""Base sets: what is no whole one is refused with its place, and what was imported stays as it was."""

import json
import shutil
import tempfile
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.automation import removal
from benchmark_assets.corpus.registry import register
from benchmark_assets.pairwise.base_sets import (
    JUDGMENTS,
    MANIFEST,
    OUTPUTS,
    TABLES,
    BaseSet,
    Hashes,
    ImportedSet,
    JudgeRecord,
    Manifest,
    import_base_set,
    read_base_set,
    sealed,
)
from resources.digest import text_hash
from resources.errors import BadInput
from resources.warehouse import Replacement, Warehouse
from tests.record_sample import BASE_SET
from tests.support import PASSAGES
from tests.systems import RuleSystems

TEXTS = dict(zip(PASSAGES, ["Mus currit. Felis sedet.", "Sol oritur.", "Nihil novi dicit."], strict=True))
ANCHORS = ["translator:ann", "translator:ben", "weak"]
ITEMS = [
    {"passage": passage, "direction": "la-en", "difficulty": difficulty, "source": text_hash(TEXTS[passage])}
    for passage, difficulty in zip(PASSAGES, ["easy", "hard", "hard"], strict=True)
]
NAMES: dict[str, Any] = {
    "name": "tiny-set", "version": "1.0.0", "judge": "referee", "anchors": ANCHORS, "items": ITEMS
}  # fmt: skip
OUTPUT_LINES = [
    {"anchor": anchor, "passage": passage, "text": f"{anchor} of {passage}"}
    for anchor in ANCHORS for passage in PASSAGES
]  # fmt: skip
JUDGMENT_LINES: list[dict[str, Any]] = [
    {"passage": passage, "first": first, "second": second, "winner": first if second == "weak" else second}
    for passage in PASSAGES for first in ANCHORS for second in ANCHORS if first != second
]  # fmt: skip


@cache
def original() -> BaseSet:
    return read_base_set(BASE_SET)


def write_set(
    folder: Path, outputs: list[dict[str, Any]] = OUTPUT_LINES, judgments: list[dict[str, Any]] = JUDGMENT_LINES,
    **changes: Any,
) -> Path:  # fmt: skip
    """Write the folder of a base set of the small corpus, whose hashes are right whatever else is wrong."""
    folder.mkdir(parents=True)
    files = [_lines(outputs), _lines(judgments)]
    content = NAMES | changes
    try:
        hashes = sealed(Manifest.model_validate(content), *files)
    except ValueError:  # no manifest, so that nobody looks at the hashes
        hashes = Hashes(outputs="0" * 64, judgments="0" * 64, content="0" * 64)
    content = {"hashes": hashes.model_dump()} | content
    for name, whole in ((MANIFEST, json.dumps(content).encode()), (OUTPUTS, files[0]), (JUDGMENTS, files[1])):
        (folder / name).write_bytes(whole)
    return folder


def _lines(records: list[dict[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(record)}\n" for record in records).encode()


@pytest.fixture
def tiny(warehouse: Warehouse, corpus: Path) -> Warehouse:
    """A warehouse with the small corpus and the texts of its passages."""
    register(warehouse, corpus)
    warehouse.write([Replacement("source_text", sources(TEXTS), None)], "test")
    return warehouse


def sources(texts: Mapping[str, str]) -> pl.DataFrame:
    rows = [
        {
            "passage": passage, "corpus": "tiny", "passage_id": passage.removeprefix("tiny/"), "document": "doc",
            "position": 0, "language": "la", "segment_ids": ["1"], "segments": [text], "text": text, "fingerprint": "f",
            "previous": None, "following": None, "listed": None,
        }
        for passage, text in texts.items()
    ]  # fmt: skip
    kinds = {"position": pl.Int32, "previous": pl.String, "following": pl.String, "listed": pl.Boolean}
    return pl.DataFrame(rows, schema_overrides=kinds)


def everything(warehouse: Warehouse) -> dict[str, list[tuple[Any, ...]]]:
    return {table: warehouse.read(table).rows() for table in TABLES}


def test_an_import_stores_all_of_it_and_a_second_one_nothing(tiny: Warehouse, tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set")
    imported = import_base_set(tiny, folder)
    assert imported == ImportedSet("tiny-set@1.0.0", False, 3, 3, 18, [])
    stored = everything(tiny)
    assert import_base_set(tiny, folder) == imported._replace(before=True)
    assert everything(tiny) == stored

    (entry,) = tiny.read("base_set").iter_rows(named=True)
    assert (entry["judge"], json.loads(entry["settings"])) == ("referee", {"orders": "both", "adaptive": False})
    assert entry["content"] == read_base_set(folder).hashes.content
    assert tiny.read("anchor_output", columns=["anchor", "passage", "text"]).to_dicts() == OUTPUT_LINES
    key = ["passage", "first", "second"]
    stored_judgments = tiny.read("anchor_judgment", columns=[*key, "winner"])
    assert stored_judgments.equals(pl.DataFrame(JUDGMENT_LINES).sort(key))
    assert dict(tiny.read("base_set_item", columns=["passage", "source_hash"]).iter_rows()) == {
        passage: sha256(text.encode()).hexdigest() for passage, text in TEXTS.items()
    }


@given(st.sampled_from([MANIFEST, OUTPUTS, JUDGMENTS]), st.floats(0, 1, exclude_max=True), st.integers(1, 255))
def test_a_set_with_one_byte_changed_is_refused_or_says_the_same(name: str, place: float, change: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copytree(BASE_SET, f"{folder}/set"))
        content = bytearray((copy / name).read_bytes())
        content[int(place * len(content))] ^= change
        (copy / name).write_bytes(content)
        try:
            read = read_base_set(copy)
        except BadInput as fault:
            blamed = Path(fault.where).name
        else:  # a comment, white space, quotation marks
            blamed = "nobody"
            assert (read.manifest, read.hashes) == (original().manifest, original().hashes)
    # A wrong hash in the manifest looks like a wrong file.
    assert blamed in ({"nobody", MANIFEST, OUTPUTS, JUDGMENTS} if name == MANIFEST else {name})


@pytest.mark.parametrize("name", [MANIFEST, OUTPUTS, JUDGMENTS])
def test_a_set_without_one_of_its_files_is_refused(tmp_path: Path, name: str) -> None:
    folder = write_set(tmp_path / "set")
    (folder / name).unlink()
    with pytest.raises(BadInput, match=r"cannot be read") as fault:
        read_base_set(folder)
    assert fault.value.where == str(folder / name)


def test_the_hash_over_all_can_be_had_without_this_program() -> None:
    said = yaml.safe_load((BASE_SET / MANIFEST).read_text(encoding="utf-8"))
    hashes = said.pop("hashes")
    manifest = json.dumps(said, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
    parts = [manifest, (BASE_SET / OUTPUTS).read_bytes(), (BASE_SET / JUDGMENTS).read_bytes()]
    digests = [sha256(part).hexdigest() for part in parts]
    assert [hashes["outputs"], hashes["judgments"]] == digests[1:]
    assert hashes["content"] == sha256("".join(f"{digest}\n" for digest in digests).encode()).hexdigest()


FAULTS: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "no output": ({"outputs": OUTPUT_LINES[1:]}, OUTPUTS, "translator:ann tiny/doc1:1", "no output for the item"),
    "two outputs": ({"outputs": [*OUTPUT_LINES, OUTPUT_LINES[0]]}, OUTPUTS, "line 10", "has two outputs"),
    "output of a stranger": (
        {"outputs": [*OUTPUT_LINES, OUTPUT_LINES[0] | {"anchor": "stranger"}]}, OUTPUTS, "line 10 stranger", "an anchor"
    ),
    "output elsewhere": (
        {"outputs": [*OUTPUT_LINES, OUTPUT_LINES[0] | {"passage": "tiny/x"}]}, OUTPUTS, "line 10 tiny/x", "not an item"
    ),
    "judgment elsewhere": (
        {"judgments": [JUDGMENT_LINES[0] | {"passage": "tiny/x"}]}, JUDGMENTS, "line 1 tiny/x", "not an item"
    ),
    "judgment of a stranger": (
        {"judgments": [JUDGMENT_LINES[0] | {"second": "stranger"}]}, JUDGMENTS, "line 1 stranger", "not an anchor"
    ),
    "judged twice": ({"judgments": [JUDGMENT_LINES[0]] * 2}, JUDGMENTS, "line 2", "judged twice in this order"),
    "a third wins": ({"judgments": [JUDGMENT_LINES[0] | {"winner": "weak"}]}, JUDGMENTS, "line 1 weak", "neither"),
    "against itself": (
        {"judgments": [{"passage": PASSAGES[0], "first": "weak", "second": "weak", "winner": "weak"}]},
        JUDGMENTS, "line 1", "with itself",
    ),
    "no winner named": (
        {"judgments": [{name: JUDGMENT_LINES[0][name] for name in ("passage", "first", "second")}]},
        JUDGMENTS, "line 1", "has the keys",
    ),
    "a misspelled key": (
        {"outputs": [{**OUTPUT_LINES[0], "txt": "x"}, *OUTPUT_LINES[1:]]}, OUTPUTS, "line 1 txt", "unknown key",
    ),
    "a number for a text": ({"outputs": [OUTPUT_LINES[0] | {"text": 7}]}, OUTPUTS, "line 1 text", "not text"),
    "two numbers": ({"version": "1.0"}, MANIFEST, "version", "semantic version"),
    "a zero in front": ({"version": "1.01.0"}, MANIFEST, "version", "semantic version"),
    "a letter in front": ({"version": "v1.0.0"}, MANIFEST, "version", "semantic version"),
    "an at in the name": ({"name": "tiny@set"}, MANIFEST, "name", "cannot be the key"),
    "an anchor twice": ({"anchors": [*ANCHORS, "weak"]}, MANIFEST, "", "weak occurs twice"),
    "an item twice": ({"items": [*ITEMS, ITEMS[0]]}, MANIFEST, "", "tiny/doc1:1 occurs twice"),
    "one anchor": ({"anchors": ["weak"]}, MANIFEST, "anchors", "at least 2"),
    "no items": ({"items": []}, MANIFEST, "items", "at least 1"),
    "difficulty": ({"items": [ITEMS[0] | {"difficulty": "so-so"}]}, MANIFEST, "items.0.difficulty", "'easy' or 'hard'"),
    "orders": ({"orders": "three"}, MANIFEST, "orders", "'both' or 'one'"),
    "unknown key": ({"colour": "red"}, MANIFEST, "colour", "not permitted"),
    "restricted stranger": ({"restricted": ["stranger"]}, MANIFEST, "", "stranger is restricted but is not an anchor"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_refused_by_file_and_place(tmp_path: Path, fault: str) -> None:
    changes, name, key, problem = FAULTS[fault]
    folder = write_set(tmp_path / "set", **changes)
    with pytest.raises(BadInput) as refused:
        read_base_set(folder)
    assert refused.value.where == str(folder / name)
    assert refused.value.key.startswith(key)
    assert problem in refused.value.problem
    assert refused.value.remedy


@pytest.mark.parametrize(
    ("items", "problem"),
    [
        ([*ITEMS[:2], ITEMS[2] | {"passage": "tiny/doc9:1"}], "not a passage in this warehouse"),
        ([*ITEMS[:2], ITEMS[2] | {"direction": "en-la"}], "the direction of the corpus of tiny/doc2:1 is la-en"),
    ],
)
def test_items_have_to_be_passages_of_an_imported_corpus(
    tiny: Warehouse, tmp_path: Path, items: list[dict[str, Any]], problem: str
) -> None:
    passages = {item["passage"]: original["passage"] for item, original in zip(items, ITEMS, strict=True)}
    renamed = {old: new for new, old in passages.items()}
    outputs = [line | {"passage": renamed[line["passage"]]} for line in OUTPUT_LINES]
    judgments = [line | {"passage": renamed[line["passage"]]} for line in JUDGMENT_LINES]
    with pytest.raises(BadInput, match=problem) as fault:
        import_base_set(tiny, write_set(tmp_path / "set", outputs, judgments, items=items))
    assert "items.2" in fault.value.key
    assert not any(everything(tiny).values())


def test_a_version_never_changes(tiny: Warehouse, tmp_path: Path) -> None:
    import_base_set(tiny, write_set(tmp_path / "one"))
    stored = everything(tiny)
    with pytest.raises(
        BadInput, match=r"1\.0\.0 of tiny-set is already in the warehouse with other content; give it a new version"
    ):
        import_base_set(tiny, write_set(tmp_path / "two", judgments=JUDGMENT_LINES[1:]))
    assert everything(tiny) == stored


OTHER = ["translator:ann", "translator:cleo", "weak"]


def of_anchors(anchors: list[str]) -> dict[str, Any]:
    renamed = dict(zip(ANCHORS, anchors, strict=True))
    return {
        "anchors": anchors,
        "outputs": [line | {"anchor": renamed[line["anchor"]]} for line in OUTPUT_LINES],
        "judgments": [
            line | {name: renamed[line[name]] for name in ("first", "second", "winner")} for line in JUDGMENT_LINES
        ],
    }


@pytest.mark.parametrize(
    ("first", "second", "changes", "problem"),
    [
        ("1.0.0", "1.0.1", of_anchors(OTHER), "anchors (translator:ben, translator:cleo)"),
        ("1.0.1", "1.0.0", of_anchors(OTHER), "anchors (translator:ben, translator:cleo)"),
        ("1.0.0", "1.0.1", {"judge": "umpire"}, "judge (referee)"),
        ("1.0.0", "1.0.1", {"orders": "one"}, "settings"),
        ("1.0.0", "1.0.1", {"judgments": JUDGMENT_LINES[:-1]}, ""),
        ("1.0.0", "1.1.0", of_anchors(OTHER), ""),
        ("1.1.0", "1.0.1", of_anchors(OTHER), ""),
        ("1.10.0", "1.1.1", of_anchors(OTHER), ""),
        ("1.0.0", "2.0.0", of_anchors(OTHER) | {"judge": "umpire", "orders": "one"}, ""),
    ],
)
def test_versions_that_differ_in_the_last_number_have_scores_that_compare(
    tiny: Warehouse, tmp_path: Path, first: str, second: str, changes: dict[str, Any], problem: str
) -> None:
    import_base_set(tiny, write_set(tmp_path / "one", version=first))
    stored = everything(tiny)
    folder = write_set(tmp_path / "two", version=second, **changes)
    if problem:
        with pytest.raises(BadInput) as fault:
            import_base_set(tiny, folder)
        assert fault.value.problem == f"tiny-set@{first} has the same first two numbers but differs in {problem}"
        assert everything(tiny) == stored
    else:
        import_base_set(tiny, folder)
        assert set(tiny.read("base_set")["base_set"]) == {f"tiny-set@{first}", f"tiny-set@{second}"}
        old = {table: [row for row in rows if f"tiny-set@{first}" in row] for table, rows in everything(tiny).items()}
        assert old == stored


def test_sets_of_other_names_are_no_versions_of_each_other(tiny: Warehouse, tmp_path: Path) -> None:
    import_base_set(tiny, write_set(tmp_path / "one"))
    import_base_set(tiny, write_set(tmp_path / "two", name="other", version="1.0.1", **of_anchors(OTHER)))
    assert len(tiny.read("base_set")) == 2


def test_an_import_names_items_whose_source_is_another_now(tiny: Warehouse, tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set")
    changed = TEXTS | {PASSAGES[1]: "Sol occidit."}
    tiny.write([Replacement("source_text", sources(changed), None)], "test")
    assert import_base_set(tiny, folder).differing == [PASSAGES[1]]


def test_a_base_set_outlives_its_corpus(
    tiny: Warehouse, systems: RuleSystems, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    folder = write_set(tmp_path / "set")
    import_base_set(tiny, folder)
    instance.add_dynamic_partitions("passage", PASSAGES)
    stored = everything(tiny)

    @dg.op
    def forget(context: dg.OpExecutionContext) -> None:
        removal.corpus(context, tiny, systems, "tiny")

    @dg.job
    def forgetting() -> None:
        forget()

    forgetting.execute_in_process(instance=instance)
    assert tiny.read("source_text").is_empty()
    assert everything(tiny) == stored
    assert import_base_set(tiny, folder).before


def test_the_sample_base_set_is_whole_and_small() -> None:
    assert len(original().manifest.items) == 16
    assert len(original().outputs) == 5 * 16
    assert len(original().judgments) == 2 * 10 * 16
    assert sum(path.stat().st_size for path in BASE_SET.iterdir()) < 120_000


@pytest.mark.parametrize(
    ("adaptive", "fits"),
    [({"within": 0.1}, True), ({"ranks": 2}, True), ({"ranks": 0}, False), ({"within": 0.1, "ranks": 2}, False)],
)
def test_adaptive_judging_ends_by_one_of_two_rules(tmp_path: Path, adaptive: dict[str, Any], fits: bool) -> None:
    folder = write_set(tmp_path / "set", adaptive=adaptive)
    if fits:
        assert json.loads(read_base_set(folder).manifest.judging.model_dump_json())["adaptive"] == adaptive
    else:
        with pytest.raises(BadInput, match="adaptive"):
            read_base_set(folder)


JUDGED = {"id": "referee-1", "temperature": 0.0, "max_tokens": 512, "prompt": "compare 1 (d1ce)"}


def test_what_the_judge_was_is_stored_and_another_one_needs_another_minor_version(
    tiny: Warehouse, tmp_path: Path
) -> None:
    import_base_set(tiny, write_set(tmp_path / "one", judged=JUDGED))
    (stored,) = tiny.read("base_set")["judged"]
    assert JudgeRecord.model_validate_json(stored) == JudgeRecord.model_validate(JUDGED)
    with pytest.raises(BadInput, match=r"differs in judge \(referee\)"):
        import_base_set(tiny, write_set(tmp_path / "two", version="1.0.1", judged=JUDGED | {"id": "referee-2"}))
    import_base_set(tiny, write_set(tmp_path / "three", version="1.1.0", judged=JUDGED | {"id": "referee-2"}))


def test_the_hash_covers_what_the_judge_was(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set", judged=JUDGED)
    path = folder / MANIFEST
    path.write_text(path.read_text().replace("referee-1", "referee-2"))
    with pytest.raises(BadInput, match=r"`hashes\.content` is "):
        read_base_set(folder)


def test_a_version_that_nobody_knows_is_no_other() -> None:
    then = JudgeRecord.model_validate(JUDGED | {"served": "v1"})
    assert then.differences(then.model_copy(update={"served": ""})) == []
    assert then.differences(then.model_copy(update={"served": "v2", "seed": 1})) == ["served", "seed"]
