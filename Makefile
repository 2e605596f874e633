# SPDX-License-Identifier: Apache-2.0
#
# `make` alone lists the commands. Every command first runs scripts/bootstrap, which installs missing packages and is
# silent when none is missing.

PREFIX ?= $(HOME)/.local
DESTDIR ?=
DIR = $(PREFIX)/lib/latchkey/sdk
SWIFT ?= swift
BOOTSTRAP = scripts/bootstrap

# Shipped programs link the Swift library statically and are built in a separate scratch path; tests use the dynamic
# debug build. `check` and `test` build with the same flags, so that neither discards the other's build. The packages of
# the apps share the scratch path, so that the libraries are compiled once for all of them; without SHARED, SwiftPM would
# build the package that it built last there.
SHARED = --disable-build-manifest-caching
STATIC = .build/static
RELEASE = $(STATIC)/release
STATIC_BUILD = $(SWIFT) build -c release --static-swift-stdlib --scratch-path $(STATIC) $(SHARED)
TEST_BUILD = $(SWIFT) build --build-tests --explicit-target-dependency-import-check error
# The manifests treat warnings as errors when this is set, which only this checkout does.
export LATCHKEY_STRICT = 1
# QuickNote and the agent are separate packages, because their windows need GTK. A manifest of QuickNote that was cached
# before GTK was installed would leave the window out.
NOTES_BUILD = $(STATIC_BUILD) --manifest-cache none --package-path Apps/QuickNote --product quicknote
AGENT_BUILD = $(STATIC_BUILD) --package-path Apps/Agent --product latchkey-agent
# So is the settings window. Its tests need the packages of the agent too, which shows the prompts.
SETTINGS_BUILD = $(STATIC_BUILD) --package-path Apps/Settings --product latchkey-settings
SETTINGS_TEST_PACKAGES = Apps/Agent/packages.txt Apps/Settings/packages.txt Apps/Settings/test-packages.txt
LOGIN_BUILD = $(STATIC_BUILD) --package-path Apps/SignIn --product latchkey-sign-in
# The relying party.
SERVER_STATIC = RelyingParty/.build/static
SERVER_BUILD = $(SWIFT) build -c release --static-swift-stdlib --package-path RelyingParty \
    --scratch-path $(SERVER_STATIC) --product latchkey-server
PROGRAMS = latchkeyd latchkey-prompt latchkey
# Runs the tests that are not in Swift (docs/design/testing.md). ONLY is pytest's -k; without it the tests, or their files
# where these share something, are spread over several processes. Tests of machines and terminals mostly wait.
PYTEST = /usr/bin/python3 -m pytest $(if $(ONLY),-k '$(ONLY)')
SPREAD = $(if $(ONLY),,-n auto)
SPREAD_FILES = $(if $(ONLY),,-n auto --dist loadfile)
SPREAD_MACHINES = $(if $(ONLY),,-n $$(($$(nproc) + 1)) --dist loadfile)
SPREAD_TERMINALS = -n $$((2 * $$(nproc)))
APPS_BUILD = $(SWIFT) build --scratch-path .build/apps $(SHARED)
# The reason for Face ID of an app is beside its program.
with_reason = mkdir -p .build/apps/debug/$(2).resources && cp Apps/$(1)/Info.plist .build/apps/debug/$(2).resources/
NOTES_DEBUG = $(APPS_BUILD) --manifest-cache none --package-path Apps/QuickNote --product quicknote && \
    $(call with_reason,QuickNote,quicknote)
AGENT_DEBUG = $(APPS_BUILD) --package-path Apps/Agent --product latchkey-agent
SETTINGS_DEBUG = $(APPS_BUILD) --package-path Apps/Settings --product latchkey-settings && $(AGENT_DEBUG) && \
    $(SWIFT) build --product latchkey-fingerprint
SERVER_DEBUG = $(SWIFT) build --package-path RelyingParty --product latchkey-server
LOGIN_DEBUG = $(TEST_BUILD) && $(SERVER_DEBUG) && \
    $(APPS_BUILD) --package-path Apps/SignIn --product latchkey-sign-in && $(call with_reason,SignIn,latchkey-sign-in)
