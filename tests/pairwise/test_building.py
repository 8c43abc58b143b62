"""Making base sets: the choice of anchors, the report on it, the folder."""

import json
from itertools import combinations, permutations
from pathlib import Path

import polars as pl
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.corpus.registry import register
from benchmark_assets.pairwise.base_sets import (
    MANIFEST,
    OUTPUTS,
    Identity,
    JudgeRecord,
    import_base_set,
    jsonl,
    read_base_set,
)
from benchmark_assets.pairwise.building import (
    build_base_set,
    choose,
    judge_pool,
    manifest,
    pool,
    report,
    restricted_of,
    unevenness,
    win_rates,
    write_base_set,
)
from benchmark_assets.pairwise.comparing import judged_by
from resources.errors import BadInput
from resources.provider.provider import Provider
from resources.provider.sqlite_ledger import SqliteLedger
from resources.warehouse import Replacement, Warehouse
from tests.provider.server import Server
from tests.record_sample import ANCHORS, BASE_SET, COMPARER, COMPARISONS, IDENTITY, SAMPLE, pool_work

ITEMS = pl.DataFrame(
    [("a", "ja-en", "easy"), ("b", "ja-en", "hard"), ("c", "en-ja", "easy"), ("d", "en-ja", "hard")],
    schema=["passage", "direction", "difficulty"], orient="row",
)  # fmt: skip

JUDGED = JudgeRecord(id="referee-1", max_tokens=1024, prompt="compare 1 (d1ce)")


def rates_of(systems: dict[str, list[float]]) -> pl.DataFrame:
    """Win rates of systems: overall, and in each of two directions."""
    rows = [
        (system, name, rate)
        for system, own in systems.items()
        for name, rate in zip(["overall", "en-ja", "ja-en"], own, strict=False)
    ]
    return pl.DataFrame(rows, schema=["system", "slice", "win_rate"], orient="row")


def pools(most: int) -> st.SearchStrategy[pl.DataFrame]:
    # Rates of 0 to 16 sixteenths, so that some are equal.
    rates = st.lists(st.integers(0, 16).map(lambda each: each / 16), min_size=3, max_size=3)
    pool = st.lists(rates, min_size=3, max_size=most)
    return pool.map(lambda each: rates_of({f"s{number:02d}": own for number, own in enumerate(each)}))


def in_order(pool: pl.DataFrame) -> list[str]:
    return pool.filter(slice="overall").sort("win_rate", "system")["system"].to_list()


@given(pools(8), st.integers(2, 5))
def test_no_other_choice_lies_more_evenly(pool: pl.DataFrame, count: int) -> None:
    count = min(count, len(in_order(pool)))
    least = min(unevenness(pool, each) for each in combinations(in_order(pool), count))
    assert unevenness(pool, choose(pool, count)) == pytest.approx(least, abs=1e-12)


@given(pools(20), st.integers(2, 10), st.randoms())
def test_the_order_of_the_pool_changes_nothing(pool: pl.DataFrame, count: int, chance: st.DataObject) -> None:
    count = min(count, len(in_order(pool)))
    shuffled = pool.sample(fraction=1, shuffle=True, seed=chance.randrange(1000))  # type: ignore[attr-defined]
    assert choose(shuffled, count) == choose(pool, count)


def test_systems_that_lie_evenly_are_found_in_a_crowd() -> None:
    even = {f"even{place:02d}": [place / 19] * 3 for place in range(20)}
    crowd = {f"crowd{number:03d}": [0.5 + number / 1000] * 3 for number in range(180)}
    pool = rates_of(crowd | even)
    assert choose(pool, 20) == sorted(even)
    assert unevenness(pool, even) == pytest.approx(0, abs=1e-12)


def test_of_two_alike_overall_the_one_that_is_strong_in_one_direction_only_is_left_out() -> None:
    pool = rates_of({"low": [0.1] * 3, "one-sided": [0.5, 0.1, 0.9], "steady": [0.5] * 3, "top": [0.9] * 3})
    assert choose(pool, 3) == ["low", "steady", "top"]


@pytest.mark.parametrize("count", [1, 4])
def test_no_more_can_be_chosen_than_there_are(count: int) -> None:
    pool = rates_of({"low": [0.1] * 3, "top": [0.9] * 3, "new": [0.5] * 3, "half-judged": [0.5, 0.4]})
    with pytest.raises(BadInput, match=f"has 3 systems that were judged on every slice, so {count} anchors"):
        choose(pool, count)


