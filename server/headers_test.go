package server

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the zones are those of Go, not those of the machine

	"github.com/sternpost/sternpost/server/config"
)

func TestResponseHeaders(t *testing.T) {
	t.Parallel()
	plain, d := startReady(t, nil)
	secure := start(t, d.ServerURL(), func(c *config.Config) { c.BaseURL = "https://api.example.com" })
	secure.waitReady(t, "")

	want := map[string]string{
		"Content-Type":            "application/json",
		"Cache-Control":           "no-store",
		"X-Content-Type-Options":  "nosniff",
		"Referrer-Policy":         "no-referrer",
		"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
		"Server":                  "",
		"Vary":                    "",
	}
	requests := []struct {
		request string
		status  int
		extra   map[string]string
	}{
		{"GET /api/json/getNote?id=n1 HTTP/1.1\nHost: x\nAccept: text/html\n\n", 200, nil},
		{"GET /healthz HTTP/1.1\nHost: x\n\n", 200, nil},
		{"GET /nowhere HTTP/1.1\nHost: x\n\n", 404, nil},
		{"PUT /api/json/getNote HTTP/1.1\nHost: x\nContent-Length: 0\n\n", 405, map[string]string{"Allow": "GET, POST"}},
		{"GET /api/json/getNote HTTP/1.1\nHost: x\nAuthorization: Bearer bad\n\n", 401, map[string]string{"WWW-Authenticate": `Bearer error="invalid_token"`}},
		{"nonsense\n\n", 400, nil},
		{"GET /" + strings.Repeat("a", 20000) + " HTTP/1.1\nHost: x\n\n", 431, nil},
	}
	for _, test := range requests {
		for _, s := range []*testServer{plain, secure} {
			resp, _ := s.raw(t, test.request)
			if resp.StatusCode != test.status {
				t.Errorf("%.60s: got %d, want %d", test.request, resp.StatusCode, test.status)
			}
			check := func(name, want string) {
				if got := resp.Header.Get(name); got != want {
					t.Errorf("%.60s: %s: got %q, want %q", test.request, name, got, want)
				}
			}
			for name, value := range want {
				check(name, value)
			}
			for _, name := range []string{"Allow", "WWW-Authenticate", "Retry-After"} {
				check(name, test.extra[name])
			}
			transport := ""
			if s == secure {
				transport = "max-age=31536000"
			}
			check("Strict-Transport-Security", transport)
		}
	}
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, nil)
	for _, own := range []string{"a", "Ab9._-", strings.Repeat("x", 64)} {
		resp, _ := s.do(t, "GET", "/healthz", "", map[string]string{"X-Request-Id": own})
		if got := resp.Header.Get("X-Request-Id"); got != own {
			t.Errorf("%q: got %q", own, got)
		}
	}
	made := regexp.MustCompile(`^[0-9a-f]{32}$`)
	seen := map[string]bool{}
	for _, unfit := range []string{"", strings.Repeat("x", 65), "a b", "a/b", "ä", `"`} {
		resp, _ := s.do(t, "GET", "/healthz", "", map[string]string{"X-Request-Id": unfit})
		got := resp.Header.Get("X-Request-Id")
		if !made.MatchString(got) || seen[got] {
			t.Errorf("%q: got %q", unfit, got)
		}
		seen[got] = true
	}

	// The function sees the same one.
	_, body := s.do(t, "GET", "/api/json/whoAmI", "", map[string]string{"X-Request-Id": "mine"})
	if !strings.Contains(body, `"requestId":"mine"`) {
		t.Errorf("whoAmI: got %s", body)
	}
}

