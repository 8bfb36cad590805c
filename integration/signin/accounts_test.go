package signin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/integration/mailserver"
)

// withMail is a service with a mail server of its own.
func withMail(t *testing.T, o options) (*service, *mailserver.Server) {
	t.Helper()
	mails := mailserver.New(t, false, false)
	o.env = append(o.env, "STERNPOST_MAIL_FROM=Notes <noreply@notes.example>", "STERNPOST_MAIL_SMTP_TLS=off",
		"STERNPOST_MAIL_SMTP_HOST="+mails.Host, fmt.Sprintf("STERNPOST_MAIL_SMTP_PORT=%d", mails.Port))
	return serve(t, o), mails
}

// inProduction is a service in production.
func inProduction(env ...string) options {
	return options{env: append([]string{"STERNPOST_MODE=production", "STERNPOST_STORAGE_TYPE=s3"}, env...), baseURL: "https://notes.example"}
}

// answered is the answer of an action.
type answered struct {
	status int
	body   string
	header http.Header
}

// act calls an action.
func (s *service) act(t *testing.T, token, action string, input any, headers ...string) answered {
	t.Helper()
	body, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	if string(body) == "null" {
		body = []byte("{}")
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/api/json/"+action, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answered{response.StatusCode, string(text), response.Header}
}

// must calls an action that answers {}.
func (s *service) must(t *testing.T, token, action string, input map[string]string, headers ...string) {
	t.Helper()
	if got := s.act(t, token, action, input, headers...); got.status != http.StatusOK || got.body != "{}" {
		t.Fatalf("%s: got %d %s, want 200 {}", action, got.status, got.body)
	}
}

// refused calls an action that is refused, with a text in the answer.
func (s *service) refused(t *testing.T, token, action string, input map[string]string, status int, text string) {
	t.Helper()
	if got := s.act(t, token, action, input); got.status != status || !strings.Contains(got.body, text) {
		t.Errorf("%s %v: got %d %s, want %d and %s", action, input, got.status, got.body, status, text)
	}
}

func (s *service) password(t *testing.T, email, password string) tokens {
	t.Helper()
	return s.grant(t, url.Values{"grant_type": {"password"}, "username": {email}, "password": {password}})
}

func (s *service) signUp(t *testing.T, email, password string) tokens {
	t.Helper()
	got := s.grant(t, url.Values{"grant_type": {"password"}, "username": {email}, "password": {password}, "create_if_not_exists": {"true"}})
	if got.status != http.StatusOK || !got.IdentityCreated {
		t.Fatalf("sign up %s: got %+v", email, got)
	}
	return got
}

// countMails returns how many mails were asked for.
func (s *service) countMails(t *testing.T) int {
	t.Helper()
	return value[int](t, s, `select count(*)::int from platform.task where kind = 'mail'`)
}

// read returns the subject, the text and the HTML of a mail.
func read(t *testing.T, m mailserver.Mail) (subject, text, html string) {
	t.Helper()
	subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	if err != nil {
		t.Fatal(err)
	}
	decode := func(encoding string, r io.Reader) string {
		if encoding == "quoted-printable" {
			r = quotedprintable.NewReader(r)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(b), "\r\n", "\n")
	}
	kind, parameters, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	if kind != "multipart/alternative" {
		return subject, decode(m.Header.Get("Content-Transfer-Encoding"), bytes.NewReader(m.Body)), ""
	}
	parts := multipart.NewReader(bytes.NewReader(m.Body), parameters["boundary"])
	var texts []string
	for {
		part, err := parts.NextRawPart()
		if err == io.EOF {
			return subject, texts[0], texts[1]
		}
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, decode(part.Header.Get("Content-Transfer-Encoding"), part))
	}
}

// await waits for the mail after so many, and returns it with the token in its link.
func await(t *testing.T, mails *mailserver.Server, before int) (mailserver.Mail, string) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if taken := mails.Taken(); len(taken) > before {
			_, text, _ := read(t, taken[before])
			match := regexp.MustCompile(`[?&]token=([A-Za-z0-9_-]{43})\n`).FindStringSubmatch(text)
			if match == nil {
				return taken[before], ""
			}
			return taken[before], match[1]
		}
	}
	t.Fatalf("mail %d does not come", before+1)
	panic("unreachable")
}

// awaitSent waits until all mails are noted as sent.
func awaitSent(t *testing.T, s *service) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if value[bool](t, s, `select bool_and(done_at is not null) from platform.task where kind = 'mail' and key is not null`) {
			return
		}
	}
	t.Fatal("some mail is not noted as sent")
}

const redirectTo = "http://localhost/reset?from=mail"

