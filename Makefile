# SPDX-License-Identifier: Apache-2.0
# Every goal sets up what it needs and runs without a terminal. `make help` lists them.

SHELL := /bin/bash
SWIFT ?= swift

# The folders that install and uninstall use, under the usual names; desktop/install tells their
# defaults. PREFIX is another name of prefix.
FOLDERS := prefix PREFIX bindir libexecdir datadir mandir sysconfdir systemduserunitdir zshcompletiondir DESTDIR

# Values are passed on as they were written: make would expand a `$` in a URL or a path.
$(foreach folder,$(FOLDERS),$(eval override $(folder) := $$(value $(folder))))
override URL := $(value URL)
override FILTER := $(value FILTER)
override ONLY := $(value ONLY)
override KILLS := $(value KILLS)
override SEED := $(value SEED)
override SEEDS := $(value SEEDS)
override DAYS := $(value DAYS)
override TARGET := $(value TARGET)
override KIND := $(value KIND)
override BROWSERS := $(value BROWSERS)
override WINDOW := $(value WINDOW)
export $(FOLDERS) URL FILTER ONLY KILLS SEED SEEDS DAYS TARGET KIND BROWSERS WINDOW

# Whether the manifest has the window: SwiftPM keeps what it read of a manifest until its
# environment changes.
export IDOWN_WINDOW := $(shell pkg-config --exists libadwaita-1 2>/dev/null && echo 1 || echo 0)

# A target may import only what the manifest says that it depends on.
STRICT := --explicit-target-dependency-import-check error
# SwiftPM keeps quiet about warnings in packages that it fetched, and tells those of a folder: an
# archive's vendor is not ours to mend.
STRICT += $(if $(wildcard vendor),-Xswiftc -suppress-warnings -Xcc -w)
# Small programs: idownd takes 35 MB on disk in place of 74, and idown 17 in place of 18. (34 MB of
# that is ICU's data, which Sources/CICUData leaves out.)
# - With a section for each function, the linker leaves out what nobody calls. -Osize would save
#   another 5 %, but a thousand small downloads would take a tenth longer.
# - lld lays out idownd so that 4 MB less of it are resident, and packs the relocations, which saves
#   2 MB and takes glibc 2.36.
# - No library or plug-in is linked against the programs, so they need not export their names.
# What is left is Swift's runtime and Foundation. One program for both names would save another
# 13 MB. It is not done, because each call of idown would then load libcurl with its 30 libraries:
# 10 ms in place of 6, and 8 MB more memory. The unwind tables (7 MB) stay, since debuggers and crash
# reports need them. Identical functions are not merged (1.6 MB), since C code compares some by
# address.
SMALL := -Xswiftc -O -Xswiftc -Xfrontend -Xswiftc -function-sections -Xswiftc -use-ld=lld \
    -Xlinker -z -Xlinker pack-relative-relocs -Xlinker --no-export-dynamic
# The installed programs carry the Swift runtime. Their products are named, since the test
# fixtures import Testing, which has no static library.
RELEASE := $(SWIFT) build -c release --static-swift-stdlib $(STRICT) $(SMALL)

