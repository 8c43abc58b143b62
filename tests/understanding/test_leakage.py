import json

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.understanding.leakage import LEAKAGE, LENGTH, leakage
from benchmark_assets.understanding.samples import SAMPLE

ROOT, OTHER = "evaṃ mayā śrutam ekasmin samaye", "atha khalu bhagavān āyuṣmantam"


def sample(split: str, name: str, text: str, label: str | None = None, source: str | None = None, task: str = "T") -> \
        dict[str, object]:  # fmt: skip
    return {"task": task, "split": split, "sample": name, "position": int(name), "texts": json.dumps({"text": text}),
            "label": label, "source": source}  # fmt: skip


def of(*samples: dict[str, object]) -> pl.DataFrame:
    return leakage(pl.DataFrame(samples, schema=SAMPLE))


def grams(text: str) -> set[str]:
    text = " ".join(text.split())
    return {text[at : at + LENGTH] for at in range(len(text) - LENGTH + 1)}


def test_a_copy_and_a_stranger() -> None:
    found = of(
        sample("train", "0", OTHER, "B", "second"), sample("train", "1", ROOT, "A", "first"),
        sample("test", "0", f" {ROOT.replace(' ', '  ')}\n", "A", "first"),
        sample("test", "1", "ཀ" * 20, "A", "third"),
    )  # fmt: skip
    assert found.rows() == [("T", "0", "1", 1.0, 1.0, True, True), ("T", "1", "0", 0.0, 0.0, False, False)]


text = st.text("ab ", max_size=25)


@given(st.lists(text, min_size=1, max_size=4), st.lists(text, min_size=1, max_size=4))
def test_similarity_and_containment_are_those_of_sets_of_substrings(train: list[str], test: list[str]) -> None:
    found = of(*(sample("train", str(i), each) for i, each in enumerate(train)),
               *(sample("test", str(i), each) for i, each in enumerate(test)))  # fmt: skip
    everything = set().union(*map(grams, train))
    for asked, row in zip(test, found.iter_rows(named=True), strict=True):
        own = grams(asked)
        alike = [len(own & grams(each)) / max(1, len(own | grams(each))) for each in train]
        assert row["similarity"] == max(alike)
        assert row["nearest"] == str(alike.index(max(alike)))
        assert row["contained"] == (len(own & everything) / len(own) if own else 1)


def test_what_nobody_says_is_null() -> None:
    alone = of(sample("test", "0", ROOT, "A", "first"))
    assert alone.row(0)[2:] == (None,) * 5
    found = of(sample("train", "0", ROOT), sample("test", "0", ROOT, source="first"))
    assert found.row(0)[2:] == ("0", 1.0, 1.0, None, None)
    mixed = of(sample("train", "0", ROOT, source="first"), sample("test", "0", ROOT))
    assert mixed["same_source"].to_list() == [None]
    assert dict(alone.schema) == dict(found.schema) == dict(LEAKAGE)


def test_tasks_are_compared_each_with_its_own_train_split() -> None:
    found = of(sample("train", "0", ROOT, task="A"), sample("test", "0", ROOT, task="B"),
               sample("test", "0", OTHER, task="A"))  # fmt: skip
    assert found.select("task", "nearest").rows() == [("A", "0"), ("B", None)]
    assert leakage(pl.DataFrame(schema=SAMPLE)).is_empty()
