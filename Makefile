# Everything here needs Python 3.11 or newer, make and git, and nothing else. The environment lives in .venv;
# it is built when first needed, and again when pyproject.toml or constraints.txt change.

VENV := .venv
BIN := $(VENV)/bin
DEMO := .demo
SEED := 1
COUNT := 1000000

.DEFAULT_GOAL := help
.PHONY: help demo test fuzz stress check bench docs-check format clean

help:  ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' Makefile | while IFS='	' read -r name text; do \
		printf '  make %-12s%s\n' "$$name" "$$text"; done

demo: $(VENV)/installed  ## import the sample runs, list them, explain a withheld checkpoint of a real one
	@rm -rf $(DEMO) && mkdir -p $(DEMO)
	@$(call show,import sample_runs)
	@$(call show,runs)
	@$(call show,why run_groupme-4-one-blob-down)
	@printf '\nThe ledger stays in %s: try  %s -l %s show @latest\n' $(DEMO)/ledger.db $(BIN)/runledger $(DEMO)/ledger.db

test: $(VENV)/installed-dev  ## run the tests
	$(BIN)/python -m pytest

fuzz: $(VENV)/installed-dev  ## damage lines, transcripts and ledgers for long; SEED=1 COUNT=1000000
	$(BIN)/python -m tests.fuzz.hunt --seed $(SEED) --count $(COUNT)

stress: $(VENV)/installed-dev  ## many processes on one ledger for a minute, and 200 kills of each kind
	STRESS=full $(BIN)/python -m pytest tests/stress

check: $(VENV)/installed-dev docs-check  ## lint, format, types, import contracts, generated docs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/installed-bench  ## measure the speed; the table is explained in docs/benchmarks.md
	@$(BIN)/python -m tests.bench $(BENCH)

docs-check: $(VENV)/installed-dev
	@if [ -f tests/generate.py ]; then $(BIN)/python -m tests.generate --check; fi

format: $(VENV)/installed-dev  ## rewrite the sources as make check wants them
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## remove caches and the demo ledger; .venv stays
	rm -rf $(DEMO) .fuzz build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find cli ledger tests -name __pycache__ -type d -prune -exec rm -rf {} +

# Shows a command as it would be typed, and runs it on the demo's ledger.
show = printf '\n$$ runledger %s\n\n' '$(1)' && RUNLEDGER=$(DEMO)/ledger.db $(BIN)/runledger $(1)

# A stamp a set: the demo runs without the development tools, and the benchmark brings what it compares with.
$(VENV)/installed: pyproject.toml constraints.txt
	@$(call create_venv)
	@echo "Installing what is pinned in constraints.txt"
	@$(BIN)/python -m pip install -qq -c constraints.txt -e .
	@touch $@

$(VENV)/installed-dev: pyproject.toml constraints.txt
	@$(call create_venv)
	@echo "Installing what is pinned in constraints.txt"
	@$(BIN)/python -m pip install -qq -c constraints.txt -e '.[dev]'
	@touch $(VENV)/installed $@

$(VENV)/installed-bench: pyproject.toml constraints.txt
	@$(call create_venv)
	@echo "Installing what is pinned in constraints.txt"
	@$(BIN)/python -m pip install -qq -c constraints.txt -e '.[bench]'
	@touch $(VENV)/installed $@

# Uses .venv as it is where it works; else takes the first Python that is new enough and can build one.
# A candidate is asked by running it: version managers leave commands on the path that do not run.
define create_venv
if ! $(BIN)/python -c '$(NEW_ENOUGH)' 2>/dev/null || ! $(BIN)/python -m pip --version >/dev/null 2>&1; then \
	found=; bare=; \
	for python in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11 python; do \
		$$python -c '$(NEW_ENOUGH)' 2>/dev/null || continue; \
		if $$python -c 'import ensurepip, venv' 2>/dev/null; then found=$$python; break; fi; \
		bare=$${bare:-$$python}; \
	done; \
	if [ -z "$$found" ] && [ -n "$$bare" ]; then \
		echo "$$bare cannot build a virtual environment: it lacks ensurepip." >&2; \
		echo "On Debian and Ubuntu: apt-get install python3-venv. Or: make PYTHON=/path/to/another/python" >&2; \
		exit 1; \
	elif [ -z "$$found" ]; then \
		echo "Found no Python 3.11 or newer on the path. Or: make PYTHON=/path/to/python" >&2; \
		exit 1; \
	fi; \
	echo "Building $(VENV) with $$($$found --version) ($$found)"; \
	$$found -m venv --clear $(VENV); \
fi
endef

NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