@pytest.fixture
def recorded(tmp_path: Path, ledger: SqliteLedger) -> Provider:
    """The comparing judge of the sample, as it was recorded."""
    registry = tmp_path / "models.yaml"
    content = {
        "endpoints": {"sample": {"recording": str(COMPARISONS)}},
        "judges": {COMPARER: {"endpoint": "sample", "id": COMPARER, "family": "recorded-judge"}},
        "families": dict.fromkeys(["erring", "free", "literal", "truncating", "verbose"], "recorded-system"),
        "embedders": {"minilm": {}}, "embedder": "minilm",
    }  # fmt: skip
    registry.write_text(json.dumps(content), encoding="utf-8")
    return Provider(registry_path=str(registry), ledger_path=str(ledger.path))


def describe(folder: Path, *restricted: str) -> Path:
    """Write a description of the sample in which these texts may not be passed on."""
    content = yaml.safe_load((SAMPLE / "corpus.yaml").read_text(encoding="utf-8"))
    for name, text in {"source": content["source"], **content["references"]}.items():
        text["restricted"] = name in restricted
    (folder / "corpus.yaml").write_text(json.dumps(content), encoding="utf-8")
    return folder / "corpus.yaml"


@pytest.fixture
def stocked(warehouse: Warehouse, tmp_path: Path) -> Warehouse:
    """A warehouse with the sample's items and all that systems and translators made of them. Okafor's translation may
    not be passed on."""
    items, outputs = pool_work()
    rows = items.select(
        "passage", text="source", language="source_language", segments=pl.concat_list("source"),
        segment_ids=pl.concat_list("passage"), passage_id=pl.col("passage").str.strip_prefix("sample/"),
        corpus=pl.lit("sample"), document=pl.lit("doc"), position=pl.lit(0, pl.Int32), fingerprint=pl.lit("f"),
        previous=pl.lit(None, pl.String), following=pl.lit(None, pl.String), listed=pl.lit(None, pl.Boolean),
    )  # fmt: skip
    human = pl.col("system").str.starts_with("translator:")
    people = outputs.filter(human).select(
        "passage", "text", translator=pl.col("system").str.strip_prefix("translator:"), complete=pl.lit(True),
        flag=pl.lit(None, pl.String), fingerprint=pl.lit("f"),
    )  # fmt: skip
    register(warehouse, describe(tmp_path, "okafor"))
    models = outputs.filter(~human).select("passage", "text", model="system", fingerprint=pl.lit("f"))
    tables = {"source_text": rows, "reference": people, "model_output": models}
    warehouse.write([Replacement(table, own, None) for table, own in tables.items()], "test")
    return warehouse


def test_the_sample_base_set_is_what_its_recording_gives(recorded: Provider, tmp_path: Path) -> None:
    items, outputs = pool_work()
    own = outputs.filter(pl.col("system").is_in(ANCHORS))
    judgments = judge_pool(recorded, COMPARER, items, own, "test")
    folder = tmp_path / "baseset"
    own_manifest = manifest(IDENTITY, judged_by(recorded, COMPARER), ANCHORS, items, [])
    write_base_set(folder, own_manifest, outputs, judgments)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        path.name: path.read_bytes() for path in BASE_SET.iterdir()
    }
    refused = judgments.filter(pl.col("winner").is_null()).rows()
    assert refused == [("sample/fab2:3", "verbose", "translator:harrow", None)]