func TestCORS(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	m := app()
	m.Headers = []string{"x_tenant"}
	d.install(t, m)
	listed := start(t, d.ServerURL(), func(c *config.Config) { c.CORSOrigins = []string{"https://a.example", "http://localhost:3000"} })
	anyone := start(t, d.ServerURL(), func(c *config.Config) { c.CORSOrigins = []string{"*"} })
	none := start(t, d.ServerURL(), nil)
	for _, s := range []*testServer{listed, anyone, none} {
		s.waitReady(t, "")
	}

	const preflight = "OPTIONS /api/json/getNote HTTP/1.1\nHost: x\nAccess-Control-Request-Method: POST\nOrigin: "
	tests := []struct {
		name    string
		server  *testServer
		request string
		status  int
		origin  string // Access-Control-Allow-Origin
	}{
		{"listed", listed, "GET /api/json/getNote?id=n1 HTTP/1.1\nHost: x\nOrigin: https://a.example\n\n", 200, "https://a.example"},
		{"listed, refused", listed, "GET /api/json/getNote HTTP/1.1\nHost: x\nOrigin: https://a.example\n\n", 400, "https://a.example"},
		{"listed, too large", listed, "POST /api/json/getNote HTTP/1.1\nHost: x\nOrigin: https://a.example\nContent-Length: 99999999\n\n", 413, "https://a.example"},
		{"not listed", listed, "GET /api/json/getNote?id=n1 HTTP/1.1\nHost: x\nOrigin: https://b.example\n\n", 200, ""},
		{"another port", listed, "GET /healthz HTTP/1.1\nHost: x\nOrigin: http://localhost:3001\n\n", 200, ""},
		{"no origin", listed, "GET /healthz HTTP/1.1\nHost: x\n\n", 200, ""},
		{"anyone", anyone, "GET /healthz HTTP/1.1\nHost: x\nOrigin: https://b.example\n\n", 200, "https://b.example"},
		{"unset", none, "GET /healthz HTTP/1.1\nHost: x\nOrigin: https://b.example\n\n", 200, ""},

		{"preflight", listed, preflight + "https://a.example\n\n", 204, "https://a.example"},
		{"preflight, bad token", listed, preflight + "https://a.example\nAuthorization: Bearer bad\n\n", 204, "https://a.example"},
		{"preflight of anyone", anyone, preflight + "https://b.example\n\n", 204, "https://b.example"},
		{"preflight, not listed", listed, preflight + "https://b.example\n\n", 405, ""},
		{"preflight, unset", none, preflight + "https://a.example\n\n", 405, ""},
		{"OPTIONS that is not a preflight", listed, "OPTIONS /api/json/getNote HTTP/1.1\nHost: x\nOrigin: https://a.example\n\n", 405, "https://a.example"},
		{"preflight of nothing", listed, strings.Replace(preflight, "/api", "/none", 1) + "https://a.example\n\n", 404, "https://a.example"},
		{"preflight of health", listed, strings.Replace(preflight, "/api/json/getNote", "/healthz", 1) + "https://a.example\n\n", 204, "https://a.example"},
	}
	for _, test := range tests {
		resp, body := test.server.raw(t, test.request)
		h := resp.Header
		if resp.StatusCode != test.status || h.Get("Access-Control-Allow-Origin") != test.origin {
			t.Errorf("%s: got %d for origin %q, want %d for %q", test.name, resp.StatusCode, h.Get("Access-Control-Allow-Origin"), test.status, test.origin)
		}
		vary, expose := "", ""
		if test.origin != "" {
			vary, expose = "Origin", "X-Request-Id, Retry-After, Idempotent-Replayed, Sternpost-Position"
		}
		if h.Get("Vary") != vary || h.Get("Access-Control-Expose-Headers") != expose || h.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: got %v", test.name, h)
		}
		if test.status == 204 {
			checkPreflight(t, test.name, h, body, strings.Contains(test.request, "/api/"))
		}
	}
}

func checkPreflight(t *testing.T, name string, h http.Header, body string, ofAction bool) {
	t.Helper()
	allowed := "Authorization, Content-Type, Idempotency-Key, Sternpost-Position, Time-Zone, X-Request-Id"
	if ofAction {
		allowed += ", X-Tenant"
	}
	if h.Get("Access-Control-Allow-Methods") != "GET, POST" ||
		h.Get("Access-Control-Allow-Headers") != allowed ||
		h.Get("Access-Control-Max-Age") != "600" || body != "" || h.Get("Content-Type") != "" {
		t.Errorf("%s: got %v %q", name, h, body)
	}
}

