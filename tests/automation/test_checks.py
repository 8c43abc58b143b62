"""Asset checks: what is wrong with a table fails or warns, and nothing is computed from an asset that is not sound."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import dagster as dg
import polars as pl
import pytest
from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionRecordStatus

from benchmark_assets.automation import runs
from benchmark_assets.automation.checks import NEW
from benchmark_assets.definitions import build_definitions
from benchmark_assets.partitions import range_tags
from benchmark_assets.translation.passage_questions import Output
from benchmark_assets.translation.systems import System
from resources import catalogue
from resources.errors import BadInput, RunFailedError
from resources.warehouse import Replacement, Warehouse
from tests.support import MODELS, PASSAGES, SPARSE, LetterEmbedder, by_hand, run
from tests.systems import RuleSystems, provider

GRID = (f"{MODELS[0]}|{PASSAGES[0]}", f"{MODELS[-1]}|{PASSAGES[-1]}")


class Shy:
    """A system that declines one passage."""

    def fingerprints(self, passages: Sequence[str]) -> Mapping[str, str]:
        return dict.fromkeys(passages, "shy")

    def translate(self, sources: Mapping[str, str], run: str) -> Iterator[Output]:
        for passage, text in sources.items():
            if passage == PASSAGES[1]:
                yield Output(passage, refusal="I cannot help with that.")
            else:
                yield Output(passage, text)

    def estimate(self, sources: Mapping[str, str]) -> None:
        return None


class ShySystems(RuleSystems):
    """Every system declines one passage."""

    def system(self, model: str) -> System:
        return Shy()


def offering(warehouse: Warehouse, systems: RuleSystems) -> dg.Definitions:
    """The code location with other systems."""
    return build_definitions(
        resource_overrides={"warehouse": warehouse, "embedder": LetterEmbedder(), "systems": systems}
    )


def assets(definitions: dg.Definitions, *names: str) -> dg.JobDefinition:
    """A run of these assets and their checks, as the UI starts it."""
    chosen = {dg.AssetKey(name) for name in names}
    return definitions.resolve_implicit_global_asset_job_def().get_subset(asset_selection=chosen)


def checks(definitions: dg.Definitions, *names: str) -> dg.JobDefinition:
    """A run of the checks of these assets alone, by default of all."""
    every = definitions.resolve_asset_graph().asset_check_keys
    chosen = {check for check in every if not names or check.asset_key.to_user_string() in names}
    job = definitions.resolve_implicit_global_asset_job_def()
    return job.get_subset(asset_selection=set(), asset_check_selection=chosen)


def execute(job: dg.JobDefinition, instance: dg.DagsterInstance) -> dg.ExecuteInProcessResult:
    return job.execute_in_process(instance=instance, raise_on_error=False)


def failed(result: dg.ExecuteInProcessResult) -> dict[str, str]:
    """What the checks found that did not pass, by `asset check`."""
    return {
        f"{each.asset_key.to_user_string()} {each.check_name}": str(each.metadata["problems"].value)
        for each in result.get_asset_check_evaluations()
        if not each.passed
    }


def reasons(result: dg.ExecuteInProcessResult) -> list[str]:
    """Why steps failed, in words."""
    failures = [event.step_failure_data.user_failure_data for event in result.all_events if event.is_step_failure]
    return [failure.description or "" for failure in failures if failure]


def edit(warehouse: Warehouse, *statements: str) -> None:
    """Change the file by hand."""
    with by_hand(warehouse.name) as connection:
        for statement in statements:
            connection.execute(statement)


def latest(definitions: dg.Definitions, instance: dg.DagsterInstance) -> dict[str, AssetCheckExecutionRecordStatus]:
    """How each check stands that was ever run or planned, by `asset check`."""
    keys = list(definitions.resolve_asset_graph().asset_check_keys)
    records = instance.event_log_storage.get_latest_asset_check_execution_by_key(keys)
    return {f"{key.asset_key.to_user_string()} {key.name}": record.status for key, record in records.items()}


def stored(warehouse: Warehouse, table: str) -> pl.DataFrame:
    """Rows as they were computed, without the run that did and its time."""
    return warehouse.read(table, columns=[*catalogue.table(table).content])


def made(warehouse: Warehouse, asset: str) -> list[str]:
    """The runs that computed the partitions of an asset."""
    return warehouse.read("materialization", pl.DataFrame({"asset": [asset]}), ["run_id"])["run_id"].to_list()


def test_every_asset_is_checked_for_soundness_and_that_alone_blocks(ruled: dg.Definitions) -> None:
    graph = ruled.resolve_asset_graph()
    every = {key.to_user_string() for key in graph.get_all_asset_keys()}
    blocking = {key for key in graph.asset_check_keys if graph.get(key).blocking}
    assert {key.asset_key.to_user_string() for key in blocking} == every
    assert {key.name for key in blocking} == {"sound"}


def test_what_is_sound_passes_every_check_of_the_runs_that_made_it(
    built: dg.Definitions, instance: dg.DagsterInstance
) -> None:
    keys = [(key.asset_key.to_user_string(), key.name) for key in built.resolve_asset_graph().asset_check_keys]
    every = {f"{asset} {name}" for asset, name in keys if asset not in SPARSE}
    by_scan = {f"{name} sound" for name in ("source_text", "segmented_reference", "continuous_reference")}
    by_scan |= {"source_text licensed", "segmented_reference paired"}
    found = latest(built, instance)
    assert {*found.values()} == {AssetCheckExecutionRecordStatus.SUCCEEDED}
    assert {check for check in found if check.split()[0] not in SPARSE} == every - by_scan


UNSOUND = {
    "drift_score": ("UPDATE drift_score SET drift = 'NaN'; UPDATE output_similarity SET similarity = 1.5",
                    "drift |", f"alpha\\|{PASSAGES[0]}", "output_similarity.similarity |", "between -1 and 1"),
    "metric_rank": ("UPDATE metric_concordance SET fingerprint = 'another'", "metric_concordance.rows |", "no record"),
    "comet_score": ("ALTER TABLE comet_score ADD COLUMN note VARCHAR", "note |", "no such column"),
    "lexical_score": ("UPDATE lexical_score SET bleu = 100.1, length_ratio = 'inf'", "bleu |", "length_ratio |"),
    "reference_envelope": ("UPDATE reference_envelope SET mean_similarity = NULL", "mean_similarity", "but not all"),
    "human_baseline": ("UPDATE human_baseline SET chrf = NULL, bleu = NULL, length_ratio = NULL", "chrf |", "null"),
    "model_output": (f"DELETE FROM materialization WHERE asset = 'model_output' AND passage = '{PASSAGES[1]}'",
                     "rows |", f"alpha\\|{PASSAGES[1]}"),
    "model_summary": ("UPDATE model_summary SET sim_best_low = 0.9, sim_best_high = 0.8", "sim_best |", "lower limit"),
    "reference": ("ALTER TABLE reference ADD COLUMN note VARCHAR", "note |", "no such column"),
}  # fmt: skip
"""By asset: how it is spoilt by hand, and words of what its check says."""


def test_what_is_wrong_with_a_table_fails_its_check_and_the_run_that_looks(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse
) -> None:
    edit(warehouse, *(statement for statement, *_ in UNSOUND.values()))
    result = execute(checks(built, *UNSOUND, "source_text", "segmented_reference"), instance)
    assert not result.success
    found = {name.removesuffix(" sound"): problems for name, problems in failed(result).items() if "sound" in name}
    assert set(found) == set(UNSOUND)
    for asset, (_, *words) in UNSOUND.items():
        assert [word for word in words if word not in found[asset]] == [], asset


def test_a_run_checks_its_own_rows_and_a_look_at_whole_tables_finds_the_others(
    core: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse
) -> None:
    def checked_with(model: str, passage: str) -> dict[str, str]:
        job = assets(core, "drift_score")
        tags = range_tags(f"{model}|{passage}", f"{model}|{passage}")
        return failed(job.execute_in_process(instance=instance, tags=tags, raise_on_error=False))

    edit(warehouse, f"UPDATE drift_score SET drift = 'NaN' WHERE passage = '{PASSAGES[1]}'",
         f"UPDATE output_similarity SET similarity = 1.5 WHERE passage = '{PASSAGES[1]}'")  # fmt: skip
    assert checked_with(MODELS[0], PASSAGES[0]) == {}
    wrong = checked_with(MODELS[0], PASSAGES[1])["drift_score sound"]
    assert [word for word in ("drift |", "output_similarity.similarity |") if word not in wrong] == []
    assert list(checked_with(MODELS[0], PASSAGES[0])) == ["drift_score sound"]  # looks at all rows, as long as it fails
    lost = f"asset = 'drift_score' AND model = 'beta' AND passage = '{PASSAGES[2]}'"
    edit(warehouse, f"DELETE FROM materialization WHERE {lost}", "UPDATE drift_score SET drift = 1")
    assert "drift_score coverage" not in checked_with(MODELS[0], PASSAGES[0])
    assert "drift_score coverage" in failed(execute(checks(core, "drift_score"), instance))
    assert "drift_score coverage" in checked_with(MODELS[0], PASSAGES[0])
    edit(warehouse, "UPDATE lexical_score SET bleu = 100.1")
    with pytest.raises(RunFailedError, match=r"check .sound. of drift_score"):
        runs.check_tables(core, instance)
    assert latest(core, instance)["lexical_score sound"] == AssetCheckExecutionRecordStatus.FAILED


def test_the_job_that_updates_looks_at_whole_tables(
    core: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse
) -> None:
    lost = f"model = 'beta' AND passage = '{PASSAGES[2]}'"  # is a warning, which fails no run
    tables = ("drift_score", "output_similarity", "materialization")
    edit(
        warehouse,
        *(
            f"DELETE FROM {table} WHERE {lost}" + " AND asset = 'drift_score'" * (table == tables[2])
            for table in tables
        ),
        "UPDATE lexical_score SET bleu = 100.1",
    )
    with pytest.raises(RunFailedError, match=r"check 'sound' of lexical_score: .*bleu"):
        runs.update(core, instance, whole=True)


def test_nothing_is_computed_from_an_asset_that_is_not_sound_until_it_is(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse
) -> None:
    runs.forget(built, instance, "model_summary")
    before, made_before = warehouse.read("model_summary"), made(warehouse, "model_summary")
    edit(warehouse, f"UPDATE drift_score SET sim_best = 7.0 WHERE passage = '{PASSAGES[0]}'")
    result = execute(checks(built, "drift_score"), instance)
    assert not result.success
    assert set(failed(result)) == {"drift_score sound"}

    refused = run(built, instance, "summary", "alpha", raise_on_error=False)
    assert len(reasons(refused)) == 1
    assert "model_summary depends on drift_score, whose check 'sound' has failed" in reasons(refused)[0]
    assert warehouse.read("model_summary").equals(before)

    runs.forget(built, instance, "drift_score")
    mended = assets(built, "drift_score").execute_in_process(instance=instance, tags=range_tags(*GRID))
    assert failed(mended) == {}
    assert run(built, instance, "summary", (MODELS[0], MODELS[-1])).success
    assert warehouse.read("model_summary").equals(before)  # computed again, and not written again
    assert not set(made(warehouse, "model_summary")) & set(made_before)


def test_in_one_run_of_both_what_rests_on_an_unsound_asset_is_left_out(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse
) -> None:
    edit(
        warehouse,
        f"UPDATE reference SET fingerprint = 'another' WHERE passage = '{PASSAGES[0]}'",
        "DELETE FROM reference_envelope",
        "DELETE FROM materialization WHERE asset = 'reference_envelope'",
    )
    result = run(built, instance, "references", (PASSAGES[0], PASSAGES[-1]), raise_on_error=False)
    assert not result.success
    assert set(failed(result)) == {"reference sound"}
    assert warehouse.read("reference_envelope").is_empty()


def test_a_run_that_ends_before_it_checks_does_not_make_sound_what_failed(
    built: dg.Definitions, instance: dg.DagsterInstance
) -> None:
    drift = dg.AssetKey("drift_score")
    instance.report_runless_asset_event(dg.AssetCheckEvaluation(drift, "sound", passed=False, metadata={}))
    instance.report_run_failed(instance.create_run_for_job(assets(built, "drift_score")))
    assert not run(built, instance, "summary", "alpha", raise_on_error=False).success


def test_a_passage_that_was_not_translated_or_not_scored_is_a_warning(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse
) -> None:
    scored, translated = (f"model = 'alpha' AND passage = '{passage}'" for passage in PASSAGES[1:])
    edit(
        warehouse,
        *(f"DELETE FROM {table} WHERE {scored}" for table in ("drift_score", "output_similarity")),
        *(f"DELETE FROM {table} WHERE {translated}" for table in ("model_output", "study_call")),
        f"DELETE FROM materialization WHERE asset = 'drift_score' AND {scored}",
        f"DELETE FROM materialization WHERE asset = 'model_output' AND {translated}",
    )
    result = execute(checks(built, "model_output", "drift_score"), instance)
    assert result.success
    assert {name: problems.splitlines()[2:] for name, problems in failed(result).items()} == {
        "model_output coverage": [f"| alpha | tiny | 3 | 1 | {PASSAGES[2]} |"],
        "drift_score coverage": [f"| alpha | tiny | 2 | 1 | {PASSAGES[1]} |"],
    }


def test_problems_that_the_last_run_found_are_not_new(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse
) -> None:
    def told(*losing: str) -> tuple[object, str | None]:
        for model in losing:
            of_output = f"model = '{model}' AND passage = '{PASSAGES[0]}'"
            edit(warehouse, f"DELETE FROM materialization WHERE asset = 'lexical_score' AND {of_output}")
        results = execute(checks(built, "lexical_score"), instance).get_asset_check_evaluations()
        (check,) = (each for each in results if each.check_name == "coverage")
        return check.metadata[NEW].value, check.description

    first, second = (
        f"model {model}, corpus tiny, expected 3, missing 1, example {PASSAGES[0]}" for model in ("alpha", "beta")
    )
    assert told("alpha") == (1, f"1 problem; the first: {first}")
    assert told() == (0, f"1 problem; the first: {first}")
    assert told("beta") == (1, f"2 problems, 1 of them new; the first new one: {second}")
    assert told() == (0, f"2 problems; the first: {first}")


def test_outputs_with_and_without_a_drift_are_expected_in_triage(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse
) -> None:
    without, untriaged = (f"model = 'alpha' AND passage = '{passage}'" for passage in PASSAGES[:2])
    edit(
        warehouse,
        f"UPDATE drift_score SET drift = NULL WHERE {without}",
        *(f"DELETE FROM triage WHERE {each}" for each in (without, untriaged)),
        *(f"DELETE FROM materialization WHERE asset = 'triage' AND {each}" for each in (without, untriaged)),
    )
    result = execute(checks(built, "triage"), instance)
    assert {name: problems.splitlines()[2:] for name, problems in failed(result).items()} == {
        "triage coverage": [f"| alpha | tiny | 3 | 2 | {PASSAGES[0]} |"],
    }


def test_only_outputs_to_which_an_asset_applies_are_expected(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse
) -> None:
    """The corpus has no judges, base sets or glossary, and people have labeled one output."""
    grid = [key for key in built.resolve_asset_graph().asset_check_keys if key.name == "coverage"]
    sparse = {name for key in grid if (name := key.asset_key.to_user_string()) in SPARSE}
    assert {"judge_vote", "span_vote", "comparison", "aspect_vote", "human_label"} <= sparse
    assert not failed(execute(checks(built, *sparse), instance))
    (item,) = warehouse.read("triage").filter(model="beta", passage=PASSAGES[0])["item"]
    label = dict.fromkeys(catalogue.table("imported_label").columns, "") | {"item": item, "annotator": "ann"}
    rows = warehouse.empty("imported_label")
    rows = pl.DataFrame([label]).select(pl.col(name).cast(kind, strict=False) for name, kind in rows.schema.items())
    warehouse.write([Replacement("imported_label", rows, None)], "test")
    result = execute(checks(built, "human_label"), instance)
    problems = failed(result)["human_label coverage"].splitlines()[2:]
    assert problems == [f"| beta | tiny | 1 | 1 | {PASSAGES[0]} |"]


def test_a_row_that_was_deleted_by_hand_is_unsound_until_its_asset_is_computed_anew(
    core: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse
) -> None:
    before, standing = stored(warehouse, "drift_score"), latest(core, instance)
    edit(warehouse, f"DELETE FROM drift_score WHERE model = 'beta' AND passage = '{PASSAGES[1]}'")
    result = execute(checks(core, "drift_score"), instance)
    assert not result.success
    ((check, problems),) = failed(result).items()
    assert check == "drift_score sound"
    assert [line for line in problems.splitlines() if line.startswith("| rows | ") and f"beta\\|{PASSAGES[1]}" in line]
    (refusal,) = reasons(run(core, instance, "summary", "alpha", raise_on_error=False))
    assert "`variorum update --anew drift_score`" in refusal

    runs.forget(core, instance, "drift_score")
    runs.update(core, instance)
    assert stored(warehouse, "drift_score").equals(before)
    assert latest(core, instance) == standing


def test_an_asset_that_is_unknown_cannot_be_computed_anew(ruled: dg.Definitions, instance: dg.DagsterInstance) -> None:
    with pytest.raises(BadInput, match=r"drift_scores: no such asset; name one of adherence_summary, alignment"):
        runs.forget(ruled, instance, "drift_scores")


class ShortSystems(RuleSystems):
    """Beta was removed from the registry."""

    def known(self, models: Iterable[str]) -> set[str]:
        return set(models) - {"beta"}


def test_computed_anew_outputs_of_a_model_that_is_known_no_more_stay_as_they_are(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, tmp_path: Path
) -> None:
    systems = ShortSystems(warehouse=warehouse, provider=provider(tmp_path), folder=str(tmp_path))
    before = warehouse.read("model_output")
    runs.forget(built, instance, "model_output")
    result = assets(offering(warehouse, systems), "model_output").execute_in_process(
        instance=instance, tags=range_tags(*GRID)
    )
    assert failed(result) == {}
    assert systems.asked() == [f"alpha|{passage}" for passage in PASSAGES]
    after = warehouse.read("model_output")
    assert after.equals(before)
    assert made(warehouse, "model_output")[: len(PASSAGES)] == [result.run_id] * len(PASSAGES)


def test_a_model_that_declines_much_is_a_warning_and_what_it_declined_is_not_missing(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, tmp_path: Path
) -> None:
    systems = ShySystems(warehouse=warehouse, provider=provider(tmp_path), folder=str(tmp_path))
    instance.add_dynamic_partitions("model", ["shy"])
    tags = range_tags(f"shy|{PASSAGES[0]}", f"shy|{PASSAGES[-1]}")
    job = assets(offering(warehouse, systems), "model_output", "drift_score")
    result = job.execute_in_process(instance=instance, tags=tags)
    assert result.success
    assert set(failed(result)) == {"model_output refusals"}
    assert "| shy | 3 | 1 |" in failed(result)["model_output refusals"]
    assert len(warehouse.read("drift_score", pl.DataFrame({"model": ["shy"]}))) == 2
