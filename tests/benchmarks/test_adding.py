"""`variorum add`: from nothing to a table, from a mirror of the public repositories."""

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

import polars as pl
import pytest

from benchmark_assets.benchmarks.recipe import shipped
from benchmark_assets.corpus.description import ASPECTS
from benchmark_assets.corpus.registry import register
from resources import catalogue
from resources.changes import LOG
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.warehouse import Warehouse
from tests.benchmarks.expected import recipes
from tests.benchmarks.mirror import Mirror, published, serving
from tests.benchmarks.recipes import COMMIT, TINY, change, cut, folders, publish, reachable, write_recipe
from tests.benchmarks.test_limits import registry
from tests.benchmarks.test_published_scores import ENTRY, OVERALL
from tests.benchmarks.test_published_scores import write as write_scores
from tests.processes import here
from tests.provider.server import Server

HAD = recipes("data", "-")
"""Recipes whose files, or some of them, are in the real data. The others are in test_expected."""

CHANGED = f"/people/texts/{COMMIT}/root/la/test/doc1_root-la-test.json"
OF_CLEO = f"/people/more/{COMMIT}/doc1.txt"


@pytest.fixture
def mirror(tmp_path: Path) -> Iterator[Mirror]:
    """The tiny corpus as its publishers have it."""
    with serving(publish(tmp_path / "published")) as running:
        yield running


@pytest.fixture
def recipe(tmp_path: Path, mirror: Mirror) -> Path:
    return write_recipe(tmp_path / "recipe", tmp_path / "published")


def opened(home: Path) -> Warehouse:
    return DuckDBWarehouse(path=str(home / "variorum.duckdb"))


def content(home: Path) -> dict[str, list[tuple[object, ...]]]:
    """The rows of all tables."""
    warehouse = opened(home)
    with warehouse.kept_open():
        return {name: sorted(warehouse.read(name).rows(), key=repr) for name in catalogue.tables() if name != LOG}


def translators(home: Path) -> set[str]:
    return set(opened(home).read("licence").filter(pl.col("translator") != "")["translator"])


def test_a_benchmark_is_added_once_when_all_files_of_its_required_sources_are_there(
    tmp_path: Path, mirror: Mirror, recipe: Path
) -> None:
    add = ["add", str(recipe), "--accept", "--no-update", "--base", mirror.url]
    mirror.lost.add(CHANGED)
    said = here(tmp_path / "home", *add, code=1).stderr
    assert "there is no such file (status 404)" in said
    assert opened(tmp_path / "home").read("corpus").is_empty()
    mirror.lost.clear()
    first = here(tmp_path / "home", *add).stdout
    assert "source texts (required): 6 files from people/texts at c0ffee0; CC0-1.0" in first
    assert "corpus tiny: 3 passages\n" in first
    (row,) = opened(tmp_path / "home").read("benchmark").rows(named=True)
    assert (row["benchmark"], row["version"], row["corpora"], row["tasks"]) == ("small", 1, ["tiny"], [])
    assert len(opened(tmp_path / "home").read("source_text")) == 3
    before, requests = content(tmp_path / "home"), len(mirror.asked)
    status = here(tmp_path / "home", "status").stdout
    assert re.search(r"variorum update +3 imported passages are not computed yet", status)
    assert "import outputs" not in status
    second = here(tmp_path / "home", *add).stdout
    assert second == first
    assert content(tmp_path / "home") == before
    assert len(mirror.asked) == requests


def test_a_changed_file_of_a_required_source_stops_everything(tmp_path: Path, mirror: Mirror, recipe: Path) -> None:
    expected = sha256(mirror.body(CHANGED) or b"").hexdigest()
    mirror.spoiled[CHANGED] = b'{"doc1:1.1": "Another text."}'
    said = here(tmp_path / "home", "add", str(recipe), "--accept", "--base", mirror.url, code=1).stderr
    assert f"has the digest {sha256(mirror.spoiled[CHANGED]).hexdigest()}, not {expected}" in said
    assert CHANGED in said
    assert opened(tmp_path / "home").read("corpus").is_empty()
    assert opened(tmp_path / "home").read("benchmark").is_empty()


