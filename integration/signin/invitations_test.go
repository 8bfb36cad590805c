package signin

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/sternpost/sternpost/integration/mailserver"
	"github.com/sternpost/sternpost/integration/program"
)

// practice is a clinic with a manager, who invites.
type practice struct {
	*service
	mails   *mailserver.Server
	manager tokens
	taken   int    // mails so far
	page    string // to which mails lead
}

// openPractice serves the clinic, where nora@north.example manages a practice.
func openPractice(t *testing.T, o options) *practice {
	t.Helper()
	o.app = "../apps/clinic"
	s, mails := withMail(t, o)
	p := &practice{service: s, mails: mails, manager: s.signUp(t, "nora@north.example", "correct-canary"), page: s.url + "/auth/verify?"}
	if got := s.act(t, p.manager.AccessToken, "openPractice", map[string]any{"name": "North", "members": []any{map[string]string{"name": "Nora"}}}); got.status != 200 {
		t.Fatalf("open a practice: got %d %s", got.status, got.body)
	}
	return p
}

// invite invites an address, and returns the member's id and the token of the mail.
func (p *practice) invite(t *testing.T, email string) (member, token string) {
	t.Helper()
	got := p.act(t, p.manager.AccessToken, "inviteMember", map[string]string{"name": "New", "email": email})
	if got.status != http.StatusOK {
		t.Fatalf("invite %s: got %d %s", email, got.status, got.body)
	}
	var record struct{ ID string }
	if err := json.Unmarshal([]byte(got.body), &record); err != nil {
		t.Fatal(err)
	}
	mail, _ := await(t, p.mails, p.taken)
	p.taken++
	subject, text, html := read(t, mail)
	match := regexp.MustCompile(`\n` + regexp.QuoteMeta(p.page) + `invitation=([A-Za-z0-9_-]{43})\n`).FindStringSubmatch(text)
	if match == nil || mail.To != strings.ToLower(email) || subject != "You are invited" || !strings.Contains(html, match[1]) {
		t.Fatalf("got the mail %q to %s\n%s\n%s", subject, mail.To, text, html)
	}
	return record.ID, match[1]
}

