"""Languages of invented texts."""

import pytest

from benchmark_assets.corpus.languages import identifiable, identified, plain

TEXTS = {
    "la": "Agricola in horto suo laborat, et filia eius aquam ex puteo portat, dum mater cenam parat.",
    "en": "The farmer works in his garden, and his daughter carries water from the well.",
    "de": "Der Bauer arbeitet im Garten, und seine Tochter trägt das Wasser vom Brunnen ins Haus.",
    "pi": "atha kho so gahapati udakaṁ gahetvā ārāmaṁ gacchati, tassa dhītā ca pacchato āgacchati",
    "sa": "atha sa gṛhapatir udakaṃ gṛhītvā vanaṃ gacchati, tasya duhitā ca paścād āgacchati śīghraṃ",
    "grc": "ὁ γεωργὸς ἐν τῷ κήπῳ ἐργάζεται, ἡ δὲ θυγάτηρ ὕδωρ φέρει",
    "el": "Ο αγρότης δουλεύει στον κήπο του και η κόρη του φέρνει νερό",
    "lzh": "農夫耕於園,其女汲水於井,母作食以待之也。",
    "zh": "農夫在園子裡幹活,他的女兒從井裡打了水,媽媽在家做飯等著他們。",
    "ja": "百姓は庭で働き、娘は井戸から水を運んでくる。",
    "bo": "ཞིང་པ་ནི་ཚལ་གྱི་ནང་དུ་ལས་ཀ་བྱེད།",
}


@pytest.mark.parametrize("tag", TEXTS)
def test_the_language_of_a_sentence_is_identified(tag: str) -> None:
    language = identified(TEXTS[tag])
    assert language is not None
    assert (language.tag, language.reliable) == (tag, True)
    assert language.share > 0.9
    assert identifiable(tag)


def test_a_few_words_are_not_reliable_and_a_number_has_no_language() -> None:
    greeting = identified("Salve, agricola!")
    assert greeting is None or not greeting.reliable
    assert identified("12, 34.") is None
    assert identified("") is None


def test_characters_that_are_no_text_do_not_stop_the_identification() -> None:
    language = identified(TEXTS["la"].replace(" ", "\x00", 1) + "\ud800\ufffe\x85")
    assert language is not None
    assert language.tag == "la"


def test_tags_of_one_language_have_one_form() -> None:
    assert [plain(tag) for tag in ("lat", "pli", "zh-Hant", "iw", "en_GB")] == ["la", "pi", "zh", "he", "en"]
    assert not identifiable("non")
