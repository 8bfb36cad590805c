package s3

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFindCredentials finds credentials in each place, with a server in place of the services of AWS.
func TestFindCredentials(t *testing.T) {
	t.Parallel()
	services := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		const keys = `{"Code":"Success","AccessKeyId":"%s","SecretAccessKey":"s","Token":"t","Expiration":"2100-01-01T00:00:00Z"}`
		switch asked := string(body); {
		case strings.Contains(asked, "Action=AssumeRoleWithWebIdentity") && strings.Contains(asked, "WebIdentityToken=a+pod"):
			fmt.Fprint(w, `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>pod</AccessKeyId>`+
				`<SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2100-01-01T00:00:00Z</Expiration></Credentials>`+
				`</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`)
		case r.URL.Path == "/container" && r.Header.Get("Authorization") == "a pod":
			fmt.Fprintf(w, keys, "container")
		case r.URL.Path == "/latest/api/token":
			w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "60")
			fmt.Fprint(w, "token")
		case strings.HasSuffix(r.URL.Path, "/security-credentials/"):
			fmt.Fprint(w, "role")
		case strings.HasSuffix(r.URL.Path, "/security-credentials/role"):
			fmt.Fprintf(w, keys, "machine")
		default:
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	t.Cleanup(services.Close)
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	token := write("token", "a pod\n")
	shared := write("credentials", "# keys\n[default]\naws_access_key_id = first\naws_secret_access_key=s=\n\n[half]\naws_access_key_id = half\n")
	config := write("config", "[default]\nregion = x\n[profile other]\naws_access_key_id=second\naws_secret_access_key=s\naws_session_token=t\n")

	machine := "AWS_EC2_METADATA_SERVICE_ENDPOINT=" + services.URL
	container := "AWS_CONTAINER_CREDENTIALS_FULL_URI=" + services.URL + "/container AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=" + token
	pod := "AWS_WEB_IDENTITY_TOKEN_FILE=" + token + " AWS_ROLE_ARN=arn:aws:iam::1:role/r AWS_ENDPOINT_URL_STS=" + services.URL
	files := "AWS_SHARED_CREDENTIALS_FILE=" + shared + " AWS_CONFIG_FILE=" + config
	none := "AWS_SHARED_CREDENTIALS_FILE=/none AWS_CONFIG_FILE=/none"
	for _, c := range []struct{ name, environ, want string }{
		{"environment", "AWS_ACCESS_KEY_ID=env AWS_SECRET_ACCESS_KEY=s AWS_SESSION_TOKEN=t " + pod + " " + files, "env s t"},
		{"pod", pod + " " + files, "pod s t"},
		{"shared file", files + " " + container, "first s= "},
		{"other profile", files + " AWS_PROFILE=other", "second s t"},
		{"profile without keys", files + " AWS_PROFILE=half " + container, "AWS_PROFILE: half has no aws_access_key_id and aws_secret_access_key in " + shared},
		{"unreadable file", "AWS_SHARED_CREDENTIALS_FILE=" + dir, "read the credentials of S3: "},
		{"container", none + " " + container + " " + machine, "container s t"},
		{"machine", none + " " + machine, "machine s t"},
	} {
		environ := map[string]string{}
		for v := range strings.FieldsSeq(c.environ) {
			name, value, _ := strings.Cut(v, "=")
			environ[name] = value
		}
		got := ""
		provider, err := findCredentials("us-east-1", func(name string) string { return environ[name] })
		if err == nil {
			keys, failed := provider.Retrieve(t.Context())
			got, err = strings.Join([]string{keys.AccessKeyID, keys.SecretAccessKey, keys.SessionToken}, " "), failed
		}
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.HasPrefix(got, c.want)) {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}