def test_a_file_that_its_description_does_not_fit_stops_everything(
    tmp_path: Path, mirror: Mirror, recipe: Path
) -> None:
    second = json.loads((recipe / "tiny.yaml").read_text()) | {"name": "second", "layout": "jsonl"}
    (recipe / "second.yaml").write_text(json.dumps(second))
    corpora = json.loads((recipe / "recipe.yaml").read_text())["corpora"]
    change(recipe / "recipe.yaml", {"corpora": [*corpora, corpora[0] | {"description": "second.yaml"}]})
    said = here(tmp_path / "home", "add", str(recipe), "--accept", "--base", mirror.url, code=1).stderr
    assert "sources/texts" in said
    assert opened(tmp_path / "home").read("corpus").is_empty()


def test_a_notice_about_files_is_printed_once(tmp_path: Path, mirror: Mirror, recipe: Path) -> None:
    """The files are read twice: before anything is imported, and by the scan."""
    (recipe / "only.csv").write_text("passage_id\ndoc1:1\ndoc7:7\n")
    change(recipe / "tiny.yaml", {"only": "only.csv"})
    done = here(tmp_path / "home", "add", str(recipe), "--no-update", "--base", mirror.url)
    assert done.stderr.count("only.csv: no file has 1 listed passages: doc7:7") == 1
    assert "corpus tiny: 1 passages, not 3 as in the recipe" in done.stdout


def test_an_optional_source_is_left_out_without_consent_and_while_a_file_is_missing(
    tmp_path: Path, mirror: Mirror, recipe: Path
) -> None:
    add = ["add", str(recipe), "--no-update", "--base", mirror.url]
    said = here(tmp_path / "home", *add).stdout
    assert "left out, more: its terms need your consent: `--accept`" in said
    assert not any("/more/" in path for path in mirror.asked)
    assert translators(tmp_path / "home") == {"ann", "ben"}
    mirror.lost.add(OF_CLEO)
    said = here(tmp_path / "home", *add, "--accept").stdout
    assert "left out, more: " in said
    assert "there is no such file" in said
    assert translators(tmp_path / "home") == {"ann", "ben"}
    (row,) = opened(tmp_path / "home").read("benchmark").rows(named=True)
    assert OF_CLEO in json.loads(row["left_out"])["more"]
    mirror.lost.clear()
    here(tmp_path / "home", *add, "--accept")
    assert translators(tmp_path / "home") == {"ann", "ben", "cleo"}


def test_without_consent_a_required_source_stops_before_anything_is_fetched(
    tmp_path: Path, mirror: Mirror, recipe: Path
) -> None:
    sources = json.loads((recipe / "recipe.yaml").read_text())["sources"]
    sources["texts"]["consent"] = True
    change(recipe / "recipe.yaml", {"sources": sources})
    done = here(tmp_path / "home", "add", str(recipe), "--base", mirror.url, code=1)
    assert "small: needs your consent to the terms of texts; read what is printed above" in done.stderr
    assert "Everything is allowed. Needs consent: --accept." in done.stdout
    assert not mirror.asked


def test_a_recipe_that_asks_judges_needs_consent(tmp_path: Path, mirror: Mirror, recipe: Path) -> None:
    change(recipe / "tiny.yaml", {"rubric": {"judges": ["brisk"]}})
    done = here(tmp_path / "home", "add", str(recipe), "--base", mirror.url, code=1)
    assert "corpus tiny asks models of your registry, within its budget: brisk; needs --accept" in done.stdout
    assert "needs your consent to calls by the corpus tiny" in done.stderr
    assert not mirror.asked


@pytest.mark.proof
def test_a_new_version_keeps_what_the_old_one_brought(
    tmp_path: Path, mirror: Mirror, recipe: Path, monkeypatch: pytest.MonkeyPatch, full: bool
) -> None:
    """Each version ends in a table. The small form has no tables."""
    monkeypatch.setenv("VARIORUM_MODELS", str(registry(tmp_path / "models.yaml", "http://127.0.0.1:9")))
    add = ["add", str(recipe), "--base", mirror.url, *([] if full else ["--no-update"])]
    said = here(tmp_path / "home", *add).stdout
    assert bool(re.search(r"^tiny +human +ann ", said, re.MULTILINE)) == full, said
    before = opened(tmp_path / "home").read("leaderboard")
    change(recipe / "tiny.yaml", {"scoring": {"cluster": "passage"}})
    change(recipe / "recipe.yaml", {"version": 2})
    said = here(tmp_path / "home", *add, code=1).stderr
    assert "'tiny' differs from the corpus of this name that was added before" in said
    change(recipe / "tiny.yaml", {"name": "tiny-2"})
    here(tmp_path / "home", *add)
    after = opened(tmp_path / "home").read("leaderboard")
    assert after.filter(corpus="tiny").drop("fingerprint").equals(before.drop("fingerprint"))
    assert set(after["corpus"]) == ({"tiny", "tiny-2"} if full else set())
    versions = opened(tmp_path / "home").read("benchmark").sort("version")
    assert versions["corpora"].to_list() == [["tiny"], ["tiny-2"]]
    assert versions["recipe_hash"].n_unique() == 2