SYSTEM_PROGRAMS = latchkey-authd latchkey-pam latchkey-fingerprint

.DEFAULT_GOAL = help
.NOTPARALLEL:
.PHONY: help demo test test-all test-apps test-sdk test-system system-programs check bench build docs sdk install uninstall format fuzz mutants bootstrap
.PHONY: deb test-deb services notes-program
.PHONY: agent test-agent agent-screenshots bench-agent install-agent
.PHONY: settings test-settings settings-screenshots install-settings
.PHONY: server serve demo-server test-sign-in bench-sign-in test-server test-server-api
.PHONY: test-browser browser-screenshots bench-server bench-browser
.PHONY: attacks attack-services bench-services notes test-notes notes-screenshots bench-notes
.PHONY: login test-login login-screenshots install-login demo-server-window

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-20s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo '  PREFIX=$(PREFIX)'

demo: build ## show how a secret is stored, refused and released, in under a minute
	$(STATIC_BUILD) --product latchkey-demo
	@$(RELEASE)/latchkey-demo

test: bootstrap ## build and run the tests, use commands on a terminal, and use QuickNote once; ONLY='PART|PART' runs a part
	$(TEST_BUILD)
ifdef ONLY
	@scripts/run-tests --filter '$(ONLY)'
else
	@LATCHKEY_FPRINTD="$$(scripts/fprintd)" scripts/run-tests
	$(NOTES_DEBUG)
	@$(PYTEST) $(SPREAD_TERMINALS) Tests/Terminal Tests/Wire Apps/QuickNote/Tests/TerminalTests
endif

test-all: check ## everything: check, the long tests too, the address sanitizer, a short run of each fuzzer, mutants, the apps, the SDK, the services, the packages
	$(TEST_BUILD)
	@LATCHKEY_FPRINTD="$$(scripts/fprintd)" LATCHKEY_TESTS=all scripts/run-tests
	@$(PYTEST) $(SPREAD_TERMINALS) Tests/Terminal Tests/Wire
	@scripts/sanitize
	@scripts/fuzz 10
	@scripts/mutate
	@LATCHKEY_TESTS=all $(MAKE) --no-print-directory test-sdk
	@$(MAKE) --no-print-directory test-agent test-apps test-settings test-login test-server test-server-api test-sign-in \
	    test-browser test-system attack-services test-deb

test-apps: bootstrap ## build QuickNote, and run all its tests
	@scripts/bootstrap Apps/QuickNote/packages.txt Apps/QuickNote/test-packages.txt
	$(TEST_BUILD)
	$(NOTES_DEBUG)
	$(SWIFT) test --scratch-path .build/apps $(SHARED) --manifest-cache none --package-path Apps/QuickNote
	@$(PYTEST) $(SPREAD) Apps/QuickNote

notes: bootstrap ## run QuickNote in a window, on your keychain if it has a sensor, else on a simulated one
	@scripts/bootstrap Apps/QuickNote/packages.txt
	$(SWIFT) build
	@scripts/notes run

test-notes: bootstrap ## test QuickNote's window by keyboard on a display of its own
	@scripts/bootstrap Apps/QuickNote/packages.txt Apps/QuickNote/test-packages.txt
	$(TEST_BUILD)
	$(NOTES_DEBUG)
	@$(PYTEST) $(SPREAD) Apps/QuickNote

notes-screenshots: bootstrap ## write a picture of every state of QuickNote, light and dark, to FOLDER outside the checkout
	@scripts/bootstrap Apps/QuickNote/packages.txt Apps/QuickNote/test-packages.txt
	$(TEST_BUILD)
	$(NOTES_DEBUG)
	@scripts/pictures notes "$(FOLDER)" '$(ONLY)'

bench-notes: build ## measure QuickNote: start to first frame, and unlocking 1,000 notes
	@scripts/bootstrap Apps/QuickNote/packages.txt Apps/QuickNote/test-packages.txt
	@scripts/notes bench

