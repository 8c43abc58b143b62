# Everything works from a bare checkout: the first target that needs the environment makes it.
PYTHON ?= python3
BIN := .venv/bin

# Compiled modules are kept, whatever the shell says: else every process compiles Dagster and torch anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test tests quick lint bench proofs peers docs comet environments wheel ui snapshot recording screenshots clean

demo: .venv/installed
	$(BIN)/variorum demo

# Two processes more than there are cores, because many tests wait for servers and processes. Each computes on one core:
# where all compute on all cores, they spend a seventh of the time waiting for each other. Style and types are checked as
# soon as their environment is there.
test:
	@$(MAKE) --no-print-directory --jobs=3 lint tests

PYTEST := OMP_NUM_THREADS=1 POLARS_MAX_THREADS=1 $(BIN)/pytest --processes $$(($$(getconf _NPROCESSORS_ONLN) + 2))

tests: .venv/testing .venv-comet/installed
	$(PYTEST)

# What a change reaches by the layers of the rooms (tests/quick.py), in about a minute.
quick: .venv/testing
	$(PYTEST) --quick

lint: .venv/testing
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/python -m resources.catalogue
	$(BIN)/python -m tests.language
	$(BIN)/python -m tests.licences
	$(BIN)/python -m tests.budget
	$(BIN)/mypy

bench: environments
	$(BIN)/pytest -m bench -s

# What tests/proofs.tsv lacks, or has of another state of a room: at most an hour of it; call it again for the rest.
# `make proofs ANEW=1` forgets the table first.
proofs: environments
	$(if $(ANEW),rm -f tests/proofs.tsv)
	$(BIN)/pytest -m "proof or hypothesis" -s --stale

# Programs by others, each in an environment of its own in .peers, which the tests make; prints a table of the results.
peers: .venv/testing
	$(BIN)/pytest -m peer

# What COMET needs once the registry names a checkpoint (docs/decisions/metrics.md).
comet: .venv-comet/installed

# Both at once, for each leaves a core idle.
environments:
	@$(MAKE) --no-print-directory --jobs=2 .venv/testing .venv-comet/installed

# A wheel in build, which needs no checkout (CONTRIBUTING.md, Releasing). What an earlier build left would enter it.
wheel: .venv/installed
	rm -rf build/lib build/bdist.*
	$(BIN)/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build .

ui: .venv/installed
	$(BIN)/variorum ui

# Builds the documentation as a site in build/site; open build/site/index.html.
docs: .venv/testing
	$(BIN)/mkdocs build --strict

# Rewrites the snapshot that tests/test_definitions.py compares with; look at its diff before you commit it.
snapshot: .venv/testing
	$(BIN)/python -m tests.test_definitions

# Records the samples' systems, aligner and judges anew, after a prompt or a sample's text has changed.
recording: .venv/testing
	$(BIN)/python -m tests.record_sample

# Takes the pictures in docs anew; needs Chromium.
screenshots: .venv/testing
	VARIORUM_SCREENSHOTS=$(CURDIR)/docs/screenshots $(BIN)/pytest -m proof tests/automation/test_ui.py

# Modules are compiled when they are first imported: most of them never are.
define install
	[ -x $(BIN)/pip ] || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --no-compile --constraint constraints.txt torch
	$(BIN)/pip install --quiet --no-compile --constraint constraints.txt --editable '.$(1)'
endef

.venv/installed: constraints.txt pyproject.toml
	$(call install,[models])
	touch $@

# What tests, checks and the documentation need, and no demonstration does. It is not installed on top of the rest: to
# find out what is there already takes pip ten seconds.
.venv/testing: constraints.txt pyproject.toml
	$(call install,[test])
	touch .venv/installed $@

.venv-comet/installed: constraints-comet.txt
	$(PYTHON) -m venv .venv-comet
	.venv-comet/bin/pip install --quiet --no-compile --constraint constraints-comet.txt unbabel-comet polars setuptools
	touch $@

clean:
	rm -rf .venv .venv-comet .peers .mypy_cache .ruff_cache .pytest_cache .import_linter_cache *.egg-info