def test_a_corpus_of_ones_own_is_not_replaced(home: Path, tmp_path: Path, mirror: Mirror, recipe: Path) -> None:
    register(opened(home), tmp_path / "published" / "corpus.yaml")
    said = here(home, "add", str(recipe), "--accept", "--base", mirror.url, code=1).stderr
    assert "'tiny' is already the name of" in said
    assert "variorum remove corpus tiny" in said
    assert not mirror.asked


def test_benchmarks_are_listed_with_what_they_need(tmp_path: Path) -> None:
    said = here(tmp_path / "home", "add").stdout
    for name in shipped():
        assert f"\n{name}: " in said
    assert "la → en" in said
    assert "takes a folder of yours (required): No publisher has these files;" in said


def test_benchmarks_are_listed_by_the_language_of_their_sources(tmp_path: Path) -> None:
    listed = here(tmp_path / "home", "benchmarks").stdout.split("\n\n")[0].splitlines()
    assert [line.split()[0] for line in listed[1:]] == list(shipped())
    for code in ("la", "lat"):
        said = here(tmp_path / "home", "benchmarks", "--language", code).stdout
        assert "\nlivy " in said
        assert "\niliad " not in said
    said = here(tmp_path / "home", "benchmarks", "--language", "got", code=1).stderr
    assert "no benchmark has sources in 'got'; use one of ang, bo, en, grc, " in said


def test_an_unknown_benchmark_is_refused(tmp_path: Path) -> None:
    assert "use one of agamemnon" in here(tmp_path / "home", "add", "nothing", code=1).stderr


@pytest.mark.realdata
@pytest.mark.proof
def test_a_tiny_cut_of_every_recipe_in_the_real_data_reaches_the_tables(
    tmp_path: Path, realdata: Path, full: bool
) -> None:
    """All recipes share a home and an update: ten updates of a few passages each take three times as long. The small
    form has two recipes: one with references, outputs and published numbers, one with a base set."""
    home, names = tmp_path / "home", HAD if full else ["palibench", "jp-tl-bench"]
    with serving(published(realdata)) as mirror:
        for name in names:
            recipe = cut(name, tmp_path / name, mirror, TINY)
            add = ["add", str(recipe), "--accept", "--no-update", "--base", mirror.url, *folders(name, realdata)]
            assert "not computed; run `variorum update`" in here(home, *add).stdout
    assert opened(home).read("leaderboard").is_empty()
    here(home, "update")
    check(opened(home), set(names))
    published_as_site(home, tmp_path / "site")
    warehouse = opened(home)
    outputs, scores = (set(warehouse.read(table)["model"]) for table in ("published_output", "published_score"))
    assert outputs
    assert outputs < scores  # some systems have scores over all passages only
    assert set(warehouse.read("published_summary")["corpus"]) == {"palibench"}
    assert len(warehouse.read("anchor_score").filter(slice="overall", base_set="jp-tl-bench@1.0.0")) == 20
    assert set(warehouse.read("reproduction")["benchmark"]) == {
        name for name, folder in shipped().items() if (folder / "numbers.yaml").is_file() and (full or name in names)
    }


@pytest.mark.realdata
@pytest.mark.proof
@pytest.mark.large
@pytest.mark.parametrize("name", HAD)
def test_a_cut_of_every_recipe_in_the_real_data_ends_in_a_table(name: str, tmp_path: Path, realdata: Path) -> None:
    with serving(published(realdata)) as mirror:
        recipe = cut(name, tmp_path / name, mirror)
        here(tmp_path / "home", "add", str(recipe), "--accept", "--base", mirror.url, *folders(name, realdata))
        before, requests = content(tmp_path / "home"), len(mirror.asked)
        here(tmp_path / "home", "add", str(recipe), "--accept", "--base", mirror.url)
    assert content(tmp_path / "home") == before
    assert not any(mirror.body(path) for path in mirror.asked[requests:])  # what is not there is tried again
    check(opened(tmp_path / "home"), {name})