login: bootstrap ## run the app that signs in to a relying party, on your keychain if it has a sensor, else on a simulated one
	@scripts/bootstrap Apps/SignIn/packages.txt
	$(SWIFT) build
	@scripts/login

test-login: bootstrap ## test the app that signs in, against a running server: its core, and its window by keyboard
	@scripts/bootstrap RelyingParty/packages.txt Apps/SignIn/packages.txt Apps/SignIn/test-packages.txt
	$(LOGIN_DEBUG)
ifndef ONLY
	LATCHKEY_SERVER="$(CURDIR)/RelyingParty/.build/debug/latchkey-server" \
	    $(SWIFT) test --scratch-path .build/apps $(SHARED) --package-path Apps/SignIn
endif
	@$(PYTEST) $(SPREAD) Apps/SignIn

login-screenshots: bootstrap ## write a picture of every state of that app, light, dark and narrow, to FOLDER outside the checkout
	@scripts/bootstrap RelyingParty/packages.txt Apps/SignIn/packages.txt Apps/SignIn/test-packages.txt
	$(LOGIN_DEBUG)
	@scripts/pictures login "$(FOLDER)" '$(ONLY)'

test-sdk: build ## build and test packages that use the products, or the SDK while this checkout is hidden
	@$(PYTEST) Tests/Packages

test-system: build system-programs agent settings ## boot a machine with systemd, and one with a TPM, and test the built programs in them (needs root)
	@[ "$$(id -u)" != 0 ] || scripts/bootstrap Tests/System/packages.txt
	@$(PYTEST) $(SPREAD_MACHINES) Tests/System

server: bootstrap ## build the relying party as it is shipped
	@$(BOOTSTRAP) RelyingParty/packages.txt
	$(SERVER_BUILD)

serve: bootstrap ## run a relying party on an empty database, and sign in to it with curl, openssl and latchkey key
	@scripts/bootstrap RelyingParty/packages.txt
	@scripts/serve

demo-server: bootstrap ## show an app that signs in with a finger, at a relying party on an empty database
	@scripts/bootstrap RelyingParty/packages.txt
	@scripts/demo-server

demo-server-window: bootstrap ## the same with Apps/SignIn: you are the person, and the sensor is a row of buttons
	@scripts/bootstrap RelyingParty/packages.txt Apps/SignIn/packages.txt
	@scripts/demo-server --window

bench-sign-in: bootstrap ## measure what the app's side of signing in adds to bare requests and a bare signature
	@scripts/bootstrap RelyingParty/packages.txt
	@scripts/bench-sign-in

test-sign-in: bootstrap ## test the example app of demo-server against servers that lie, are down, and have unknown certificates
	@scripts/bootstrap RelyingParty/packages.txt RelyingParty/test-packages.txt
	$(SERVER_DEBUG)
	$(SWIFT) build --product latchkeyd
	$(SWIFT) build --product latchkey
	$(APPS_BUILD) --package-path Examples/SignIn
	@$(PYTEST) $(SPREAD) Examples/SignIn

test-server: bootstrap ## test the relying party: its modules, and running servers with an independent client
	@scripts/bootstrap RelyingParty/packages.txt RelyingParty/test-packages.txt
	$(TEST_BUILD) --package-path RelyingParty
ifndef ONLY
	@scripts/run-tests --package-path RelyingParty
endif
	$(SWIFT) build --product latchkeyd
	$(SWIFT) build --product latchkey
	$(SWIFT) build --package-path RelyingParty/Examples/SignInServer
	@$(PYTEST) $(SPREAD_FILES) RelyingParty/Tests/ServerTests

test-browser: bootstrap ## test the administration page and passkeys in headless Chromium
	@scripts/bootstrap RelyingParty/packages.txt RelyingParty/browser-packages.txt
	$(SERVER_DEBUG)
	@$(PYTEST) $(SPREAD_FILES) RelyingParty/Tests/BrowserTests

