package config

import (
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/auth/mail"
)

func testKey(t *testing.T) string {
	t.Helper()
	key, err := auth.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	return string(key)
}

func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestConfigDefaults(t *testing.T) {
	t.Parallel()
	key := testKey(t)
	production := []string{"DATABASE_URL=postgres://db/app", "BASE_URL=https://api.example.com", "STERNPOST_AUTH_SIGNING_KEY=" + key}
	development := []string{"STERNPOST_MODE=development"}
	base := Config{
		Port: 8080, AdminHost: "127.0.0.1", AdminPort: 9090, PoolSize: max(4, 4*runtime.GOMAXPROCS(0)),
		ReadLag: 5 * time.Second, PoolWait: 2 * time.Second, StatementTimeout: 10 * time.Second, LockTimeout: 5 * time.Second, PreparedStatements: PreparedAuto, OpenAPI: OpenAPIPublic,
		ShutdownGrace: 20 * time.Second, BodyLimit: 6291456, PageLimit: 8388608, RowsLimit: 10000, Pagination: Pagination{DefaultSize: 50, MaxSize: 1000}, VerificationKeys: []string{}, PreviousEncryptionKeys: []string{}, AccessTokenExpiry: time.Hour,
		RefreshTokenExpiry: 90 * 24 * time.Hour, RefreshTokenRotation: true, RefreshTokenGrace: time.Minute,
		PasswordEnabled: true, PasswordSignup: true, PasswordMinLength: 8,
		Throttle:     auth.ThrottleOptions{PerAccountAndAddress: 10, PerAccount: 200, PerAddress: 100, TriesPerAccountAndAddress: 100, Window: 15 * time.Minute},
		RedirectURIs: []string{}, TrustedProxies: []netip.Prefix{}, PKCE: auth.PKCEOptional,
		MCP:          MCP{APIs: []string{}, Writes: []string{}},
		Passkeys:     auth.PasskeyOptions{Origins: []string{}},
		Jobs:         Jobs{Timeout: 5 * time.Minute},
		Changes:      Changes{Keep: 72 * time.Hour},
		Live:         Live{Interval: 50 * time.Millisecond, Share: 0.25, MaxStreams: 20000, MaxPerCaller: 20},
		Storage:      Storage{Directory: ".sternpost/files", Reserve: 1 << 30, Check: true, DeleteDelay: time.Hour},
		Name:         "config", // of the folder that this test runs in
		Verification: auth.VerificationOff, Mail: mail.Options{TLS: mail.StartTLS, Port: 587}, MailFolder: "mail", MailsPerAddress: 50,
		Uploads: Uploads{URLExpiry: 15 * time.Minute, KeyExpiry: time.Hour, MaxOutstanding: 100, MaxOutstandingAnonymous: 20},
	}
	p := base
	p.Storage.Type = "s3"
	p.Mode, p.BaseURL, p.Host, p.DatabaseURL, p.SigningKey, p.CORSOrigins, p.Environ =
		Production, "https://api.example.com", "0.0.0.0", "postgres://db/app", key, []string{}, production
	d := base
	d.Storage.Type = "local"
	d.Docs = true
	d.Mode, d.BaseURL, d.Host, d.CORSOrigins, d.Environ =
		Development, "http://localhost:8080", "127.0.0.1", []string{"*"}, development
	for _, want := range []Config{p, d} {
		got, err := Load(Source{Env: want.Environ})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n got %+v, %v\nwant %+v", want.Mode, got, err, want)
		}
	}
}

