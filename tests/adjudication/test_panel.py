"""The panel at a real server: who may judge whom, what judges see, what is stored, what is never asked twice."""

import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import permutations
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.adjudication import assets as adjudication
from benchmark_assets.adjudication.judging import Scores
from benchmark_assets.adjudication.panel import JudgePanel, panel, shuffled
from benchmark_assets.automation import runs
from benchmark_assets.automation.due import due
from benchmark_assets.corpus.description import Audit
from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import build_definitions
from benchmark_assets.studies.protocols import PublishedProtocol, Sampling
from benchmark_assets.studies.study import CALLS, Item, ask_about, expected
from benchmark_assets.translation.imports import import_outputs
from benchmark_assets.translation.systems import language_names
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.errors import BadInput
from resources.home import PROJECT
from resources.provider.asking import Verdict
from resources.provider.provider import Provider
from resources.provider.sqlite_ledger import SqliteLedger
from resources.warehouse import Replacement
from tests.provider.server import VALID, Server, dumps
from tests.record_sample import JUDGES as JUDGES_OF_SAMPLE
from tests.record_sample import SAYS, panel_work, translations
from tests.support import (
    CONSTRUCTION,
    CORE,
    PASSAGES,
    LetterEmbedder,
    made_home,
    materialized,
    restored_home,
    write_corpus,
    write_outputs,
)

JUDGES = ("fair", "harsh", "mild")
AUDIT = Audit(judges=JUDGES)
MAJOR: dict[str, Any] = {
    "label": "MAJOR_ERROR", "error_category": "AGENT_OR_ROLE_ERROR", "severity": "high", "confidence": "high",
    "is_major_error": True, "is_valid_variation": False, "cause_summary": "The wrong animal runs.",
    "evidence": "All references have a mouse.", "problem_phrase": "dog", "suggested_correction": "mouse",
}  # fmt: skip
MINOR = MAJOR | {"label": "MINOR_ERROR", "severity": "low", "is_major_error": False}
REFERENCES = {"harrow": "A mouse runs.", "lindqvist": "The mouse is running.", "okafor": "Off the mouse goes."}


def write_judges(path: Path, url: str, judges: Mapping[str, Mapping[str, Any]] | None = None, **more: Any) -> None:
    """Write a registry with three judges, changed or joined by those of `judges`, and models of two families."""
    judge = {"endpoint": "server", "family": "referee", "price": {"input": 1, "output": 2}}
    changes = judges or {}
    content = {
        "endpoints": {"server": {"url": url}},
        "judges": {name: judge | {"id": name} | dict(changes.get(name, {})) for name in [*JUDGES, *changes]},
        "models": {"called": {"endpoint": "server", "id": "m", "family": "Acme"}},
        "families": {"ours": "acme", "theirs": "other"}, "embedders": {"minilm": {}}, "embedder": "minilm",
    } | more  # fmt: skip
    path.write_text(json.dumps(content), encoding="utf-8")


@pytest.fixture
def registry(tmp_path: Path) -> Path:
    return tmp_path / "models.yaml"


@pytest.fixture
def provider(registry: Path, ledger: SqliteLedger, server: Server) -> Provider:
    write_judges(registry, server.url)
    return Provider(registry_path=str(registry), ledger_path=str(ledger.path))


def seated(provider: Provider, audit: Audit = AUDIT, model: str = "ours", language: str = "la") -> JudgePanel:
    return panel(provider, "tiny", audit, language_names(language, "en"), model)


def items(seats: JudgePanel, number: int, candidate: str) -> list[Item]:
    """An output, once for each judge."""
    scores = Scores(1.75, 0.5)
    return list(seats.items("ours", f"tiny/doc:{number}", f"Mus {number} currit.", REFERENCES, candidate, scores))


def votes(provider: Provider, work: Sequence[Item], run: str) -> list[list[Verdict[Any]]]:
    """Verdicts of all judges, by output."""
    given: dict[tuple[str, ...], list[Verdict[Any]]] = {}
    for item, verdict in ask_about(provider, "panel", work, run):
        given.setdefault(item.partition, []).append(verdict)
    return list(given.values())