// TestResetPassword sets a new password by a mail.
func TestResetPassword(t *testing.T) {
	t.Parallel()
	s, mails := withMail(t, inProduction())
	first := s.signUp(t, "ada@example.com", "correct-canary")
	s.must(t, "", "requestPasswordReset", map[string]string{"email": "Ada@Example.com", "redirectUrl": redirectTo})
	m, token := await(t, mails, 0)

	subject, text, html := read(t, m)
	link := redirectTo + "&token=" + token
	if m.To != "ada@example.com" || m.From != "noreply@notes.example" || subject != "Set a new password" {
		t.Errorf("got a mail from %s to %s: %s", m.From, m.To, subject)
	}
	if !strings.Contains(text, "\n"+link+"\n") || !strings.Contains(html, `href="`+strings.ReplaceAll(link, "&", "&amp;")+`"`) {
		t.Errorf("the link %s is not in\n%s\n%s", link, text, html)
	}
	awaitSent(t, s)
	if got := value[bool](t, s, `select not exists (select from platform.task where content is not null or encode(content, 'escape') like '%' || $1 || '%')
		and not exists (select from platform.auth_proof where encode(hash, 'escape') like '%' || $1 || '%')`, token); !got {
		t.Error("the database keeps a mail that was sent, or its token")
	}

	s.refused(t, "", "resetPassword", map[string]string{"token": token, "password": "short"}, 400, `"field":"password","code":"minLength","params":{"limit":8},"error":"String length must be at least 8"`)
	s.must(t, "", "resetPassword", map[string]string{"token": token, "password": "battery-canary"})
	s.refused(t, "", "resetPassword", map[string]string{"token": token, "password": "battery-canary"}, 400, `"field":"token","code":"incorrect","error":"is not valid"`)
	if got := s.password(t, "ada@example.com", "correct-canary"); got.Error != "invalid_grant" {
		t.Errorf("the old password: got %+v", got)
	}
	if got := s.refresh(t, first.RefreshToken); got.Error != "invalid_grant" {
		t.Errorf("a sign-in of before: got %+v", got)
	}
	if got := s.password(t, "ada@example.com", "battery-canary"); got.status != http.StatusOK {
		t.Errorf("the new password: got %+v", got)
	}
	if !value[bool](t, s, `select email_verified from app.identity`) {
		t.Error("the address is not proven")
	}
}

// TestResetTellsNothing asks for new passwords of known and unknown addresses.
func TestResetTellsNothing(t *testing.T) {
	t.Parallel()
	s, mails := withMail(t, options{})
	s.signUp(t, "ada@example.com", "correct-canary")
	rows := func() string {
		return value[string](t, s, `select concat_ws(' ', (select count(*) from platform.auth_proof), (select count(*) from platform.auth_failure))`)
	}
	var answers []string
	for i, email := range []string{"ada@example.com", "nobody@example.com"} {
		got := s.act(t, "", "requestPasswordReset", map[string]string{"email": email, "redirectUrl": redirectTo})
		got.header.Del("X-Request-Id")
		got.header.Del("Date")
		answers = append(answers, fmt.Sprint(got.status, got.body, got.header))
		if want := fmt.Sprint(i+1, " ", i+2); rows() != want {
			t.Errorf("%s: got %s rows, want %s", email, rows(), want)
		}
	}
	if answers[0] != answers[1] {
		t.Errorf("for an address that somebody has: %s\nfor one that nobody has: %s", answers[0], answers[1])
	}
	await(t, mails, 0)
	s.must(t, "", "requestPasswordReset", map[string]string{"email": "ada@example.com", "redirectUrl": redirectTo})
	if m, _ := await(t, mails, 1); m.To != "ada@example.com" || len(mails.Taken()) != 2 {
		t.Errorf("%d mails were sent, the last one to %s", len(mails.Taken()), m.To)
	}
	for _, redirect := range []string{"https://evil.example/", "http://localhost@evil.example/", "//evil.example", "javascript:alert(1)", "http://localhost/#a", ""} {
		s.refused(t, "", "requestPasswordReset", map[string]string{"email": "ada@example.com", "redirectUrl": redirect}, 400, `"field":"redirectUrl"`)
	}
	s.refused(t, "", "requestPasswordReset", map[string]string{"email": "ada", "redirectUrl": redirectTo}, 400, `"field":"email"`)
	for _, email := range []string{"ada@example.com", "nobody@example.com"} {
		for range 20 {
			s.must(t, "", "requestPasswordReset", map[string]string{"email": email, "redirectUrl": redirectTo})
		}
	}
	if got := value[int](t, s, `select count(*)::int from platform.task where kind = 'mail' and key is not null`); got != 3 {
		t.Errorf("ada gets %d mails, want 3", got)
	}
	if got := s.password(t, "ada@example.com", "correct-canary"); got.status != http.StatusOK {
		t.Errorf("after many requests for mails, a sign-in got %+v", got)
	}
	var got answered
	for range 60 {
		got = s.act(t, "", "requestPasswordReset", map[string]string{"email": "nobody@example.com", "redirectUrl": redirectTo})
	}
	if got.status != http.StatusTooManyRequests || !strings.Contains(got.body, "ERR_RATE_LIMITED") || got.header.Get("Retry-After") == "" {
		t.Errorf("after too many requests got %d %s", got.status, got.body)
	}
}

