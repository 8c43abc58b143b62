"""Keys of partitions: what may stand in one, and what is proposed in place of one that may not."""

import re
import unicodedata

import dagster as dg
import pytest
from dagster._core.definitions.partitions.context import partition_loading_context
from dagster._serdes import deserialize_value, serialize_value
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.partitions import BY_MODEL, BY_PASSAGE, BY_TASK, GRID, MODEL, PASSAGE, TASK, TASK_GRID, dimensions
from resources.errors import BadInput, beginning
from resources.keys import check_key, escaped, unescaped

ALLOWED = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:/-")


@given(st.text() | st.text(alphabet="ab.-|, \n/"))
def test_a_key_is_accepted_as_it_is_or_another_is_proposed_that_is_acceptable(key: str) -> None:
    if key and set(key) <= ALLOWED and "..." not in key:
        assert check_key(key, "model", "a file") == key
        return
    with pytest.raises(BadInput) as caught:
        check_key(key, "model", "a file")
    assert (caught.value.where, caught.value.key) == ("a file", beginning(repr(key)))
    proposal = re.search(r"to '(.*)'$", caught.value.remedy)
    assert proposal
    assert check_key(proposal[1], "model", "a file") == proposal[1]


@pytest.mark.parametrize("key", ["dhp1", "sn1.2:3.4", "an1.1-10:1", "google/gemini-3-pro-preview", "A_b", "a..b"])
def test_ids_of_passages_and_models_are_keys(key: str) -> None:
    assert check_key(key, "passage", "a file") == key


@pytest.mark.parametrize(
    ("key", "proposal"),
    [
        ("", "a-name"),
        ("...", "a-name"),
        ("gpt 5", "gpt-5"),
        ("a|b", "a-b"),
        ("an1.1,an1.2", "an1.1-an1.2"),
        ("an1.1...an1.9", "an1.1-an1.9"),
        ("dhp1\n", "dhp1"),
        ("dào/1", "dao/1"),
        ("Énéide", "eneide"),
        ("٣", "a-name"),
    ],
)
def test_what_dagster_would_read_otherwise_is_no_key(key: str, proposal: str) -> None:
    with pytest.raises(BadInput, match=re.escape(f"rename it, for instance to {proposal!r}")):
        check_key(key, "passage", "a file")


NAMES = st.text() | st.text(alphabet="aAéÉe\u0301ßſıİ.|~/=^+ (")


@given(NAMES)
def test_any_name_is_a_key_that_dagster_takes_and_that_leads_back_to_the_name(name: str) -> None:
    key = escaped(name)
    assert unescaped(key) == name
    if name and set(name) <= ALLOWED and "..." not in name:
        assert key == name
    else:
        assert not any(part in key for part in ("...", "|", "~", "/", " ", "\n", '"', ","))


@given(NAMES, NAMES)
def test_an_escaped_name_differs_from_others_by_more_than_case_and_composition(one: str, other: str) -> None:
    keys = [escaped(one), escaped(other)]
    if one != other and keys != [one, other]:
        folded = [unicodedata.normalize("NFKD", key).casefold() for key in keys]
        assert folded[0] != folded[1]


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("5(6)", "5(6)"), ("Aen. 1.1", "^aen.+1.1"), ("a|b", "a=7c=b"), ("2??", "2=3f==3f="), ("1...2", "1..=2e=2"),
        ("α.1", "α.1"), ("Α.1", "=391=.1"), ("卷一.3", "卷一.3"), ("a/b", "a/b"), ("a/b c", "a=2f=b+c"),
    ],
)  # fmt: skip
def test_odd_citations_stay_readable(name: str, key: str) -> None:
    assert escaped(name) == key


@pytest.mark.parametrize(
    ("definition", "names"), [(None, []), (PASSAGE, ["passage"]), (MODEL, ["model"]), (GRID, ["model", "passage"])]
)
def test_dimensions_are_in_the_order_of_the_parts_of_a_key(
    definition: dg.PartitionsDefinition[str] | None, names: list[str]
) -> None:
    assert dimensions(definition) == names
    if len(names) > 1:
        assert str(dg.MultiPartitionKey({name: name for name in reversed(names)})) == "|".join(names)


@pytest.mark.parametrize(
    ("mapping", "upstream", "downstream"),
    [
        (BY_MODEL, GRID, MODEL),
        (BY_MODEL, TASK_GRID, MODEL),
        (BY_PASSAGE, GRID, PASSAGE),
        (BY_TASK, TASK_GRID, TASK),
        (BY_MODEL, MODEL, GRID),
        (BY_PASSAGE, PASSAGE, GRID),
    ],
)
@pytest.mark.parametrize("count", [0, 1, 2, 9])
@pytest.mark.parametrize("gone", [False, True])
@pytest.mark.filterwarnings("ignore::dagster.BetaWarning")
def test_cells_are_mapped_as_dagster_maps_them(
    mapping: dg.MultiToSingleDimensionPartitionMapping,
    upstream: dg.PartitionsDefinition[str],
    downstream: dg.PartitionsDefinition[str],
    count: int,
    gone: bool,
) -> None:
    own = dg.MultiToSingleDimensionPartitionMapping(mapping.partition_dimension_name)
    assert deserialize_value(serialize_value(mapping)) == own
    instance = dg.DagsterInstance.ephemeral()
    for name in ("model", "passage", "task"):
        instance.add_dynamic_partitions(name, [f"{name}/{number}" for number in range(3)])
    with partition_loading_context(None, instance):
        subset = downstream.empty_subset().with_partition_keys(downstream.get_partition_keys()[:count])
    if gone:
        instance.delete_dynamic_partition(name := str(mapping.partition_dimension_name), f"{name}/0")
    with partition_loading_context(None, instance):
        expected, found = (
            each.get_upstream_mapped_partitions_result_for_partitions(subset, downstream, upstream)
            for each in (own, mapping)
        )
    assert found == expected