# Who sees what.


@given(st.integers(), st.sampled_from(JUDGES), st.integers(2, 3))
def test_every_order_of_references_is_about_equally_likely(seed: int, judge: str, number: int) -> None:
    names = dict(list(REFERENCES.items())[:number])
    orders = Counter(tuple(shuffled(names, seed, judge, "ours", f"tiny/doc:{n}")) for n in range(600))
    expected = 600 / len(list(permutations(names)))
    assert len(orders) == len(list(permutations(names)))
    assert all(abs(count - expected) < 8 * expected**0.5 for count in orders.values())


def test_the_order_is_the_same_in_every_process() -> None:
    code = (
        "from benchmark_assets.adjudication.panel import shuffled\n"
        f"print([shuffled({REFERENCES}, 1, 'fair', 'ours', f'tiny/doc:{{n}}') for n in range(9)])"
    )
    said = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True).stdout
    assert said.strip() == str([shuffled(REFERENCES, 1, "fair", "ours", f"tiny/doc:{n}") for n in range(9)])


def test_a_further_reference_leaves_the_order_of_the_others() -> None:
    for number in range(50):
        four = shuffled(REFERENCES | {"vale": ""}, 1, "fair", "ours", str(number))
        assert [name for name in four if name != "vale"] == shuffled(REFERENCES, 1, "fair", "ours", str(number))


def test_judges_see_the_same_references_in_orders_of_their_own(provider: Provider) -> None:
    orders: set[tuple[str, ...]] = set()
    for number in range(9):
        shown = [item.content for item in items(seated(provider), number, "A dog runs.")]
        assert all(sorted(each["references"].values()) == sorted(REFERENCES.values()) for each in shown)
        assert all(set(each) == {"source", "references", "candidate"} for each in shown)
        assert {(each["source"], each["candidate"]) for each in shown} == {(f"Mus {number} currit.", "A dog runs.")}
        orders.add(tuple(each["references"]["Reference 1"] for each in shown))
    assert len(orders) > 5


def test_scores_are_shown_only_where_the_corpus_says_so(provider: Provider) -> None:
    item, *_ = items(seated(provider, AUDIT.model_copy(update={"show_scores": True})), 1, "A dog runs.")
    assert list(item.content["scores"].values()) == [1.75, 0.5]


# Who may judge whom.

