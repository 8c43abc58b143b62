"""URLs of databases: passwords with any characters, and none in a message or in the arguments of a command."""

from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.conninfo import conninfo_to_dict

from resources.errors import BadInput
from resources.home import checked
from tests.processes import here

SECRET = "correct"


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1))
def test_any_password_can_be_encoded(password: str) -> None:
    url = checked(f"postgresql://me:{quote(password, safe='')}@[::1]:5432/home?sslmode=require", "VARIORUM_DATABASE")
    assert conninfo_to_dict(url)["password"] == password


@pytest.mark.parametrize("character", "@/:#?%")
def test_a_password_that_is_not_encoded_is_refused_and_not_quoted(character: str) -> None:
    with pytest.raises(BadInput, match="VARIORUM_DATABASE") as refused:
        checked(f"postgresql://me:{SECRET}{character}{SECRET}@localhost/home", "VARIORUM_DATABASE")
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("url", [f"postgresql://me:{SECRET}@localhost/home", f"postgresql://h/d?password={SECRET}"])
def test_a_password_among_the_arguments_is_refused_and_not_quoted(url: str, home: Path) -> None:
    refused = here(home, "migrate-to", url, code=1).stderr
    assert "list of processes" in refused
    assert "VARIORUM_TARGET" in refused
    assert SECRET not in refused
