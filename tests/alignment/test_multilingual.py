"""Alignment without a segmented translation: translation and source are compared by a multilingual embedder."""

import json
from pathlib import Path

import dagster as dg
import numpy as np
import polars as pl
import pytest

from benchmark_assets.alignment.aligning import UNGUIDED, align_documents
from benchmark_assets.alignment.documents import Aligner, ProseDocument
from benchmark_assets.alignment.likeness import Embed
from benchmark_assets.alignment.rows import CONFIDENT, SegmentPlace, by_embeddings
from resources.embedders import MultilingualEmbedder, SentenceTransformerEmbedder
from resources.provider.provider import Provider
from resources.warehouse import Warehouse
from tests.alignment.corpora import PASSAGES, PROSE, SOURCES, Tales, expected, prose
from tests.provider.server import Server
from tests.systems import provider

WORDS = """
molitor miller | mane early morning | surrexit got | uxor wife | panem bread | quaesivit looked | corvus raven |
quercu oak tree | sedebat sat | lupus wolf | sub under | arbore branches | dormivit sleeping | vesperi evening |
rex king regem majesty | domum home | rediit came | nemo nobody | salutavit greeted | hieme winter | flumen river |
congelavit froze | pueri boys | glacie ice | luserunt playing | vere spring | nix snow | soluta melted |
agricola farmer | agrum field | aravit ploughed
"""
"""Latin words and English words for them, which the model maps to the same vector."""


@pytest.fixture(scope="session")
def bilingual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sentence-transformers model of Latin and English in a folder: the mean of its words' vectors.

    Like large models, it keeps languages apart and gives any two texts a similarity above 0.7.
    """
    import torch  # these packages take 10 s of a core to import: only by the process that needs them
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizer

    folder = tmp_path_factory.mktemp("bilingual")
    meanings = [words.split() for words in WORDS.split("|")]
    latin = {word for source in SOURCES.values() for text in source.values() for word in text.lower()[:-1].split()}
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(word for meaning in meanings for word in meaning)]
    own, common = torch.randn((2, len(words), 64), generator=torch.Generator().manual_seed(1))
    numbers = [0] * 5 + [number for number, meaning in enumerate(meanings, 1) for _ in meaning]
    of_language = torch.tensor([[0.25 if word in latin else -0.25] for word in words]) * common[1]
    vectors = own[numbers] + 0.5 * common[0] + of_language
    config = BertConfig(
        vocab_size=len(words), hidden_size=64, num_hidden_layers=0, num_attention_heads=1, intermediate_size=8,
        max_position_embeddings=64,
    )  # fmt: skip
    model = BertModel(config)
    with torch.no_grad():
        model.embeddings.word_embeddings.weight.copy_(vectors)
        model.embeddings.position_embeddings.weight.zero_()
        model.embeddings.token_type_embeddings.weight.zero_()
    model.save_pretrained(folder / "bert")
    BertTokenizer(vocab={word: i for i, word in enumerate(words)}, model_max_length=64).save_pretrained(folder / "bert")
    modules = [Transformer(str(folder / "bert")), Pooling(64)]
    SentenceTransformer(modules=modules, device="cpu").save(str(folder / "model"))
    return folder / "model"


@pytest.fixture
def tales(tmp_path: Path, warehouse: Warehouse, instance: dg.DagsterInstance, server: Server) -> Tales:
    """The corpus without segmented translations of its second document; no multilingual embedder is named."""
    name_embedder(tmp_path, server)
    models = Provider(registry_path=str(tmp_path / "models.yaml"), ledger_path=str(tmp_path / "ledger.sqlite"))
    tales = Tales(tmp_path / "tales", warehouse, instance, models)
    for translator in ("ann", "ben"):
        (tales.folder / f"translation/en/{translator}/doc2_translation-en-{translator}.json").unlink()
    return tales


def name_embedder(folder: Path, server: Server, model: Path | None = None) -> None:
    """Write a registry with an aligner and, given a model's folder, a multilingual embedder."""
    content = {
        "endpoints": {"server": {"url": server.url}}, "embedder": "minilm", "budget": {},
        "embedders": {"minilm": {}, "ours": {"model": str(model)}}, "multilingual": "ours" if model else "",
        "aligners": {"asked": {"endpoint": "server", "id": "m", "price": {"input": 1, "output": 2}}},
    }  # fmt: skip
    (folder / "models.yaml").write_text(json.dumps(content), encoding="utf-8")


def test_only_documents_without_a_guide_depend_on_the_multilingual_embedder(
    tales: Tales, bilingual: Path, server: Server
) -> None:
    tales.refer("eli", aligner="asked", ask="unsure")
    tales.write("eli", "doc2", prose(PROSE["doc2"]))
    server.configure(answers=expected())
    assert tales.build() == ""
    assert tales.doubts() == dict.fromkeys(PASSAGES[3:], UNGUIDED)
    assert {key: text for key, text in tales.texts().items() if text} == PROSE["doc1"]
    assert tales.texts("eli") == PROSE["doc2"]
    assert [seen.keys for seen in server.log()] == [list(PROSE["doc2"])]  # all, since nothing can be compared
    runs = dict(tales.rows().select("passage", "run_id").iter_rows())

    name_embedder(tales.folder.parent, server, bilingual)
    assert tales.build() == ""
    assert tales.texts() == expected()
    assert tales.doubts() == {}
    assert set(tales.rows("eli")["methods"].explode()) == {"embedding"}
    assert len(server.log()) == 1
    after = dict(tales.rows().select("passage", "run_id").iter_rows())
    assert {passage for passage in PASSAGES if runs[passage] != after[passage]} == set(PASSAGES[3:])


