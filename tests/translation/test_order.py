"""Translations under each other's keys are found by names, numbers and lengths, and others are left alone."""

import pytest

from benchmark_assets.translation.order import exchanged

SOURCES = {
    "1": "Sāvatthiyaṁ viharati Jetavane Anāthapiṇḍikassa ārāme.",
    "2": "Rājagahe viharati Veḷuvane Kalandakanivāpe.",
    "3": "Dve, bhikkhave, dhammā: 12 ca 37 ca.",
    "4": "Evaṁ.",
}
RIGHT = {
    "1": "He was staying at Savatthi, in Jeta’s Grove (Jetavana), the park of Anathapindika.",
    "2": "He was staying at Rajagaha in Veluvana, at Kalandaka’s feeding place.",
    "3": "Monks, there are two things: 12 and 37.",
    "4": "Thus it is.",
}


def moved(*cycle: str) -> dict[str, str]:
    """The translations, each of these keys with the translation of the next."""
    following = dict(zip(cycle, (*cycle[1:], cycle[0]), strict=True))
    return {key: RIGHT[following.get(key, key)] for key in RIGHT}


def test_translations_in_their_places_are_left_alone() -> None:
    assert exchanged(SOURCES, RIGHT) == set()


@pytest.mark.parametrize("cycle", ["12", "13", "23", "123"])
def test_those_in_other_places_are_found_by_names_numbers_and_lengths(cycle: str) -> None:
    assert exchanged(SOURCES, moved(*cycle)) == set(cycle)


def test_of_a_reply_that_lacks_passages_the_rest_is_compared() -> None:
    texts = moved("1", "2")
    del texts["3"]
    assert exchanged(SOURCES, texts) == {"1", "2"}


@pytest.mark.parametrize("texts", [{}, {"1": "Anything."}, dict.fromkeys(SOURCES, "The same."), {"1": "…", "4": "!"}])
def test_without_evidence_nothing_is_suspected(texts: dict[str, str]) -> None:
    assert exchanged(SOURCES, texts) == set()


def test_other_digits_and_scripts_are_read() -> None:
    names = {key: f"{number}" for key, number in enumerate(["١٢٣ ٤٥٦", "٧٨٩ ٣٢١", "١١١ ٩٩٩"])}
    sources = {str(key): text for key, text in names.items()}
    texts = {"0": "789 and 321", "1": "123 and 456", "2": "111 and 999"}
    assert exchanged(sources, texts) == set()  # four numbers among three passages: too little
    more = {key: f"{text} {int(key) + 51} {int(key) + 61}" for key, text in sources.items()}
    twisted = {"0": "789, 321, 52, 62", "1": "123, 456, 51, 61", "2": "111, 999, 53, 63"}
    assert exchanged(more, twisted) == {"0", "1"}
