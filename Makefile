# toolsd: the commands of the house. `make help` lists them.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-builtin-rules --warn-undefined-variables
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# The go command and npm keep their caches below HOME; some machines give none.
ifeq ($(value HOME),)
export HOME := $(CURDIR)/.tools/home
endif

# The version comes from git by VERSION below, in one form on every machine, so
# the go command need not ask git too (and fail where the folder is another
# user's). Builds and test binaries run as many at once as there are cores, which
# is the go command's own default; no -p is set, since each test binary is
# parallel inside as well.
export GOFLAGS ?= -buildvcs=false

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
FUZZTIME ?= 30s

# buf and its plugins are tools of tools.mod, built once and then cached. A buf of
# the same version from elsewhere may stand in: make generate BUF=/usr/bin/buf
export BUF ?= go tool -modfile=tools.mod buf

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-15s %s\n", $$1, $$2 }' Makefile

.PHONY: all
all: build lint test ## Build, lint and test

.PHONY: setup
setup: ## Install every tool and grammar below .tools/
	scripts/setup.sh

.PHONY: generate
generate: ## Generate gen/ from proto/
	scripts/generate.sh

.PHONY: build
build: ## Build bin/toolsd
	go build -ldflags "-X main.version=$(VERSION)" -o bin/toolsd ./cmd/toolsd

.PHONY: test
test: ## Run all tests with the race detector
	scripts/setup.sh system grammars grpcurl peers
	go test -race -timeout 20m ./...

.PHONY: lint
lint: lint-scripts lint-proto lint-generated breaking lint-go ## Run every check that is not a test

.PHONY: lint-go
lint-go: ## Check Go: gofmt, vet, the linters, go.mod
	scripts/setup.sh system golangci-lint
	@unformatted=$$(go list -f '{{.Dir}}' ./... | xargs gofmt -l); \
	  [[ -z $$unformatted ]] || { printf 'not formatted with gofmt:\n%s\n' "$$unformatted" >&2; exit 1; }
	go vet ./...
	.tools/bin/golangci-lint run
	go mod tidy -diff

.PHONY: lint-scripts
lint-scripts: ## Check the shell scripts
	scripts/setup.sh shellcheck
	shellcheck scripts/*.sh .ci/run

.PHONY: lint-proto
lint-proto: ## Check the protos' style, comments and format
	$(BUF) lint
	$(BUF) format --diff --exit-code

.PHONY: lint-generated
lint-generated: ## Check that gen/ is what proto/ generates
	scripts/generate.sh --check

.PHONY: breaking
breaking: ## Check that proto/ breaks no caller of the baseline
	scripts/breaking.sh

.PHONY: baseline
baseline: ## Take proto/ as the baseline that must not be broken
	scripts/breaking.sh --update

.PHONY: fuzz
fuzz: ## Run every fuzz test for FUZZTIME
	scripts/setup.sh system grammars
	scripts/fuzz.sh $(FUZZTIME)

.PHONY: bench
bench: ## Run the benchmarks
	scripts/setup.sh system grammars
	go test -run '^$$' -bench . -benchmem ./...

.PHONY: demo
demo: ## Start the daemon, show a search and an edit, stop it
	scripts/setup.sh system grammars grpcurl
	$(MAKE) build
	scripts/demo.sh

.PHONY: release
release: ## Make the release archive in dist/
	scripts/setup.sh system grammars
	scripts/release.sh $(VERSION)

.PHONY: clean
clean: ## Remove what build and release made; .tools/ stays
	rm -rf bin dist