@pytest.mark.realdata
@pytest.mark.proof
@pytest.mark.large
@pytest.mark.parametrize("name", HAD)
def test_every_recipe_in_the_real_data_has_the_size_that_it_declares(name: str, tmp_path: Path, realdata: Path) -> None:
    with serving(published(realdata)) as mirror:
        recipe = reachable(name, tmp_path / name, mirror)
        said = here(
            tmp_path / "home", "add", str(recipe), "--accept", "--base", mirror.url, *folders(name, realdata)
        ).stdout
    assert "as in the recipe" not in said
    check(opened(tmp_path / "home"), {name})
    published_as_site(tmp_path / "home", tmp_path / "site")


def published_as_site(home: Path, folder: Path) -> None:
    """The site of a home has a reader for every corpus with passages, and pages behind all links of its front page."""
    here(home, "site", str(folder))
    corpora = set(opened(home).read("source_text")["corpus"])
    assert {path.name for path in (folder / "read").glob("*")} == corpora
    links = re.findall(r'href="([^"#:]+)"', (folder / "index.html").read_text(encoding="utf-8"))
    assert len(links) >= 2
    assert all((folder / link).is_file() for link in links)


def check(warehouse: Warehouse, benchmarks: set[str]) -> None:
    """The tables have every published system, and every corpus and task of the added benchmarks that can be scored."""
    rows = warehouse.read("benchmark").rows(named=True)
    assert {row["benchmark"] for row in rows} == benchmarks
    board = warehouse.read("leaderboard")
    systems = warehouse.read("published_output")
    assert len(board.join(systems, left_on=["system", "corpus"], right_on=["model", "corpus"])) == len(systems)
    assert {corpus for row in rows for corpus in row["corpora"]} == set(warehouse.read("source_text")["corpus"])
    translators = warehouse.read("licence").filter(pl.col("translator") != "").group_by("corpus").len()
    assert set(board["corpus"]) == {*systems["corpus"], *translators.filter(pl.col("len") > 1)["corpus"]}
    tasks = set(warehouse.read("understanding_board")["task"].drop_nulls()) - {""}
    assert {task for row in rows for task in row["tasks"]} == tasks


def with_folder(recipe: Path, name: str, **settings: object) -> Path:
    """The recipe, one of whose sources is a folder that users bring."""
    sources = json.loads((recipe / "recipe.yaml").read_text())["sources"]
    keys = {"source": "folder", "licence": "CC0-1.0", "terms": "Any use.", "how": "Copy the texts from the library."}
    change(recipe / "recipe.yaml", {"sources": sources | {name: keys | settings}})
    return recipe


def test_without_a_sound_folder_for_a_required_source_nothing_is_fetched_or_imported(
    tmp_path: Path, mirror: Mirror, recipe: Path
) -> None:
    with_folder(recipe, "texts", files="texts.sha256")
    add = ["add", str(recipe), "--accept", "--base", mirror.url]
    done = here(tmp_path / "home", *add, code=1)
    assert "source texts (required): 6 files of a folder of yours, `--folder texts=PATH`; CC0-1.0" in done.stdout
    assert "sources.texts: needs a folder of yours with 6 files; Copy the texts from the library; then" in done.stderr
    assert not mirror.asked
    file = tmp_path / "published" / "root/la/test/doc1_root-la-test.json"
    expected = sha256(file.read_bytes()).hexdigest()
    file.write_bytes(b"{}")
    said = here(tmp_path / "home", *add, "--folder", f"texts={tmp_path / 'published'}", code=1).stderr
    assert f"{file}: has the digest {sha256(b'{}').hexdigest()}, not {expected}; Copy the texts" in said
    assert opened(tmp_path / "home").read("corpus").is_empty()


def test_an_optional_folder_is_left_out_until_it_is_brought(tmp_path: Path, mirror: Mirror, recipe: Path) -> None:
    with_folder(recipe, "more", required=False)
    add = ["add", str(recipe), "--no-update", "--base", mirror.url]
    said = here(tmp_path / "home", *add).stdout
    assert "left out, more: it needs a folder of yours; Copy the texts from the library; then add" in said
    assert translators(tmp_path / "home") == {"ann", "ben"}
    (tmp_path / "mine").mkdir()
    for name in ("doc1.txt", "doc2.txt"):
        shutil.copy(tmp_path / "published" / name, tmp_path / "mine")
    here(tmp_path / "home", *add, "--folder", f"more={tmp_path / 'mine'}")
    assert translators(tmp_path / "home") == {"ann", "ben", "cleo"}