# libFuzzer comes with the toolchain: the compiler counts the branches that are taken, and the
# library chooses the inputs. Its own main stays out, since the tests have one.
LIBFUZZER = $(firstword $(wildcard $(dir $(shell readlink -f "$$(command -v $(SWIFT))"))../lib/clang/*/lib/linux/libclang_rt.fuzzer_no_main-$(shell uname -m).a))
FUZZ = $(SWIFT) build -c release --scratch-path .build/fuzz $(STRICT) -Xswiftc -enable-testing \
    -Xswiftc -Xfrontend -Xswiftc -sanitize=fuzzer -Xlinker $(LIBFUZZER) -Xlinker -lstdc++ \
    -Xlinker -u -Xlinker LLVMFuzzerRunDriver -Xlinker --export-dynamic

.DEFAULT_GOAL := build
.PHONY: build run window test test-browsers test-window examples docs chaos versions simulate sanitize fuzz bench lint check install uninstall dist deb rpm extension packages clean help

build: ## Build the release programs into .build/release; the window where libadwaita is
	@.ci/need build $(if $(filter 1,$(IDOWN_WINDOW)),window)
	$(RELEASE) --product idownd
	$(RELEASE) --product idown
	$(if $(filter 1,$(IDOWN_WINDOW)),$(RELEASE) --product idown-window)
	@desktop/manual .build/release .build/release/documents

run: ## Start the service and get URL=…; without URL, a generated file from loopback
	@.ci/need build run
	$(SWIFT) build $(STRICT) --product idownd
	$(SWIFT) build $(STRICT) --product idown
	@.ci/demo .build/debug "$$URL"

# What `.ci/need` has just installed was not there when this file was read.
window test test-window deb packages: export IDOWN_WINDOW = 1

window: ## Build the window and show it
	@.ci/need build window
	$(SWIFT) build $(STRICT) --product idownd
	$(SWIFT) build $(STRICT) --product idown-window
	.build/debug/idown-window

test: ## Build and run all tests, or those that match FILTER=…
	@.ci/need build test
	$(SWIFT) build $(STRICT) --build-tests
	@SWIFT="$(SWIFT)" .ci/test "$$FILTER"

test-browsers: ## Try the extension in Chromium and Firefox, with KILLS=6 of host, service and browser in each, or part of it: ONLY=tests.FirefoxTests
	@.ci/need build browsers
	$(SWIFT) build $(STRICT) --product idownd
	$(SWIFT) build $(STRICT) --product idown
	@Tests/Browsers/run "$$($(SWIFT) build --show-bin-path)" $(ONLY)

test-window: ## Use the window as people do, on an X server and on a Wayland compositor, or part of it: ONLY=tests.keys
	@.ci/need build window test-window
	$(SWIFT) build $(STRICT) --product idownd
	$(SWIFT) build $(STRICT) --product idown
	$(SWIFT) build $(STRICT) --product idown-window
	@Tests/Window/run "$$($(SWIFT) build --show-bin-path)" $(ONLY)

examples: ## Build the two examples of the library DBus as a package of their own, and run them
	@.ci/need build examples
	@SWIFT="$(SWIFT)" Tests/DBusExamples/run

docs: ## Make the documentation of the library DBus in .build/documentation; a warning is an error
	@.ci/need build
	IDOWN_DOCUMENTATION=1 $(SWIFT) package --scratch-path .build/docs \
	    --allow-writing-to-directory .build/documentation generate-documentation --target DBus \
	    --warnings-as-errors --output-path .build/documentation

chaos: ## Kill the service KILLS=300 times in mid-transfer and look whether it keeps its promises; SEED=…
	@.ci/need build chaos
	$(RELEASE) --product idownd
	Tests/Chaos/run

versions: build ## Take over what an older version left, and mix its programs with these: OLD=folder of them
	@.ci/need build chaos
	@test -x "$(OLD)/idownd" -a -x "$(OLD)/idown" || { echo "OLD=folder with an older idownd and idown" >&2; exit 64; }
	Tests/Chaos/upgrade "$(OLD)/idownd"
	Tests/Chaos/versions "$(OLD)"

simulate: ## Run SEEDS=150 simulated worlds around the service, from SEED=1 on, SEED=… alone runs one; and DAYS=10 of use
	@.ci/need build test
	$(SWIFT) build $(STRICT) --build-tests
	@SWIFT="$(SWIFT)" .ci/test SimulationTests

sanitize: ## Run the tests of one process below the thread and the address sanitizer: KIND=thread
	@.ci/need build test
	@SWIFT="$(SWIFT)" .ci/sanitize "$$KIND"

fuzz: ## Let libFuzzer change what comes from outside, SECONDS=60 for each of Tests/Fuzz: TARGET=link
	@.ci/need build test
	@test -n "$(LIBFUZZER)" || { echo "This toolchain has no libFuzzer." >&2; exit 1; }
	$(FUZZ) --build-tests
	@SWIFT="$(SWIFT)" .ci/fuzz "$(or $(SECONDS),60)" "$$TARGET"

bench: build ## Measure against curl, aria2, wget2 and axel, or part of it: ONLY=small,tls
	@.ci/need bench
	Tests/Benchmarks/run $(if $(ONLY),--only "$$ONLY")
	$(if $(ONLY),,Tests/Benchmarks/bus)

lint: ## Check the format and who imports what
	$(SWIFT) format lint --strict --parallel --recursive Package.swift Sources Tests
	.ci/imports

check: ## Check the documented interface and the desktop's files
	@.ci/need build check
	.ci/check-files

install: ## Install below prefix=… (default ~/.local), staged in DESTDIR=…; for browsers BROWSERS=yes; see desktop/install
	@$(if $(SUDO_USER),test -x .build/release/idown -a -x .build/release/idownd ||) $(MAKE) build
	@desktop/install put .build/release

uninstall: ## Remove what install put there, and end the service; with the same folders
	@desktop/install remove

dist: ## Pack the sources with those of all dependencies: .build/idown-….tar.xz, which builds offline
	@.ci/need dist
	@SWIFT="$(SWIFT)" desktop/dist

deb: build ## Make the Debian packages idown, idown-browser and idown-window, and have lintian look at them
	@.ci/need deb
	@DEBS=$$(desktop/package .build/release) && lintian --fail-on error,warning $$DEBS && echo "$$DEBS"

rpm: build ## Make an RPM package of the release programs
	@.ci/need rpm
	@desktop/rpm .build/release

extension: ## Pack the browsers' extension for the stores: .build/idown-browser-….zip
	@.ci/need build
	@mkdir -p .build
	@desktop/extension .build

packages: ## Build the packages from the archive, offline, and try them in a clean system; with root or sudo
	@.ci/need build window dist deb rpm packages
	@ARCHIVE=$$(SWIFT="$(SWIFT)" desktop/dist) && .ci/packages "$$ARCHIVE"

clean: ## Remove everything that was built
	rm -rf .build

help: ## List the goals
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/\1\t\2/p' Makefile | expand -t 12