func TestTimeZone(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, nil)
	tests := []struct {
		header string
		zone   string // the value that the function sees; empty for a refusal
		echoed string
	}{
		{"", "UTC", ""},
		{"Time-Zone:\n", "UTC", ""},
		{"Time-Zone: UTC\n", "UTC", ""},
		{"Time-Zone: Europe/Berlin\n", "Europe/Berlin", ""},
		{"time-zone: America/Argentina/Buenos_Aires\n", "America/Argentina/Buenos_Aires", ""},
		{"Time-Zone: europe/berlin\n", "", "europe/berlin"},
		{"Time-Zone: EUROPE/BERLIN\n", "", "EUROPE/BERLIN"},
		{"Time-Zone: utc\n", "", "utc"},
		{"Time-Zone: Local\n", "", "Local"},
		{"Time-Zone: +02:00\n", "", "+02:00"},
		{"Time-Zone: UTC+2\n", "", "UTC+2"},
		{"Time-Zone: CEST\n", "", "CEST"},
		{"Time-Zone: ../Europe/Berlin\n", "", "../Europe/Berlin"},
		{"Time-Zone: /usr/share/zoneinfo/UTC\n", "", "/usr/share/zoneinfo/UTC"},
		{"Time-Zone: Europe/\n", "", "Europe/"},
		{"Time-Zone: Mars/" + strings.Repeat("x", 100) + "\n", "", "Mars/" + strings.Repeat("x", 59)},
		{"Time-Zone: <b>\"\n", "", `<b>\"`},
		{"Time-Zone: UTC\nTime-Zone: UTC\n", "", "UTC"},
		{"Time-Zone: UTC\nTime-Zone: Europe/Berlin\n", "", "Europe/Berlin"},
		{"Time-Zone: UTC\nTime-Zone:\n", "", ""},
	}
	for _, test := range tests {
		resp, body := s.raw(t, "GET /api/json/whoAmI HTTP/1.1\nHost: x\n"+test.header+"\n")
		// The default is UTC.
		want, status := `{"requestId":"`+resp.Header.Get("X-Request-Id")+`"}`, 200
		if test.zone != "UTC" {
			want = `{"timeZone":"` + test.zone + `",` + want[1:]
		}
		if test.zone == "" {
			want, status = `{"code":"ERR_INPUT_MALFORMED","message":"invalid Time-Zone header: unknown time zone `+test.echoed+`"}`, 400
		}
		if resp.StatusCode != status || body != want {
			t.Errorf("%q\n got %d %s\nwant %d %s", test.header, resp.StatusCode, body, status, want)
		}
	}
}

// A function gets its caller, and the headers and the environment that the schema reads.
func TestContext(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	m := app()
	m.Headers = []string{"x_tenant", "user_agent"}
	m.Environment = []string{"REGION"}
	m.Secrets = []string{"PEPPER"}
	d.install(t, m)
	s := start(t, d.ServerURL(), func(c *config.Config) { c.Environ = []string{"OTHER=1", "REGION=eu=1", "PEPPER=\"\xff\x00"} })
	s.waitReady(t, "")

	tests := []struct {
		header, want string
	}{
		{"", `{"env":{"REGION":"eu=1"},"headers":{},"secrets":{"PEPPER":"\"��"},"requestId":"r"}`},
		{"Authorization: Bearer ada\nX-Tenant: a\nx-tenant: b\nUser-Agent: curl\n",
			`{"env":{"REGION":"eu=1"},"headers":{"x_tenant":"a, b","user_agent":"curl"},"secrets":{"PEPPER":"\"��"},"requestId":"r","identityId":"ada"}`},
		{"X-Tenant: \"},\"identityId\":\"ada\"\nX_Tenant: spoofed\n",
			`{"env":{"REGION":"eu=1"},"headers":{"x_tenant":"\"},\"identityId\":\"ada\""},"secrets":{"PEPPER":"\"��"},"requestId":"r"}`},
		{"X-Tenant:\n",
			`{"env":{"REGION":"eu=1"},"headers":{"x_tenant":""},"secrets":{"PEPPER":"\"��"},"requestId":"r"}`},
		{"X-Tenant: \xff\n",
			`{"env":{"REGION":"eu=1"},"headers":{"x_tenant":"�"},"secrets":{"PEPPER":"\"��"},"requestId":"r"}`},
	}
	for _, test := range tests {
		resp, body := s.raw(t, "GET /api/json/whoAmI HTTP/1.1\nHost: x\nX-Request-Id: r\n"+test.header+"\n")
		if resp.StatusCode != 200 || body != test.want {
			t.Errorf("%q\n got %d %s\nwant %s", test.header, resp.StatusCode, body, test.want)
		}
	}
}

// The list of zones is Go's, and names that the database does not know are not served.
func TestZones(t *testing.T) {
	t.Parallel()
	all := knownZones()
	for name := range all {
		if _, err := time.LoadLocation(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(all) < 590 {
		t.Errorf("zones: got %d", len(all))
	}
	if _, err := all.within([]string{"UTC", "Mars"}).parse([][]byte{[]byte("Europe/Berlin")}); err == nil {
		t.Error("a zone is accepted that the database does not know")
	}
	d := newDatabase(t)
	names, err := databaseZones(t.Context(), d.Server(t), all)
	if err != nil {
		t.Fatal(err)
	}
	both := all.within(names)
	for _, name := range []string{"UTC", "Europe/Berlin", "America/New_York"} {
		if _, ok := both[name]; !ok {
			t.Errorf("the database does not know %s", name)
		}
	}
}
