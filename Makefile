# Each target does what it needs by itself, from a clean clone on a machine that has git, make and python3.

PYTHON = .venv/bin/python
PYTEST_ARGS =
DEMO_ARGS =
DEMO_REPLIES = bot/demo/replies.jsonl
BENCH_ARGS =
FUZZ_SECONDS = 3600
FUZZ_ARGS =

.PHONY: help setup image gvisor lint lock settings demo-log test test-fast demo record-demo bench-sandbox fuzz score-logs clean

help: ## Say what there is
	@echo "selfrepair: make TARGET"
	@sed -n 's/^\([a-z-]*\):.* ## /  \1\t/p' Makefile | expand -t 18

setup: ## Docker engine, base image and .venv: whatever of them is missing
	@scripts/setup-machine.sh

image: setup ## The action's image, selfrepair:dev, when its inputs changed
	@scripts/action-image.sh

gvisor: image ## The sandbox runtimes, by the product's own install-gvisor
	@docker run --rm -v /var/run/docker.sock:/var/run/docker.sock selfrepair:dev install-gvisor

lint: ## Every linter (no Docker)
	@scripts/venv.sh
	@scripts/lint.sh

lock: ## Take the newest versions that pyproject.toml allows into requirements.lock
	@scripts/lock.sh

settings: ## Write the settings of bot/config.py into action.yml and README.md
	@scripts/venv.sh
	@$(PYTHON) scripts/settings.py

test: gvisor lint ## All set-up, all linters, all tests
	@$(PYTHON) -m pytest $(PYTEST_ARGS)

test-fast: ## Unit tests only (no Docker)
	@scripts/venv.sh
	@$(PYTHON) -m pytest tests/unit $(PYTEST_ARGS)

demo: gvisor ## The main job on a bundled broken repository; no key needed
	@$(PYTHON) -m bot demo $(DEMO_ARGS)

demo-log: setup ## Make the demo's CI log anew, by really running its checks
	@scripts/demo-log.sh

record-demo: gvisor ## Record the demo's replies anew from a real model (DEMO_ARGS="--model M --base-url URL")
	@$(PYTHON) -m bot demo --record $(DEMO_REPLIES) $(DEMO_ARGS)

bench-sandbox: gvisor ## What an execution costs, cold and warm, and what a turn costs beside it
	@$(PYTHON) -m bot bench sandbox $(BENCH_ARGS)
	@$(PYTHON) scripts/bench-repair.py

fuzz: ## The log reader on mutated logs, for FUZZ_SECONDS (default: an hour)
	@scripts/venv.sh
	@$(PYTHON) -m tests.fuzz --seconds $(FUZZ_SECONDS) $(FUZZ_ARGS)

score-logs: ## The log reader's scores per tool, and the packets' sizes; fails below a target
	@scripts/venv.sh
	@$(PYTHON) -m tests.corpus.scores

clean: ## Remove what was made here; the machine's Docker and gVisor stay
	@scripts/clean.sh
