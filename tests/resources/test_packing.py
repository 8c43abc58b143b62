"""Packing: whatever is packed comes back, and what was packed by this version can be read by every later one."""

import zlib
from pathlib import Path

import pytest
import sqlalchemy as db
from hypothesis import given
from hypothesis import strategies as st

from resources.dagster_storage.engines import kept_engine
from resources.dagster_storage.packing import PackedText, pack, unpack

STORED = [
    bytes.fromhex(text)
    for text in (
        "0178bb925ea85feddc4d4a04311086e113b5a6527f5f799ba43a590b6e3dbc41572d82f60c038ab3a96585c04b9e5deea2fd2bd156a8eb"
        "257b7d79fff0e2713cd3135d8fdcc0dcbd23bad4c44ebb8e89a9bdf21ac428b746b04d8435f1543387629dbe5310c29b94dce719247b0f"
        "e9c623632d19925247810e4182e0b3fc74d7c12ce624b56c18d531a60b30a4774d88b598ed2cb2b5204e494bcc7619b7647cb8f317e67e"
        "34f5adbc87e6feaac206a459e14dabeab6ead20d25620d6806b917ca5b48ad45f4aef5afd7fada3c3e894e1e2a8c5ae8212cd8c52f31fe"
        "0d069b990b",
        "0278bb5e9903b8eddb494a44311006e013a5ad2135799b0c9595b8d1a587b71517b68aefb5222276f659d4403ef821afdcb9"
        "70f01f38787ed00a3cdcb79bbcbb6ab77840bb46ddc5c4a73182426b041aa630754cc64465f7ca9d032afb4f33d2dc692066"
        "4f471cd21a5b80202d0150cb3887191ba6e9c06eb8c041ddc18e879219579ed6b23ba6a82b7bc87156aab37b8fccd4d03640"
        "bcd3e476ae6d28ea75ebd2495964f58336ec4934980036807c59ac4d28df2ededf8273c89a66d20ba5b652fbf0e29a52c492"
        "33a8cf04fa2eae4f3f552fc0fe1ab05f1bf13b8443ac7a841f586a38e17e941f01b46e723a",
    )
]
"""As homes hold events, by version of the dictionary: what stands here never changes."""


@given(st.text() | st.builds('{{"step_key": "{}", "text": "{}"}}'.format, st.text(), st.text()))
def test_text_comes_back(text: str) -> None:
    assert unpack(pack(text)) == text


@pytest.mark.parametrize("stored", STORED)
def test_an_event_that_is_stored_in_a_home_can_be_read(stored: bytes) -> None:
    text = unpack(stored)
    assert text.startswith('{"__class__": "EventLogEntry", "dagster_event"')
    assert '"path": ["drift_score"]' in text
    assert 4 * len(stored) < len(text)


def test_an_event_of_a_later_version_is_refused_with_the_remedy() -> None:
    with pytest.raises(ValueError, match=r"later version of variorum \(format 255\); update variorum"):
        unpack(b"\xff" + STORED[-1][1:])


def test_a_damaged_event_is_not_read_as_another() -> None:
    with pytest.raises(zlib.error):
        unpack(STORED[-1][:-4] + bytes(4))
    with pytest.raises(ValueError, match="a stored event is incomplete"):
        unpack(STORED[-1][:-8])


def test_a_column_holds_packed_objects_beside_older_plain_ones_and_other_text(tmp_path: Path) -> None:
    """A program without the type sees bytes where an object is, and everything else as it was."""
    table = db.Table("t", db.MetaData(), db.Column("text", db.Text))
    older, engine = (kept_engine(f"sqlite:///{tmp_path / 'file.db'}") for _ in range(2))
    engine.dialect.colspecs = {**engine.dialect.colspecs, db.Text: PackedText}
    event = '{"__class__": "EventLogEntry", "text": "' + "word " * 100 + '"}'
    with older.begin() as connection:
        table.create(connection)
        connection.execute(table.insert(), [{"text": event}, {"text": "a/b"}, {"text": None}])
    with engine.begin() as connection:
        connection.execute(table.insert(), [{"text": event}, {"text": "a/b"}, {"text": None}])
        assert connection.execute(db.select(table.c.text)).scalars().all() == [event, "a/b", None] * 2
        assert connection.execute(db.select(table.c.text).where(table.c.text == "a/b")).scalars().all() == ["a/b"] * 2
    with older.begin() as connection:
        stored = connection.execute(db.text("SELECT text FROM t")).scalars().all()
    assert [type(value) for value in stored] == [str, str, type(None), bytes, str, type(None)]