browser-screenshots: bootstrap ## write pictures of the administration page, light, dark and narrow, to FOLDER outside the checkout
	@scripts/bootstrap RelyingParty/packages.txt RelyingParty/browser-packages.txt
	$(SERVER_DEBUG)
	@scripts/pictures browser "$(FOLDER)" '$(ONLY)'

bench-browser: bootstrap ## measure the first paint of the administration page with 100,000 devices
	@scripts/bootstrap RelyingParty/packages.txt RelyingParty/browser-packages.txt
	@scripts/bench-browser

bench-server: bootstrap ## measure sign-ins beside openssl speed, bare SQLite, and Flask with gunicorn from PyPI
	@scripts/bootstrap RelyingParty/packages.txt RelyingParty/test-packages.txt RelyingParty/Benchmarks/packages.txt
	@scripts/bench-server

test-server-api: bootstrap ## send requests that schemathesis, from PyPI, makes from the description in OpenAPI
	@scripts/bootstrap RelyingParty/packages.txt
	$(SERVER_DEBUG)
	@$(PYTEST) RelyingParty/Tests/DescriptionTests

check: bootstrap ## check formatting, warnings as errors, imports between modules, documentation and hygiene
	@scripts/bootstrap RelyingParty/packages.txt
	@scripts/check

bench: bootstrap ## measure calls through the socket, compared with the lower bounds of this machine and gnome-keyring; as root the services too
	$(STATIC_BUILD) --product latchkeyd
	LATCHKEY_DAEMON="$(CURDIR)/$(RELEASE)/latchkeyd" \
	    LATCHKEY_BENCH_KEYRING="$$(scripts/bench-keyring)" $(SWIFT) run -c release --package-path Benchmarks
	LATCHKEY_DAEMON="$(CURDIR)/$(RELEASE)/latchkeyd" \
	    $(SWIFT) run -c release --package-path Benchmarks latchkey-bench --tpm
	@if [ "$$(id -u)" = 0 ]; then $(MAKE) --no-print-directory bench-services; else \
	    echo 'skip  the services of a system: only root can boot a machine in new namespaces'; fi

build: bootstrap ## build the shipped programs
	@set -e; for program in $(PROGRAMS); do \
	    echo "$(STATIC_BUILD) --product $$program"; $(STATIC_BUILD) --product $$program; \
	done

system-programs: services ## build the service that authenticates users of a system, and programs for its tests
	$(STATIC_BUILD) --product latchkey-authd-testing
	$(STATIC_BUILD) --product latchkey-test-client
	$(SWIFT) build --product synthetic-finger

services: bootstrap
	@set -e; for program in $(SYSTEM_PROGRAMS); do \
	    echo "$(STATIC_BUILD) --product $$program"; $(STATIC_BUILD) --product $$program; \
	done

deb: bootstrap ## build the Debian packages into .build/deb and check them with lintian
	@scripts/bootstrap packaging/packages.txt Apps/Agent/packages.txt Apps/QuickNote/packages.txt \
	    Apps/Settings/packages.txt RelyingParty/packages.txt
	@scripts/build-deb
	@$(PYTEST) Tests/Debian/test_contents.py

test-deb: bootstrap ## build the packages twice, compare their bytes, and try them on a machine with systemd (needs root)
	@scripts/bootstrap packaging/packages.txt Apps/Agent/packages.txt Apps/QuickNote/packages.txt \
	    Apps/Settings/packages.txt RelyingParty/packages.txt
	@[ "$$(id -u)" != 0 ] || scripts/bootstrap Tests/System/packages.txt
	@scripts/build-deb --clean
	@$(PYTEST) Tests/Debian

docs: bootstrap ## build the documentation of every public module into .build/docs
	@scripts/build-docs

agent: bootstrap ## build the graphical prompt (needs GTK, and installs it if it is missing)
	@$(BOOTSTRAP) Apps/Agent/packages.txt
	$(AGENT_BUILD)

notes-program: bootstrap
	@$(BOOTSTRAP) Apps/QuickNote/packages.txt
	$(NOTES_BUILD)

