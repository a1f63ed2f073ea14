# The commands a person runs here. `make` alone explains them. What CI runs is `.ci/run`, which ends in `make test`.
#
# Needed: Go and a C++ toolchain (DuckDB is linked through cgo). Docker, MinIO, Postgres and strace are used where they
# are and reported as unavailable where they are not; with CI=true a missing one is a failure.

SHELL := /bin/bash
GO ?= go
OUT := build
BIN := $(OUT)/bin
COUNT := $(BIN)/count
# Two packages at a time: each DuckDB test binary links for seconds and weighs 100 MB.
P ?= 2

# The implementation under test, as this conform.toml describes it.
SUT ?= conform.toml
# More arguments for the kit: make conform CONFORM_ARGS="--clause 'store.pull.*'"
CONFORM_ARGS ?=
# Where the services come from: auto, docker, local or none. `make conform` needs none; `make test` takes what there is.
SERVICES ?=
# Bounds go test's patience with one package.
TIMEOUT ?= 15m
# On CI every test runs; elsewhere Go's cache of passed tests is right.
TESTFLAGS ?= $(if $(filter true,$(CI)),-count=1)

# Folders with concurrent code and without DuckDB, whose race binaries take long to link.
RACE_DIRS := fakes/s3cas fakes/d1 fakes/pgproxy harness/proxy harness/services harness/stopper harness/sut harness/world \
	ref/bucket ref/catalog ref/vfs ref/store ref/lease ref/land ref/merge ref/pipeline ref/push ref/pull ref/probe scripts/count
RACE_PACKAGES = $(patsubst %,./%/...,$(wildcard $(RACE_DIRS)))
GO_FOLDERS = $(wildcard cmd fakes features harness ref scripts spec)

# The binaries by their plain names, the MinIO that .ci/images compiles among them.
export PATH := $(CURDIR)/$(BIN):$(CURDIR)/$(OUT)/images/bin:$(PATH)

kit_run = contextful-conform run --out $(OUT)/conform --services $(1) $(addprefix --sut ,$(wildcard $(SUT))) \
	$(if $(filter none,$(1)),--require-services=false,$(if $(filter true,$(CI)),--require-services)) $(CONFORM_ARGS)
kit_mutants = contextful-conform mutants --out $(OUT)/mutants.json
# Not spelled out in the recipe of test: make would run that recipe even under -n.
self = $(MAKE) --no-print-directory
go_unit = $(GO) test -p $(P) -timeout $(TIMEOUT) $(TESTFLAGS)
go_race = $(GO) test -race -p $(P) -timeout $(TIMEOUT) $(TESTFLAGS)

.DEFAULT_GOAL := help
.PHONY: help build vet lint unit race conform mutants test bench images clean

help: ## this list
	@awk 'BEGIN { FS = ":.*## " } /^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

# What did not compile leaves no older binary to be judged by mistake.
build: ## compile contextful and contextful-conform into build/bin
	@mkdir -p $(BIN)
	$(GO) build -buildvcs=false -p $(P) -o $(BIN)/ ./cmd/contextful ./cmd/contextful-conform || { rm -f $(BIN)/contextful*; exit 1; }

vet: ## go vet on everything
	$(GO) vet -p $(P) ./...

lint: ## formatting, shell syntax, forbidden words, and the kit's lint of the law and its questions
	@bad=$$(gofmt -l $(GO_FOLDERS) $(wildcard *.go)); if [ -n "$$bad" ]; then echo "gofmt wants these:"; echo "$$bad"; exit 1; fi
	@for f in .ci/run .ci/images; do bash -n $$f || exit 1; done
	@if grep -rnE --include='*.go' '\bt\.Skip(f|Now)?\(|//.*\b(TODO|FIXME)\b' $(GO_FOLDERS); then echo "no skipped test and no note to self: see CONTRIBUTING.md"; exit 1; fi
	@if grep -rnE --include='*_test.go' '\btime\.Sleep\(' $(GO_FOLDERS); then echo "a test waits for an event, never for a time"; exit 1; fi
	$(GO) run -buildvcs=false -p $(P) ./cmd/contextful-conform lint

unit: ## go test on everything
	$(go_unit) ./...

race: ## go test -race on the packages with concurrent code
	$(go_race) $(RACE_PACKAGES)

conform: build ## the kit against the reference on the embedded fake bucket; report in build/conform
	$(call kit_run,$(or $(SERVICES),none))

mutants: build ## break every clause on purpose; the kit must notice; result in build/mutants.json
	$(kit_mutants)

# Every step runs, whatever the others said; the sum at the end decides. Each is recorded in build/test.
test: ## build, vet, lint, unit, race, conform and mutants, counted; services as far as there are any
	@mkdir -p $(BIN) && rm -rf $(OUT)/test && $(GO) build -buildvcs=false -o $(COUNT) ./scripts/count
	@trap 'exit 130' INT TERM; s="$(COUNT) step --dir $(OUT)/test --name"; t="$(COUNT) tests --dir $(OUT)/test --name"; \
	$$s build -- $(self) build; \
	$$s vet -- $(self) vet; \
	$$s lint -- $(self) lint; \
	$$t unit -- $(go_unit) -json ./...; \
	$$t race -- $(go_race) -json $(RACE_PACKAGES); \
	$$s conform --report $(OUT)/conform/report.json -- $(call kit_run,$(or $(SERVICES),auto)); \
	$$s mutants --mutants $(OUT)/mutants.json -- $(kit_mutants); \
	$(COUNT) sum --dir $(OUT)/test

bench: build ## ratios against other programs on this machine, in one run
	$(GO) run -buildvcs=false -p $(P) ./scripts/bench

images: ## build the Postgres and MinIO images locally, without a registry
	.ci/images

clean: ## remove build/ (the compiled MinIO too)
	rm -rf $(OUT)