// TestAnotherBaseURL signs in after the address of the service has changed.
func TestAnotherBaseURL(t *testing.T) {
	t.Parallel()
	s, mails := withMail(t, options{})
	first := s.signUp(t, "ada@example.com", "correct-canary")
	s.exec(t, `update app.identity set issuer = 'https://old.example'`)
	if got := s.password(t, "ada@example.com", "correct-canary"); got.status != http.StatusOK || got.IdentityCreated {
		t.Errorf("a sign-in got %+v", got)
	}
	if got := s.password(t, "ada@example.com", "wrong-canary"); got.Error != "invalid_grant" || got.IdentityCreated {
		t.Errorf("a wrong password got %+v", got)
	}
	s.must(t, first.AccessToken, "changePassword", map[string]string{"oldPassword": "correct-canary", "password": "battery-canary"})
	s.must(t, "", "requestPasswordReset", map[string]string{"email": "ada@example.com", "redirectUrl": redirectTo})
	_, token := await(t, mails, 0)
	s.must(t, "", "resetPassword", map[string]string{"token": token, "password": "another-canary"})
	if n := value[int](t, s, `select count(*)::int from app.identity`); n != 1 {
		t.Errorf("%d identities, want 1", n)
	}
}

// TestVerificationRequired signs up where the address must first be proven, on the service's own page.
func TestVerificationRequired(t *testing.T) {
	t.Parallel()
	s, mails := withMail(t, options{settings: "  password:\n    verification: required\n"})
	const unproven = "the e-mail address is not verified"
	refuse := func(password, want string) {
		t.Helper()
		got := s.password(t, "ada@example.com", password)
		if got.status != 400 || got.Error != "invalid_grant" || got.ErrorDescription != want || got.AccessToken != "" {
			t.Fatalf("got %+v, want %s", got, want)
		}
	}
	refuse("correct-canary", unproven) // makes the account, and is perhaps a mistyped address
	if n := s.countMails(t); n != 0 {
		t.Errorf("a sign-in without create_if_not_exists sends %d mails", n)
	}
	refuse("correct-canary", unproven)
	m, token := await(t, mails, 0)
	if subject, text, _ := read(t, m); subject != "Confirm your e-mail address" || !strings.Contains(text, "\n"+s.url+"/auth/verify?token="+token+"\n") {
		t.Errorf("got the mail %s\n%s", subject, text)
	}
	refuse("wrong-canary", "the identity does not exist or the credentials are incorrect")
	refuse("correct-canary", unproven)
	_, again := await(t, mails, 1)
	if again == token || len(mails.Taken()) != 2 {
		t.Errorf("the right password brings no new token, or the wrong one did: %d mails", len(mails.Taken()))
	}

	b := newBrowser(t)
	for range 2 { // a program that looks at mails opens the link, too
		page := b.get(t, s.url+"/auth/verify?token="+again)
		if page.StatusCode != 200 || !strings.Contains(page.body, `value="`+again+`"`) || !strings.Contains(page.body, `<form method="post">`) ||
			!strings.Contains(page.body, "was made on "+time.Now().UTC().Format("2 January 2006")) || !strings.Contains(page.body, "This was not me") {
			t.Fatalf("got the page %d\n%s", page.StatusCode, page.body)
		}
		if policy := page.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("got the policy %s", policy)
		}
		if page.Header.Get("Referrer-Policy") != "no-referrer" || page.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("got the headers %v", page.Header)
		}
	}
	refuse("correct-canary", unproven)
	for _, wrong := range []string{"", "wrong-canary"} { // the link alone proves nothing: somebody else may have signed up
		page := b.post(t, s.url+"/auth/verify", url.Values{"token": {again}, "password": {wrong}})
		if page.StatusCode != 400 || !strings.Contains(page.body, "is not the password") {
			t.Errorf("with the password %q got the page %d\n%s", wrong, page.StatusCode, page.body)
		}
	}
	refuse("correct-canary", unproven)
	_, again = await(t, mails, 2)
	right := url.Values{"token": {again}, "password": {"correct-canary"}}
	if page := b.post(t, s.url+"/auth/verify", right); page.StatusCode != 200 || !strings.Contains(page.body, "is confirmed") {
		t.Fatalf("got the page %d\n%s", page.StatusCode, page.body)
	}
	if page := b.post(t, s.url+"/auth/verify", right); page.StatusCode != 400 || !strings.Contains(page.body, "has expired or was already used") {
		t.Errorf("for a replay got the page %d\n%s", page.StatusCode, page.body)
	}
	if page := b.get(t, s.url+`/auth/verify?token=%22%3E%3Cscript%3E`); strings.Contains(page.body, "<script>") {
		t.Errorf("got the page\n%s", page.body)
	}
	if got := s.password(t, "ada@example.com", "correct-canary"); got.status != 200 {
		t.Errorf("once the address is proven, got %+v", got)
	}
}

