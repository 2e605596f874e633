# SPDX-License-Identifier: Apache-2.0
#
# One verb per line; `make` alone prints them. Every verb first runs scripts/bootstrap, which installs what is
# missing and is silent when nothing is.

PREFIX ?= $(HOME)/.local
DESTDIR ?=
DIR = $(PREFIX)/lib/latchkey/sdk
SWIFT ?= swift

# What is shipped links the Swift library statically, in a scratch path of its own; tests use the dynamic debug
# build. `check` and `test` build with the same flags, so that neither throws the other's work away.
STATIC = .build/static
RELEASE = $(STATIC)/release
STATIC_BUILD = $(SWIFT) build -c release --static-swift-stdlib --scratch-path $(STATIC)
TEST_BUILD = $(SWIFT) build --build-tests --explicit-target-dependency-import-check error
# The agent is a package of its own: its window needs GTK.
AGENT_STATIC = Apps/Agent/.build/static
AGENT_RELEASE = $(AGENT_STATIC)/release
AGENT_BUILD = $(SWIFT) build -c release --static-swift-stdlib --package-path Apps/Agent --scratch-path $(AGENT_STATIC) \
    --product latchkey-agent
PROGRAMS = latchkeyd latchkey-prompt latchkey

.DEFAULT_GOAL = help
.NOTPARALLEL:
.PHONY: help demo test test-all test-apps test-sdk check bench build docs sdk install uninstall format fuzz mutants bootstrap
.PHONY: agent test-agent agent-screenshots bench-agent install-agent
.PHONY: attacks notes test-notes notes-screenshots bench-notes

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo '  PREFIX=$(PREFIX)'

demo: build ## watch a secret being kept, refused and released, in under a minute
	$(STATIC_BUILD) --product latchkey-demo
	@$(RELEASE)/latchkey-demo

test: bootstrap ## build and run the tests, and use each app once
	$(TEST_BUILD)
	@scripts/run-tests
	@scripts/test-apps --smoke

test-all: check ## everything: check, the long tests too, the address sanitizer, a short run of each fuzzer, mutants, the apps, the SDK
	$(TEST_BUILD)
	@LATCHKEY_TESTS=all scripts/run-tests
	@scripts/sanitize
	@scripts/fuzz 10
	@scripts/mutate
	@scripts/test-apps
	@$(MAKE) --no-print-directory test-sdk test-agent

test-apps: bootstrap ## build the apps, use each once, and run their own tests
	$(TEST_BUILD)
	@scripts/test-apps

notes: bootstrap ## run QuickNote in a window: on your keychain with a sensor, else on a simulated one
	@scripts/bootstrap Apps/QuickNote/packages.txt
	$(SWIFT) build
	@scripts/notes run

test-notes: bootstrap ## drive QuickNote's window by keyboard on a display of its own
	@scripts/bootstrap Apps/QuickNote/packages.txt Apps/QuickNote/test-packages.txt
	$(TEST_BUILD)
	@scripts/notes test

notes-screenshots: bootstrap ## a picture of every state of QuickNote, light and dark, into FOLDER outside the checkout
	@scripts/bootstrap Apps/QuickNote/packages.txt Apps/QuickNote/test-packages.txt
	$(TEST_BUILD)
	@scripts/notes pictures "$(FOLDER)"

bench-notes: build ## measure QuickNote: start to first frame, and unlocking 1,000 notes
	@scripts/bootstrap Apps/QuickNote/packages.txt Apps/QuickNote/test-packages.txt
	@scripts/notes bench

test-sdk: build ## build and test packages that use the products, or the SDK with this checkout out of reach
	@scripts/test-sdk $(RELEASE)

check: bootstrap ## formatting, warnings as errors, arrows between rooms, documentation, hygiene
	@scripts/check

bench: bootstrap ## measure through the socket, beside the raw floors of this machine and gnome-keyring
	$(STATIC_BUILD) --product latchkeyd
	LATCHKEY_DAEMON="$(CURDIR)/$(RELEASE)/latchkeyd" \
	    LATCHKEY_BENCH_KEYRING="$$(scripts/bench-keyring)" $(SWIFT) run -c release --package-path Benchmarks

build: bootstrap ## build the programs that are shipped
	@set -e; for program in $(PROGRAMS); do \
	    echo "$(STATIC_BUILD) --product $$program"; $(STATIC_BUILD) --product $$program; \
	done

docs: bootstrap ## build the documentation of every public module into .build/docs
	@scripts/build-docs

agent: bootstrap ## build the graphical prompt (needs GTK, and installs what it lacks of it)
	@scripts/bootstrap Apps/Agent/packages.txt
	$(AGENT_BUILD)

test-agent: bootstrap ## drive the graphical prompt on a display of its own, by keyboard and as a screen reader
	$(TEST_BUILD)
	@scripts/test-agent

agent-screenshots: bootstrap ## put pictures of every state of the graphical prompt into .build/agent-screenshots
	$(TEST_BUILD)
	@scripts/test-agent --pictures .build/agent-screenshots

bench-agent: agent build ## measure the time from a call to its visible prompt
	$(STATIC_BUILD) --product latchkey-test-client
	@scripts/bench-agent $(RELEASE) $(AGENT_RELEASE)

sdk: bootstrap ## put into DIR what `swift test --toolset DIR/toolset.json` needs of a package that does not name us
	@scripts/build-sdk
	@scripts/install-sdk "$(DIR)"

install: build ## install the programs and the SDK into PREFIX
	@scripts/build-sdk
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install $(RELEASE)

install-agent: agent ## install the graphical prompt into PREFIX, to be started with the session
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install-agent $(AGENT_RELEASE)

uninstall: ## remove exactly what install put there
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install --remove
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install-agent --remove

format: bootstrap ## let swift format rewrite the sources
	@scripts/list-files swift | tr '\n' '\0' | xargs -0 $(SWIFT) format format --in-place

fuzz: bootstrap ## run each fuzzer for SECONDS seconds (default 60)
	@scripts/fuzz $(or $(SECONDS),60)

attacks: bootstrap ## play every attack of an independent client of the wire against the daemon
	$(TEST_BUILD)
	@python3 Tests/Wire/attacks.py --all --programs .build/debug

mutants: bootstrap ## break each rule of the policy and each defence once and expect a test to fail
	$(TEST_BUILD)
	@scripts/mutate $(if $(ONLY),--only $(ONLY))

bootstrap:
	@scripts/bootstrap
