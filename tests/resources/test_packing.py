"""Packing: whatever is packed comes back, and what was packed by this version can be read by every later one."""

import zlib
from pathlib import Path

import pytest
import sqlalchemy as db
from hypothesis import given
from hypothesis import strategies as st

from resources.dagster_storage.engines import kept_engine
from resources.dagster_storage.packing import PackedText, pack, unpack

STORED = bytes.fromhex(
    "0178bb925ea85feddc4d4a04311086e113b5a6527f5f799ba43a590b6e3dbc41572d82f60c038ab3a96585c04b9e5deea2fd2bd156a8eb"
    "257b7d79fff0e2713cd3135d8fdcc0dcbd23bad4c44ebb8e89a9bdf21ac428b746b04d8435f1543387629dbe5310c29b94dce719247b0f"
    "e9c623632d19925247810e4182e0b3fc74d7c12ce624b56c18d531a60b30a4774d88b598ed2cb2b5204e494bcc7619b7647cb8f317e67e"
    "34f5adbc87e6feaac206a459e14dabeab6ead20d25620d6806b917ca5b48ad45f4aef5afd7fada3c3e894e1e2a8c5ae8212cd8c52f31fe"
    "0d069b990b"
)
"""As a home holds it: this constant never changes."""


@given(st.text())
def test_text_comes_back(text: str) -> None:
    assert unpack(pack(text)) == text


def test_an_event_that_is_stored_in_a_home_can_be_read() -> None:
    text = unpack(STORED)
    assert text.startswith('{"__class__": "EventLogEntry", "dagster_event"')
    assert '"path": ["drift_score"]' in text
    assert 4 * len(STORED) < len(text)


def test_an_event_of_a_later_version_is_refused_with_the_remedy() -> None:
    with pytest.raises(ValueError, match=r"later version of variorum \(format 255\); update variorum"):
        unpack(b"\xff" + STORED[1:])


def test_a_damaged_event_is_not_read_as_another() -> None:
    with pytest.raises(zlib.error):
        unpack(STORED[:-4] + bytes(4))
    with pytest.raises(ValueError, match="a stored event is incomplete"):
        unpack(STORED[:-8])


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
