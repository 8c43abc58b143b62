"""Descriptions of tasks: what is no whole one is refused with its key, and those of DharmaBench are whole."""

from pathlib import Path
from typing import Any

import pytest

from benchmark_assets.understanding.description import load
from resources.errors import BadInput
from resources.home import PROJECT
from tests.understanding.conftest import FORMS, SPEECH, write_task

DHARMABENCH = PROJECT / "warehouse" / "benchmarks" / "dharmabench" / "tasks"


@pytest.mark.parametrize(
    ("base", "changes", "problem"),
    [
        (FORMS, {"label": None}, "`label` is missing"),
        (FORMS, {"negative": "DRAMA"}, "drama, which is not one of `classes`"),
        (FORMS, {"labels": {"v": "VERSE"}}, "differ in prose"),
        (FORMS, {"marked": "text"}, "`marked` does not apply"),
        (FORMS, {"files": {"train": "form/train.jsonl"}}, "has no `test`"),
        (FORMS, {"files": {"test": "form/test.jsonl", "dev": "x"}}, "should be 'train' or 'test'"),
        (FORMS, {"texts": {}}, "at least 1"),
        (FORMS, {"source": None, "work": "(.+)"}, "needs a `source`"),
        *((FORMS, {"work": work}, "exactly one group") for work in ("De", "(De) (.+)", "(De")),
        (FORMS, {"colour": "red"}, "not permitted"),
        (FORMS, {"task": "A/B"}, "slash"),
        (FORMS, {"task": "A B"}, "cannot be the key"),
        *((FORMS, {"task": name}, "is the name of a column") for name in ("kind", "system", "mean")),
        (SPEECH, {"negative": "SAID"}, "`negative` does not apply"),
        (SPEECH, {"types": None}, "`types` is missing"),
        (SPEECH, {"marked": "body"}, "names body, which is missing from `texts`"),
        (SPEECH, {"labels": {"v": "VERSE"}}, "`labels` does not apply"),
        (SPEECH, {"spans": {"offsets": "places"}}, "field required"),
    ],
)
def test_what_does_not_agree_is_refused(
    tmp_path: Path, base: dict[str, Any], changes: dict[str, Any], problem: str
) -> None:
    path = write_task(tmp_path, base, {}, **changes)
    with pytest.raises(BadInput) as refused:
        load(path)
    assert problem in refused.value.problem
    assert refused.value.where == str(path)


def test_keys_of_baselines_that_former_versions_had_are_ignored(tmp_path: Path, form: Path) -> None:
    former = tmp_path / "FORM.yaml"
    former.write_text(f"{form.read_text(encoding='utf-8')}\nscansion: latin\npair: [root, other]\n", encoding="utf-8")
    assert load(former) == load(form)


def test_a_partner_need_not_be_known(form: Path) -> None:
    assert load(form).partner == "FORMA"


def test_dharmabench_has_the_thirteen_tasks_of_table_1() -> None:
    found = {each.task: each for each in map(load, DHARMABENCH.glob("*.yaml"))}
    assert {code: len(each.classes or each.types) for code, each in found.items()} == {
        "SMDS": 2, "QUDS": 3, "RCMS": 2, "RCDS": 1, "VPCS": 2, "MCS": 10, "SDT": 1, "QUDT": 1, "RCMT": 2, "VPCT": 2,
        "AACT": 2, "SCCT": 2, "THCT": 13,
    }  # fmt: skip
    assert {code for code, each in found.items() if each.kind == "spans"} == {"SMDS", "QUDS", "RCDS", "SDT", "QUDT"}
    assert {code for code, each in found.items() if "train" in each.files} == {
        "QUDS", "RCMS", "RCDS", "QUDT", "RCMT", "VPCT", "AACT", "SCCT", "THCT"
    }  # fmt: skip
    assert {each.benchmark for each in found.values()} == {"DharmaBench"}
    of_classes = {code: each.negative for code, each in found.items() if each.kind == "classes"}
    assert {code for code, negative in of_classes.items() if not negative} == {"MCS", "AACT", "THCT"}
    partners = {frozenset((code, each.partner)) for code, each in found.items() if each.partner}
    assert {"/".join(sorted(pair)) for pair in partners} == {"SDT/SMDS", "QUDS/QUDT", "RCMS/RCMT", "VPCS/VPCT"}
    assert all(found[each.partner].partner == code for code, each in found.items() if each.partner)
