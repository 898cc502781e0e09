PYTHON ?= python3
BIN := .venv/bin
# Everything a target needs is installed by `setup`, once per change of the lock file.
READY := .venv/.ready
# What `demo` needs: no test tools, nothing to build. Where the whole environment is there, it is used.
SMALL := .venv/.small
# Spark is half a gigabyte, so that only `test` installs it.
SPARK := .venv/.spark
# What npm writes when it has installed the compiler, once per change of its lock file.
TYPESCRIPT := clients/js/node_modules/.package-lock.json
SITE := .venv/.docs
# Three on two cores: while a test waits for a server, a database or a browser, the others go on.
WORKERS ?= 3
# Keep bytecode: tests start many processes, and each would compile the package and the assertions anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help setup demo test check papers soak chain graded bench bench-peers contact docs site journeys client lock clean

help:
	@echo "make demo         the whole path: a collector, thousands of clients over HTTP, answers beside the truth"
	@echo "make test         checks (types, style, imports) and every test but the claims at full size"
	@echo "make check        the checks alone"
	@echo "make papers       published claims at full size, and the pages of evidence written anew"
	@echo "make soak         crashes by the hundred, power cuts, a million hostile inputs, a million reports; evidence written anew"
	@echo "make chain        100,000 people through two shufflers, a million messages through one; evidence written anew"
	@echo "make graded       10,000 enrolled devices, a quarter of them Byzantine, and a collector that is killed; evidence written anew"
	@echo "make bench        speed, as ratios measured in one run"
	@echo "make bench-peers  the same jobs in other libraries, side by side"
	@echo "make contact      a bare clone to its first answer, with empty and filled caches; evidence written anew"
	@echo "make docs         the pages that are written from the code, the site in site/, and the screenshots"
	@echo "make site         the same without the screenshots"
	@echo "make journeys     the recorded journeys run anew: commands, their output and pictures"
	@echo "make client       build the JavaScript client (needs Node; the built files are committed)"
	@echo "make lock         pin the development environment anew"

setup: $(READY)

$(READY): requirements/dev.lock pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=python3.12 ..."; exit 1; }
	@echo "Installing the locked environment into .venv"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	@touch $@

# Without Spark the rest goes on: its tests say that they are skipped.
$(SPARK): requirements/spark.lock $(READY)
	@echo "Installing Spark into .venv (450 MB)"
	@if $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --require-hashes -r requirements/spark.lock; \
	  then touch $@; else echo "No Spark: it could not be installed, so that its tests will be skipped"; fi

$(SMALL): requirements/demo.lock
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=python3.12 ..."; exit 1; }
	@echo "Installing what the demonstration needs into .venv ($$(grep -c == requirements/demo.lock) packages)"
	@$(BIN)/python -m pip install --disable-pip-version-check --require-hashes -r requirements/demo.lock \
	  | grep -E --line-buffered "^(Downloading|Installing|Successfully)" | cut -c 1-100
	@$(BIN)/python -c 'import uvicorn, numba'
	@touch $@

demo: $(if $(wildcard $(READY)),setup,$(SMALL))
	@PYTHONPATH=src $(BIN)/python -m sottovoce demo

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYTHONPATH=src $(BIN)/lint-imports

test: setup $(SPARK)
	@sh scripts/system_packages.sh chromium postgresql nodejs npm java ext4 xfs caddy nginx
	@command -v java >/dev/null || echo "No Java: the tests on Spark will be skipped"
	@test $(TYPESCRIPT) -nt clients/js/package-lock.json \
	  || (cd clients/js && npm ci --silent --no-audit --no-fund >/dev/null 2>&1) \
	  || echo "No TypeScript: the check that clients/js/dist is up to date will be skipped"
	@# The checks use one core, so kernels and tests are compiled on the other meanwhile: each worker
	@# would compile all tests by itself.
	@($(BIN)/sottovoce warm; $(BIN)/pytest --collect-only --quiet >/dev/null 2>&1) & $(MAKE) --no-print-directory check; failed=$$?; wait; exit $$failed
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not papers"

papers: setup
	$(BIN)/pytest -n 2 --dist worksteal tests/papers
	$(BIN)/pytest -n 2 --dist worksteal -m papers --ignore tests/papers
	$(BIN)/pytest -n 2 --dist worksteal --hypothesis-profile thorough tests/properties
	$(BIN)/sottovoce lab all --size full --docs docs
	$(BIN)/pytest tests/papers/test_figures.py -k "full_size or gallery"

soak: setup
	@sh scripts/system_packages.sh postgresql ext4 xfs
	@$(BIN)/python scripts/soak.py
	@$(BIN)/python scripts/strangers.py

chain: setup
	@$(BIN)/python scripts/shuffle_chain.py

graded: setup
	@$(BIN)/python scripts/graded_groups.py

bench: setup
	@$(BIN)/sottovoce bench --write docs/evidence/speed.md

bench-peers: setup
	@$(BIN)/python scripts/bench_peers.py

# Begins from a bare clone of the last commit, so that nothing of this environment is used.
contact:
	@$(PYTHON) scripts/first_contact.py --write docs/evidence/first-contact.md

docs: site
	$(BIN)/python scripts/screenshots.py

site: $(SITE)
	$(BIN)/python -m sottovoce.web.problems > docs/errors.md
	$(BIN)/python -m sottovoce.lab.reference > docs/reference.md
	$(BIN)/python -m sottovoce.lab.mechanism_page docs
	$(BIN)/python scripts/changelog.py
	$(BIN)/python scripts/notebooks.py docs/notebooks/*.ipynb
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

$(SITE): requirements/docs.lock $(READY)
	@echo "Installing what builds the documentation into .venv"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/docs.lock
	@touch $@

journeys: setup
	$(BIN)/python scripts/journeys.py

client:
	cd clients/js && npm ci --no-audit --no-fund && npm run build

COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header

lock:
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@$(COMPILE) --extra all --group dev pyproject.toml -o requirements/dev.lock
	@$(COMPILE) --extra server --extra plot --extra issuer --constraints requirements/dev.lock pyproject.toml -o requirements/demo.lock
	@$(COMPILE) --group pyproject.toml:docs --constraints requirements/dev.lock -o requirements/docs.lock
	@$(COMPILE) --extra spark --constraints requirements/dev.lock pyproject.toml -o requirements/spark.lock

clean:
	rm -rf .venv demo .peers site build dist clients/js/node_modules
