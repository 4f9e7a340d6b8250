# Every verb makes or completes .venv by itself. Variables: PYTHON (3.11 or newer), ARGS (handed on), SANITIZER.
PYTHON ?= python3
ARGS ?=
SANITIZER ?= address,undefined
BIN := .venv/bin
FRONT := front/node_modules/.bin
PAGE := src/linkwise/page/static/src tests/page/static front/build.js
SOURCES := pyproject.toml CMakeLists.txt $(wildcard src/linkwise/native/src/*.cpp src/linkwise/native/src/*.hpp)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help demo test quick coverage fuzz lint format types bench report report-quick docs front front-check check sanitize mutants wheel changelog clean

help:  ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 14

demo: .venv/app  ## the main job on real data; ARGS=--auto runs unattended
	@$(BIN)/linkwise demo $(ARGS)

test: .venv/dev  ## all tests, on all cores and one worker more, since some wait; ARGS goes to pytest
	$(BIN)/python -m pytest -n $$($(BIN)/python -c 'import os; print(os.cpu_count() + 1)') --dist loadfile $(ARGS)

quick: .venv/dev  ## the fast tests, most of them all: two minutes, for the inner loop; ARGS goes to pytest
	@$(MAKE) --no-print-directory test ARGS="-m 'not slow' $(ARGS)"

coverage: .venv/dev  ## all tests, and how much of the library the fast ones run; build/coverage.json lists the rest
	@$(MAKE) --no-print-directory test ARGS="--cov --cov-report=json:build/coverage.json $(ARGS)"
	@$(BIN)/python tests/coverage_floor.py build/coverage.json

fuzz: .venv/dev  ## damaged input files, then session files, each for so long: ARGS="--seconds 600 --seed 7"
	PYTHONPATH=tests $(BIN)/python -m fuzz.run $(ARGS)
	PYTHONPATH=tests $(BIN)/python -m fuzz.session_mutations $(ARGS)

lint: .venv/dev  ## ruff, and the layers of imports
	$(BIN)/ruff check src tests bench docs examples
	$(BIN)/ruff format --check src tests bench docs examples
	$(BIN)/lint-imports --no-cache

format: .venv/dev  ## mend what ruff can mend
	$(BIN)/ruff check --fix src tests bench docs examples
	$(BIN)/ruff format src tests bench docs examples

types: .venv/dev  ## mypy, strict on the core
	$(BIN)/mypy

bench: .venv/dev  ## speed and quality beside the published figures (LINKWISE_DATA: folder of data sets)
	$(BIN)/python -m bench run speed_kmeans speed_cobras speed_cobs speed_cobs_questions \
	  speed_spectral_agreement cobs_table4 --quick
	$(BIN)/python -m bench run cobras_quality

report: .venv/dev  ## one page of everything that is measured: a night, resumed where it stopped (LINKWISE_DATA)
	$(BIN)/python -m bench report $(ARGS)

report-quick: .venv/dev  ## the same for what takes minutes
	$(BIN)/python -m bench report --quick $(ARGS)

docs: .venv/docs  ## docs/_build/html/index.html
	@rm -rf docs/api  # pages of names that have gone
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

front: front/node_modules  ## bundle the page after a change in page/static/src; needs Node 20.19 or newer
	$(FRONT)/biome check --write --config-path=front/lint.json $(PAGE)
	node front/build.js

front-check: front/node_modules  ## types, lint and unit tests of the page, and whether its bundle is current
	$(FRONT)/tsc --project front/tsconfig.json
	$(FRONT)/biome check --error-on-warnings --config-path=front/lint.json $(PAGE)
	node --test --test-reporter=dot tests/page/static/
	node front/build.js --check

check: lint types docs test  ## what CI runs, less the demo

sanitize: .venv/dev  ## the native code under AddressSanitizer and UBSan, or SANITIZER=thread; ARGS: the tests
	$(BIN)/python tests/native/sanitized.py $(SANITIZER) $(ARGS)

mutants: .venv/dev  ## how many small faults the tests notice; ARGS: modules of tests/mutants/plan.toml, --jobs 1
	PYTHONPATH=tests $(BIN)/python -m mutants $(ARGS)

wheel: .venv/dev  ## sdist and wheel in dist/, the wheel tried where there is no compiler
	rm -rf dist && $(BIN)/python -m build --outdir dist
	$(BIN)/python -m venv dist/trial
	PATH="$(CURDIR)/dist/trial/bin" dist/trial/bin/python -m pip install -q --only-binary :all: "$$(ls dist/*.whl)[app]"
	PATH="$(CURDIR)/dist/trial/bin" dist/trial/bin/python -I tests/smoke.py

changelog: .venv/dev  ## collect changelog.d for a release: VERSION=0.2.0
	@test -n "$(VERSION)" || { echo "name the release: make changelog VERSION=0.2.0"; exit 1; }
	$(BIN)/towncrier build --yes --version "$(VERSION)"

clean:  ## remove everything that was built
	rm -rf .venv front/node_modules build dist docs/_build docs/api .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

front/node_modules: front/package.json front/package-lock.json
	@command -v npm >/dev/null || { echo "the page's tools need Node.js with npm: install nodejs"; exit 1; }
	npm ci --prefix front --no-audit --no-fund --loglevel=error
	@touch $@

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "linkwise needs Python 3.11 or newer; name one: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	@command -v c++ >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null \
	  || { echo "linkwise needs a C++20 compiler: install g++ (Debian, Ubuntu: apt install g++), or clang"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/app: .venv/bin/python $(SOURCES)
	$(BIN)/python -m pip install --quiet --editable ".[app]"
	@touch $@

.venv/dev: .venv/bin/python $(SOURCES)
	$(BIN)/python -m pip install --quiet --editable ".[app,plot,dask,dev]"
	@touch $@ .venv/app

.venv/docs: .venv/dev
	$(BIN)/python -m pip install --quiet --editable ".[app,plot,dask,dev,docs]"
	@touch $@
