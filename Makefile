# What one types here; `make` alone says it.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
RUNS := .venv/.runs

# At a terminal pip shows how far it is; in a file that would be thousands of lines.
PIP = $(BIN)/pip install $$(test -t 1 || echo --quiet) -c constraints.txt

.DEFAULT_GOAL := help
.PHONY: help setup records check test chaos demo demo-stop bench simulate mutants clean

help:  ## show this list
	@awk -F ':.*  ## ' '/^[a-z-]+:.*  ## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

setup: $(READY)  ## make .venv with the pinned set of packages; instant when nothing changed

$(READY): $(RUNS)
	@echo "Packages for tests and checks go into .venv (half a minute and more)."
	@$(PIP) -e ./client -e '.[all,dev]'
	@touch $@

# What a fleet needs to run, and no more: who tries it waits for nothing else.
$(RUNS): pyproject.toml client/pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { \
	    echo "Turbine needs Python 3.11 or newer and finds no $(PYTHON):" \
	        "install one, or name yours with make PYTHON=/path/to/python3 setup." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "Turbine needs Python 3.11 or newer, and $(PYTHON) is $$($(PYTHON) -V 2>&1):" \
	        "name a newer one with make PYTHON=/path/to/python3 setup." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	    echo "$(PYTHON) cannot make virtual environments:" \
	        "install its venv package, such as python3-venv." >&2; exit 1; }
	@echo "Turbine and what it runs on go into .venv (half a minute; the first time, PySpark is" \
	    "fetched: 450 MB)."
	@test -x $(BIN)/pip || $(PYTHON) -m venv .venv
	@$(PIP) -e ./client -e '.[all]'
	@touch $@

records: setup  ## write all that follows from the schemas and from the table of topics
	$(BIN)/python -m events.wire.generate
	$(BIN)/python -m events.wire.lock
	$(BIN)/python -m tests.golden.write
	$(BIN)/python -m turbine.contract.document
	$(BIN)/python -m turbine.contract.records_table

check: setup  ## all that needs no broker: form, types, arrows between rooms, units, laws, contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/pytest -q -n 2 --dist loadfile --hypothesis-profile=check \
	    tests/unit tests/laws tests/golden tests/contracts

test: setup  ## every test but chaos; those that need Kafka start a broker of their own
	$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder -m "not chaos"

chaos: setup  ## workers, engines and brokers killed again and again: what test has in small
	$(BIN)/pytest -n 2 --dist loadfile -m chaos tests/integration

demo: $(RUNS)  ## start a local fleet to look at; TRACE=site.csv.gz plays a recorded day
	@$(BIN)/python -m turbine.story.demo start $(if $(TRACE),--trace "$(TRACE)")

demo-stop: $(RUNS)  ## stop it
	@$(BIN)/python -m turbine.story.demo stop

bench: setup  ## figures, each beside a peer or a limit
	$(BIN)/python -m benchmarks all

simulate: setup  ## 600 seeds of the fleet on a virtual clock, with faults, under the checkers
	$(BIN)/python -m simulation

mutants: setup  ## see the checkers, and the tests, catch what is broken on purpose
	$(BIN)/python -m tests.mutants
	$(BIN)/python -m simulation.mutants

clean:  ## remove the environment, what was built, and all caches but the jars of Kafka
	rm -rf .venv build dist
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
