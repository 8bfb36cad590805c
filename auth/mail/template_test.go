package mail

import (
	"strings"
	"testing"
	"testing/fstest"
)

// TestBuiltIn writes every built-in mail.
func TestBuiltIn(t *testing.T) {
	t.Parallel()
	templates, err := ReadTemplates(nil)
	if err != nil {
		t.Fatal(err)
	}
	subjects := map[string]string{
		ResetPassword: "Set a new password",
		VerifyEmail:   "Confirm your e-mail address",
		ChangeEmail:   "Confirm your new e-mail address",
		EmailChanged:  "Your e-mail address has changed",
	}
	for name, subject := range subjects {
		data := Data{Link: "https://app.example.com/done?a=b&token=to-ken", Email: "o'neil@example.com"}
		if name == EmailChanged {
			data.Link = ""
		}
		got, err := templates.Write(name, "de, en;q=0.5", data)
		if err != nil {
			t.Fatal(err)
		}
		if got.Subject != subject {
			t.Errorf("%s: got the subject %q, want %q", name, got.Subject, subject)
		}
		if !strings.Contains(got.Text, "\n"+data.Link+"\n") || !strings.Contains(got.Text, "o'neil@example.com") {
			t.Errorf("%s: the text lacks link or address:\n%s", name, got.Text)
		}
		if strings.Contains(got.Text, "Subject:") || strings.Contains(got.HTML, "Subject:") {
			t.Errorf("%s: the subject is in the text, too", name)
		}
		wantLink := ""
		if data.Link != "" {
			wantLink = `<a href="https://app.example.com/done?a=b&amp;token=to-ken">`
		}
		if !strings.Contains(got.HTML, wantLink) || !strings.Contains(got.HTML, "o&#39;neil@example.com") {
			t.Errorf("%s: the HTML lacks link or address:\n%s", name, got.HTML)
		}
		if (data.Link == "") != !strings.Contains(got.HTML, "<a ") {
			t.Errorf("%s: got the HTML\n%s", name, got.HTML)
		}
	}
}

// TestReplaced writes mails by the templates of a project, in the language of the reader.
func TestReplaced(t *testing.T) {
	t.Parallel()
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	templates, err := ReadTemplates(fstest.MapFS{
		"verifyEmail.de.txt":    file("Subject: Hallo {{.Email}}\n\nde {{.Link}}"),
		"verifyEmail.de.html":   file("<p>de {{.Link}}"),
		"verifyEmail.pt-BR.txt": file("Subject: Oi\r\n\r\npt"),
		"resetPassword.txt":     file("Subject: Ours\n\nours"),
		"resetPassword.fr.txt":  file("Subject: Salut\n\nfr"),
		".DS_Store":             file("x"),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, languages, subject, text, html string }{
		{VerifyEmail, "de", "Hallo a@b", "de l", "<p>de l"},
		{VerifyEmail, "de-AT, en;q=0.9", "Hallo a@b", "de l", "<p>de l"},
		{VerifyEmail, "pt", "Oi", "pt", ""},
		{VerifyEmail, "en, de;q=0.5", "Confirm your e-mail address", "", ""},
		{VerifyEmail, "ja", "Confirm your e-mail address", "", ""},
		{VerifyEmail, "", "Confirm your e-mail address", "", ""},
		{VerifyEmail, ";;;=", "Confirm your e-mail address", "", ""},
		{ResetPassword, "fr-CA", "Salut", "fr", ""},
		{ResetPassword, "en", "Ours", "ours", ""},
		{ChangeEmail, "de", "Confirm your new e-mail address", "", ""},
	} {
		got, err := templates.Write(test.name, test.languages, Data{Link: "l", Email: "a@b"})
		if err != nil {
			t.Fatal(err)
		}
		if got.Subject != test.subject || test.text != "" && (got.Text != test.text || got.HTML != test.html) {
			t.Errorf("%s for %q: got %+v", test.name, test.languages, got)
		}
	}
}

// TestBadTemplates refuses files that would be ignored, or fail when a mail is due.
func TestBadTemplates(t *testing.T) {
	t.Parallel()
	const good = "Subject: s\n\nt"
	for _, test := range []struct{ file, text, want string }{
		{"welcome.txt", good, "mail/welcome.txt: must be named"},
		{"verifyEmail.md", good, "must be named"},
		{"verifyEmail.de_.txt", good, "must be named"},
		{"verifyEmail.zzzzzzzzzz.txt", good, `"zzzzzzzzzz" is not a language`},
		{"verifyEmail.html", "<p>", "the file verifyEmail.txt, which has the subject, is missing"},
		{"verifyEmail.txt", "Hello", "the first line must be"},
		{"verifyEmail.txt", "Subject: s\nt", "and the second must be empty"},
		{"verifyEmail.txt", "Subject: \n\nt", "the first line must be"},
		{"verifyEmail.txt", "Subject: {{.Name}}\n\nt", "can't evaluate field Name"},
		{"verifyEmail.txt", "Subject: {{.Email\n\nt", "mail/verifyEmail.txt: template: verifyEmail.txt:"},
		{"verifyEmail.html", "<a href={{.Link>", "mail/verifyEmail.html: template"},
	} {
		_, err := ReadTemplates(fstest.MapFS{test.file: {Data: []byte(test.text)}})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s with %q: got %v, want %q", test.file, test.text, err, test.want)
		}
	}
}
