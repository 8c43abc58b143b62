"""The error categories of a corpus: what judges are asked for, what tables list, and which corpus has which."""

from pathlib import Path

import polars as pl
import pytest

from benchmark_assets.adjudication.judging import judging
from benchmark_assets.adjudication.labels import CATEGORIES, MAJOR, TAXONOMIES, categories_of
from benchmark_assets.audit.outcomes import categories
from benchmark_assets.audit.rated import rated
from benchmark_assets.benchmarks.printed_counts import NO_VERDICTS
from benchmark_assets.corpus.description import AUDIT, MQM, default_taxonomy, load
from benchmark_assets.corpus.registry import register
from benchmark_assets.translation.systems import language_names
from resources.errors import BadInput
from resources.home import PROJECT
from resources.provider.asking import Template
from resources.warehouse import Warehouse
from tests.provider.support import model

LATIN = language_names("la", "en")


def asked(taxonomy: str) -> str:
    template = judging(model("http://127.0.0.1:1/v1"), LATIN, taxonomy)
    assert isinstance(template, Template)
    return template.question({"source": "Mus."}).messages[0]["content"]


@pytest.mark.parametrize("taxonomy", TAXONOMIES)
def test_a_judge_is_asked_for_the_categories_of_the_taxonomy_and_no_others(taxonomy: str) -> None:
    named = {name for name in CATEGORIES if f"- {name}: " in asked(taxonomy)}
    assert named == set(TAXONOMIES[taxonomy].problems)
    answer = judging(model("http://127.0.0.1:1/v1"), LATIN, taxonomy).answer
    assert answer is not None
    assert answer["properties"]["error_category"]["enum"] == [*TAXONOMIES[taxonomy].problems, "NONE"]


def test_nothing_of_suttas_is_in_the_question_about_other_works() -> None:
    assert all(word in asked(AUDIT) for word in ("DOCTRINAL", "ELLIPSIS", "what is taught"))
    assert not any(word in asked(MQM) for word in ("DOCTRINAL", "ELLIPSIS", "taught"))


def test_pali_has_the_categories_of_the_audit_and_any_corpus_can_name_its_own(
    warehouse: Warehouse, corpus: Path
) -> None:
    assert [default_taxonomy(tag) for tag in ("pi", "pli", "la", "lat", "zh")] == [AUDIT, AUDIT, MQM, MQM, MQM]
    register(warehouse, corpus)
    assert categories_of(warehouse) == {"tiny": tuple(TAXONOMIES[MQM].problems)}
    text = corpus.read_text(encoding="utf-8")
    corpus.write_text(text.replace("{", '{"taxonomy": "audit", ', 1), encoding="utf-8")
    register(warehouse, corpus)
    assert categories_of(warehouse) == {"tiny": tuple(TAXONOMIES[AUDIT].problems)}
    corpus.write_text(text.replace("{", '{"taxonomy": "mine", ', 1), encoding="utf-8")
    with pytest.raises(BadInput, match="taxonomy"):
        load(corpus)
    assert load(PROJECT / "warehouse" / "sample" / "corpus.yaml").taxonomy == AUDIT


def test_the_table_of_categories_lists_those_of_the_corpus_and_those_that_people_gave() -> None:
    outputs = [("m", f"tiny/{number}") for number in range(3)]
    triage = pl.DataFrame(outputs, ["model", "passage"], orient="row").with_columns(
        band=pl.lit("0.0-1.0"), queued=True, sampled=True, screened=False, unit="passage"
    )
    given = ["TERMINOLOGY_ERROR", "DOCTRINAL_TERM_ERROR", "TERMINOLOGY_ERROR"]
    labels = triage.select("model", "passage", annotator=pl.lit("a"), label=pl.lit(MAJOR)).with_columns(
        error_category=pl.Series(given)
    )
    rows = categories(rated(triage, NO_VERDICTS, labels), {"tiny": tuple(TAXONOMIES[MQM].problems)}).filter(model="")
    listed = rows["error_category"].unique().to_list()
    assert set(listed) == {*TAXONOMIES[MQM].problems, "DOCTRINAL_TERM_ERROR"}
    counts = dict(rows.select("error_category", "major").unique().iter_rows())
    assert (counts["TERMINOLOGY_ERROR"], counts["DOCTRINAL_TERM_ERROR"], counts["STYLE_PROBLEM"]) == (2, 1, 0)
