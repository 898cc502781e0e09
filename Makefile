PYTHON ?= python3
BIN := .venv/bin
# Everything a target needs is installed by `setup`, once per change of the lock file.
READY := .venv/.ready

.PHONY: help setup demo test check papers bench bench-peers lock clean

help:
	@echo "make demo         the whole path on simulated people: truth beside estimate and interval"
	@echo "make test         checks (types, style, imports) and every test"
	@echo "make check        the checks alone"
	@echo "make papers       published claims, and the pages of evidence written anew"
	@echo "make bench        speed, as ratios measured in one run"
	@echo "make bench-peers  the same jobs in other libraries, side by side"
	@echo "make lock         pin the development environment anew"

setup: $(READY)

$(READY): requirements/dev.lock pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=python3.12 ..."; exit 1; }
	@echo "Installing the locked environment into .venv"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	@touch $@

demo: setup
	@$(BIN)/sottovoce demo

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYTHONPATH=src $(BIN)/lint-imports

test: check
	$(BIN)/pytest -n 2

papers: setup
	$(BIN)/pytest -n 2 tests/papers
	PYTHONPATH=tests $(BIN)/python tests/papers/consistency.py
	$(BIN)/python -m sottovoce.lab.numbers > docs/evidence/numbers.md

bench: setup
	@$(BIN)/sottovoce bench

bench-peers: setup
	@$(BIN)/python scripts/bench_peers.py

lock:
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
	  --no-header --all-extras --group dev pyproject.toml -o requirements/dev.lock

clean:
	rm -rf .venv demo .peers build dist