// TestVerificationSent signs up where a mail is sent and no more is required, in the language of the browser.
func TestVerificationSent(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "mail"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "mail", "verifyEmail.de.txt"), []byte("Subject: Hallo {{.Email}}\n\nBitte hier:\n{{.Link}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, mails := withMail(t, options{dir: folder, settings: "  verificationUrl: https://app.example.com/verify\n  password: {verification: send}\n"})
	signedIn := s.signUp(t, "ada@example.com", "correct-canary")
	await(t, mails, 0)
	s.must(t, signedIn.AccessToken, "requestEmailVerification", nil, "Accept-Language", "fr, de-CH;q=0.9, en;q=0.1")
	m, token := await(t, mails, 1)
	if subject, text, html := read(t, m); subject != "Hallo ada@example.com" || text != "Bitte hier:\nhttps://app.example.com/verify?token="+token+"\n" || html != "" {
		t.Errorf("got the mail %q\n%q\n%q", subject, text, html)
	}
	if log := s.log.String(); strings.Contains(log, "cannot look for due mails") { // the server goes on to the next mail
		t.Errorf("after the first mail, the log has\n%s", log)
	}
	s.refused(t, "", "verifyEmail", map[string]string{"token": token}, 400, `"field":"password"`)
	other := s.signUp(t, "bob@example.com", "correct-canary")
	s.refused(t, other.AccessToken, "verifyEmail", map[string]string{"token": token}, 400, `"field":"password"`)
	s.must(t, signedIn.AccessToken, "verifyEmail", map[string]string{"token": token})
	s.refused(t, "", "verifyEmail", map[string]string{"token": token}, 400, `"field":"token"`)
	s.must(t, signedIn.AccessToken, "requestEmailVerification", nil)
	if !value[bool](t, s, `select email_verified from app.identity where email = 'ada@example.com'`) || len(mails.Taken()) != 3 {
		t.Error("the address is not proven, or a proven one is asked for again")
	}
}

// TestChangeEmail changes an address: the new one must be proven, the old one is notified.
func TestChangeEmail(t *testing.T) {
	t.Parallel()
	s, mails := withMail(t, options{})
	signedIn := s.signUp(t, "ada@example.com", "correct-canary")
	s.signUp(t, "bob@example.com", "correct-canary")
	s.refused(t, signedIn.AccessToken, "changeEmail", map[string]string{"email": "new@example.com", "password": "wrong-canary"}, 400, `"field":"password","code":"incorrect","error":"is not the password"`)
	s.refused(t, signedIn.AccessToken, "changeEmail", map[string]string{"email": "ada@example.com", "password": "correct-canary"}, 400, `"field":"email"`)
	s.must(t, signedIn.AccessToken, "changeEmail", map[string]string{"email": "New@example.com", "password": "correct-canary"})
	m, token := await(t, mails, 0)
	if subject, text, _ := read(t, m); m.To != "new@example.com" || subject != "Confirm your new e-mail address" || !strings.Contains(text, "new@example.com") {
		t.Errorf("got a mail to %s: %s\n%s", m.To, subject, text)
	}
	if got := s.password(t, "new@example.com", "correct-canary"); got.IdentityCreated {
		t.Log("somebody else may sign up with the address meanwhile")
		s.exec(t, `delete from app.identity where email = 'new@example.com'`)
	}
	s.must(t, signedIn.AccessToken, "verifyEmail", map[string]string{"token": token})
	m, link := await(t, mails, 1)
	if subject, text, html := read(t, m); m.To != "ada@example.com" || subject != "Your e-mail address has changed" || link != "" ||
		!strings.Contains(text, "new@example.com") || strings.Contains(html, "<a ") {
		t.Errorf("got a mail to %s: %s\n%s", m.To, subject, text)
	}
	if got := s.password(t, "new@example.com", "correct-canary"); got.status != 200 || got.IdentityCreated {
		t.Errorf("by the new address got %+v", got)
	}
	if got := s.refresh(t, signedIn.RefreshToken); got.status != 200 {
		t.Errorf("the sign-in ended: %+v", got)
	}

	// Only a reader of its mails learns whether an address is in use.
	s.must(t, signedIn.AccessToken, "changeEmail", map[string]string{"email": "bob@example.com", "password": "correct-canary"})
	_, token = await(t, mails, 2)
	s.refused(t, "", "verifyEmail", map[string]string{"token": token, "password": "correct-canary"}, 409, "the e-mail address belongs to another identity")
}

// TestChangePassword changes a password and ends all sign-ins but the caller's.
func TestChangePassword(t *testing.T) {
	t.Parallel()
	s, _ := withMail(t, options{})
	own, other := s.signUp(t, "ada@example.com", "correct-canary"), s.password(t, "ada@example.com", "correct-canary")
	s.refused(t, own.AccessToken, "changePassword", map[string]string{"oldPassword": "wrong-canary", "password": "battery-canary"}, 400, `"field":"oldPassword"`)
	s.refused(t, own.AccessToken, "changePassword", map[string]string{"oldPassword": "correct-canary", "password": "short"}, 400, `"field":"password"`)
	own = s.refresh(t, own.RefreshToken) // a refreshed token is of the same sign-in
	s.must(t, own.AccessToken, "changePassword", map[string]string{"oldPassword": "correct-canary", "password": "battery-canary"})
	if got := s.refresh(t, other.RefreshToken); got.Error != "invalid_grant" {
		t.Errorf("the other sign-in: got %+v", got)
	}
	if got := s.refresh(t, own.RefreshToken); got.status != 200 {
		t.Errorf("the sign-in that asked: got %+v", got)
	}
	third := s.password(t, "ada@example.com", "battery-canary")
	s.must(t, third.AccessToken, "signOutEverywhere", nil)
	for _, token := range []string{own.RefreshToken, third.RefreshToken} {
		if got := s.refresh(t, token); got.Error != "invalid_grant" {
			t.Errorf("out everywhere, but got %+v", got)
		}
	}
	fourth := s.password(t, "ada@example.com", "battery-canary")
	for range 10 {
		s.act(t, fourth.AccessToken, "changePassword", map[string]string{"oldPassword": "wrong-canary", "password": "battery-canary"})
	}
	s.refused(t, fourth.AccessToken, "changePassword", map[string]string{"oldPassword": "battery-canary", "password": "another-canary"}, 429, "ERR_RATE_LIMITED")
}

