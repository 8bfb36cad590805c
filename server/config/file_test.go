package config

import (
	"slices"
	"strings"
	"testing"
)

// TestCheckFile reads files without an environment. It reports what a server refuses in every
// environment, and nothing that the environment may complete.
func TestCheckFile(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, file string
		want       string // the beginning of each problem, on a line
	}{
		{"empty", "", ""},
		{"of a schema", "useDefaultApi: false\nenvironment: [{name: REGION}]\nauth:\n  claims: []\n", ""},
		{"completed by the environment", "mode: production\nmail: {from: a@example.com, smtp: {username: u}}\nauth: {password: {verification: required}}\n", ""},
		{"a provider without its secret", "auth:\n  providers:\n    - {type: google, name: google, clientId: c}\n", ""},
		{"unknown keys", "port: 80\nuploads:\n  inlin: checked\nName: x\n", "sternpost.yaml:3: uploads.inlin: unknown setting\nsternpost.yaml:4: Name: unknown setting"},
		{"wrong values", "name: [a]\nport: http\n", "sternpost.yaml:1: name: \nsternpost.yaml:2: port: \"http\" is not a whole number"},
		{"a wrong mode", "mode: test", `sternpost.yaml:1: mode: "test" is not one of production, development`},
		{"a wrong provider", "auth:\n  providers:\n    - type: goggle\n      name: g\n      clientId: c\n",
			`sternpost.yaml:3: auth.providers[0]: type: "goggle" is not one of google, facebook, gitlab, slack, oidc`},
		{"a provider's unknown key", "auth:\n  providers:\n    - {type: google, name: g, clientId: c, scope: email}\n", "sternpost.yaml:3: auth.providers[0].scope: unknown setting"},
		{"a provider for development", "auth:\n  providers:\n    - {type: oidc, name: g, clientId: c, issuerUrl: 'http://127.0.0.1'}\n", ""},
		{"the same in production", "mode: production\nauth:\n  providers:\n    - {type: oidc, name: g, clientId: c, issuerUrl: 'http://127.0.0.1'}\n",
			"sternpost.yaml:4: auth.providers[0]: issuerUrl must begin with https:// in production"},
		{"values that do not fit a default", "port: 1\npagination: {maxSize: 40}", "sternpost.yaml:2: pagination.defaultSize must be at most pagination.maxSize"},
		{"values that do not fit each other", "limits:\n  body: 2\n  bodies: 1\nadmin: {port: 8080}",
			"sternpost.yaml:4: port and admin.port are both 8080: change one of them\nsternpost.yaml:3: limits.bodies must be at least limits.body"},
		{"a secret", "auth: {signingKey: secret-text}", "sternpost.yaml:1: auth.signingKey: "},
		{"no YAML", "port: 1\nport: 2", `sternpost.yaml:2: mapping key "port" already defined at [1:1]`},
	} {
		problems, err := CheckFile(writeFile(t, "sternpost.yaml", test.file))
		var got []string
		for _, p := range problems {
			got = append(got, p.Error())
		}
		var want []string
		if test.want != "" {
			want = strings.Split(test.want, "\n")
		}
		if err != nil || !slices.EqualFunc(got, want, strings.HasPrefix) {
			t.Errorf("%s: got %v\n%s\nwant\n%s", test.name, err, strings.Join(got, "\n"), test.want)
		}
		if strings.Contains(strings.Join(got, "\n"), "secret-text") {
			t.Errorf("%s: the problems show a secret: %v", test.name, got)
		}
	}
	if _, err := CheckFile("/does/not/exist.yaml"); err == nil {
		t.Error("a missing file has no problems")
	}
}
