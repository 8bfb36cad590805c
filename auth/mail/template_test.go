package mail

import (
	"encoding/json"
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

// TestOfCode writes mails whose data comes from code: no value makes a header, or a part of the text from the subject.
func TestOfCode(t *testing.T) {
	t.Parallel()
	templates, err := ReadTemplates(fstest.MapFS{
		"visit.txt":    {Data: []byte("Subject: Your visit, {{.name}}\n\nRoom {{.room}}.{{with .note}} {{.}}{{end}}\n")},
		"visit.html":   {Data: []byte("<p>{{.name}}")},
		"visit.de.txt": {Data: []byte("Subject: Ihr Termin\n\nRaum {{.room}}")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !templates.Has("visit") || templates.Has("visits") || !templates.Has(VerifyEmail) {
		t.Error("the templates are not those of the folder and of accounts")
	}
	for _, test := range []struct {
		languages      string
		data           map[string]any
		want, mistakes string
	}{
		{"", map[string]any{"name": "Ada", "room": json.Number("12345678"), "note": nil}, "Your visit, Ada|Room 12345678.\n|<p>Ada", ""},
		{"de-AT", map[string]any{"room": "1"}, "Ihr Termin|Raum 1|", ""},
		{"fr", map[string]any{"name": "<b>\r\nBcc: eve@example.com\n\nPay \u2028 me", "room": "1", "note": "\n.\nx"}, "Your visit, <b> Bcc: eve@example.com Pay me|Room 1. \n.\nx\n|<p>&lt;b&gt;\r\nBcc: eve@example.com\n\nPay \u2028 me", ""},
		{"", map[string]any{"name": "Ada", "note": nil}, "", `no entry for key "room"`},
		{"", map[string]any{"name": "{{.room}}", "room": "1", "note": nil}, "Your visit, {{.room}}|Room 1.\n|<p>{{.room}}", ""},
	} {
		got, err := templates.Write("visit", test.languages, test.data)
		if err != nil || test.mistakes != "" {
			if err == nil || test.mistakes == "" || !strings.Contains(err.Error(), test.mistakes) {
				t.Errorf("%v: got %v, want %q", test.data, err, test.mistakes)
			}
			continue
		}
		if got := strings.Join([]string{got.Subject, got.Text, got.HTML}, "|"); got != test.want {
			t.Errorf("%v: got %q, want %q", test.data, got, test.want)
		}
	}
	if _, err := templates.Write("visits", "", nil); err == nil || err.Error() != "there is no template mail/visits.txt" {
		t.Errorf("without template: got %v", err)
	}
}

// TestBadTemplates refuses files that would be ignored, or fail when a mail is due.
func TestBadTemplates(t *testing.T) {
	t.Parallel()
	const good = "Subject: s\n\nt"
	for _, test := range []struct{ file, text, want string }{
		{"Welcome.txt", good, "mail/Welcome.txt: must be named"},
		{"welcome.de.txt", good, "mail/welcome.de.txt: the file welcome.txt, for readers of all other languages, is missing"},
		{"welcome.txt", "Subject: {{.name}\n\nt", "mail/welcome.txt: template: welcome.txt:1:"},
		{"welcome.txt", "Subject: s\n\nt\n{{nowhere}}", "mail/welcome.txt: template: welcome.txt:4:"},
		{"welcome.html", "<p>", "the file welcome.txt, which has the subject, is missing"},
		{"welcome.html", "<a href='{{if .x}}'>{{end}}", "mail/welcome.html: html/template:welcome.html:1"},
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
