# Every target works from a clean checkout on a machine that has Go.

CACHE      := $(CURDIR)/.cache
BIN        := bin/gtagsmcp
# The tests get their toolchain from the program's own setup, once for all
# packages, into a folder of this checkout.
TOOLS_JSON := $(CACHE)/toolchain.json
TEST_ENV   := GTAGS_MCP_TEST_TOOLCHAIN=$(TOOLS_JSON) GTAGS_MCP_HOME=$(CACHE)/home
FUZZTIME   ?= 20s
BENCH_TREE ?= $(CACHE)/linux-6.1

export CGO_ENABLED = 0

.PHONY: help build test check lint fuzz bench demo conformance toolchain clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build the static binary, bin/gtagsmcp
	go build -trimpath -o $(BIN) ./cmd/gtagsmcp

toolchain: build
	@mkdir -p $(CACHE)
	@GTAGS_MCP_HOME=$(CACHE)/home $(BIN) setup --json > $(TOOLS_JSON).new && mv $(TOOLS_JSON).new $(TOOLS_JSON)

test: toolchain ## run all tests
	$(TEST_ENV) go test ./...

check: lint test ## what CI runs: lint, then all tests with the race detector
	$(TEST_ENV) CGO_ENABLED=1 go test -race ./...

lint: ## gofmt, vet, staticcheck
	@test -z "$$(gofmt -l .)" || { echo "not gofmt-clean:"; gofmt -l .; exit 1; }
	go vet ./...
	go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...

fuzz: toolchain ## run every fuzz target for FUZZTIME (20s)
	@go list -f '{{.Dir}}' ./... | while read -r dir; do \
	  for target in $$(grep -hos '^func Fuzz[A-Za-z0-9_]*' $$dir/*_test.go | cut -c6-); do \
	    echo "== $${dir#$(CURDIR)/} $$target"; \
	    (cd $$dir && $(TEST_ENV) go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x .) || exit 1; \
	  done; \
	done

bench: toolchain ## compare with global in the same run, on Linux 6.1 (or BENCH_TREE)
	.ci/linux-tree $(BENCH_TREE)
	$(TEST_ENV) GTAGS_MCP_BENCH_TREE=$(BENCH_TREE) go test -run '^$$' -bench . -benchmem -timeout 30m ./nav/... ./server/...

demo: build ## install a toolchain into an empty home, serve, ask, print the answers
	go run ./cmd/demo -server $(BIN) $(if $(DEMO_TREE),-tree "$(DEMO_TREE)")

conformance: build ## a stock MCP client lists the tools and calls them
	.ci/conformance

clean: ## remove what the targets made
	rm -rf bin $(CACHE)
