"""Downloads: which file a text has where, and what stands in the folder whatever the server or the disk does."""

import json
import logging
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

import dagster as dg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.corpus.description import load
from benchmark_assets.corpus.model import Document
from benchmark_assets.corpus.readers import read
from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import build_definitions
from resources.downloads import manifest
from resources.downloads.downloads import USER_AGENT, Downloads, Fetched, Result
from resources.downloads.sources import SOURCES, Download, Wanted, wanted
from resources.downloads.transfer import ATTEMPTS, REDIRECTS
from resources.errors import BadInput
from resources.home import PROJECT
from resources.warehouse import Warehouse
from tests.resources.site import Answer, Site, cut, endless, serve, silence, status
from tests.support import examples, run

TEXT = '{"mn1:1.1": "Mus sub mensa sedet."}'
LATER = '{"mn1:1.1": "Mus sub lecto sedet."}'


COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of this machine, with its key."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make a certificate with")
    place = tmp_path_factory.mktemp("certificate") / "site.pem"
    command = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
    subprocess.run(
        ["openssl", *command.split(), *names, "-keyout", place, "-out", place.with_suffix(".crt")],
        check=True, capture_output=True,
    )  # fmt: skip
    with place.open("ab") as file:
        file.write(place.with_suffix(".crt").read_bytes())
    return place


