"""Alignment by the published protocol of PaliBench, beside what its programs ask, read and verify.

The rows `alignment` of digests.tsv were written by theirs.py, as test_protocols says.
"""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmark_assets.alignment.aligner_questions import AlignmentWork, Extracted, SourceSegment
from benchmark_assets.alignment.published import PublishedAligner
from benchmark_assets.alignment.published_stages import PublishedStages, published_findings
from benchmark_assets.studies.protocols import PublishedProtocol
from resources.provider.client import CallFailed, Reply
from resources.provider.provider import Provider
from resources.provider.question import Question
from resources.provider.reading import Outcome, Reading
from resources.provider.registry import Endpoint, Model, Settings
from tests.protocols import composed
from tests.protocols.composed import digest, of_request
from tests.protocols.test_protocols import declared, in_order, protocol, theirs

ALIGNER = Model(
    "m", Settings.model_validate({"endpoint": "e", "id": "a/b", "temperature": None}),
    Endpoint.model_validate({"url": "http://localhost", "dialect": "openai"}),
)  # fmt: skip
"""As the paper's model, which accepts no temperature; the program states none."""


def aligner(asked_by: PublishedProtocol, tmp_path: Path) -> PublishedAligner:
    """Of a provider that is asked nothing."""
    provider = Provider(registry_path=str(tmp_path / "models.yaml"), ledger_path=str(tmp_path / "ledger.sqlite"))
    return PublishedAligner(provider, ALIGNER, asked_by)


def work(text: str, segments: Mapping[str, tuple[str, str | None]]) -> AlignmentWork:
    places = {key: SourceSegment(source, guide) for key, (source, guide) in segments.items()}
    return AlignmentWork(text, composed.TRANSLATOR, "pli", "en", composed.PROSE, places, [*places])


def extracted(
    aligner: PublishedAligner, about: AlignmentWork, said: Any
) -> tuple[dict[str, Extracted], list[Question]]:
    """The results for a translation and the questions about it; `said` gives the reply about segments."""
    asked: list[Question] = []

    async def ask(question: Question) -> Reply:
        asked.append(question)
        text = question.messages[-1]["content"]
        reply = said([*json.loads(text[text.index("{") : text.index("}\n\n") + 1])])
        return Reply(question.key, Reading(Outcome.ANSWERED, reply, finish="stop"), False)

    return asyncio.run(aligner.extract(ask, about)), asked


def by_theirs(found: dict[str, Extracted]) -> dict[str, str | None]:
    """The results as the program stores them: a batch that it left out has none."""
    values = {key: each for key, each in found.items() if not each.error or "neither" in each.error}
    return {key: "neither text nor null" if each.error else each.text for key, each in values.items()}


@pytest.fixture
def published(realdata: Path, tmp_path: Path) -> PublishedProtocol:
    """The protocol of the recipe. The program's file is composed from what the data's settings state of it."""
    folder = tmp_path / "palibench"
    (folder / "code/pipeline").mkdir(parents=True)
    (folder / "prompts").symlink_to(realdata / "palibench/prompts")
    settings = json.loads((realdata / "palibench/settings.json").read_text("utf-8"))["align"]
    user = settings["user_message"]["value"]
    for field, expression in (
        ("{translator}", "{translator_name}"), ("{TRANSLATOR}", "{translator_name.upper()}"),
        ("{text}", "{translator_text}"),
        ("{JSON, indent 2: segment id to pali and sujato}", "{json.dumps(segments, ensure_ascii=False, indent=2)}"),
    ):  # fmt: skip
        user = user.replace(field, expression)
    line = f"    user_prompt = f{json.dumps(user, ensure_ascii=False)}\n"
    (folder / "code/pipeline/align.py").write_text(f"def call_alignment_api():\n{line}", encoding="utf-8")
    return protocol("palibench", "align", "palibench", tmp_path)


