# Each target does its own set-up: a virtual environment in .venv, with the checkout installed in it as editable.
# The files .venv/.demo, .test and .check say that it is done, so that a second run starts at once.

PYTHON  ?= python3
WORKERS ?= 2
SECONDS ?= 600
SEED    ?= 0
TURN    ?= 0
CALLS   ?= 1000000
ROUNDS  ?= 7

# Byte code is kept, whatever the environment says: the tests start hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
RUN  := $(VENV)/bin/python
PIP  := $(RUN) -m pip install --quiet --disable-pip-version-check
# The workers share the cores: BLAS threads on top would only fight over them.
PYTEST := OPENBLAS_NUM_THREADS=1 $(RUN) -m pytest -q -n $(WORKERS) --dist worksteal

.PHONY: help demo test sweeps check types quick fuzz calls bench docs clean
.DELETE_ON_ERROR:

help:
	@echo "make demo    the 2-D wave equation, measured beside eager NumPy"
	@echo "make test    the test suite: of the sweeps over dtypes, layouts, forms and drawn programs one in 128, TURN=$(TURN)"
	@echo "make sweeps  all tests of the suite"
	@echo "make check   ruff, mypy --strict and a fast test of every third file"
	@echo "make fuzz    random programs against eager NumPy, SECONDS=$(SECONDS) SEED=$(SEED)"
	@echo "make calls   CALLS=$(CALLS) calls of changing kinds from four threads, by machine code and by Python"
	@echo "make bench   programs beside NumPy, Numba, JAX, numexpr, Pythran and C: PROGRAMS=\"softmax lu\" ROUNDS=$(ROUNDS)"
	@echo "make docs    the site, in build/site"
	@echo "make clean   remove .venv, builds and caches"

demo: $(VENV)/.demo
	$(RUN) examples/wave.py

test: $(VENV)/.test
	$(PYTEST) --turn $(TURN)

sweeps: $(VENV)/.test
	$(PYTEST) --share 1

check: $(VENV)/.check
	$(RUN) -m ruff check .
	$(MAKE) --no-print-directory -j2 types quick

types: $(VENV)/.check
	$(RUN) -m mypy --num-workers 2

# One process: mypy has the other core, and the test files are read once.
quick: $(VENV)/.check
	TRACEBUF_TIER=quick $(PYTEST) -m "not slow" --sample -n 0

fuzz: $(VENV)/.test
	$(RUN) -m tracebuf.testing.fuzz --seconds $(SECONDS) --seed $(SEED)

calls: $(VENV)/.test
	OPENBLAS_NUM_THREADS=1 TRACEBUF_CALLS=$(CALLS) $(RUN) -m pytest -q -s -m slow tests/call/test_many_calls.py

bench: $(VENV)/.bench
	OPENBLAS_NUM_THREADS=1 $(RUN) -m benchmarks.bench $(PROGRAMS) --rounds $(ROUNDS)

docs: $(VENV)/.test
	NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs build --strict -q -f docs/site/mkdocs.yml
	@echo "build/site/index.html"

clean:
	rm -rf $(VENV) build dist *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	    echo "tracebuf needs Python 3.11 or later, but '$(PYTHON)' is $$($(PYTHON) -V 2>&1 || true)." >&2; \
	    echo "Name another one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { \
	    echo "'$(PYTHON) -m venv' failed: install the venv and pip modules (Debian: python3-venv)." >&2; exit 1; }

$(VENV)/.demo: pyproject.toml | $(VENV)/bin/pip
	@echo "setting up $(VENV) ..."
	@$(PIP) -e . && touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/bin/pip
	@echo "setting up $(VENV) for tests ..."
	@$(PIP) -e '.[test]' && touch $(VENV)/.demo $@

$(VENV)/.check: pyproject.toml | $(VENV)/bin/pip
	@echo "setting up $(VENV) for tests, ruff and mypy ..."
	@$(PIP) -e '.[test,check]' && touch $(VENV)/.demo $(VENV)/.test $@

# Peers are installed one by one where they do not come together: a run names those that are missing, and goes on.
$(VENV)/.bench: pyproject.toml | $(VENV)/bin/pip
	@echo "setting up $(VENV) for benchmarks ..."
	@$(PIP) -e '.[bench]' || { $(PIP) -e . && for peer in 'jax[cpu]' numexpr pythran; do \
	    $(PIP) "$$peer" || echo "without $$peer" >&2; done; }
	@touch $(VENV)/.demo $@
