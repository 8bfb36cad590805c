package account

import (
	"bytes"
	_ "embed"
	"errors"
	"html/template"
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/server/request"
)

//go:embed verify.html
var verifySource string

var verifyPage = template.Must(template.New("verify").Parse(verifySource))

// pagePolicy lets the page send its form to the service, and nothing else.
const pagePolicy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Page is the target of a link that proves an e-mail address, unless the application has
// its own page.
type Page struct {
	Service
	Policy   *request.Policy
	IsServed func() bool // identities come with a release

	Mailed func() // called when a mail may be in the queue

	// ReadForm reads the form that the page sends.
	ReadForm func(c *fiber.Ctx) (map[string]string, error)
}

// view is the content of the page: a question, or the result of the answer.
type view struct {
	Token     string // empty once the result is known
	Made      string // the day on which the account was made
	Disowned  bool   // the account was a stranger's
	IsInvited bool   // the token is of an invitation
	Problem   string
}

// Show asks for confirmation, and then proves the address, or takes it from the account of a stranger. Opening the link
// changes nothing, since programs that check mails open it too.
func (p *Page) Show(c *fiber.Ctx) error {
	isAnswer := c.Method() == fiber.MethodPost
	if m := c.Method(); !isAnswer && m != fiber.MethodGet && m != fiber.MethodHead {
		return refusal.NotAllowed("GET, HEAD, POST")
	}
	if !p.IsServed() {
		return p.refuse(c, &refusal.Unavailable)
	}
	client := auth.Client{Address: p.Policy.ClientAddress(c), Languages: c.Get("Accept-Language")}
	form := map[string]string{"token": strings.Clone(c.Query("token")), auth.InvitationParameter: strings.Clone(c.Query(auth.InvitationParameter))}
	if isAnswer {
		var err error
		if form, err = p.ReadForm(c); err != nil {
			return err
		}
	}
	shown := view{Disowned: form["disown"] != "", IsInvited: form[auth.InvitationParameter] != ""}
	var err error
	switch {
	case shown.IsInvited && !isAnswer:
		shown.Token = form[auth.InvitationParameter]
	case shown.IsInvited:
		err = p.accept(c, form[auth.InvitationParameter], form["password"], client)
	case !isAnswer:
		var proven auth.Proven
		proven, err = p.Proof(c.UserContext(), form["token"], client)
		shown.Token, shown.Made = form["token"], proven.CreatedAt.UTC().Format("2 January 2006")
	case shown.Disowned:
		err = p.Disown(c.UserContext(), form["token"], client)
	default:
		err = p.VerifyEmail(c.UserContext(), form["token"], form["password"], auth.Caller{Client: client})
		p.Mailed()
	}
	if err != nil {
		return p.refuse(c, err)
	}
	return p.send(c, http.StatusOK, shown)
}

// accept accepts an invitation. The page has no use for the tokens: the user signs in to the application afterwards.
func (p *Page) accept(c *fiber.Ctx, token, password string, client auth.Client) error {
	tokens, err := p.AcceptInvitation(c.UserContext(), token, password, auth.Caller{Client: client})
	if needs := (*auth.Error)(nil); errors.As(err, &needs) && needs.FactorToken != "" {
		return nil
	}
	if err != nil {
		return err
	}
	return p.Revoke(c.UserContext(), tokens.RefreshToken)
}

// refuse shows the failure.
func (p *Page) refuse(c *fiber.Ctx, err error) error {
	refused := refusal.Of(Refuse(err))
	problem := "The service is temporarily unavailable. Try again in a moment."
	switch refused.Status {
	case http.StatusBadRequest:
		problem = "This link has expired or was already used. Request a new one."
		if input := (*auth.InputError)(nil); errors.As(err, &input) && input.Field == "password" {
			problem = "This is not the password of the account. Open the link again."
			if input.Code == "minLength" { // of an address that signs up
				problem = "Choose a longer password. Open the link again."
			}
		}
	case http.StatusConflict:
		problem = "The e-mail address belongs to another account."
	case http.StatusTooManyRequests:
		problem = "Too many attempts. Try again later."
	}
	p.Policy.Answer(c.Context(), request.Of(c), refused)
	return p.send(c, refused.Status, view{Problem: problem})
}

func (p *Page) send(c *fiber.Ctx, status int, v view) error {
	var b bytes.Buffer
	if err := verifyPage.Execute(&b, v); err != nil {
		return err
	}
	c.Status(status)
	c.Set("Content-Security-Policy", pagePolicy)
	c.Set("Content-Type", "text/html; charset=utf-8")
	c.Response().SetBodyRaw(b.Bytes())
	return nil
}
