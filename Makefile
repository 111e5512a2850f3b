# Two commands matter: `make run` and `make test`. Each sets up everything it needs.
.DEFAULT_GOAL := help
.PHONY: help run demo test test-slow test-gpu test-gpu-lean test-chart chaos mutation fuzz fuzz-operations check bench \
	bench-long docs pictures lock lock-check sbom audit clean

VENV := .venv
BIN := $(VENV)/bin
BANK ?=
CHAT ?=
RUN ?=
TESTS ?=
SEED ?=
ROUNDS ?= 3
SAMPLE ?= 150
SECONDS ?= 600
BENCH ?=
PACKAGES ?=
# Processes that `make test` and `make test-slow` run in, for two cores. A test often waits for a sandbox, a browser or a
# clock, slow ones most of the time.
WORKERS ?= 4
SLOW_WORKERS ?= 4
CHAOS ?=
# The first Python on the path that is new enough; PYTHON=... names another.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
CODE := bot service questions sandbox tests deploy dailygrad.py

help:
	@echo "make run             start Dailygrad on this machine: PostgreSQL, service, sandbox, web chat"
	@echo "make run BANK=PATH   the same with the questions of a file or folder"
	@echo "make run CHAT=NAME   the same, chatting on discord or slack (see docs/) or in the console"
	@echo "make demo            look at eight weeks of a simulated team (a minute the first time)"
	@echo "make test            run the tests (minutes)"
	@echo "make test-slow       run the rest: in a browser, through every page and card, days in real processes, faults"
	@echo "make test-gpu        run the tests that need a GPU, and torch for CUDA (a plain install from PyPI has it)"
	@echo "make test-gpu-lean   the same with the Python on the path as it is: no network, no PostgreSQL, few packages"
	@echo "make chaos           break every part of a running team for some minutes; SEED=N ROUNDS=N repeats it"
	@echo "make mutation        change the code in small ways and report which changes no test notices; SAMPLE=N SEED=N PACKAGES=..."
	@echo "make fuzz            search for documents that the reader fails on; SECONDS=N SEED=N"
	@echo "make check           format, lint, types, import rules, the shipped bank"
	@echo "make fuzz-operations search for operations by which an answer reaches the driver's memory; SECONDS=N SEED=N"
	@echo "make bench           measure speed against named peers and limits; writes docs/benchmarks.md"
	@echo "make bench-long      the same with millions of rows and whole chats at their limits (hours)"
	@echo "make docs            build the documentation in build/docs; a broken link fails"
	@echo "make pictures        take the pictures in docs/images again (needs chromium)"
	@echo "make test-chart      render the Helm chart and check it against the schemas of Kubernetes"
	@echo "make lock            write the lock files after a change of dependencies; LOCK=--upgrade takes the newest versions"
	@echo "make lock-check      check that every pin has a wheel for each Python and machine"
	@echo "make sbom            write the bills of materials, build/sbom (CycloneDX)"
	@echo "make audit           look up known vulnerabilities of the pinned versions"
	@echo "make clean           remove the environment (your data in .dailygrad stays)"

run: $(VENV)/.run-ready
	@exec $(BIN)/dailygrad run $(if $(BANK),--bank "$(BANK)") $(if $(CHAT),--chat $(CHAT)) $(RUN)

# In .dailygrad-demo, apart from the data of `make run`. RUN takes more options: RUN="--weeks 2 --members 8".
demo: $(VENV)/.run-ready
	@exec $(BIN)/dailygrad demo $(RUN)

PYTEST := $(BIN)/python -m pytest --dist loadfile --no-loadscope-reorder --durations 25
# Dozens of tests start processes: without stored bytecode, each would compile every module again.
unexport PYTHONDONTWRITEBYTECODE

# Tests that are named are run, however slow they are.
test: $(VENV)/.dev-ready
	@$(PYTEST) -n $(WORKERS) $(if $(TESTS),$(TESTS),-m "not slow")

test-slow: $(VENV)/.dev-ready
	@$(PYTEST) -n $(SLOW_WORKERS) -m slow $(TESTS)

# One day of faults after the other, from seed to seed; CHAOS takes further words: CHAOS=--short, CHAOS="--keep FOLDER".
chaos: $(VENV)/.dev-ready
	@$(BIN)/python -m tests.chaos $(if $(SEED),--seed $(SEED)) --rounds $(ROUNDS) $(CHAOS)

# Each of the PACKAGES gets SECONDS; the report is build/mutation/report.md.
mutation: $(VENV)/.dev-ready
	@$(BIN)/python -m tests.tools.mutation --sample $(SAMPLE) --seconds $(SECONDS) $(if $(SEED),--seed $(SEED)) $(PACKAGES)

# `make test-slow` runs a bounded part of it.
fuzz: $(VENV)/.dev-ready
	@$(BIN)/python -m tests.fuzz.fuzz_reader --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

fuzz-operations: $(VENV)/.dev-ready
	@$(BIN)/python -m tests.fuzz.fuzz_operations --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

# What shows what is wrong comes first; a machine without a GPU is told why all are skipped.
test-gpu: $(VENV)/.dev-ready
	@$(BIN)/dailygrad doctor || true
	@$(BIN)/python -m pytest -m gpu tests/sandbox $(TESTS)

