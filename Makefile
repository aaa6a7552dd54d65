# make paper        set everything up and reproduce the paper; open out/paper/report.html
# make test         set everything up and run the checks and tests; prints how much of the code they run: it must not fall
# make docs         set everything up and build the site; open out/site/index.html
# make dist         build the sdist and the wheel, and try each in an empty environment; needs the network
#                   (PYTHONS="python3.12 python3.13": with these Pythons)
# make check        linters, types and the import contract alone; make format mends what can be mended
# make test-slow    the long forms of the statistical tests
# make processors   run the numeric tests as every kind of processor that this one can be
# make adversary    agents against an oracle, damaged files, kills, interrupts and threads (eight minutes)
# make truth        how often what armspan says is wrong, on problems of known truth
# make bench        how fast it is, beside NumPy; make bench-peers: beside other packages
# make policies     measure all policies and write their pages; make gallery: draw the pictures of the docs
# make lock         pin all dependencies anew; needs uv
# make clean        remove all that the others have made
PYTHON ?= python3
BIN := .venv/bin
# hundreds of processes start in the tests, and each would compile every file that it imports
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup paper docs dist test test-policies test-processes test-rest test-pages test-processor test-site test-plain test-slow processors check format bench bench-peers gallery policies truth adversary lock clean

setup: .venv/ready

.venv/ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "armspan needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@echo "Setting up .venv (once, about a minute) ..."
	@$(PYTHON) -m venv --clear .venv
	@$(BIN)/pip install --no-compile --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/pip install --no-compile --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

paper: setup
	@$(BIN)/armspan reproduce all --out out/paper

# warnings are errors, and a reference that leads nowhere is one; nothing is fetched from the network
docs: setup
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --nitpicky --quiet --fresh-env --doctree-dir out/doctrees docs out/site
	@echo "Open out/site/index.html in a browser."

dist: setup
	$(BIN)/python -m tools.dist $(addprefix --python ,$(PYTHONS))

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# several parts side by side, on one BLAS thread each: they compile, each on one core, and wait for other processes;
# what needs the families is in one part, and comes first beside what compiles nothing, so that no two compile the same
POLICIES := tests/policies tests/simulation tests/events tests/agents/test_family_agent.py \
	tests/agents/test_found_by_the_adversary.py tests/agents/test_late_rewards.py tests/environments/test_late_and_opposed.py
PROCESSES := tests/backends tests/sweeps tests/diversity tests/test_docs.py
PAGES := tests/cli tests/report tests/plots tests/experiments tests/examples tests/pages
TOGETHER = $(shell $(BIN)/python -c 'import os; print((os.cpu_count() or 1) + 1)')
RUN := $(BIN)/coverage run -m
PYTEST = OPENBLAS_NUM_THREADS=1 $(RUN) pytest -m "not slow" -p no:cacheprovider --durations=15

test: setup
	@echo "Running the checks and the tests in eight parts, $(TOGETHER) at a time; each prints when it is done."
	@echo "The first time takes ten to twenty minutes on 2 cores, depending on the machine."
	@rm -rf out/coverage
	@$(MAKE) --no-print-directory --output-sync=target -j$(TOGETHER) test-policies test-processes test-rest test-pages test-plain test-processor check test-site
	@$(BIN)/python -m tools.floor

test-policies: setup
	$(PYTEST) $(POLICIES)

test-processes: setup
	$(PYTEST) $(PROCESSES)

test-rest: setup
	$(PYTEST) $(addprefix --ignore=,$(POLICIES) $(PROCESSES) $(PAGES))

test-pages: setup
	$(PYTEST) $(filter-out tests/pages,$(PAGES))

# kernels without numba
test-plain: setup
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.plain

test-site: docs
	$(PYTEST) tests/pages

test-processor: setup
	$(BIN)/python -m tests.processors --short

processors: setup
	$(BIN)/python -m tests.processors

test-slow: setup
	$(BIN)/pytest -m slow

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup
	$(BIN)/python -m benchmarks

# the pictures that pages of the docs draw themselves
gallery: setup
	$(BIN)/python -m armspan.report.gallery README.md docs/gallery.md docs/tutorial-offers.md docs/tutorial-digits.md

# the table and the pages of docs/policies; both steps can be run alone, and the first takes --only=LinUCB,OFUL
policies: setup
	$(BIN)/python -m benchmarks policies --write
	$(BIN)/python -m armspan.report.policies --docs docs

truth: setup
	$(BIN)/python -m benchmarks.truth growth
	$(BIN)/python -m benchmarks.truth fresh
	$(BIN)/python -m benchmarks.truth logs --samples 20

adversary: setup
	$(BIN)/python -m benchmarks.adversary sequences
	$(BIN)/python -m benchmarks.adversary files
	$(BIN)/python -m benchmarks.adversary kills
	$(BIN)/python -m benchmarks.adversary interrupts
	$(BIN)/python -m benchmarks.adversary threads

bench-peers: setup
	$(BIN)/python -m benchmarks.peers
	$(BIN)/python -m benchmarks.peers arena

lock:
	uv pip compile pyproject.toml --extra lab --extra cluster --group dev --group docs --universal --python-version 3.11 \
		--generate-hashes --no-header --allow-unsafe --output-file requirements.lock

clean:
	rm -rf .venv .venv-peers out build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