// TestAccessTokensEnd calls with access tokens from before a change of the account that makes them void.
func TestAccessTokensEnd(t *testing.T) {
	t.Parallel()
	const email = "future@staff.example"
	for _, change := range []struct {
		name   string
		stays  bool // the sign-in that makes the change
		change func(t *testing.T, s *service, mails *mailserver.Server, own tokens)
	}{
		{"resetPassword", false, func(t *testing.T, s *service, mails *mailserver.Server, _ tokens) {
			s.must(t, "", "requestPasswordReset", map[string]string{"email": email, "redirectUrl": redirectTo})
			_, token := await(t, mails, 0)
			s.must(t, "", "resetPassword", map[string]string{"token": token, "password": "correct-canary"})
		}},
		{"changePassword", true, func(t *testing.T, s *service, _ *mailserver.Server, own tokens) {
			s.must(t, own.AccessToken, "changePassword", map[string]string{"oldPassword": "correct-canary", "password": "correct-canary"})
			s.exec(t, `update app.identity set email_verified = true`)
		}},
		{"signOutEverywhere", false, func(t *testing.T, s *service, _ *mailserver.Server, own tokens) {
			s.must(t, own.AccessToken, "signOutEverywhere", nil)
			s.exec(t, `update app.identity set email_verified = true`)
		}},
		{"verifyEmail by its token", true, func(t *testing.T, s *service, mails *mailserver.Server, own tokens) {
			s.must(t, own.AccessToken, "requestEmailVerification", nil)
			_, token := await(t, mails, 0)
			s.must(t, own.AccessToken, "verifyEmail", map[string]string{"token": token})
		}},
		{"verifyEmail by its password", false, func(t *testing.T, s *service, mails *mailserver.Server, own tokens) {
			s.must(t, own.AccessToken, "requestEmailVerification", nil)
			_, token := await(t, mails, 0)
			s.must(t, "", "verifyEmail", map[string]string{"token": token, "password": "correct-canary"})
		}},
	} {
		t.Run(change.name, func(t *testing.T) {
			t.Parallel()
			s, mails := withMail(t, options{})
			own := s.signUp(t, email, "correct-canary")
			old := s.password(t, email, "correct-canary")
			key := s.machineKey(t, email)
			noted := s.act(t, own.AccessToken, "createNote", map[string]string{"text": "x"})
			var note struct {
				ID string `json:"id"`
			}
			if err := json.Unmarshal([]byte(noted.body), &note); err != nil || note.ID == "" {
				t.Fatalf("got %d %s", noted.status, noted.body)
			}
			ofNote := map[string]any{"where": note, "values": struct{}{}}
			change.change(t, s, mails, own)
			later := s.password(t, email, "correct-canary")
			for _, caller := range []struct {
				name, token string
				isOver      bool
			}{
				{"another sign-in", old.AccessToken, true},
				{"the sign-in that made the change", own.AccessToken, !change.stays},
				{"a later sign-in", later.AccessToken, false},
				{"a machine", key, false},
			} {
				for _, action := range []string{"listAllNotes", "listVerifiedNotes", "listOwnVerifiedNotes", "listByAddress", "listWithAddress", "listNoNotes", "signNote", "markNote", "createNote", "requestEmailVerification"} {
					input := map[string]any{"createNote": map[string]string{"text": "x"}, "signNote": ofNote, "markNote": ofNote}[action]
					if action == "requestEmailVerification" && caller.isOver {
						action = "signOutEverywhere"
					}
					got := s.act(t, caller.token, action, input)
					if isOver := got.status == 401 && strings.Contains(got.body, "the access token is not valid"); isOver != caller.isOver || !isOver && got.status != 200 {
						t.Errorf("%s, %s: got %d %s, want 401: %t", caller.name, action, got.status, got.body, caller.isOver)
					}
				}
			}
		})
	}
}