func TestConfigSources(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "sternpost.yaml", `# the settings
mode: development
port: 3000
database:
  url: postgres://from-file/app
  poolSize: 7
  statementTimeout: 0.5
cors:
  origins: [https://a.example, "http://localhost:3000"]
admin: {port: 0}
server:
  shutdownGrace: 5
openapi: off
hideRefusedRows: [not, looked, at]
useDefaultApi: false
auth:
  claims:
    - {key: department, field: department}
  password:
    minLength: 8
  tokens: {accessTokenExpiry: 3600}
  signingKey: |
    -----BEGIN PRIVATE KEY-----
    MC4CAQAwBQYDK2VwBCIEIH3lXnBYdTDXqAMbrIp2XILcw6PtGbypOMgRHP2/P7V5
    -----END PRIVATE KEY-----
environment:
  - name: REGION
secrets:
pagination:
  totalCount: onRequest
`)
	secret := writeFile(t, "url", "postgres://from-secret/app\n")
	tests := []struct {
		name string
		env  string
		get  func(Config) any
		want any
	}{
		{"file", "", func(c Config) any { return c.DatabaseURL }, "postgres://from-file/app"},
		{"port of the base URL", "", func(c Config) any { return c.BaseURL }, "http://localhost:3000"},
		{"short name", "DATABASE_URL=postgres://from-env/app", func(c Config) any { return c.DatabaseURL }, "postgres://from-env/app"},
		{"long name", "STERNPOST_DATABASE_URL=postgres://from-env/app", func(c Config) any { return c.DatabaseURL }, "postgres://from-env/app"},
		{"both names", "DATABASE_URL=postgres://short/app STERNPOST_DATABASE_URL=postgres://long/app", func(c Config) any { return c.DatabaseURL }, "postgres://long/app"},
		{"a file by its short name", "DATABASE_URL_FILE=" + secret, func(c Config) any { return c.DatabaseURL }, "postgres://from-secret/app"},
		{"a file by its long name", "STERNPOST_DATABASE_URL_FILE=" + secret, func(c Config) any { return c.DatabaseURL }, "postgres://from-secret/app"},
		{"an empty variable", "PORT=", func(c Config) any { return c.Port }, 3000},
		{"port", "PORT=3001", func(c Config) any { return c.Port }, 3001},
		{"host", "HOST=::1", func(c Config) any { return c.Address() }, "[::1]:3000"},
		{"admin off", "", func(c Config) any { return c.AdminPort }, 0},
		{"a fraction", "", func(c Config) any { return c.StatementTimeout }, 500 * time.Millisecond},
		{"camel case", "STERNPOST_DATABASE_POOL_SIZE=9", func(c Config) any { return c.PoolSize }, 9},
		{"list", "", func(c Config) any { return c.CORSOrigins }, []string{"https://a.example", "http://localhost:3000"}},
		{"list in the environment", "STERNPOST_CORS_ORIGINS=https://b.example,https://c.example", func(c Config) any { return c.CORSOrigins }, []string{"https://b.example", "https://c.example"}},
		{"empty list", "STERNPOST_CORS_ORIGINS=", func(c Config) any { return c.CORSOrigins }, []string{}},
		{"block of text", "", func(c Config) any { return strings.Contains(c.SigningKey, "PRIVATE KEY-----\nMC4CAQAw") }, true},
		{"tests of ours", "STERNPOST_TEST_DATABASE_URL=x", func(c Config) any { return c.Port }, 3000},
	}
	for _, test := range tests {
		c, err := Load(Source{File: file, Env: strings.Fields(test.env)})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		} else if got := test.get(c); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