def test_an_optional_source_without_digests_is_left_out_while_a_file_is_unreadable(
    tmp_path: Path, mirror: Mirror, recipe: Path
) -> None:
    """Also if the corpus was added before without the source."""
    with_folder(recipe, "more", required=False)
    (tmp_path / "mine").mkdir()
    for name in ("doc1.txt", "doc2.txt"):
        shutil.copy(tmp_path / "published" / name, tmp_path / "mine")
    whole = (tmp_path / "mine" / "doc1.txt").read_bytes()
    (tmp_path / "mine" / "doc1.txt").write_bytes(b"\xff")
    add = ["add", str(recipe), "--no-update", "--base", mirror.url]
    for before in ("first", "again"):
        said = here(tmp_path / "home", *add, "--folder", f"more={tmp_path / 'mine'}").stdout
        assert re.search(r"^left out, more: .*doc1\.txt: ", said, re.MULTILINE), before
        assert translators(tmp_path / "home") == {"ann", "ben"}
    (tmp_path / "mine" / "doc1.txt").write_bytes(whole)
    assert "left out" not in here(tmp_path / "home", *add, "--folder", f"more={tmp_path / 'mine'}").stdout
    assert translators(tmp_path / "home") == {"ann", "ben", "cleo"}


OUTPUTS = [
    {"source": "texts", "file": "outputs.json", "model": "maker/one", "corpus": "tiny", "absent": ["doc9:1"]},
]  # fmt: skip


def with_outputs(recipe: Path, folder: Path, scores: Sequence[Mapping[str, object]] = (), **changes: str) -> Path:
    """The recipe with published outputs for all passages, and for one that the corpus lacks, and published scores."""
    texts = {passage: f"The text of {passage}." for passage in ("doc1:1", "doc1:2", "doc2:1", "doc9:1")}
    (folder / "outputs.json").write_text(json.dumps({"metadata": {"model": "one"}, "translations": texts}))
    return write_recipe(recipe, folder, outputs=[OUTPUTS[0] | changes], scores=scores)


@pytest.mark.proof
@pytest.mark.large
def test_published_systems_are_on_the_table_with_their_origin(tmp_path: Path, mirror: Mirror, recipe: Path) -> None:
    """Those without published outputs have published scores only, and are never on the leaderboard."""
    write_scores(tmp_path / "published")
    with_outputs(recipe, tmp_path / "published", [ENTRY])
    (recipe / "overall.csv").write_text(OVERALL)
    here(tmp_path / "home", "add", str(recipe), "--no-update", "--base", mirror.url)
    (row,) = opened(tmp_path / "home").read("published_output").rows(named=True)
    assert (row["model"], row["benchmark"], row["commit"], row["licence"]) == ("maker/one", "small", COMMIT, "CC0-1.0")
    assert row["sha256"] == sha256((tmp_path / "published" / "outputs.json").read_bytes()).hexdigest()

    lines = [{"passage_id": name, "translation": "Mine."} for name in ("doc1:1", "doc1:2", "doc2:1")]
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, lines)))
    here(tmp_path / "home", "import", "outputs", str(tmp_path / "mine.jsonl"), "--corpus", "tiny")
    own = ["import", "outputs", str(tmp_path / "mine.jsonl"), "--corpus", "tiny", "--model", "maker/one"]
    assert "or of a published system" in here(tmp_path / "home", *own, code=1).stderr
    beside = here(tmp_path / "home", "evaluate", "mine", "maker/one", "--on", "small").stdout
    assert "maker/one (published)" in beside
    assert " mine " in beside
    warehouse = opened(tmp_path / "home")
    assert len(warehouse.read("model_output").filter(model="maker/one")) == 3
    assert set(warehouse.read("leaderboard")["system"]) == {"ann", "ben", "maker/one", "mine"}
    assert set(warehouse.read("published_summary")["system"]) == {"maker/one", "maker/two", "maker/three"}


