# Every target works from a clean checkout on a machine that has Go.

CACHE      := $(CURDIR)/.cache
BIN        := bin/gtagsmcp
# The tests get their toolchain from the program's own setup, once for all
# packages, into a folder of this checkout.
TOOLS_JSON := $(CACHE)/toolchain.json
TEST_ENV   := GTAGS_MCP_TEST_TOOLCHAIN=$(TOOLS_JSON) GTAGS_MCP_HOME=$(CACHE)/home
FUZZTIME   ?= 20s
ARTIFACTS  ?= build-global/dist
OLD_ROOT   ?= $(CACHE)/bullseye
STOCK      := $(CACHE)/stock/usr/share/global/gtags/script/pygments_parser.py
BENCH_TREE ?= $(CACHE)/linux-6.1
BENCH_ENV  := $(TEST_ENV) GTAGS_MCP_BENCH_TREE=$(BENCH_TREE)

export CGO_ENABLED = 0

.PHONY: help build bundle test test-bundle test-clients test-install test-upgrade docs check race lint workflows fuzz tree bench bench-index faults eval artifacts artifacts-pinned test-toolchain demo conformance toolchain jdk test-java release release-files release-key clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build the static binary, bin/gtagsmcp
	go build -trimpath -o $(BIN) ./cmd/gtagsmcp

toolchain: build
	@mkdir -p $(CACHE)
	@GTAGS_MCP_HOME=$(CACHE)/home $(BIN) setup --json > $(TOOLS_JSON).new && mv $(TOOLS_JSON).new $(TOOLS_JSON)

jdk: # a JDK for the tests, unless there is one
	@.ci/jdk $(CACHE)/jdk > /dev/null

test-java: jdk ## structure and resolve on the sources of java.base, against the compiler and javap
	.ci/java-tree "$$(.ci/jdk $(CACHE)/jdk)" $(CACHE)/java.base
	$(TEST_ENV) GTAGS_MCP_JAVA_TREE=$(CACHE)/java.base go test -tags javatree -run Tree -v -timeout 60m ./nav/semantic/java

test: toolchain jdk ## run all tests
	$(TEST_ENV) go test -timeout 30m ./...

race: toolchain jdk ## run all tests with the race detector
	$(TEST_ENV) CGO_ENABLED=1 go test -race -timeout 60m ./...

check: lint workflows test race ## what CI runs

lint: ## gofmt, vet, staticcheck
	@test -z "$$(gofmt -l .)" || { echo "not gofmt-clean:"; gofmt -l .; exit 1; }
	go vet ./...
	go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...

workflows: ## actionlint, and shellcheck where it is installed
	go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12

