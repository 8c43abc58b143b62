"""Base sets of recipes: from Git LFS objects in the published form, from totals, and in the form of ours."""

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchmark_assets.benchmarks import numbers
from benchmark_assets.benchmarks.recipe import SHIPPED, read
from benchmark_assets.benchmarks.reproduction import ADMITTED, DIGITS, EQUAL, reproduce
from benchmark_assets.metrics.intervals import Floats
from benchmark_assets.pairwise.totals import COLUMNS, read_totals
from resources.errors import BadInput
from tests.benchmarks.mirror import Mirror, serving
from tests.benchmarks.published_sets import JUDGMENTS, MEDIA, NAME, START, TWICE, Items, objects, pin, publish_set
from tests.benchmarks.recipes import change, publish, write_recipe
from tests.benchmarks.test_adding import opened
from tests.pairwise.test_base_sets import write_set
from tests.processes import here
from tests.realdata.test_pairwise import some_table

KEY = f"{NAME}@1.0.0"
ANCHORS = ["gemini-2.5-pro", "maker/middle", "maker/weak"]
ITEMS: Items = {
    "A letter": (True, "easy"), "A manual": (True, "hard"), "A (long) tale": (True, "hard"),
    "手紙 1": (False, "easy"), TWICE: (False, "hard"), "Haiku, old": (False, "hard"),
}  # fmt: skip
WINS: dict[bool, Floats] = {
    True: np.array([[0, 2, 2], [1, 0, 2], [1, 1, 0]], dtype=np.float64),
    False: np.array([[0, 1, 2], [2, 0, 2], [1, 1, 0]], dtype=np.float64),
}


@pytest.fixture
def mirror() -> Iterator[Mirror]:
    with serving(Mirror({})) as running:
        yield running


def scores(home: Path) -> pl.DataFrame:
    rows = opened(home).read("anchor_score").sort("slice", "lt", descending=[False, True])
    return rows.select("slice", "anchor", "items", "matches", "wins", pl.col("lt").round(3))


@pytest.mark.proof
@pytest.mark.large
def test_a_published_base_set_is_imported_once_its_objects_can_be_fetched(tmp_path: Path, mirror: Mirror) -> None:
    """Totals stand in for it before; pointers, and objects with another digest, are no objects."""
    recipe, home = publish_set(tmp_path / NAME, mirror, ANCHORS, ITEMS, WINS), tmp_path / "home"
    add = ["add", str(recipe), "--no-update", "--base", mirror.url]
    media = f"{MEDIA}{START}{JUDGMENTS}"
    whole = mirror.spoiled[media]
    mirror.spoiled[media] = mirror.spoiled[f"{START}{JUDGMENTS}"]
    said = here(home, *add).stdout
    assert f"left out, objects: {mirror.url}{media}: {JUDGMENTS}: has the digest" in said
    assert "corpus" not in said
    assert opened(home).read("base_set").is_empty()
    totals = opened(home).read("anchor_total").filter(base_set=KEY)
    pairs = [pair + ease for pair in ("en-ja", "ja-en") for ease in ("", " easy", " hard")]
    assert Counter(totals["slice"]) == dict.fromkeys(["overall", *pairs], 20)
    best = totals.filter(slice="overall", anchor="gemini-2.5-pro")
    assert best.select("matches", "wins").row(0) == (1273, 1224)
    (origin,) = opened(home).read("published_base_set").rows(named=True)
    assert (origin["benchmark"], origin["commit"][:7], origin["licence"]) == (NAME, "89d8d9b", "Apache-2.0")

    mirror.spoiled[media] = whole
    said = here(home, "add", str(recipe), "--base", mirror.url).stdout
    assert f"base set {KEY}: imported; 3 anchors on 6 items, 18 judgments" in said
    assert "corpus jp-tl-bench-en-ja: 3 passages, not 34 as in the recipe" in said
    warehouse, after = opened(home), scores(home)
    assert set(after["anchor"]) == set(ANCHORS)
    assert len(after["slice"].unique()) == 9
    wins = {"en-ja": [4, 3, 2], "ja-en": [3, 4, 2], "overall": [7, 7, 4]}
    for name, won in wins.items():
        of_slice = after.filter(slice=name).select("anchor", "wins")
        assert dict(of_slice.iter_rows()) == dict(zip(ANCHORS, won, strict=True))
    (origin,) = warehouse.read("published_base_set").rows(named=True)
    assert origin["url"] == mirror.url + media
    assert origin["sha256"] in (recipe / "objects.sha256").read_text()
    texts = dict(warehouse.read("source_text").select("passage", "text").iter_rows())
    assert texts["jp-tl-bench-ja-en/Two-faces"] == f"Text of {TWICE}, new."
    assert set(texts) == {
        *(f"jp-tl-bench-en-ja/{name}" for name in ("A-letter", "A-manual", "A-long-tale")),
        *(f"jp-tl-bench-ja-en/{name}" for name in ("1", "Two-faces", "Haiku-old")),
    }
    asked = [*mirror.asked]
    assert f"base set {KEY}: already imported" in here(home, *add).stdout
    assert scores(home).equals(after)
    assert sorted(mirror.asked[len(asked) :]) == sorted({each for each in asked if "/prompts/" in each})  # not there
    here(home, "remove", "baseset", KEY)
    for table in ("base_set", "anchor_total", "published_base_set"):
        assert opened(home).read(table).is_empty()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"name": "A letter"', '"title": "A letter"', "lacks one of the keys"),
        ('"name": "A letter"', '"name": "A postcard"', "is not an item of the set"),
        ("{", "(", "cannot be read"),
    ],
)
def test_a_published_base_set_with_a_fault_stops_before_anything_is_imported(
    tmp_path: Path, mirror: Mirror, old: str, new: str, words: str
) -> None:
    recipe, home = publish_set(tmp_path / NAME, mirror, ANCHORS, ITEMS, WINS), tmp_path / "home"
    bodies = objects(mirror)
    pin(recipe, mirror, bodies | {JUDGMENTS: bodies[JUDGMENTS].replace(old.encode(), new.encode(), 1)})
    assert words in here(home, "add", str(recipe), "--base", mirror.url, code=1).stderr
    for table in ("corpus", "base_set", "anchor_total", "benchmark"):
        assert opened(home).read(table).is_empty()