test-agent: bootstrap ## test the graphical prompt on a display of its own, by keyboard and as a screen reader
	@scripts/bootstrap Apps/Agent/packages.txt Apps/Agent/test-packages.txt
	$(TEST_BUILD)
	$(AGENT_DEBUG)
	@$(PYTEST) $(SPREAD) Apps/Agent

agent-screenshots: bootstrap ## write pictures of every state of the graphical prompt to .build/agent-screenshots, and that of the README
	@scripts/bootstrap Apps/Agent/packages.txt Apps/Agent/test-packages.txt
	$(TEST_BUILD)
	$(AGENT_DEBUG)
	@scripts/pictures agent .build/agent-screenshots '$(ONLY)'

settings: bootstrap ## build the settings window (needs GTK, and installs it if it is missing)
	@$(BOOTSTRAP) Apps/Settings/packages.txt
	$(SETTINGS_BUILD)

test-settings: bootstrap ## test the settings window by keyboard and as a screen reader, with real daemons and prompts
	@scripts/bootstrap $(SETTINGS_TEST_PACKAGES)
	$(TEST_BUILD)
	$(SETTINGS_DEBUG)
	@$(PYTEST) $(SPREAD) Apps/Settings

settings-screenshots: bootstrap ## write pictures of every state of the settings window to FOLDER outside the checkout
	@scripts/bootstrap $(SETTINGS_TEST_PACKAGES)
	$(TEST_BUILD)
	$(SETTINGS_DEBUG)
	@scripts/pictures settings "$(FOLDER)" '$(ONLY)'

bench-agent: agent build ## measure the time from a call to its visible prompt
	$(STATIC_BUILD) --product latchkey-test-client
	@scripts/bench-agent $(RELEASE) $(RELEASE)

sdk: bootstrap ## write the SDK to DIR, for `swift test --toolset DIR/toolset.json` in a package that does not name Latchkey
	@scripts/build-sdk
	@scripts/install-sdk "$(DIR)"

install: build ## install the programs and the SDK into PREFIX
	@scripts/build-sdk
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install $(RELEASE)

install-agent: agent ## install the graphical prompt into PREFIX; it starts with the session
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install-agent $(RELEASE)

install-settings: settings ## install the settings window into PREFIX, with its entry for the desktop
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install-settings $(RELEASE)

install-login: bootstrap ## install the app that signs in to a relying party into PREFIX, with its entry for the desktop
	@$(BOOTSTRAP) Apps/SignIn/packages.txt
	$(LOGIN_BUILD)
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install-login $(RELEASE)

uninstall: ## remove exactly the files of install, install-agent, install-settings and install-login
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install --remove
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install-settings --remove
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install-login --remove
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install-agent --remove

format: bootstrap ## format the sources with swift format
	@scripts/list-files swift | tr '\n' '\0' | xargs -0 $(SWIFT) format format --in-place

fuzz: bootstrap ## run each fuzzer for SECONDS seconds (default 60)
	@scripts/fuzz $(or $(SECONDS),60)

bench-services: build system-programs agent ## measure calls, prompts and starts of the services of a system (needs root)
	@scripts/bootstrap Tests/System/packages.txt
	@/usr/bin/python3 -B Tests/System/bench_services.py
	@CI=true $(PYTEST) -s Tests/System/bench_prompt.py

attack-services: build system-programs ## let many users attack both services of a system, each time in a machine of its own (needs root)
	@scripts/bootstrap Tests/System/packages.txt
	@LATCHKEY_TESTS=all $(PYTEST) Tests/System/test_attacks.py Tests/System/test_services_changes.py

attacks: bootstrap ## attack the daemon with an independent client of its protocol
	$(TEST_BUILD)
	@$(PYTEST) Tests/Wire

mutants: bootstrap ## remove each rule of the policy and each defence once, and expect a test to fail
	$(TEST_BUILD)
	@scripts/mutate $(if $(ONLY),--only $(ONLY))

bootstrap:
	@$(BOOTSTRAP)