// TestMailOnlyIfMeant signs up with and without create_if_not_exists: without it, the address is perhaps mistyped.
func TestMailOnlyIfMeant(t *testing.T) {
	t.Parallel()
	s, _ := withMail(t, options{settings: "  password: {verification: send}\n"})
	mistyped := s.password(t, "mistyped@example.com", "correct-canary")
	if !mistyped.IdentityCreated || s.countMails(t) != 0 {
		t.Errorf("a sign-in got %+v and sends %d mails, want an account and none", mistyped, s.countMails(t))
	}
	s.must(t, mistyped.AccessToken, "requestEmailVerification", nil)
	if n := s.countMails(t); n != 1 {
		t.Errorf("%d mails after proof was asked for, want 1", n)
	}
	s.signUp(t, "meant@example.com", "correct-canary")
	if n := s.countMails(t); n != 2 {
		t.Errorf("%d mails after a sign-up that is meant, want 2", n)
	}
}

// TestNotMe takes an address from the account of somebody else.
func TestNotMe(t *testing.T) {
	t.Parallel()
	s, mails := withMail(t, options{settings: "  password: {verification: send}\n"})
	squatter := s.signUp(t, "ada@example.com", "squatter-canary")
	_, token := await(t, mails, 0)
	b := newBrowser(t)
	page := b.post(t, s.url+"/auth/verify", url.Values{"token": {token}, "disown": {"yes"}})
	if page.StatusCode != 200 || !strings.Contains(page.body, "Nobody can sign in with your address any more") {
		t.Fatalf("got the page %d\n%s", page.StatusCode, page.body)
	}
	if got := s.act(t, squatter.AccessToken, "createNote", map[string]string{"text": "x"}); got.status != 401 {
		t.Errorf("the squatter's access token: got %d %s", got.status, got.body)
	}
	if got := s.refresh(t, squatter.RefreshToken); got.Error != "invalid_grant" {
		t.Errorf("the squatter's refresh token: got %+v", got)
	}
	s.signUp(t, "ada@example.com", "correct-canary")
	if page := b.get(t, s.url+"/auth/verify?token="+token); page.StatusCode != 400 {
		t.Errorf("the link once more: got the page %d\n%s", page.StatusCode, page.body)
	}
}

// machineKey makes a key of an identity like the command.
func (s *service) machineKey(t *testing.T, identity string) string {
	t.Helper()
	key, hash := auth.NewMachineKey()
	if value[*string](t, s, `select id from platform.auth_key_create($1, $2, now() + interval '1 day')`, identity, hash) == nil {
		t.Fatalf("there is no key of %s", identity)
	}
	return key
}

// TestWhoMayChangeAccounts calls each action as each kind of caller.
func TestWhoMayChangeAccounts(t *testing.T) {
	t.Parallel()
	s, _ := withMail(t, options{})
	signedIn := s.signUp(t, "ada@example.com", "correct-canary")
	s.exec(t, `insert into app.identity (id, email, issuer, external_id) values ('provided', 'ada@example.com', 'https://provider', 'x')`)
	gone := s.signUp(t, "gone@example.com", "correct-canary")
	s.exec(t, `delete from app.identity where email = 'gone@example.com'`)
	callers := []struct{ name, token string }{
		{"anonymous", ""}, {"signed in", signedIn.AccessToken}, {"of a provider", s.machineKey(t, "provided")}, {"gone", gone.AccessToken},
	}
	unknown := auth.NewSecret()
	for _, test := range []struct {
		action string
		input  map[string]string
		want   []int
	}{
		{"requestPasswordReset", map[string]string{"email": "ada@example.com", "redirectUrl": redirectTo}, []int{200, 200, 200, 200}},
		{"resetPassword", map[string]string{"token": unknown, "password": "correct-canary"}, []int{400, 400, 400, 400}},
		{"requestEmailVerification", nil, []int{403, 200, 409, 401}},
		{"verifyEmail", map[string]string{"token": unknown}, []int{400, 400, 400, 400}},
		{"changePassword", map[string]string{"oldPassword": "correct-canary", "password": "correct-canary"}, []int{403, 200, 409, 401}},
		{"changeEmail", map[string]string{"email": "new@example.com", "password": "correct-canary"}, []int{403, 200, 409, 401}},
		{"listSessions", nil, []int{403, 200, 200, 401}},
		{"endSession", map[string]string{"id": "x"}, []int{403, 404, 403, 401}},
		{"endOtherSessions", nil, []int{403, 200, 403, 401}},
		{"listFactors", nil, []int{403, 200, 200, 401}},
		{"startAuthenticator", nil, []int{403, 200, 403, 401}},
		{"confirmAuthenticator", map[string]string{"code": "x"}, []int{403, 400, 403, 401}},
		{"removeAuthenticator", nil, []int{403, 409, 403, 401}},
		{"renewRecoveryCodes", nil, []int{403, 409, 403, 401}},
		{"signOutEverywhere", nil, []int{403, 200, 200, 401}},
	} {
		for i, c := range callers {
			if got := s.act(t, c.token, test.action, test.input); got.status != test.want[i] {
				t.Errorf("%s, %s: got %d %s, want %d", test.action, c.name, got.status, got.body, test.want[i])
			}
		}
		for _, bad := range []map[string]string{{"more": "x"}, {}} {
			if len(test.input) == 0 && len(bad) == 0 {
				continue
			}
			s.refused(t, signedIn.AccessToken, test.action, bad, 400, "ERR_INVALID_INPUT")
		}
		response, err := http.Get(s.url + "/api/json/" + test.action)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("GET %s: got %d", test.action, response.StatusCode)
		}
	}
}

