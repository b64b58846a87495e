# The everyday commands; `make` lists them. Each one sets up what it needs: a virtual environment with
# the project, and Java where Spark runs. PYTHON=python3.12 selects the Python, NO_APT=1 disables
# installing Debian packages.

SHELL := /bin/bash
# Without byte code, each process that a test starts would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed
DEMO := build/demo

.DEFAULT_GOAL := help
.PHONY: help setup java demo test test-long test-kafka test-cluster check golden fmt grammar schemas metrics textmate bench chaos soak

help: ## List the commands.
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 18

setup: $(INSTALLED) ## Create the virtual environment.

$(INSTALLED): pyproject.toml
	@PYTHON="$(PYTHON)" scripts/setup_venv.sh $(VENV)
	@touch $@

java:
	@scripts/ensure_java.sh

demo: $(INSTALLED) java ## Compile the flights pipeline, run it on three days of data, print the results.
	@rm -rf $(DEMO)
	$(BIN)/streamc compile specs/flights/flights.stream -o build
	$(BIN)/streamc run build/flights.py --until-caught-up --state $(DEMO)/state --var out=$(DEMO)/out
	@$(BIN)/python scripts/show_flights.py $(DEMO)/out
	@echo "The PySpark that ran: build/flights.py"

test: $(INSTALLED) java ## Run the tests in two processes, except those of `test-long`, `test-kafka` and `test-cluster`.
	$(BIN)/python -m pytest -m "not kafka and not cluster and not long" -n 2 --dist worksteal

test-long: $(INSTALLED) java ## Run the exhaustive variants of the tests.
	$(BIN)/python -m pytest -m "(long or hypothesis) and not kafka and not cluster" \
		--hypothesis-profile="many examples" -n 2 --dist worksteal

test-kafka: $(INSTALLED) java ## Run the tests against a Kafka broker; Maven fetches its jars.
	$(BIN)/python -m pytest -m kafka

test-cluster: $(INSTALLED) java ## Run the tests against an S3 server and an HDFS; Maven fetches their jars.
	$(BIN)/python -m pytest -m cluster

check: $(INSTALLED) ## Lint, check types and layers, run most tests that need no Java: a minute and a half.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	scripts/check_types.sh $(BIN)/python
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m pytest -m "not spark and not slow and not long" -q -n 2 --dist worksteal

golden: $(INSTALLED) ## Regenerate the expected files of the tests; review the diff.
	$(BIN)/python -m pytest -m "not spark and not slow and not long" -q --snapshot-update

fmt: $(INSTALLED) ## Format the code.
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

grammar: $(INSTALLED) ## Build the parser's tables from the grammar.
	$(BIN)/python -m streamc.grammar.generate

schemas: $(INSTALLED) ## Write the JSON Schemas of plans, manifests, YAML files and JSON outputs.
	$(BIN)/python scripts/make_schemas.py docs/schemas

metrics: $(INSTALLED) ## Write the table of metrics in the docs.
	$(BIN)/python scripts/make_metrics.py docs/metrics.md

textmate: $(INSTALLED) ## Write the grammar by which editors color specs.
	$(BIN)/python scripts/make_textmate.py editors/vscode/syntaxes

bench: $(INSTALLED) java ## Measure the compiler, the emitted flights job, the gate and the barriers.
	$(BIN)/python benchmarks/compile.py
	$(BIN)/python benchmarks/handwritten.py
	$(BIN)/python benchmarks/barriers.py

chaos: $(INSTALLED) java ## Kill a pipeline 200 times, its executors and its disk; count lost and duplicated rows.
	$(BIN)/python benchmarks/chaos.py
	$(BIN)/python benchmarks/chaos.py --only executors --kills 10
	$(BIN)/python benchmarks/chaos.py --only disk --kills 3

soak: $(INSTALLED) java ## Run pipelines on tiny epochs for half an hour each; look for stalls, lost rows and growth.
	$(BIN)/python benchmarks/soak.py --every 5
	$(BIN)/python benchmarks/soak.py --pipeline small --every 0.3 1 10 default
	$(BIN)/python benchmarks/soak.py --pipeline swift --interval 0.05 --minutes 10
