# Every target makes its own .venv: with uv when it is on PATH, else with venv and pip.
# `make test ARGS="-k moments -x" JOBS=4` hands ARGS to pytest, and runs four files at a time.

PYTHON ?= python3
ARGS ?=
JOBS ?= 2
BIN := $(if $(filter Windows_NT,$(OS)),.venv/Scripts,.venv/bin)

.DEFAULT_GOAL := help
.PHONY: help demo play test test-browser test-lowest test-matrix test-shuffled test-alone coverage \
	lint docs dist bench fuzz cluster tables corpus clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | column -t -s '|' 2>/dev/null \
		|| sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1  \2/p' Makefile

demo: .venv/.demo  ## a first look: a table, a proof, a sound, a perceptron
	@$(BIN)/adaline demo

play: .venv/.play  ## every learner at work, in a browser
	@$(BIN)/adaline play

test: .venv/.installed  ## the tests, the doctests and the README's examples
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile $(ARGS)

test-browser: .venv/.installed  ## the page in a real Chromium (ADALINE_CHROMIUM=path)
	$(BIN)/python -m pytest tests/play/test_browser.py tests/play/test_browser_tabs.py tests/play/test_notebook_front_end.py $(ARGS)

test-lowest:  ## the tests with the lowest versions that pyproject.toml allows
	.ci/versions

test-matrix:  ## the tests with each minor version of scikit-learn since the lowest
	for version in 1.6 1.7 1.8 1.9; do .ci/versions "scikit-learn==$$version.*" || exit 1; done

test-shuffled: .venv/.installed  ## the tests in a random order (SEED=7)
	$(BIN)/python -m pytest -n $(JOBS) --dist load -p no:cacheprovider --shuffle=$(or $(SEED),1) $(ARGS)

test-alone: .venv/.installed  ## each file of tests in a process of its own
	for file in $$(find tests -name 'test_*.py' | sort); do \
		$(BIN)/python -m pytest -q -p no:cacheprovider $$file $(ARGS) | tail -n 1 || exit 1; done

coverage: .venv/.installed  ## lines and branches of src that the tests reach
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile -q --cov=adaline --cov-branch \
		--cov-report=term:skip-covered --cov-report=html:coverage $(ARGS)

lint: .venv/.installed  ## formatting, rules and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

docs: .venv/.docs  ## the guide, in docs/_build/index.html
	@rm -rf docs/reference/generated  # pages of names that are gone
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build

dist:  ## wheel and sdist in dist/, each tried in an empty environment
	PYTHON=$(PYTHON) .ci/dist

bench: .venv/.benches  ## every script of bench/ beside the peers it names, as docs/benchmarks.md (FULL=1)
	$(BIN)/python bench/scoreboard.py $(if $(FULL),--full) --out docs/benchmarks.md $(ARGS)

# One law at length: make fuzz LAW=optimality SECONDS=600
LAW_optimality := tests/laws/test_optimality_never_lies.py
LAW_digits := tests/laws/test_certificates_never_lie.py
LAW_coins := tests/laws/test_coin_flips.py
LAW_groups := tests/laws/test_groups.py
LAW_audit := tests/laws/test_audit.py
LAW_hostile := tests/laws/test_claims_on_hostile_numbers.py
LAW_separation := tests/laws/test_separability.py
LAW_values := tests/laws/test_bad_values.py
LAW_extremes := tests/laws/test_extreme_numbers.py

ifdef LAW
fuzz: .venv/.installed
	$(if $(LAW_$(LAW)),,$(error LAW=$(LAW) is none of $(patsubst LAW_%,%,$(filter LAW_%,$(.VARIABLES)))))
	PYTHONPATH=tests $(BIN)/python -W ignore $(LAW_$(LAW)) $(or $(SECONDS),60)
else
fuzz: .venv/.installed  ## search for a claim that lies, or a file that breaks us (SECONDS=60 a law)
	PYTHONPATH=tests $(BIN)/python tests/laws/test_optimality_never_lies.py $(or $(SECONDS),60)
	PYTHONPATH=tests $(BIN)/python tests/laws/test_certificates_never_lie.py $(or $(SECONDS),60)
	PYTHONPATH=tests $(BIN)/python tests/laws/test_claims_on_hostile_numbers.py $(or $(SECONDS),60)
	PYTHONPATH=tests $(BIN)/python tests/laws/test_groups.py $(or $(SECONDS),60)
	PYTHONPATH=tests $(BIN)/python -W ignore tests/laws/test_audit.py $(or $(SECONDS),60)
	PYTHONPATH=tests $(BIN)/python tests/laws/test_coin_flips.py $(or $(SECONDS),60)
	PYTHONPATH=tests $(BIN)/python tests/laws/test_separability.py $(or $(SECONDS),60)
	PYTHONPATH=tests $(BIN)/python tests/laws/test_model_files.py $(or $(MUTATIONS),10000)
	PYTHONPATH=tests $(BIN)/python -W ignore tests/laws/test_bad_values.py $(or $(SECONDS),300)
	PYTHONPATH=tests $(BIN)/python -W ignore tests/laws/test_extreme_numbers.py $(or $(SECONDS),60)
	PYTHONPATH=tests $(BIN)/python campaigns/killed_fits.py $(or $(KILLS),50)
	PYTHONPATH=tests $(BIN)/python campaigns/damaged_files.py $(or $(DAMAGED),1000)
endif

cluster: .venv/.installed  ## cut cables and kill workers of a Dask cluster (KILLS=200), and compare the bits
	PYTHONPATH=tests:campaigns $(BIN)/python -W ignore campaigns/cut_cables.py
	PYTHONPATH=tests:campaigns $(BIN)/python -W ignore campaigns/kill_campaign.py $(or $(KILLS),200)

tables: .venv/.installed  ## every command on the CSV files below FOLDER, beside scikit-learn's pipeline
	PYTHONPATH=tests $(BIN)/python campaigns/real_tables.py $(FOLDER) $(ARGS)

corpus: .venv/.installed  ## the text tables below FOLDER, read as tests/data/corpus.json records
	PYTHONPATH=tests $(BIN)/python campaigns/corpus.py compare tests/data/corpus.json $(FOLDER)

clean:  ## remove .venv, caches and build products
	rm -rf .venv .venv-lowest build dist coverage pumps.html docs/_build docs/reference/generated .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# Install into .venv the project with the extras named first; the second says what that takes.
comma := ,
define install
	@echo "Installing adaline[$(1)] into .venv ($(2)) ..."
	@set -e; if command -v uv >/dev/null 2>&1; then \
		[ -x $(BIN)/python ] || uv venv --quiet .venv; \
		uv pip install --quiet --compile-bytecode --python $(BIN)/python -e ".[$(1)]"; \
	else \
		$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv .venv; \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[$(1)]"; \
	fi
	@touch $@
endef

.venv/.demo: pyproject.toml
	$(call install,cli$(comma)report,195 MB to download and 800 MB on disk: about a minute)

.venv/.play: pyproject.toml
	$(call install,cli$(comma)play$(comma)report,195 MB to download and 800 MB on disk: about a minute)

.venv/.installed: pyproject.toml
	$(call install,dev,470 MB to download and 1.8 GB on disk: some minutes)
	@touch .venv/.demo .venv/.play  # dev has all that they need

.venv/.benches: .venv/.installed
	$(call install,bench,what others offer for the same)

.venv/.docs: .venv/.installed
	$(call install,docs,sphinx)
