package guide

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/integration/casetest"
	"github.com/sternpost/sternpost/server/config"
)

const hosts = "integration/guide/how-to/hosts/"

// blocks returns the blocks of code of a page in one language.
func blocks(t *testing.T, page, language string) []string {
	t.Helper()
	var found []string
	for _, b := range casetest.Blocks(t, filepath.Join(root, page)) {
		if b.Language == language && b.Info == "" {
			found = append(found, b.Text)
		}
	}
	if len(found) == 0 {
		t.Fatalf("%s has no block of %s", page, language)
	}
	return found
}

// TestHostSettings gives Sternpost the environment that each page of a host gives to a server:
// it has all settings that a production server needs, and no unknown ones.
func TestHostSettings(t *testing.T) {
	t.Parallel()
	key, err := auth.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	for page, environment := range map[string]func(*testing.T, string) map[string]string{
		"vm.md":         ofFile,
		"compose.md":    ofCompose,
		"kubernetes.md": ofDeployment,
		"fly.md":        ofFly,
		"platforms.md":  ofRender,
	} {
		env := []string{"STERNPOST_AUTH_SIGNING_KEY=" + string(key)}
		given := environment(t, hosts+page)
		for name, value := range given {
			if !strings.HasPrefix(name, "STERNPOST_AUTH_SIGNING_KEY") { // a path, or a secret
				env = append(env, name+"="+strings.NewReplacer("…", "x", "${", "", "}", "").Replace(value))
			}
		}
		if page == "fly.md" || page == "platforms.md" { // where the address is a secret
			env = append(env, "DATABASE_URL=postgres://shop_server:x@db/shop")
		}
		c, err := config.Load(config.Source{Env: env})
		if err != nil {
			t.Errorf("%s: with %q: %v", page, env, err)
			continue
		}
		if faults := c.Storage.Faults(); len(faults) > 0 {
			t.Errorf("%s: %q", page, faults)
		}
		if c.Name != "Shop" || c.Mode != config.Production {
			t.Errorf("%s: got the name %s and the mode %s", page, c.Name, c.Mode)
		}
	}
}

// ofFile reads the environment in the file of a unit.
func ofFile(t *testing.T, page string) map[string]string {
	env := map[string]string{}
	for _, block := range blocks(t, page, "sh") {
		if strings.HasPrefix(block, "DATABASE_URL=") {
			for line := range strings.Lines(block) {
				name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
				env[name] = value
			}
		}
	}
	return env
}

// decode reads YAML, and refuses duplicates.
func decode(t *testing.T, page, text string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%s: %v\n%s", page, err, text)
	}
}

func ofCompose(t *testing.T, page string) map[string]string {
	var file struct {
		Services map[string]struct {
			Environment map[string]string
			Volumes     []string
		}
		Volumes map[string]any
	}
	decode(t, page, blocks(t, page, "yaml")[0], &file)
	for name, s := range file.Services {
		for _, volume := range s.Volumes {
			source, _, _ := strings.Cut(volume, ":")
			if _, declared := file.Volumes[source]; !declared && !strings.HasPrefix(source, "./") {
				t.Errorf("%s: the volume %s of %s is not declared", page, source, name)
			}
		}
	}
	for _, name := range []string{"roles", "migrate"} {
		if url := file.Services[name].Environment["DATABASE_URL"]; !strings.Contains(url, "shop_owner:") {
			t.Errorf("%s: %s connects to %s, and not as the owner", page, name, url)
		}
	}
	return file.Services["server"].Environment
}

// containerfile makes the image of a server.
const containerfile = "cmd/Containerfile"

func ofDeployment(t *testing.T, page string) map[string]string {
	type container struct {
		Env []struct {
			Name, Value string
			ValueFrom   any `yaml:"valueFrom"`
		}
	}
	type manifest struct {
		Kind string
		Spec struct {
			Template struct {
				Spec struct {
					SecurityContext struct {
						RunAsUser int `yaml:"runAsUser"`
					} `yaml:"securityContext"`
					Containers []container
				}
			}
		}
	}
	env := map[string]string{}
	var kinds []string
	for _, text := range strings.Split(blocks(t, page, "yaml")[0], "\n---\n") {
		var m manifest
		decode(t, page, text, &m)
		kinds = append(kinds, m.Kind)
		if user := m.Spec.Template.Spec.SecurityContext.RunAsUser; m.Kind != "Service" && !strings.Contains(read(t, containerfile), fmt.Sprintf("USER %d:", user)) {
			t.Errorf("%s: the %s runs as user %d, unlike the image", page, m.Kind, user)
		}
		if m.Kind != "Deployment" {
			continue
		}
		for _, e := range m.Spec.Template.Spec.Containers[0].Env {
			if env[e.Name] = e.Value; e.ValueFrom != nil {
				env[e.Name] = "postgres://x@db/x"
			}
		}
	}
	if want := []string{"Job", "Deployment", "Service"}; !slices.Equal(kinds, want) {
		t.Errorf("%s: got %v, want %v", page, kinds, want)
	}
	for probe, path := range map[string]string{"livenessProbe": "/healthz", "readinessProbe": "/readyz"} {
		if !strings.Contains(read(t, page), probe+":\n            httpGet:\n              path: "+path+"\n") {
			t.Errorf("%s: %s does not ask %s", page, probe, path)
		}
	}
	return env
}

// ofFly reads the section of the environment line by line, since there is no TOML reader here.
func ofFly(t *testing.T, page string) map[string]string {
	_, section, _ := strings.Cut(blocks(t, page, "toml")[0], "\n[env]\n")
	section, _, _ = strings.Cut(section, "\n\n")
	env := map[string]string{}
	for line := range strings.Lines(section) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " = ")
		env[name] = strings.Trim(value, `"`)
	}
	return env
}

func ofRender(t *testing.T, page string) map[string]string {
	var file struct {
		Services []struct {
			HealthCheckPath string                        `yaml:"healthCheckPath"`
			EnvVars         []struct{ Key, Value string } `yaml:"envVars"`
		}
	}
	decode(t, page, blocks(t, page, "yaml")[0], &file)
	if path := file.Services[0].HealthCheckPath; path != "/healthz" {
		t.Errorf("%s: the health path is %s", page, path)
	}
	env := map[string]string{}
	for _, e := range file.Services[0].EnvVars {
		if e.Value != "" {
			env[e.Key] = e.Value
		}
	}
	return env
}

// TestHostsSayWhatWasTried tests that each page of a host begins with the tried parts.
func TestHostsSayWhatWasTried(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob(filepath.Join(root, hosts, "*.md"))
	if err != nil || len(names) < 6 {
		t.Fatalf("found %q, %v", names, err)
	}
	for _, name := range names {
		page := hosts + filepath.Base(name)
		beginning, _, _ := strings.Cut(read(t, page), "\n```")
		if !regexp.MustCompile(`tried|deployed`).MatchString(beginning) {
			t.Errorf("%s does not say what was tried", page)
		}
	}
}