def test_a_pool_becomes_a_base_set_that_can_be_imported(stocked: Warehouse, recorded: Provider, tmp_path: Path) -> None:
    items = pool_work()[0].select("passage", "difficulty")
    (tmp_path / "items.jsonl").write_bytes(jsonl(items))
    folder = tmp_path / "set"
    identity = Identity(name="five", version="0.1.0", judge=COMPARER)
    built = build_base_set(stocked, recorded, folder, identity, tmp_path / "items.jsonl", 5, [], "test")
    # Okafor's texts may not be passed on, and nobody has asked for them by name.
    assert set(built.pool["system"]) == {*ANCHORS, "erring", "free", "literal"} - {"translator:okafor"}
    assert built.anchors == choose(built.pool, 5)
    assert built.restricted == []

    assert import_base_set(stocked, folder).differing == []
    manifest_read = read_base_set(folder).manifest
    assert manifest_read.judged == judged_by(recorded, COMPARER)
    found = report(stocked, "five@0.1.0")
    assert found["problem"].drop_nulls().is_empty()
    overall = found.head(5)
    assert set(overall["slice"]) == {"overall"}
    assert sorted(overall["anchor"]) == sorted(built.anchors)
    # Every match among anchors has one winner, or two halves.
    assert overall["win_rate"].mean() == pytest.approx(0.5, abs=0.01)
    assert overall["win_rate"].is_sorted(descending=True)
    assert (overall["matches"] + overall["excluded"]).to_list() == [4 * 16] * 5
    assert (overall["win_rate_low"] < overall["win_rate"]).all()
    assert (overall["lt"] < overall["lt_high"]).all()
    assert found["contract"][0].startswith("base set five@0.1.0 (")
    assert f"judge comparer: {manifest_read.judged}" in found["contract"][0]
    slices = found["slice"].unique(maintain_order=True).to_list()
    assert slices == ["overall", "easy", "hard", "la-en", "la-en easy", "la-en hard"]
    with pytest.raises(BadInput, match=r"no such base set in this warehouse; imported base sets: five@0\.1\.0"):
        report(stocked, "six@0.1.0")


def test_a_restricted_translator_who_is_asked_for_is_named_in_the_folder(
    stocked: Warehouse, recorded: Provider, tmp_path: Path
) -> None:
    (tmp_path / "items.jsonl").write_text('{"passage": "sample/ep1:1", "difficulty": "easy"}\n')
    identity = Identity(name="two", version="1.0.0", judge=COMPARER)
    pool = ["translator:okafor", "translator:harrow"]
    built = build_base_set(stocked, recorded, tmp_path / "set", identity, tmp_path / "items.jsonl", 2, pool, "test")
    assert built.restricted == ["translator:okafor"]
    assert read_base_set(tmp_path / "set").manifest.restricted == ("translator:okafor",)


def test_a_model_that_gives_a_restricted_text_back_is_in_no_pool_unless_it_is_asked_for(
    stocked: Warehouse, recorded: Provider, tmp_path: Path
) -> None:
    passage = pl.DataFrame({"passage": ["sample/ep1:1"]})
    (translation,) = stocked.read("reference", passage.with_columns(translator=pl.lit("okafor")), ["text"])["text"]
    (source,) = stocked.read("source_text", passage, ["text"])["text"]
    outputs = stocked.read("model_output", passage).filter(pl.col("model").is_in(["free", "literal"]))
    said = {"free": f"Here it is: {translation.upper()}", "literal": source}
    changed = outputs.with_columns(text=pl.col("model").replace_strict(said)).drop("run_id", "updated_at")
    stocked.write([Replacement("model_output", changed, changed.select("model", "passage"))], "test")
    assert not {"free", "translator:okafor"} & set(pool(stocked, ["sample/ep1:1"], [])["system"])
    assert "literal" in set(pool(stocked, ["sample/ep1:1"], [])["system"])

    describe(tmp_path, "okafor", "source")
    assert set(pool(stocked, ["sample/ep1:1"], [])["system"]).isdisjoint({"free", "literal", "translator:okafor"})

    named = pool(stocked, ["sample/ep1:1"], ["free", "literal", "verbose"])
    assert restricted_of(stocked, named) == ["free", "literal"]
    (tmp_path / "items.jsonl").write_text('{"passage": "sample/ep1:3", "difficulty": "easy"}\n')
    identity, names = Identity(name="two", version="1.0.0", judge=COMPARER), ["free", "literal"]
    built = build_base_set(stocked, recorded, tmp_path / "set", identity, tmp_path / "items.jsonl", 2, names, "test")
    assert built.restricted == []  # on other items


