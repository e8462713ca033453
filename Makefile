# One word each; every one of them works on a fresh machine that has Python 3.11 or later and make.
#   make demo    watch a gateway being asked               make bench   measure (see bench/)
#   make test    the whole test suite                      make fuzz    look for inputs that break a promise
#   make check   lint, format and types                    make docs    write the generated pages anew
#   make bench-gateway   measure the gateway beside another one (see bench/gateway/)

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.PHONY: demo test check bench bench-gateway fuzz docs clean
.DEFAULT_GOAL := demo

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "dragoman needs Python 3.11 or later; name one with: make PYTHON=python3.12" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

$(VENV)/.oracles: $(STAMP) tests/oracles.txt
	@rm -rf $(VENV)/oracles
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
	  --target $(VENV)/oracles --requirement tests/oracles.txt
	@touch $@

# xgrammar asks for triton, which is large and used on GPUs only.
$(VENV)/.engines: $(STAMP) tests/engines.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --requirement tests/engines.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps xgrammar==0.2.8
	@touch $@

$(VENV)/.bench: $(STAMP) $(VENV)/.engines
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $@

$(VENV)/.gateways: $(STAMP) bench/gateway/requirements.txt
	@rm -rf $(VENV)/gateways
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
	  --target $(VENV)/gateways --requirement bench/gateway/requirements.txt
	@touch $@

demo: $(STAMP)
	@$(BIN)/python -m examples.gateway_demo

test: $(STAMP) $(VENV)/.oracles $(VENV)/.engines
	HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest tests --quiet -m "slow or not slow"

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.bench
	$(BIN)/python -m bench

bench-gateway: $(VENV)/.gateways
	$(BIN)/python -m bench.gateway $(ARGS)

fuzz: $(STAMP)
	$(BIN)/python -m fuzz

docs: $(STAMP)
	$(BIN)/python -m docs.build

clean:
	rm -rf $(VENV) build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache .coverage htmlcov
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
