# The two commands of a newcomer are `make run` and `make test`; the rest is for those who work on it.
PYTHON ?= python3
BIN := .venv/bin
PORT ?=
PYTEST_ARGS ?=

.PHONY: help venv venv-dev run test stress check lint types contracts bench lock vendor

help: ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

venv: ## the environment only (does nothing when it is up to date)
	@$(PYTHON) scripts/environment.py run

venv-dev: ## the environment with the test and lint tools
	@$(PYTHON) scripts/environment.py dev

run: venv ## start ContextLab and print its address
	@exec $(BIN)/contextlab up $(if $(PORT),--port $(PORT))

# pytest rewrites every test module in every process, half a minute in all, unless it may keep what it wrote.
test: venv-dev ## all tests that need no service (browser tests are skipped, visibly, without a browser)
	@$(BIN)/python -m compileall -q contextlab
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n auto --dist worksteal $(PYTEST_ARGS)

stress: venv-dev ## the largest sizes, which `make test` leaves out, and the core's properties on 2,000 examples each
	$(BIN)/python -m pytest -m stress $(PYTEST_ARGS)
	CONTEXTLAB_EXAMPLES=2000 $(BIN)/python -m pytest --timeout 3600 -m hypothesis tests/core

check: lint types contracts ## lint, types, layer contracts, Django's checks, compose file
	DJANGO_SETTINGS_MODULE=contextlab.config.settings $(BIN)/python manage.py check --fail-level WARNING
	$(BIN)/python manage.py makemigrations --check --dry-run
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec docker-compose.yml

lint: venv-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: venv-dev
	$(BIN)/mypy

contracts: venv-dev
	$(BIN)/lint-imports

bench: venv-dev ## the benchmarks (minutes; never part of the tests)
	$(BIN)/python -m bench

# The rest is for maintainers: it goes to the network and changes files under version control.
lock: ## pin the versions anew (needs uv)
	uv pip compile --universal --python-version 3.11 --no-annotate --no-emit-index-url --upgrade -q \
		--custom-compile-command "make lock" --extra fast pyproject.toml -o requirements.lock
	uv pip compile --universal --python-version 3.11 --no-annotate --no-emit-index-url --upgrade -q \
		--custom-compile-command "make lock" --extra fast --extra dev pyproject.toml \
		-c requirements.lock -o requirements-dev.lock

vendor: venv-dev ## fetch the vendored scripts anew from npm
	$(BIN)/python scripts/vendor.py