func TestConfigProblems(t *testing.T) {
	t.Parallel()
	const ok = "DATABASE_URL=x BASE_URL=https://x STERNPOST_MODE=development"
	tests := []struct {
		file, env string
		want      string // of the error; each line of it
	}{
		{"", "", "baseUrl is required: set it in sternpost.yaml, or BASE_URL in the environment\ndatabase.url is required: set it in sternpost.yaml, or DATABASE_URL in the environment\nauth.signingKey is required"},
		{"", "BASE_URL=http://x DATABASE_URL=x", "baseUrl must begin with https:// in production; to try the server on this machine, set STERNPOST_MODE=development"},
		{"mode: test", "", `sternpost.yaml:1: mode: "test" is not one of production, development`},
		{"name: ' '", ok, "sternpost.yaml:1: name: \" \" is empty"},
		{"name: \"a\\nb\"", ok, "name: \"a\\nb\" must be one line, without control characters"},
		{"name: " + strings.Repeat("é", 101), ok, "has more than 100 characters"},
		{"\nprot: 1\n", ok, "sternpost.yaml:2: prot: unknown setting"},
		{"Port: 1", ok, "sternpost.yaml:1: Port: unknown setting"},
		{"database:\n  size: 1\n", ok, "sternpost.yaml:2: database.size: unknown setting"},
		{"database: x", ok, "sternpost.yaml:1: database: write settings here, each as name: value"},
		{"port: [1]", ok, "sternpost.yaml:1: port: this setting takes one value, not a list"},
		{"port:\n  a: 1", ok, "port: this setting takes a value, not further settings"},
		{"port:", ok, "sternpost.yaml:1: port: the value is missing: write one, or remove the setting"},
		{"port: 1\nport: 2", ok, `sternpost.yaml:2: mapping key "port" already defined`},
		{"port: 1\n---\nport: 2", ok, "sternpost.yaml:3: a second YAML document begins here: put all settings into one"},
		{"port: &p 80\nadmin: {port: *p}", ok, "port: write a plain value: anchors, aliases and tags of YAML are not supported"},
		{"port: 1\n  host: x", ok, "sternpost.yaml"},
		{"- port", ok, "sternpost.yaml:1: write settings here, each as name: value"},
		{"port: http", ok, `sternpost.yaml:1: port: "http" is not a whole number`},
		{"port: 0x50", ok, `"0x50" is not a whole number`},
		{"port: 70000", ok, `"70000" is not between 1 and 65535`},
		{"cors:\n  origins: [https://a.example/]", ok, `cors.origins: "https://a.example/" is not an origin`},
		{"cors:\n  origins: [null]", ok, `cors.origins: the value is missing: write one, or remove the setting`},
		{"cors:\n  origins: [[a]]", ok, "cors.origins: an entry of this list is a list itself: write single values"},
		{"limits: {body: 6MB}", ok, `limits.body: "6MB" is not a whole number`},
		{"docs: yes please", ok, `docs: "yes please" is neither true nor false`},
		{"database: {statementTimeout: 0}", ok, `is less than 0.001 seconds`},
		{"database: {statementTimeout: 10s}", ok, `is not a number of seconds, such as 10 or 0.5`},
		{"encryption: {key: short}", ok, "encryption.key: the value is not a key of 32 bytes in base64"},
		{"auth: {signingKey: secret-text}", ok, "auth.signingKey: the value is not a signing key: it is not in PEM form; make one with openssl genpkey -algorithm ed25519"},
		{"admin: {port: 8080}", ok, "port and admin.port are both 8080: change one of them"},

		{"openapi: secret", ok, `"secret" is not one of public, authenticated, off`},
		{"server: {trustedProxies: [ten]}", ok, `"ten" is not a network`},
		{"pagination: {maxSize: 40}", ok, "pagination.defaultSize must be at most pagination.maxSize"},
		{"pagination: {totalCount: never}", ok, `"never" is not one of onRequest, always`},
		{"storage: {type: local}", "BASE_URL=https://x", "storage.type is local, which is for development: set s3 or disk in production"},
		{"storage: {type: disk}", "BASE_URL=https://x", "storage.directory is .sternpost/files: in production give an absolute path, such as /var/lib/sternpost/files"},
		{"storage: {type: disk, directory: /files, reserve: -1}", ok, `"-1" is `},
		{"mcp: {apis: [Books], writes: [Books, Portal]}", ok, "mcp.writes names Portal, which mcp.apis does not open"},
		{"auth: {passkeys: {rpId: example.com}}", ok, "auth.passkeys.rpId and auth.passkeys.origins belong together: set both"},
		{"auth: {passkeys: {origins: ['https://example.com']}}", ok, "auth.passkeys.rpId and auth.passkeys.origins belong together: set both"},
		{"auth: {passkeys: {rpId: 'https://example.com', origins: ['https://example.com']}}", ok, `auth.passkeys.rpId: "https://example.com" is not a domain such as example.com`},
		{"auth: {passkeys: {rpId: 127.0.0.1, origins: ['http://localhost']}}", ok, `auth.passkeys.rpId: "127.0.0.1" is not a domain`},
		{"auth: {passkeys: {rpId: example.com, origins: ['http://example.com']}}", ok, `auth.passkeys.origins: "http://example.com" is not an origin such as`},
		{"auth: {passkeys: {rpId: example.com, origins: ['*']}}", ok, `auth.passkeys.origins: "*" is not an origin such as`},
		{"auth: {passkeys: {rpId: example.com, origins: ['https://app.example.com', 'https://badexample.com']}}", ok, "auth.passkeys.origins: https://badexample.com is not in the domain example.com of auth.passkeys.rpId"},
		{"uploads: {urlExpiry: 3600}", ok, "uploads.keyExpiry must be greater than uploads.urlExpiry"},
		{"uploads: {urlExpiry: 604801, keyExpiry: 604802}", ok, "uploads.urlExpiry must be at most 604800"},
		{"auth: {tokens: {refreshTokenExpiry: 31536001}}", ok, "is more than 31536000 seconds"},
		{"storage: {deleteDelay: 60}", ok, "is less than 3600 seconds"},
		{"encryption: {previousKeys: [AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=]}", ok, "encryption.previousKeys is set without encryption.key: set the present key too"},

		{"", ok + " STERNPOST_PORT=x", `STERNPOST_PORT: port: "x" is not a whole number`},
		{"", ok + " PORT=x", `PORT: port: "x" is not a whole number`},
		{"", ok + " STERNPOST_DATABASE_POOLSIZE=1", "STERNPOST_DATABASE_POOLSIZE: unknown setting"},
		{"", ok + " STERNPOST_PORT_FILE=/x", "STERNPOST_PORT_FILE: unknown setting"},
		{"", ok + " DATABASE_URL_FILE=/x", "DATABASE_URL and DATABASE_URL_FILE are both set: remove one of them"},
		{"", "BASE_URL=https://x DATABASE_URL_FILE=/does/not/exist", "DATABASE_URL_FILE: open /does/not/exist"},
		{"", ok + " STERNPOST_AUTH_PROVIDERS=google", "STERNPOST_AUTH_PROVIDERS: auth.providers is a list of objects: set it in sternpost.yaml, not in the environment"},
		{"", "STERNPOST_MODE=development BASE_URL=https://x/", `BASE_URL: baseUrl: "https://x/" ends in a slash: remove it`},
		{"", "STERNPOST_MODE=development BASE_URL=x", "is not an address"},
		{"", "STERNPOST_MODE=development BASE_URL=https://u:p@x", "may only have a scheme, host, port and path"},
		{"", "STERNPOST_MODE=development BASE_URL=https://x?y", "may only have a scheme, host, port and path"},

		{"prot: 1\nport: x\n", ok + " STERNPOST_HOTS=1", "sternpost.yaml:1: prot\nSTERNPOST_HOTS: unknown\nsternpost.yaml:2: port"},
	}
	for _, test := range tests {
		source := Source{Env: strings.Fields(test.env)}
		if test.file != "" {
			source.File = writeFile(t, "sternpost.yaml", test.file)
		}
		_, err := Load(source)
		if err == nil {
			t.Errorf("%q, %s: got no error, want %s", test.file, test.env, test.want)
			continue
		}
		for want := range strings.SplitSeq(test.want, "\n") {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q, %s\n got %v\nwant %s", test.file, test.env, err, want)
			}
		}
		if strings.Contains(err.Error(), "secret-text") || strings.Contains(err.Error(), "AAAAAAAA") {
			t.Errorf("the error shows a secret: %v", err)
		}
	}

	if _, err := Load(Source{File: "/does/not/exist.yaml"}); err == nil || !strings.Contains(err.Error(), "read the configuration") {
		t.Errorf("a file that is not there: got %v", err)
	}
}