// TestMachineKeys calls with keys.
func TestMachineKeys(t *testing.T) {
	t.Parallel()
	s := serve(t, options{})
	s.signUp(t, "ada@example.com", "correct-canary")
	key := s.machineKey(t, "ada@example.com")
	call := func(token string) string {
		got := s.act(t, token, "createNote", map[string]string{"text": "by a machine"})
		return fmt.Sprint(got.status, " ", regexp.MustCompile(`"message":"([^"]*)"`).FindString(got.body))
	}
	const invalid, expired = `401 "message":"the access token is not valid"`, `401 "message":"the access token has expired"`
	steps := []struct{ does, token, sql, want string }{
		{"the key", key, ``, `200 `},
		{"one that nobody has", "sternpost_" + auth.NewSecret(), ``, invalid},
		{"a part of it", key[:len(key)-1], ``, invalid},
		{"without its beginning", strings.TrimPrefix(key, "sternpost_"), ``, invalid},
		{"expired", key, `update platform.auth_key set ends_at = now()`, expired},
		{"revoked", key, `update platform.auth_key set revoked_at = now(), ends_at = now() + interval '1 day'`, invalid},
		{"of an identity that is gone", key, `update platform.auth_key set revoked_at = null; delete from app.note; delete from app.identity`, invalid},
	}
	for _, step := range steps {
		if step.sql != "" {
			s.exec(t, step.sql)
		}
		if got := call(step.token); got != step.want {
			t.Errorf("%s: got %s, want %s", step.does, got, step.want)
		}
	}
	if strings.Contains(s.log.String(), key) {
		t.Error("the log holds the key")
	}
	if got := s.grant(t, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {key}}); got.Error != "invalid_grant" {
		t.Errorf("as a refresh token: got %+v", got)
	}
}

// TestAccountsOffered looks which actions exist, with and without mail and passwords.
func TestAccountsOffered(t *testing.T) {
	t.Parallel()
	sessions := []string{"endOtherSessions", "endSession", "listSessions", "signOutEverywhere",
		"startAuthenticator", "confirmAuthenticator", "removeAuthenticator", "renewRecoveryCodes", "listFactors"}
	all := append([]string{"changeEmail", "changePassword", "requestEmailVerification", "requestPasswordReset", "resetPassword", "verifyEmail"}, sessions...)
	for _, test := range []struct {
		name    string
		o       options
		offered []string
	}{
		{"in development", options{}, all},
		{"in production, without mail", inProduction(), append([]string{"changePassword"}, sessions...)},
		{"in production", inProduction("STERNPOST_MAIL_SMTP_HOST=mail.notes.example", "STERNPOST_MAIL_FROM=a@notes.example"), all},
		{"without a key for secrets", options{env: []string{"STERNPOST_ENCRYPTION_KEY="}}, append(all[:6:6], sessions[:4]...)},
		{"without passwords", options{env: []string{"STERNPOST_AUTH_PASSWORD_ENABLED=false"}}, sessions},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, test.o)
			response, err := http.Get(s.url + "/api/json/openapi.json")
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			var document struct {
				Paths map[string]any `json:"paths"`
			}
			if err := json.NewDecoder(response.Body).Decode(&document); err != nil {
				t.Fatal(err)
			}
			for _, action := range all {
				isOffered := slices.Contains(test.offered, action)
				if _, isDescribed := document.Paths["/api/json/"+action]; isDescribed != isOffered {
					t.Errorf("%s is described: %t", action, isDescribed)
				}
				if got := s.act(t, "", action, nil); (got.status != http.StatusNotFound) != isOffered {
					t.Errorf("%s: got %d", action, got.status)
				}
			}
			page := newBrowser(t).get(t, s.url+"/auth/verify")
			if (page.StatusCode == http.StatusBadRequest) != slices.Contains(test.offered, "verifyEmail") { // without a token
				t.Errorf("the page of verifications: got %d", page.StatusCode)
			}
		})
	}
}

// TestMailServerHangs sends to a mail server that accepts a connection and sends nothing. Nothing waits for it: no
// transaction, and no log-in.
func TestMailServerHangs(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	host, port, err := net.SplitHostPort(silent.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, inProduction("STERNPOST_MAIL_FROM=Notes <noreply@notes.example>", "STERNPOST_MAIL_SMTP_TLS=off",
		"STERNPOST_MAIL_SMTP_HOST="+host, "STERNPOST_MAIL_SMTP_PORT="+port))
	s.signUp(t, "ada@example.com", "correct-canary")
	s.must(t, "", "requestPasswordReset", map[string]string{"email": "ada@example.com", "redirectUrl": redirectTo})
	conn, err := silent.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// Behind a pooler a server has no connection of its own, and the lease expires.
	isDirect := s.db.ServerURL() == s.db.LoginURL()
	if got := value[bool](t, s, `select coalesce(task.holder in (select pid from pg_stat_activity where datname = current_database()), false) from platform.task`); got != isDirect {
		t.Errorf("a mail in hand names a connection of its server: %t, want %t; without one it waits if the server is killed", got, isDirect)
	}
	if n := value[int](t, s, `select count(*) from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`); n != 0 {
		t.Errorf("%d transactions are open while a mail server does not answer", n)
	}
	if got := s.password(t, "ada@example.com", "correct-canary"); got.status != http.StatusOK {
		t.Errorf("while a mail server does not answer, a sign-in got %+v", got)
	}
}