FAULTS: dict[str, tuple[dict[str, Any], Audit, str, str]] = {
    "unknown": ({}, Audit(judges=("fair", "harsh", "nobody")), "ours", r"judges.nobody: is missing"),
    "even": ({}, Audit(judges=("fair", "mild")), "ours", "are 2, so that votes may be tied; name an odd number"),
    "twice": ({}, Audit(judges=("fair", "mild", "fair")), "ours", "has fair twice"),
    "without family": ({"judges": {"fair": {"family": ""}}}, Audit(judges=("fair",)), "ours", "judges.fair.family: is"),
    "of the family": (
        {"judges": {"fair": {"family": "ACME"}}}, Audit(judges=("fair",)), "ours", "of the family 'acme' as ours is"
    ),
    "of the called": ({"judges": {"fair": {"family": "acme"}}}, Audit(judges=("fair",)), "called", "as called is"),
    "undeclared": ({}, AUDIT, "hers", r"families.hers: is missing"),
    "undeclared in the registry": (
        {"models": {"called": {"endpoint": "server", "id": "m"}}}, AUDIT, "called", r"models.called.family: is missing"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_panel_that_cannot_be_is_refused_in_words(provider: Provider, registry: Path, name: str) -> None:
    more, audit, model, words = FAULTS[name]
    write_judges(registry, "http://127.0.0.1:1/v1", **more)
    with pytest.raises(BadInput, match=words):
        seated(provider, audit, model)


def test_what_determines_the_votes_is_in_the_fingerprint_and_nothing_else(provider: Provider, registry: Path) -> None:
    first = seated(provider)
    url = first.templates[0].model.endpoint.url
    changed = [
        replace(first, audit=AUDIT.model_copy(update={"seed": 2})),
        replace(first, audit=AUDIT.model_copy(update={"show_scores": True})),
        seated(provider, Audit(judges=("fair",))),
        seated(provider, language="grc"),
    ]
    write_judges(registry, url, {"mild": {"temperature": 0.5}})
    changed.append(seated(provider))
    assert len({each.fingerprint for each in [first, *changed]}) == 6

    same = Audit(judges=JUDGES[::-1], threshold=2.0, sample=(0, 0, 0, 0, 0))
    write_judges(registry, url, {"mild": {"in_flight": 1, "budget": 1, "family": "umpire"}})
    assert seated(provider, same, "theirs").fingerprint == first.fingerprint


# Asking them.


def test_judges_of_every_kind_vote_and_nothing_is_asked_twice(provider: Provider, server: Server) -> None:
    fence = f"Here is my judgement:\n\n```json\n{dumps(MAJOR)}\n```"
    slip, another = (dumps(MAJOR | {"label": label}) for label in ("AGENT_OR_ROLE_ERROR", "GRAVE_ERROR"))
    contradiction = dumps(MINOR | {"is_major_error": True})
    judgements = {
        "fair": [dumps(VALID)], "harsh": [fence], "mild|A dog runs.": [slip, another, dumps(MINOR)],
        "mild|Dogs!": ["I had rather not say."], "fair|Dogs!": [contradiction, dumps(MAJOR).lower()],
    }  # fmt: skip
    faults = {"mild|A mouse.": "refusal", "fair|A mouse.": "content_filter"}
    server.configure(answer="judge", judgements=judgements, by_key=faults, keep_bodies=True)
    texts = ["A dog runs.", "Dogs!", "A mouse.", "Mice."]
    work = [item for i, text in enumerate(texts) for item in items(seated(provider), i, text)]
    given = votes(provider, work, "run")
    labels = [[vote.value.judgement.label if vote.value else vote.abstention for vote in own] for own in given]
    assert labels == [
        ["VALID_VARIATION", "MAJOR_ERROR", "MINOR_ERROR"],
        ["MAJOR_ERROR", "MAJOR_ERROR", labels[1][2]],
        ["refused: stopped by a content filter", "MAJOR_ERROR", "refused: I cannot help with that."],
        ["VALID_VARIATION", "MAJOR_ERROR", "VALID_VARIATION"],
    ]
    assert str(labels[1][2]).startswith("no JSON")
    assert [[vote.asked for vote in own] for own in given] == [[1, 1, 3], [2, 1, 2], [1, 1, 1], [1, 1, 1]]
    assert [vote.parsing for vote in given[0]] == ["strict", "repaired", "strict"]

    for seen in server.log():  # nobody learns whose candidate it is, or whose references they are
        assert seen.body is not None
        shown = json.dumps(seen.body["messages"])
        assert not any(word in shown for word in ("ours", "tiny", "doc:", "harrow", "lindqvist", "okafor", "1.75"))

    server.clear()
    cost = expected(provider, work)
    assert cost is not None
    assert cost.recorded == 12
    assert votes(provider, work, "another run") == given
    assert server.log() == []
    assert len(votes(provider, [*work[:9], *items(seated(provider), 3, "Rats.")], "another run")) == 4
    assert sorted(seen.keys[0] for seen in server.log()) == [f"{name}|Rats." for name in JUDGES]


def test_nothing_to_judge_asks_nothing(provider: Provider) -> None:
    assert votes(provider, [], "run") == []


def test_the_recording_of_the_sample_answers_whatever_the_panel_may_ask_there(
    registry: Path, ledger: SqliteLedger
) -> None:
    endpoint = {"server": {"recording": str(JUDGES_OF_SAMPLE)}}
    judges = {name: {"endpoint": "server", "id": name, "family": "recorded-judge"} for name in SAYS}
    families = dict.fromkeys(translations(), "recorded-system")
    write_judges(registry, "", endpoints=endpoint, judges=judges, families=families)
    provider = Provider(registry_path=str(registry), ledger_path=str(ledger.path))
    work = panel_work(provider)
    assert len(work) == 720
    given = [vote for own in votes(provider, work, "run") for vote in own]
    assert [vote.error for vote in given if vote.error] == []
    assert {vote.abstention for vote in given} == {None, "refused: I cannot help with that."}
    assert Counter(vote.asked for vote in given) == {1: 719, 2: 1}
    assert JUDGES_OF_SAMPLE.stat().st_size < 400_000


# On the grid.

OUTPUTS = {"doc1:1": "A dog runs. The cat sits.", "doc1:2": "The sun rises.", "doc2:1": "He says nothing new."}
FIRST, SECOND, THIRD = OUTPUTS.values()


TRIAGED = ["model_output", "drift_score", "triage"]


class Court:
    """A home with the small corpus and two imported models, and the panel that judges them."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url = folder, url
        self.warehouse = DuckDBWarehouse(path=str(folder / "home" / "variorum.duckdb"))
        write_judges(folder / "models.yaml", url)

    def describe(self, audit: Mapping[str, Any]) -> None:
        """Write the corpus with what its description says of the audit, and import it."""
        path = write_corpus(self.folder / "corpus")
        path.write_text(json.dumps(json.loads(path.read_text()) | {"audit": dict(audit)}))
        register(self.warehouse, path)

    def outputs(self, model: str, texts: Mapping[str, str]) -> None:
        import_outputs(self.warehouse, write_outputs(self.folder / f"{model}.jsonl", texts), "tiny", None)

    @cached_property
    def definitions(self) -> dg.Definitions:
        return build_definitions(
            rooms=[*CORE, adjudication], resource_overrides={"warehouse": self.warehouse, "embedder": LetterEmbedder()}
        )

    def materialize(self, assets: list[str], first: str, last: str) -> None:
        materialized(self.definitions, assets, first, last)

    def judge(self, model: str = "ours", *before: str) -> None:
        """Materialize a model's votes, after other assets of its row."""
        self.materialize([*before, "judge_vote"], f"{model}|{PASSAGES[0]}", f"{model}|{PASSAGES[-1]}")

    def labels(self) -> dict[tuple[str, str, str], str | None]:
        rows = self.warehouse.read("judge_vote", columns=["model", "passage", "judge", "label"])
        return {
            (model, passage.removeprefix("tiny/"), judge): label for model, passage, judge, label in rows.iter_rows()
        }


@pytest.fixture(scope="module")
def opened_court(tmp_path_factory: pytest.TempPathFactory, running: Server) -> tuple[Path, Path]:
    """A home in which everything is ready for judging, and a copy."""
    world, copy = tmp_path_factory.mktemp("court") / "world", tmp_path_factory.mktemp("copy") / "world"
    with pytest.MonkeyPatch.context() as patch:
        made_home(patch, world)
        patch.setenv("VARIORUM_MODELS", str(world / "models.yaml"))
        court = Court(world, running.url)
        court.describe({"judges": JUDGES})
        with dg.DagsterInstance.get() as instance:
            runs.look(court.definitions, instance)
            instance.add_dynamic_partitions("model", ["ours", "theirs"])
        court.materialize([*CONSTRUCTION, "reference", "reference_envelope"], PASSAGES[0], PASSAGES[-1])
        for model in ("ours", "theirs"):
            court.outputs(model, OUTPUTS)
        court.materialize(TRIAGED, f"ours|{PASSAGES[0]}", f"theirs|{PASSAGES[-1]}")
    shutil.copytree(world, copy, symlinks=True)
    return world, copy


@pytest.fixture
def court(opened_court: tuple[Path, Path], server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Court]:
    restored_home(monkeypatch, *opened_court)
    monkeypatch.setenv("VARIORUM_MODELS", str(opened_court[0] / "models.yaml"))
    server.configure(answer="judge", judgements={"harsh": [dumps(MAJOR)]})
    each = Court(opened_court[0], server.url)
    with each.warehouse.kept_open():
        yield each


def test_votes_are_stored_found_again_for_nothing_and_asked_for_anew_of_a_changed_output_alone(
    court: Court, server: Server
) -> None:
    server.configure(
        answer="judge",
        judgements={"harsh": [dumps(MAJOR)], f"mild|{FIRST}": ["?"]},
        by_key={f"fair|{SECOND}": "refusal"},
    )
    court.judge()
    rows = court.warehouse.read("judge_vote")
    assert len(rows) == 9
    labels = court.labels()
    assert {labels["ours", passage, "harsh"] for passage in OUTPUTS} == {"MAJOR_ERROR"}
    assert [key for key, label in labels.items() if label is None] == [
        ("ours", "doc1:1", "mild"),
        ("ours", "doc1:2", "fair"),
    ]
    assert rows.filter(judge="harsh")["cause"].unique().to_list() == ["The wrong animal runs."]
    assert rows.filter(pl.col("label").is_null())["cause"].null_count() == 2
    assert rows.filter(pl.col("label").is_null() == pl.col("abstention").is_null()).is_empty()
    calls = court.warehouse.read(CALLS, pl.DataFrame({"study": ["judge_vote"]}))
    assert dict(calls.group_by("asked").len().iter_rows()) == {1: 8, 2: 1}
    assert calls.filter(parsing="unread").height == 2

    server.clear()
    court.judge()
    lost = court.warehouse.read("materialization").drop("run_id", "updated_at").filter(pl.col("asset") != "judge_vote")
    tables = [("materialization", lost), ("judge_vote", court.warehouse.empty("judge_vote"))]
    court.warehouse.write([Replacement(table, rows, None) for table, rows in tables], run_id="test")
    assert court.labels() == {}
    court.judge()
    assert court.labels() == labels
    assert server.log() == []
    court.outputs("ours", OUTPUTS | {"doc1:2": "Sunset."})
    court.judge("ours", *TRIAGED)
    assert sorted(seen.keys[0] for seen in server.log()) == [f"{name}|Sunset." for name in JUDGES]


def test_an_output_of_which_a_judge_could_not_be_asked_has_no_votes_and_is_due_again(
    court: Court, server: Server
) -> None:
    server.configure(answer="judge", by_key={f"mild|{THIRD}": "bad_request"})
    with pytest.raises(dg.Failure, match=r"1 of 3 partitions of judge_vote failed.*mild: rejected"):
        court.judge()
    assert {passage for _, passage, _ in court.labels()} == {"doc1:1", "doc1:2"}
    server.configure(answer="judge")
    server.clear()
    court.judge()
    assert [seen.keys[0] for seen in server.log()] == [f"mild|{THIRD}"]
    assert len(court.labels()) == 9


def test_a_judge_of_the_family_on_trial_is_the_fault_of_that_model_alone(court: Court, server: Server) -> None:
    write_judges(court.folder / "models.yaml", court.url, {"mild": {"family": "acme"}})
    with pytest.raises(dg.Failure, match="has mild, of the family 'acme' as ours is"):
        court.judge("ours")
    assert server.log() == []
    court.judge("theirs")
    assert {model for model, _, _ in court.labels()} == {"theirs"}


def test_only_what_is_queued_or_drawn_is_judged_and_only_where_there_are_judges(court: Court, server: Server) -> None:
    none = (0, 0, 0, 0, 0)
    court.describe({"judges": JUDGES, "sample": none})
    court.judge("ours", "triage")
    mine = pl.DataFrame({"model": ["ours"]})
    far = court.warehouse.read("drift_score", mine, ["passage", "drift"]).filter(pl.col("drift") > 1.5)
    assert 0 < len(far) < 3, "the outputs of this test should lie on both sides of the threshold"
    assert {passage for _, passage, _ in court.labels()} == set(far["passage"].str.strip_prefix("tiny/"))
    court.describe({"sample": none})
    court.judge()
    assert court.labels() == {}


def test_scores_that_judges_are_shown_are_part_of_what_they_are_asked(court: Court, server: Server) -> None:
    server.configure(answer="judge", keep_bodies=True)
    court.describe({"judges": JUDGES, "show_scores": True})
    court.judge()
    mine = pl.DataFrame({"model": ["ours"]})
    scores = court.warehouse.read("drift_score", mine, ["drift", "sim_best"])
    known = {(round(drift, 3), round(similarity, 3)) for drift, similarity in scores.iter_rows()}
    bodies = [seen.body["messages"][-1]["content"] for seen in server.log() if seen.body]
    assert {tuple(json.loads(body)["scores"].values()) for body in bodies} == known
    server.clear()
    court.describe({"judges": JUDGES})
    court.judge()
    assert len(server.log()) == 9


def test_judges_are_asked_by_a_published_protocol_with_all_references_that_it_shows(
    court: Court, server: Server
) -> None:
    user = '{"references": "$ann $ben", "source": "$pali", "candidate": "$candidate", "about": "$drift, $passage_id"}'
    protocol = PublishedProtocol(
        name="by-paper", system="Weigh it.", user=user, reader="judgement", tries=2, sampling=Sampling(temperature=0.4),
        variables=("ann", "ben", "pali", "candidate", "drift", "passage_id"),
        fields={"pali": "source", "passage_id": "passage"},
    )  # fmt: skip

    def store(protocol: PublishedProtocol) -> None:
        row = {
            "benchmark": "paper", "role": "judge", "subject": "tiny", "content": protocol.model_dump_json(),
            "licence": "theirs", "url": "", "fingerprint": protocol.user,
        }  # fmt: skip
        changes = [Replacement("protocol", pl.DataFrame([row]), pl.DataFrame({"role": ["judge"]}))]
        court.warehouse.write(changes, run_id="add")

    court.judge()
    store(protocol)
    server.clear()
    server.configure(answer="judge", keep_bodies=True)
    court.judge()
    bodies = [seen.body for seen in server.log() if seen.body]
    assert len(bodies) == 9
    assert {(body["messages"][0]["content"], body["temperature"]) for body in bodies} == {("Weigh it.", 0.4)}
    contents = [json.loads(body["messages"][1]["content"]) for body in bodies]
    assert {content["references"] for content in contents if content["about"].endswith(" doc1:2")} == {
        "The sun rises. Up comes the sun."
    }
    calls = court.warehouse.read("study_call").filter(study="judge_vote")
    assert calls["prompt"].str.starts_with("by-paper v1 ").all()
    assert set(court.labels().values()) == {"VALID_VARIATION"}

    own = pl.DataFrame({"model": ["ours"], "subject": ["tiny"], "fingerprint": ["variorum"]})
    court.warehouse.write([Replacement("own_wording", own, own.select("model", "subject"))], run_id="evaluate")
    server.clear()
    court.judge()
    assert server.log() == []
    assert court.warehouse.read("study_call").filter(study="judge_vote")["prompt"].str.starts_with("judge_mqm v").all()
    court.warehouse.write([Replacement("own_wording", own.clear(), own.select("model", "subject"))], run_id="evaluate")
    store(protocol.model_copy(update={"user": f"{user} $cara", "variables": (*protocol.variables, "cara")}))
    court.judge()
    assert server.log() == []
    reasons = court.warehouse.read("judge_vote")["abstention"]
    assert set(reasons) == {"the published protocol shows cara"}


def test_votes_on_a_model_that_nobody_knows_any_more_stay(court: Court, server: Server) -> None:
    court.judge()
    with_votes = court.labels()
    gone = pl.DataFrame({"model": ["ours"], "corpus": ["tiny"]})
    court.warehouse.write([Replacement("imported_file", court.warehouse.empty("imported_file"), gone)], run_id="test")
    write_judges(court.folder / "models.yaml", court.url, families={})
    server.clear()
    court.judge()
    assert (court.labels(), server.log()) == (with_votes, [])


def test_what_judging_would_cost_is_said_before(court: Court) -> None:
    with dg.DagsterInstance.get() as instance:
        found = due(court.definitions, instance, dg.AssetKey("judge_vote"))
    assert found.estimate is not None
    assert found.estimate.calls == 18
    assert found.estimate.most is not None