@pytest.mark.realdata
def test_texts_are_asked_about_in_the_batches_and_runs_of_the_program(
    published: PublishedProtocol, tmp_path: Path
) -> None:
    questions: list[Question] = []
    aligned: list[str] = []
    for text, segments in composed.suttas().items():
        found, asked = extracted(aligner(published, tmp_path), work(text, segments), composed.extracts)
        questions += asked
        aligned.append(digest(by_theirs(found)))
    requests = [
        of_request(body) | {"effort": body["reasoning_effort"], "max_tokens": body["max_completion_tokens"]}
        for body in (question.body for question in questions)
    ]
    assert sorted(map(digest, requests)) == sorted(theirs("alignment", "request").elements())
    assert [digest(requests)] == in_order("alignment", "order")
    assert aligned == in_order("alignment", "alignment")
    assert len(questions) > 20


def test_replies_are_read_as_published(tmp_path: Path) -> None:
    asked_by = PublishedProtocol(name="p", user="$segments", variables=("segments",), reader="segments")
    segments = {f"mn9:1.{at}": (f"s{at}", None) for at in range(1, 5)}
    about, digests = work("mn9", segments), []
    for reply in composed.segment_replies():
        found, _ = _alone(aligner(asked_by, tmp_path), about, reply)
        stopped = any("at which the published program stops" in (each.error or "") for each in found.values())
        digests.append(digest(None if stopped else by_theirs(found)))
    assert digests == in_order("alignment", "reply")
    assert 20 < digests.count(digest({})) < 50


def _alone(aligner: PublishedAligner, about: AlignmentWork, reply: str) -> tuple[dict[str, Extracted], int]:
    asked = 0

    async def ask(question: Question) -> Reply:
        nonlocal asked
        asked += 1
        return Reply(question.key, Reading(Outcome.ANSWERED, reply, finish="stop"), False)

    return asyncio.run(aligner.extract(ask, about)), asked


def test_texts_are_verified_by_the_published_stages() -> None:
    names = {
        None: "NULL", "verbatim": "VERBATIM", "normalized": "NORMALIZED", "expanded": "EXPANDED",
        "cross-reference": "CROSS_REF", "suspicious": "SUSPICIOUS",
    }  # fmt: skip
    digests = []
    for prose in composed.proses():
        stages = PublishedStages(prose)
        texts = [*composed.segment_texts(prose)]
        digests += [digest(names[stages.stage(text)]) for text in texts]
        assert [names[each.stage] for each in published_findings(texts, prose)] == [
            names[stages.stage(text)] for text in texts
        ]
    assert digests == in_order("alignment", "stage")


def test_a_corrected_text_is_never_suspicious() -> None:
    (kept, found) = published_findings(["wrong", "A crow spoke."], "A crow spoke.", [0])
    assert (kept.stage, found.stage, found.start, found.end) == ("by hand", "verbatim", 0, 13)


def test_a_failed_call_leaves_its_batch_out_and_the_next_run_asks_again(tmp_path: Path) -> None:
    asked_by = PublishedProtocol(
        name="p", user="$segments", variables=("segments",), reader="segments", tries=2, batch_segments=(1, 1)
    )
    asked: list[Question] = []

    async def ask(question: Question) -> Reply:
        asked.append(question)
        if len(asked) == 1:
            raise CallFailed("rejected")
        return Reply(question.key, Reading(Outcome.ANSWERED, '{"d:1.1": "one", "d:2.1": "two"}', finish="stop"), False)

    about = work("d", {"d:1.1": ("a", None), "d:2.1": ("b", None)})
    found = asyncio.run(aligner(asked_by, tmp_path).extract(ask, about))
    assert {key: (each.text, each.error) for key, each in found.items()} == {
        "d:1.1": ("one", None), "d:2.1": ("two", None),
    }  # fmt: skip
    assert [each.replicate for each in asked] == [0, 0, 1]


def test_the_recipe_states_the_settings_of_the_program() -> None:
    about = declared("palibench", "align", "palibench")
    assert (about.batch_segments, about.sampling.effort, about.sampling.max_tokens) == ((15, 30), "medium", 16000)