// TestMailServerRefuses sends to a mail server that takes mails later, or never. No request waits for it.
func TestMailServerRefuses(t *testing.T) {
	t.Parallel()
	s, mails := withMail(t, inProduction())
	s.signUp(t, "ada@example.com", "correct-canary")
	ask := func() {
		s.must(t, "", "requestPasswordReset", map[string]string{"email": "ada@example.com", "redirectUrl": redirectTo})
	}
	settled := func(id int, condition string) string {
		t.Helper()
		for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			if got := value[*string](t, s, `select (select concat_ws(' ', attempts, content is null, due_at < now() + '5 seconds', failure) from platform.task where id = $1 and `+condition+`)`, id); got != nil {
				return *got
			}
		}
		t.Fatalf("mail %d: %s does not come true", id, condition)
		panic("unreachable")
	}
	mails.Refuse(&smtp.SMTPError{Code: 451, Message: "ada@example.com is greylisted"}, nil)
	ask()
	if got := settled(1, `attempts > 0`); !strings.HasPrefix(got, "1 f t ") || !strings.Contains(got, "greylisted") || strings.Contains(got, "ada@") {
		t.Errorf("after a try: %s", got)
	}
	mails.Refuse(nil, nil)
	s.exec(t, `update platform.task set due_at = now()`)
	await(t, mails, 0)
	if got := settled(1, `done_at is not null`); !strings.HasPrefix(got, "2 t ") {
		t.Errorf("when it is sent: %s", got)
	}
	mails.Refuse(&smtp.SMTPError{Code: 550, Message: "ada@example.com is unknown"}, nil)
	ask()
	if got := settled(2, `failed_at is not null`); !strings.HasPrefix(got, "1 t ") {
		t.Errorf("when it is refused for good: %s", got)
	}
	mails.Refuse(nil, nil)
	s.exec(t, `insert into platform.task (kind, name, key, content, ends_at) values ('mail', 'resetPassword', 'ada@example.com', 'sealed by another key', now() + interval '1 hour')`)
	if got := settled(3, `failed_at is not null`); !strings.Contains(got, "another signing key") {
		t.Errorf("one that nobody can open: %s", got)
	}
	if text := s.log.String(); !strings.Contains(text, "a mail is tried again") || !strings.Contains(text, "a mail cannot be sent") || strings.Contains(text, "ada@example.com") {
		t.Error("the log does not tell of the mails that were not taken, or tells too much")
	}
	if len(mails.Taken()) != 1 {
		t.Errorf("%d mails were taken, want 1", len(mails.Taken()))
	}
}

// TestMailPage looks at the mails of a service in development without a mail server.
func TestMailPage(t *testing.T) {
	t.Parallel()
	s := serve(t, options{settings: "  password: {verification: send}\n"})
	b := newBrowser(t)
	if page := b.get(t, s.url+"/mail"); page.StatusCode != 200 || !strings.Contains(page.body, "No mails yet") {
		t.Errorf("before any mail: got %d\n%s", page.StatusCode, page.body)
	}
	s.signUp(t, "ada@example.com", "correct-canary")
	awaitSent(t, s)
	page := b.get(t, s.url+"/mail")
	match := regexp.MustCompile(`<a href="` + regexp.QuoteMeta(s.url) + `/auth/verify\?token=([A-Za-z0-9_-]{43})"`).FindStringSubmatch(page.body)
	if match == nil || !strings.Contains(page.body, "to ada@example.com") || !strings.Contains(page.body, "not sent: no mail server is configured") {
		t.Fatalf("got the page %d\n%s", page.StatusCode, page.body)
	}
	s.must(t, "", "verifyEmail", map[string]string{"token": match[1], "password": "correct-canary"})
	for _, foreign := range []http.Header{
		{"Origin": {"http://localhost:3000"}}, {"Sec-Fetch-Site": {"same-site"}, "Sec-Fetch-Mode": {"cors"}}, {"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"no-cors"}},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/mail", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header = foreign
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusForbidden {
			t.Errorf("a page with %v reads the mails: got %d", foreign, response.StatusCode)
		}
	}
	if home := b.get(t, s.url+"/"); !regexp.MustCompile(`<a href="[./]*mail">Mails</a>`).MatchString(home.body) {
		t.Error("the page of the application does not lead to the mails")
	}
	if page := newBrowser(t).get(t, serve(t, inProduction("STERNPOST_DOCS=true")).url+"/mail"); page.StatusCode != 404 {
		t.Errorf("in production: got %d", page.StatusCode)
	}
}