# Installs nothing. LEAN takes more words for pytest. The settings of pyproject.toml ask for plugins that may be missing.
test-gpu-lean:
	@PYTHONPATH=. $(PYTHON) -m pytest -c /dev/null --rootdir . --confcutdir tests/sandbox --import-mode importlib \
		-p tests.sandbox.started -p no:cacheprovider -W ignore -o asyncio_mode=auto \
		-o asyncio_default_fixture_loop_scope=function -ra \
		tests/sandbox/test_gpu.py tests/sandbox/inside/test_cuda_start.py tests/sandbox/inside/test_gpu_child.py $(LEAN)

check: $(VENV)/.dev-ready
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/ruff check $(CODE)
	$(BIN)/mypy $(CODE)
	PYTHONPATH=. $(BIN)/lint-imports
	$(BIN)/dailygrad bank check questions/banks

# Each has a time limit; all together take at most 20 minutes. BENCH="answers wave" runs some of them.
bench: $(VENV)/.dev-ready
	@$(BIN)/python -m tests.bench $(BENCH)

# Also millions of rows, and whole chats at their rate limits: hours.
bench-long: $(VENV)/.dev-ready
	@$(BIN)/python -m tests.bench --long $(BENCH)

docs: $(VENV)/.dev-ready
	@$(BIN)/python -m sphinx --fail-on-warning --keep-going --nitpicky --quiet docs build/docs
	@echo "Open build/docs/index.html"

pictures: $(VENV)/.dev-ready
	@PYTHONPATH=. $(BIN)/python tests/docs/take_pictures.py
	@DAILYGRAD_IMAGES=1 $(BIN)/python -m pytest -q -k pictures tests/bot/preview/test_screenshots.py
	@DAILYGRAD_IMAGES=1 $(BIN)/python -m pytest -q -m slow -k "not search" tests/flows/test_logs.py

# Needs Helm's engine and the schemas, which come with the tools.
test-chart: $(VENV)/.tools-ready
	@$(PYTEST) tests/deploy/test_chart.py $(TESTS)

LOCK ?=
lock: $(VENV)/.tools-ready
	@$(BIN)/python deploy/lock.py $(LOCK)

lock-check: $(VENV)/.tools-ready
	@$(BIN)/python deploy/lock.py --check

# From the lock files, so the same commit gives the same bytes.
sbom: $(VENV)/.tools-ready
	@mkdir -p build/sbom
	@for part in run service bot sandbox; do \
		lock=requirements.lock; [ $$part = run ] || lock=$$part/$$lock; torch=; \
		case $$part in run | sandbox) torch=requirements-torch.lock;; esac; \
		cat $$lock $$torch | $(BIN)/cyclonedx-py requirements --pyproject pyproject.toml --output-reproducible --validate \
			--output-file build/sbom/$$part.json - || exit 1; done
	@echo "build/sbom has one for each image and one for the wheel"

# Asks PyPI's database of advisories; needs a network.
audit: $(VENV)/.tools-ready
	@$(BIN)/pip-audit --require-hashes --disable-pip $(patsubst %,--requirement %,$(wildcard requirements*.lock))

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache *.egg-info

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "Dailygrad needs Python 3.11 or newer; none was found. Install it, or name it: make PYTHON=/path/to/python3"; exit 1; }
	@echo "Making the environment in $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
		echo "This Python cannot make an environment. On Debian and Ubuntu: apt install python3-venv"; exit 1; }

# Installs this project with the parts given, and shows one line of progress in place of pip's log. Every file is checked
# against the hashes of the lock files, except for builds of torch that PyPI does not have; see deploy/install.py.
define install
	@log=$(VENV)/install.log; \
	$(BIN)/python deploy/install.py $(1) > $$log 2>&1 & pip=$$!; \
	while kill -0 $$pip 2>/dev/null; do \
		[ ! -t 1 ] || printf '\r  %s packages' "$$(grep -cE '^(Collecting|Requirement already)' $$log)"; sleep 1; \
	done; \
	[ ! -t 1 ] || printf '\r'; \
	wait $$pip || { tail -n 20 $$log; echo "The installation failed; the whole log is in $$log"; exit 1; }; \
	echo "  installed"
endef

LOCKS := pyproject.toml deploy/install.py $(wildcard requirements*.lock)

$(VENV)/.run-ready: $(VENV)/bin/python $(LOCKS)
	@echo "Installing Dailygrad (the first time takes a minute or two, because PyTorch is large)"
	$(call install)
	@touch $@

$(VENV)/.dev-ready: $(VENV)/bin/python $(LOCKS)
	@echo "Installing Dailygrad and its test tools (the first time takes a minute or two, because PyTorch is large)"
	$(call install,dev)
	@touch $@ $(VENV)/.run-ready

# With everything else: where nothing is installed yet, pip runs once.
$(VENV)/.tools-ready: $(VENV)/bin/python $(LOCKS)
	@echo "Installing Dailygrad with the tools of tests, of releases and of the chart"
	$(call install,dev tools)
	@touch $@ $(VENV)/.dev-ready $(VENV)/.run-ready