def test_a_recipe_may_have_a_base_set_of_its_own(tmp_path: Path) -> None:
    with serving(publish(tmp_path / "published")) as mirror:
        recipe = write_recipe(
            tmp_path / "recipe", tmp_path / "published", base_sets=[{"description": "set/notes.yaml"}]
        )
        write_set(recipe / "set")
        with pytest.raises(BadInput, match="there is no file"):
            read(recipe)
        (recipe / "set/notes.yaml").write_text("{}")
        with pytest.raises(BadInput, match="is not the manifest of a base set"):
            read(recipe)
        change(recipe / "recipe.yaml", {"base_sets": [{"description": "set/baseset.yaml"}]})
        home, add = tmp_path / "home", ["add", str(recipe), "--no-update", "--base", mirror.url]
        said = here(home, *add).stdout
        assert "base set tiny-set@1.0.0: imported; 3 anchors on 3 items" in said
        (origin,) = opened(home).read("published_base_set").rows(named=True)
        assert (origin["benchmark"], origin["url"]) == ("small", "")
        assert len(opened(home).read("anchor_output").filter(base_set="tiny-set@1.0.0")) == 9

        change(recipe / "recipe.yaml", {"name": "another"})
        change(recipe / "tiny.yaml", {"name": "tiny-2"})
        said = here(home, *add, code=1).stderr
        assert "tiny-set@1.0.0 was imported from elsewhere; remove it first: `variorum remove baseset" in said


TOTALS = [["overall", "a", 4, 3], ["overall", "b", 4, 2], ["overall", "c", 4, 1]]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([["overall", "a", 4, "many"]], "whole numbers"),
        ([*TOTALS, ["en-ja", "a", 2, 1], ["en-ja", "b", 2, 1]], "lacks an anchor"),
        ([*TOTALS[:2], ["overall", "c", 5, 1]], "did not meet equally often"),
        ([*TOTALS[:2], ["overall", "c", 4, 2]], "not half of the matches"),
        ([["overall", "a", 4, 4], ["overall", "b", 4, 2], ["overall", "c", 4, 0]], "won or lost everything"),
    ],
)
def test_totals_that_give_no_strengths_are_refused(tmp_path: Path, rows: list[list[object]], words: str) -> None:
    path = tmp_path / "totals.csv"
    lines = [",".join(COLUMNS), *(",".join(f"{cell}" for cell in row) for row in rows)]
    path.write_text("\n".join(lines))
    with pytest.raises(BadInput, match=words):
        read_totals(path)


@pytest.mark.proof
@pytest.mark.large
def test_the_published_reports_come_out_of_as_many_judgments(tmp_path: Path, mirror: Mirror) -> None:
    """Judgments of 20 anchors on 67 items, drawn so that every anchor has its published wins in both directions. The
    file is larger than other files may be."""
    totals = read_totals(SHIPPED / NAME / "totals.csv")
    anchors = totals.filter(slice="overall")["anchor"].to_list()
    items = {f"English {number}": (True, "easy" if number < 15 else "hard") for number in range(34)}
    items |= {f"Japanese {number}": (False, "easy" if number < 15 else "hard") for number in range(33)}
    wins = {}
    for english, name, matches in ((True, "en-ja", 34), (False, "ja-en", 33)):
        of_anchor = dict(totals.filter(slice=name).select("anchor", "wins").iter_rows())
        won = np.array([of_anchor[anchor] for anchor in anchors], dtype=np.float64)
        wins[english] = np.round(some_table(won, 1, matches, least=0))
    recipe, home = publish_set(tmp_path / NAME, mirror, anchors, items, wins, filler="…" * 1700), tmp_path / "home"
    assert len(objects(mirror)[JUDGMENTS]) > 50 * 2**20
    began = time.monotonic()
    assert "20 anchors on 67 items, 12730 judgments" in here(home, "add", str(recipe), "--base", mirror.url).stdout
    size = sum(len(body) for body in objects(mirror).values())
    print(f"{size / 1e6:.1f} MB, {time.monotonic() - began:.0f} s")
    found = reproduce(opened(home), NAME, numbers.read(SHIPPED / NAME / numbers.FILE), tmp_path)
    reports = found.filter(pl.col("paper_table").str.starts_with("report"))
    assert Counter(reports["outcome"]) == {EQUAL: 120, DIGITS: 38, ADMITTED["optimizer"]: 120, ADMITTED["print"]: 22}
    assert set(reports["origin"].str.extract(r"^(\w+)\.")) == {"anchor_score"}