def test_a_segment_without_a_guide_is_found_by_its_source(tales: Tales, bilingual: Path, server: Server) -> None:
    for translator in ("ann", "ben"):
        path = tales.folder / f"translation/en/{translator}/doc1_translation-en-{translator}.json"
        path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | {"doc1:2.1": ""}), encoding="utf-8")
    name_embedder(tales.folder.parent, server, bilingual)
    assert tales.build() == ""
    assert tales.texts()["doc1:2.1"] is None  # its neighbor has its text

    tales.refer("dora", compare="both")
    assert tales.build() == ""
    assert tales.texts() == expected()

    name_embedder(tales.folder.parent, server)
    assert "is compared with its source, but the registry names no `multilingual` embedder" in tales.build()
    assert tales.texts() == expected()


def test_displaced_guides_can_be_ignored(tales: Tales, bilingual: Path, server: Server) -> None:
    for translator in ("ann", "ben"):
        path = tales.folder / f"translation/en/{translator}/doc1_translation-en-{translator}.json"
        texts = json.loads(path.read_text(encoding="utf-8"))
        displaced = dict(zip(texts, [*texts.values()][1:], strict=False))
        path.write_text(json.dumps(displaced), encoding="utf-8")
    name_embedder(tales.folder.parent, server, bilingual)
    assert tales.build() == ""
    assert tales.texts() != expected()
    tales.refer("dora", compare="source")
    assert tales.build() == ""
    assert tales.texts() == expected()


def test_a_translation_of_another_text_is_not_credible(bilingual: Path) -> None:
    embedder = SentenceTransformerEmbedder(model=str(bilingual))
    segments = [SegmentPlace(key, key, text, ()) for key, text in SOURCES["doc1"].items()]
    confidence = {
        document: by_embeddings(
            prose(PROSE[document]), segments, lambda texts: embedder.embed(texts).vectors
        ).confidence
        for document in PROSE
    }
    assert confidence["doc2"] < CONFIDENT < confidence["doc1"] / 2


def test_passages_that_the_embedder_doubts_have_the_text_at_their_numbers(tmp_path: Path) -> None:
    sources = SOURCES["doc1"]
    places = [SegmentPlace(f"tales/{key}", key, text, ()) for key, text in sources.items()]
    text = " ".join(f"{key.partition(':')[2]} {words}" for key, words in PROSE["doc1"].items())
    numbers = [(text.index(key.partition(":")[2]), key.partition(":")[2]) for key in sources]
    passages = pl.DataFrame({"passage": [place.passage for place in places]})
    document = ProseDocument(
        "tales", "doc1", "dora", text, "la", "en", passages, places, corrections={}, anchors={}, numbers=numbers
    )
    aligners = {("tales", "dora"): Aligner("", "all")}
    alike: Embed = lambda texts: np.ones((len(texts), 4)) / 2  # noqa: E731
    rows, failures = align_documents([document], aligners, alike, alike, provider(tmp_path), "run")
    assert failures.is_empty()
    assert rows["methods"].to_list() == [["number"]] * len(places)


LATIN = """Agricola quidam filium monuit ne ad flumen iret, quod pluviis auctum erat.
Filius tamen, cum pater dormiret, ad ripam descendit et navem parvam solvit.
Mox ventus navem in medium flumen egit, et puer clamare coepit.
Piscator senex, qui retia sua reparabat, clamorem audivit et in aquam se iecit.
Puerum servatum domum reduxit; pater autem, ira et gaudio commotus, nihil dixit.
Ex eo die filius patri semper paruit, et piscatori cotidie panem attulit.""".splitlines()
ENGLISH = """A certain farmer warned his son not to go to the river, which had been swollen by the rains.
But while his father slept, the son went down to the bank and untied a little boat.
Soon the wind drove the boat into the middle of the river, and the boy began to shout.
An old fisherman who was mending his nets heard the shouting and threw himself into the water.
He brought the rescued boy home; but the father, moved by both anger and joy, said nothing.
From that day on the son always obeyed his father, and every day brought bread to the fisherman.""".splitlines()


@pytest.mark.parametrize("lacking", [set(), {0}, {1}, {2}, {3}, {4}, {5}, {3, 4}])
def test_a_paragraph_that_a_translation_lacks_gets_no_clause_of_its_neighbors(lacking: set[int]) -> None:
    segments = [SegmentPlace(str(at), f"{at}.{n}", clause, ())
                for at, text in enumerate(LATIN) for n, clause in enumerate(text.split("; "))]  # fmt: skip
    prose = "\n\n".join(text for at, text in enumerate(ENGLISH) if at not in lacking)
    aligned = by_embeddings(prose, segments, lambda texts: MultilingualEmbedder().embed(texts).vectors)
    spans = zip(segments, aligned.spans, strict=True)
    parts = [(int(segment.passage), " ".join(prose[slice(*span)].split())) for segment, span in spans if span]
    found = {at: " ".join(text for other, text in parts if other == at) for at, _ in parts}
    assert found == {at: text for at, text in enumerate(ENGLISH) if at not in lacking}