// Every setting can be set in the file and in the environment, and every default is
// valid.
func TestSettings(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for i := range settings {
		s := &settings[i]
		if seen[s.variable()] {
			t.Errorf("%s: a second setting has the variable %s", s.key, s.variable())
		}
		seen[s.variable()] = true
		for _, mode := range []Mode{Production, Development} {
			if d := s.defaultText(mode); d != "" {
				if err := s.apply(&Config{}, []string{d}); err != nil {
					t.Errorf("%s: default %s: %v", s.key, d, err)
				}
			}
		}
	}
	if got, want := findSetting("auth.password.minLength").variable(), "STERNPOST_AUTH_PASSWORD_MIN_LENGTH"; got != want {
		t.Errorf("variable: got %s, want %s", got, want)
	}
}

// Every setting has its own place in a Config: its value is stored there, and nothing
// else changes.
func TestSettingsHaveTheirPlaces(t *testing.T) {
	t.Parallel()
	texts := map[string]string{"mode": "development", "openapi": "off", "auth.pkce": "S256", "storage.type": "local", "pagination.totalCount": "always",
		"uploads.inline": "checked", "encryption.key": strings.Repeat("A", 43) + "=", "database.readLag": "7", "encryption.previousKeys": strings.Repeat("A", 43) + "=",
		"server.trustedProxies": "10.0.0.0/8", "auth.signingKey": testKey(t), "auth.verificationKeys": publicKey,
		"database.preparedStatements": "off", "auth.password.verification": "send", "mail.from": "noreply@example.com", "mail.smtp.tls": "implicit"}
	taken := map[string]string{}
	for i := range settings {
		s := &settings[i]
		if s.set == nil {
			continue
		}
		text, isSpecial := texts[s.key]
		for _, candidate := range []string{"https://a.example", "true", "0.5", "77", "7777"} {
			if isSpecial {
				break
			}
			if s.apply(&Config{}, []string{candidate}) == nil {
				text = candidate
			}
		}
		var c Config
		if err := s.apply(&c, []string{text}); err != nil {
			t.Errorf("%s: %q: %v", s.key, text, err)
			continue
		}
		var places []string
		for path, v := range leaves("", reflect.ValueOf(c)) {
			if !v.IsZero() {
				places = append(places, path)
			}
		}
		if len(places) != 1 {
			t.Errorf("%s: %q changes %q, want one field", s.key, text, places)
			continue
		}
		if other, isTaken := taken[places[0]]; isTaken {
			t.Errorf("%s and %s both change %s", other, s.key, places[0])
		}
		taken[places[0]] = s.key
	}
}