@pytest.mark.parametrize(
    ("lines", "systems", "count", "problem"),
    [
        ('{"passage": "sample/zz", "difficulty": "easy"}', [], 2, "sample/zz: is not a passage in this warehouse"),
        ('{"passage": "sample/ep1:1", "difficulty": "easy"}\n' * 2, [], 2, "line 2 sample/ep1:1: occurs twice"),
        ('{"passage": "sample/ep1:1", "difficulty": "so-so"}', [], 2, "'easy' or 'hard'"),
        ("", [], 2, "contains no items"),
        ('{"passage": "sample/ep1:1", "difficulty": "easy"}', ["nobody"], 2, "nobody: has 0 of 1 items"),
        ('{"passage": "sample/ep1:1", "difficulty": "easy"}', ["free"], 2, "has 1 systems, so 2 anchors"),
    ],
)
def test_nobody_is_asked_where_something_is_wrong(
    stocked: Warehouse, recorded: Provider, tmp_path: Path, lines: str, systems: list[str], count: int, problem: str
) -> None:
    (tmp_path / "items.jsonl").write_text(lines)
    identity = Identity(name="two", version="1.0.0", judge=COMPARER)
    with pytest.raises(BadInput) as fault:
        build_base_set(stocked, recorded, tmp_path / "set", identity, tmp_path / "items.jsonl", count, systems, "test")
    assert problem in str(fault.value)
    assert not (tmp_path / "set").exists()
    assert not recorded.ledger.exists()


def test_after_a_failed_call_only_that_one_is_made_again(server: Server, tmp_path: Path, ledger: SqliteLedger) -> None:
    registry = tmp_path / "models.yaml"
    content = {
        "endpoints": {"server": {"url": server.url, "in_flight": 1}},
        "judges": {"always-a": {"endpoint": "server", "id": "always-a", "family": "referee"}},
        "families": dict.fromkeys(["erring", "free", "literal", "truncating", "verbose"], "players"),
        "embedders": {"minilm": {}}, "embedder": "minilm",
    }  # fmt: skip
    registry.write_text(json.dumps(content), encoding="utf-8")
    provider = Provider(registry_path=str(registry), ledger_path=str(ledger.path))
    items, outputs = (each.filter(pl.col("passage") == "sample/ep1:1") for each in pool_work())
    server.configure(answer="judge", script=["bad_request"])
    own = outputs.filter(pl.col("system").is_in(["free", "literal", "verbose"]))
    with pytest.raises(BadInput, match="needs your consent to costs: 6 calls"):
        judge_pool(provider, "always-a", items, own, "first", accepted=False)
    assert not server.log()
    with pytest.raises(BadInput, match="failed in 1 of 6 comparisons"):
        judge_pool(provider, "always-a", items, own, "first")
    judgments = judge_pool(provider, "always-a", items, own, "second")
    assert len(server.log()) == 7
    assert judgments["winner"].to_list() == judgments["first"].to_list()
    assert win_rates(judgments, items)["win_rate"].unique().to_list() == [0.5]


def test_the_same_content_gives_the_same_bytes_in_whatever_order_it_comes(tmp_path: Path) -> None:
    items, outputs = pool_work()
    pairs = [(passage, *pair, pair[0]) for passage in items["passage"] for pair in permutations(ANCHORS, 2)]
    judgments = pl.DataFrame(pairs, schema=["passage", "first", "second", "winner"], orient="row")
    for folder, seed in (("one", 1), ("two", 2)):
        shuffled = [each.sample(fraction=1, shuffle=True, seed=seed) for each in (outputs, judgments)]
        write_base_set(tmp_path / folder, manifest(IDENTITY, JUDGED, ANCHORS[:: seed * 2 - 3], items, []), *shuffled)
    one, two = ({path.name: path.read_bytes() for path in (tmp_path / each).iterdir()} for each in ("one", "two"))
    assert one == two
    assert len(read_base_set(tmp_path / "one").judgments) == len(pairs)


def test_a_folder_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    items, outputs = pool_work()
    nothing = pl.DataFrame(schema=dict.fromkeys(["passage", "first", "second", "winner"], pl.String))
    own = manifest(IDENTITY, JUDGED, ANCHORS, items, [])
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(BadInput, match="cannot be written"):
        write_base_set(tmp_path / "file" / "set", own, outputs, nothing)
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / OUTPUTS).write_text("of another set")
    with pytest.raises(BadInput, match="already exists"):
        write_base_set(tmp_path / "set", own, outputs, nothing)
    assert (tmp_path / "set" / OUTPUTS).read_text() == "of another set"
    write_base_set(tmp_path / "new", own, outputs, nothing)
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["new", "set"]
    assert (tmp_path / "new" / MANIFEST).is_file()
