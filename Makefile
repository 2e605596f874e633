# SPDX-License-Identifier: Apache-2.0
#
# `make` alone lists the commands. Every command first runs scripts/bootstrap, which installs missing packages and is
# silent when none is missing. What a part or a suite is, its script says: scripts/build, test, bench, install.

PREFIX ?= $(HOME)/.local
DESTDIR ?=
DIR = $(PREFIX)/lib/latchkey/sdk
SWIFT ?= swift
PYTEST = /usr/bin/python3 -m pytest
BOOTSTRAP = scripts/bootstrap
PART ?=
SUITE ?= root
ONLY ?=
export BOOTSTRAP DESTDIR PREFIX
# The manifests treat warnings as errors when this is set, which only this checkout does.
export LATCHKEY_STRICT = 1

.DEFAULT_GOAL = help
.NOTPARALLEL:

ifneq ($(LATCHKEY_BUILD),)
# This checkout cannot be written, and is built in a copy.
GOALS = $(or $(MAKECMDGOALS),help)
.PHONY: $(GOALS)
$(GOALS):
	@scripts/copy "$(LATCHKEY_BUILD)" $(MAKE) --no-print-directory LATCHKEY_BUILD= $@
else
.PHONY: help demo test test-all check build app pictures bench docs sdk install uninstall deb release format fuzz mutants bootstrap

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-20s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo '  PREFIX=$(PREFIX)'
	@echo '  LATCHKEY_BUILD=FOLDER builds in a copy there, for a checkout that cannot be written'

demo: bootstrap ## show how a secret is stored, refused and released; PART=server|window|requests shows signing in to a server
	@scripts/demo $(PART)

test: bootstrap ## build and run the tests; SUITE=apps|server|browser|sdk|system|attacks|deb|address|thread runs others, ONLY=NAME a part
	@scripts/test $(SUITE) '$(ONLY)'

test-all: check ## everything: every suite, the long tests, the address sanitizer, a short run of each fuzzer, mutants
	@LATCHKEY_TESTS=all scripts/test root
	@scripts/test address
	@scripts/fuzz 10
	@LATCHKEY_TESTS=all $(PYTEST) Tests/Mutants
	@LATCHKEY_TESTS=all scripts/test sdk
	@set -e; for suite in apps server browser system attacks deb; do scripts/test $$suite; done
	@LATCHKEY_DEBIAN=bookworm scripts/test system
	@set -e; for suite in root sdk; do scripts/debian trixie make test SUITE=$$suite; done
	@LATCHKEY_TESTS=all $(PYTEST) Tests/Debian/test_release.py

check: bootstrap ## check formatting, warnings as errors, imports between modules, documentation and hygiene
	@scripts/bootstrap RelyingParty/packages.txt
	@scripts/check

build: bootstrap ## build the shipped programs; PART='services agent settings notes login server' builds others
	@scripts/build $(or $(PART),programs)

app: bootstrap ## run a program with a window, on a simulated machine if you have no sensor: PART=notes|login|settings
	@scripts/app $(PART)

pictures: bootstrap ## write a picture of every state of a window to FOLDER: PART=agent|notes|settings|login|browser
	@scripts/app pictures '$(PART)' '$(FOLDER)' '$(ONLY)'

bench: bootstrap ## measure calls beside the lower bounds of this machine and gnome-keyring; PART=... measures another part
	@scripts/bench $(or $(PART),keychain)

docs: bootstrap ## build the documentation of every public module into .build/docs
	@scripts/build-docs

sdk: bootstrap ## write the SDK to DIR, for `swift test --toolset DIR/toolset.json` in a package that does not name Latchkey
	@scripts/build-sdk
	@scripts/install-sdk "$(DIR)"

install: bootstrap ## install the programs and the SDK into PREFIX; PART=agent|settings|notes|login installs a program with a window
ifdef PART
	@scripts/build $(PART)
	@scripts/install $(PART) .build/static/release
else
	@scripts/build programs services
	@scripts/build-sdk
	@scripts/install latchkey .build/static/release
endif

uninstall: ## remove exactly the files of install, of every part
	@set -e; for part in latchkey agent settings notes login; do scripts/install $$part --remove; done

deb: bootstrap ## build the Debian packages into .build/deb and check them with lintian
	@scripts/bootstrap packaging/packages.txt Apps/packages.txt RelyingParty/packages.txt
	@scripts/build-deb
	@$(PYTEST) Tests/Debian/test_contents.py

release: bootstrap ## make a release of the tag of this commit in FOLDER, signed with KEY of gpg: sources, packages, SDK, checksums
	@scripts/release '$(KEY)' '$(FOLDER)'

format: bootstrap ## format the sources with swift format
	@$(SWIFT) format format --in-place --parallel --recursive .

fuzz: bootstrap ## run each fuzzer for SECONDS seconds (default 60)
	@scripts/fuzz $(or $(SECONDS),60)

mutants: bootstrap ## remove each rule of the policy and each defence once, and expect a test to fail
	@$(SWIFT) build --build-tests --explicit-target-dependency-import-check error
	@LATCHKEY_TESTS=all $(PYTEST) Tests/Mutants $(if $(ONLY),-k '[$(ONLY)]')

bootstrap:
	@$(BOOTSTRAP)
endif