@pytest.fixture(autouse=True)
def direct(monkeypatch: pytest.MonkeyPatch, certificate: Path) -> None:
    """No proxy stands between the tests and their servers; their certificate is the only one that clients trust."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.with_suffix(".crt")))


@pytest.fixture
def site() -> Iterator[Site]:
    with serve() as each:
        yield each


@pytest.fixture(scope="session")
def shared_site() -> Iterator[Site]:
    with serve() as each:
        yield each


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "texts"


def one(site: Site, path: str = "mn1.json", **terms: Any) -> Wanted:
    """A file of the site."""
    given: dict[str, Any] = {
        "text": path.partition(".")[0], "url": f"{site.url}/{path}", "path": path,
        "licence": "CC0-1.0", "restricted": False,
    }  # fmt: skip
    return Wanted(**given | terms)


def fetch(folder: Path, *files: Wanted, **settings: Any) -> Result:
    return Downloads(**{"pause": 0, "timeout": 10} | settings).fetch(files, folder)


def fetched(result: Result) -> Fetched:
    """The only file of a result without faults."""
    assert result.faults == []
    (only,) = result.fetched
    return only


def fault(result: Result) -> BadInput:
    """The only fault of a result without files."""
    assert result.fetched == []
    (only,) = result.faults
    return only


def visible(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and time of change of all that readers and sensors see."""
    return {
        str(path.relative_to(folder)): (path.stat().st_size, path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
    }


def leftovers(folder: Path) -> list[str]:
    """What is kept of downloads that have not ended."""
    hidden = folder / ".downloads"
    return sorted(str(path.relative_to(hidden)) for path in hidden.rglob("*") if path.name != "lock")


def assert_true_to_manifest(folder: Path) -> None:
    """Every file is the one that the manifest names, and nothing else is there."""
    records = manifest.read(folder)
    there = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert {path for path in there if not path.startswith(".")} == {*records, manifest.NAME}
    for path, record in records.items():
        body = (folder / path).read_bytes()
        assert (record.path, record.sha256, record.bytes) == (path, sha256(body).hexdigest(), len(body))


# Which file a text has where

RULES = ["suttacentral", "suttacentral-legacy", "dhammatalks"]


BILARA = [("mn1", "mn"), ("dn34", "dn"), ("sn12.93-213", "sn/sn12"), ("an1.1-10", "an/an1"), ("dhp383-423", "kn/dhp")]


@pytest.mark.parametrize(
    ("source", "uid", "paths"),
    [
        *(
            ("suttacentral", uid, [f"root/pli/ms/sutta/{folder}/{uid}_root-pli-ms.json",
                                   f"translation/en/sujato/sutta/{folder}/{uid}_translation-en-sujato.json"])
            for uid, folder in BILARA
        ),
        ("suttacentral-legacy", "mn1", ["html_text/en/pli/sutta/mn/mn1.html"]),
        ("suttacentral-legacy", "sn12.72-81", ["html_text/en/pli/sutta/sn/sn12/sn12.72-81.html"]),
        ("dhammatalks", "mn118", ["suttas/MN/MN118.html"]),
        ("dhammatalks", "dn1", ["suttas/DN/DN01.html"]),
        ("dhammatalks", "an10.13", ["suttas/AN/AN10_13.html"]),
        ("dhammatalks", "dhp116-128", ["suttas/KN/Dhp/Ch09.html"]),
    ],
)  # fmt: skip
def test_a_text_has_these_files(source: str, uid: str, paths: list[str]) -> None:
    assert SOURCES[source].paths(uid) == (*paths,)


@pytest.mark.parametrize(
    ("source", "uid"),
    [
        *((source, "mn1.2") for source in RULES),
        *(("suttacentral", uid) for uid in ("", "mn", "mn0", "mn01", "MN1", "sn12", "sn12.", "x", "snp1.8", "sn1.2-")),
        *(("suttacentral", uid) for uid in ("../mn1", "mn1/../..", "mn1\n", "mn١")),
        *(("suttacentral", uid) for uid in ("dhp1", "dhp1-19", "dhp2-20", "dhp1-32", "dhp383-424")),
        ("dhammatalks", "an1.1-10"),
        ("suttacentral-legacy", "dn1"),
        ("suttacentral-legacy", "dhp1-20"),
    ],
)
def test_a_uid_without_a_rule_is_bad_input_that_names_it(source: str, uid: str) -> None:
    with pytest.raises(BadInput, match="no rule gives the path of") as caught:
        wanted([Download(source=source, texts=(uid,))], "corpus.yaml")
    assert (caught.value.where, caught.value.key) == ("corpus.yaml", "downloads.0.texts")
    assert repr(uid) in caught.value.problem


def test_the_chapters_of_the_dhammapada_are_26_and_hold_each_verse_once() -> None:
    chapters = {
        SOURCES["dhammatalks"].paths(f"dhp{first}-{last}"): range(first, last + 1)
        for first in range(1, 425)
        for last in range(first, 425)
        if SOURCES["dhammatalks"].paths(f"dhp{first}-{last}")
    }
    assert [*chapters] == [(f"suttas/KN/Dhp/Ch{number:02}.html",) for number in range(1, 27)]
    assert [verse for verses in chapters.values() for verse in verses] == [*range(1, 424)]


@pytest.mark.realdata
def test_the_rule_of_suttacentral_names_every_file_of_the_real_tree(realdata: Path) -> None:
    tree = realdata / "suttacentral"
    files = {str(path.relative_to(tree)) for path in tree.rglob("*.json")}
    texts = {Path(path).name.partition("_")[0] for path in files}
    assert len(texts) == 380
    assert {path for text in texts for path in SOURCES["suttacentral"].paths(text)} == files


def test_what_a_description_asks_for_comes_with_the_terms_of_its_source_each_file_once() -> None:
    asked = [
        Download(source="suttacentral", texts=("mn1", "mn1")),
        Download(source="dhammatalks", texts=("mn1",)),
        Download(source="suttacentral-legacy", texts=("mn1",), base="http://mirror.example/sc/"),
    ]
    files = wanted(asked, "corpus.yaml")
    assert [(each.text, each.url, each.licence, each.restricted) for each in files] == [
        (
            "mn1", "https://raw.githubusercontent.com/suttacentral/bilara-data/published/root/pli/ms/sutta/mn/"
            "mn1_root-pli-ms.json", "CC0-1.0", False,
        ),
        (
            "mn1", "https://raw.githubusercontent.com/suttacentral/bilara-data/published/translation/en/sujato/sutta/mn/"
            "mn1_translation-en-sujato.json", "CC0-1.0", False,
        ),
        ("mn1", "https://www.dhammatalks.org/suttas/MN/MN1.html", "CC BY-NC 4.0", True),
        ("mn1", "http://mirror.example/sc/html_text/en/pli/sutta/mn/mn1.html", "CC BY-NC-ND 3.0", True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "uid", "path", "place"),
    [
        ("suttacentral-legacy", "sn12.2", "", "html_text/en/pli/sutta/sn/sn12/sn12.2.html"),
        ("dhammatalks", "dn1", "", "suttas/DN/dn1.html"),
        ("dhammatalks", "dhp1-20", "", "suttas/KN/Dhp/dhp1-20.html"),
        ("dhammatalks", "an3.65", "suttas/AN/AN3_66.html", "suttas/AN/an3.65.html"),
        ("dhammatalks", "an3.6", "suttas/AN/an3.65.html", "suttas/AN/an3.6.html"),
        ("dhammatalks", "sn12.2", "suttas/{folder}/{uid}.html", "suttas/sn/sn12/sn12.2.html"),
    ],
)
def test_a_file_goes_into_the_folder_of_its_source_under_a_name_that_readers_find(
    source: str, uid: str, path: str, place: str
) -> None:
    (each,) = wanted([Download(source=source, texts=(uid,), path=path)], "corpus.yaml")
    assert each.path == place
    below = path.replace("{uid}", uid).replace("{folder}", "sn/sn12")
    assert path == "" or each.url == f"https://www.dhammatalks.org/{below}"


def test_a_commit_takes_the_place_of_the_branch_and_digests_go_with_their_files() -> None:
    path = "translation/en/sujato/sutta/mn/mn1_translation-en-sujato.json"
    asked = Download(source="suttacentral", texts=("mn1",), commit=COMMIT, sha256={path: "0" * 64})
    root, translation = wanted([asked], "corpus.yaml")
    assert translation.url == f"https://raw.githubusercontent.com/suttacentral/bilara-data/{COMMIT}/{path}"
    assert [(each.commit, each.sha256) for each in (root, translation)] == [(COMMIT, ""), (COMMIT, "0" * 64)]


def test_files_of_a_repository_keep_their_paths() -> None:
    terms: dict[str, Any] = {"repository": "mus/codex", "commit": COMMIT, "licence": "CC BY 4.0"}
    asked = Download(source="github", files=("data/a.xml", "b/#1 100%.txt"), restricted=True, **terms)
    files = wanted([asked], "corpus.yaml")
    base = f"https://raw.githubusercontent.com/mus/codex/{COMMIT}"
    assert [(each.path, each.url) for each in files] == [
        ("data/a.xml", f"{base}/data/a.xml"), ("b/#1 100%.txt", f"{base}/b/%231%20100%25.txt"),
    ]  # fmt: skip
    assert {(each.licence, each.restricted, each.commit) for each in files} == {("CC BY 4.0", True, COMMIT)}
    mirrored = asked.model_copy(update={"base": "http://mirror.example/{repository}/raw/{commit}/"})
    assert wanted([mirrored], "corpus.yaml")[0].url == f"http://mirror.example/mus/codex/raw/{COMMIT}/data/a.xml"


REPOSITORY = {"source": "github", "repository": "mus/codex", "commit": COMMIT, "files": ["a.xml"], "licence": "CC0"}


@pytest.mark.parametrize(
    ("download", "problem"),
    [
        *((REPOSITORY | {key: value}, "source github needs") for key, value in [("files", []), ("licence", "")]),
        *((REPOSITORY | {key: ""}, "source github needs") for key in ("repository", "commit")),
        (REPOSITORY | {"texts": ["mn1"]}, "list its `files`"),
        (REPOSITORY | {"commit": "main"}, "should match pattern"),
        (REPOSITORY | {"repository": "codex"}, "should match pattern"),
        (REPOSITORY | {"sha256": {"a.xml": "12"}}, "should match pattern"),
        (REPOSITORY | {"source": "dhammatalks"}, "are for github and github-lfs only"),
        ({"source": "dhammatalks"}, "lists no text"),
        ({"source": "dhammatalks", "texts": ["mn1"], "licence": "CC0"}, "are for github and github-lfs only"),
        ({"source": "dhammatalks", "texts": ["mn1"], "text": "mn1"}, "not permitted"),
    ],
)
def test_a_description_with_keys_that_do_not_fit_the_source_is_refused(
    tmp_path: Path, download: dict[str, Any], problem: str
) -> None:
    text = {"language": "en", "licence": "CC0-1.0"}
    description = {
        "name": "mures", "layout": "jsonl", "root": ".", "source": text, "target": "en", "downloads": [download],
    }  # fmt: skip
    (tmp_path / "corpus.yaml").write_text(json.dumps(description), encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        load(tmp_path / "corpus.yaml")
    assert caught.value.key.startswith("downloads.0")
    assert problem in caught.value.problem


@pytest.mark.parametrize(
    ("download", "key", "problem"),
    [
        (Download(source="sutacentral", texts=("mn1",)), "downloads.1.source", "no such source: 'sutacentral'"),
        (Download(source="dhammatalks", texts=("mn1",), base="www.example.org"), "downloads.1.base", "is not a URL"),
        (Download(source="dhammatalks", texts=("mn1",), base="file:///etc"), "downloads.1.base", "is not a URL"),
        (Download(source="dhammatalks", texts=("ud1.1",), path="{folder}/{uid}"), "downloads.1.texts", "no rule"),
        (Download(source="dhammatalks", texts=("mn1",), path="/"), "downloads.1.texts", "no rule"),
        (Download(source="dhammatalks", texts=("../mn1",), path="KN/x.html"), "downloads.1.texts", "no rule"),
        (Download(source="dhammatalks", texts=("",), path="KN/x.html"), "downloads.1.texts", "no rule"),
        (Download(source="dhammatalks", texts=("mn1",), commit=COMMIT), "downloads.1.commit", "no placeholder"),
        (Download(source="dhammatalks", texts=("mn2",), sha256={"a": "0" * 64}), "downloads.1.sha256", "'a' is not"),
        (
            Download(source="dhammatalks", texts=("mn1",), base="https://mirror.example"), "downloads.1.texts",
            "suttas/MN/mn1.html has two URLs or digests: https://www.dhammatalks.org/suttas/MN/MN1.html and "
            "https://mirror.example/suttas/MN/MN1.html",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_for_is_bad_input(download: Download, key: str, problem: str) -> None:
    with pytest.raises(BadInput) as caught:
        wanted([Download(source="dhammatalks", texts=("mn1",)), download], "corpus.yaml")
    assert caught.value.key == key
    assert problem in caught.value.problem


# What stands in the folder


def bilara(site: Site, *uids: str) -> list[Wanted]:
    """Publish texts in the layout of SuttaCentral's bilara repository; what a description of them wants."""
    files = wanted([Download(source="suttacentral", texts=uids, base=site.url)], "corpus.yaml")
    for each in files:
        language = "Latin" if each.path.startswith("root") else "English"
        site.put(f"/{each.path}", json.dumps({f"{each.text}:1.1": f"{language} of {each.text}."}))
    return files


def test_the_readers_of_all_layouts_read_what_was_fetched(site: Site, folder: Path) -> None:
    uids = ("mn1", "sn12.2")
    files = bilara(site, *uids)
    for source, page in (
        ("dhammatalks", '<html><body><div id="sutta"><h1>{}</h1><p>A page of {}.</p></div></body></html>'),
        ("suttacentral-legacy", "<html><body><article><p>An article of {}.</p></article></body></html>"),
    ):
        pages = wanted([Download(source=source, texts=uids, base=site.url)], "corpus.yaml")
        for each in pages:
            site.put(each.url.removeprefix(site.url), page.format(each.text, each.text), kind="text/html")
        files += pages
    assert fetch(folder, *files).faults == []
    cc0 = {"language": "en", "licence": "CC0-1.0"}
    description = {
        "name": "suttas", "layout": "bilara", "root": ".",
        "source": {"language": "pli", "edition": "ms", "licence": "CC0-1.0"},
        "references": {
            "sujato": cc0,
            "thanissaro": cc0 | {"layout": "dhammatalks-html", "files": "suttas/**/{document}.html"},
            "bodhi": cc0 | {"layout": "suttacentral-html", "files": "html_text/**/{document}.html"},
        },
    }  # fmt: skip
    (folder / "corpus.yaml").write_text(json.dumps(description), encoding="utf-8")
    documents = [each for each in read(load(folder / "corpus.yaml")) if isinstance(each, Document)]
    assert {
        each.id: (
            each.passages[0].segments[0].text, each.passages[0].references[0].segments,
            {prose.translator: prose.text for prose in each.prose},
        )
        for each in documents
    } == {
        uid: (
            f"Latin of {uid}.", (f"English of {uid}.",),
            {"thanissaro": f"A page of {uid}.", "bodhi": f"An article of {uid}."},
        )
        for uid in uids
    }  # fmt: skip


def test_the_download_job_fetches_the_files_of_a_repository_into_the_root(
    site: Site, tmp_path: Path, warehouse: Warehouse, instance: dg.DagsterInstance
) -> None:
    site.put(f"/mus/codex/{COMMIT}/data/a.jsonl", '{"id": "a"}')
    text = {"language": "la", "licence": "CC0-1.0"}
    asked = REPOSITORY | {"files": ["data/a.jsonl", "data/b.jsonl"], "base": f"{site.url}/{{repository}}/{{commit}}"}
    description = {
        "name": "mures", "layout": "jsonl", "root": "texts", "source": text, "target": "en", "downloads": [asked],
    }  # fmt: skip
    (tmp_path / "corpus.yaml").write_text(json.dumps(description), encoding="utf-8")
    register(warehouse, tmp_path / "corpus.yaml")
    definitions = build_definitions(resource_overrides={"warehouse": warehouse, "downloads": Downloads(pause=0)})
    result = run(definitions, instance, "download", raise_on_error=False)
    assert not result.success
    (failure,) = result.get_step_failure_events()
    assert "data/b.jsonl: there is no such file (status 404)" in str(failure.step_failure_data.error)
    assert {*manifest.read(tmp_path / "texts")} == {"data/a.jsonl"}
    assert_true_to_manifest(tmp_path / "texts")


def test_a_faulty_corpus_does_not_keep_the_download_job_from_the_others(
    site: Site, tmp_path: Path, warehouse: Warehouse, instance: dg.DagsterInstance
) -> None:
    site.put(f"/mus/codex/{COMMIT}/a.xml", "<TEI/>")
    good = REPOSITORY | {"base": f"{site.url}/{{repository}}/{{commit}}"}
    downloads = {
        "anser": good,
        "bos": {"source": "sutacentral", "texts": ["mn1"]},
        "canis": {"source": "dhammatalks", "texts": ["mn1", "nonsense"], "base": site.url},
        "damma": good,
        "equus": good,
        "felis": good,
    }
    for name, asked in downloads.items():
        text = {"language": "la", "licence": "CC0-1.0"}
        description = {
            "name": name, "layout": "jsonl", "root": name, "source": text, "target": "en", "downloads": [asked],
        }  # fmt: skip
        (tmp_path / f"{name}.yaml").write_text(json.dumps(description), encoding="utf-8")
        register(warehouse, tmp_path / f"{name}.yaml")
    (tmp_path / "damma").mkdir()
    (tmp_path / "damma" / "downloads.json").write_text("{", encoding="utf-8")
    (tmp_path / "equus").write_text("a file, not a folder", encoding="utf-8")
    definitions = build_definitions(resource_overrides={"warehouse": warehouse, "downloads": Downloads(pause=0)})
    result = run(definitions, instance, "download", raise_on_error=False)
    assert {*manifest.read(tmp_path / "anser")} == {*manifest.read(tmp_path / "felis")} == {"a.xml"}
    assert site.paths() == [f"/mus/codex/{COMMIT}/a.xml"] * 2
    (failure,) = result.get_step_failure_events()
    message = str(failure.step_failure_data.error)
    assert "2 files are up to date, but there are 4 faults" in message
    for fault in (
        "bos: downloads.0.source: no such source: 'sutacentral'", "canis: downloads.0.texts: no rule gives the path",
        "is not a manifest of downloads", f"{tmp_path / 'equus'}: cannot be used for downloads",
    ):  # fmt: skip
        assert fault in message


def test_a_new_file_has_a_record_of_where_it_came_from_and_its_terms(site: Site, folder: Path) -> None:
    page = site.put("/a/MN1.html", "<p>Mus.</p>", kind="text/html", last_modified="Tue, 01 Jul 2025 10:00:00 GMT")
    got = fetched(fetch(folder, one(site, "a/MN1.html", text="mn1", licence="CC BY-NC 4.0", restricted=True)))
    assert (got.state, got.file) == ("new", folder / "a/MN1.html")
    assert got.file.read_bytes() == page.body
    (record,) = json.loads((folder / "downloads.json").read_text(encoding="utf-8"))
    assert record == {
        "path": "a/MN1.html", "text": "mn1", "url": f"{site.url}/a/MN1.html", "bytes": len(page.body),
        "sha256": sha256(page.body).hexdigest(), "etag": page.tag, "last_modified": page.last_modified,
        "fetched_at": got.record.model_dump(mode="json")["fetched_at"], "licence": "CC BY-NC 4.0", "restricted": True,
        "commit": "",
    }  # fmt: skip
    assert leftovers(folder) == []


def test_servers_are_told_who_asks_and_asked_for_the_file_itself(site: Site, folder: Path) -> None:
    site.put("/mn1.json", TEXT)
    fetch(folder, one(site))
    fetch(folder, one(site), user_agent="Variorum of the university")
    assert [each.headers["user-agent"] for each in site.asked] == [USER_AGENT, "Variorum of the university"]
    assert "Variorum" in USER_AGENT
    assert {each.headers["accept-encoding"] for each in site.asked} == {"identity"}


@pytest.mark.parametrize(
    ("properties", "condition"),
    [
        ({}, "if-none-match"),
        ({"etag": 'W/"1"'}, "if-none-match"),
        ({"etag": "", "last_modified": "Tue, 01 Jul 2025 10:00:00 GMT"}, "if-modified-since"),
    ],
)
def test_what_is_up_to_date_is_not_sent_again_and_nothing_in_the_folder_changes(
    site: Site, folder: Path, properties: dict[str, str], condition: str
) -> None:
    site.put("/a/mn1.json", TEXT, **properties)
    first = fetched(fetch(folder, one(site, "a/mn1.json")))
    before = visible(folder)
    second = fetched(fetch(folder, one(site, "a/mn1.json")))
    assert (first.state, second.state) == ("new", "unchanged")
    assert second.record == first.record
    assert visible(folder) == before
    assert site.sent == len(TEXT)
    assert condition in site.asked[1].headers
    assert condition not in site.asked[0].headers


def test_a_changed_file_takes_the_place_of_the_old_one(site: Site, folder: Path) -> None:
    site.put("/mn1.json", TEXT)
    old = fetched(fetch(folder, one(site)))
    page = site.put("/mn1.json", LATER)
    new = fetched(fetch(folder, one(site)))
    assert new.state == "changed"
    assert new.file.read_text(encoding="utf-8") == LATER
    assert new.record.etag == page.tag
    assert new.record.fetched_at > old.record.fetched_at
    assert_true_to_manifest(folder)


def test_the_version_that_the_description_names_is_asked_for_once(site: Site, folder: Path) -> None:
    site.put(f"/{COMMIT}/mn1.json", TEXT)
    pinned = one(site, url=f"{site.url}/{COMMIT}/mn1.json", commit=COMMIT)
    assert fetched(fetch(folder, pinned)).record.commit == COMMIT
    assert fetched(fetch(folder, pinned)).state == "unchanged"
    digest = sha256(TEXT.encode()).hexdigest()
    got = fetched(fetch(folder, one(site, url=f"{site.other_url}/mn1.json", sha256=digest)))
    assert (got.state, got.record.url) == ("unchanged", pinned.url)
    assert len(site.asked) == 1
    site.put("/f00/mn1.json", LATER)
    other = fetched(fetch(folder, one(site, url=f"{site.url}/f00/mn1.json", commit="f00")))
    assert (other.state, other.record.commit, other.file.read_text(encoding="utf-8")) == ("changed", "f00", LATER)


@pytest.mark.parametrize("etag", ['"other"', ""])
def test_the_same_content_under_another_tag_leaves_the_file_alone(site: Site, folder: Path, etag: str) -> None:
    site.put("/a/mn1.json", TEXT)
    first = fetched(fetch(folder, one(site, "a/mn1.json")))
    before = visible(folder)
    site.put("/a/mn1.json", TEXT, etag=etag)
    second, third = [fetched(fetch(folder, one(site, "a/mn1.json"))) for _ in range(2)]
    assert [second.state, third.state] == ["unchanged", "unchanged"]
    assert third.record.etag == (etag or None)
    assert third.record.fetched_at == first.record.fetched_at
    after = visible(folder)
    assert {**before, "downloads.json": None} == {**after, "downloads.json": None}


def test_the_tag_of_one_server_is_not_shown_to_another(site: Site, folder: Path) -> None:
    site.put("/mn1.json", TEXT)
    fetch(folder, one(site))
    assert fetched(fetch(folder, one(site, url=f"{site.other_url}/mn1.json"))).state == "unchanged"
    assert not site.asked[1].headers.keys() & {"if-none-match", "if-modified-since"}
    assert manifest.read(folder)["mn1.json"].url == f"{site.other_url}/mn1.json"


def test_terms_that_changed_are_noted_without_the_file(site: Site, folder: Path) -> None:
    site.put("/mn1.json", TEXT)
    fetch(folder, one(site))
    fetch(folder, one(site, licence="CC BY-NC 4.0", restricted=True))
    record = manifest.read(folder)["mn1.json"]
    assert (record.licence, record.restricted) == ("CC BY-NC 4.0", True)
    assert site.sent == len(TEXT)


def test_a_file_that_was_deleted_here_comes_anew(site: Site, folder: Path) -> None:
    site.put("/mn1.json", TEXT)
    fetched(fetch(folder, one(site))).file.unlink()
    assert fetched(fetch(folder, one(site))).state == "new"
    assert_true_to_manifest(folder)


def test_files_that_people_wrote_or_edited_are_neither_overwritten_nor_asked_for(site: Site, folder: Path) -> None:
    files = [one(site, f"mn{number}.json") for number in (1, 2, 3)]
    for each in files:
        site.put(f"/{each.path}", TEXT)
    fetch(folder, files[0])
    site.put("/mn1.json", LATER)
    for name in ("mn1.json", "mn2.json"):
        (folder / name).write_text("my own", encoding="utf-8")
    result = fetch(folder, *files)
    assert [(folder / name).read_text(encoding="utf-8") for name in ("mn1.json", "mn2.json")] == ["my own"] * 2
    assert [(each.where, each.key) for each in result.faults] == [
        (str(folder / "mn1.json"), "mn1"), (str(folder / "mn2.json"), ""),
    ]  # fmt: skip
    assert [each.problem for each in result.faults] == [
        "was edited or damaged after it was downloaded", "was not downloaded by this program",
    ]  # fmt: skip
    assert "move it elsewhere" in result.faults[0].remedy
    assert site.paths() == ["/mn1.json", "/mn3.json"]


@pytest.mark.parametrize("content", ["", "[{}]", "{", '[{"path": "mn1.json"}]'])
def test_a_damaged_manifest_is_bad_input_and_nothing_is_asked(site: Site, folder: Path, content: str) -> None:
    site.put("/mn1.json", TEXT)
    folder.mkdir()
    (folder / "downloads.json").write_text(content, encoding="utf-8")
    with pytest.raises(BadInput, match="is not a manifest of downloads"):
        fetch(folder, one(site))
    assert site.asked == []


def test_a_file_must_have_the_digest_that_was_asked_for(site: Site, folder: Path) -> None:
    site.put("/mn1.json", TEXT)
    site.put("/mn2.json", LATER)
    fetch(folder, one(site))
    later, other = sha256(LATER.encode()).hexdigest(), "0" * 64
    for path in ("mn1.json", "mn2.json"):
        assert f"not {other}" in fault(fetch(folder, one(site, path, sha256=other))).problem
    site.answers["/mn1.json"] = [silence] * ATTEMPTS
    assert f"not {later}" in fault(fetch(folder, one(site, sha256=later))).problem
    assert not (folder / "mn2.json").exists()
    assert leftovers(folder) == []
    assert_true_to_manifest(folder)
    site.put("/mn1.json", LATER)
    assert fetched(fetch(folder, one(site, sha256=later))).state == "changed"


@pytest.mark.parametrize(
    "path", ["", "/etc/passwd", "../mn1.json", "a/../../mn1.json", ".downloads/lock", "a/.hidden", "downloads.json"]
)
def test_nothing_is_written_outside_the_folder_or_over_what_is_kept_in_it(site: Site, folder: Path, path: str) -> None:
    site.put("/mn1.json", TEXT)
    got = fault(fetch(folder, one(site, url=f"{site.url}/mn1.json", path=path)))
    assert "is not a valid path" in got.problem


@pytest.mark.parametrize("url", ["mn1.json", "file:///etc/passwd", "http://", "http://xn--/a", f"http://{'a' * 64}/a"])
def test_what_is_no_url_of_the_web_is_bad_input(site: Site, folder: Path, url: str) -> None:
    site.put("/mn2.json", TEXT)
    result = fetch(folder, one(site, url=url), one(site, "mn2.json"))
    assert [each.state for each in result.fetched] == ["new"]
    assert "is not a URL" in result.faults[0].problem


def test_a_disk_that_refuses_one_file_takes_the_others(site: Site, folder: Path) -> None:
    for path in ("/a", "/a/mn1.json", "/mn2.json"):
        site.put(path, TEXT)
    result = fetch(folder, one(site, "a"), one(site, "a/mn1.json"), one(site, "mn2.json"))
    assert [each.record.path for each in result.fetched] == ["a", "mn2.json"]
    assert [(each.where, each.key) for each in result.faults] == [(str(folder / "a/mn1.json"), "a/mn1")]
    assert "cannot be read or written" in result.faults[0].problem


# What a server may do

HEAD = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n"


def test_a_missing_text_is_named_with_its_url_and_the_others_come(site: Site, folder: Path) -> None:
    files = bilara(site, "mn1", "mn152", "mn999", "sn1.1")
    for path in [path for path in site.pages if "mn999" in path]:
        del site.pages[path]
    result = fetch(folder, *files)
    assert [each.record.text for each in result.fetched] == ["mn1", "mn1", "mn152", "mn152", "sn1.1", "sn1.1"]
    assert [(each.key, each.problem) for each in result.faults] == [("mn999", "there is no such file (status 404)")] * 2
    assert result.faults[0].where == f"{site.url}/root/pli/ms/sutta/mn/mn999_root-pli-ms.json"
    assert_true_to_manifest(folder)


@pytest.mark.parametrize("code", [401, 403, 410, 204, 302])
def test_a_refusal_is_bad_input_at_once_and_the_file_that_is_here_stays(site: Site, folder: Path, code: int) -> None:
    site.put("/mn1.json", TEXT)
    fetch(folder, one(site))
    site.answers["/mn1.json"] = [status(code)]
    assert f"(status {code})" in fault(fetch(folder, one(site))).problem
    assert len(site.asked) == 2
    assert_true_to_manifest(folder)


def test_a_server_that_calls_up_to_date_what_is_not_here_is_refused(site: Site, folder: Path) -> None:
    site.answers["/mn1.json"] = [status(304)]
    assert "(status 304)" in fault(fetch(folder, one(site))).problem


@pytest.mark.parametrize(
    ("path", "answer", "problem"),
    [
        ("mn1.json", status(200, "<html>Log in</html>", content_type="text/html; charset=utf-8"), "is text/html"),
        ("mn1.json", status(200, "<html>Log in</html>", content_type="Text/HTML"), "is text/html"),
        ("mn1.json", status(200, "<html>Log in</html>", content_type="text/plain"), "the response is not JSON"),
        ("mn1.json", status(200, '{"mn1:1.1": "Mus', content_type="text/plain"), "the response is not JSON"),
        ("mn1.json", status(200, "[" * 100_000), "the response is not JSON"),
        ("mn1.json", status(200, "\x00", content_type="application/json"), "the response is not JSON"),
        ("mn1.html", status(200, "", content_type="text/html"), "is empty"),
        ("mn1.json", status(200, "{}", content_encoding="gzip"), "is compressed"),
        ("mn1.json", status(200, " " * 200_001), "more than 200,000 bytes"),
        ("mn1.json", endless(HEAD, bytes(10_000), 0), "more than 200,000 bytes"),
        ("mn1.json", status(206, "{}", content_range="bytes 0-1/2"), "was refused (status 206)"),
    ],
)
def test_what_is_not_the_file_never_takes_its_place(
    site: Site, folder: Path, path: str, answer: Answer, problem: str
) -> None:
    site.put(f"/{path}", TEXT)
    assert fetch(folder, one(site, path)).faults == []
    site.answers[f"/{path}"] = [answer]
    assert problem in fault(fetch(folder, one(site, path), most_bytes=200_000)).problem
    assert leftovers(folder) == []
    assert (folder / path).read_text(encoding="utf-8") == TEXT
    assert_true_to_manifest(folder)


def test_a_host_is_not_asked_again_before_the_pause_is_over(site: Site, folder: Path) -> None:
    files = bilara(site, "mn1", "mn2")
    fetch(folder, *files, pause=0.05)
    assert len(site.asked) == 4
    assert all(later.at - earlier.at >= 0.05 for earlier, later in pairwise(site.asked))


def test_a_wait_that_the_server_asks_for_is_kept(site: Site, folder: Path) -> None:
    site.put("/mn1.json", TEXT)
    site.answers["/mn1.json"] = [status(503, retry_after="0.3")]
    assert fetched(fetch(folder, one(site))).state == "new"
    first, second = site.asked
    assert second.at - first.at >= 0.3


def test_a_host_that_asks_for_an_hour_is_left_alone_and_others_are_asked(site: Site, folder: Path) -> None:
    for number in (1, 2, 3):
        site.put(f"/mn{number}.json", TEXT)
    fetch(folder, one(site, "mn2.json"))
    site.asked.clear()
    site.answers["/mn1.json"] = [status(429, retry_after="3600")]
    elsewhere = one(site, url=f"{site.other_url}/mn3.json", path="mn3.json")
    result = fetch(folder, one(site), one(site, "mn2.json"), elsewhere)
    assert [(each.record.path, each.state) for each in result.fetched] == [("mn2.json", "kept"), ("mn3.json", "new")]
    assert [each.problem for each in result.faults] == ["cannot be fetched (127.0.0.1 asks for a pause of 3600 s)"]
    assert site.paths() == ["/mn1.json", "/mn3.json"]


def test_a_busy_host_is_given_up_after_some_attempts(site: Site, folder: Path) -> None:
    site.put("/mn1.json", TEXT)
    site.put("/mn2.json", TEXT)
    site.answers["/mn1.json"] = [status(429)] * ATTEMPTS
    result = fetch(folder, one(site), one(site, "mn2.json"))
    assert [each.problem for each in result.faults] == ["cannot be fetched (127.0.0.1 answered 429)"] * 2
    assert site.paths() == ["/mn1.json"] * ATTEMPTS


@pytest.mark.parametrize("answer", [status(500), silence, cut(0), cut(5), status(302, location="http://[")])
def test_a_fault_of_one_file_is_tried_again_a_few_times_and_no_longer(site: Site, folder: Path, answer: Answer) -> None:
    site.put("/mn1.json", TEXT)
    site.put("/mn2.json", TEXT)
    site.answers["/mn1.json"] = [answer] * ATTEMPTS
    result = fetch(folder, one(site), one(site, "mn2.json"))
    assert [each.record.path for each in result.fetched] == ["mn2.json"]
    assert len(result.faults) == 1
    assert not (folder / "mn1.json").exists()
    assert leftovers(folder) == []
    site.answers.clear()
    assert [each.state for each in fetch(folder, one(site), one(site, "mn2.json")).fetched] == ["new", "unchanged"]


@pytest.mark.parametrize("answer", [endless(HEAD, b" ", 0.02), endless(HEAD[:17] + b"mus: ", b"a", 0.02)])
def test_a_host_that_sends_without_end_misses_the_deadline_and_gets_no_more_requests(
    site: Site, folder: Path, answer: Answer
) -> None:
    files = [one(site, f"mn{number}.json") for number in (1, 2)]
    for each in files:
        site.put(f"/{each.path}", TEXT)
    fetch(folder, files[1])
    site.answers["/mn1.json"] = [answer]
    began = monotonic()
    result = fetch(folder, *files, deadline=0.3)
    assert 0.3 <= monotonic() - began < 2
    assert [each.state for each in result.fetched] == ["kept"]
    assert [each.problem for each in result.faults] == ["cannot be fetched (127.0.0.1 sent no whole file within 0.3 s)"]
    assert site.paths() == ["/mn2.json", "/mn1.json"]


def test_the_deadline_covers_all_attempts(site: Site, folder: Path) -> None:
    site.put("/mn1.json", TEXT)
    site.answers["/mn1.json"] = [status(500), status(500), status(500)]
    result = fetch(folder, one(site), deadline=0.3, pause=0.15)
    assert "sent no whole file within 0.3 s" in fault(result).problem
    assert len(site.asked) == 2


def test_without_a_network_files_that_are_here_are_kept_and_the_log_says_so_once(
    site: Site, folder: Path, closed_port: int, caplog: pytest.LogCaptureFixture
) -> None:
    files = [one(site, f"mn{number}.json", url=f"{site.url}/{number}") for number in (1, 2, 3)]
    site.put("/1", TEXT)
    site.put("/2", LATER)
    fetch(folder, *files)
    before = visible(folder)
    caplog.clear()
    gone = [one(site, each.path, url=each.url.replace(str(site.port), str(closed_port))) for each in files]
    result = fetch(folder, *gone)
    assert [(each.record.path, each.state) for each in result.fetched] == [("mn1.json", "kept"), ("mn2.json", "kept")]
    assert [each.key for each in result.faults] == ["mn3"]
    assert "ConnectError" in result.faults[0].problem
    assert visible(folder) == before
    (said,) = [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]
    assert "ConnectError" in said
    assert "keeping 2 files" in said


# Redirects


def test_a_redirect_within_the_host_is_followed_and_the_condition_goes_with_it(site: Site, folder: Path) -> None:
    site.put("/new/mn1.json", TEXT)
    site.answers["/mn1.json"] = [status(301, location="/new/mn1.json"), status(302, location="/new/mn1.json")]
    assert fetched(fetch(folder, one(site))).record.url == f"{site.url}/mn1.json"
    assert fetched(fetch(folder, one(site))).state == "unchanged"
    assert site.paths() == ["/mn1.json", "/new/mn1.json"] * 2


@pytest.mark.parametrize("there", ["http://localhost:{port}/new/mn1.json", "ftp://127.0.0.1:{port}/new/mn1.json"])
def test_an_unencrypted_redirect_to_elsewhere_is_not_followed(site: Site, folder: Path, there: str) -> None:
    site.put("/new/mn1.json", TEXT)
    there = there.format(port=site.port)
    site.answers["/mn1.json"] = [status(302, location=there)]
    assert f"redirects to {there}" in fault(fetch(folder, one(site))).problem
    assert site.paths() == ["/mn1.json"]


def test_redirects_that_do_not_end_are_bad_input(site: Site, folder: Path) -> None:
    site.answers["/mn1.json"] = [status(302, location="/mn1.json")] * (REDIRECTS + 1)
    assert f"redirects more than {REDIRECTS} times" in fault(fetch(folder, one(site))).problem
    assert len(site.asked) == REDIRECTS + 1


@pytest.fixture
def safe(certificate: Path) -> Iterator[Site]:
    """An encrypted site, which the tests' client trusts."""
    with serve(certificate) as each:
        yield each


def test_an_encrypted_host_may_lead_to_another_that_is(safe: Site, folder: Path) -> None:
    safe.put("/new/mn1.json", TEXT)
    safe.answers["/mn1.json"] = [status(302, location=f"{safe.other_url}/new/mn1.json")]
    assert fetched(fetch(folder, one(safe))).state == "new"


def test_an_encrypted_host_may_not_lead_to_one_that_is_not(safe: Site, site: Site, folder: Path) -> None:
    site.put("/mn1.json", TEXT)
    safe.answers["/mn1.json"] = [status(302, location=f"{site.url}/mn1.json")]
    assert f"redirects to {site.url}/mn1.json" in fault(fetch(folder, one(safe))).problem
    assert site.asked == []


def test_a_host_may_lead_to_its_own_encrypted_side(safe: Site, site: Site, folder: Path) -> None:
    safe.put("/mn1.json", TEXT)
    site.answers["/mn1.json"] = [status(301, location=f"{safe.url}/mn1.json")]
    assert fetched(fetch(folder, one(site))).state == "new"


def test_a_certificate_that_nobody_vouches_for_is_no_answer(
    safe: Site, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    safe.put("/mn1.json", TEXT)
    assert "CERTIFICATE_VERIFY_FAILED" in fault(fetch(folder, one(safe))).problem
    assert safe.asked == []


LONG = json.dumps({f"mn1:{number}.1": f"Mus numero {number}." for number in range(4000)})


@examples(10)
@given(st.lists(st.integers(0, len(LONG) - 1), max_size=ATTEMPTS - 1))
def test_a_file_that_breaks_off_is_requested_again_as_a_whole(shared_site: Site, breaks: list[int]) -> None:
    page = shared_site.put("/mn1.json", LONG)
    shared_site.answers["/mn1.json"] = [cut(most) for most in breaks]
    shared_site.asked.clear()
    with TemporaryDirectory() as folder:
        result = fetch(Path(folder), one(shared_site))
        assert fetched(result).file.read_bytes() == page.body
        assert leftovers(Path(folder)) == []
    assert len(shared_site.asked) == len(breaks) + 1
    assert not any("range" in each.headers for each in shared_site.asked)


# Kills and other processes

CHILD = """
import json, sys
from pathlib import Path
from resources.downloads.downloads import Downloads
from resources.downloads.sources import Wanted
folder, pause, files = json.loads(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
result = Downloads(pause=pause).fetch([Wanted(**each) for each in files], Path(folder))
sys.exit(len(result.faults))
"""


def start(folder: Path, files: list[Wanted], pause: float = 0) -> "subprocess.Popen[str]":
    """A process that fetches once a line arrives on its standard input."""
    fields = [{name: getattr(each, name) for name in Wanted.__slots__} for each in files]
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, json.dumps([str(folder), pause, fields])],
        cwd=PROJECT, env=os.environ | {"PYTHONPATH": str(PROJECT)}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    return child


def go(child: "subprocess.Popen[str]") -> None:
    assert child.stdin is not None
    child.stdin.write("\n")
    child.stdin.flush()


@pytest.mark.parametrize("before", ["", TEXT], ids=["a new file", "a changed file"])
def test_a_kill_between_file_and_manifest_is_no_edit(site: Site, folder: Path, before: str) -> None:
    if before:
        site.put("/mn1.json", before)
        fetch(folder, one(site))
    page = site.put("/mn1.json", LATER)
    # What such a kill leaves: the file is in its place, and the manifest does not know.
    record = fetched(fetch(folder.with_name("elsewhere"), one(site))).record
    manifest.place(folder, record, page.body)
    got = fetched(fetch(folder, one(site)))
    assert (got.state, got.record) == ("unchanged", record)
    assert_true_to_manifest(folder)
    assert leftovers(folder) == []


def test_two_processes_in_one_folder_take_turns(site: Site, folder: Path) -> None:
    files = bilara(site, *(f"mn{number}" for number in range(1, 11)))
    with start(folder, files) as first, start(folder, files[::-1]) as second:
        go(first)
        go(second)
        assert (first.wait(60), second.wait(60)) == (0, 0)
    assert site.most_at_once == 1
    assert len(site.asked) == 2 * len(files)
    assert site.sent == sum(len(page.body) for page in site.pages.values())
    assert {*manifest.read(folder)} == {each.path for each in files}
    assert_true_to_manifest(folder)


@pytest.mark.proof
def test_no_series_of_kills_loses_or_halves_a_file(site: Site, folder: Path, full: bool) -> None:
    rounds, number = (30, 200) if full else (2, 20)
    files = bilara(site, *(f"mn{each}" for each in range(1, number + 1)))
    for round_ in range(rounds):
        with start(folder, files) as child:
            go(child)
            seen = len(site.asked)
            while len(site.asked) < seen + 1 + 7 * round_ % 23 and child.poll() is None:
                pass
            child.send_signal(signal.SIGKILL)
        if round_ % 3 == 1:  # the source changes, too
            for path in [*site.pages][: 40 + round_]:
                site.put(path, json.dumps({"mn:1.1": f"in round {round_}"}))
    result = fetch(folder, *files)
    assert result.faults == []
    assert all((folder / each.path).read_bytes() == site.pages[f"/{each.path}"].body for each in files)
    assert_true_to_manifest(folder)
    assert leftovers(folder) == []