const publicKey = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAwiLC3oKgHec8bWlLD8Zr6KT/QYFomuVp6yzq1ga1CRw=\n-----END PUBLIC KEY-----\n"

// leaves lists the fields below a struct by their paths.
func leaves(path string, v reflect.Value) map[string]reflect.Value {
	all := map[string]reflect.Value{}
	for i := range v.NumField() {
		name, field := path+"."+v.Type().Field(i).Name, v.Field(i)
		if field.Kind() != reflect.Struct {
			all[name] = field
			continue
		}
		maps.Copy(all, leaves(name, field))
	}
	return all
}

// Every setting in the files for production exists.
func TestProductionNamesSettings(t *testing.T) {
	t.Parallel()
	variables, keys, rooms := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i := range settings {
		s := &settings[i]
		keys[s.key] = true
		room, _, _ := strings.Cut(s.key, ".")
		rooms[room] = true
		for _, name := range []string{s.variable(), s.shortVariable()} {
			variables[name] = true
			variables[name+"_FILE"] = s.isSecret
		}
	}
	variable := regexp.MustCompile(`\b(?:STERNPOST_[A-Z0-9_]+|(?:DATABASE|BASE)_[A-Z_]+)\b`)
	key := regexp.MustCompile("`([a-z]+)(\\.[a-zA-Z0-9.]+)`")
	for name, least := range map[string]int{"Containerfile": 0, "sternpost.service": 1, "../integration/guide/how-to/production.md": 10} {
		text, err := os.ReadFile("../../cmd/" + name)
		if err != nil {
			t.Fatal(err)
		}
		found := variable.FindAllString(string(text), -1)
		for _, v := range found {
			if !variables[v] {
				t.Errorf("cmd/%s: %s: unknown setting", name, v)
			}
		}
		for _, m := range key.FindAllStringSubmatch(string(text), -1) {
			if rooms[m[1]] && !keys[m[1]+m[2]] {
				t.Errorf("cmd/%s: %s: unknown setting", name, m[1]+m[2])
			}
			found = append(found, m[0])
		}
		if len(found) < least {
			t.Errorf("cmd/%s names %d settings, want at least %d", name, len(found), least)
		}
	}
}

// The unit for systemd waits longer than a server takes to stop.
func TestUnitWaits(t *testing.T) {
	t.Parallel()
	unit, err := os.ReadFile("../../cmd/sternpost.service")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`server\.shutdownGrace, (\d+) seconds[^\n]*\nTimeoutStopSec=(\d+)\n`).FindSubmatch(unit)
	if found == nil {
		t.Fatal("the unit does not say server.shutdownGrace above TimeoutStopSec")
	}
	grace, stop := string(found[1]), string(found[2])
	stopSeconds, _ := strconv.Atoi(stop)
	graceSeconds, _ := strconv.Atoi(grace)
	if want := findSetting("server.shutdownGrace").production; grace != want || stopSeconds <= graceSeconds {
		t.Errorf("the unit takes server.shutdownGrace, %s, for %s, and waits for %s seconds", want, grace, stop)
	}
}

// A project without a name has that of its folder, independent of the working directory.
func TestName(t *testing.T) {
	t.Parallel()
	named := writeFile(t, "sternpost.yaml", "name: Ada & Co\n")
	unnamed := writeFile(t, "sternpost.yaml", "port: 1\n")
	folder := filepath.Base(filepath.Dir(unnamed))
	for _, c := range []struct {
		source Source
		want   string
	}{
		{Source{File: named}, "Ada & Co"},
		{Source{File: named, Env: []string{"STERNPOST_NAME=Shop"}}, "Shop"},
		{Source{File: unnamed}, folder},
		{Source{File: unnamed, Dir: "/srv/shop"}, "shop"},
		{Source{Dir: "/srv/shop/"}, "shop"},
		{Source{Dir: "/"}, ""},
		{Source{}, "config"},
	} {
		c.source.Env = append(c.source.Env, "STERNPOST_MODE=development")
		got, err := Load(c.source)
		if err != nil || got.Name != c.want {
			t.Errorf("%+v: got %q, %v, want %q", c.source, got.Name, err, c.want)
		}
	}
}
