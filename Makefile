# Needs only Python 3.11 or newer, make and git. Every target may be run again at any time.

PYTHON ?= $(firstword $(foreach p,python3.11 python3.12 python3.13 python3,$(shell command -v $(p) 2>/dev/null)) python3)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
RAYS := 2.54.1 2.7.2 2.9.3 2.60.0 2.6.3
PYTEST_ARGS ?= -n 2 --maxfail 6
KILLS ?= 320
SECONDS ?= 180

# Without it every process, a Ray's above all, compiles all that it imports.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test speed bench kills fuzz faults lint format docs clean rays matrix upgrades policies

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|' 2>/dev/null \
	  || sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1: \2/p' $(MAKEFILE_LIST)

demo: .venv/.installed ## install, and walk through scan, reindex, rename and undo on a damaged example
	@$(BIN)/ckptctl demo

test: .venv/.installed-dev rays ## install, with the real Rays that the tests ask, and run all tests
	@for tool in bash zsh fish; do command -v $$tool >/dev/null 2>&1 \
	  || echo "left out: $$tool is not here, so its completion script is not run"; done
	@command -v groff >/dev/null 2>&1 \
	  || echo "left out: groff is not here, so the manual page is not set"
	@command -v jq >/dev/null 2>&1 \
	  || echo "left out: jq is not here, so it does not read the JSON"
	@command -v chromium >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 \
	  || echo "left out: no Chromium is here, so no browser shows the HTML page"
	@$(BIN)/python -m pytest -q $(PYTEST_ARGS)

speed: .venv/.installed-dev ## the tests that compare times, one after the other
	@$(BIN)/python -m pytest -q -m speed -s

kills: .venv/.installed-dev ## end hundreds of verbs by kill -9, on a disk and on S3 (KILLS=320 SEED=)
	@$(BIN)/python -m tests.kills --kills $(KILLS) $(if $(SEED),--seed $(SEED))

fuzz: .venv/.installed-dev ## damage real experiments and long histories for minutes (SECONDS=180 SEED=)
	@$(BIN)/python -m tests.fuzz --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))
	@CKPTCTL_TEST_HISTORIES=300 $(BIN)/python -m pytest -q tests/property/test_histories.py

faults: .venv/.installed-dev ## crash at every change and run out of room at every one, and count
	@CKPTCTL_TEST_FAULTS=all $(BIN)/python -m pytest -q tests/faults

bench: .venv/.installed-dev ## what it costs against floors and rivals; writes docs/performance.md
	@$(BIN)/python -m benchmarks --write

lint: .venv/.installed-dev ## ruff and mypy
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/mypy

format: .venv/.installed-dev ## put the code into form
	@$(BIN)/ruff check --quiet --fix .
	@$(BIN)/ruff format --quiet .

docs: .venv/.installed ## write what is generated: README regions, docs/, man/ and completions/
	@$(BIN)/python -m ckptctl.cli._generate write

matrix: .venv/.installed-dev ## judge ckptctl with nine Rays (what is fresh is not run again), and write docs/compatibility.md
	@$(BIN)/python -m tests.matrix

upgrades: .venv/.installed-dev ## judge migrate with every pair of Rays (what is fresh is not run again), and write docs/upgrading-ray.md
	@$(BIN)/python -m tests.upgrades

policies: .venv/.installed-dev ## ask real Rays about settings, names and Lightning, and write docs/trainers.md
	@$(BIN)/python -m tests.policies

clean: ## remove what the other targets made
	@rm -rf .venv .rays .rays-ml .mypy_cache .ruff_cache .pytest_cache .hypothesis dist

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "needs Python 3.11 or newer, and $(PYTHON) is older: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -m venv .venv

.venv/.installed: .venv/bin/python pyproject.toml
	@$(PIP) install --editable .
	@touch $@

.venv/.installed-dev: .venv/bin/python pyproject.toml
	@$(PIP) install --editable '.[dev]'
	@touch .venv/.installed $@

rays: .venv/bin/python
	@if [ -n "$(RAYS)" ]; then $(BIN)/python tests/judge/install_rays.py $(RAYS); \
	  else echo "left out: no RAYS named, so tests that ask a real Ray are skipped"; fi