def test_a_published_system_does_not_take_the_name_of_a_registered_model(
    tmp_path: Path, mirror: Mirror, recipe: Path
) -> None:
    with_outputs(recipe, tmp_path / "published", model="erring")
    said = here(tmp_path / "home", "add", str(recipe), "--base", mirror.url, code=1).stderr
    assert "erring: is the name of a model in the registry" in said
    assert not mirror.asked


def test_a_model_is_evaluated_only_on_an_added_benchmark(tmp_path: Path) -> None:
    said = here(tmp_path / "home", "evaluate", "erring", "--on", "livy", code=1).stderr
    assert "livy: was not added to this warehouse; run `variorum add livy`" in said


def test_systems_are_chosen_once_and_more_are_added_later(tmp_path: Path, mirror: Mirror, recipe: Path) -> None:
    folder = tmp_path / "published"
    texts = {passage: f"The text of {passage}." for passage in ("doc1:1", "doc1:2", "doc2:1")}
    for name in ("one", "two", "three"):
        (folder / f"{name}.json").write_text(json.dumps({"translations": texts}))
    outputs = [
        {"source": "texts", "corpus": "tiny", "model": name, "file": f"{name}.json"} for name in ("one", "two", "three")
    ]
    write_recipe(recipe, folder, outputs=outputs)

    add = ["add", str(recipe), "--no-update", "--base", mirror.url]

    def added(*systems: str) -> tuple[set[str], list[str] | None]:
        here(tmp_path / "home", *add, *(f"--systems={name}" for name in systems))
        warehouse = opened(tmp_path / "home")
        return set(warehouse.read("published_output")["model"]), warehouse.read("benchmark")["systems"].to_list()[0]

    said = here(tmp_path / "home", *add, "--systems", "four", code=1).stderr
    assert "four: is not a published system of the recipe; use `all`, or some of one, two, three" in said
    assert added("two") == ({"two"}, ["two"])
    assert not any(path.endswith(("/one.json", "/three.json")) for path in mirror.asked)
    before = content(tmp_path / "home")
    assert added() == ({"two"}, ["two"])
    assert content(tmp_path / "home") == before
    assert added("one,two") == ({"one", "two"}, ["one", "two"])
    assert added("all") == ({"one", "two", "three"}, None)
    assert added("one") == ({"one", "two", "three"}, None)


@pytest.mark.proof
@pytest.mark.large
@pytest.mark.realdata
def test_literary_scores_of_a_model_are_printed(
    tmp_path: Path, realdata: Path, monkeypatch: pytest.MonkeyPatch, server: Server
) -> None:
    """About an output with the words of the human translation no judge is asked. The judges find no damage in
    sentinels, so their verdicts count for no score."""
    server.configure(answer="judge")
    name, home = "literary-zh-ja", tmp_path / "home"
    recipe = cut(name, tmp_path / name, Mirror({}))
    seats = [f"literary-{aspect}" for aspect in ASPECTS]
    judges = {seat: {"endpoint": "server", "id": seat, "family": seat} for seat in seats}
    models = {
        "endpoints": {"server": {"url": server.url}}, "judges": judges, "families": {"whole": "rule"},
        "embedders": {"minilm": {}}, "embedder": "minilm",
    }  # fmt: skip
    (tmp_path / "models.yaml").write_text(json.dumps(models))
    monkeypatch.setenv("VARIORUM_MODELS", str(tmp_path / "models.yaml"))
    said = here(home, "add", str(recipe), "--no-update", *folders(name, realdata)).stdout
    assert f"asks models of your registry, within its budget: {', '.join(sorted(seats))}" in said
    references = opened(home).read("segmented_reference").select("passage", text=pl.col("segments").list.join(" "))
    for corpus in ("literary-hongloumeng", "literary-botchan"):
        rows = references.filter(references["passage"].str.starts_with(f"{corpus}/")).rows()
        lines = [{"passage_id": passage.partition("/")[2], "translation": text.lower()} for passage, text in rows]
        (tmp_path / "whole.jsonl").write_text("\n".join(map(json.dumps, lines)))
        here(home, "import", "outputs", str(tmp_path / "whole.jsonl"), "--corpus", corpus)
    said = here(home, "evaluate", "whole", "--on", name, "--accept").stdout
    for corpus in ("literary-hongloumeng", "literary-botchan"):
        assert re.search(rf"^{corpus} +whole +3 +0 +3 +0 +-", said, re.MULTILINE), said
    assert opened(home).read("study_call")["study"].unique().to_list() == ["sentinel"]