// accept accepts an invitation.
func (p *practice) accept(t *testing.T, caller, token, password string) tokens {
	t.Helper()
	input := map[string]string{"token": token}
	if password != "" {
		input["password"] = password
	}
	got := p.act(t, caller, "acceptInvitation", input)
	if got.status != http.StatusOK {
		t.Fatalf("accept: got %d %s", got.status, got.body)
	}
	var answer tokens
	if err := json.Unmarshal([]byte(got.body), &answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

// memberOf returns the e-mail address of the account of a member; empty if it has none.
func (p *practice) memberOf(t *testing.T, member string) string {
	t.Helper()
	return value[string](t, p.service, `select coalesce((select identity.email from app.member join app.identity on identity.id = member.identity_id where member.id = $1), '')`, member)
}

const badToken = `"field":"token","code":"incorrect"`

// TestInvitationSignsUp invites an address without account: by its action and by the page of the service.
func TestInvitationSignsUp(t *testing.T) {
	t.Parallel()
	p := openPractice(t, options{})
	member, token := p.invite(t, "Olga@North.example")
	p.refused(t, "", "acceptInvitation", map[string]string{"token": token}, 400, `"field":"password","code":"required"`)
	p.refused(t, "", "acceptInvitation", map[string]string{"token": token, "password": "short"}, 400, `"field":"password","code":"minLength"`)
	olga := p.accept(t, "", token, "olga-canary")
	if !olga.IdentityCreated || olga.RefreshToken == "" || p.memberOf(t, member) != "olga@north.example" {
		t.Fatalf("got %+v and the member is %q", olga, p.memberOf(t, member))
	}
	if !value[bool](t, p.service, `select email_verified from app.identity where email = 'olga@north.example'`) {
		t.Error("the address is not proven")
	}
	if got := p.act(t, olga.AccessToken, "myPractice", nil); got.status != 200 || !strings.Contains(got.body, "North") {
		t.Errorf("her practice: got %d %s", got.status, got.body)
	}
	if got := p.refresh(t, olga.RefreshToken); got.status != 200 {
		t.Errorf("her refresh token: got %+v", got)
	}
	if got := p.password(t, "olga@north.example", "olga-canary"); got.status != 200 || got.IdentityCreated {
		t.Errorf("her password: got %+v", got)
	}

	member, token = p.invite(t, "per@north.example")
	b := newBrowser(t)
	link := p.url + "/auth/verify?invitation=" + token
	if page := b.get(t, link); page.StatusCode != 200 || !strings.Contains(page.body, "You are invited") || p.memberOf(t, member) != "" {
		t.Fatalf("opening the link: got the page %d\n%s", page.StatusCode, page.body)
	}
	if page := b.post(t, p.url+"/auth/verify", url.Values{"invitation": {token}, "password": {"short"}}); page.StatusCode != 400 || !strings.Contains(page.body, "longer password") {
		t.Errorf("with a short password: got the page %d\n%s", page.StatusCode, page.body)
	}
	if page := b.post(t, p.url+"/auth/verify", url.Values{"invitation": {token}, "password": {"per-canary"}}); page.StatusCode != 200 || !strings.Contains(page.body, "can sign in") {
		t.Fatalf("got the page %d\n%s", page.StatusCode, page.body)
	}
	if got := p.password(t, "per@north.example", "per-canary"); got.status != 200 || p.memberOf(t, member) != "per@north.example" {
		t.Errorf("his password: got %+v, and the member is %q", got, p.memberOf(t, member))
	}
	if page := b.post(t, p.url+"/auth/verify", url.Values{"invitation": {token}, "password": {"per-canary"}}); page.StatusCode != 400 {
		t.Errorf("the link once more: got the page %d\n%s", page.StatusCode, page.body)
	}
}

// TestInvitationSignsIn invites addresses that have accounts.
func TestInvitationSignsIn(t *testing.T) {
	t.Parallel()
	p := openPractice(t, options{})
	old := p.signUp(t, "olga@north.example", "olga-canary")
	p.exec(t, `update app.identity set email_verified = true`)
	member, token := p.invite(t, "olga@north.example")
	olga := p.accept(t, "", token, "")
	if olga.IdentityCreated || olga.RefreshToken == "" || p.memberOf(t, member) != "olga@north.example" {
		t.Errorf("got %+v and the member is %q", olga, p.memberOf(t, member))
	}
	if got := p.refresh(t, old.RefreshToken); got.status != 200 {
		t.Errorf("a sign-in from before: got %+v, want it to go on", got)
	}

	// An account whose address is not proven shows that it is theirs: by its password, or by a sign-in.
	for _, by := range []string{"password", "session"} {
		email := by + "@north.example"
		own := p.signUp(t, email, "right-canary")
		other := p.password(t, email, "right-canary")
		member, token := p.invite(t, email)
		if by == "password" {
			p.refused(t, "", "acceptInvitation", map[string]string{"token": token}, 400, `"field":"password","code":"required"`)
			p.refused(t, "", "acceptInvitation", map[string]string{"token": token, "password": "wrong-canary"}, 400, `"field":"password","code":"incorrect"`)
			p.accept(t, "", token, "right-canary")
		} else if got := p.accept(t, own.AccessToken, token, ""); got.RefreshToken != "" || !p.isIn(t, got.AccessToken) || p.refresh(t, own.RefreshToken).status != 200 {
			t.Errorf("in a session: got %+v, want its next access token", got)
		}
		if p.memberOf(t, member) != email || p.refresh(t, other.RefreshToken).status != 400 {
			t.Errorf("by %s: the member is %q; a sign-in from before the proof goes on: %v", by, p.memberOf(t, member), p.refresh(t, other.RefreshToken).status == 200)
		}
	}
}

// isIn tells whether an access token is good.
func (p *practice) isIn(t *testing.T, token string) bool {
	t.Helper()
	return p.act(t, token, "listSessions", nil).status == http.StatusOK
}

// TestInvitationStopsAtFactor invites an account with a second factor: the member is its own, and there is no token before
// the factor.
func TestInvitationStopsAtFactor(t *testing.T) {
	t.Parallel()
	p := openPractice(t, options{})
	own := p.signUp(t, "olga@north.example", "olga-canary")
	p.exec(t, `update app.identity set email_verified = true`)
	_, recovery := p.protect(t, own.AccessToken)
	member, token := p.invite(t, "olga@north.example")
	got := p.accept(t, "", token, "")
	if got.AccessToken != "" || got.FactorToken == "" || strings.Join(got.Factors, " ") != "totp recovery" || p.memberOf(t, member) != "olga@north.example" {
		t.Fatalf("got %+v", got)
	}
	if in := p.grant(t, url.Values{"grant_type": {"second_factor"}, "factor_token": {got.FactorToken}, "recovery_code": {recovery[0]}}); in.status != 200 {
		t.Errorf("with the factor: got %+v", in)
	}
}

// TestInvitationAttacks are ways to become a member that one is not.
func TestInvitationAttacks(t *testing.T) {
	t.Parallel()
	p := openPractice(t, options{})
	verified := func(email string) tokens {
		t.Helper()
		got := p.signUp(t, email, "right-canary")
		p.exec(t, `update app.identity set email_verified = true where email = $1`, email)
		return got
	}
	mallory := verified("mallory@evil.example")
	refuse := func(what, caller, token, password string, status int, text string) {
		t.Helper()
		input := map[string]string{"token": token}
		if password != "" {
			input["password"] = password
		}
		if got := p.act(t, caller, "acceptInvitation", input); got.status != status || !strings.Contains(got.body, text) || strings.Contains(got.body, "access_token") {
			t.Errorf("%s: got %d %s, want %d and %s", what, got.status, got.body, status, text)
		}
	}
	unlinked := func(what, member string) {
		t.Helper()
		if account := p.memberOf(t, member); account != "" {
			t.Errorf("%s: the member is %s", what, account)
		}
	}

	_, token := p.invite(t, "a@north.example")
	p.accept(t, "", token, "right-canary")
	refuse("a token used twice", "", token, "other-canary", 400, badToken)

	member, token := p.invite(t, "b@north.example")
	refuse("somebody else's session", mallory.AccessToken, token, "right-canary", 409, "another e-mail address")
	unlinked("somebody else's session", member)
	p.exec(t, `update platform.auth_proof set ends_at = now() where purpose = 'invitation'`)
	refuse("an expired token", "", token, "right-canary", 400, badToken)

	member, token = p.invite(t, "c@north.example")
	p.exec(t, `update app.member set email = 'd@north.example' where id = $1`, member)
	refuse("another address since", "", token, "right-canary", 400, badToken)
	unlinked("another address since", member)
	if value[bool](t, p.service, `select exists (select from app.identity where email = 'c@north.example')`) {
		t.Error("a refused invitation leaves an account")
	}
	p.exec(t, `update app.member set email = null where id = $1`, member)
	refuse("no address since", "", token, "right-canary", 400, badToken)

	member, token = p.invite(t, "e@north.example")
	p.exec(t, `delete from app.member where id = $1`, member)
	refuse("a member who is gone", "", token, "right-canary", 400, badToken)

	member, token = p.invite(t, "f@north.example")
	p.exec(t, `update app.member set identity_id = (select id from app.identity where email = 'mallory@evil.example') where id = $1`, member)
	refuse("a member with an account", "", token, "right-canary", 400, badToken)
	if got := p.memberOf(t, member); got != "mallory@evil.example" {
		t.Errorf("the member is %q", got)
	}

	verified("g@north.example")
	_, first := p.invite(t, "g@north.example")
	member, second := p.invite(t, "g@north.example")
	p.accept(t, "", first, "")
	refuse("an account that is a member already", "", second, "", 409, "may have another one already")
	unlinked("an account that is a member already", member)

	squatter := p.signUp(t, "h@north.example", "squatter-canary")
	p.protect(t, squatter.AccessToken)
	member, token = p.invite(t, "h@north.example")
	refuse("an account of a squatter", "", token, "victim-canary", 400, `"field":"password","code":"incorrect"`)
	refuse("an account of a squatter, without password", "", token, "", 400, `"field":"password","code":"required"`)
	unlinked("an account of a squatter", member)
	if value[bool](t, p.service, `select email_verified from app.identity where email = 'h@north.example'`) {
		t.Error("the squatter's address is proven")
	}

	member, token = p.invite(t, "i@north.example")
	refuse("a token for something else", "", "", "right-canary", 400, badToken)
	for _, action := range []string{"verifyEmail", "resetPassword"} {
		p.refused(t, "", action, map[string]string{"token": token, "password": "right-canary"}, 400, badToken)
	}
	key := p.machineKey(t, value[string](t, p.service, `select id from app.identity where email = 'mallory@evil.example'`))
	refuse("a machine", key, token, "", 403, "ERR_PERMISSION_DENIED")
	p.must(t, "", "requestPasswordReset", map[string]string{"email": "mallory@evil.example", "redirectUrl": redirectTo})
	_, reset := await(t, p.mails, p.taken)
	p.taken++
	refuse("the token of a reset", "", reset, "right-canary", 400, badToken)
	unlinked("a token for something else", member)

	var wait sync.WaitGroup
	statuses := make([]int, 8)
	for i := range statuses {
		wait.Go(func() {
			response, err := http.Post(p.url+"/api/json/acceptInvitation", "application/json", strings.NewReader(`{"token":"`+token+`","password":"right-canary"}`))
			if err == nil {
				statuses[i] = response.StatusCode
				response.Body.Close()
			}
		})
	}
	wait.Wait()
	accepted := 0
	for _, status := range statuses {
		if status == 200 {
			accepted++
		} else if status != 400 && status != 409 {
			t.Errorf("of several at once, one got %d", status)
		}
	}
	if n := value[int](t, p.service, `select count(*)::int from app.identity where email = 'i@north.example'`); accepted != 1 || n != 1 {
		t.Errorf("%d of several at once are accepted, and there are %d accounts", accepted, n)
	}
}

// TestInvitationTellsNothing invites addresses with and without account: whoever invites learns nothing of them.
func TestInvitationTellsNothing(t *testing.T) {
	t.Parallel()
	p := openPractice(t, options{})
	p.signUp(t, "known@north.example", "right-canary")
	varies := regexp.MustCompile(`"(id|email|createdAt|updatedAt)":"[^"]*"`)
	var answers []string
	for _, email := range []string{"known@north.example", "nobody@north.example"} {
		got := p.act(t, p.manager.AccessToken, "inviteMember", map[string]string{"name": "New", "email": email})
		answers = append(answers, varies.ReplaceAllString(got.body, ""))
	}
	if answers[0] != answers[1] {
		t.Errorf("got %s and %s", answers[0], answers[1])
	}
	for range 5 { // a recipient gets three mails an hour, and nobody is told
		if got := p.act(t, p.manager.AccessToken, "inviteMember", map[string]string{"name": "New", "email": "nobody@north.example"}); got.status != 200 {
			t.Errorf("got %d %s", got.status, got.body)
		}
	}
	if n := value[int](t, p.service, `select count(*)::int from platform.task where kind = 'mail' and name = 'invitation' and key = 'nobody@north.example'`); n != 3 {
		t.Errorf("%d mails, want 3", n)
	}
	for _, bad := range []string{"ada", "ada@localhost\\n", "\"a b\"@north.example", "ü@north.example"} {
		p.refused(t, p.manager.AccessToken, "inviteMember", map[string]string{"name": "New", "email": bad}, 400, `"field":"email"`)
	}
	p.refused(t, "", "inviteMember", map[string]string{"name": "New", "email": "x@north.example"}, 403, "ERR_PERMISSION_DENIED")
	stranger := p.signUp(t, "stranger@evil.example", "right-canary")
	p.refused(t, stranger.AccessToken, "inviteMember", map[string]string{"name": "New", "email": "x@north.example"}, 400, "the caller has no member")
	if n := value[int](t, p.service, `select count(*)::int from platform.auth_proof where email = 'x@north.example'`); n != 0 {
		t.Errorf("a refused create leaves %d invitations", n)
	}
}

// TestInvitationOnPage accepts an invitation on the sign-in page of the guide in Chromium.
func TestInvitationOnPage(t *testing.T) {
	t.Parallel()
	modules := nodeModules(t, "no browser accepts an invitation")
	chromium := program.Chromium(t, "no browser accepts an invitation")
	var s *service
	page := signInPage(t, &s)
	page.options.settings = strings.Split(page.options.settings, "\n")[0] + "\n"
	p := openPractice(t, page.options)
	s, p.page = p.service, page.origin+"/sign-in?do=verify&"
	member, token := p.invite(t, "olga@north.example")
	browser := node(t, modules, "invitation.mjs", p.page+"invitation="+token, "olga-canary")
	browser.Env = append(os.Environ(), "CHROMIUM="+chromium)
	out, err := browser.CombinedOutput()
	const want = `You are invited. 
That did not work: password is required, since nobody has proven the address
You are signed in.
sessions: 1
`
	if err != nil || string(out) != want || p.memberOf(t, member) != "olga@north.example" {
		t.Errorf("the member is %q; got  %v %s\nwant %s", p.memberOf(t, member), err, out, want)
	}
}

// invitationProgram accepts invitations with the client that Sternpost prints: one that signs up, and one that shows a factor.
const invitationProgram = `import { createClient } from './client.mjs'
const [baseUrl, token, second, recoveryCode] = process.argv.slice(2)
const asked = []
const codes = ['wrong', recoveryCode]
const askCredential = async ({ needs, factors }) => {
  asked.push(needs + ' ' + factors)
  return { recoveryCode: codes.shift() }
}
const client = createClient({ baseUrl, askCredential })
await client.acceptInvitation({ token, password: 'olga-canary' })
console.log((await client.myPractice()).name, (await client.listSessions()).sessions.length)
await client.signOut()
await client.acceptInvitation({ token: second })
console.log((await client.myPractice()).name, asked.join(), (await client.listFactors()).recoveryCodes)
`

// TestInvitationInClient accepts invitations with the client in TypeScript.
func TestInvitationInClient(t *testing.T) {
	t.Parallel()
	modules := nodeModules(t, "no client accepts an invitation")
	script := compiledClient(t, modules, "../apps/clinic")
	if err := os.Rename(script, filepath.Join(filepath.Dir(script), "client.mjs")); err != nil {
		t.Fatal(err)
	}
	accepting := filepath.Join(filepath.Dir(script), "accept.mjs")
	if err := os.WriteFile(accepting, []byte(invitationProgram), 0o600); err != nil {
		t.Fatal(err)
	}
	p := openPractice(t, options{})
	own := p.signUp(t, "per@north.example", "per-canary")
	p.exec(t, `update app.identity set email_verified = true`)
	_, recovery := p.protect(t, own.AccessToken)
	_, token := p.invite(t, "olga@north.example")
	_, second := p.invite(t, "per@north.example")
	out, err := node(t, modules, accepting, p.url, token, second, recovery[0]).CombinedOutput()
	if want := "North 1\nNorth secondFactor totp,recovery,secondFactor undefined 9\n"; err != nil || string(out) != want {
		t.Errorf("got %v %s, want %s", err, out, want)
	}
}
