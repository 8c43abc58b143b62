"""Question keys and fingerprints are those of earlier versions: what was paid for is found again, nothing is stale.

The values are those of commit 309f719. A test that fails here means that homes would ask again: change a prompt by a
new version of it, never a key by accident.
"""

from pathlib import Path

import polars as pl
import pytest

from benchmark_assets.adjudication.judging import Scores, judging
from benchmark_assets.adjudication.judging import shown as shown_candidate
from benchmark_assets.adjudication.panel import panel
from benchmark_assets.corpus.description import Audit
from benchmark_assets.literary.ensemble import AspectVotes, versus
from benchmark_assets.literary.ensemble import shown as shown_pair
from benchmark_assets.literary.extraction import Glossary
from benchmark_assets.pairwise.comparing import Contenders, comparing
from benchmark_assets.translation.passage_questions import translating
from benchmark_assets.translation.requests import chunk_item, chunk_template
from benchmark_assets.translation.systems import language_names
from benchmark_assets.understanding.answers import TaskAnswers
from benchmark_assets.understanding.description import TaskDescription
from benchmark_assets.understanding.shots import Example
from benchmark_assets.understanding.task_questions import TaskQuestions
from resources import prompts
from resources.provider.provider import Provider
from resources.provider.question import Question
from resources.warehouse import Warehouse
from tests.adjudication.test_panel import JUDGES, write_judges
from tests.literary.conftest import MINE, Salon
from tests.provider.support import model
from tests.understanding.conftest import FORMS, SPEECH
from tests.understanding.test_answers import Room, grid

URL = "http://127.0.0.1:1/v1"
MODEL = model(URL)
LATIN, JAPANESE = language_names("la", "en"), language_names("ja", "en")


def judged() -> Question:
    item = shown_candidate("Mus currit.", ("A mouse runs.", "Mice."), "A mouse walks.", Scores(1.5, 0.5))
    return judging(MODEL, LATIN).question(item)


def compared() -> Question:
    return comparing(MODEL, ("la", "en")).question(Contenders("Mus.", "A.", "B.")._asdict(), 1)


def preferred() -> Question:
    context = {"previous": "p", "source": "s", "next": "f", "glossary": [{"term": "t", "translation": "u"}]}
    return versus(MODEL, JAPANESE).question(shown_pair(context, "a", "b", "prose"))


def translated(passages: dict[str, str], replicate: int = 0) -> Question:
    return translating(MODEL, prompts.load("translate"), LATIN)(passages).question(passages, replicate)


def chunk() -> Question:
    item = chunk_item("t", None, "n", [{"term": "a", "translation": "b"}])
    return chunk_template(MODEL, prompts.load("chunk"), JAPANESE).question(item, 1)


def classified() -> Question:
    example = Example('{"text": "luna lucet"}', "VERSE", ())
    form = TaskQuestions(model(URL, {"dialect": "vllm"}), TaskDescription.model_validate(FORMS), (example,), 2)
    return form.template(1).question({"text": "x"}, form.number(1))


def marked() -> Question:
    form = TaskQuestions(MODEL, TaskDescription.model_validate(SPEECH), (), 1)
    return form.template(0).question({"head": "", "text": "x"}, form.number(0))


QUESTIONS = {
    "48a2547509f28dba5687447491d69a39": judged(),
    "a04a38dce930080009d069c29c2c6962": compared(),
    "6d85ebbfccf0e350d9a6bc95bd279c7c": preferred(),
    "50973bfa82f9df0021763a08ede4c94c": translated({"d:1": "Arma", "d:2": "virum"}),
    "f856af5378d731a19d95ecdf0c088675": translated({"d:1": "Arma"}, 2),
    "b64ae6b1e055da57a35ec8d347884baf": chunk(),
    "677641d6d904f15eb4e923dbfd396f4c": classified(),
    "900b2df5db317a565ad542e33a8cafec": marked(),
}


@pytest.mark.parametrize("key", QUESTIONS)
def test_the_ledger_knows_a_question_by_the_key_it_always_had(key: str) -> None:
    assert QUESTIONS[key].key == key


def test_fingerprints_of_literary_studies(tmp_path: Path, warehouse: Warehouse) -> None:
    salon = Salon(tmp_path, warehouse, URL)
    salon.describe()
    salon.texts()
    votes = AspectVotes(warehouse, salon.systems).settings(MINE)
    assert votes["settings"].to_list() == ["0cf7790b8d515c439fc409de927fdee3"] * 3
    salon.describe(extractor="exact")
    passages = pl.DataFrame({"passage": ["novels/dream:1", "tiny/doc1:1"]})
    terms = Glossary(warehouse, salon.systems).settings(passages)
    assert terms["settings"].to_list() == ["a8a4f0703fb7536883cff696eb8f1d06", ""]


def test_fingerprints_of_answers(tmp_path: Path, warehouse: Warehouse) -> None:
    room = Room(tmp_path, warehouse, URL)
    answers = TaskAnswers(warehouse, room.systems).settings(grid())
    assert answers["settings"].to_list() == ["b438c708c01ed271ba72f1ce2648abe4", "699579392a7d65a9e021cc14464f5aab"]


def test_the_fingerprint_of_a_panel(tmp_path: Path) -> None:
    write_judges(tmp_path / "models.yaml", URL)
    provider = Provider(registry_path=str(tmp_path / "models.yaml"), ledger_path=str(tmp_path / "ledger.sqlite"))
    seats = panel(provider, "tiny", Audit(judges=JUDGES), LATIN, "ours")
    assert seats.fingerprint == "7b9700579eb78380535b6da2a80aae3d"
