package main_test

import (
	"strings"
	"testing"
)

// TestCheckMails has templates of mails that a server would refuse.
func TestCheckMails(t *testing.T) {
	t.Parallel()
	content := map[string]string{
		"schema.stern":            noteSchema,
		"mail/verifyEmail.txt":    "Subject: Hello\n\nHello {{.Nobody}}\n",
		"mail/verifyEmail.de.txt": "Subject: Hallo\n\nHallo {{if}}\n",
		"mail/resetPassword.html": "<p>{{.Link}}</p>\n",
		"mail/Welcome.txt":        "Subject: Welcome\n\nHello\n",
		"mail/changeEmail.txt":    "Subject: Sound\n\n{{.Link}}\n",
	}
	check := command{args: []string{"check", files(t, content)}}
	stdout, stderr, code := check.run(t)
	if stdout != "" || code != exitInput || strings.Contains(stderr, "mail/changeEmail") {
		t.Errorf("got exit %d\n%s%s", code, stdout, stderr)
	}
	for _, want := range []string{
		"mail/verifyEmail.txt:3:1: template: verifyEmail.txt:3:8: executing", "mail/verifyEmail.de.txt:3:1: template: verifyEmail.de.txt:3: missing value for if",
		"mail/resetPassword.html:1:1: the file resetPassword.txt, which has the subject, is missing", "mail/Welcome.txt:1:1: must be named <name>[.<language>].txt or .html",
	} {
		if !strings.Contains(stderr, want) {
			t.Errorf("got\n%s\nwithout %s", stderr, want)
		}
	}
	check.args = append(check.args, "--format", "json")
	if stdout, _, code = check.run(t); code != exitInput || strings.Count(stdout, `"code": "BadTemplate"`) != 4 {
		t.Errorf("as JSON: got exit %d\n%s", code, stdout)
	}
	for _, name := range []string{"mail/verifyEmail.txt", "mail/verifyEmail.de.txt", "mail/resetPassword.html", "mail/Welcome.txt"} {
		delete(content, name)
	}
	command{args: []string{"check", files(t, content)}}.expect(t, 0, "")
}

// TestCheckSettings has settings that a server would refuse.
func TestCheckSettings(t *testing.T) {
	t.Parallel()
	content := map[string]string{
		"schema.stern":   noteSchema,
		"sternpost.yaml": "port: 3000\nuploads:\n  inlin: checked\nauth:\n  providers:\n    - type: goggle\nuseDefaultApi: maybe\n",
	}
	check := command{args: []string{"check", files(t, content)}}
	stdout, stderr, code := check.run(t)
	if stdout != "" || code != exitInput || strings.Count(stderr, "[BadConfig]") != 3 {
		t.Errorf("got exit %d\n%s%s", code, stdout, stderr)
	}
	for _, want := range []string{
		"sternpost.yaml:3:3: uploads.inlin: unknown setting", "    inlin: checked\n    ^^^^^",
		`sternpost.yaml:6:5: auth.providers[0]: type: "goggle" is not one of google, facebook, gitlab, slack, oidc [BadConfig]`,
		"sternpost.yaml:7:16: useDefaultApi",
	} {
		if !strings.Contains(stderr, want) {
			t.Errorf("got\n%s\nwithout %s", stderr, want)
		}
	}

	// One report is enough if both readers of the file refuse it.
	content["sternpost.yaml"] = "uploads:\n  inline: never\n"
	check.args[1] = files(t, content)
	if _, stderr, code := check.run(t); code != exitInput || strings.Count(stderr, "[BadConfig]") != 1 {
		t.Errorf("a key of both: got exit %d\n%s", code, stderr)
	}
	content["sternpost.yaml"] = "uploads: [\n"
	check.args[1] = files(t, content)
	if _, stderr, code := check.run(t); code != exitInput || strings.Count(stderr, "[BadConfig]") != 1 {
		t.Errorf("no YAML: got exit %d\n%s", code, stderr)
	}

	content["sternpost.yaml"] = "mode: production\nport: 3000\nuploads: {inline: checked}\n"
	check.args[1] = files(t, content)
	check.expect(t, 0, "")
}