fuzz: toolchain jdk ## run every fuzz target for FUZZTIME (20s)
	@go list -f '{{.Dir}}' ./... | while read -r dir; do \
	  for target in $$(grep -hos '^func Fuzz[A-Za-z0-9_]*' $$dir/*_test.go | cut -c6-); do \
	    echo "== $${dir#$(CURDIR)/} $$target"; \
	    (cd $$dir && $(TEST_ENV) go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x .) || exit 1; \
	  done; \
	done

tree: # the source of Linux 6.1, unless BENCH_TREE names another tree
	.ci/linux-tree $(BENCH_TREE)

bench: toolchain tree ## questions, against global in the same run, on Linux 6.1 (or BENCH_TREE)
	$(BENCH_ENV) go test -run '^$$' -bench . -benchmem -timeout 30m ./nav ./nav/gtagsdb ./nav/csource ./server

bench-index: toolchain tree ## building and refreshing the index, against gtags in the same run
	$(BENCH_ENV) go test -run '^$$' -bench . -benchtime 1x -timeout 60m ./nav/index

faults: toolchain ## kills, power cuts, races and full disks; FAULTS_SEED repeats a run
	$(TEST_ENV) go test -tags faults -run Fault -v -timeout 60m ./nav/index

.PHONY: load
load: toolchain tree ## 200 HTTP clients for GTAGS_MCP_LOAD_TIME (5m) on Linux 6.1, then 1,000 dropped sessions
	$(BENCH_ENV) go test -tags load -run 'TestLoad$$' -v -count 1 -timeout 40m ./cmd/gtagsmcp

eval: toolchain tree ## score the answers about Linux 6.1 against the golden questions
	GTAGS_MCP_HOME=$(CACHE)/home $(BIN) eval --golden evals/golden/linux-6.1.toml --root $(BENCH_TREE) --threshold 0.99
	$(BENCH_ENV) go test -tags kernel -run "Attribution|AreDefinitions" -v -timeout 20m ./nav

artifacts: ## the prebuilt toolchain archives, into build-global/dist (minutes; see its doc)
	go run ./cmd/build-global build -jobs 2 $(ARTIFACT_FLAGS)

artifacts-pinned: ## hold the archives of ARTIFACTS against toolchain/lock.json
	go run ./cmd/build-global pinned toolchain/lock.json $(ARTIFACTS)/toolchain-*.tar.gz

# VERSION is the tag of the release; without one this is a trial run.
VERSION  ?= v0.0.0
DIST     ?= dist
BINARIES := $(foreach platform,linux-amd64 linux-arm64 darwin-amd64 darwin-arm64,$(DIST)/gtagsmcp-$(platform))

$(BINARIES): $(DIST)/gtagsmcp-%:
	GOOS=$(firstword $(subst -, ,$*)) GOARCH=$(lastword $(subst -, ,$*)) go build -trimpath -ldflags '-s -w' -o $@ ./cmd/gtagsmcp

bundle: $(BINARIES) ## gtagsmcp.mcpb and server.json of VERSION, into DIST, from the four binaries there (made when missing)
	go run ./cmd/bundle -version $(VERSION) -binaries $(DIST) -out $(DIST) $(if $(IMAGE),-image $(IMAGE))

test-bundle: toolchain bundle ## hold the bundle against the host's own code (npm)
	GTAGS_MCP_HOME=$(CACHE)/home .ci/bundle $(DIST)

RELEASE := -version "$(VERSION)" -dist "$(DIST)" $(if $(PUB),-public "$(PUB)")

release-files: ## the files of a release, but for checksums.txt and its signature (VERSION=v1.2.3)
	go run ./cmd/release build $(RELEASE) -programs $(CACHE)/release
	go run ./cmd/bundle -version "$(VERSION)" -binaries $(CACHE)/release -out "$(DIST)" $(if $(IMAGE),-image $(IMAGE))

release: ## the files of a release, into DIST (VERSION=v1.2.3 KEY=private key; PUB=public key of a trial)
	@test -f "$(KEY)" || { echo 'make release VERSION=v1.2.3 KEY=file-with-the-private-key'; exit 2; }
	$(MAKE) release-files
	go run ./cmd/release sign $(RELEASE) -key "$(KEY)"

release-key: ## a new key for all releases to come (KEY=new private key's file, outside the repository)
	go run ./cmd/release key -key "$(KEY)"

test-clients: build ## connect real coding agents by config --write (npm, 1.3 GB at first)
	GTAGS_MCP_HOME=$(CACHE)/home .ci/clients

test-toolchain: toolchain $(ARTIFACTS)/SHA256SUMS $(OLD_ROOT)/bin/sh $(STOCK) ## the toolchain from an empty home, against a release server on this machine (root; minutes)
	GTAGS_MCP_TEST_ARTIFACTS=$(abspath $(ARTIFACTS)) GTAGS_MCP_TEST_OLD_ROOT=$(abspath $(OLD_ROOT)) \
	  go test -tags artifacts -run '^TestArtifact' -v -count 1 -timeout 60m ./cmd/gtagsmcp
	$(TEST_ENV) GTAGS_MCP_TEST_STOCK=$(abspath $(STOCK)) GTAGS_MCP_TEST_STOCK_PYTHON=/usr/bin/python3 GTAGS_MCP_TEST_PROGRAM=$(abspath $(BIN)) \
	  go test -tags artifacts -run '^TestStock' -v -count 1 ./toolchain/ctagscom

$(ARTIFACTS)/SHA256SUMS:
	go run ./cmd/build-global build -jobs 2 -out $(ARTIFACTS) $(ARTIFACT_FLAGS)

$(OLD_ROOT)/bin/sh: # an older system, with glibc 2.31
	debootstrap --variant=minbase bullseye $(OLD_ROOT)

$(STOCK): # GNU Global's own parser helper; it needs Debian's python3-pygments
	mkdir -p $(CACHE)/stock && cd $(CACHE)/stock && apt-get download -q global && dpkg-deb -x global_*.deb .
	touch $@

.PHONY: test-service test-image lint-image

test-service: ## hold unit file and property list against systemd's and libplist's programs (apt)
	.ci/service

lint-image: ## the Dockerfile's rules (npm)
	npx -y dockerfilelint@1.8.0 bootstrap/Dockerfile

test-image: $(DIST)/gtagsmcp-linux-amd64 lint-image ## build the container image and ask it, read-only and without root (as root; buildah, mmdebstrap)
	.ci/image $(DIST)/gtagsmcp-linux-amd64

demo: build ## install a toolchain into an empty home, serve, ask, print the answers
	go run ./cmd/demo -server $(BIN) $(if $(DEMO_TREE),-tree "$(DEMO_TREE)")

conformance: build ## a stock MCP client lists the tools and calls them
	.ci/conformance

INSTALL_ROOTS := $(CACHE)/install-roots
INSTALL_DIST  := $(CACHE)/install-dist
INSTALL_KEY   := $(CACHE)/install-key

test-upgrade: ## upgrades by real programs: damaged releases, full disks, kills (minutes)
	go test -tags matrix -run Matrix -v -timeout 30m ./bootstrap/upgrade

test-install: ## the installer's matrix, in roots made of Debian's packages (minutes)
	.ci/install-roots $(INSTALL_ROOTS)
	[ -e $(INSTALL_KEY) ] || go run ./cmd/release key -key $(INSTALL_KEY) -public $(INSTALL_KEY).pub
	$(MAKE) release VERSION=v0.0.1 KEY=$(INSTALL_KEY) PUB=$(INSTALL_KEY).pub DIST=$(INSTALL_DIST)
	GTAGS_MCP_INSTALL_ROOTS=$(INSTALL_ROOTS) GTAGS_MCP_INSTALL_DIST=$(INSTALL_DIST) \
	  go test -tags install -run Install -count 1 -timeout 60m -v ./bootstrap

docs: toolchain ## write the part of docs/tools.md that comes from the tools
	$(TEST_ENV) UPDATE_SNAPSHOTS=1 go test -count 1 -run ToolsPage ./server

clean: ## remove what the targets made
	rm -rf bin dist $(CACHE)
